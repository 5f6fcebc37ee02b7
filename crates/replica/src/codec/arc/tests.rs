use std::cell::Cell;

use netloom_wire::quantize::{QuantizeCounters, Rotation};
use proptest::prelude::*;

use super::*;

thread_local! {
    static LARGEST: Cell<i64> = const { Cell::new(0) };
}

/// A number that remembers how large numbers became.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Watched(i64);

fn watched(number: i64) -> Watched {
    LARGEST.set(LARGEST.get().max(number.abs()));
    Watched(number)
}

impl Number for Watched {
    fn new(word: i32) -> Watched {
        watched(i64::from(word))
    }

    fn word(self) -> i32 {
        self.0.try_into().unwrap()
    }

    fn plus(self, other: Watched) -> Watched {
        watched(self.0 + other.0)
    }

    fn minus(self, other: Watched) -> Watched {
        watched(self.0 - other.0)
    }

    fn times(self, other: Watched) -> Watched {
        watched(self.0 * other.0)
    }

    fn over_two_to(self, bits: i32) -> Watched {
        watched(self.0.over_two_to(bits))
    }

    fn root(self) -> Watched {
        watched(Number::root(self.0))
    }

    fn reciprocal(self, bits: i32) -> Watched {
        watched(Number::reciprocal(self.0, bits))
    }

    fn negated_if(self, condition: bool) -> Watched {
        watched(self.0.negated_if(condition))
    }

    fn size(self) -> Watched {
        watched(self.0.abs())
    }
}

fn quantized(quaternion: [f32; 4], width: RotationWidth) -> [i32; 4] {
    let rotation = Rotation::quantize(quaternion, width, &mut QuantizeCounters::default());
    let Rotation::SmallestThree { largest, steps: [a, b, c] } = rotation else { unreachable!("quantized") };
    [i32::from(largest), i32::from(a), i32::from(b), i32::from(c)]
}

/// Any rotation, many of them with components that are alike or none.
fn any_rotation(width: RotationWidth) -> impl Strategy<Value = [i32; 4]> {
    let component = prop_oneof![Just(0.0), Just(1.0), Just(-1.0), -1.0f32..1.0];
    prop::array::uniform4(component).prop_map(move |quaternion| quantized(quaternion, width))
}

/// Everything that a sender and a receiver compute of an update.
fn computed<T: Number>(
    [words, newer, older]: [[i32; 4]; 3],
    line: &Line,
    unit: &Unit,
) -> ([i32; 3], [i32; 3], [i32; 3], i32) {
    let [dropped, words @ ..] = words;
    let (newer, _) = whole::<T>(newer, unit);
    let (older, _) = whole::<T>(older, unit);
    let arc = Arc::new(newer, older, line, unit);
    let flips = is_negative(arc.predicted, dropped);
    let (newer, predicted) = (steps(newer, dropped, flips), steps(arc.predicted, dropped, flips));
    let along = Along::new(newer, predicted, unit);
    let off: [T; 3] = core::array::from_fn(|step| T::new(words[step]).minus(predicted[step]));
    let left = along.left_by_lead(off, unit);
    let restored = along.restored(left, unit);
    (predicted.map(T::word), left.map(T::word), restored.map(T::word), arc.dropped())
}

fn any_line() -> impl Strategy<Value = Line> {
    (0u32..200, 1u32..60).prop_filter_map("no line", |(newer, behind)| Line::between(newer, newer + behind))
}

proptest! {
    #[test]
    fn of_ten_bits_a_single_holds_everything(
        rotations in prop::array::uniform3(any_rotation(RotationWidth::Ten)), line in any_line(),
    ) {
        LARGEST.set(0);
        let watched = computed::<Watched>(rotations, &line, &Unit::TEN);
        prop_assert!(LARGEST.get() < 1 << 23, "{}", LARGEST.get());
        prop_assert_eq!(watched, computed::<i64>(rotations, &line, &Unit::TEN));
        prop_assert_eq!(watched, computed::<f32>(rotations, &line, &Unit::TEN));
    }

    #[test]
    fn of_fifteen_bits_a_word_holds_everything(
        rotations in prop::array::uniform3(any_rotation(RotationWidth::Fifteen)), line in any_line(),
    ) {
        LARGEST.set(0);
        let watched = computed::<Watched>(rotations, &line, &Unit::FIFTEEN);
        prop_assert!(LARGEST.get() < 1 << 31, "{}", LARGEST.get());
        prop_assert_eq!(watched, computed::<i64>(rotations, &line, &Unit::FIFTEEN));
    }

    #[test]
    fn what_the_lead_leaves_is_restored(
        rotations in prop::array::uniform3(any_rotation(RotationWidth::Ten)), line in any_line(),
    ) {
        let [words, ..] = rotations;
        let (predicted, _, restored, _) = computed::<i64>(rotations, &line, &Unit::TEN);
        let sums: [i32; 3] = core::array::from_fn(|step| predicted[step] + restored[step]);
        prop_assert_eq!(&sums[..], &words[1..]);
    }
}

/// The words of a turn about z.
fn turned(degrees: f64) -> [i32; 4] {
    let (sine, cosine) = (degrees / 2.0).to_radians().sin_cos();
    quantized([0.0, 0.0, sine as f32, cosine as f32], RotationWidth::Fifteen)
}

/// How many steps the arc through two ages is off, at most over a full turn of 6° a tick.
fn off_by((newer_age, older_age): (u32, u32)) -> i32 {
    let line = Line::between(newer_age, older_age).unwrap();
    let ago = |now: i32, age: u32| turned(f64::from(now) - 6.0 * f64::from(age));
    let distance = |now: i32| {
        let rotations = [ago(now, 0), ago(now, newer_age), ago(now, older_age)];
        let (_, _, off, _) = computed::<i64>(rotations, &line, &Unit::FIFTEEN);
        off.map(i32::abs).into_iter().sum()
    };
    (0..360).map(distance).max().unwrap()
}

#[test]
fn an_even_turn_is_predicted_also_where_another_component_is_dropped() {
    assert!(off_by((2, 4)) <= 12, "{} of 16,383 steps", off_by((2, 4)));
}

#[test]
fn an_even_turn_is_predicted_from_uneven_ages() {
    for ages in [(1, 4), (2, 3), (3, 5), (4, 8)] {
        assert!(off_by(ages) <= 70, "{} of 16,383 steps at ages {ages:?}", off_by(ages));
    }
}

#[test]
fn a_change_of_speed_about_the_same_axis_is_said_by_the_lead() {
    let line = Line::between(2, 4).unwrap();
    let (_, left, restored, _) =
        computed::<i64>([turned(43.0), turned(30.0), turned(20.0)], &line, &Unit::FIFTEEN);
    assert!(restored.iter().any(|step| step.abs() > 250), "three degrees are many steps: {restored:?}");
    assert!(left[1].abs() <= 20 && left[2].abs() <= 20, "{left:?}");
}
