use super::mask::{read_mask, write_mask};
use super::predict::{AGE_MAX, Baseline, extrapolate};
use super::residual::{read_residual, write_residual};
use super::run::{RUN_MAX, read_run, write_run};
use crate::bits::{BitReader, BitWriter};
use crate::entropy::{CodeTable, TableSet};
use crate::error::{ReadError, WriteError};
use crate::quantize::{Profile, QuantizeCounters, SectorOrigin, WordRange};
use proptest::prelude::*;

/// The bytes of what `write` writes, and how many bits it took.
fn written(write: impl FnOnce(&TableSet, &mut BitWriter<'_>)) -> (Vec<u8>, usize) {
    let mut buffer = vec![0; 64];
    let mut writer = BitWriter::new(&mut buffer);
    write(&TableSet::generic(), &mut writer);
    let bits = writer.bit_len();
    writer.finish().unwrap();
    (buffer, bits)
}

fn refused(write: impl FnOnce(&TableSet, &mut BitWriter<'_>)) -> bool {
    let mut buffer = [0; 64];
    let mut writer = BitWriter::new(&mut buffer);
    write(&TableSet::generic(), &mut writer);
    writer.finish() == Err(WriteError::OutOfRange)
}

fn round_trip(word: i32, predicted: i32, range: WordRange) -> (Result<i32, ReadError>, usize) {
    let (bytes, bits) =
        written(|tables, writer| write_residual(word, predicted, range, &tables.residual, writer));
    let mut reader = BitReader::new(&bytes);
    let read = read_residual(predicted, range, &TableSet::generic().residual, &mut reader);
    assert_eq!(reader.bit_position(), bits);
    (read, bits)
}

#[test]
fn an_expected_word_is_cheap_and_a_jump_is_no_dearer_than_the_escape() {
    let range = WordRange::symmetric(32_767);
    assert_eq!(round_trip(1_000, 1_000, range).1, 2);
    let (jump, bits) = round_trip(-32_767, 32_767, range);
    assert_eq!(jump, Ok(-32_767));
    let escape_bits = TableSet::generic().residual.bit_len(17).unwrap();
    assert_eq!(bits as u32, escape_bits + range.bit_width());
}

#[test]
fn the_extremes_of_32_bits_return() {
    for (word, predicted) in
        [(i32::MAX, i32::MIN), (i32::MIN, i32::MAX), (i32::MIN, 0), (0, i32::MIN), (65_535, 0), (65_536, 0)]
    {
        assert_eq!(round_trip(word, predicted, WordRange::ALL).0, Ok(word));
    }
}

#[test]
fn a_residual_that_leaves_the_range_is_refused() {
    let wide = WordRange::symmetric(100);
    let (bytes, _) = written(|tables, writer| write_residual(100, 98, wide, &tables.residual, writer));
    let table = TableSet::generic().residual;
    let narrow = WordRange::new(0, 99).unwrap();
    assert_eq!(read_residual(98, narrow, &table, &mut BitReader::new(&bytes)), Err(ReadError::OutOfRange));
    assert_eq!(
        read_residual(i32::MAX, WordRange::ALL, &table, &mut BitReader::new(&bytes)),
        Err(ReadError::OutOfRange)
    );
    assert!(refused(|tables, writer| write_residual(101, 0, wide, &tables.residual, writer)));
}

#[test]
fn a_table_with_foreign_symbols_is_refused() {
    let table = CodeTable::from_lengths(&[5; 32]).unwrap();
    let mut buffer = [0; 8];
    let mut writer = BitWriter::new(&mut buffer);
    table.write(31, &mut writer);
    writer.finish().unwrap();
    assert_eq!(
        read_residual(0, WordRange::ALL, &table, &mut BitReader::new(&buffer)),
        Err(ReadError::InvalidCode)
    );
    assert_eq!(read_run(9, &table, &mut BitReader::new(&buffer)), Err(ReadError::InvalidCode));
    assert_eq!(read_mask(9, &table, &mut BitReader::new(&buffer)), Err(ReadError::InvalidCode));
}

#[test]
fn one_changed_field_of_many_is_listed_and_many_are_a_bitmap() {
    let bits = |mask: u64| written(|tables, writer| write_mask(mask, 64, &tables.mask, writer)).1;
    assert_eq!(bits(1 << 40), 1 + 6);
    assert_eq!(bits(u64::MAX), 4 + 64);
    let of_three = |mask: u64| written(|tables, writer| write_mask(mask, 3, &tables.mask, writer)).1;
    assert_eq!(of_three(0b111), 4 + 3);
}

#[test]
fn masks_beyond_the_fields_are_refused_on_both_sides() {
    assert!(refused(|tables, writer| write_mask(0b1000, 3, &tables.mask, writer)));
    assert!(refused(|tables, writer| write_mask(0, 65, &tables.mask, writer)));
    let table = TableSet::generic().mask;
    let listed = |indexes: &[u64]| {
        written(|tables, writer| {
            tables.mask.write(indexes.len() as u8, writer);
            indexes.iter().for_each(|&index| writer.write_bits(index, 3));
        })
        .0
    };
    assert_eq!(read_mask(6, &table, &mut BitReader::new(&listed(&[1, 5]))), Ok(0b10_0010));
    assert_eq!(read_mask(6, &table, &mut BitReader::new(&listed(&[6]))), Err(ReadError::InvalidField));
    assert_eq!(read_mask(6, &table, &mut BitReader::new(&listed(&[5, 1]))), Err(ReadError::InvalidField));
    assert_eq!(read_mask(6, &table, &mut BitReader::new(&listed(&[3, 3]))), Err(ReadError::InvalidField));
    assert_eq!(read_mask(0, &table, &mut BitReader::new(&listed(&[1]))), Err(ReadError::InvalidField));
}

#[test]
fn a_run_longer_than_the_objects_left_is_refused() {
    let (bytes, _) = written(|tables, writer| write_run(10, &tables.run, writer));
    let table = TableSet::generic().run;
    assert_eq!(read_run(10, &table, &mut BitReader::new(&bytes)), Ok(10));
    assert_eq!(read_run(9, &table, &mut BitReader::new(&bytes)), Err(ReadError::OutOfRange));
    assert!(refused(|tables, writer| write_run(RUN_MAX + 1, &tables.run, writer)));
    let (beyond, _) = written(|tables, writer| {
        tables.run.write(16, writer);
        writer.write_bits(1, 16);
    });
    assert_eq!(read_run(u32::MAX, &table, &mut BitReader::new(&beyond)), Err(ReadError::OutOfRange));
}

#[test]
fn extrapolation_rounds_half_away_from_zero_and_stays_in_range() {
    let at = |word, age| Baseline { word, age };
    let all = WordRange::ALL;
    assert_eq!(extrapolate(at(10, 1), at(5, 2), all), 15);
    assert_eq!(extrapolate(at(1, 1), at(0, 3), all), 2, "one half rounds up");
    assert_eq!(extrapolate(at(-1, 1), at(0, 3), all), -2, "minus one half rounds down");
    assert_eq!(extrapolate(at(1, 1), at(0, 4), all), 1, "a third rounds to zero");
    assert_eq!(extrapolate(at(i32::MAX, AGE_MAX - 1), at(i32::MIN, AGE_MAX), all), i32::MAX);
    assert_eq!(extrapolate(at(90, 1), at(80, 2), WordRange::symmetric(95)), 95);
    assert_eq!(extrapolate(at(7, 2), at(3, 2), all), 7, "no line through one age");
    assert_eq!(extrapolate(at(7, 1), at(3, AGE_MAX + 1), all), 7, "too old");
}

/// Differences against the true value would drift by a rounding error per update; these are against what the receiver
/// holds, so that after any number of updates the two sides hold the same word.
#[test]
fn a_million_updates_do_not_drift() {
    let (profile, origin) = (Profile::Standard, SectorOrigin::default());
    let range = WordRange::symmetric(32_767);
    let tables = TableSet::generic();
    let mut counters = QuantizeCounters::default();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let (mut place, mut held) = (0.0f64, 0i32);
    for update in 0..1_000_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Steps of up to 8 mm, most of them less than the centimetre of a word, and now and then a jump.
        let step = (state >> 40) as f64 / f64::from(1u32 << 24) - 0.5;
        let metres = if update % 10_000 == 9_999 { 300.0 } else { 0.016 };
        place = (place + step * metres).clamp(-327.0, 327.0);
        let words = profile.quantize_position([place, 0.0, 0.0], &origin, &mut counters).words;
        let mut buffer = [0; 8];
        let mut writer = BitWriter::new(&mut buffer);
        write_residual(words[0], held, range, &tables.residual, &mut writer);
        writer.finish().unwrap();
        held = read_residual(held, range, &tables.residual, &mut BitReader::new(&buffer)).unwrap();
        assert!(
            (f64::from(held) / 100.0 - place).abs() <= 0.005_000_001,
            "update {update}: {held} cm for {place} m"
        );
    }
    assert_eq!(counters, QuantizeCounters::default(), "nothing saturated");
}

proptest! {
    #[test]
    fn every_word_of_a_range_returns_against_every_prediction(a: i32, b: i32, word: i32, predicted: i32) {
        let range = WordRange::new(a.min(b), a.max(b)).unwrap();
        let word = range.clamp(i64::from(word));
        prop_assert_eq!(round_trip(word, predicted, range).0, Ok(word));
    }

    #[test]
    fn small_differences_return(word in -70_000i32..70_000, step in -70_000i32..70_000) {
        prop_assert_eq!(round_trip(word + step, word, WordRange::ALL).0, Ok(word + step));
    }

    #[test]
    fn every_mask_returns(mask: u64, sparse: u64, field_count in 1u32..=64) {
        for mask in [mask, mask & sparse & sparse.rotate_left(7) & sparse.rotate_left(31)] {
            let mask = mask & (u64::MAX >> (64 - field_count));
            let (bytes, bits) = written(|tables, writer| write_mask(mask, field_count, &tables.mask, writer));
            let mut reader = BitReader::new(&bytes);
            prop_assert_eq!(read_mask(field_count, &TableSet::generic().mask, &mut reader), Ok(mask));
            prop_assert_eq!(reader.bit_position(), bits);
        }
    }

    #[test]
    fn every_run_returns(run in 0..=RUN_MAX) {
        let (bytes, _) = written(|tables, writer| write_run(run, &tables.run, writer));
        prop_assert_eq!(read_run(RUN_MAX, &TableSet::generic().run, &mut BitReader::new(&bytes)), Ok(run));
    }

    #[test]
    fn extrapolation_agrees_with_exact_arithmetic(newer: i32, older: i32, newer_age in 0u32..1_023, gap in 1u32..1_023) {
        let older_age = newer_age + gap;
        prop_assume!(older_age <= AGE_MAX);
        let numerator = (i128::from(newer) - i128::from(older)) * i128::from(newer_age) * 2;
        let gap = i128::from(gap) * 2;
        let rounded = (numerator.abs() + gap / 2) / gap * numerator.signum();
        let expected = (i128::from(newer) + rounded).clamp(i128::from(i32::MIN), i128::from(i32::MAX));
        let predicted = extrapolate(Baseline { word: newer, age: newer_age }, Baseline { word: older, age: older_age }, WordRange::ALL);
        prop_assert_eq!(i128::from(predicted), expected);
    }

    #[test]
    fn any_bits_decode_or_are_refused_without_panic(bytes: [u8; 16], predicted: i32, field_count in 0u32..=70) {
        let tables = TableSet::generic();
        let _ = read_residual(predicted, WordRange::ALL, &tables.residual, &mut BitReader::new(&bytes));
        let _ = read_run(100, &tables.run, &mut BitReader::new(&bytes));
        let _ = read_mask(field_count, &tables.mask, &mut BitReader::new(&bytes));
    }
}
