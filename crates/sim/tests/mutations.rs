//! A checker that never fails proves nothing: each deliberate bug must be caught by some scenario.
//!
//! `RUSTFLAGS="--cfg netloom_mutations" cargo test --release -p netloom-sim --test mutations`
#![cfg(netloom_mutations)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use netloom_proto::mutation::{Mutation, set};
use netloom_sim::report::Report;
use netloom_sim::scenarios;

/// Within how many seeds a bug must show.
const SEEDS: u64 = 20;

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

#[test]
fn every_deliberate_bug_is_caught() {
    let mut escaped = Vec::new();
    for mutation in Mutation::ALL {
        set(mutation);
        let runs = hunters(mutation).into_iter().flat_map(|name| (0..SEEDS).map(move |seed| (name, seed)));
        let caught = runs.into_iter().find_map(|(name, seed)| Some((name, seed, caught_by(name, seed)?)));
        set(Mutation::None);
        match caught {
            Some((name, seed, how)) => println!("{mutation:?}: caught by {name} with seed {seed}: {how}"),
            None => escaped.push(mutation),
        }
    }
    assert!(escaped.is_empty(), "not caught: {escaped:?}");
}

#[test]
fn without_a_bug_the_same_runs_pass() {
    set(Mutation::None);
    for name in ["lossy", "plain", "attack", "restart", "bottleneck", "liar"] {
        for seed in 0..3 {
            assert_eq!(caught_by(name, seed), None, "{name} with seed {seed}");
        }
    }
}
