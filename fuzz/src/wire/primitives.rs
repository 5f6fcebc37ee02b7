//! The bit codec against a naive model, the byte codec against its own words.

use netloom_wire::{
    BitReader, BitWriter, ByteReader, ByteSink, MessageBuffer, Name, NameMode, NameRegistry, varint,
};

use crate::input::Input;

/// Feeds operations and bytes to the bit and byte codecs.
pub fn wire_primitives(data: &[u8]) {
    let mut input = Input::new(data);
    match input.choice(4) {
        0 => read_bits(&mut input),
        1 => write_bits(&mut input),
        2 => read_bytes(&mut input),
        _ => read_varints(&mut input),
    }
}

/// Bit by bit, as the documentation describes the order.
fn naive_bits(bytes: &[u8], from: usize, count: usize) -> u64 {
    (0..count).fold(0, |value, offset| {
        let at = from + offset;
        let bit = bytes.get(at / 8).map_or(0, |byte| byte >> (at % 8) & 1);
        value | u64::from(bit) << offset
    })
}

fn read_bits(input: &mut Input<'_>) {
    let bytes = {
        let count = usize::from(input.u8());
        input.bytes(count)
    };
    let bit_len = bytes.len() * 8 - input.choice(bytes.len() * 8 + 1);
    let Some(mut reader) = BitReader::with_bit_len(bytes, bit_len) else {
        panic!("{bit_len} bits are there");
    };
    while !input.is_empty() {
        let (before, left) = (reader.bit_position(), reader.remaining_bits());
        assert_eq!(before + left, bit_len);
        let operation = input.u8();
        let count = u32::from(input.u8() % 65);
        let succeeded = match operation % 7 {
            0 => {
                let read = reader.read_bits(count);
                let expected = naive_bits(bytes, before, count as usize);
                assert_eq!(read.ok(), (count as usize <= left).then_some(expected));
                read.is_ok()
            }
            1 => {
                let count = count.min(56);
                let expected = naive_bits(bytes, before, left.min(count as usize));
                assert_eq!(reader.peek_bits(count), expected);
                false
            }
            2 => reader.skip_bits(count as usize).is_ok(),
            3 => {
                let read = reader.read_signed(count);
                if let Ok(value) = read {
                    let spare = 64 - count.clamp(1, 64);
                    assert_eq!((value << spare) >> spare, value);
                }
                read.is_ok()
            }
            4 => {
                let max = input.u64() >> (operation / 7 % 64);
                let read = reader.read_ranged(max);
                assert!(read.is_err() || read.is_ok_and(|value| value <= max));
                read.is_ok()
            }
            5 => {
                let (one, other) = (i64::from(input.i32()), i64::from(input.i32()));
                let (min, max) = (one.min(other), one.max(other));
                let read = reader.read_ranged_signed(min, max);
                assert!(read.is_err() || read.is_ok_and(|value| (min..=max).contains(&value)));
                read.is_ok()
            }
            _ => {
                let aligned = reader.align().is_ok();
                assert!(!aligned || reader.bit_position().is_multiple_of(8));
                aligned
            }
        };
        assert!(succeeded || reader.bit_position() == before, "a failed read moved the position");
    }
    let rest = naive_bits(bytes, reader.bit_position(), reader.remaining_bits().min(8));
    let is_finished = reader.remaining_bits() < 8 && rest == 0;
    assert_eq!(reader.finish().is_ok(), is_finished);
}

fn write_bits(input: &mut Input<'_>) {
    let mut buffer = vec![0xa5; usize::from(input.u8())];
    let mut written = Vec::new();
    let mut writer = BitWriter::new(&mut buffer);
    while !input.is_empty() {
        let count = u32::from(input.u8() % 65);
        let value = input.u64();
        let fits = count as usize <= writer.remaining_bits();
        writer.write_bits(value, count);
        if !fits {
            assert!(writer.finish().is_err(), "a value that does not fit is an error");
            return;
        }
        written.push((value, count));
    }
    let bits = writer.bit_len();
    assert_eq!(writer.finish(), Ok(bits.div_ceil(8)));
    let mut reader = BitReader::new(&buffer);
    for (value, count) in written {
        let mask = if count == 64 { u64::MAX } else { (1 << count) - 1 };
        assert_eq!(reader.read_bits(count), Ok(value & mask));
    }
    assert_eq!(reader.align(), Ok(()), "the padding is zero");
}

