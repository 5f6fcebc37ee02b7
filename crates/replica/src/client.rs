//! The receiving half: snapshots go in, and the objects that this client may see stand here.
//!
//! A snapshot says what left, what entered in full, and for the rest how it differs from states that this client is
//! known to hold. So every state that arrives is kept for a while under the tick of its snapshot: not only the newest
//! is needed, but whichever the server was told of.
//!
//! ```text
//!   alias slot ──▶ object: class, audience, origin …
//!                    states:  tick 40 │ tick 44 │ tick 48 │ …      the last 32 that arrived
//!                                 └─────────┴── baselines of the update in tick 52
//! ```
//!
//! Snapshots come late, twice or not at all. An older one never takes the place of a newer one, but its states are
//! kept all the same: the server may build on them. What cannot be decoded, because a state is missing or the object
//! is unknown, ends the reading of that snapshot; [`ReplicaClient::poll_refusal`] tells the server, which stops
//! building on it.
//!
//! That much is what the server said. What the player sees of it is the matter of the other parts:
//!
//! | part | |
//! |---|---|
//! | [`View`] | everybody else, smoothly, at one time: [`ServerClock`], [`ViewDelay`] and [`Interpolator`] together |
//! | [`ViewEvents`] | what happens once, given when the view gets there |
//! | [`InputClock`] | which step of the simulation the player's inputs are for |
//! | [`Predictor`] | the player's own object, ahead of the server; [`PredictedSpawns`] for what its inputs make |

pub mod clock;
pub mod delay;
pub mod events;
pub mod input_clock;
pub mod interpolate;
mod object;
pub mod predict;
mod property;
mod snapshot;
pub mod view;

use std::collections::VecDeque;

use netloom_wire::schema::Audience;
use netloom_wire::{Alias, ReadError, Tick};

use crate::class::{Class, ClassId};
use crate::codec::{Blobs, Codes, Tally};
use crate::limits::VISIBLE_MAX;
pub use crate::pose::Pose;
use crate::property::PropertyInbox;
use crate::snapshot::Feedback;
use crate::world::ClassTable;
pub use clock::{Resync, ServerClock};
pub use delay::{DELAY_MAX, DELAY_MIN, DelayConfig, ViewDelay};
pub use events::{DueEvent, EVENTS_MAX, EventCounters, EventRefused, ViewEvents, ViewEventsConfig, When};
pub use input_clock::{InputClock, InputClockConfig, Steps};
pub use interpolate::{EXTRAPOLATION_MAX, Interpolator, InterpolatorConfig, Shown, Source, State};
pub use object::ClientObject;
pub use predict::{PredictConfig, PredictedSpawns, Predictor, Reconciled, SpawnKey};
use snapshot::Watch;
pub use view::{View, ViewConfig};

/// Events and refusals that wait to be polled; the oldest give way.
const WAITING_MAX: usize = 4 * VISIBLE_MAX;
const REFUSALS_MAX: usize = 64;
const MISMATCHES_MAX: usize = 64;

/// A property waits so long for its object, unless said otherwise: a second at the usual rate.
const PROPERTY_HOLD_TICKS: u32 = 20;

/// Something that happened to the objects in sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// An object came into sight.
    Entered(Alias),
    /// The meaning of its words changed, or it was sent anew: another profile, origin, parent or owner.
    Refreshed(Alias),
    /// An object is no longer in sight.
    Left(Alias),
}

/// What a snapshot did to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which object.
    pub alias: Alias,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Whether it was told in full: the server says nothing more of it until it knows that this arrived.
    pub in_full: bool,
    /// When: the tick of the snapshot, or the one in which it left.
    pub tick: Tick,
    /// When it had jumped last by then; `None` if it did not since it came into sight.
    pub jumped: Option<Tick>,
}

/// The ways in which a snapshot changes an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It came into sight, or is told anew with another parent, profile, origin or owner.
    Entered,
    /// There is one more state of it, of the tick of the snapshot.
    Updated,
    /// It is no longer in sight.
    Left,
}

