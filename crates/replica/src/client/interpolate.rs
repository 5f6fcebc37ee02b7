//! Smooth motion from states that come twenty times a second, late, out of order or not at all.
//!
//! A screen shows 60 or 144 frames a second, and every one of them needs a pose of every object. The view lies behind the
//! server by a delay, so that usually a state before and one after it are here, and what is shown lies between them:
//!
//! ```text
//!   states      │    │    │    │    ·                          · not here yet
//!   view time             ▲                                    ◀─ delay ─▶ now
//!
//!   before the oldest   the oldest, as it is
//!   between two         a cubic if velocities are known, else a line; the shorter arc
//!   beyond the newest   at rest: held. Not known: straight on for at most 250 ms, then held. Rotations are held
//!   a jump              the state before it until its time, then the one after
//! ```
//!
//! **At rest or starved?** The server sends nothing of what does not change. If the snapshot that was due to bring the next
//! state of an object arrived without it, the object rests, and is held. If it did not arrive, the object is carried on.
//! Which silence is rest is told in `interpolate/silence.rs`, what becomes of the time of a gap in `interpolate/ring.rs`.
//!
//! **No jumps.** Whatever changes the motion that is being shown (a state after a starvation, a late one, the news that
//! an object stopped) leaves a difference between what was shown and what should have been. That difference is added to
//! what is shown and shrinks at 0.9 times the speed of the object, so that nothing moves faster than about twice its
//! own speed; after an outage of more than two seconds it shrinks faster, to be gone in two. Only a state that is marked
//! as a jump moves an object at once.
//!
//! **Cost.** Objects lie in rows, side by side. What a frame needs of one is prepared when the view enters a segment, and
//! then costs a few multiplications. A ring takes 88 bytes a state, 1,408 per object at 20 states a second. Memory is
//! allocated at construction, and when more objects enter than there ever were.

mod motion;
mod ring;
mod segment;
mod silence;

use netloom_wire::Micros;

use super::clock::signed;
use super::delay::DELAY_MAX;
use crate::limits::VISIBLE_MAX;
use crate::pose::Pose;
use crate::rate::Rate;
use crate::setting::SettingError;
use crate::space::{compose, inverse, normalized, turn, widened};
use crate::world::ATTACH_DEPTH_MAX;
use motion::{AT_EASE, Ease};
use ring::{Inserted, Knot, Rings};
use segment::{Segment, length};
use silence::Silence;

pub use segment::Source;

/// States that are kept at least, however slowly they come.
const STATES_MIN: usize = 12;
/// The longest that anything is carried on without news.
pub const EXTRAPOLATION_MAX: Micros = Micros(250_000);

/// Coordinates beyond this are a mistake: a double tells eighths of a metre apart there. Nor do sums of them overflow.
const POSITION_METRES_MAX: f64 = 1e15;

const NOBODY: u32 = u32::MAX;
/// No slot has this number.
const NO_PARENT: u16 = u16::MAX;

mod flag {
    /// What is shown may no longer be what the states say.
    pub const CHANGED: u8 = 1;
    /// The segment begins at the newest state.
    pub const LAST: u8 = 1 << 1;
    /// And whether the object rests is not known.
    pub const OPEN: u8 = 1 << 2;
    /// It was shown before.
    pub const SHOWN: u8 = 1 << 3;
    /// Some difference is being eased.
    pub const EASING: u8 = 1 << 4;
    /// There is no state of it yet.
    pub const EMPTY: u8 = 1 << 5;
}

/// How objects are interpolated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterpolatorConfig {
    /// The most states of an object a second, 1 to 1,000: rings have room for half a second of them and two more.
    pub states_per_second: u32,
    /// Objects for which memory is there from the start, 1 to 65,535.
    pub objects: usize,
    /// How long anything is carried on without news: 0 to 250 ms.
    pub extrapolation: Micros,
}

