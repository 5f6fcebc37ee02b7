//! A thousand players among each other, each of whom sees its surroundings.

use super::stage::{Delay, Setup, Stage};
use super::tally::Traffic;
use super::times::{Phase, Samples};
use super::{count_row, part_rows, progress, ticks, time_keys, time_row};
use crate::error::BenchError;
use crate::suites::Options;
use crate::table::{Row, Target};
use netloom_replica::server::ServerConfig;
use netloom_replica::server::interest::{Axes, GridConfig, Policy};
use netloom_scene::generate::walk::EXTENT_METRES;
use netloom_wire::Profile;

const PLAYERS: usize = 1_000;

/// From here a player sees about 50 of a thousand walkers; those at the border see fewer.
const RADIUS_METRES: f32 = 130.0;

const BUDGET_BYTES: usize = 300;

/// About a quarter of what 50 moving objects take.
const STARVED_BYTES: usize = 100;
const LOSS_PERCENT: u64 = 5;

/// Every so manieth client decodes: a thousand of them would take longer than all that is measured.
const WITNESS_EVERY: usize = 8;

/// The rows of this file.
pub fn rows(options: &Options) -> Result<Vec<Row>, BenchError> {
    let mut rows = crowd_rows(options)?;
    rows.extend(sharing_rows(options)?);
    Ok(rows)
}

/// Interest by distance on the ground, for walkers whose y is height.
pub fn sight(radius_metres: f32) -> Policy {
    Policy::Grid(GridConfig { axes: Axes::Xz, radius_metres, ..GridConfig::default() })
}

fn players(workload: &'static str, baseline_ticks: u32, loss_percent: u64) -> Setup {
    Setup {
        workload,
        objects: PLAYERS,
        moving: PLAYERS,
        extent_metres: EXTENT_METRES,
        profile: Profile::Standard,
        peers: PLAYERS,
        policy: sight(RADIUS_METRES),
        baseline_ticks,
        heartbeat: ServerConfig::default().heartbeat,
        delay: Delay::RoundTrips,
        loss_percent,
        witness_every: WITNESS_EVERY,
    }
}

/// Times, what was sent, and how many objects a peer sees on average.
fn measured(setup: Setup, budget_bytes: usize, ticks: usize) -> Result<(Samples, Traffic, f64), BenchError> {
    progress(setup.workload);
    let mut stage = Stage::warmed_up(setup, budget_bytes)?;
    let samples = stage.run(ticks)?;
    let traffic = *stage.traffic();
    Ok((samples, traffic, stage.verdict()?))
}

fn crowd_rows(options: &Options) -> Result<Vec<Row>, BenchError> {
    let setup = players("1,000 walkers x 1,000 peers", ServerConfig::default().baseline_ticks, 0);
    let (samples, traffic, visible) = measured(setup, BUDGET_BYTES, ticks(options))?;
    let peer_ticks = (ticks(options) * PLAYERS) as f64;
    let whole = samples.spread(&[Phase::Begin, Phase::Select, Phase::Encode, Phase::Append]);
    let mut rows = vec![time_row(
        "1,000 walkers x 1,000 peers, 300 B, tick",
        Target::AtMost(1_200.0),
        time_keys!("crowd_1000"),
        whole,
    )];
    rows.extend(part_rows!("crowd_1000", samples));
    let viewers = samples.spread(&[Phase::Viewers]);
    rows.push(time_row("  moving the viewers", Target::None, time_keys!("crowd_1000_viewers"), viewers));
    let told = |label, unit, key, value| count_row(label, unit, Target::None, key, value);
    let per_peer = |count: u64| count as f64 / peer_ticks;
    rows.push(told("  visible to a peer", "objects", "crowd_1000_visible", visible));
    rows.push(told("  updates to a peer", "per tick", "crowd_1000_updates", per_peer(traffic.sent.updates)));
    rows.push(told("  enters to a peer", "per tick", "crowd_1000_enters", per_peer(traffic.sent.enters)));
    rows.push(told("  leaves to a peer", "per tick", "crowd_1000_leaves", per_peer(traffic.sent.leaves)));
    rows.push(told("  bytes to a peer", "per tick", "crowd_1000_bytes", per_peer(traffic.sent.bytes)));
    let allocations = traffic.allocations as f64;
    rows.push(told("  server, all ticks", "allocations", "crowd_1000_allocations", allocations));
    Ok(rows)
}

fn sharing_rows(options: &Options) -> Result<Vec<Row>, BenchError> {
    let run = |workload, baseline_ticks| {
        measured(players(workload, baseline_ticks, LOSS_PERCENT), STARVED_BYTES, ticks(options))
    };
    let (_, shared, _) =
        run("sharing: 1,000 peers, 100 B, 5 % loss", ServerConfig::default().baseline_ticks)?;
    let (_, own, _) = run("sharing: the same with every peer's best baselines", 1)?;
    let per_object = |count: u64, traffic: &Traffic| count as f64 / traffic.changed as f64;
    let per_peer = |count: u64| count as f64 / (ticks(options) * PLAYERS) as f64;
    let over_percent = (shared.sent.bytes_per_update() / own.sent.bytes_per_update() - 1.0) * 100.0;
    let judged = |label, unit, most, key, value| count_row(label, unit, Target::AtMost(most), key, value);
    let told = |label, unit, key, value| count_row(label, unit, Target::None, key, value);
    let encodes = per_object(shared.encodes, &shared);
    let encodes_best = per_object(own.encodes, &own);
    Ok(vec![
        judged("encodes per changed object, 100 B, 5 % loss", "per tick", 8.0, "encodes_per_object", encodes),
        judged("  bytes above best", "percent", 5.0, "encodes_bytes_over_best_percent", over_percent),
        told("  bytes per update", "bytes", "encodes_bytes_per_update", shared.sent.bytes_per_update()),
        told("  updates to a peer", "per tick", "encodes_updates", per_peer(shared.sent.updates)),
        told("  enters to a peer", "per tick", "encodes_enters", per_peer(shared.sent.enters)),
        told("  bytes to a peer", "per tick", "encodes_bytes", per_peer(shared.sent.bytes)),
        told("  best: encodes per changed object", "per tick", "encodes_best_per_object", encodes_best),
        told(
            "  best: bytes per update",
            "bytes",
            "encodes_best_bytes_per_update",
            own.sent.bytes_per_update(),
        ),
        told("  best: updates to a peer", "per tick", "encodes_best_updates", per_peer(own.sent.updates)),
        told("  best: bytes to a peer", "per tick", "encodes_best_bytes", per_peer(own.sent.bytes)),
    ])
}
