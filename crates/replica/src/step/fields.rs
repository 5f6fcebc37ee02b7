//! The fields of a state, listed for comparison.
//!
//! The server's state comes off the wire, rounded; the client's own is not. Compared as they are they would differ
//! always, and with a fixed margin of a centimetre a coarser profile would differ always too. So both are rounded as the
//! wire rounds, and then compared. Two that lie next to each other on that grid count as the same:
//!
//! ```text
//!   grid of the wire     │───────●───────│───────●───────│
//!   server's state               ·   x                          x is sent as the ● on its left
//!   client, corrected            x                              starts from that ●, half a step beside the server
//!   some steps later                     x · x                  the same way further, on two sides of a border
//! ```
//!
//! Were these corrected, the next state would be half a step off as well, and so on for ever. What the wire carries
//! exactly (whole numbers, profile NONE) is compared exactly.

use netloom_wire::hash::Fnv64;
use netloom_wire::quantize::RotationWidth;
use netloom_wire::{Profile, QuantizeCounters};

use crate::space::{angle_radians, length, sub};

/// Fields that a state may list.
pub const FIELDS_MAX: usize = 32;

/// Each of two rotations is off by as much when it is rounded, and so is the one that a correction started from.
const ROUNDINGS: f32 = 3.0;

/// What is known of one field of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue {
    /// Where it is, in metres.
    Position(Profile, [f64; 3]),
    /// Which way it is turned, a quaternion x y z w.
    Rotation(Profile, [f32; 4]),
    /// An angle in radians, in steps of the first number; 0 if it is exact.
    Angle(f64, f64),
    /// A number in steps of the first number; 0 if it is exact.
    Number(f64, f64),
    /// A whole number, a choice, a flag.
    Whole(i64),
}

/// The fields of one state.
#[derive(Clone, Debug)]
pub struct Fields {
    listed: Vec<(&'static str, FieldValue)>,
    /// Fields for which there was no room.
    excess: usize,
}

impl Default for Fields {
    fn default() -> Fields {
        Fields::new()
    }
}

impl Fields {
    /// No fields yet, and room for [`FIELDS_MAX`].
    pub fn new() -> Fields {
        Fields { listed: Vec::with_capacity(FIELDS_MAX), excess: 0 }
    }

    /// Where the object is, in metres, and the profile in which it is sent.
    pub fn position<T: Into<f64>>(&mut self, name: &'static str, profile: Profile, metres: [T; 3]) {
        self.push(name, FieldValue::Position(profile, metres.map(Into::into)));
    }

    /// Which way it is turned, a quaternion x y z w, and the profile in which it is sent.
    pub fn rotation(&mut self, name: &'static str, profile: Profile, quaternion: [f32; 4]) {
        self.push(name, FieldValue::Rotation(profile, quaternion));
    }

    /// An angle in radians that the wire carries in steps of `step`; 0 if it is exact. 359.9° and 0.1° are neighbours.
    pub fn angle(&mut self, name: &'static str, step: f64, radians: impl Into<f64>) {
        self.push(name, FieldValue::Angle(step, radians.into()));
    }

    /// A number that the wire carries in steps of `step`; 0 if it is exact.
    pub fn number(&mut self, name: &'static str, step: f64, value: impl Into<f64>) {
        self.push(name, FieldValue::Number(step, value.into()));
    }

    /// A whole number, a choice, a flag: the same or not.
    pub fn whole(&mut self, name: &'static str, value: impl Into<i64>) {
        self.push(name, FieldValue::Whole(value.into()));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.listed.len()
    }

    /// Whether none was listed.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// How many were listed beyond [`FIELDS_MAX`]; those are not compared.
    pub fn excess(&self) -> usize {
        self.excess
    }

    /// The fields in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, FieldValue)> + '_ {
        self.listed.iter().copied()
    }

    /// A number for all of it, to the last bit.
    pub fn digest(&self) -> u64 {
        let values = self.listed.iter().map(|(_, value)| value);
        values
            .fold(Fnv64::new(), |hash, value| {
                value.bits().iter().fold(hash, |hash, bits| hash.with(&bits.to_le_bytes()))
            })
            .value()
    }

    /// Whether the wire makes no difference between two states.
    pub(crate) fn is_same(&self, server: &Fields) -> bool {
        let mut values = self.listed.iter().zip(&server.listed);
        self.len() == server.len() && values.all(|((_, own), (_, server))| own.error(server).is_none())
    }

    pub(crate) fn clear(&mut self) {
        self.listed.clear();
        self.excess = 0;
    }

    /// The first position and rotation.
    pub(crate) fn place(&self) -> (Option<[f64; 3]>, Option<[f32; 4]>) {
        let mut place = (None, None);
        for (_, value) in &self.listed {
            match *value {
                FieldValue::Position(_, metres) => place.0 = place.0.or(Some(metres)),
                FieldValue::Rotation(_, quaternion) => place.1 = place.1.or(Some(quaternion)),
                _ => {}
            }
        }
        place
    }