impl Default for InterpolatorConfig {
    fn default() -> InterpolatorConfig {
        InterpolatorConfig { states_per_second: 20, objects: 256, extrapolation: EXTRAPOLATION_MAX }
    }
}

/// A state of an object as it arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The server's time.
    pub time: Micros,
    /// Where it is, relative to its parent if it has one.
    pub pose: Pose,
    /// Metres a second, if known.
    pub velocity: Option<[f32; 3]>,
    /// When it had jumped last by then: nothing is shown between a state from before that and this one.
    pub jumped: Option<Micros>,
}

/// An object as it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Where it is in the world.
    pub pose: Pose,
    /// Where that comes from.
    pub source: Source,
}

/// Objects in motion. See the [module](self).
///
/// ```
/// use netloom_replica::client::{Interpolator, InterpolatorConfig, Pose, State};
/// use netloom_wire::Micros;
///
/// let mut objects = Interpolator::new(InterpolatorConfig::default())?;
/// for tick in 0..4 {
///     let time = Micros::from_millis(50 * tick);
///     let pose = Pose { position: [tick as f64, 0.0, 0.0], ..Pose::default() };
///     objects.handle_snapshot(time);
///     objects.insert(7, State { time, pose, velocity: None, jumped: None });
/// }
/// objects.advance(Micros::from_millis(75));
/// assert_eq!(objects.shown(7).unwrap().pose.position, [1.5, 0.0, 0.0]);
/// # Ok::<(), netloom_replica::SettingError>(())
/// ```
#[derive(Debug)]
pub struct Interpolator {
    extrapolation_seconds: f32,
    extrapolation_us: i64,
    interval_us: i64,
    row_of: Vec<u32>,
    slots: Vec<u16>,
    parents: Vec<u16>,
    attached: usize,
    rings: Rings,
    segments: Vec<Segment>,
    flags: Vec<u8>,
    eases: Vec<Ease>,
    /// Relative to the parent.
    poses: Vec<Pose>,
    /// In the world; only of those that have a parent.
    worlds: Vec<Pose>,
    shown_us: Option<i64>,
    silence: Silence,
    refused: u64,
}

impl Interpolator {
    /// Without objects.
    pub fn new(config: InterpolatorConfig) -> Result<Interpolator, SettingError> {
        let rate = Rate::new("states_per_second", config.states_per_second)?;
        SettingError::check("objects", config.objects, 1..=VISIBLE_MAX, "1 to 65,535")?;
        SettingError::check(
            "extrapolation",
            config.extrapolation.0,
            0..=EXTRAPOLATION_MAX.0,
            "0 to 250,000 µs",
        )?;
        let states = rate.steps_within(DELAY_MAX) as usize + 2;
        let objects = config.objects;
        Ok(Interpolator {
            extrapolation_seconds: config.extrapolation.as_secs_f64() as f32,
            extrapolation_us: signed(config.extrapolation),
            interval_us: signed(rate.time_of(1)),
            row_of: vec![NOBODY; objects],
            slots: Vec::with_capacity(objects),
            parents: Vec::with_capacity(objects),
            attached: 0,
            rings: Rings::new(states.max(STATES_MIN), objects),
            segments: Vec::with_capacity(objects),
            flags: Vec::with_capacity(objects),
            eases: Vec::with_capacity(objects),
            poses: Vec::with_capacity(objects),
            worlds: Vec::with_capacity(objects),
            shown_us: None,
            silence: Silence::new(signed(rate.time_of(1))),
            refused: 0,
        })
    }

    /// A snapshot of this time arrived; its states are inserted after this.
    pub fn handle_snapshot(&mut self, time: Micros) {
        self.silence.insert(signed(time));
    }

