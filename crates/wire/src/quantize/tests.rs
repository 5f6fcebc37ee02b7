use super::*;
use crate::bytes::{ByteReader, ByteWriter};
use crate::error::ReadError;
use proptest::prelude::*;

fn quiet<T>(quantize: impl FnOnce(&mut QuantizeCounters) -> T) -> T {
    let mut counters = QuantizeCounters::default();
    let result = quantize(&mut counters);
    assert_eq!(counters, QuantizeCounters::default(), "nothing to count");
    result
}

fn counted<T>(quantize: impl FnOnce(&mut QuantizeCounters) -> T) -> (T, QuantizeCounters) {
    let mut counters = QuantizeCounters::default();
    (quantize(&mut counters), counters)
}

fn local(profile: Profile, position: [f64; 3], counters: &mut QuantizeCounters) -> Words3 {
    profile.quantize_position(position, &SectorOrigin::default(), counters)
}

/// The angle of the rotation between two unit quaternions, which may differ in sign.
fn degrees_between(a: [f32; 4], b: [f32; 4]) -> f64 {
    let difference = |sign: f64| {
        let squares = a.iter().zip(b).map(|(&a, b)| (f64::from(a) - sign * f64::from(b)).powi(2));
        squares.sum::<f64>().sqrt()
    };
    (4.0 * (difference(1.0).min(difference(-1.0)) / 2.0).asin()).to_degrees()
}

#[test]
fn rounding_is_to_nearest_with_ties_away_from_zero() {
    for (value, word) in [
        (0.5, 1),
        (-0.5, -1),
        (1.5, 2),
        (2.5, 3),
        (-2.5, -3),
        (0.499_999_999_999_999_94, 0),
        (-0.499_999_999_999_999_94, 0),
        (f64::NAN, 0),
        (f64::INFINITY, i64::MAX),
        (f64::NEG_INFINITY, i64::MIN),
    ] {
        assert_eq!(round_half_away(value), word, "{value}");
        assert!(!(-1e9..1e9).contains(&value) || i64::from(round_fitting(value)) == word, "{value}");
    }
}

#[test]
fn zero_and_one_are_exact_in_every_profile() {
    for profile in Profile::ALL {
        let words = quiet(|counters| local(profile, [0.0, 1.0, -1.0], counters));
        assert_eq!(profile.dequantize_position(words), [0.0, 1.0, -1.0]);
        let words = quiet(|counters| profile.quantize_velocity([0.0, 1.0, -1.0], counters));
        assert_eq!(profile.dequantize_velocity(words), [0.0, 1.0, -1.0]);
        let words = quiet(|counters| profile.quantize_scale([1.0; 3], counters));
        assert_eq!(profile.dequantize_scale(words), [1.0; 3]);
        let rotation = quiet(|counters| profile.quantize_rotation([0.0, 0.0, 0.0, 1.0], counters));
        assert_eq!(profile.dequantize_rotation(rotation), [0.0, 0.0, 0.0, 1.0]);
    }
}

#[test]
fn the_ends_of_each_profile_are_the_documented_ones() {
    for (profile, end, word) in [
        (Profile::Standard, 327.67, 32_767),
        (Profile::High, 214_748.364_7, i32::MAX),
        (Profile::World, 32_767.0, 32_767),
    ] {
        let words = quiet(|counters| local(profile, [end, -end, 0.0], counters));
        assert_eq!(words, Words3::quantized([word, -word, 0]));
    }
}

#[test]
fn a_profile_quantizes_with_its_own_entry_of_the_table() {
    let (place, turn) = ([12.345_6, -7.5, 0.04], [0.1, 0.2, 0.3, 0.927_361_85]);
    let positions = [
        Words3::quantized([1_235, -750, 4]),
        Words3::quantized([123_456, -75_000, 400]),
        Words3::quantized([12, -8, 0]),
        Words3::raw([12.345_6, -7.5, 0.04]),
    ];
    for (profile, expected) in Profile::ALL.into_iter().zip(positions) {
        let codec = profile.codec();
        let position = quiet(|counters| (codec.position)(place, counters));
        assert_eq!(position, expected, "{profile:?}");
        assert_eq!(position, quiet(|counters| local(profile, place, counters)));
        let rotation = quiet(|counters| (codec.rotation)(turn, counters));
        assert_eq!(rotation, quiet(|counters| profile.quantize_rotation(turn, counters)));
        assert_eq!(matches!(rotation, Rotation::Raw(_)), profile.rotation_width().is_none());
    }
}