    fn push(&mut self, name: &'static str, value: FieldValue) {
        if self.listed.len() < FIELDS_MAX {
            self.listed.push((name, value));
        } else {
            self.excess += 1;
        }
    }
}

impl FieldValue {
    /// How far it is from what the server has, in the unit of the field; `None` if the wire makes no difference between
    /// them.
    pub fn error(&self, server: &FieldValue) -> Option<f64> {
        let (same, error) = match (*self, *server) {
            (FieldValue::Position(profile, a), FieldValue::Position(_, b)) => {
                (is_same_position(profile, a, b), length(sub(a, b)))
            }
            (FieldValue::Rotation(profile, a), FieldValue::Rotation(_, b)) => {
                let error = angle_radians(a, b);
                (is_same_rotation(profile, a, b), error.into())
            }
            (FieldValue::Angle(step, a), FieldValue::Angle(_, b)) => {
                let apart = shortest(a - b);
                let on_grid = shortest(rounded(a, step) - rounded(b, step));
                (is_neighbour(apart, on_grid, step), apart.abs())
            }
            (FieldValue::Number(step, a), FieldValue::Number(_, b)) => {
                (is_neighbour(a - b, rounded(a, step) - rounded(b, step), step), (a - b).abs())
            }
            (FieldValue::Whole(a), FieldValue::Whole(b)) => (a == b, a.abs_diff(b) as f64),
            _ => (false, f64::INFINITY),
        };
        // What is not a number is wrong by any measure.
        (!same).then_some(if error.is_nan() { f64::INFINITY } else { error })
    }

    /// Everything of it that a step may get wrong.
    fn bits(&self) -> [u64; 4] {
        match *self {
            FieldValue::Position(_, [x, y, z]) => [x.to_bits(), y.to_bits(), z.to_bits(), 0],
            FieldValue::Rotation(_, quaternion) => quaternion.map(|part| part.to_bits().into()),
            FieldValue::Angle(_, value) | FieldValue::Number(_, value) => [value.to_bits(), 0, 0, 0],
            FieldValue::Whole(value) => [value as u64, 0, 0, 0],
        }
    }

    /// Whether it is the same to the last bit.
    pub(crate) fn is_identical(&self, other: &FieldValue) -> bool {
        self.bits() == other.bits()
    }
}

/// By the grid of the wire alone: what an object is relative to on the wire (an origin, a parent) moves the grid by less than
/// one step, and where the grid ends, the wire is finer still.
fn is_same_position(profile: Profile, a: [f64; 3], b: [f64; 3]) -> bool {
    let step = profile.position_step_metres();
    a.iter().zip(b).all(|(&a, b)| match profile {
        Profile::None => a as f32 == b as f32,
        // Infinite distances compare as false, and so do those that are no number.
        _ => is_neighbour(a - b, rounded(a, step) - rounded(b, step), step),
    })
}

fn is_same_rotation(profile: Profile, a: [f32; 4], b: [f32; 4]) -> bool {
    let off_max = match profile.rotation_width() {
        None => return a == b || a == b.map(|part| -part),
        Some(RotationWidth::Ten) => 0.28f32.to_radians(),
        Some(RotationWidth::Fifteen) => 0.009f32.to_radians(),
    };
    let mut counters = QuantizeCounters::default();
    let mut round =
        |quaternion| profile.dequantize_rotation(profile.quantize_rotation(quaternion, &mut counters));
    let is_finite = a.iter().chain(&b).all(|part| part.is_finite());
    is_finite && angle_radians(round(a), round(b)) <= ROUNDINGS * off_max
}

/// `apart` as it is and `on_grid` after rounding.
fn is_neighbour(apart: f64, on_grid: f64, step: f64) -> bool {
    if step > 0.0 { on_grid.abs() <= step * 1.5 } else { apart == 0.0 }
}

fn rounded(value: f64, step: f64) -> f64 {
    if step > 0.0 { (value / step).round() * step } else { value }
}

