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
//! then costs a few multiplications. A ring takes 80 bytes a state, 1,280 per object at 20 states a second. Memory is
//! allocated at construction, and when more objects enter than there ever were.

mod pose;
mod ring;
mod segment;
mod silence;

use netloom_wire::Micros;

use super::clock::signed;
use super::delay::DELAY_MAX;
use crate::limits::VISIBLE_MAX;
use crate::server::setting::SettingError;
use crate::world::ATTACH_DEPTH_MAX;
use pose::{arc_radians, conjugate, length, multiply, normalized, rotate};
use ring::{Inserted, Knot, Rings, apart};
use segment::Segment;
use silence::Silence;

pub use pose::Pose;
pub use ring::Jump;
pub use segment::Source;

/// States that are kept at least, however slowly they come.
const STATES_MIN: usize = 12;
/// The longest that anything is carried on without news.
pub const EXTRAPOLATION_MAX: Micros = Micros(250_000);

/// How much faster than an object a difference shrinks.
const EASE_SPEED: f32 = 0.9;
/// Per second: all differences are gone in two seconds, and none in less than a twentieth.
const EASE_RATE_MIN: f32 = 0.5;
const EASE_RATE_MAX: f32 = 20.0;
/// Differences that nobody sees: metres, and radians of arc.
const UNSEEN_METRES: f32 = 1e-4;
const UNSEEN_RADIANS: f32 = 1e-4;

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
    pub states_per_second: f64,
    /// Objects for which memory is there from the start, 1 to 65,535.
    pub objects: usize,
    /// How long anything is carried on without news: 0 to 250 ms.
    pub extrapolation: Micros,
}

impl Default for InterpolatorConfig {
    fn default() -> InterpolatorConfig {
        InterpolatorConfig { states_per_second: 20.0, objects: 256, extrapolation: EXTRAPOLATION_MAX }
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
    /// Whether it jumped here.
    pub jump: Jump,
}

/// An object as it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Where it is in the world.
    pub pose: Pose,
    /// Where that comes from.
    pub source: Source,
}

/// A difference that shrinks.
#[derive(Clone, Copy, Debug)]
struct Ease {
    offset: [f32; 3],
    turn: [f32; 4],
    /// What is left of it, 1 to 0.
    left: f32,
    /// Per second.
    rate: f32,
    /// The newest jump that has been shown.
    jump_us: i64,
}

const AT_EASE: Ease =
    Ease { offset: [0.0; 3], turn: pose::IDENTITY, left: 0.0, rate: 0.0, jump_us: i64::MIN };