#[test]
fn a_position_beyond_its_range_is_counted_and_sent_raw() {
    let (words, counters) = counted(|counters| local(Profile::Standard, [327.68, 1.0, -400.5], counters));
    assert_eq!(counters, QuantizeCounters { saturated: 2, ..Default::default() });
    assert_eq!(words, Words3::raw([327.68, 1.0, -400.5]));
    assert_eq!(Profile::Standard.dequantize_position(words), [327.68, 1.0, -400.5]);
    assert!(!quiet(|counters| local(Profile::Standard, [327.674, 0.0, 0.0], counters)).raw);
}

#[test]
fn velocities_saturate_and_are_counted() {
    let (words, counters) =
        counted(|counters| Profile::Standard.quantize_velocity([1e9, -1e9, f32::INFINITY], counters));
    assert_eq!(words, Words3::quantized([32_767, -32_767, 0]));
    assert_eq!((counters.saturated, counters.non_finite), (2, 1));
}

#[test]
fn components_that_are_not_finite_become_zero_and_are_counted() {
    for profile in Profile::ALL {
        let (words, counters) = counted(|counters| local(profile, [f64::NAN, f64::INFINITY, 2.0], counters));
        assert_eq!(profile.dequantize_position(words), [0.0, 0.0, 2.0]);
        assert_eq!(counters, QuantizeCounters { non_finite: 2, ..Default::default() });
    }
    let (words, counters) = counted(|counters| local(Profile::None, [1e300, 0.0, 0.0], counters));
    assert_eq!(words, Words3::raw([f32::MAX, 0.0, 0.0]));
    assert_eq!(counters.saturated, 1);
}

#[test]
fn scales_outside_the_quantized_range_are_sent_raw() {
    let scale = |scale| counted(|counters| Profile::Standard.quantize_scale(scale, counters));
    assert_eq!(scale([0.031_25, 1.0, 7.968_75]).0, Words3::quantized([1, 32, 255]));
    for odd in [[0.0, 1.0, 1.0], [-1.0, 1.0, 1.0], [8.0, 1.0, 1.0], [0.001, 1.0, 1.0]] {
        let (words, counters) = scale(odd);
        assert_eq!(Profile::Standard.dequantize_scale(words), odd);
        assert_eq!(counters, QuantizeCounters { raw_scales: 1, ..Default::default() });
    }
    let (words, counters) = scale([f32::NAN, 2.0, 2.0]);
    assert_eq!((words, counters.non_finite), (Words3::quantized([32, 64, 64]), 1));
}

#[test]
fn the_origin_moves_standard_and_high_but_not_world_and_none() {
    let origin = SectorOrigin::new([1e6, -2e6, 0.5], OriginVersion::new(63)).unwrap();
    let place = [1_000_001.0, -1_999_999.0, 0.0];
    for profile in [Profile::Standard, Profile::High] {
        let words = quiet(|counters| profile.quantize_position(place, &origin, counters));
        assert_eq!(profile.dequantize_position(words), [1.0, 1.0, -0.5]);
        assert_eq!(profile.world_position(words, &origin), place);
    }
    let words = quiet(|counters| Profile::None.quantize_position(place, &origin, counters));
    assert_eq!(Profile::None.world_position(words, &origin), place);
    assert_eq!(origin.moved_to([0.0; 3]).unwrap().version().get(), 0);
    assert!(SectorOrigin::new([0.0, f64::NAN, 0.0], OriginVersion::default()).is_err());
    assert!(SectorOrigin::new([0.0, 2e12, 0.0], OriginVersion::default()).is_err());
}

#[test]
fn an_origin_returns_from_its_25_bytes_and_an_impossible_one_is_refused() {
    let origin = SectorOrigin::new([1e6, -0.5, 1e12], OriginVersion::new(63)).unwrap();
    let mut buffer = [0; 25];
    let mut writer = ByteWriter::new(&mut buffer);
    origin.write(&mut writer);
    assert_eq!(writer.finish(), Ok(25));
    assert_eq!(SectorOrigin::read(&mut ByteReader::new(&buffer)), Ok(origin));
    assert_eq!(SectorOrigin::read(&mut ByteReader::new(&buffer[..24])), Err(ReadError::UnexpectedEnd));
    buffer[24] = 64;
    assert_eq!(SectorOrigin::read(&mut ByteReader::new(&buffer)), Err(ReadError::ReservedBits));
    buffer[24] = 0;
    buffer[..8].copy_from_slice(&f64::NAN.to_le_bytes());
    assert_eq!(SectorOrigin::read(&mut ByteReader::new(&buffer)), Err(ReadError::OutOfRange));
}

