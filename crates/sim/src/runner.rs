//! Runs scenarios over many seeds and tells how to see a failure again.
//!
//! One seed proves little; a thousand find what one in a thousand breaks. Runs are independent, so they spread over
//! threads, each taking the next seed that nobody has. Results are put in the order of their seeds before anybody looks,
//! so that the number of threads never shows in them. A panic is a failure like any other: it has a seed, too.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::check::Violation;
use crate::report::{Report, Summary};

/// Runs that one call may ask for: a week of one core.
pub const RUNS_MAX: u64 = 100_000_000;

/// One story that the stack must survive, told anew by every seed.
pub trait Scenario: Sync {
    /// What the command line calls it.
    fn name(&self) -> &'static str;
    /// One line: what happens, and what must hold.
    fn about(&self) -> &'static str;
    /// Runs it once. Equal seeds give equal runs.
    fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure>;
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A promise was broken at this virtual time.
    #[error("at {at_ms} ms: {violation}")]
    Violation {
        /// The virtual time, in milliseconds.
        at_ms: u64,
        /// The promise.
        violation: Violation,
    },
    /// The scenario could not do what it set out to do.
    #[error("{0}")]
    Setup(String),
    /// The code under test panicked.
    #[error("panic: {0}")]
    Panic(String),
}

impl Failure {
    /// Something that a scenario needs did not work.
    pub(crate) fn setup(error: impl std::fmt::Display) -> Failure {
        Failure::Setup(error.to_string())
    }
}

/// A failure with what is needed to see it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRun {
    /// The scenario.
    pub scenario: &'static str,
    /// The seed.
    pub seed: u64,
    /// What went wrong.
    pub failure: Failure,
}

impl FailedRun {
    /// The one command that replays the run.
    pub fn replay_command(&self) -> String {
        format!("cargo run --release -q -- sim --scenario {} --seed {}", self.scenario, self.seed)
    }
}

/// What many runs gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How many runs there were.
    pub runs: u64,
    /// Those that failed, by seed.
    pub failed: Vec<FailedRun>,
    /// What the successful ones measured.
    pub summary: Summary,
}

/// Runs `scenario` once per seed on up to `threads` threads; `progress` is called after each run, from any of them.
pub fn run_many(
    scenario: &dyn Scenario,
    seeds: Range<u64>,
    threads: usize,
    progress: &(dyn Fn() + Sync),
) -> Outcome {
    let next_seed = AtomicU64::new(seeds.start);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let mut own = Vec::new();
                loop {
                    let seed = next_seed.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    own.push((seed, run_one(scenario, seed)));
                    progress();
                }
                results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).append(&mut own);
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.sort_unstable_by_key(|(seed, _)| *seed);
    let mut outcome = Outcome { runs: results.len() as u64, failed: Vec::new(), summary: Summary::default() };
    for (seed, result) in results {
        match result {
            Ok(report) => outcome.summary.add(&report),
            Err(failure) => outcome.failed.push(FailedRun { scenario: scenario.name(), seed, failure }),
        }
    }
    outcome
}

fn run_one(scenario: &dyn Scenario, seed: u64) -> Result<Report, Failure> {
    let mut report = Report::new();
    // The report is dropped when a run panics, so nothing half-changed is ever looked at.
    let result = catch_unwind(AssertUnwindSafe(|| scenario.run(seed, &mut report)));
    match result {
        Ok(result) => result.map(|()| report),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(Failure::Panic(text.unwrap_or("with a value that is no text").to_owned()))
        }
    }
}

/// The commit of the working directory, or "unknown" where there is no git.
pub fn commit() -> String {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FailsOnSevens;

    impl Scenario for FailsOnSevens {
        fn name(&self) -> &'static str {
            "sevens"
        }
        fn about(&self) -> &'static str {
            "fails on multiples of seven, panics on 13"
        }
        fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure> {
            assert_ne!(seed, 13, "thirteen");
            report.add("seed", "", seed as f64);
            if seed.is_multiple_of(7) {
                return Err(Failure::Setup(format!("{seed} is a multiple of seven")));
            }
            Ok(())
        }
    }

    #[test]
    fn every_seed_runs_once_and_failures_come_in_order() {
        let done = AtomicU64::new(0);
        let outcome = run_many(&FailsOnSevens, 1..30, 2, &|| {
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!((outcome.runs, done.into_inner()), (29, 29));
        let seeds: Vec<_> = outcome.failed.iter().map(|run| run.seed).collect();
        assert_eq!(seeds, [7, 13, 14, 21, 28]);
        assert!(matches!(&outcome.failed[1].failure, Failure::Panic(text) if text.contains("thirteen")));
    }

    #[test]
    fn the_number_of_threads_does_not_change_the_outcome() {
        let outcome = |threads| run_many(&FailsOnSevens, 0..60, threads, &|| {});
        assert_eq!(outcome(1), outcome(4));
    }

    #[test]
    fn a_failure_names_the_command_that_replays_it() {
        let outcome = run_many(&FailsOnSevens, 7..8, 1, &|| {});
        assert_eq!(
            outcome.failed[0].replay_command(),
            "cargo run --release -q -- sim --scenario sevens --seed 7"
        );
    }
}