/// Objects in motion. See the [module](self).
///
/// ```
/// use netloom_replica::client::{Interpolator, InterpolatorConfig, Jump, Pose, State};
/// use netloom_wire::Micros;
///
/// let mut objects = Interpolator::new(InterpolatorConfig::default())?;
/// for tick in 0..4 {
///     let time = Micros::from_millis(50 * tick);
///     let pose = Pose { position: [tick as f64, 0.0, 0.0], ..Pose::default() };
///     objects.handle_snapshot(time);
///     objects.insert(7, State { time, pose, velocity: None, jump: Jump::No });
/// }
/// objects.advance(Micros::from_millis(75));
/// assert_eq!(objects.shown(7).unwrap().pose.position, [1.5, 0.0, 0.0]);
/// # Ok::<(), netloom_replica::server::setting::SettingError>(())
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
        SettingError::check("states_per_second", config.states_per_second, 1.0..=1_000.0, "1 to 1,000")?;
        SettingError::check("objects", config.objects, 1..=VISIBLE_MAX, "1 to 65,535")?;
        SettingError::check(
            "extrapolation",
            config.extrapolation.0,
            0..=EXTRAPOLATION_MAX.0,
            "0 to 250,000 µs",
        )?;
        let states = (DELAY_MAX.as_secs_f64() * config.states_per_second).ceil() as usize + 2;
        let objects = config.objects;
        Ok(Interpolator {
            extrapolation_seconds: config.extrapolation.as_secs_f64() as f32,
            extrapolation_us: signed(config.extrapolation),
            interval_us: (1e6 / config.states_per_second) as i64,
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
            silence: Silence::new((1e6 / config.states_per_second) as i64),
            refused: 0,
        })
    }

    /// A snapshot of this time arrived; its states are inserted after this.
    pub fn handle_snapshot(&mut self, time: Micros) {
        self.silence.insert(signed(time));
    }

    /// Takes in a state; the first one of a slot makes an object of it. One that is not finite is refused.
    pub fn insert(&mut self, slot: u16, state: State) -> bool {
        let rotation = normalized(state.pose.rotation);
        let is_finite = state.pose.position.iter().all(|axis| axis.is_finite());
        let (Some(rotation), true, true) = (rotation, is_finite, usize::from(slot) < VISIBLE_MAX) else {
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
            jumped: false,
            in_full: false,
        };
        let inserted = self.rings.insert(row, knot, state.jump, &self.silence);
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

    /// The object of a slot is gone.
    pub fn remove(&mut self, slot: u16) {
        let Some(row) = self.row(slot) else { return };
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
        if self.parents[row] == parent {
            return;
        }
        let frame_of = |slot: u16| self.row(slot).map_or(Pose::default(), |row| self.world(row));
        let (old, new) = (frame_of(self.parents[row]), frame_of(parent));
        let turn = multiply(conjugate(new.rotation), old.rotation);
        let convert = |pose: &Pose| new.inward(&old.outward(pose));
        self.rings.for_each(row, |knot| {
            knot.pose = convert(&knot.pose);
            knot.velocity =
                knot.velocity.map(|velocity| rotate(turn, velocity.map(f64::from)).map(|axis| axis as f32));
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

    /// States that were refused because they were not finite, or of no slot.
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

impl Interpolator {
    /// Whether a snapshot arrived that would have brought a newer state if there were one.
    fn is_known_to_rest(&self, row: usize) -> bool {
        let newest = self.rings.knot(row, self.rings.len(row) - 1);
        self.silence.is_rest(newest.time_us, self.rings.interval_us(row), newest.in_full)
    }

    /// What happens at a time, as far as the states tell.
    fn segment_at(&mut self, row: usize, time_us: i64) -> Segment {
        let (count, passed) = (self.rings.len(row), self.rings.until(row, time_us));
        self.flags[row] &= !(flag::LAST | flag::OPEN);
        if passed == 0 {
            let oldest = self.rings.knot(row, 0);
            return Segment::hold(oldest, i64::MIN, oldest.time_us, Source::Ahead);
        }
        if passed < count {
            return Segment::between(self.rings.knot(row, passed - 1), self.rings.knot(row, passed));
        }
        self.flags[row] |= flag::LAST;
        let newest = self.rings.knot(row, count - 1);
        let mut segment = Segment::hold(newest, newest.time_us, i64::MAX, Source::Held);
        if !self.is_known_to_rest(row) {
            self.flags[row] |= flag::OPEN;
            if let Some(velocity) = self.final_velocity(row) {
                segment = Segment::beyond(newest, velocity, self.extrapolation_seconds);
            }
        }
        (segment.speed, segment.spin) = self.rings.speeds(row, count - 1);
        segment
    }

    /// The velocity of the newest state: its own, or that of the way to it.
    fn final_velocity(&self, row: usize) -> Option<[f32; 3]> {
        let count = self.rings.len(row);
        let newest = self.rings.knot(row, count - 1);
        if newest.velocity.is_some() || count < 2 || newest.jumped {
            return newest.velocity;
        }
        let seconds = (newest.time_us - newest.from_us).max(1) as f32 * 1e-6;
        let velocity = apart(self.rings.knot(row, count - 2), newest).map(|axis| axis / seconds);
        length(velocity).is_finite().then_some(velocity)
    }

    /// The view goes on to another segment.
    fn enter_segment(&mut self, row: usize, time_us: i64) {
        let left_us = self.segments[row].start_us;
        self.segments[row] = self.segment_at(row, time_us);
        if self.passes_jump(row, left_us, time_us) {
            self.flags[row] &= !flag::EASING;
        }
    }

    /// What is shown may differ from what the states say now: the difference is kept and eased.
    fn adjust(&mut self, row: usize, shown_us: i64) {
        self.flags[row] &= !flag::CHANGED;
        let (before, shown) = (self.segments[row], self.poses[row]);
        let segment = self.segment_at(row, shown_us);
        self.segments[row] = segment;
        // A view so far behind that the states around it had to give way knows nothing of a way from here to there.
        let is_left_behind = segment.source == Source::Ahead && self.rings.len(row) == self.rings.capacity();
        let is_new = self.flags[row] & flag::SHOWN == 0;
        #[cfg(netloom_mutations)]
        let is_new = is_new || crate::mutation::is(crate::mutation::Mutation::DifferenceUneased);
        if self.passes_jump(row, i64::MIN, shown_us) || is_left_behind || is_new {
            self.flags[row] &= !flag::EASING;
            return;
        }
        let right = segment.pose(shown_us);
        let offset = std::array::from_fn(|axis| (shown.position[axis] - right.position[axis]) as f32);
        let turn = normalized(multiply(shown.rotation, conjugate(right.rotation))).unwrap_or(pose::IDENTITY);
        let (way, arc) = (length(offset), arc_radians(turn, pose::IDENTITY));
        if (way < UNSEEN_METRES && arc < UNSEEN_RADIANS) || !way.is_finite() {
            self.flags[row] &= !flag::EASING;
            return;
        }
        let speed = EASE_SPEED * before.speed.max(segment.speed);
        let spin = EASE_SPEED * before.spin.max(segment.spin);
        let by_way = if way < UNSEEN_METRES { EASE_RATE_MAX } else { speed / way };
        let by_arc = if arc < UNSEEN_RADIANS { EASE_RATE_MAX } else { spin / arc };
        let turn = if turn[3] < 0.0 { turn.map(|component| -component) } else { turn };
        let rate = by_way.min(by_arc).clamp(EASE_RATE_MIN, EASE_RATE_MAX);
        self.eases[row] = Ease { offset, turn, left: 1.0, rate, jump_us: self.eases[row].jump_us };
        self.flags[row] |= flag::EASING;
    }

    fn ease(&mut self, row: usize, seconds: f32, pose: &mut Pose) {
        let ease = &mut self.eases[row];
        ease.left -= ease.rate * seconds;
        if ease.left <= 0.0 {
            self.flags[row] &= !flag::EASING;
            return;
        }
        for (axis, offset) in pose.position.iter_mut().zip(ease.offset) {
            *axis += f64::from(offset * ease.left);
        }
        let [x, y, z, w] = ease.turn.map(|component| component * ease.left);
        if let Some(turn) = normalized([x, y, z, w + 1.0 - ease.left]) {
            pose.rotation = multiply(turn, pose.rotation);
        }
    }

    /// Whether a jump lies within these times that has not been shown; from now on it has.
    fn passes_jump(&mut self, row: usize, after_us: i64, time_us: i64) -> bool {
        let known_us = self.eases[row].jump_us.max(after_us);
        let mut passed = (0..self.rings.until(row, time_us)).rev().map(|number| self.rings.knot(row, number));
        let jump = passed.by_ref().take_while(|knot| knot.time_us > known_us).find(|knot| knot.jumped);
        if let Some(jump_us) = jump.map(|knot| knot.time_us) {
            self.eases[row].jump_us = jump_us;
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests;
