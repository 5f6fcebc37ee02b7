//! A checker that never fails proves nothing: each deliberate bug must be caught by some scenario.
//!
//! `RUSTFLAGS="--cfg netloom_mutations" cargo test --release -p netloom-sim --test mutations`
#![cfg(netloom_mutations)]

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use netloom_proto::mutation::{self as connection, Mutation};
use netloom_replica::mutation as replication;
use netloom_sim::report::Report;
use netloom_sim::scenarios;

/// Within how many seeds a bug must show.
const SEEDS: u64 = 20;
/// The same for bugs of replication: a random world does not do everything in every run.
const WORLDS: u64 = 60;

/// The same for bugs that a player feels.
const NIGHTS: u64 = 40;

/// The scenario that is most likely to catch a bug comes first; the others follow.
fn hunters(mutation: Mutation) -> [&'static str; 3] {
    match mutation {
        Mutation::KeyReused | Mutation::WindowBeforeAuthentication | Mutation::PathUnproven => {
            ["attack", "restart", "lossy"]
        }
        Mutation::LimitIgnored => ["bottleneck", "distant", "lossy"],
        Mutation::NumberReused => ["clean", "lossy", "attack"],
        Mutation::FragmentMixed => ["liar", "lossy", "attack"],
        _ => ["lossy", "plain", "attack"],
    }
}

/// Which scenario and seed failed, and how.
fn caught_by(name: &'static str, seed: u64) -> Option<String> {
    let scenario = scenarios::find(name).unwrap_or_else(|| panic!("no scenario {name}"));
    match catch_unwind(AssertUnwindSafe(|| scenario.run(seed, &mut Report::new()))) {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure.to_string()),
        Err(_) => Some("panic".to_owned()),
    }
}

/// Runs scenarios until one fails; says whether any did.
fn is_caught(bug: impl Debug, names: &[&'static str], seeds: u64) -> bool {
    let runs = names.iter().flat_map(|&name| (0..seeds).map(move |seed| (name, seed)));
    let caught = runs.into_iter().find_map(|(name, seed)| Some((name, seed, caught_by(name, seed)?)));
    if let Some((name, seed, how)) = &caught {
        println!("{bug:?}: caught by {name} with seed {seed}: {how}");
    }
    caught.is_some()
}

#[test]
fn every_deliberate_bug_of_connections_is_caught() {
    let escaped = Mutation::ALL.into_iter().filter(|&mutation| {
        connection::set(mutation);
        let is_caught = is_caught(mutation, &hunters(mutation), SEEDS);
        connection::set(Mutation::None);
        !is_caught
    });
    let escaped: Vec<_> = escaped.collect();
    assert!(escaped.is_empty(), "not caught: {escaped:?}");
}

/// Runs one scenario against bugs of replication, until each is caught.
fn check_all_caught(bugs: &[replication::Mutation], scenario: &'static str, seeds: u64) {
    let escaped = bugs.iter().filter(|bug| {
        replication::set(**bug);
        let is_caught = is_caught(bug, &[scenario], seeds);
        replication::set(replication::Mutation::None);
        !is_caught
    });
    let escaped: Vec<_> = escaped.collect();
    assert!(escaped.is_empty(), "not caught: {escaped:?}");
}

#[test]
fn every_deliberate_bug_of_replication_is_caught() {
    check_all_caught(&replication::Mutation::ALL, "replication", WORLDS);
}

#[test]
fn every_deliberate_bug_of_what_is_judged_is_caught() {
    check_all_caught(&replication::Mutation::JUDGED, "fairness", WORLDS);
}

#[test]
fn every_deliberate_bug_of_what_is_felt_is_caught() {
    check_all_caught(&replication::Mutation::FELT, "feel", NIGHTS);
}

#[test]
fn without_a_bug_the_same_runs_pass() {
    connection::set(Mutation::None);
    for name in ["lossy", "plain", "attack", "restart", "bottleneck", "liar"] {
        for seed in 0..3 {
            assert_eq!(caught_by(name, seed), None, "{name} with seed {seed}");
        }
    }
    replication::set(replication::Mutation::None);
    for name in ["replication", "fairness"] {
        for seed in 0..WORLDS {
            assert_eq!(caught_by(name, seed), None, "{name} with seed {seed}");
        }
    }
    for seed in 0..NIGHTS {
        assert_eq!(caught_by("feel", seed), None, "feel with seed {seed}");
    }
}
