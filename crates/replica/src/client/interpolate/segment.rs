//! The motion between two states, prepared so that a frame costs a few multiplications.
//!
//! The view stays between the same two states for several frames. What depends on the states alone is therefore computed
//! once: the coefficients of a cubic for the position, the angle of the arc for the rotation.
//!
//! ```text
//!   u = (t − from) × factor, clamped                       0 … 1 between two states, seconds beyond the last
//!   position = base + c1 u + c2 u² + c3 u³                 Hermite if both velocities are known and sane, else a line
//!   rotation = q0 sin((1 − u)θ)/sin θ + q1 sin(uθ)/sin θ   the arc itself; the sine is good to 4 parts in a million
//! ```
//!
//! So a position is off by at most the rounding of singles over the length of the segment, and a rotation by less than
//! 0.001°.

use super::ring::{Knot, apart};
use crate::pose::Pose;
use crate::space::{arc_radians, dot_rotations};

/// Below this angle a straight line between two quaternions is as good as the arc.
const STRAIGHT_RADIANS: f32 = 2e-3;
/// A velocity that would carry an object further than this many times the way that it went is not its motion here, but
/// that of a bounce or a correction: a curve through it would overshoot.
const VELOCITY_SANE: f32 = 2.0;
/// Both velocities together may miss the way by this part of it.
const MISSED_MAX: f32 = 0.5;
/// Ways shorter than this are rounding, and say nothing about velocities.
const ROUNDING_METRES: f32 = 0.05;

/// Where a pose comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The view has not reached the oldest state: it is shown as it will be.
    #[default]
    Ahead,
    /// Between two states.
    Between,
    /// The newest state: nothing newer is expected, or the limit of extrapolation is reached.
    Held,
    /// Beyond the newest state, by its velocity.
    Extrapolated,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Segment {
    /// Holds for times from here …
    pub start_us: i64,
    /// … to here, exclusive.
    pub end_us: i64,
    from_us: i64,
    /// Per microsecond; zero holds.
    factor: f32,
    u_max: f32,
    base: [f64; 3],
    c1: [f32; 3],
    c2: [f32; 3],
    c3: [f32; 3],
    q0: [f32; 4],
    q1: [f32; 4],
    arc: f32,
    arc_sine_inverse: f32,
    /// Metres, and radians of arc, a second: what easing may use.
    pub speed: f32,
    pub spin: f32,
    pub source: Source,
}

impl Segment {
    /// A state as it is.
    pub fn hold(knot: &Knot, start_us: i64, end_us: i64, source: Source) -> Segment {
        Segment {
            start_us,
            end_us,
            base: knot.pose.position,
            q0: knot.pose.rotation,
            q1: knot.pose.rotation,
            source,
            ..Segment::default()
        }
    }

    /// From one state to the next.
    pub fn between(before: &Knot, after: &Knot) -> Segment {
        let held = Segment::hold(before, before.time_us, after.time_us, Source::Between);
        let way = apart(before, after);
        if after.jumped_after(before) || !length(way).is_finite() {
            return held;
        }
        let from_us = after.from_us.clamp(before.time_us, after.time_us - 1);
        let duration_us = (after.time_us - from_us) as f32;
        let seconds = duration_us * 1e-6;
        let tangents = tangents(before, after, way, seconds).filter(|_| from_us == before.time_us);
        let (m0, m1) = tangents.unwrap_or((way, way));
        let sign = 1f32.copysign(dot_rotations(before.pose.rotation, after.pose.rotation));
        let arc = arc_radians(before.pose.rotation, after.pose.rotation);
        Segment {
            from_us,
            factor: 1.0 / duration_us,
            u_max: 1.0,
            c1: m0,
            c2: std::array::from_fn(|axis| 3.0 * way[axis] - 2.0 * m0[axis] - m1[axis]),
            c3: std::array::from_fn(|axis| m0[axis] + m1[axis] - 2.0 * way[axis]),
            q1: after.pose.rotation.map(|component| component * sign),
            arc,
            arc_sine_inverse: 1.0 / arc.sin().max(f32::MIN_POSITIVE),
            speed: length(m0).max(length(m1)).max(length(way)) / seconds,
            spin: arc / seconds,
            ..held
        }
    }

