//! Everything moves and hardly anything fits: still, nobody waits longer than was promised.
//!
//! The promise: an object that changes is sent within (g + 1) × ⌈N/m⌉ ticks, where N objects wait, a tick surely holds m,
//! and g is the ratio of the largest gain to the smallest; times what the server was told to let objects wait, its
//! patience. Here all of that is measured from outside: N and g from the world as the peer sees it, m from what arrived.

use netloom_replica::world::Object;

use super::director::Mood;
use super::good_link;
use super::remote::Remote;
use super::stage::{Stage, TICK};
use crate::rng::Rng;
use crate::runner::Failure;

/// Ticks in which everything moves, before waiting is measured and while it is.
const WARM_TICKS: u32 = 40;
const TICKS: u32 = 120;

/// What a budget must hold, so that a tick holds several objects: a step of the largest class, in bytes.
const UPDATE_BYTES_MAX: u64 = 40;

/// How many times longer objects may wait: in every B-th tick those that share baselines go first, which takes those
/// ticks from the others, and those of the lowest tier have their turn every few ticks only.
pub fn patience(baseline_ticks: u32, periods: [u32; 3]) -> f64 {
    let favoured = match baseline_ticks {
        1 => 1.0,
        ticks => f64::from(ticks) / f64::from(ticks - 1),
    };
    favoured * f64::from(periods[2])
}

/// What is measured of one client.
#[derive(Clone, Copy, Debug)]
struct Watch {
    objects_max: usize,
    gain_min: f32,
    gain_max: f32,
    /// Ticks that the object that waited longest has waited, and which it was.
    longest: (u32, u64),
}

/// Runs the time of want; returns how much of the bound the longest wait took.
pub fn run(stage: &mut Stage, rng: &mut Rng) -> Result<f64, Failure> {
    stage.set_links(|_| good_link())?;
    for _ in 0..WARM_TICKS {
        stage.step(&Mood::GROWING)?;
    }
    for remote in &mut stage.remotes {
        remote.budget_bytes = rng.between(3 * UPDATE_BYTES_MAX, 8 * UPDATE_BYTES_MAX) as usize;
    }
    for _ in 0..WARM_TICKS {
        stage.step(&Mood::MOVING)?;
    }
    stage.remotes.iter_mut().for_each(|remote| remote.arrived.clear());
    let mut watches = vec![
        Watch { objects_max: 0, gain_min: f32::MAX, gain_max: 0.0, longest: (0, 0) };
        stage.remotes.len()
    ];
    for _ in 0..TICKS {
        stage.step(&Mood::MOVING)?;
        for (watch, remote) in watches.iter_mut().zip(&stage.remotes) {
            watch.look(remote, stage);
        }
    }
    let mut share: f64 = 0.0;
    for (watch, remote) in watches.iter().zip(&stage.remotes) {
        share = share.max(watch.judge(remote, stage)?);
    }
    Ok(share)
}

impl Watch {
    fn look(&mut self, remote: &Remote, stage: &Stage) {
        let now = stage.ledger.tick();
        let eye = remote.viewer.now().position;
        // What was sent in this tick has not arrived yet.
        let arrived_by = now.saturating_sub(2 + (good_link().latency.0 / TICK.0) as u32);
        self.objects_max = self.objects_max.max(remote.client.len());
        for object in remote.client.iter() {
            let Some(identity) = remote.identity(object) else { continue };
            let Some(life) = stage.ledger.life(identity) else { continue };
            let held = Remote::server_tick(object.tick(), &stage.ledger);
            let waits = life.changed_after(held).map_or(0, |since| arrived_by.saturating_sub(since));
            self.longest = self.longest.max((waits, identity));
            let index = stage.server.world().find(netloom_wire::ObjectId(identity));
            let Some(real) = index.and_then(|index| stage.server.world().object(index)) else { continue };
            let gain = gain(&real, eye);
            self.gain_min = self.gain_min.min(gain);
            self.gain_max = self.gain_max.max(gain);
        }
    }

    /// How much of its bound the longest wait took.
    fn judge(&self, remote: &Remote, stage: &Stage) -> Result<f64, Failure> {
        if self.objects_max == 0 {
            return Ok(0.0);
        }
        // The first and the last of these ticks may have been seen only in part.
        let ticks = remote.arrived.len().saturating_sub(2);
        let held = remote.arrived.values().skip(1).take(ticks).copied().min().unwrap_or(0).max(1);
        let rounds = (self.objects_max as u64).div_ceil(held);
        let bound = (f64::from(self.gain_max / self.gain_min) + 1.0) * rounds as f64 * stage.patience;
        let (waited, identity) = self.longest;
        if f64::from(waited) > bound {
            let detail = format!(
                "object {identity} waited {waited} ticks with {:?}, at most {bound:.1} for {} objects, {held} a tick",
                remote.peer, self.objects_max
            );
            return stage.violated("nobody starves", detail);
        }
        Ok(f64::from(waited) / bound)
    }
}

/// What an object earns in a tick that it waits, by the book: priority × (1 + speed / 10 m/s) × weight of its kind, half
/// as much at 100 m, within the floor and the ceiling.
fn gain(object: &Object<'_>, eye: [f32; 3]) -> f32 {
    let place = object.position();
    let distance = (0..3).map(|axis| (place[axis] - eye[axis]).powi(2)).sum::<f32>().sqrt();
    let importance = object.priority() * (1.0 + object.speed() / 10.0) * object.kind_weight();
    (importance / (1.0 + distance / 100.0)).clamp(0.01, 100.0)
}
