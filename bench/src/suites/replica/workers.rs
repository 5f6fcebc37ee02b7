//! What a second thread brings where there are many peers.
//!
//! Time that passes, not processor time: threads are there to be done sooner. One thread and two take turns, a cycle of
//! baselines each, so that a slow phase of the machine meets both.

use super::crowd::sight;
use super::stage::{AMPLE_BYTES, Delay, Setup, Stage};
use super::times::{Phase, Samples};
use super::{progress, ticks};
use crate::error::BenchError;
use crate::suites::Options;
use crate::table::{Figure, Row, Target};
use netloom_replica::server::ServerConfig;
use netloom_scene::generate::walk::EXTENT_METRES;
use netloom_wire::Profile;

const PEERS: usize = 1_024;
/// Of these about a hundred are seen from anywhere: as in a square with a crowd, where a server needs help.
const RADIUS_METRES: f32 = 180.0;
/// After so many ticks the ages of baselines repeat.
const CYCLE_TICKS: usize = 8;
/// Those that threads share.
const SHARED: [Phase; 3] = [Phase::Select, Phase::Encode, Phase::Append];

/// The rows of this file.
pub fn rows(options: &Options) -> Result<Vec<Row>, BenchError> {
    progress("1,024 peers, one thread and two in turns");
    let (samples, visible) = measure(ticks(options))?;
    let [one, two] = samples.map(|samples| samples.spread(&SHARED));
    let row = |label, key, value, unit, decimals, target| {
        let figures = vec![Figure::new(key, value)];
        Row { label, unit, decimals, target, figures }
    };
    Ok(vec![
        row("1,024 peers, visible to each", "workers_visible", visible, "objects", 1, Target::None),
        row("1,024 peers, phases, one thread", "workers_1_us", one.cycle_us, "us", 1, Target::None),
        row("1,024 peers, phases, two threads", "workers_2_us", two.cycle_us, "us", 1, Target::None),
        row(
            "  of that of one",
            "workers_2_ratio",
            two.cycle_us / one.cycle_us,
            "ratio",
            3,
            // 1.7 times as fast.
            Target::AtMost(0.588),
        ),
    ])
}

/// The times of ticks of one thread and of two, and how many objects a peer sees.
fn measure(ticks: usize) -> Result<([Samples; 2], f64), BenchError> {
    let setup = Setup {
        workload: "workers",
        objects: PEERS,
        moving: PEERS,
        extent_metres: EXTENT_METRES,
        profile: Profile::Standard,
        peers: PEERS,
        policy: sight(RADIUS_METRES),
        baseline_ticks: ServerConfig::default().baseline_ticks,
        heartbeat: ServerConfig::default().heartbeat,
        delay: Delay::RoundTrips,
        loss_percent: 0,
        witness_every: 64,
    };
    let mut stage = Stage::warmed_up(setup, AMPLE_BYTES)?;
    let mut samples = [1, 2].map(|_| Samples::with_capacity(ticks));
    for _ in 0..ticks.div_ceil(2 * CYCLE_TICKS) {
        for (workers, samples) in (1..).zip(&mut samples) {
            stage.set_workers(workers)?;
            for _ in 0..CYCLE_TICKS {
                samples.push(stage.tick()?);
            }
        }
    }
    let visible = stage.verdict()?;
    Ok((samples, visible))
}
