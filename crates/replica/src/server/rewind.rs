//! Lag compensation: a shot hits what the shooter saw.
//!
//! A client shows the past. While a shot travels to the server its target walks on, and judged by the present it misses a
//! target that was in the crosshair, by a metre at 10 m/s and 100 ms. So the server remembers where everything was, and
//! judges a shot at the time that the shooter's screen showed:
//!
//! ```text
//!    server time ──▶      the target walks this way ──▶
//!
//!          ◀──────────────────── rewind ────────────────────▶
//!          │ snapshot travels │ interpolation │ shot travels │ waits for its step │
//!          │     rtt / 2      │     delay     │    rtt / 2   │     input wait     │
//!       what the shooter saw                                                     now: judged
//! ```
//!
//! | part | |
//! |---|---|
//! | [`Rewind::track`] | which objects can be hit, where ([`HitModel`]), and by whom (groups) |
//! | [`Rewind::record`] | once per step: where they are |
//! | [`Rewind::view`] | with every input: what the client claims to have seen becomes a time that is believed ([`ViewTracker`]) |
//! | [`Rewind::ray`], [`Rewind::overlap`] | what was hit at that time |
//!
//! In a step: simulate the inputs, record, then judge the shots. A shot begins at the eye of the shooter where the server has
//! it *now*: a player's own character is predicted and not shown late. Nothing that a client says enters but a direction and
//! the time of its view, and that time is bounded by what the server knows ([`ViewTracker`]).
//!
//! Being shot behind cover is the price, paid by the target for at most the clamp, 250 ms by default. Who has a longer round
//! trip must lead his targets by the rest.
//!
//! Nothing allocates after construction but [`Rewind::add_model`], and hits beyond the capacity of the caller's list.
//!
//! ```
//! use netloom_replica::server::rewind::{
//!     Filter, HitModel, HitPart, PartId, PeerTiming, Pose, Rewind, RewindConfig, Shape,
//! };
//! use netloom_wire::{Micros, Tick};
//! # use netloom_replica::{Class, ClassId, codec::Codes};
//! # use netloom_replica::server::{PeerConfig, ReplicaServer, ServerConfig};
//! # use netloom_replica::world::{OwnerId, Spawn, World, WorldConfig};
//! # use netloom_wire::{ObjectId, Profile, Schema};
//! # use netloom_wire::schema::{FieldKind, SyncFlags};
//! # let schema = Schema::builder("soldier")
//! #     .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255).build()?;
//! # let mut world = World::new(vec![Class::new(schema)?], WorldConfig::default())?;
//! # let shooter = world.spawn(Spawn::new(ObjectId(1), ClassId(0)))?;
//! # let target = world.spawn(Spawn::new(ObjectId(2), ClassId(0)))?;
//! # let mut server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default())?;
//! # let peer = server.add_peer(PeerConfig::new(OwnerId(1)));
//! let mut rewind = Rewind::new(RewindConfig::default())?;
//! let body = Shape::capsule([0.0, 0.0, 0.3], [0.0, 0.0, 1.5], 0.3)?;
//! let soldier = HitModel::new(&[HitPart { part: PartId(0), shape: body }])?.with_eye([0.0, 0.0, 1.4])?;
//! let soldier = rewind.add_model(soldier)?;
//! rewind.track(shooter, soldier, 1)?;
//! rewind.track(target, soldier, 2)?;
//!
//! // The target runs along y at 6 m/s, 20 m in front of the shooter.
//! for step in 0..60 {
//!     let now = Micros(1_000_000 + u64::from(step) * 16_667);
//!     rewind.record(Tick(step), now, |object| {
//!         let y = if object == target { f64::from(step) * 0.1 } else { 4.0 };
//!         let x = if object == target { 20.0 } else { 0.0 };
//!         Some(Pose::new([x, y, 0.0], [0.0, 0.0, 0.0, 1.0]))
//!     })?;
//! }
//! # let ms = Micros::from_millis;
//! # let (rtt, interpolation_delay, input_wait) = (ms(120), ms(100), ms(10));
//! # let newest_acked = Micros(1_900_000);
//! rewind.set_peer(peer, PeerTiming { rtt, interpolation_delay, input_wait, newest_acked })?;
//!
//! // The shooter saw the target at y = 4.5, although it is at 5.9 now, and aims there.
//! let (claimed, direction) = (Micros(1_750_015), [20.0, 0.5, 0.0]);
//! let view = rewind.view(peer, claimed)?;
//! let hit = rewind.ray(view, shooter, direction, 100.0, &Filter::default())?;
//! assert_eq!(hit.map(|hit| hit.object), Some(target));
//!
//! // Judged by the present it would have missed.
//! let hit = rewind.ray(rewind.present()?, shooter, direction, 100.0, &Filter::default())?;
//! assert_eq!(hit, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod error;
mod geometry;
mod history;
mod places;
mod query;
pub mod shape;
#[cfg(test)]
mod tests;
pub mod view;

