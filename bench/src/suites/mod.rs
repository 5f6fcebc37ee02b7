//! The registry of suites. A new one is a file here, and its line below.

use std::path::PathBuf;

use crate::error::BenchError;
use crate::table::Report;
use clap::builder::PossibleValue;

mod core;
mod cubes;
mod replica;
mod tick;
mod time;

/// All suites, in the order in which `--help` shows them.
pub const SUITES: &[Suite] = &[core::SUITE, cubes::SUITE, replica::SUITE, tick::SUITE, time::SUITE];

/// One area's benchmarks.
pub struct Suite {
    /// The word on the command line.
    pub name: &'static str,
    /// What it measures, for `--help`.
    pub about: &'static str,
    /// Measures and reports.
    pub run: fn(&Options) -> Result<Report, BenchError>,
}

/// What the user may choose for every suite.
pub struct Options {
    /// Timed batches, or ticks, per time.
    pub batches: u32,
    /// Leave out the largest points of scaling tables.
    pub quick: bool,
    /// What suites of recordings measure.
    pub files: Vec<PathBuf>,
    /// What they train tables on; with none they take the shipped ones.
    pub train: Vec<PathBuf>,
}

/// The names and explanations for the command line.
pub fn possible_values() -> Vec<PossibleValue> {
    SUITES.iter().map(|suite| PossibleValue::new(suite.name).help(suite.about)).collect()
}

/// Tells whoever waits what is being measured, where it does not disturb the figures.
pub fn progress(suite: &str, what: &str) {
    eprintln!("{suite}: {what}");
}