#[test]
fn identity_packs_to_the_documented_code() {
    assert_eq!(Rotation::IDENTITY.pack(RotationWidth::Ten), Some(3 | 511 << 2 | 511 << 12 | 511 << 22));
    assert_eq!(
        Rotation::IDENTITY.pack(RotationWidth::Fifteen),
        Some(3 | 16_383 << 2 | 16_383 << 17 | 16_383 << 32)
    );
    assert_eq!(Rotation::SmallestThree { largest: 4, steps: [0; 3] }.pack(RotationWidth::Ten), None);
    assert_eq!(Rotation::SmallestThree { largest: 0, steps: [512, 0, 0] }.pack(RotationWidth::Ten), None);
}

/// The single that the standard asks for: a division, then the conversion.
fn divided(word: i32, per_unit: f64) -> u32 {
    ((f64::from(word) / per_unit) as f32).to_bits()
}

#[test]
fn every_word_of_the_small_profiles_is_the_single_that_the_standard_asks_for() {
    let bits = |values: [f32; 3]| values.map(f32::to_bits);
    for word in -32_767..=32_767 {
        let words = Words3::quantized([word; 3]);
        assert_eq!(bits(Profile::Standard.dequantize_position(words)), [divided(word, 100.0); 3]);
        assert_eq!(bits(Profile::World.dequantize_position(words)), [divided(word, 1.0); 3]);
        assert_eq!(bits(Profile::World.dequantize_velocity(words)), [divided(word, 100.0); 3]);
        assert_eq!(bits(Profile::Standard.dequantize_scale(words)), [divided(word, 32.0); 3]);
    }
}

#[test]
fn every_step_and_rest_of_a_rotation_is_the_single_that_the_standard_asks_for() {
    for (width, stride) in [(RotationWidth::Ten, 1), (RotationWidth::Fifteen, 101)] {
        let half = width.half();
        for step in -half..=half {
            let [.., w] = Rotation::SmallestThree { largest: 0, steps: [0, 0, step] }.dequantize(width);
            let expected = (f64::from(step) * std::f64::consts::FRAC_1_SQRT_2 / f64::from(half)) as f32;
            assert_eq!(w.to_bits(), expected.to_bits(), "step {step}");
        }
        // Three steps whose squares add up to anything that is asked for are not easy to find: the squares are.
        let unit = 2 * u32::from(half.unsigned_abs()).pow(2);
        for rest in (0..=unit).step_by(stride) {
            let expected = (f64::from(rest) / f64::from(unit)).sqrt() as f32;
            assert_eq!(rotation::root_of_rest(rest, width).to_bits(), expected.to_bits(), "rest {rest}");
        }
    }
}

#[test]
fn the_dropped_component_stands_where_its_index_says() {
    for largest in 0..4u8 {
        let rotation = Rotation::SmallestThree { largest, steps: [100, 200, 300] };
        let quaternion = rotation.dequantize(RotationWidth::Ten);
        let mut rest = quaternion.to_vec();
        assert!(rest.remove(usize::from(largest)) > 0.8, "{quaternion:?}");
        assert!(rest.is_sorted() && rest[0] > 0.1 && rest[2] < 0.5, "{quaternion:?}");
    }
}

#[test]
fn a_negative_largest_component_keeps_its_rotation() {
    let quaternion = [0.5, -0.1, 0.2, -0.836_66];
    let rotation = quiet(|counters| Profile::Standard.quantize_rotation(quaternion, counters));
    let back = Profile::Standard.dequantize_rotation(rotation);
    assert!(back[3] > 0.0);
    assert!(degrees_between(quaternion, back) < 0.28);
}

#[test]
fn rotations_without_direction_become_the_identity_and_are_counted() {
    for bad in [[0.0; 4], [f32::NAN, 0.0, 0.0, 1.0], [f32::INFINITY, 0.0, 0.0, 0.0]] {
        let (rotation, counters) = counted(|counters| Profile::High.quantize_rotation(bad, counters));
        assert_eq!(rotation, Rotation::IDENTITY);
        assert_eq!(counters.unnormalized_rotations, 1);
    }
    let (rotation, counters) =
        counted(|counters| Profile::High.quantize_rotation([0.0, 0.0, 0.0, 5.0], counters));
    assert_eq!((rotation, counters.unnormalized_rotations), (Rotation::IDENTITY, 1));
}