use netloom_wire::{Micros, Tick};

use super::ReplicaPeer;
use crate::input::ViewTime;
pub use crate::pose::Pose;
use crate::rate::Rate;
use crate::world::ObjectIndex;
use history::History;
use places::Places;

pub use config::RewindConfig;
pub use error::RewindError;
pub use query::{Filter, Hit, RANGE_METRES_MAX, Ray};
pub use shape::{HitModel, HitPart, PARTS_MAX, POSITION_METRES_MAX, PartId, SHAPE_METRES_MAX, Shape};
pub use view::{Adjustment, Kept, PastView, PeerTiming, ViewCounters, ViewRules, ViewTracker};

/// A model of a [`Rewind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModelId(u16);

/// Where an object is in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// Where it is.
    pub pose: Pose,
    /// It did not come here on a way since the step before: it was moved, and is not between the two places.
    pub jumped: bool,
}

/// Where something walked to.
impl From<Pose> for Recorded {
    fn from(pose: Pose) -> Recorded {
        Recorded { pose, jumped: false }
    }
}

/// Where everything was for the last second, and what was hit there.
#[derive(Debug)]
pub struct Rewind {
    config: RewindConfig,
    rate: Rate,
    history: History,
    places: Places,
    peers: Box<[Option<Followed>]>,
    poses_refused: u64,
}

#[derive(Clone, Copy, Debug)]
struct Followed {
    timing: PeerTiming,
    tracker: ViewTracker,
}

impl Rewind {
    /// Memory for everything that the configuration allows.
    pub fn new(config: RewindConfig) -> Result<Rewind, RewindError> {
        let rate = config.check()?;
        Ok(Rewind {
            config,
            rate,
            history: History::new(config.rows(), config.objects_max),
            places: Places::new(config.objects_max),
            peers: vec![None; config.peers_max].into(),
            poses_refused: 0,
        })
    }

    /// The configuration.
    pub fn config(&self) -> &RewindConfig {
        &self.config
    }

    /// How many objects are tracked.
    pub fn tracked(&self) -> usize {
        self.places.len()
    }

    /// Poses that could not be: not finite, too far away, or with a rotation that is none. The object was absent in that
    /// step.
    pub fn poses_refused(&self) -> u64 {
        self.poses_refused
    }

    /// The times that are kept.
    pub fn kept(&self) -> Option<Kept> {
        let ((_, oldest), (_, newest)) = (self.history.oldest()?, self.history.newest()?);
        Some(Kept { oldest, newest })
    }

    /// A model that objects can be tracked by.
    pub fn add_model(&mut self, model: HitModel) -> Result<ModelId, RewindError> {
        self.places.add_model(model)
    }

    /// From the next record on, an object can be hit by whoever aims at one of its `groups` (bits). With none it can shoot
    /// and is never hit.
    pub fn track(&mut self, object: ObjectIndex, model: ModelId, groups: u32) -> Result<(), RewindError> {
        let place = self.places.take(object, model, groups)?;
        self.history.forget(place);
        Ok(())
    }

    /// From the next record on, an object is gone. In the past it still is where it was.
    pub fn untrack(&mut self, object: ObjectIndex) -> Result<(), RewindError> {
        self.places.release(object)
    }

    /// Changes what can be hit of an object from the next record on: it crouches, or raises a shield.
    pub fn set_model(&mut self, object: ObjectIndex, model: ModelId) -> Result<(), RewindError> {
        self.places.check_model(model)?;
        self.places.retune(object, |tenant| tenant.model = model)
    }

