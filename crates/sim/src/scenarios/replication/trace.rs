//! A quiet evening, measured: what replication sends and how old what clients see is, over time.
//!
//! Other than the scenario, whose worlds are as odd as they can be, this is a crowd as games have it: many objects walk
//! about among a few clients, then the bytes run short for a while, then everything rests, then it goes on. The network
//! has the loss and the round trip that one asks for.

use netloom_replica::server::ServerConfig;
use netloom_replica::server::interest::{GridConfig, Policy};
use netloom_wire::Micros;

use super::director::Mood;
use super::remote::Remote;
use super::stage::{Stage, TICK};
use crate::network::{LinkConfig, Loss};
use crate::report::quantile;
use crate::runner::Failure;

const CLIENTS: usize = 8;
const OBJECTS: usize = 120;
/// What a client's tick may take, and what it may take while bytes are short.
const BUDGET_BYTES: usize = 600;
const BUDGET_SHORT_BYTES: usize = 180;
/// Nearer than this is near, for the figures.
pub const NEAR_METRES: f32 = 100.0;
/// Ticks that one sample sums up: half a second.
const SAMPLE_TICKS: u32 = 10;
/// The same in seconds.
pub const SAMPLE_SECONDS: f64 = 0.5;
/// Time for everything to appear before the first sample.
const WARM_TICKS: u32 = 80;

/// The network of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceConfig {
    /// What the seed decides: where everything is and goes.
    pub seed: u64,
    /// The share of datagrams that vanish, in each direction.
    pub loss: f64,
    /// The round trip without jitter.
    pub rtt: Micros,
}

/// A part of the evening.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// What happens.
    pub name: &'static str,
    /// When it begins, in seconds.
    pub from_seconds: f64,
    /// When it ends.
    pub until_seconds: f64,
}

/// The median and the 95th percentile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Half of all are below.
    pub median: f64,
    /// Nineteen of twenty are below.
    pub p95: f64,
}

/// What happened within half a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When it ended, in seconds.
    pub seconds: f64,
    /// Bytes of snapshots per client and tick.
    pub bytes: f64,
    /// What a client's tick was allowed to take.
    pub budget_bytes: f64,
    /// Codes made per object that changed and tick: without sharing, as many as clients see it.
    pub encodes: f64,
    /// Clients that saw each object that changed.
    pub watchers: f64,
    /// How long what clients see of near objects has not been true any more, in milliseconds.
    pub near_ms: Spread,
    /// The same of distant ones.
    pub distant_ms: Spread,
}

/// An evening.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The network.
    pub config: TraceConfig,
    /// How many clients there were.
    pub clients: usize,
    /// How many objects there were.
    pub objects: usize,
    /// Its parts.
    pub phases: Vec<Phase>,
    /// What was measured.
    pub samples: Vec<Sample>,
}

/// Sums up ticks until they make a sample.
#[derive(Debug, Default)]
struct Sum {
    bytes: u64,
    encodes: u64,
    changed: u64,
    seen: u64,
    near_ms: Vec<f64>,
    distant_ms: Vec<f64>,
}

/// Runs an evening. Every promise of the scenario is checked on the way.
pub fn trace(config: TraceConfig) -> Result<Trace, Failure> {
    let policy = Policy::Grid(GridConfig { radius_metres: 200.0, ..GridConfig::default() });
    let mut stage = Stage::new(config.seed, ServerConfig { policy, ..ServerConfig::default() }, 0)?;
    let latency = Micros(config.rtt.0 / 2);
    let link = LinkConfig {
        loss: Loss::Uniform(config.loss),
        latency,
        jitter: Micros(latency.0 / 10),
        ..LinkConfig::default()
    };
    for _ in 0..CLIENTS {
        stage.join(link, BUDGET_BYTES)?;
    }
    let growing = Mood { objects_max: OBJECTS, ..Mood::GROWING };
    for _ in 0..WARM_TICKS {
        stage.step(&growing)?;
    }
    let evening = [
        ("everything moves", 12, Mood::MOVING, BUDGET_BYTES),
        ("bytes are short", 12, Mood::MOVING, BUDGET_SHORT_BYTES),
        ("everything rests", 6, Mood::REST, BUDGET_BYTES),
        ("everything moves", 10, Mood::MOVING, BUDGET_BYTES),
    ];
    let mut trace = Trace {
        config,
        clients: CLIENTS,
        objects: stage.server.world().len(),
        phases: Vec::new(),
        samples: Vec::new(),
    };
    for (name, seconds, mood, budget_bytes) in evening {
        let from_seconds = trace.seconds();
        stage.remotes.iter_mut().for_each(|remote| remote.budget_bytes = budget_bytes);
        for _ in 0..seconds * 1_000_000 / (TICK.0 * u64::from(SAMPLE_TICKS)) {
            trace.measure(&mut stage, &mood, budget_bytes)?;
        }
        trace.phases.push(Phase { name, from_seconds, until_seconds: trace.seconds() });
    }
    Ok(trace)
}