/// The same angle between −π and π.
fn shortest(radians: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    radians - (radians / turn).round() * turn
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use proptest::prelude::*;

    use super::*;

    fn turned(radians: f32) -> [f32; 4] {
        [0.0, 0.0, (radians / 2.0).sin(), (radians / 2.0).cos()]
    }

    #[test]
    fn far_from_the_middle_of_the_world_the_grid_is_as_coarse_as_near_it() {
        let at = |x: f64| FieldValue::Position(Profile::Standard, [x, 0.0, 0.0]);
        for far in [0.0, 400.0, 5_000.0, -80_000.0] {
            // An object near an origin of its own is sent in centimetres wherever that is.
            assert_eq!(at(far + 0.003).error(&at(far)), None);
            assert!(at(far + 0.03).error(&at(far)).is_some());
        }
        assert!(at(f64::NAN).error(&at(0.0)).is_some());
        assert!(at(f64::INFINITY).error(&at(f64::INFINITY)).is_some());
        let exact = |x: f64| FieldValue::Position(Profile::None, [x, 0.0, 0.0]);
        assert_eq!(exact(0.1).error(&exact(f64::from(0.1f32))), None, "singles, as the wire has them");
        assert!(exact(0.1).error(&exact(0.100_001)).is_some());
    }

    proptest! {
        #[test]
        fn a_state_and_what_the_wire_makes_of_it_are_the_same(
            metres in prop::array::uniform3(-300.0f64..300.0),
            number in -1_000.0f64..1_000.0,
            radians in -10.0f32..10.0,
        ) {
            let mut counters = QuantizeCounters::default();
            for profile in [Profile::Standard, Profile::High, Profile::World] {
                let sent = profile.dequantize_position((profile.codec().position)(metres, &mut counters));
                let own = FieldValue::Position(profile, metres);
                prop_assert_eq!(own.error(&FieldValue::Position(profile, sent.map(f64::from))), None);
                let sent = profile.dequantize_rotation(profile.quantize_rotation(turned(radians), &mut counters));
                let own = FieldValue::Rotation(profile, turned(radians));
                prop_assert_eq!(own.error(&FieldValue::Rotation(profile, sent)), None);
            }
            let sent = FieldValue::Number(0.25, (number * 4.0).round() / 4.0);
            prop_assert_eq!(FieldValue::Number(0.25, number).error(&sent), None);
        }

        #[test]
        fn a_corrected_state_half_a_step_beside_the_server_stays_the_same_on_the_way(
            metres in prop::array::uniform3(-100.0f64..100.0),
            way in prop::array::uniform3(-100.0f64..100.0),
        ) {
            let (mut counters, profile) = (QuantizeCounters::default(), Profile::Standard);
            let sent = profile.dequantize_position((profile.codec().position)(metres, &mut counters));
            let along = |from: [f64; 3]| {
                FieldValue::Position(profile, std::array::from_fn(|axis| from[axis] + way[axis]))
            };
            prop_assert_eq!(along(metres).error(&along(sent.map(f64::from))), None);
        }

        #[test]
        fn two_steps_of_the_grid_are_a_difference(metres in prop::array::uniform3(-300.0f64..300.0)) {
            let [x, y, z] = metres;
            let other = FieldValue::Position(Profile::Standard, [x + 0.021, y, z]);
            let error = FieldValue::Position(Profile::Standard, metres).error(&other).unwrap();
            prop_assert!((error - 0.021).abs() < 1e-9);
        }

        #[test]
        fn angles_take_the_short_way(a in -20.0f64..20.0, turns in -3i32..=3, apart in 0.05f64..3.0) {
            let own = FieldValue::Angle(0.01, a + f64::from(turns) * TAU);
            prop_assert_eq!(own.error(&FieldValue::Angle(0.01, a)), None);
            let error = own.error(&FieldValue::Angle(0.01, a + apart)).unwrap();
            prop_assert!((error - apart).abs() < 1e-9);
        }

        #[test]
        fn rotations_take_the_short_way(a in -3.0f32..3.0, apart in 0.05f32..3.0) {
            let other = turned(a + apart).map(|part| -part);
            let error = FieldValue::Rotation(Profile::Standard, turned(a))
                .error(&FieldValue::Rotation(Profile::Standard, other))
                .unwrap();
            prop_assert!((error - f64::from(apart)).abs() < 1e-3, "{error}");
        }
    }

    #[test]
    fn what_is_exact_on_the_wire_is_compared_exactly() {
        let just_above = f64::from_bits(1.0f64.to_bits() + (1 << 30));
        let differs = |a: FieldValue, b: FieldValue| a.error(&b).is_some();
        assert!(differs(FieldValue::Whole(3), FieldValue::Whole(4)));
        assert!(differs(FieldValue::Number(0.0, 1.0), FieldValue::Number(0.0, just_above)));
        assert!(differs(
            FieldValue::Position(Profile::None, [1.0, 0.0, 0.0]),
            FieldValue::Position(Profile::None, [just_above, 0.0, 0.0])
        ));
    }

    #[test]
    fn what_is_not_a_number_differs_infinitely_even_from_itself() {
        for (own, name) in [
            (FieldValue::Number(0.1, f64::NAN), "number"),
            (FieldValue::Angle(0.0, f64::INFINITY), "angle"),
            (FieldValue::Position(Profile::Standard, [f64::NAN, 0.0, 0.0]), "position"),
            (FieldValue::Rotation(Profile::High, [f32::NAN; 4]), "rotation"),
        ] {
            assert_eq!(own.error(&own), Some(f64::INFINITY), "{name}");
        }
        assert_eq!(FieldValue::Whole(1).error(&FieldValue::Number(0.0, 1.0)), Some(f64::INFINITY));
    }

    #[test]
    fn a_field_too_many_is_counted_and_not_kept() {
        let mut fields = Fields::new();
        (0..40).for_each(|value: i64| fields.whole("one of many", value));
        assert_eq!((fields.len(), fields.excess()), (FIELDS_MAX, 40 - FIELDS_MAX));
    }
}