#[test]
fn impossible_rotation_codes_are_refused() {
    let ten = RotationWidth::Ten;
    assert_eq!(Rotation::unpack(1023 << 2, ten), Err(ReadError::OutOfRange));
    assert_eq!(Rotation::unpack(1 << 32, ten), Err(ReadError::ReservedBits));
    assert_eq!(Rotation::unpack(0, ten), Err(ReadError::InvalidRotation), "three components of -1/sqrt 2");
    assert_eq!(Rotation::unpack(1 << 47, RotationWidth::Fifteen), Err(ReadError::ReservedBits));
    assert_eq!(Rotation::from_raw([f32::NAN, 0.0, 0.0, 1.0]), Err(ReadError::NonFinite));
    assert_eq!(Rotation::from_raw([0.0, 0.0, 0.0, 1.1]), Err(ReadError::InvalidRotation));
    assert!(Rotation::from_raw([0.0, 0.6, 0.0, 0.8]).is_ok());
}

#[test]
fn custom_ranges_hold_their_words() {
    let health = QuantizedRange::new(0.0, 100.0, 1).unwrap();
    assert_eq!(health.words().bit_width(), 7);
    let (word, counters) = counted(|counters| health.quantize(100.6, counters));
    assert_eq!((word, counters.saturated), (100, 1));
    let (word, counters) = counted(|counters| health.quantize(f32::NAN, counters));
    assert_eq!((word, counters.non_finite), (0, 1));
    let angle = QuantizedRange::new(10.0, 20.0, 4).unwrap();
    assert_eq!(
        counted(|counters| angle.quantize(f32::NAN, counters)).0,
        40,
        "zero is clamped into the range"
    );
    assert_eq!(angle.dequantize(41), 10.25);
    assert_eq!(QuantizedRange::new(1.0, 1.0, 3).unwrap().words().bit_width(), 0);
}

#[test]
fn impossible_ranges_are_refused_with_their_numbers() {
    assert_eq!(QuantizedRange::new(2.0, 1.0, 10), Err(RangeError::Empty { min: 20, max: 10 }));
    assert_eq!(QuantizedRange::new(0.0, 1.0, 0), Err(RangeError::PerUnit { per_unit: 0 }));
    assert_eq!(QuantizedRange::new(0.0, 1.0, 1_000_001), Err(RangeError::PerUnit { per_unit: 1_000_001 }));
    assert!(matches!(
        QuantizedRange::new(0.0, 1e9, 10),
        Err(RangeError::Unrepresentable { field: "max", .. })
    ));
    assert!(matches!(
        QuantizedRange::new(f64::NAN, 1.0, 10),
        Err(RangeError::Unrepresentable { field: "min", .. })
    ));
    assert_eq!(WordRange::ALL.bit_width(), 32);
    assert_eq!(WordRange::symmetric(i32::MIN), WordRange::symmetric(i32::MAX));
}

