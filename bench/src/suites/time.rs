//! Time: what a frame shows, what a step predicts, and what a shot hits in the past. docs/BENCH-TIME.md has the method.
//!
//! Each area is a file with one `measure`, which hands back its rows and what it allocated; they share nothing else.

pub(super) mod interpolate;
pub(super) mod predict;
mod rewind;

use super::{Options, Suite};
use crate::error::BenchError;
use crate::table::{Figure, Report, Row, Target};

/// Registered in `suites`.
pub const SUITE: Suite = Suite {
    name: "time",
    about: "Time: what interpolation, prediction and lag compensation cost, allocations",
    files: None,
    run,
};

/// What one area measured.
pub(super) struct Measured {
    /// Its rows, the judged one first.
    pub rows: Vec<Row>,
    /// Heap allocations of its steady state.
    allocations: u64,
    /// What a reader must know to judge the rows.
    notes: &'static [&'static str],
}

fn run(options: &Options) -> Result<Report, BenchError> {
    let areas = [interpolate::measure(options)?, predict::measure(options)?, rewind::measure(options)?];
    let allocations: u64 = areas.iter().map(|area| area.allocations).sum();
    let notes = areas.iter().flat_map(|area| area.notes).map(|note| note.to_string()).collect();
    let mut rows: Vec<Row> = areas.into_iter().flat_map(|area| area.rows).collect();
    rows.push(Row {
        label: "steady state of all of the above",
        unit: "allocations",
        decimals: 0,
        target: Target::AtMost(0.0),
        figures: vec![Figure::new("steady_allocations", allocations as f64)],
    });
    Ok(Report { title: "Netloom time".into(), columns: vec!["netloom"], rows, series: Vec::new(), notes })
}

/// A row in microseconds, of a time in nanoseconds.
fn microseconds(label: &'static str, key: &'static str, target: Target, ns: f64) -> Row {
    Row { label, unit: "us", decimals: 3, target, figures: vec![Figure::new(key, ns / 1e3)] }
}

fn progress(what: &str) {
    super::progress(SUITE.name, what);
}