    /// Beyond the newest state: straight on for `seconds_max`, then held.
    pub fn beyond(knot: &Knot, velocity: [f32; 3], seconds_max: f32) -> Segment {
        #[cfg(netloom_mutations)]
        let is_uncapped = crate::mutation::is(crate::mutation::Mutation::ExtrapolationUncapped);
        #[cfg(netloom_mutations)]
        let seconds_max = if is_uncapped { f32::MAX } else { seconds_max };
        Segment {
            from_us: knot.time_us,
            factor: 1e-6,
            u_max: seconds_max,
            c1: velocity,
            ..Segment::hold(knot, knot.time_us, i64::MAX, Source::Extrapolated)
        }
    }

    #[inline]
    pub fn contains(&self, time_us: i64) -> bool {
        self.start_us <= time_us && time_us < self.end_us
    }

    #[inline]
    pub fn pose(&self, time_us: i64) -> Pose {
        let u = ((time_us.saturating_sub(self.from_us)) as f32 * self.factor).clamp(0.0, self.u_max);
        let position = std::array::from_fn(|axis| {
            self.base[axis] + f64::from(u * (self.c1[axis] + u * (self.c2[axis] + u * self.c3[axis])))
        });
        let (w0, w1) = if self.arc > STRAIGHT_RADIANS {
            let inverse = self.arc_sine_inverse;
            (sine((1.0 - u) * self.arc) * inverse, sine(u * self.arc) * inverse)
        } else {
            (1.0 - u, u)
        };
        let rotation = std::array::from_fn(|at| self.q0[at] * w0 + self.q1[at] * w1);
        Pose { position, rotation }
    }
}

/// The velocities at both ends as ways per segment, if both are known and could belong to this motion: neither is out of
/// proportion, and together they would bring it about where it came. A field that the game never sets fails the second.
fn tangents(before: &Knot, after: &Knot, way: [f32; 3], seconds: f32) -> Option<([f32; 3], [f32; 3])> {
    let tangent = |velocity: [f32; 3]| velocity.map(|axis| axis * seconds);
    let (m0, m1) = (tangent(before.velocity?), tangent(after.velocity?));
    let distance = length(way);
    let limit = VELOCITY_SANE * distance + ROUNDING_METRES;
    let missed = std::array::from_fn(|axis| (m0[axis] + m1[axis]) / 2.0 - way[axis]);
    let is_sane = length(m0) <= limit
        && length(m1) <= limit
        && length(missed) <= MISSED_MAX * distance + ROUNDING_METRES;
    is_sane.then_some((m0, m1))
}

/// Of a way within a segment, for which singles are good enough.
pub(super) fn length(way: [f32; 3]) -> f32 {
    (way[0] * way[0] + way[1] * way[1] + way[2] * way[2]).sqrt()
}

/// The sine of 0 to π/2, to 4 parts in a million: Taylor's first five terms. No call, no branch, no table.
#[inline]
fn sine(radians: f32) -> f32 {
    let squared = radians * radians;
    let terms = 1.0 / 120.0 + squared * (-1.0 / 5_040.0 + squared * (1.0 / 362_880.0));
    radians * (1.0 + squared * (-1.0 / 6.0 + squared * terms))
}

#[cfg(test)]
mod tests {
    use super::sine;

    #[test]
    fn the_sine_is_good_to_four_parts_in_a_million() {
        for step in 0..=10_000 {
            let radians = step as f32 / 10_000.0 * std::f32::consts::FRAC_PI_2;
            assert!((f64::from(sine(radians)) - f64::from(radians).sin()).abs() < 4e-6, "{radians}");
        }
    }
}
