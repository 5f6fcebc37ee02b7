//! Where something is and how it is turned: what is recorded on the server, interpolated, predicted and shown.

use crate::space::{
    UNTURNED, add, angle_radians, compose, inverse, length, lerp, narrowed, normalized, slerp, sub, turn,
    widened,
};

/// A position and a rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Metres, x y z.
    pub position: [f64; 3],
    /// A unit quaternion, x y z w.
    pub rotation: [f32; 4],
}

impl Default for Pose {
    fn default() -> Pose {
        Pose { position: [0.0; 3], rotation: UNTURNED }
    }
}

impl Pose {
    /// At a place, turned by a unit quaternion.
    pub fn new(position: [f64; 3], rotation: [f32; 4]) -> Pose {
        Pose { position, rotation }
    }

    /// Of a pose relative to this one: the same relative to what this one is relative to.
    #[must_use]
    pub fn outward(&self, inner: &Pose) -> Pose {
        let rotation = widened(self.rotation);
        let turned = narrowed(compose(rotation, widened(inner.rotation)));
        Pose {
            position: add(self.position, turn(rotation, inner.position)),
            rotation: normalized(turned).unwrap_or(self.rotation),
        }
    }

    /// The inverse of [`Pose::outward`].
    #[must_use]
    pub fn inward(&self, outer: &Pose) -> Pose {
        let back = inverse(widened(self.rotation));
        let turned = narrowed(compose(back, widened(outer.rotation)));
        Pose {
            position: turn(back, sub(outer.position, self.position)),
            rotation: normalized(turned).unwrap_or(UNTURNED),
        }
    }

    /// The distances between two, in metres and, on the shortest way, in radians.
    pub fn apart(self, other: Pose) -> (f64, f32) {
        (length(sub(self.position, other.position)), angle_radians(self.rotation, other.rotation))
    }

    /// A part of the way to another, 0 to 1; anything else counts as the nearer of the two.
    #[must_use]
    pub fn towards(self, other: Pose, fraction: f32) -> Pose {
        let fraction = if fraction >= 0.0 { f64::from(fraction.min(1.0)) } else { 0.0 };
        let position = std::array::from_fn(|axis| lerp(self.position[axis], other.position[axis], fraction));
        let rotation = narrowed(slerp(widened(self.rotation), widened(other.rotation), fraction));
        Pose { position, rotation }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::space::tests::any_rotation;

    pub fn any_pose() -> impl Strategy<Value = Pose> {
        (prop::array::uniform3(-100.0f64..100.0), any_rotation())
            .prop_map(|(position, rotation)| Pose { position, rotation })
    }

    proptest! {
        #[test]
        fn what_goes_outward_comes_back_inward(
            at in prop::array::uniform3(-1e4f64..1e4), turned in any_rotation(), pose in any_pose(),
        ) {
            let frame = Pose::new(at, turned);
            let (metres, radians) = frame.inward(&frame.outward(&pose)).apart(pose);
            prop_assert!(metres < 1e-3 && radians < 2e-3);
        }

        #[test]
        fn a_way_begins_and_ends_where_it_should(a in any_pose(), b in any_pose(), part in 0.0f32..1.0) {
            let close = |x: Pose, y: Pose| x.apart(y).0 < 1e-6 && x.apart(y).1 < 1e-2;
            prop_assert!(close(a.towards(b, 0.0), a) && close(a.towards(b, f32::NAN), a));
            prop_assert!(close(a.towards(b, 1.0), b) && close(a.towards(b, 7.0), b));
            let between = a.towards(b, part);
            let (whole, left) = (a.apart(b).1, between.apart(b).1);
            prop_assert!((left - whole * (1.0 - part)).abs() < 1e-2, "{whole} {left}");
        }
    }
}
