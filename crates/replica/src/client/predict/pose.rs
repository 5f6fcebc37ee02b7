//! Where an object is seen, and how far that is from where it is.

use netloom_wire::Micros;

use crate::step::{angle_between, distance};

/// Offsets below a tenth of a millimetre and a hundredth of a degree are over.
const OVER_METRES: f64 = 1e-4;
const OVER_RADIANS: f32 = 1.7e-4;

const IDENTITY: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// A place and a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// In metres.
    pub position: [f64; 3],
    /// A unit quaternion x y z w.
    pub rotation: [f32; 4],
}

impl Default for Pose {
    fn default() -> Pose {
        Pose { position: [0.0; 3], rotation: IDENTITY }
    }
}

impl Pose {
    /// The distances between two, in metres and, on the shortest way, in radians.
    pub fn apart(self, other: Pose) -> (f64, f32) {
        (distance(self.position, other.position), angle_between(self.rotation, other.rotation))
    }

    /// A part of the way to another, 0 to 1; anything else counts as the nearer of the two.
    #[must_use]
    pub fn towards(self, other: Pose, fraction: f32) -> Pose {
        let fraction = if fraction >= 0.0 { fraction.min(1.0) } else { 0.0 };
        let part = f64::from(fraction);
        let position = std::array::from_fn(|axis| {
            self.position[axis] + (other.position[axis] - self.position[axis]) * part
        });
        let turn = product(other.rotation, conjugate(self.rotation));
        Pose { position, rotation: product(scaled(turn, fraction), self.rotation) }
    }
}

/// What the view is beside the present.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offset {
    position: [f64; 3],
    /// Turns the present to the view.
    rotation: [f32; 4],
}

impl Default for Offset {
    fn default() -> Offset {
        Offset { position: [0.0; 3], rotation: IDENTITY }
    }
}

impl Offset {
    /// The present moved: the view stays where it was.
    pub fn add(&mut self, before: Pose, after: Pose) {
        for axis in 0..3 {
            self.position[axis] += before.position[axis] - after.position[axis];
        }
        let shown = product(self.rotation, before.rotation);
        self.rotation = normalized(product(shown, conjugate(after.rotation)));
    }

    pub fn applied_to(&self, present: Pose) -> Pose {
        let position = std::array::from_fn(|axis| present.position[axis] + self.position[axis]);
        Pose { position, rotation: product(self.rotation, present.rotation) }
    }

    pub fn decay(&mut self, elapsed: Micros, per_second: f32) {
        if self.is_zero() {
            return;
        }
        let left = (-f64::from(per_second) * elapsed.as_secs_f64()).exp();
        self.position = self.position.map(|metres| metres * left);
        self.rotation = scaled(self.rotation, left as f32);
        if self.is_within(OVER_METRES, OVER_RADIANS) {
            *self = Offset::default();
        }
    }

    pub fn is_zero(&self) -> bool {
        self.position == [0.0; 3] && self.rotation == IDENTITY
    }

    pub fn is_within(&self, metres: f64, radians: f32) -> bool {
        distance(self.position, [0.0; 3]) <= metres && angle_between(self.rotation, IDENTITY) <= radians
    }
}

fn product([ax, ay, az, aw]: [f32; 4], [bx, by, bz, bw]: [f32; 4]) -> [f32; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

fn conjugate([x, y, z, w]: [f32; 4]) -> [f32; 4] {
    [-x, -y, -z, w]
}

/// What has no length or is not a number turns nothing.
fn normalized(quaternion: [f32; 4]) -> [f32; 4] {
    let length = quaternion.iter().map(|part| part * part).sum::<f32>().sqrt();
    if length.is_finite() && length > 1e-6 { quaternion.map(|part| part / length) } else { IDENTITY }
}

/// A part of a turn, on the shortest way.
fn scaled(rotation: [f32; 4], part: f32) -> [f32; 4] {
    let [x, y, z, w] = if rotation[3] < 0.0 { rotation.map(|part| -part) } else { rotation };
    let sine = (x * x + y * y + z * z).sqrt();
    if sine < 1e-9 {
        return IDENTITY;
    }
    let half = sine.atan2(w) * part;
    let factor = half.sin() / sine;
    [x * factor, y * factor, z * factor, half.cos()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rotations() -> impl Strategy<Value = [f32; 4]> {
        prop::array::uniform4(-1.0f32..1.0).prop_map(normalized)
    }

    fn poses() -> impl Strategy<Value = Pose> {
        (prop::array::uniform3(-100.0f64..100.0), rotations())
            .prop_map(|(position, rotation)| Pose { position, rotation })
    }

    fn offset_between(before: Pose, after: Pose) -> Offset {
        let mut offset = Offset::default();
        offset.add(before, after);
        offset
    }

    proptest! {
        #[test]
        fn the_view_stays_where_it_was_when_the_present_moves(poses in prop::collection::vec(poses(), 2..6)) {
            let mut offset = Offset::default();
            let shown = poses[0];
            for pair in poses.windows(2) {
                offset.add(pair[0], pair[1]);
                let (metres, radians) = offset.applied_to(pair[1]).apart(shown);
                prop_assert!(metres < 1e-9 && radians < 1e-2, "{metres} {radians}");
            }
        }

        #[test]
        fn an_offset_decays_alike_at_any_frame_rate(before in poses(), after in poses(), frames in 1u64..100) {
            let mut once = offset_between(before, after);
            let mut often = once;
            once.decay(Micros(frames * 7_000), 6.3);
            (0..frames).for_each(|_| often.decay(Micros(7_000), 6.3));
            let (metres, radians) = once.applied_to(after).apart(often.applied_to(after));
            prop_assert!(metres < 1e-3 && radians < 1e-2, "{metres} {radians}");
        }

        #[test]
        fn an_offset_takes_the_short_way_and_never_grows(before in poses(), after in poses()) {
            let mut offset = offset_between(before, after);
            let mut last = f32::INFINITY;
            for _ in 0..300 {
                let (_, radians) = offset.applied_to(after).apart(after);
                prop_assert!(radians <= last + 2e-3 && radians <= std::f32::consts::PI + 1e-3);
                last = radians;
                offset.decay(Micros(10_000), 6.3);
            }
            prop_assert!(offset.is_zero(), "over after three seconds");
        }

        #[test]
        fn a_way_begins_and_ends_where_it_should(a in poses(), b in poses(), part in 0.0f32..1.0) {
            let close = |x: Pose, y: Pose| x.apart(y).0 < 1e-6 && x.apart(y).1 < 1e-2;
            prop_assert!(close(a.towards(b, 0.0), a) && close(a.towards(b, f32::NAN), a));
            prop_assert!(close(a.towards(b, 1.0), b) && close(a.towards(b, 7.0), b));
            let between = a.towards(b, part);
            let (whole, left) = (a.apart(b).1, between.apart(b).1);
            prop_assert!((left - whole * (1.0 - part)).abs() < 1e-2, "{whole} {left}");
        }
    }
}