/// A snapshot that could not be read to its end: the server must not build on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its tick.
    pub tick: Tick,
}

/// Why a snapshot was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The bytes are no snapshot.
    #[error("the snapshot does not decode: {0}")]
    Malformed(#[from] ReadError),
    /// It updates an object that is not here.
    #[error("the snapshot updates slot {0}, where no object is")]
    UnknownObject(u16),
    /// It builds on a state that is not here.
    #[error("the snapshot builds on a state of slot {slot} from tick {tick:?} that is not here")]
    MissingBaseline {
        /// The object.
        slot: u16,
        /// The state.
        tick: Tick,
    },
}

/// The objects that a client sees.
#[derive(Debug)]
pub struct ReplicaClient {
    classes: ClassTable,
    codes: Codes,
    objects: Vec<Option<Box<ClientObject>>>,
    /// The newest leave by slot: an entry that is not newer came too late, whichever object of the slot it tells of.
    leaves: Vec<Option<Tick>>,
    in_sight: usize,
    newest: Option<Tick>,
    /// A tick and a step near which the first ones lie.
    start: Option<(Tick, Tick)>,
    /// The newest, and the tick of its snapshot.
    feedback: Option<(Tick, Feedback)>,
    /// Text and bytes of the object that is being read.
    contents: Contents,
    events: VecDeque<ClientEvent>,
    /// Of the snapshot that was read last.
    changes: Vec<Change>,
    applied: Option<Applied>,
    refusals: VecDeque<Refusal>,
    mismatches: VecDeque<u16>,
    properties: PropertyInbox,
}

/// The snapshot that was read last.
#[derive(Clone, Copy, Debug)]
struct Applied {
    tick: Tick,
    /// Whether it was read to its end.
    is_whole: bool,
}

/// The contents of some fields, one after the other.
#[derive(Debug, Default)]
struct Contents {
    bytes: Vec<u8>,
    /// Field, and where its content ends.
    ends: Vec<(usize, usize)>,
}

impl Contents {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn push(&mut self, field: usize, content: &[u8]) {
        self.bytes.extend_from_slice(content);
        self.ends.push((field, self.bytes.len()));
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |&(field, end)| {
            let content = &self.bytes[start..end];
            start = end;
            (field, content)
        })
    }
}

impl Blobs for Contents {
    fn blob(&self, field: usize) -> &[u8] {
        self.iter().find(|(of, _)| *of == field).map_or(&[], |(_, content)| content)
    }
}

impl ReplicaClient {
    /// A client of a server with these classes and codes.
    pub fn new(classes: ClassTable, codes: Codes) -> ReplicaClient {
        ReplicaClient {
            classes,
            codes,
            objects: Vec::new(),
            leaves: Vec::new(),
            in_sight: 0,
            newest: None,
            start: None,
            feedback: None,
            contents: Contents::default(),
            events: VecDeque::new(),
            changes: Vec::new(),
            applied: None,
            refusals: VecDeque::new(),
            mismatches: VecDeque::new(),
            properties: PropertyInbox::new(PROPERTY_HOLD_TICKS),
        }
    }

    /// The server is at this tick of snapshots, and at this step of its simulation: to be said before the first snapshot by
    /// who joins a server that runs for a while. Snapshots carry 16 bits of each, and whoever is told nothing takes the
    /// first for all there is. Client and server then count differently, which is harmless only until a client derives
    /// steps from ticks.
    pub fn start_near(&mut self, tick: Tick, step: Tick) {
        self.start = Some((tick, step));
    }

    /// The newest tick of which anything arrived.
    pub fn newest(&self) -> Option<Tick> {
        self.newest
    }

    /// What became of this client's inputs, as far as the server has told.
    pub fn feedback(&self) -> Option<Feedback> {
        self.feedback.map(|(_, feedback)| feedback)
    }

