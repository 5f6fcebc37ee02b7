use super::super::run::{LongRun, Written};
use super::*;
use netloom_wire::BitWriter;
use proptest::prelude::*;

fn words(quaternion: [f64; 4]) -> Words {
    let length = quaternion.into_iter().map(|component| component * component).sum::<f64>().sqrt();
    quaternion.map(|component| ((component / length) as f32).to_bits() as i32)
}

/// A turn by an angle about an axis.
fn turned(axis: [f64; 3], angle: f64) -> Words {
    let length = axis.into_iter().map(|component| component * component).sum::<f64>().sqrt();
    let [x, y, z] = axis.map(|component| component / length * (angle / 2.0).sin());
    words([x, y, z, (angle / 2.0).cos()])
}

fn any_rotation() -> impl Strategy<Value = Words> {
    let component = || prop_oneof![-1.0f64..1.0, Just(0.0), -1e-6..1e-6];
    prop::array::uniform4(component())
        .prop_filter("a direction", |quaternion| quaternion.iter().any(|component| component.abs() > 1e-3))
        .prop_map(words)
}

fn bytes_of(run: &LongRun) -> [u8; 24] {
    let mut bytes = [0; 24];
    let mut writer = BitWriter::new(&mut bytes);
    run.write(&mut writer);
    writer.finish().unwrap();
    bytes
}

proptest! {
    #[test]
    fn any_rotation_returns_to_the_bit(
        now in any_rotation(), newer in any_rotation(), older in prop::option::of(any_rotation()),
        ages in (1u32..9, 1u32..9),
    ) {
        let line = Line::between(ages.0, ages.0 + ages.1);
        let known = Known { newer: &newer, older: older.as_ref().zip(line.as_ref()) };
        let run: LongRun = known.write(&now);
        prop_assume!(run.length <= 128);
        let bytes = bytes_of(&run);
        let mut reader = BitReader::with_bit_len(&bytes, run.length as usize).unwrap();
        prop_assert_eq!(known.read(&mut reader), Ok(now));
        prop_assert_eq!(reader.remaining_bits(), 0);
    }

    /// Also where the lead is near its largest, and says little of the angle.
    #[test]
    fn what_spins_about_an_axis_never_takes_four_components(
        axis in prop::array::uniform3(-1.0f64..1.0), start in 0.0f64..6.0, step in 0.02f64..0.1, more in -0.02f64..0.02,
    ) {
        prop_assume!(axis.iter().any(|component| component.abs() > 0.3));
        let line = Line::between(2, 6).unwrap();
        let [older, newer] = [0.0, 4.0].map(|ticks| turned(axis, start + step * ticks));
        let now = turned(axis, start + step * 6.0 + more);
        let known = Known { newer: &newer, older: Some((&older, &line)) };
        let run: LongRun = known.write(&now);
        prop_assert!(run.length <= 96, "{} bits", run.length);
    }

    /// Whatever the states are, nothing overflows; and what is not refused is a rotation.
    #[test]
    fn any_bits_are_a_rotation_or_refused(
        bytes in prop::array::uniform24(any::<u8>()),
        newer in prop::array::uniform4(any::<i32>()), older in prop::array::uniform4(any::<i32>()),
        valid in (any_rotation(), any_rotation()), ages in (1u32..40, 1u32..40),
    ) {
        let line = Line::between(ages.0, ages.0 + ages.1);
        for (newer, older) in [(newer, older), valid] {
            let known = Known { newer: &newer, older: Some(&older).zip(line.as_ref()) };
            match known.read(&mut BitReader::new(&bytes)) {
                Ok(words) => prop_assert_eq!(check(&words), Ok(())),
                Err(error) => {
                    let errors = [ReadError::NonFinite, ReadError::InvalidRotation, ReadError::UnexpectedEnd, ReadError::InvalidCode];
                    prop_assert!(errors.contains(&error), "{:?}", error);
                }
            }
        }
    }

    #[test]
    fn doubles_predict_what_integers_do(
        newer in any_rotation(), older in any_rotation(), near in any_rotation(), is_near in any::<bool>(), ages in (1u32..9, 1u32..9),
    ) {
        let Some(line) = Line::between(ages.0, ages.0 + ages.1) else { return Ok(()) };
        let older = if is_near { words(between(newer, near)) } else { older };
        let (circle, expected) = (Circle::<f64>::through(newer, older), Circle::<i64>::through(newer, older));
        prop_assert_eq!(circle.is_some(), expected.is_some());
        if let (Some(circle), Some(expected)) = (circle, expected) {
            prop_assert_eq!(circle.order(newer), expected.order(newer));
            prop_assert_eq!(circle.ahead(&line), expected.ahead(&line));
            for lead in [near, newer, older].map(|words| component(words, circle.lead)) {
                prop_assert_eq!(circle.beside(lead, [1, 2]), expected.beside(lead, [1, 2]));
            }
        }
        for last in 0..4 {
            prop_assert_eq!(rest::<f64>(older, newer, last), rest::<i64>(older, newer, last));
            prop_assert_eq!(component(newer, last), newer[last as usize]);
        }
    }
}

/// A rotation near the first.
fn between(newer: Words, other: Words) -> [f64; 4] {
    core::array::from_fn(|place| {
        let [newer, other] = [newer, other].map(|words| f64::from(f32::from_bits(words[place] as u32)));
        newer + 0.01 * other
    })
}

/// Of an uneven spin one component says the angle, and of the others only what rounding left.
#[test]
fn what_spins_about_an_axis_takes_one_component() {
    let line = Line::between(2, 6).unwrap();
    let bits: u32 = (0..100)
        .map(|number| {
            let [a, b] = [0.7, 1.3].map(|step| (step * f64::from(number)).sin());
            let at = |ticks: f64| turned([a, b, 0.4], 5.0 * a + 0.1 * ticks);
            let (older, newer, now) = (at(0.0), at(4.0), at(6.0 + 0.2 * b));
            Known { newer: &newer, older: Some((&older, &line)) }.write::<LongRun>(&now).length
        })
        .sum();
    assert!(bits < 100 * 48, "{bits}");
}

#[test]
fn an_even_turn_is_foreseen() {
    let line = Line::between(2, 6).unwrap();
    let axis = [0.3, 0.9, -0.2];
    let [older, newer, now] = [0.5, 0.7, 0.8].map(|angle| turned(axis, angle));
    let circle = Circle::<i64>::through(newer, older).unwrap();
    let missed = ordinal(component(now, circle.lead)).wrapping_sub(circle.ahead(&line));
    assert!(missed.abs() < 64, "{missed}");
}

#[test]
fn a_rotation_that_rested_has_no_circle() {
    let rotation = turned([0.0, 1.0, 0.0], 0.4);
    let opposite = rotation.map(|word| word ^ i32::MIN);
    assert!(Circle::<i64>::through(rotation, rotation).is_none());
    assert!(Circle::<i64>::through(rotation, opposite).is_none(), "it has two quaternions");
}