    /// Takes in a state; the first one of a slot makes an object of it. One that is not finite, or farther away than anything
    /// can be, is refused.
    pub fn insert(&mut self, slot: u16, state: State) -> bool {
        let rotation = normalized(state.pose.rotation);
        let is_near = state.pose.position.iter().all(|axis| axis.abs() <= POSITION_METRES_MAX);
        let (Some(rotation), true, true) = (rotation, is_near, usize::from(slot) < VISIBLE_MAX) else {
            self.refused += 1;
            return false;
        };
        let row = self.row(slot).unwrap_or_else(|| self.push_row(slot));
        let time_us = signed(state.time);
        let knot = Knot {
            time_us,
            from_us: time_us,
            pose: Pose { position: state.pose.position, rotation },
            velocity: state.velocity.filter(|velocity| length(*velocity).is_finite()),
            jump_us: state.jumped.map_or(i64::MIN, signed).min(time_us),
            in_full: false,
        };
        let inserted = self.rings.insert(row, knot, &self.silence);
        // A newest state changes what is shown only if the view lies beyond the one before.
        let is_seen = inserted == Inserted::Late
            || (inserted == Inserted::Newest && self.flags[row] & (flag::LAST | flag::SHOWN) != flag::SHOWN);
        self.flags[row] |= if is_seen { flag::CHANGED } else { 0 };
        self.flags[row] &= !flag::EMPTY;
        inserted != Inserted::Ignored
    }

    /// The state of this time, which is inserted next, was told in full: silence around it may be no rest.
    pub fn note_entry(&mut self, slot: u16, time: Micros) {
        if let Some(row) = self.row(slot) {
            self.rings.note_entry(row, signed(time));
        }
    }

    /// The object of a slot is gone. What was attached to it stays where it is shown.
    pub fn remove(&mut self, slot: u16) {
        let Some(row) = self.row(slot) else { return };
        if self.attached > 0 {
            for child in 0..self.slots.len() {
                if self.parents[child] == slot && child != row {
                    self.set_parent(child, NO_PARENT);
                }
            }
        }
        self.attached -= usize::from(self.parents[row] != NO_PARENT);
        self.row_of[usize::from(slot)] = NOBODY;
        self.slots.swap_remove(row);
        self.parents.swap_remove(row);
        self.rings.swap_remove_row(row);
        self.segments.swap_remove(row);
        self.flags.swap_remove(row);
        self.eases.swap_remove(row);
        self.poses.swap_remove(row);
        self.worlds.swap_remove(row);
        if let Some(&moved) = self.slots.get(row) {
            self.row_of[usize::from(moved)] = row as u32;
        }
    }

    /// Forgets every object, as after a break of the clock.
    pub fn clear(&mut self) {
        while let Some(&slot) = self.slots.last() {
            self.remove(slot);
        }
        (self.silence, self.shown_us) = (Silence::new(self.interval_us), None);
    }

    /// There is an object in `slot`, and from now on its states are relative to `parent`. If it had another one, what is
    /// known is converted by where things are shown, so that nothing moves at this moment.
    pub fn enter(&mut self, slot: u16, parent: Option<u16>) {
        if usize::from(slot) >= VISIBLE_MAX {
            return;
        }
        let row = self.row(slot).unwrap_or_else(|| self.push_row(slot));
        let parent = parent.unwrap_or(NO_PARENT);
        if self.parents[row] != parent {
            self.set_parent(row, parent);
        }
    }

    fn set_parent(&mut self, row: usize, parent: u16) {
        let frame_of = |slot: u16| self.row(slot).map_or(Pose::default(), |row| self.world(row));
        let (old, new) = (frame_of(self.parents[row]), frame_of(parent));
        let into_new = compose(inverse(widened(new.rotation)), widened(old.rotation));
        let convert = |pose: &Pose| new.inward(&old.outward(pose));
        self.rings.for_each(row, |knot| {
            knot.pose = convert(&knot.pose);
            knot.velocity =
                knot.velocity.map(|velocity| turn(into_new, velocity.map(f64::from)).map(|axis| axis as f32));
        });
        self.poses[row] = convert(&self.poses[row]);
        self.attached -= usize::from(self.parents[row] != NO_PARENT);
        self.attached += usize::from(parent != NO_PARENT);
        self.parents[row] = parent;
        self.flags[row] |= flag::CHANGED;
    }

