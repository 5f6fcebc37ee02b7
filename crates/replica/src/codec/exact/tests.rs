use super::super::run::{LongRun, Written};
use super::*;
use netloom_wire::BitWriter;
use proptest::prelude::*;

const SPECIAL: [u32; 12] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x43fa_0000,
    0xc3fa_0001,
];

/// The bits of a finite single: near others, special, or any.
fn any_single() -> impl Strategy<Value = i32> {
    prop_oneof![
        (-600.0f32..600.0).prop_map(|value| value.to_bits() as i32),
        prop::sample::select(SPECIAL.to_vec()).prop_map(|bits| bits as i32),
        any::<i32>().prop_filter("finite", |&word| is_finite(word)),
    ]
}

fn any_position() -> impl Strategy<Value = [i32; 4]> {
    prop::array::uniform3(any_single()).prop_map(|[x, y, z]| [x, y, z, 1])
}

fn bytes_of(run: &LongRun) -> [u8; 24] {
    let mut bytes = [0; 24];
    let mut writer = BitWriter::new(&mut bytes);
    run.write(&mut writer);
    writer.finish().unwrap();
    bytes
}

fn singles(values: [f32; 3]) -> [i32; 4] {
    let [x, y, z] = values.map(|value| value.to_bits() as i32);
    [x, y, z, 1]
}

proptest! {
    #[test]
    fn ordinals_have_the_order_of_numbers(a in any::<i32>(), b in any::<i32>()) {
        prop_assert_eq!(ordinal(ordinal(a)), a);
        let [x, y] = [a, b].map(|word| f32::from_bits(word as u32));
        prop_assert_eq!(ordinal(a).cmp(&ordinal(b)), x.total_cmp(&y));
    }

    #[test]
    fn widths_are_those_of_twos_complement(difference in any::<i32>(), shift in 0u32..32) {
        for difference in [difference >> shift, i32::MAX >> shift, i32::MIN >> shift] {
            let bits = 33 - (difference ^ difference >> 31).leading_zeros() as i32;
            prop_assert_eq!(width(difference), if difference == 0 { 0 } else { bits });
        }
    }

    /// Also those of patterns that are no numbers, and whatever was expected.
    #[test]
    fn any_differences_return(
        differences in prop::array::uniform3(prop_oneof![
            Just(0), (0u32..32, any::<i32>()).prop_map(|(shift, value)| value >> shift)
        ]),
        newer in prop::array::uniform3(any::<i32>()),
        expected in any::<i16>(),
    ) {
        let mut run = LongRun::default();
        put(differences, &Base::new(newer), expected.into(), &mut run);
        let bytes = bytes_of(&run);
        let mut reader = BitReader::with_bit_len(&bytes, run.length as usize).unwrap();
        prop_assert_eq!(take(&Base::new(newer), expected.into(), &mut reader), Ok(differences));
        prop_assert_eq!(reader.remaining_bits(), 0);
        let [one, ..] = differences;
        let mut run = LongRun::default();
        let base = Base::new([newer[0]]);
        put([one], &base, expected.into(), &mut run);
        let bytes = bytes_of(&run);
        prop_assert_eq!(take(&base, expected.into(), &mut BitReader::new(&bytes)), Ok([one]));
    }

    #[test]
    fn any_position_returns_to_the_bit(
        words in any_position(), newer in any_position(), older in prop::option::of(any_position()),
        ages in (1u32..9, 1u32..9),
    ) {
        let line = Line::between(ages.0, ages.0 + ages.1);
        let known = Known { newer: &newer, older: older.as_ref().zip(line.as_ref()) };
        let run: LongRun = known.write(&words);
        prop_assert!(run.length <= 1 + 3 + 3 + 3 + 5 + 96);
        let bytes = bytes_of(&run);
        let mut reader = BitReader::with_bit_len(&bytes, run.length as usize).unwrap();
        prop_assert_eq!(known.read(&mut reader), Ok(words));
        prop_assert_eq!(reader.remaining_bits(), 0);
    }

    #[test]
    fn any_bits_are_a_position_or_refused(
        bytes in prop::array::uniform16(any::<u8>()), newer in any_position(), older in any_position(),
    ) {
        let line = Line::between(2, 6);
        let known = Known { newer: &newer, older: Some(&older).zip(line.as_ref()) };
        match known.read(&mut BitReader::new(&bytes)) {
            Ok(words) => prop_assert!(words.into_iter().take(3).all(is_finite)),
            Err(error) => {
                let errors = [ReadError::NonFinite, ReadError::UnexpectedEnd, ReadError::InvalidCode];
                prop_assert!(errors.contains(&error), "{:?}", error);
            }
        }
    }
}

#[test]
fn bits_follow_from_the_way_and_the_exponents() {
    let line = Line::between(2, 6).unwrap();
    let older = singles([400.0, 20.0, 0.0]);
    let newer = singles([400.5, 20.25, 0.0]);
    let known = Known { newer: &newer, older: Some((&older, &line)) };
    let bits = |values| known.write::<LongRun>(&singles(values)).length;
    // A class, and 14 bits of steps of 2^-15 beside 18 of 2^-19.
    assert_eq!(bits([400.75, 20.375, 0.0]), 1 + 3 + 3, "exactly on the line");
    assert_eq!(bits([400.625, 20.5, 0.0]), 1 + 3 + 3 + 3 + 14 + 18);
    assert_eq!(bits([400.5, 20.5, 0.0]), 1 + 3 + 3 + 3 + 19, "what rests takes no bits");
}

#[test]
fn a_difference_to_what_is_no_number_is_refused() {
    let newer = singles([f32::MAX, 0.0, 0.0]);
    let mut run = LongRun::default();
    put([1, 0, 0], &Base::new(three(&newer)), UNKNOWN, &mut run);
    let known = Known { newer: &newer, older: None };
    assert_eq!(known.read(&mut BitReader::new(&bytes_of(&run))), Err(ReadError::NonFinite));
}