impl Trace {
    /// How long it has lasted.
    fn seconds(&self) -> f64 {
        self.samples.last().map_or(0.0, |sample| sample.seconds)
    }

    fn measure(&mut self, stage: &mut Stage, mood: &Mood, budget_bytes: usize) -> Result<(), Failure> {
        let mut sum = Sum::default();
        for _ in 0..SAMPLE_TICKS {
            let (bytes, encodes) = (stage.counts.bytes, stage.server.encodes());
            stage.step(mood)?;
            sum.bytes += stage.counts.bytes - bytes;
            sum.encodes += stage.server.encodes() - encodes;
            sum.look(stage);
        }
        let per_changed = |count: u64| if sum.changed == 0 { 0.0 } else { count as f64 / sum.changed as f64 };
        self.samples.push(Sample {
            seconds: self.seconds() + SAMPLE_SECONDS,
            bytes: sum.bytes as f64 / f64::from(SAMPLE_TICKS) / stage.remotes.len() as f64,
            budget_bytes: budget_bytes as f64,
            encodes: per_changed(sum.encodes),
            watchers: per_changed(sum.seen),
            near_ms: Spread::of(&sum.near_ms),
            distant_ms: Spread::of(&sum.distant_ms),
        });
        Ok(())
    }
}

impl Spread {
    fn of(values: &[f64]) -> Spread {
        Spread { median: quantile(values, 0.5), p95: quantile(values, 0.95) }
    }
}

impl Sum {
    fn look(&mut self, stage: &Stage) {
        let world = stage.server.world();
        self.changed += world.changed().len() as u64;
        for remote in &stage.remotes {
            let eye = remote.viewer.now().position;
            for held in remote.client.iter() {
                let life = remote.identity(held).and_then(|identity| stage.ledger.life(identity));
                let Some((life, place)) = life.and_then(|life| Some((life, life.place()?))) else { continue };
                let tick = Remote::server_tick(held.tick(), &stage.ledger);
                let now = stage.ledger.tick();
                let age_ticks = life.changed_after(tick).map_or(0, |since| now + 1 - since);
                let age_ms = f64::from(age_ticks) * TICK.as_millis_f64();
                let distance = (0..3).map(|axis| (place[axis] - eye[axis]).powi(2)).sum::<f32>().sqrt();
                self.seen += u64::from(life.changed_after(now - 1).is_some());
                match distance < NEAR_METRES {
                    true => self.near_ms.push(age_ms),
                    false => self.distant_ms.push(age_ms),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evening(loss: f64, rtt_ms: u64) -> Trace {
        trace(TraceConfig { seed: 1, loss, rtt: Micros::from_millis(rtt_ms) }).expect("every promise holds")
    }

    fn mean(trace: &Trace, phase: usize, of: impl Fn(&Sample) -> f64) -> f64 {
        let Phase { from_seconds, until_seconds, .. } = trace.phases[phase];
        // The first two seconds of a part show how it is reached.
        let inside =
            |sample: &&Sample| sample.seconds > from_seconds + 2.0 && sample.seconds <= until_seconds;
        let values: Vec<f64> = trace.samples.iter().filter(inside).map(of).collect();
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn a_short_budget_is_kept_and_makes_distant_objects_older_than_near_ones() {
        let trace = evening(0.0, 40);
        assert!(mean(&trace, 1, |sample| sample.bytes) <= BUDGET_SHORT_BYTES as f64);
        let near = |phase| mean(&trace, phase, |sample| sample.near_ms.p95);
        let distant = mean(&trace, 1, |sample| sample.distant_ms.p95);
        assert!(near(0) < near(1) && near(1) < distant, "{}, {}, {distant} ms", near(0), near(1));
    }

    #[test]
    fn a_longer_way_makes_everything_older_and_rest_makes_everything_right() {
        let (short, long) = (evening(0.05, 20), evening(0.05, 300));
        let near = |trace| mean(trace, 0, |sample| sample.near_ms.median);
        assert!(near(&short) + 100.0 < near(&long), "{} and {} ms", near(&short), near(&long));
        assert_eq!(mean(&long, 2, |sample| sample.near_ms.p95 + sample.distant_ms.p95), 0.0);
    }

    #[test]
    fn codes_are_shared() {
        let trace = evening(0.05, 120);
        let (encodes, watchers) =
            (mean(&trace, 0, |sample| sample.encodes), mean(&trace, 0, |sample| sample.watchers));
        assert!(encodes < watchers, "{encodes} codes for {watchers} watchers");
    }
}
