//! What clients hold, beside what is true.
//!
//! A server is fast if it sends little, and sends little if it sends the wrong thing. So the run ends with a while in which
//! nothing moves, and then every object of every client is compared with the walk.

use crate::report::Report;
use crate::{Clients, Walk};

/// One object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// In metres.
    pub position: [f32; 3],
    /// A quaternion: x, y, z, w.
    pub rotation: [f32; 4],
}

/// How far off a contender says that its clients may be; none at all for those that send whole floats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorBound {
    /// On each axis.
    pub position_metres: f64,
    /// Angle between two rotations.
    pub rotation_degrees: f64,
}

/// All clients against the walk.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Comparison {
    missing: u64,
    wrong: u64,
    position_error_metres: f64,
    rotation_error_degrees: f64,
}

impl Comparison {
    fn add(&mut self, state: Option<State>, walk: &Walk, object: usize, bound: ErrorBound) {
        let Some(state) = state else {
            self.missing += 1;
            return;
        };
        let position = position_error(state.position, walk.positions[object]);
        let rotation = rotation_error(state.rotation, walk.rotations[object]);
        self.position_error_metres = self.position_error_metres.max(position);
        self.rotation_error_degrees = self.rotation_error_degrees.max(rotation);
        // Written so that an error that is not a number is wrong, too.
        let is_right = position <= bound.position_metres && rotation <= bound.rotation_degrees;
        self.wrong += u64::from(!is_right);
    }
}

/// Compares every object of every client.
pub fn compare(clients: &impl Clients, count: usize, walk: &Walk, report: &mut Report) {
    let bound = clients.error_bound();
    let mut comparison = Comparison::default();
    for client in 0..count {
        let mut states = vec![None; walk.positions.len()];
        clients.read(client, &mut states);
        for (object, state) in states.into_iter().enumerate() {
            comparison.add(state, walk, object, bound);
        }
    }
    report.number("missing", comparison.missing as f64);
    report.number("wrong", comparison.wrong as f64);
    report.number("position_error_m", comparison.position_error_metres);
    report.number("position_error_bound_m", bound.position_metres);
    report.number("rotation_error_degrees", comparison.rotation_error_degrees);
    report.number("rotation_error_bound_degrees", bound.rotation_degrees);
}

fn position_error(found: [f32; 3], expected: [f32; 3]) -> f64 {
    let errors = (0..3).map(|axis| (f64::from(found[axis]) - f64::from(expected[axis])).abs());
    errors.fold(0.0, |most, error| if error <= most { most } else { error })
}

/// The angle between two rotations. From the chord and not from the product: the arc cosine of nearly one knows nothing
/// of small angles, and equal quaternions must give exactly nothing.
fn rotation_error(found: [f32; 4], expected: [f32; 4]) -> f64 {
    let chord = |sign: f64| {
        let square = |axis: usize| (f64::from(found[axis]) - sign * f64::from(expected[axis])).powi(2);
        (0..4).map(square).sum::<f64>().sqrt()
    };
    4.0 * (chord(1.0).min(chord(-1.0)) / 2.0).asin().to_degrees()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(degrees: f64) -> [f32; 4] {
        let half = degrees.to_radians() / 2.0;
        [0.0, half.sin() as f32, 0.0, half.cos() as f32]
    }

    #[test]
    fn angles_are_measured_small_and_large_and_a_quaternion_equals_its_negative() {
        assert_eq!(rotation_error(turned(40.0), turned(40.0)), 0.0);
        assert_eq!(rotation_error(turned(40.0), turned(40.0).map(|component| -component)), 0.0);
        assert!((rotation_error(turned(10.0), turned(10.3)) - 0.3).abs() < 1e-4);
        assert!((rotation_error(turned(0.0), turned(90.0)) - 90.0).abs() < 1e-4);
    }

    #[test]
    fn what_is_missing_or_beyond_the_bound_is_counted() {
        let walk = Walk::new(3);
        let bound = ErrorBound { position_metres: 0.01, rotation_degrees: 0.5 };
        let right = State { position: walk.positions[0], rotation: walk.rotations[0] };
        let mut near = right;
        near.position[2] += 0.009;
        let mut far = right;
        far.position[1] -= 0.02;
        let crooked = State { rotation: turned(1.0), ..right };
        let nothing = State { position: [f32::NAN; 3], ..right };
        let mut comparison = Comparison::default();
        for state in [Some(right), Some(near), Some(far), Some(crooked), Some(nothing), None] {
            comparison.add(state, &walk, 0, bound);
        }
        assert_eq!((comparison.missing, comparison.wrong), (1, 3));
    }

    #[test]
    fn without_a_bound_the_last_bit_counts() {
        let walk = Walk::new(1);
        let mut state = State { position: walk.positions[0], rotation: walk.rotations[0] };
        let mut comparison = Comparison::default();
        comparison.add(Some(state), &walk, 0, ErrorBound::default());
        assert_eq!(comparison.wrong, 0);
        state.position[0] = state.position[0].next_up();
        comparison.add(Some(state), &walk, 0, ErrorBound::default());
        assert_eq!(comparison.wrong, 1);
    }
}
