use super::*;
use proptest::prelude::*;

#[test]
fn the_picture_of_the_module_is_true() {
    let mut buffer = [0xee; 2];
    let mut writer = BitWriter::new(&mut buffer);
    writer.write_bits(0b101, 3);
    writer.write_bits(0b11, 2);
    writer.write_bits(0x1ff, 9);
    assert_eq!(writer.finish(), Ok(2));
    assert_eq!(buffer, [0b1111_1101, 0b0011_1111]);
}

#[test]
fn a_full_buffer_fails_once_and_stays_failed() {
    let mut buffer = [0; 2];
    let mut writer = BitWriter::new(&mut buffer);
    writer.write_bits(1, 15);
    assert_eq!(writer.remaining_bits(), 1);
    writer.write_bits(3, 2);
    assert_eq!(writer.remaining_bits(), 0);
    writer.write_bool(true);
    assert_eq!(writer.finish(), Err(WriteError::BufferFull));
}

#[test]
fn the_last_bit_of_the_buffer_is_usable() {
    let mut buffer = [0; 9];
    let mut writer = BitWriter::new(&mut buffer);
    writer.write_bits(u64::MAX, 64);
    writer.write_bits(0x80, 8);
    assert_eq!(writer.remaining_bits(), 0);
    assert_eq!(writer.finish(), Ok(9));
    assert_eq!(buffer, [255, 255, 255, 255, 255, 255, 255, 255, 0x80]);
}

#[test]
fn values_outside_their_range_are_refused_on_both_sides() {
    let mut buffer = [0; 8];
    let mut writer = BitWriter::new(&mut buffer);
    writer.write_ranged(101, 100);
    assert_eq!(writer.finish(), Err(WriteError::OutOfRange));
    let mut writer = BitWriter::new(&mut buffer);
    writer.write_signed(128, 8);
    assert_eq!(writer.finish(), Err(WriteError::OutOfRange));

    assert_eq!(BitReader::new(&[101]).read_ranged(100), Err(ReadError::OutOfRange));
    assert_eq!(BitReader::new(&[100]).read_ranged(100), Ok(100));
    assert_eq!(BitReader::new(&[7]).read_ranged_signed(-3, 3), Err(ReadError::OutOfRange));
    assert_eq!(BitReader::new(&[0; 8]).read_ranged_signed(i64::MIN, i64::MAX), Ok(i64::MIN));
}

#[test]
fn a_failed_read_does_not_move() {
    let mut reader = BitReader::new(&[0b1010_0101]);
    assert_eq!(reader.read_bits(4), Ok(0b0101));
    assert_eq!(reader.read_bits(5), Err(ReadError::UnexpectedEnd));
    assert_eq!(reader.read_ranged(9), Err(ReadError::OutOfRange));
    assert_eq!(reader.align(), Err(ReadError::ReservedBits));
    assert_eq!(reader.read_bits(4), Ok(0b1010));
}

#[test]
fn padding_must_be_zero_and_nothing_may_follow() {
    let mut reader = BitReader::new(&[0b1000_0001, 0]);
    assert_eq!(reader.read_bool(), Ok(true));
    assert_eq!(reader.clone().align(), Err(ReadError::ReservedBits));
    assert_eq!(reader.clone().finish(), Err(ReadError::TrailingData));
    let mut reader = BitReader::new(&[1]);
    assert_eq!(reader.read_bool(), Ok(true));
    assert_eq!(reader.clone().align(), Ok(()));
    assert_eq!(reader.finish(), Ok(()));
}

#[test]
fn a_run_longer_than_its_bytes_is_the_callers_error() {
    let mut buffer = [0; 4];
    let mut writer = BitWriter::new(&mut buffer);
    writer.append_slice(&[1], 9);
    assert_eq!(writer.finish(), Err(WriteError::OutOfRange));
    assert!(BitReader::with_bit_len(&[1], 9).is_none());
}

/// The slow and obvious way: one bit at a time.
fn reference(values: &[(u64, u32)]) -> Vec<u8> {
    let bits: Vec<bool> = values.iter().flat_map(|&(v, n)| (0..n).map(move |i| (v >> i) & 1 == 1)).collect();
    bits.chunks(8)
        .map(|byte| byte.iter().enumerate().fold(0, |sum, (i, &bit)| sum | (u8::from(bit) << i)))
        .collect()
}

fn values() -> impl Strategy<Value = Vec<(u64, u32)>> {
    proptest::collection::vec((any::<u64>(), 0u32..=64), 0..40)
}

proptest! {
    #[test]
    fn any_run_of_values_matches_the_bit_by_bit_reference(values in values()) {
        let expected = reference(&values);
        let mut buffer = vec![0xaa; expected.len()];
        let mut writer = BitWriter::new(&mut buffer);
        for &(value, count) in &values {
            writer.write_bits(value, count);
        }
        prop_assert_eq!(writer.finish(), Ok(expected.len()));
        prop_assert_eq!(&buffer, &expected);
        let mut reader = BitReader::new(&buffer);
        for &(value, count) in &values {
            prop_assert_eq!(reader.peek_bits(count), value & low_mask(count.min(56)));
            prop_assert_eq!(reader.read_bits(count), Ok(value & low_mask(count)));
        }
        prop_assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn an_appended_run_equals_the_values_written_in_place(head in values(), run in values()) {
        let run_bytes = reference(&run);
        let run_bits: usize = run.iter().map(|&(_, count)| count as usize).sum();
        let whole = reference(&[head.clone(), run].concat());
        let mut buffer = vec![0; whole.len()];
        let mut writer = BitWriter::new(&mut buffer);
        for (value, count) in head {
            writer.append_bits(value & low_mask(count), count);
        }
        writer.append_slice(&run_bytes, run_bits);
        prop_assert_eq!(writer.finish(), Ok(whole.len()));
        prop_assert_eq!(buffer, whole);
    }

    #[test]
    fn signed_and_ranged_values_return(value: i64, other: i64, third: i64) {
        let mut sorted = [value, other, third];
        sorted.sort_unstable();
        let [min, middle, max] = sorted;
        let mut buffer = [0; 32];
        let mut writer = BitWriter::new(&mut buffer);
        writer.write_bool(true);
        writer.write_ranged_signed(middle, min, max);
        writer.write_signed(value, 64);
        writer.write_signed(value >> 40, 24);
        writer.finish().unwrap();
        let mut reader = BitReader::new(&buffer);
        prop_assert_eq!(reader.read_bool(), Ok(true));
        prop_assert_eq!(reader.read_ranged_signed(min, max), Ok(middle));
        prop_assert_eq!(reader.read_signed(64), Ok(value));
        prop_assert_eq!(reader.read_signed(24), Ok(value >> 40));
    }

    #[test]
    fn no_sequence_of_reads_passes_the_end(bytes in proptest::collection::vec(any::<u8>(), 0..20), counts in proptest::collection::vec(0u32..=64, 0..20)) {
        let mut reader = BitReader::new(&bytes);
        for count in counts {
            let before = reader.remaining_bits();
            match reader.read_bits(count) {
                Ok(_) => prop_assert_eq!(reader.remaining_bits(), before - count as usize),
                Err(_) => prop_assert!(before < count as usize),
            }
        }
    }
}
