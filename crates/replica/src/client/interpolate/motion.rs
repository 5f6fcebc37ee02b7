//! Which motion an object is in, and how what is shown follows when that turns out to be another one.
//!
//! States come late, and change what has been shown already. The difference is kept, and shrinks:
//!
//! ```text
//!   shown        ──────╮ . . .                     the states said so
//!                      ╰─╮ difference, shrinking
//!   states now   ────────┴────────────             they say otherwise
//! ```

use super::ring::apart;
use super::segment::{Segment, Source, length};
use super::{Interpolator, flag};
use crate::pose::Pose;
use crate::space::{UNTURNED, arc_radians, compose, inverse, narrowed, normalized, widened};

/// How much faster than an object a difference shrinks.
const EASE_SPEED: f32 = 0.9;
/// What is shown is at most so many times as fast as the object.
const SHOWN_SPEED_MAX: f32 = 2.0;
/// Per second: all differences are gone in two seconds, and none in less than a twentieth.
const EASE_RATE_MIN: f32 = 0.5;
const EASE_RATE_MAX: f32 = 20.0;
/// Differences that nobody sees: metres, and radians of arc.
const UNSEEN_METRES: f32 = 1e-4;
const UNSEEN_RADIANS: f32 = 1e-4;

/// A difference that shrinks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ease {
    offset: [f32; 3],
    turn: [f32; 4],
    /// What is left of it, 1 to 0.
    left: f32,
    /// Per second.
    rate: f32,
    /// How fast the object was when the difference showed, in metres a second.
    speed: f32,
    /// The newest jump that has been shown.
    jump_us: i64,
}

pub(super) const AT_EASE: Ease =
    Ease { offset: [0.0; 3], turn: UNTURNED, left: 0.0, rate: 0.0, speed: 0.0, jump_us: i64::MIN };

impl Ease {
    /// How much of its rate a difference shrinks by in a frame. Between states of unlike velocities the way of an object has
    /// parts that are half as fast again as the object; there, what is left to twice its speed is less than usual.
    fn share(&self, shown: [f64; 3], states_say: [f64; 3], seconds: f32) -> f32 {
        let moved: [f32; 3] = std::array::from_fn(|axis| {
            (states_say[axis] - (shown[axis] - f64::from(self.offset[axis] * self.left))) as f32
        });
        let (wanted, room) = (
            length(self.offset) * self.rate * seconds,
            SHOWN_SPEED_MAX * self.speed * seconds - length(moved),
        );
        if wanted <= room { 1.0 } else { (room / wanted).clamp(EASE_RATE_MIN / self.rate, 1.0) }
    }
}

impl Interpolator {
    /// Whether a snapshot arrived that would have brought a newer state if there were one.
    pub(super) fn is_known_to_rest(&self, row: usize) -> bool {
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
        if newest.velocity.is_some() || count < 2 {
            return newest.velocity;
        }
        let before = self.rings.knot(row, count - 2);
        if newest.jumped_after(before) {
            return None;
        }
        let seconds = (newest.time_us - newest.from_us).max(1) as f32 * 1e-6;
        let velocity = apart(before, newest).map(|axis| axis / seconds);
        length(velocity).is_finite().then_some(velocity)
    }

    /// The view goes on to another segment.
    pub(super) fn enter_segment(&mut self, row: usize, time_us: i64) {
        self.segments[row] = self.segment_at(row, time_us);
        if self.passes_jump(row, time_us) {
            self.flags[row] &= !flag::EASING;
        }
    }

    /// What is shown may differ from what the states say now: the difference is kept and eased.
    pub(super) fn adjust(&mut self, row: usize, shown_us: i64) {
        self.flags[row] &= !flag::CHANGED;
        let (before, shown) = (self.segments[row], self.poses[row]);
        let segment = self.segment_at(row, shown_us);
        self.segments[row] = segment;
        // A view so far behind that the states around it had to give way knows nothing of a way from here to there.
        let is_left_behind = segment.source == Source::Ahead && self.rings.len(row) == self.rings.capacity();
        let is_new = self.flags[row] & flag::SHOWN == 0;
        #[cfg(netloom_mutations)]
        let is_new = is_new || crate::mutation::is(crate::mutation::Mutation::DifferenceUneased);
        if self.passes_jump(row, shown_us) || is_left_behind || is_new {
            self.flags[row] &= !flag::EASING;
            return;
        }
        let right = segment.pose(shown_us);
        let offset = std::array::from_fn(|axis| (shown.position[axis] - right.position[axis]) as f32);
        let turn = compose(widened(shown.rotation), inverse(widened(right.rotation)));
        let turn = normalized(narrowed(turn)).unwrap_or(UNTURNED);
        let (way, arc) = (length(offset), arc_radians(turn, UNTURNED));
        if (way < UNSEEN_METRES && arc < UNSEEN_RADIANS) || !way.is_finite() {
            self.flags[row] &= !flag::EASING;
            return;
        }
        let fastest = before.speed.max(segment.speed);
        let speed = EASE_SPEED * fastest;
        let spin = EASE_SPEED * before.spin.max(segment.spin);
        let by_way = if way < UNSEEN_METRES { EASE_RATE_MAX } else { speed / way };
        // A turn shrinks along its chord, and so turns fastest in the middle: by this much more than its arc for each part.
        let by_arc = if arc < UNSEEN_RADIANS { EASE_RATE_MAX } else { spin / (2.0 * (arc / 2.0).tan()) };
        let turn = if turn[3] < 0.0 { turn.map(|component| -component) } else { turn };
        let rate = by_way.min(by_arc).clamp(EASE_RATE_MIN, EASE_RATE_MAX);
        let jump_us = self.eases[row].jump_us;
        self.eases[row] = Ease { offset, turn, left: 1.0, rate, speed: fastest, jump_us };
        self.flags[row] |= flag::EASING;
    }

    pub(super) fn ease(&mut self, row: usize, seconds: f32, pose: &mut Pose) {
        let shown = self.poses[row].position;
        let ease = &mut self.eases[row];
        ease.left -= ease.rate * seconds * ease.share(shown, pose.position, seconds);
        if ease.left <= 0.0 {
            self.flags[row] &= !flag::EASING;
            return;
        }
        for (axis, offset) in pose.position.iter_mut().zip(ease.offset) {
            *axis += f64::from(offset * ease.left);
        }
        let [x, y, z, w] = ease.turn.map(|component| component * ease.left);
        if let Some(turn) = normalized([x, y, z, w + 1.0 - ease.left]) {
            pose.rotation = narrowed(compose(widened(turn), widened(pose.rotation)));
        }
    }

    /// Whether it has jumped by the last state before a time, and that was not shown; from now on it was.
    fn passes_jump(&mut self, row: usize, time_us: i64) -> bool {
        let Some(passed) = self.rings.until(row, time_us).checked_sub(1) else { return false };
        let jump_us = self.rings.knot(row, passed).jump_us;
        let is_new = jump_us > self.eases[row].jump_us;
        self.eases[row].jump_us = jump_us.max(self.eases[row].jump_us);
        is_new
    }
}
