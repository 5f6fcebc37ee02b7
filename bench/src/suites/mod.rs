//! The registry of suites. A new one is a file here, and its line below.

use std::path::PathBuf;

use crate::error::BenchError;
use crate::table::Report;
use clap::builder::PossibleValue;

mod core;
mod cubes;
mod replica;
mod scenes;
mod tables;
mod tick;
mod time;

/// All suites, in the order in which `--help` shows them.
pub const SUITES: &[Suite] =
    &[core::SUITE, cubes::SUITE, replica::SUITE, scenes::SUITE, tables::SUITE, tick::SUITE, time::SUITE];

/// One area's benchmarks.
pub struct Suite {
    /// The word on the command line.
    pub name: &'static str,
    /// What it measures, for `--help`.
    pub about: &'static str,
    /// What files it measures, for errors; `None` if it takes none.
    pub files: Option<&'static str>,
    /// Measures and reports.
    pub run: fn(&Options) -> Result<Report, BenchError>,
}

/// What the user may choose for every suite.
pub struct Options {
    /// Timed batches, or ticks, per time.
    pub batches: u32,
    /// Leave out the largest points of scaling tables.
    pub quick: bool,
    /// What to measure besides, for suites that take files.
    pub files: Vec<PathBuf>,
    /// Files of code tables to measure with, for suites that take files.
    pub tables: Vec<PathBuf>,
    /// Recordings to train tables on instead of taking the shipped ones, for suites that take files.
    pub train: Vec<PathBuf>,
}

impl Suite {
    /// Measures and reports, unless it was given files that it has no use for.
    pub fn measure(&self, options: &Options) -> Result<Report, BenchError> {
        match (self.files, options.files.iter().chain(&options.tables).chain(&options.train).next()) {
            (None, Some(file)) => {
                let what = String::from("this suite takes no files; `cubes`, `scenes` and `tables` do");
                Err(BenchError::File { file: file.display().to_string(), what })
            }
            _ => (self.run)(options),
        }
    }
}

/// The names and explanations for the command line.
pub fn possible_values() -> Vec<PossibleValue> {
    let help = |suite: &Suite| match suite.files {
        Some(files) => format!("{}; takes {files}", suite.about),
        None => String::from(suite.about),
    };
    SUITES.iter().map(|suite| PossibleValue::new(suite.name).help(help(suite))).collect()
}

/// Tells whoever waits what is being measured, where it does not disturb the figures.
pub fn progress(suite: &str, what: &str) {
    eprintln!("{suite}: {what}");
}