    /// Shows everything as it was at `view_time`.
    pub fn advance(&mut self, view_time: Micros) {
        let time_us = signed(view_time);
        let shown_us = self.shown_us.unwrap_or(time_us);
        let seconds = (time_us - shown_us).max(0) as f32 * 1e-6;
        for row in 0..self.slots.len() {
            let flags = self.flags[row];
            if flags & flag::EMPTY != 0 {
                continue;
            }
            let is_overtaken = flags & flag::OPEN != 0 && self.is_known_to_rest(row);
            if flags & flag::CHANGED != 0 || is_overtaken {
                self.adjust(row, shown_us);
            }
            if !self.segments[row].contains(time_us) {
                self.enter_segment(row, time_us);
            }
            let mut pose = self.segments[row].pose(time_us);
            if self.flags[row] & flag::EASING != 0 {
                self.ease(row, seconds, &mut pose);
            }
            self.poses[row] = pose;
            self.flags[row] |= flag::SHOWN;
        }
        self.shown_us = Some(time_us);
        if self.attached > 0 {
            self.place_attached();
        }
    }

    /// An object as it was shown last; `None` if there is none, or if it came after that.
    pub fn shown(&self, slot: u16) -> Option<Shown> {
        self.shown_row(self.row(slot)?)
    }

    /// The same relative to its parent, if it has one.
    pub fn shown_locally(&self, slot: u16) -> Option<Shown> {
        let row = self.row(slot)?;
        Some(Shown { pose: self.poses[row], ..self.shown_row(row)? })
    }

    /// Everything that was shown last, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u16, Shown)> {
        self.slots.iter().enumerate().filter_map(|(row, slot)| Some((*slot, self.shown_row(row)?)))
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// States that each object can have.
    pub fn capacity(&self) -> usize {
        self.rings.capacity()
    }

    /// States that were refused because they were not finite, too far away, or of no slot.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    fn row(&self, slot: u16) -> Option<usize> {
        let row = *self.row_of.get(usize::from(slot))?;
        (row != NOBODY).then_some(row as usize)
    }

    fn push_row(&mut self, slot: u16) -> usize {
        let row = self.slots.len();
        if self.row_of.len() <= usize::from(slot) {
            self.row_of.resize(usize::from(slot) + 1, NOBODY);
        }
        self.row_of[usize::from(slot)] = row as u32;
        self.slots.push(slot);
        self.parents.push(NO_PARENT);
        self.rings.push_row(self.interval_us);
        self.segments.push(Segment::default());
        self.flags.push(flag::CHANGED | flag::EMPTY);
        self.eases.push(AT_EASE);
        self.poses.push(Pose::default());
        self.worlds.push(Pose::default());
        row
    }

    fn shown_row(&self, row: usize) -> Option<Shown> {
        if self.flags[row] & flag::SHOWN == 0 {
            return None;
        }
        let segment = &self.segments[row];
        let beyond_us = self.shown_us.unwrap_or(0).saturating_sub(segment.start_us);
        let source = match segment.source {
            Source::Extrapolated if beyond_us > self.extrapolation_us => Source::Held,
            source => source,
        };
        Some(Shown { pose: self.world(row), source })
    }

    fn world(&self, row: usize) -> Pose {
        if self.parents[row] == NO_PARENT { self.poses[row] } else { self.worlds[row] }
    }

    fn place_attached(&mut self) {
        for row in 0..self.slots.len() {
            let (mut pose, mut parent) = (self.poses[row], self.parents[row]);
            for _ in 0..ATTACH_DEPTH_MAX {
                let Some(frame) = self.row(parent) else { break };
                pose = self.poses[frame].outward(&pose);
                parent = self.parents[frame];
            }
            self.worlds[row] = pose;
        }
    }
}

#[cfg(test)]
mod tests;