    /// Changes the groups of an object, in the past too: a player who changes sides is not shot by the new one for it.
    pub fn set_groups(&mut self, object: ObjectIndex, groups: u32) -> Result<(), RewindError> {
        self.places.retune(object, |tenant| tenant.groups = groups)
    }

    /// Records a step: asks where each tracked object is; `None` is nowhere, which nobody hits.
    /// A [`Pose`] is where an object walked to; a [`Recorded`] also says whether it jumped.
    pub fn record<R: Into<Recorded>>(
        &mut self,
        step: Tick,
        now: Micros,
        mut pose: impl FnMut(ObjectIndex) -> Option<R>,
    ) -> Result<(), RewindError> {
        if let Some((_, newest)) = self.history.newest().filter(|(_, newest)| now <= *newest) {
            return Err(RewindError::NotLater { now, newest });
        }
        self.history.begin(step, now);
        for (place, tenant) in self.places.tenants().iter().enumerate() {
            if !tenant.is_tracked {
                continue;
            }
            let Some(pose) = pose(tenant.object) else { continue };
            let reach_metres = self.places.model(tenant.model.0).map_or(0.0, HitModel::reach_metres);
            let is_taken = self.history.write(place, &pose.into(), tenant.model.0, reach_metres);
            self.poses_refused += u64::from(!is_taken);
        }
        Ok(())
    }

    /// The server time that an input claims to have seen. Steps that are not kept are counted on from those that are, at
    /// the configured rate.
    pub fn time_of(&self, seen: ViewTime) -> Result<Micros, RewindError> {
        let (near, time) = self.history.nearest_step(seen.step).ok_or(RewindError::NoHistory)?;
        let steps = seen.step.distance(near);
        let way = self.rate.time_of(steps.unsigned_abs().into());
        let begin = if steps < 0 { time - way } else { time + way };
        Ok(begin + Micros((self.rate.step_us() * f64::from(seen.fraction) / 256.0) as u64))
    }

    /// What the server knows about a peer's time; from the first time on its view is followed.
    pub fn set_peer(&mut self, peer: ReplicaPeer, timing: PeerTiming) -> Result<(), RewindError> {
        let peers_max = self.peers.len();
        let followed = self.peers.get_mut(peer.0 as usize);
        let followed = followed.ok_or(RewindError::PeerOutOfRange { peer, peers_max })?;
        let tracker = followed.map(|followed| followed.tracker).unwrap_or_default();
        *followed = Some(Followed { timing, tracker });
        Ok(())
    }

    /// The peer is gone; whoever has its number next begins anew.
    pub fn remove_peer(&mut self, peer: ReplicaPeer) {
        if let Some(followed) = self.peers.get_mut(peer.0 as usize) {
            *followed = None;
        }
    }

    /// How often a peer's claims were moved, and by what.
    pub fn view_counters(&self, peer: ReplicaPeer) -> Option<ViewCounters> {
        let followed = self.peers.get(peer.0 as usize)?.as_ref()?;
        Some(followed.tracker.counters())
    }

    /// Makes a time that can be believed of what a client claims to have seen. Call it for every input, whether it shoots
    /// or not: what is heard of often cannot move far.
    pub fn view(&mut self, peer: ReplicaPeer, claimed: Micros) -> Result<PastView, RewindError> {
        let kept = self.kept().ok_or(RewindError::NoHistory)?;
        let rules = self.config.rules();
        let followed = self.peers.get_mut(peer.0 as usize).and_then(Option::as_mut);
        let Followed { timing, tracker } = followed.ok_or(RewindError::UnknownPeer(peer))?;
        Ok(tracker.verify(claimed, timing, kept, &rules))
    }

    /// The newest record: for what acts on the server itself.
    pub fn present(&self) -> Result<PastView, RewindError> {
        let Kept { newest, .. } = self.kept().ok_or(RewindError::NoHistory)?;
        self.at(newest)
    }

    /// A time of the server's own choice. Never one that a client sent: those go through [`Rewind::view`].
    pub fn at(&self, at: Micros) -> Result<PastView, RewindError> {
        let Kept { oldest, newest } = self.kept().ok_or(RewindError::NoHistory)?;
        if at < oldest || at > newest {
            return Err(RewindError::OutsideHistory { at, oldest, newest });
        }
        Ok(PastView { at, claimed: at, now: newest, adjusted: None })
    }
}
