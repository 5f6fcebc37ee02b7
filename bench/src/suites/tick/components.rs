//! The parts of a tick, each beside the budget that U gives it: 200 objects, 16 peers, 60 ticks and 20 snapshots a second.

use super::crowd::CLIENTS;
use super::film::OBJECTS;
use super::lockstep::{Lockstep, Samples, Scene};
use super::ours::Parts;
use super::{progress, refused};
use crate::error::BenchError;
use crate::measure::interleaved;
use crate::peers::TICK;
use crate::suites::replica::stage::{AMPLE_BYTES, Stage};
use crate::suites::replica::ticks::everyone;
use crate::suites::replica::times::Phase;
use crate::suites::{Options, time};
use crate::table::{Figure, Row, Target};
use netloom_proto::pacing::RateControl;
use netloom_proto::{Config, Endpoint, ListenConfig, RateConfig};
use netloom_replica::arena::Arena;
use netloom_wire::Micros;
use std::hint::black_box;
use std::net::SocketAddr;

/// Half of the ticks took no longer.
const MEDIAN: f64 = 50.0;
const P99: f64 = 99.0;

/// Everything of this file.
pub fn rows(options: &Options) -> Result<Vec<Row>, BenchError> {
    let mut rows = whole_ticks(options)?;
    rows.extend(small_parts(options)?);
    rows.extend(replication(options)?);
    rows.extend(clients(options)?);
    Ok(rows)
}

/// A figure of ours beside U's, which it should not exceed.
fn row(label: &'static str, unit: &'static str, key: &'static str, value: f64, budget: f64) -> Row {
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
    "dirty_check_us",
    "selection_us",
    "serialization_us_per_object",
    "interpolation_us_per_object",
    "prediction_us_per_object",
];

fn scene(workload: &'static str, sends: bool, events: usize, changing: usize) -> Scene {
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

/// What is too small to be timed once.
fn small_parts(options: &Options) -> Result<Vec<Row>, BenchError> {
    progress("small parts");
    let mut arena = Arena::default();
    let (mut endpoint, mut now) = connected_endpoint()?;
    let mut rate = RateControl::new(&RateConfig::default(), Micros::ZERO);
    let (mut rate_now, mut datagram) = (Micros::ZERO, [0; 1_200]);
    let lockstep = Lockstep::new(scene("stats", true, 0, OBJECTS), 0)?;
    let server = lockstep.server().server();
    let player = server.rooms().flat_map(|room| room.players()).map(|player| player.id).next();
    let player = player.ok_or_else(|| refused("nobody is here"))?;
    now += Micros(1);
    let ns = interleaved(
        options.batches,
        &mut [
            &mut |n| (0..n).for_each(|_| black_box(&mut arena).reset()),
            &mut |n| {
                for _ in 0..n {
                    endpoint.begin_tick(black_box(now));
                    black_box(endpoint.poll_transmit(now, &mut datagram));
                }
            },
            &mut |n| {
                for _ in 0..n {
                    rate.handle_sent(rate_now, 1_000);
                    rate.handle_acked(rate_now + Micros(20_000), rate_now, 1_000, Some(Micros(20_000)));
                    rate_now += Micros(50_000);
                }
            },
            &mut |n| {
                for _ in 0..n {
                    black_box(server.stats_of(black_box(player)));
                }
            },
        ],
    );
    let each = |total: f64| total / CLIENTS as f64;
    Ok(vec![
        row("arena reset", "ns", "arena_reset_ns", ns[0], 1.0),
        row("state machine of one peer", "ns", "fsm_update_ns", each(ns[1]), 5.0),
        row("health of 16 peers", "us", "peer_health_us", ns[1] / 1e3, 1.0),
        row("adaptive rate, a packet sent and acknowledged", "ns", "adaptive_rate_ns", ns[2], 10.0),
        row("stats of one player, read", "ns", "stats_ns", ns[3], 20.0),
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

/// A listening endpoint with sixteen peers that have nothing to say, and the time at which that is so.
fn connected_endpoint() -> Result<(Endpoint, Micros), BenchError> {
    let server_address = SocketAddr::from(([127, 0, 0, 1], 7_777));
    let mut server =
        Endpoint::new(Config::default(), Some(ListenConfig::default()), [1; 32]).map_err(refused)?;
    let mut now = Micros::ZERO;
    let mut clients = (0..CLIENTS as u8)
        .map(|number| {
            let mut client = Endpoint::new(Config::default(), None, [number + 2; 32]).map_err(refused)?;
            client.connect(now, server_address, None).map_err(refused)?;
            Ok((SocketAddr::from(([127, 0, 1, number], 4_000)), client))
        })
        .collect::<Result<Vec<_>, BenchError>>()?;
    let mut datagram = [0; 1_200];
    for _ in 0..60 {
        now += TICK;
        server.begin_tick(now);
        for (address, client) in &mut clients {
            client.begin_tick(now);
            while let Some(sent) = client.poll_transmit(now, &mut datagram) {
                server.handle_datagram(now, *address, &mut datagram[..sent.length]);
            }
            while client.poll_event().is_some() {}
        }
        while server.poll_event().is_some() {}
        while let Some(sent) = server.poll_transmit(now, &mut datagram) {
            if let Some((_, client)) = clients.iter_mut().find(|(address, _)| *address == sent.to) {
                client.handle_datagram(now, server_address, &mut datagram[..sent.length]);
            }
        }
    }
    match server.peers().filter(|peer| server.state(*peer) == netloom_proto::State::Connected).count() {
        CLIENTS => Ok((server, now)),
        connected => Err(refused(format!("{connected} of {CLIENTS} are connected"))),
    }
}
