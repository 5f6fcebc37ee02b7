//! Random worlds on a bad network: in the end every client sees what the server has, and never what it may not see.
//!
//! A run tells one story:
//!
//! ```text
//!   storm ──▶ calm ──▶ rest ──▶ starved ──▶ storm ──▶ calm ──▶ end of the world
//!   all that  views    nothing  all moves,  with tiny  views    nothing is held,
//!   can       are      happens  no room:    budgets,   are      nothing is kept
//!   happen    equal             nobody      joins and  equal
//!                               starves     goodbyes
//! ```
//!
//! Everything that arrives at any time is compared with what the server had at the tick of its snapshot, and with what
//! that client was allowed to know at that tick.

mod classes;
mod director;
mod ledger;
pub(super) mod path;
mod remote;
mod stage;
mod starvation;
mod trace;
mod view;

pub use trace::{NEAR_METRES, Phase, SAMPLE_SECONDS, Sample, Spread, Trace, TraceConfig, trace};

use netloom_replica::server::interest::{Axes, GridConfig, Policy};
use netloom_replica::server::priority::Cadence;
use netloom_replica::server::{Heartbeat, ServerConfig};
use netloom_replica::world::TeamId;
use netloom_wire::Micros;

use crate::network::{LinkConfig, Loss};
use crate::report::Report;
use crate::rng::Rng;
use crate::runner::{Failure, Scenario};
use director::{Mood, TEAMS};
use stage::Stage;

/// Once the network is calm and nothing changes, every view is right after so many ticks.
const CALM_TICKS: u32 = 160;
/// After so many ticks a client has heard that an object is gone, and the server knows.
const LEAVE_TICKS: u32 = 100;
/// Clients at once.
const CLIENTS_MAX: usize = 5;
/// A budget that never holds anything back for long.
const BUDGET_BYTES: usize = 1_000;
/// The smallest budget: room for the largest entry.
const BUDGET_BYTES_MIN: usize = classes::ENTRY_BYTES_MAX;
/// Ticks on the wire have 16 bits: some runs begin shortly before those are used up.
const TICK_BEFORE_WRAP: u32 = 65_400;

/// A world, its clients and a bad night.
pub struct Replication;

impl Scenario for Replication {
    fn name(&self) -> &'static str {
        "replication"
    }

    fn about(&self) -> &'static str {
        "random worlds for several clients on a bad network; views end equal, nothing hidden is sent, nobody starves"
    }

    fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure> {
        let mut rng = Rng::new(seed).fork("story");
        let mut stage = set_up(seed, &mut rng)?;
        let storm = Storm { ticks: 100 + rng.below(80) as u32, ..Storm::draw(&mut rng) };
        storm.run(&mut stage, &mut rng)?;
        let first = calm(&mut stage)?;
        rest(&mut stage, &mut rng)?;
        let waited_share = starvation::run(&mut stage, &mut rng)?;
        let storm = Storm { has_guests: true, is_starved: true, ..Storm::draw(&mut rng) };
        storm.run(&mut stage, &mut rng)?;
        let second = calm(&mut stage)?;
        finish(&mut stage)?;
        let (counts, ticks) = (stage.counts, f64::from(stage.ledger.tick()));
        let (refused, mismatches) = stage.refusals;
        report.add("views equal after", "ticks", f64::from(first.max(second)));
        report.add("longest wait of its bound", "%", 100.0 * waited_share);
        report.add("snapshots", "", counts.snapshots as f64);
        report.add("bytes per snapshot", "", counts.bytes as f64 / counts.snapshots.max(1) as f64);
        report.add("encodes per tick", "", stage.server.encodes() as f64 / ticks);
        report.add("snapshots refused", "", refused as f64);
        report.add("digests that differ", "", mismatches as f64);
        report.add("client writes", "", counts.writes_accepted as f64);
        Ok(())
    }
}

