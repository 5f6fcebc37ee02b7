//! Where something is and how it is turned, to compute with.

/// A position, and a unit quaternion x y z w.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Metres, x y z.
    pub position: [f64; 3],
    /// A unit quaternion, x y z w.
    pub rotation: [f32; 4],
}

impl Default for Pose {
    fn default() -> Pose {
        Pose { position: [0.0; 3], rotation: IDENTITY }
    }
}

pub(super) const IDENTITY: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// Below this angle a straight line between two quaternions is as good as the arc.
pub(super) const STRAIGHT_RADIANS: f32 = 2e-3;

impl Pose {
    /// Of a pose relative to this one: the same relative to what this one is relative to.
    #[must_use]
    pub fn outward(&self, inner: &Pose) -> Pose {
        let turned = rotate(self.rotation, inner.position);
        Pose {
            position: std::array::from_fn(|axis| self.position[axis] + turned[axis]),
            rotation: normalized(multiply(self.rotation, inner.rotation)).unwrap_or(self.rotation),
        }
    }

    /// The inverse of [`Pose::outward`].
    #[must_use]
    pub fn inward(&self, outer: &Pose) -> Pose {
        let inverse = conjugate(self.rotation);
        let apart = std::array::from_fn(|axis| outer.position[axis] - self.position[axis]);
        Pose {
            position: rotate(inverse, apart),
            rotation: normalized(multiply(inverse, outer.rotation)).unwrap_or(IDENTITY),
        }
    }
}

pub(super) fn conjugate([x, y, z, w]: [f32; 4]) -> [f32; 4] {
    [-x, -y, -z, w]
}

pub(super) fn multiply(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// A vector turned by a unit quaternion.
pub(super) fn rotate(rotation: [f32; 4], vector: [f64; 3]) -> [f64; 3] {
    let [x, y, z, w] = rotation.map(f64::from);
    let cross = |[ax, ay, az]: [f64; 3], [bx, by, bz]: [f64; 3]| {
        [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
    };
    let twice = cross([x, y, z], vector).map(|axis| 2.0 * axis);
    let again = cross([x, y, z], twice);
    std::array::from_fn(|axis| vector[axis] + w * twice[axis] + again[axis])
}

pub(super) fn dot(a: [f32; 4], b: [f32; 4]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// `None` if it has no direction, or is not a number.
pub(super) fn normalized(quaternion: [f32; 4]) -> Option<[f32; 4]> {
    let squared = dot(quaternion, quaternion);
    if !(1e-12..1e12).contains(&squared) {
        return None;
    }
    let factor = 1.0 / squared.sqrt();
    Some(quaternion.map(|component| component * factor))
}

/// The angle of the arc between two unit quaternions, 0 to π/2, on the shorter way; a rotation turns by twice as much.
pub(super) fn arc_radians(a: [f32; 4], b: [f32; 4]) -> f32 {
    let cosine = dot(a, b).abs();
    if cosine < 0.999 {
        return cosine.acos();
    }
    // The arc cosine of a single near one is a matter of luck; a chord is not.
    let sign = 1f32.copysign(dot(a, b));
    let chord: [f32; 4] = std::array::from_fn(|at| a[at] - sign * b[at]);
    2.0 * (0.5 * dot(chord, chord).sqrt()).min(1.0).asin()
}

/// The sine of 0 to π/2, to 4 parts in a million: Taylor's first five terms. No call, no branch, no table.
#[inline]
pub(super) fn sine(radians: f32) -> f32 {
    let squared = radians * radians;
    let terms = 1.0 / 120.0 + squared * (-1.0 / 5_040.0 + squared * (1.0 / 362_880.0));
    radians * (1.0 + squared * (-1.0 / 6.0 + squared * terms))
}

pub(super) fn length(vector: [f32; 3]) -> f32 {
    (vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]).sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn any_rotation() -> impl Strategy<Value = [f32; 4]> {
        prop::array::uniform4(-1f32..1.0).prop_filter_map("no direction", normalized)
    }

    #[test]
    fn the_sine_is_good_to_four_parts_in_a_million() {
        for step in 0..=10_000 {
            let radians = step as f32 / 10_000.0 * std::f32::consts::FRAC_PI_2;
            assert!((f64::from(sine(radians)) - f64::from(radians).sin()).abs() < 4e-6, "{radians}");
        }
    }

    proptest! {
        #[test]
        fn what_goes_outward_comes_back_inward(
            outer in any_rotation(), inner in any_rotation(),
            at in prop::array::uniform3(-1e4f64..1e4), offset in prop::array::uniform3(-1e2f64..1e2),
        ) {
            let frame = Pose { position: at, rotation: outer };
            let pose = Pose { position: offset, rotation: inner };
            let back = frame.inward(&frame.outward(&pose));
            for (axis, offset) in back.position.iter().zip(offset) {
                prop_assert!((axis - offset).abs() < 1e-4);
            }
            prop_assert!(arc_radians(back.rotation, inner) < 1e-3);
        }

        #[test]
        fn the_arc_is_half_the_angle_that_a_rotation_turns(axis in any_rotation(), angle in -3.1f32..3.1) {
            let [x, y, z, _] = axis;
            prop_assume!(length([x, y, z]) > 0.1);
            let factor = (angle / 2.0).sin() / length([x, y, z]);
            let turn = [x * factor, y * factor, z * factor, (angle / 2.0).cos()];
            prop_assert!((arc_radians(IDENTITY, turn) - angle.abs() / 2.0).abs() < 1e-3);
            prop_assert!((arc_radians(turn, IDENTITY.map(|part| -part)) - angle.abs() / 2.0).abs() < 1e-3);
        }
    }
}
