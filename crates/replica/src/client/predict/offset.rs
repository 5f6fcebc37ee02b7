//! How far an object is seen from where it is.

use netloom_wire::Micros;

use crate::pose::Pose;
use crate::space::{
    Rotation, UNTURNED, add, angle_radians, compose, inverse, length, narrowed, scale, slerp, sub, widened,
};

/// Offsets below a tenth of a millimetre and a hundredth of a degree are over.
const OVER_METRES: f64 = 1e-4;
const OVER_RADIANS: f32 = 1.7e-4;

const NO_TURN: Rotation = [0.0, 0.0, 0.0, 1.0];

/// What the view is beside the present.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offset {
    position: [f64; 3],
    /// Turns the present to the view.
    rotation: Rotation,
}

impl Default for Offset {
    fn default() -> Offset {
        Offset { position: [0.0; 3], rotation: NO_TURN }
    }
}

impl Offset {
    /// The present moved: the view stays where it was.
    pub fn add(&mut self, before: Pose, after: Pose) {
        self.position = add(self.position, sub(before.position, after.position));
        let shown = compose(self.rotation, widened(before.rotation));
        // Many turns after each other would not stay of length one; this makes them so.
        self.rotation = slerp(NO_TURN, compose(shown, inverse(widened(after.rotation))), 1.0);
    }

    pub fn applied_to(&self, present: Pose) -> Pose {
        let rotation = narrowed(compose(self.rotation, widened(present.rotation)));
        Pose { position: add(present.position, self.position), rotation }
    }

    pub fn decay(&mut self, elapsed: Micros, per_second: f32) {
        if self.is_zero() {
            return;
        }
        let left = (-f64::from(per_second) * elapsed.as_secs_f64()).exp();
        self.position = scale(self.position, left);
        self.rotation = slerp(NO_TURN, self.rotation, left);
        if self.is_within(OVER_METRES, OVER_RADIANS) {
            *self = Offset::default();
        }
    }

    pub fn is_zero(&self) -> bool {
        self.position == [0.0; 3] && self.rotation == NO_TURN
    }

    pub fn is_within(&self, metres: f64, radians: f32) -> bool {
        length(self.position) <= metres && angle_radians(narrowed(self.rotation), UNTURNED) <= radians
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pose::tests::any_pose;

    fn offset_between(before: Pose, after: Pose) -> Offset {
        let mut offset = Offset::default();
        offset.add(before, after);
        offset
    }

    proptest! {
        #[test]
        fn the_view_stays_where_it_was_when_the_present_moves(poses in prop::collection::vec(any_pose(), 2..6)) {
            let mut offset = Offset::default();
            let shown = poses[0];
            for pair in poses.windows(2) {
                offset.add(pair[0], pair[1]);
                let (metres, radians) = offset.applied_to(pair[1]).apart(shown);
                prop_assert!(metres < 1e-9 && radians < 1e-2, "{metres} {radians}");
            }
        }

        #[test]
        fn an_offset_decays_alike_at_any_frame_rate(before in any_pose(), after in any_pose(), frames in 1u64..100) {
            let mut once = offset_between(before, after);
            let mut often = once;
            once.decay(Micros(frames * 7_000), 6.3);
            (0..frames).for_each(|_| often.decay(Micros(7_000), 6.3));
            let (metres, radians) = once.applied_to(after).apart(often.applied_to(after));
            prop_assert!(metres < 1e-3 && radians < 1e-2, "{metres} {radians}");
        }

        #[test]
        fn an_offset_takes_the_short_way_and_never_grows(before in any_pose(), after in any_pose()) {
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
    }
}