const NAMES: [&str; 3] = ["health", "score", "a name with spaces"];

fn read_bytes(input: &mut Input<'_>) {
    let mut names = NameRegistry::new(NAMES.len());
    for name in NAMES {
        names.register(name).expect("three different names");
    }
    let mode = input.pick([NameMode::Hashed, NameMode::WithText]);
    let operations = {
        let count = usize::from(input.u8());
        input.bytes(count)
    };
    let mut reader = ByteReader::new(input.rest()).with_names(mode);
    for &operation in operations {
        let before = reader.position();
        if !read_and_write_back(&mut reader, operation, mode, &names) {
            assert_eq!(reader.position(), before, "a failed read moved the position");
        }
    }
    let remaining = reader.remaining();
    assert_eq!(reader.finish().is_ok(), remaining == 0);
}

/// Reads one value and writes it again: the bytes must be the ones that were read.
fn read_and_write_back(
    reader: &mut ByteReader<'_>,
    operation: u8,
    mode: NameMode,
    names: &NameRegistry,
) -> bool {
    let start = reader.rest();
    let mut sink = MessageBuffer::new(usize::MAX).with_names(mode);
    let bytes_max = usize::from(operation);
    let read = match operation % 16 {
        0 => reader.read_u8().map(|value| sink.write_u8(value)),
        1 => reader.read_u16().map(|value| sink.write_u16(value)),
        2 => reader.read_u32().map(|value| sink.write_u32(value)),
        3 => reader.read_u64().map(|value| sink.write_u64(value)),
        4 => reader.read_i8().map(|value| sink.write_i8(value)),
        5 => reader.read_i16().map(|value| sink.write_i16(value)),
        6 => reader.read_i32().map(|value| sink.write_i32(value)),
        7 => reader.read_i64().map(|value| sink.write_i64(value)),
        8 => reader.read_finite_f32().map(|value| sink.write_f32(value)),
        9 => reader.read_bool().map(|value| sink.write_bool(value)),
        10 => reader.read_varint().map(|value| sink.write_varint(value)),
        11 => reader.read_varint_up_to(bytes_max as u64).map(|value| sink.write_varint(value)),
        12 => reader.read_blob(bytes_max).map(|value| sink.write_blob(value, bytes_max)),
        13 => reader.read_str(bytes_max).map(|value| sink.write_str(value, bytes_max)),
        14 => reader.read_known_name(names).map(|(name, _)| sink.write_name(name, names)),
        _ => {
            return reader
                .read_name()
                .map(|(name, text)| assert!(text.is_none_or(|text| Name::of(text) == name)))
                .is_ok();
        }
    };
    let consumed = start.len() - reader.remaining();
    // A sender that knows a name's text may still not have sent it.
    let is_silent_name = operation % 16 == 14 && mode == NameMode::WithText;
    if read.is_ok() && !is_silent_name {
        assert_eq!(sink.finish(), Ok(&start[..consumed]));
    }
    read.is_ok()
}

fn read_varints(input: &mut Input<'_>) {
    let mut rest = input.rest();
    while let Some((value, length)) = varint::read(rest) {
        let mut again = [0; varint::MAX_LEN];
        assert_eq!(varint::write(value, &mut again), Some(length));
        assert_eq!(&again[..length], &rest[..length]);
        assert_eq!(varint::len(value), length);
        assert_eq!(varint::zigzag(varint::unzigzag(value)), value);
        rest = &rest[length..];
    }
}
