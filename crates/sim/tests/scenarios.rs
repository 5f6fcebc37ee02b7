//! Every scenario holds for a few seeds, and a seed is all that a run depends on.
//!
//! Many more seeds: `cargo run --release -- sim --scenario all --runs 1000`.

use netloom_sim::report::Report;
use netloom_sim::runner::run_many;
use netloom_sim::scenarios;

#[test]
fn every_scenario_holds() {
    for scenario in scenarios::ALL {
        // Those that simulate hundreds of clients or hundreds of thousands of packets take a second each.
        let runs = if matches!(scenario.name(), "crowd" | "wrap") { 1 } else { 10 };
        let outcome = run_many(*scenario, 0..runs, 2, &|| {});
        let failed: Vec<_> =
            outcome.failed.iter().map(|run| (run.replay_command(), run.failure.to_string())).collect();
        assert!(failed.is_empty(), "{failed:#?}");
    }
}

#[test]
fn equal_seeds_measure_the_same_and_others_do_not() {
    let scenario = scenarios::find("lossy").expect("a scenario of this name");
    let measures = |seed| {
        let mut report = Report::new();
        scenario.run(seed, &mut report).expect("every promise holds");
        report.into_measures()
    };
    assert_eq!(measures(5), measures(5));
    assert_ne!(measures(5), measures(6));
}

#[test]
fn shooters_near_and_far_hit_equally_and_cheats_gain_nothing() {
    let scenario = scenarios::find("fairness").expect("a scenario of this name");
    let outcome = run_many(scenario, 100..104, 2, &|| {});
    assert_eq!(outcome.failed, []);
    // Without compensation the same shots would have missed, the more the farther away.
    let value =
        |name| outcome.summary.rows().iter().find(|row| row.name == name).map(|row| row.quantile(1.0));
    let (apart, uncompensated) =
        (value("hit rates, 0 to 130 ms, apart"), value("the same without compensation"));
    assert!(apart.is_some_and(|points| points <= 5.0), "{apart:?}");
    assert!(uncompensated.is_some_and(|points| points > 8.0), "{uncompensated:?}");
}

#[test]
fn names_are_unique_and_found() {
    for scenario in scenarios::ALL {
        let found = scenarios::find(scenario.name()).expect("a scenario is found by its name");
        assert_eq!(found.about(), scenario.about());
    }
    assert!(scenarios::find("no such thing").is_none());
}
