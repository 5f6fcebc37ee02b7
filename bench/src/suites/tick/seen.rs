//! What clients hold, compared with what the server had at the same tick.

use super::film::Film;

/// Half a step of STANDARD's positions, and what `f32` rounds 500 m by.
const POSITION_ERROR_METRES: f32 = 0.005 + 0.000_1;

/// Half a step of each of three components of STANDARD's rotations, 0.14 degrees, and what that makes of the fourth.
const ROTATION_ERROR_DEGREES: f32 = 0.25;

/// The walker of a film after a step.
#[derive(Clone, Copy)]
pub struct Truth<'a> {
    /// The film.
    pub film: &'a Film,
    /// After which step.
    pub step: u64,
    /// Which of its walkers.
    pub walker: usize,
}

/// What was compared, and what came of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// States that arrived, each compared when it did.
    pub updates: u64,
    /// Walkers that a client did not have, or not as they were in the end.
    pub missing: u64,
    /// States off by more than the quantization allows, on the way and in the end.
    pub wrong: u64,
    /// How far off positions were at most.
    pub position_error_metres: f32,
    /// The same of rotations.
    pub rotation_error_degrees: f32,
}

impl Seen {
    /// A state arrived.
    pub fn check(&mut self, truth: Truth<'_>, position: [f32; 3], rotation: [f32; 4]) {
        self.updates += 1;
        self.check_last(truth, position, rotation);
    }

    /// The same for a state that was there already.
    pub fn check_last(&mut self, truth: Truth<'_>, position: [f32; 3], rotation: [f32; 4]) {
        let frame = truth.film.frame(truth.step);
        let off = |axis: usize| (position[axis] - frame.positions[truth.walker][axis]).abs();
        let off_metres = off(0).max(off(1)).max(off(2));
        let alike: f64 = rotation
            .iter()
            .zip(&frame.rotations[truth.walker])
            .map(|(ours, theirs)| f64::from(*ours) * f64::from(*theirs))
            .sum();
        // A rotation and its negative are the same.
        let off_degrees = (2.0 * alike.abs().min(1.0).acos()).to_degrees() as f32;
        self.position_error_metres = self.position_error_metres.max(off_metres);
        self.rotation_error_degrees = self.rotation_error_degrees.max(off_degrees);
        // What is not a number is not near anything.
        let is_near = (0..3).all(|axis| off(axis) <= POSITION_ERROR_METRES);
        let is_right = is_near && off_degrees <= ROTATION_ERROR_DEGREES;
        self.wrong += u64::from(!is_right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::tick::film::OBJECTS;

    #[test]
    fn a_walker_of_another_step_or_one_that_is_turned_is_wrong_and_not_a_number_too() {
        let film = Film::new(4, OBJECTS);
        let (before, after) = (film.frame(3), film.frame(4));
        let truth = Truth { film: &film, step: 4, walker: 7 };
        let mut seen = Seen::default();
        seen.check(truth, after.positions[7], after.rotations[7].map(|axis| -axis));
        assert_eq!((seen.updates, seen.wrong), (1, 0), "{seen:?}");
        seen.check(truth, before.positions[7], after.rotations[7]);
        seen.check(truth, after.positions[7], before.rotations[7]);
        seen.check(truth, [f32::NAN; 3], after.rotations[7]);
        assert_eq!((seen.updates, seen.wrong), (4, 3), "{seen:?}");
    }
}