fn unit_quaternion() -> impl Strategy<Value = [f32; 4]> {
    proptest::array::uniform4(-1.0f64..1.0).prop_filter_map("has a direction", |q| {
        let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
        (length > 0.01).then(|| q.map(|c| (c / length) as f32))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn standard_positions_return_within_8_66_millimetres(position in proptest::array::uniform3(-327.0f64..327.0)) {
        let words = quiet(|counters| local(Profile::Standard, position, counters));
        let back = Profile::Standard.world_position(words, &SectorOrigin::default());
        let error = position.iter().zip(back).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        prop_assert!(error <= 0.008_661);
    }

    #[test]
    fn high_positions_return_within_half_a_step_on_each_axis(position in proptest::array::uniform3(-2e5f64..2e5)) {
        let words = quiet(|counters| local(Profile::High, position, counters));
        let back = Profile::High.world_position(words, &SectorOrigin::default());
        for (a, b) in position.iter().zip(back) {
            prop_assert!((a - b).abs() <= 0.000_050_001);
        }
    }

    #[test]
    fn world_positions_return_within_half_a_metre_on_each_axis(position in proptest::array::uniform3(-32_767.0f64..32_767.0)) {
        let words = quiet(|counters| local(Profile::World, position, counters));
        let back = Profile::World.world_position(words, &SectorOrigin::default());
        for (a, b) in position.iter().zip(back) {
            prop_assert!((a - b).abs() <= 0.5);
        }
    }

    #[test]
    fn scales_return_within_half_a_step(scale in proptest::array::uniform3(0.02f32..7.98)) {
        for profile in [Profile::Standard, Profile::High, Profile::World] {
            let words = quiet(|counters| profile.quantize_scale(scale, counters));
            for (a, b) in scale.iter().zip(profile.dequantize_scale(words)) {
                prop_assert!((a - b).abs() <= 0.5 / 32.0);
            }
        }
    }

    #[test]
    fn rotations_return_within_their_bound(quaternion in unit_quaternion()) {
        for (profile, bound) in [(Profile::Standard, 0.28), (Profile::High, 0.009), (Profile::None, 1e-4)] {
            let rotation = quiet(|counters| profile.quantize_rotation(quaternion, counters));
            prop_assert!(degrees_between(quaternion, profile.dequantize_rotation(rotation)) <= bound);
            if let Some(width) = profile.rotation_width() {
                let packed = rotation.pack(width).unwrap();
                prop_assert_eq!(Rotation::unpack(packed, width), Ok(rotation));
            }
        }
    }

    #[test]
    fn any_accepted_rotation_code_is_a_unit_quaternion(packed: u64) {
        for width in [RotationWidth::Ten, RotationWidth::Fifteen] {
            if let Ok(rotation) = Rotation::unpack(packed >> (64 - width.bit_width()), width) {
                let squares: f64 = rotation.dequantize(width).iter().map(|&c| f64::from(c).powi(2)).sum();
                prop_assert!((squares - 1.0).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn any_word_is_the_single_that_the_standard_asks_for(word: i32) {
        for (profile, per_unit) in [(Profile::Standard, 100.0), (Profile::High, 10_000.0)] {
            let [x, ..] = profile.dequantize_position(Words3::quantized([word; 3]));
            prop_assert_eq!(x.to_bits(), divided(word, per_unit));
        }
    }

    #[test]
    fn a_dequantized_word_quantizes_to_itself(word in -32_767i32..=32_767, high in -(1 << 23)..=1 << 23) {
        let words = Words3::quantized([word, -word, 0]);
        for profile in [Profile::Standard, Profile::World] {
            let value = profile.dequantize_position(words).map(f64::from);
            prop_assert_eq!(quiet(|counters| local(profile, value, counters)), words);
        }
        let words = Words3::quantized([high, -high, 0]);
        let value = Profile::High.dequantize_position(words).map(f64::from);
        prop_assert_eq!(quiet(|counters| local(Profile::High, value, counters)), words);
    }
}

proptest! {
    #[test]
    fn both_ways_to_round_agree(whole in any::<i32>(), part in prop_oneof![Just(0.5), Just(-0.5), -1.0..1.0f64], steps in -3i64..=3) {
        let value = f64::from(whole) + part;
        let value = f64::from_bits((value.to_bits() as i64 + steps) as u64);
        prop_assume!(value.abs() < f64::from(i32::MAX));
        prop_assert_eq!(round_fitting(value), round_small(value), "{}", value);
    }

    /// Many at once have the words of each alone, or are told apart.
    #[test]
    fn a_quantizer_makes_the_words_of_its_profile(
        place in proptest::array::uniform3(prop_oneof![-400.0..400.0f64, -4e5..4e5f64, any::<f64>()]),
        turn in proptest::array::uniform4(prop_oneof![-1.0..1.0f32, any::<f32>()]),
        is_unit: bool,
    ) {
        let length = turn.iter().map(|part| part * part).sum::<f32>().sqrt();
        let turn = if is_unit && length > 0.0 { turn.map(|part| part / length) } else { turn };
        for profile in Profile::ALL {
            let Some(quantizer) = profile.quantizer() else { continue };
            let (words, counters) = counted(|counters| local(profile, place, counters));
            let (many, is_good) = quantizer.position(place);
            prop_assert_eq!(is_good, counters == QuantizeCounters::default());
            prop_assert!(!is_good || words == Words3::quantized(many));
            let (rotation, counters) = counted(|counters| profile.quantize_rotation(turn, counters));
            let ([largest, steps @ ..], is_good) = quantizer.rotation(turn);
            prop_assert_eq!(is_good, counters == QuantizeCounters::default());
            let many = Rotation::SmallestThree { largest: largest as u8, steps: steps.map(|step| step as i16) };
            prop_assert!(!is_good || rotation == many);
        }
    }
}