    /// An own object in sight whose newest state is that of the newest feedback, and the step after which it was so: what a
    /// prediction is compared with. `None` if it is not this client's own, or the snapshot said nothing of it: then it may
    /// not have changed, or there was no room.
    pub fn confirmed(&self, alias: Alias) -> Option<(Tick, &ClientObject)> {
        let (tick, feedback) = self.feedback?;
        let own = self.object(alias).filter(|object| object.audience() == Audience::Owner);
        own.filter(|object| object.tick() == tick).map(|object| (feedback.step, object))
    }

    /// How many objects are in sight.
    pub fn len(&self) -> usize {
        self.in_sight
    }

    /// Whether nothing is in sight.
    pub fn is_empty(&self) -> bool {
        self.in_sight == 0
    }

    /// An object in sight.
    pub fn object(&self, alias: Alias) -> Option<&ClientObject> {
        let object = self.objects.get(usize::from(alias.slot))?.as_deref()?;
        (object.is_in_sight() && object.alias() == alias).then_some(object)
    }

    /// Everything in sight, by slot.
    pub fn iter(&self) -> impl Iterator<Item = &ClientObject> {
        self.objects.iter().flatten().map(|object| &**object).filter(|object| object.is_in_sight())
    }

    /// The kind of an object.
    pub fn class(&self, object: &ClientObject) -> Option<&Class> {
        self.classes.class(ClassId(object.class()), object.profile())
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// What the last call of [`handle_snapshot`](ReplicaClient::handle_snapshot) changed, in the order in which it did.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The next snapshot that the server must be told of.
    pub fn poll_refusal(&mut self) -> Option<Refusal> {
        self.refusals.pop_front()
    }

    /// The next 64 slots in which this client holds something else than the server says; the server must be told.
    pub fn poll_mismatch(&mut self) -> Option<u16> {
        self.mismatches.pop_front()
    }

    /// Takes in a snapshot. What it says before an error holds.
    pub fn handle_snapshot(&mut self, payload: &[u8]) -> Result<Tick, SnapshotError> {
        self.read_snapshot(payload, &mut ())
    }

    /// The same, and counts which codes it took: what tables are trained from.
    pub fn handle_snapshot_counting(
        &mut self,
        payload: &[u8],
        tally: &mut Tally,
    ) -> Result<Tick, SnapshotError> {
        self.read_snapshot(payload, tally)
    }

    fn read_snapshot(&mut self, payload: &[u8], watch: &mut impl Watch) -> Result<Tick, SnapshotError> {
        self.changes.clear();
        self.applied = None;
        let tick = snapshot::tick(payload, self.newest.or(self.start.map(|(tick, _)| tick)))?;
        let applied = self.apply(tick, payload, watch);
        self.applied = Some(Applied { tick, is_whole: applied.is_ok() });
        let is_refused = applied.is_err();
        #[cfg(netloom_mutations)]
        let is_refused = is_refused && !crate::mutation::is(crate::mutation::Mutation::RefusalSwallowed);
        if is_refused {
            if self.refusals.len() == REFUSALS_MAX {
                self.refusals.pop_front();
            }
            self.refusals.push_back(Refusal { tick });
        }
        if self.newest.is_none_or(|newest| tick.is_newer_than(newest)) {
            self.newest = Some(tick);
        }
        applied.map(|()| tick)
    }

    fn tell(&mut self, tick: Tick, event: ClientEvent) {
        if self.events.len() == WAITING_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
        let (alias, kind) = match event {
            ClientEvent::Entered(alias) | ClientEvent::Refreshed(alias) => (alias, ChangeKind::Entered),
            ClientEvent::Left(alias) => (alias, ChangeKind::Left),
        };
        let in_full = kind == ChangeKind::Entered;
        let jumped = self.object(alias).and_then(ClientObject::jumped);
        self.changes.push(Change { alias, kind, in_full, tick, jumped });
    }
}
