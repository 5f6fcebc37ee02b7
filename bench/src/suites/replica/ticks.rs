//! Send ticks where everyone sees everything.

use super::stage::{AMPLE_BYTES, Delay, Setup, Stage};
use super::times::{Phase, Samples, Spread};
use super::{part_rows, progress, ticks, time_keys, time_row};
use crate::error::BenchError;
use crate::suites::Options;
use crate::table::{Row, Target};
use netloom_replica::server::interest::Policy;
use netloom_replica::server::{Heartbeat, ServerConfig};
use netloom_scene::generate::walk::EXTENT_METRES;
use netloom_wire::Profile;

/// All that a driver does in a tick of a server whose viewers need not be moved.
const TICK: [Phase; 5] = [Phase::Acks, Phase::Begin, Phase::Select, Phase::Encode, Phase::Append];

/// By how many peers the larger of two servers exceeds the smaller, for the price of one more.
const PEERS_MORE: usize = 16;

/// The rows of this file.
pub fn rows(options: &Options) -> Result<Vec<Row>, BenchError> {
    let mut rows = Vec::new();
    let samples = measured(everyone("200 objects x 16 peers", 200, 200, 16), options)?;
    let (label, whole) = ("200 objects x 16 peers, tick", samples.spread(&TICK));
    rows.push(time_row(label, Target::AtMost(30.0), time_keys!("tick_16x200"), whole));
    rows.extend(part_rows!("tick_16x200", samples));

    let exact = Setup { profile: Profile::None, ..everyone("200 exact objects x 16 peers", 200, 200, 16) };
    let samples = measured(exact, options)?;
    let (label, whole) = ("200 exact objects x 16 peers, tick", samples.spread(&TICK));
    rows.push(time_row(label, Target::None, time_keys!("tick_exact_16x200"), whole));
    rows.extend(part_rows!("tick_exact_16x200", samples));

    let samples = measured(everyone("100 objects x 100 peers", 100, 100, 100), options)?;
    let (label, whole) = ("100 objects x 100 peers, tick", samples.spread(&TICK));
    rows.push(time_row(label, Target::AtMost(60.0), time_keys!("tick_100x100"), whole));
    rows.extend(part_rows!("tick_100x100", samples));

    let samples = measured(everyone("10,000 static + 32 moving", 10_032, 32, 16), options)?;
    let (label, whole) = ("10,000 static + 32 moving, 16 peers", samples.spread(&TICK));
    rows.push(time_row(label, Target::AtMost(25.0), time_keys!("static_10000"), whole));
    rows.extend(part_rows!("static_10000", samples));
    let quiet =
        Setup { heartbeat: Heartbeat::Off, ..everyone("the same without heartbeats", 10_032, 32, 16) };
    let whole = measured(quiet, options)?.spread(&TICK);
    rows.push(time_row("  tick without heartbeats", Target::None, time_keys!("static_10000_quiet"), whole));

    let label = "one more peer that sees the same 200";
    rows.push(time_row(label, Target::AtMost(1.2), time_keys!("extra_peer"), one_more_peer(options)?));
    Ok(rows)
}

/// A server whose peers all see everything.
pub fn everyone(workload: &'static str, objects: usize, moving: usize, peers: usize) -> Setup {
    Setup {
        workload,
        objects,
        moving,
        extent_metres: EXTENT_METRES,
        profile: Profile::Standard,
        peers,
        policy: Policy::Everyone,
        baseline_ticks: ServerConfig::default().baseline_ticks,
        heartbeat: ServerConfig::default().heartbeat,
        delay: Delay::OneToFour,
        loss_percent: 0,
        witness_every: 1,
    }
}

fn measured(setup: Setup, options: &Options) -> Result<Samples, BenchError> {
    progress(setup.workload);
    let mut stage = Stage::warmed_up(setup, AMPLE_BYTES)?;
    let samples = stage.run(ticks(options))?;
    stage.verdict()?;
    Ok(samples)
}

/// What a peer adds to a tick: two servers that differ in nothing but their peers, in turns, so that both get the same
/// share of what the machine does besides.
fn one_more_peer(options: &Options) -> Result<Spread, BenchError> {
    let workload = "one more peer";
    progress(workload);
    let mut fewer = Stage::warmed_up(everyone(workload, 200, 200, 16), AMPLE_BYTES)?;
    let mut more = Stage::warmed_up(everyone(workload, 200, 200, 16 + PEERS_MORE), AMPLE_BYTES)?;
    let (mut fewer_samples, mut more_samples) =
        (Samples::with_capacity(ticks(options)), Samples::with_capacity(ticks(options)));
    for _ in 0..ticks(options) {
        fewer_samples.push(fewer.tick()?);
        more_samples.push(more.tick()?);
    }
    fewer.verdict()?;
    more.verdict()?;
    let (fewer, more) = (fewer_samples.spread(&TICK), more_samples.spread(&TICK));
    let one = |more: f64, fewer: f64| (more - fewer) / PEERS_MORE as f64;
    Ok(Spread {
        fast_us: one(more.fast_us, fewer.fast_us),
        cycle_us: one(more.cycle_us, fewer.cycle_us),
        median_us: one(more.median_us, fewer.median_us),
    })
}
