//! The parts of a tick, each beside the budget that U gives it: 200 objects, 16 peers, 60 ticks and 20 snapshots a second.

use super::crowd::CLIENTS;
use super::film::OBJECTS;
use super::lockstep::{Lockstep, Samples, Scene};
use super::ours::Parts;
use super::{progress, small};
use crate::error::BenchError;
use crate::suites::replica::stage::{AMPLE_BYTES, Stage};
use crate::suites::replica::ticks::everyone;
use crate::suites::replica::times::Phase;
use crate::suites::{Options, time};
use crate::table::{Figure, Row, Target};

/// Half of the ticks took no longer.
const MEDIAN: f64 = 50.0;
const P99: f64 = 99.0;

/// Everything of this file.
pub fn rows(options: &Options) -> Result<Vec<Row>, BenchError> {
    let mut rows = whole_ticks(options)?;
    rows.extend(small::rows(options)?);
    rows.extend(replication(options)?);
    rows.extend(clients(options)?);
    Ok(rows)
}

/// A figure of ours beside U's, which it should not exceed.
pub(super) fn row(
    label: &'static str,
    unit: &'static str,
    key: &'static str,
    value: f64,
    budget: f64,
) -> Row {
    let decimals = if budget < 10.0 { 2 } else { 1 };
    let budget = Figure::new(budget_key(key), budget);
    let target = budget.map_or(Target::None, |budget| Target::AtMost(budget.value));
    Row { label, unit, decimals, target, figures: vec![Figure::new(key, value), None, budget] }
}

/// The key of a budget.
fn budget_key(key: &'static str) -> &'static str {
    KEYS.iter().find(|(ours, _)| *ours == key).map_or("", |(_, budget)| budget)
}

macro_rules! keys {
    ($($name:literal),* $(,)?) => {
        /// Keys of this file, each with that of its budget.
        const KEYS: &[(&str, &str)] = &[$(($name, concat!($name, "_budget"))),*];
    };
}
keys![
    "tick_best_p99_us",
    "tick_normal_p99_us",
    "tick_worst_p99_us",
    "tick_burst_p99_us",
    "service_poll_us",
    "events_64_us",
    "arena_reset_ns",
    "fsm_update_ns",
    "peer_health_us",
    "adaptive_rate_ns",
    "stats_ns",
    "native_call_us",
    "script_calls_50_us",
    "dirty_check_us",
    "selection_us",
    "serialization_us_per_object",
    "interpolation_us_per_object",
    "prediction_us_per_object",
];

pub(super) fn scene(workload: &'static str, sends: bool, events: usize, changing: usize) -> Scene {
    Scene { workload, sends, events, changing, plays: false }
}

fn samples(scene: Scene, options: &Options) -> Result<Samples, BenchError> {
    progress(scene.workload);
    let ticks = options.batches as usize;
    Lockstep::new(scene, ticks)?.run(ticks)
}

/// Ticks as a whole, and what of them is not replication.
fn whole_ticks(options: &Options) -> Result<Vec<Row>, BenchError> {
    let best = samples(scene("best", false, 0, OBJECTS), options)?;
    let normal = samples(scene("normal", true, 20, 50), options)?;
    let worst = samples(scene("worst", true, 64, OBJECTS), options)?;
    let burst = samples(scene("burst", true, 512, OBJECTS), options)?;
    let events = samples(scene("64 events", false, 64, OBJECTS), options)?;
    let players = Scene { plays: true, ..scene("players", false, 0, OBJECTS) };
    let players = samples(players, options)?;
    let p99 = |samples: &Samples| samples.percentile(P99, Parts::total);
    let taking_in = |samples: &Samples| samples.percentile(MEDIAN, |parts| parts.receive + parts.step);
    let poll_us = players.percentile(MEDIAN, |parts| parts.receive);
    Ok(vec![
        row("tick, best: no send, 0 events, p99", "us", "tick_best_p99_us", p99(&best), 153.0),
        row("tick, normal: send, 20 events, 50 dirty, p99", "us", "tick_normal_p99_us", p99(&normal), 295.0),
        row("tick, worst: send, 64 events, 200 dirty, p99", "us", "tick_worst_p99_us", p99(&worst), 455.0),
        row("tick, burst: send, 512 events, 200 dirty, p99", "us", "tick_burst_p99_us", p99(&burst), 1_100.0),
        row("service poll, 16 datagrams", "us", "service_poll_us", poll_us, 150.0),
        row("64 incoming events", "us", "events_64_us", taking_in(&events) - taking_in(&best), 128.0),
    ])
}

/// Replication alone, in memory.
fn replication(options: &Options) -> Result<Vec<Row>, BenchError> {
    progress("replication");
    let mut stage =
        Stage::warmed_up(everyone("200 objects x 16 peers", OBJECTS, OBJECTS, CLIENTS), AMPLE_BYTES)?;
    let samples = stage.run(options.batches as usize)?;
    stage.verdict()?;
    let median = |phases: &[Phase]| samples.spread(phases).median_us;
    let serialized = median(&[Phase::Encode, Phase::Append]) / OBJECTS as f64;
    let label = "serialization of an object, for all 16 peers";
    Ok(vec![
        row("dirty check and commit of 200", "us", "dirty_check_us", median(&[Phase::Begin]), 10.0),
        row(
            "selection, for all 16 peers",
            "us",
            "selection_us",
            median(&[Phase::Select]),
            2.0 * CLIENTS as f64,
        ),
        row(label, "us", "serialization_us_per_object", serialized, 0.8),
    ])
}

/// What clients do in a frame.
fn clients(options: &Options) -> Result<Vec<Row>, BenchError> {
    let interpolated = first_figure(&time::interpolate::measure(options)?.rows) / 1e3;
    let predicted = first_figure(&time::predict::measure(options)?.rows);
    let label = "prediction, corrected with 64 steps again";
    Ok(vec![
        row("interpolation of an object", "us", "interpolation_us_per_object", interpolated, 0.25),
        row(label, "us", "prediction_us_per_object", predicted, 5.0),
    ])
}

/// Of rows whose judged one comes first.
fn first_figure(rows: &[Row]) -> f64 {
    rows.first()
        .and_then(|row| row.figures.first().copied().flatten())
        .map_or(f64::NAN, |figure| figure.value)
}