fn set_up(seed: u64, rng: &mut Rng) -> Result<Stage, Failure> {
    let policy = match rng.below(5) {
        0 | 1 => Policy::Everyone,
        2 => Policy::Custom,
        _ => Policy::Grid(GridConfig {
            axes: [Axes::Xy, Axes::Xz, Axes::Xyz][rng.below(3) as usize],
            radius_metres: 60.0 + 100.0 * rng.unit() as f32,
            dwell_ticks: rng.below(20) as u32,
            refresh_ticks: 1 + rng.below(6) as u32,
            ..GridConfig::default()
        }),
    };
    let ticks = rng.between(10, 100) as u32;
    let heartbeat = [Heartbeat::Digest { ticks }, Heartbeat::Resend { ticks }, Heartbeat::Off];
    // Some games send what matters less every few ticks only.
    let periods = if rng.chance(0.25) { [1, 2, 5] } else { [1; 3] };
    let config = ServerConfig {
        policy,
        cadence: Cadence::frames(periods).map_err(stage::setup)?,
        baseline_ticks: 1 + rng.below(8) as u32,
        heartbeat: heartbeat[rng.below(3) as usize],
        ..ServerConfig::default()
    };
    let tick = if rng.chance(0.1) { TICK_BEFORE_WRAP } else { 0 };
    let patience = starvation::patience(config.baseline_ticks, periods);
    let mut stage = Stage::new(seed, config, tick)?;
    stage.patience = patience;
    for _ in 0..rng.between(2, CLIENTS_MAX as u64 - 1) {
        stage.join(bad_link(rng), BUDGET_BYTES)?;
    }
    Ok(stage)
}

/// A time in which everything happens.
struct Storm {
    ticks: u32,
    mood: Mood,
    /// Clients come and go.
    has_guests: bool,
    /// Budgets are tiny at times.
    is_starved: bool,
    /// How often a client is cut off for a while.
    cut: f64,
}

impl Storm {
    fn draw(rng: &mut Rng) -> Storm {
        Storm {
            ticks: 80 + rng.below(80) as u32,
            mood: Mood::storm(rng),
            has_guests: rng.chance(0.5),
            is_starved: rng.chance(0.3),
            cut: if rng.chance(0.3) { 0.02 } else { 0.0 },
        }
    }

    fn run(&self, stage: &mut Stage, rng: &mut Rng) -> Result<(), Failure> {
        stage.set_links(bad_link)?;
        for _ in 0..self.ticks {
            self.trouble_clients(stage, rng)?;
            stage.step(&self.mood)?;
        }
        Ok(())
    }

    fn trouble_clients(&self, stage: &mut Stage, rng: &mut Rng) -> Result<(), Failure> {
        if self.has_guests && rng.chance(0.03) && stage.remotes.len() < CLIENTS_MAX {
            stage.join(bad_link(rng), BUDGET_BYTES)?;
        }
        if self.has_guests && rng.chance(0.02) && stage.remotes.len() > 1 {
            stage.leave(rng.below(stage.remotes.len() as u64) as usize);
        }
        for place in 0..stage.remotes.len() {
            if self.is_starved && rng.chance(0.05) {
                let spread = (BUDGET_BYTES - BUDGET_BYTES_MIN) as f64;
                stage.remotes[place].budget_bytes = BUDGET_BYTES_MIN + (rng.unit().powi(3) * spread) as usize;
            }
            if rng.chance(self.cut) {
                stage.set_cut_off(place, true);
            } else if rng.chance(0.05) {
                stage.set_cut_off(place, false);
            }
            move_viewer(stage, place, rng);
            if rng.chance(0.05) {
                stage.show(place, rng.unit());
            }
        }
        Ok(())
    }
}

/// A viewer walks, jumps, or changes sides.
fn move_viewer(stage: &mut Stage, place: usize, rng: &mut Rng) {
    let mut config = stage.remotes[place].viewer.now();
    match rng.below(100) {
        0 => config.team = rng.chance(0.8).then(|| TeamId(rng.below(TEAMS) as u16)),
        1 => config.groups = rng.below(8),
        2 => config.position = director::place(rng).map(|axis| axis as f32),
        3..60 => config.position[rng.below(3) as usize] += rng.unit() as f32 * 8.0 - 4.0,
        _ => return,
    }
    stage.set_viewer(place, config);
}

/// The network is well and nothing changes: after how many ticks every view is right.
fn calm(stage: &mut Stage) -> Result<u32, Failure> {
    stage.set_links(|_| good_link())?;
    for place in 0..stage.remotes.len() {
        stage.set_cut_off(place, false);
        stage.remotes[place].budget_bytes = BUDGET_BYTES;
    }
    let mut right_after = 0;
    for tick in 1..=CALM_TICKS {
        stage.step(&Mood::REST)?;
        if stage.remotes.iter().any(|remote| view::difference(remote, &stage.ledger).is_some()) {
            right_after = tick + 1;
        }
    }
    match stage.remotes.iter().find_map(|remote| Some((remote, view::difference(remote, &stage.ledger)?))) {
        Some((remote, wrong)) => stage.violated("views end equal", format!("{:?}: {wrong}", remote.peer)),
        None => Ok(right_after),
    }
}

/// Long enough that every baseline is too old, on a bad network: nothing changes for anybody.
fn rest(stage: &mut Stage, rng: &mut Rng) -> Result<(), Failure> {
    stage.set_links(bad_link)?;
    for _ in 0..rng.below(400) {
        stage.step(&Mood::REST)?;
    }
    match stage.remotes.iter().find_map(|remote| view::difference(remote, &stage.ledger)) {
        Some(wrong) => stage.violated("what rests stays as it is", wrong),
        None => Ok(()),
    }
}

/// The end of the world: nobody holds anything, and nothing is said any more.
fn finish(stage: &mut Stage) -> Result<(), Failure> {
    stage.clear_world()?;
    for _ in 0..CALM_TICKS / 2 {
        stage.step(&Mood::REST)?;
    }
    // An object that left and came back has two slots until the first is free.
    let slots_max = 2 * stage.ledger.crowd_max(LEAVE_TICKS);
    if let Some(remote) = stage.remotes.iter().find(|remote| remote.slots_used() > slots_max) {
        let detail = format!("{} slots, at most {slots_max}", remote.slots_used());
        return stage.violated("slots are used again", detail);
    }
    if let Some(remote) = stage.remotes.iter().find(|remote| !remote.client.is_empty()) {
        let left = remote.client.len();
        return stage.violated("nothing outlives the world", format!("{left} objects are left"));
    }
    let before = stage.counts.snapshots;
    for _ in 0..CALM_TICKS / 2 {
        stage.step(&Mood::REST)?;
    }
    match stage.counts.snapshots == before {
        true => stage.close(),
        false => stage.violated("an empty world is silent", "snapshots were sent"),
    }
}

fn good_link() -> LinkConfig {
    LinkConfig { latency: Micros::from_millis(40), ..LinkConfig::default() }
}

fn bad_link(rng: &mut Rng) -> LinkConfig {
    let latency = Micros::from_millis(rng.between(5, 180));
    let loss = match rng.below(3) {
        0 => Loss::Uniform(0.3 * rng.unit()),
        1 => Loss::Bursts { good_to_bad: 0.05, bad_to_good: 0.2, loss_good: 0.01, loss_bad: 0.8 },
        _ => Loss::None,
    };
    LinkConfig {
        loss,
        latency,
        jitter: Micros((latency.0 as f64 * rng.unit()) as u64),
        reorder: 0.2 * rng.unit(),
        reorder_delay_max: Micros::from_millis(rng.between(1, 400)),
        duplicate: 0.1 * rng.unit(),
        ..LinkConfig::default()
    }
}
