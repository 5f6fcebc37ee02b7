use super::*;
use crate::name::NameRegistry;
use proptest::prelude::*;

fn written(write: impl Fn(&mut ByteWriter<'_>)) -> Vec<u8> {
    let mut buffer = [0; 256];
    let mut writer = ByteWriter::new(&mut buffer);
    write(&mut writer);
    let length = writer.finish().unwrap();
    buffer[..length].to_vec()
}

#[test]
fn values_have_the_documented_little_endian_bytes() {
    assert_eq!(written(|w| w.write_u16(300)), [0x2c, 0x01]);
    assert_eq!(written(|w| w.write_u32(1000)), [0xe8, 0x03, 0x00, 0x00]);
    assert_eq!(written(|w| w.write_f32(10.5)), [0x00, 0x00, 0x28, 0x41]);
    assert_eq!(written(|w| w.write_f32(100.5)), 0x42c9_0000u32.to_le_bytes());
    assert_eq!(written(|w| w.write_i16(-2)), [0xfe, 0xff]);
    assert_eq!(written(|w| w.write_bool(true)), [1]);
    assert_eq!(written(|w| w.write_str("hi", 2)), [2, 0x68, 0x69]);
    assert_eq!(written(|w| w.write_varint(300)), [0xac, 0x02]);
}

#[test]
fn a_full_writer_fails_and_keeps_what_fitted() {
    let mut buffer = [0; 3];
    let mut writer = ByteWriter::new(&mut buffer);
    writer.write_u16(0x0201);
    writer.write_u16(0x0403);
    writer.write_u8(9);
    assert_eq!(writer.remaining(), 0);
    assert_eq!(writer.finish(), Err(WriteError::BufferFull));
    assert_eq!(buffer, [1, 2, 0]);
}

#[test]
fn strings_longer_than_their_limit_are_refused_on_both_sides() {
    let mut buffer = [0; 16];
    let mut writer = ByteWriter::new(&mut buffer);
    writer.write_str("four", 3);
    assert_eq!(writer.finish(), Err(WriteError::TooLong));
    assert_eq!(ByteReader::new(&[4, b'f', b'o', b'u', b'r']).read_str(3), Err(ReadError::TooLong));
    assert_eq!(ByteReader::new(&[4, b'f', b'o', b'u']).read_str(4), Err(ReadError::UnexpectedEnd));
    assert_eq!(ByteReader::new(&[1, 0xff]).read_str(4), Err(ReadError::InvalidUtf8));
}

#[test]
fn a_length_of_four_billion_is_refused_without_reading_on() {
    assert_eq!(ByteReader::new(&[0xff, 0xff, 0xff, 0xff, 0x0f]).read_blob(1000), Err(ReadError::TooLong));
}

#[test]
fn malformed_scalars_have_their_own_reason_and_do_not_move_the_reader() {
    let mut reader = ByteReader::new(&[2, 0x80, 0x00]);
    assert_eq!(reader.read_bool(), Err(ReadError::InvalidBool));
    assert_eq!(reader.read_u32(), Err(ReadError::UnexpectedEnd));
    assert_eq!(reader.read_u8(), Ok(2));
    assert_eq!(reader.read_varint(), Err(ReadError::InvalidVarint));
    assert_eq!(reader.position(), 1);
    assert_eq!(ByteReader::new(&[0x80]).read_varint(), Err(ReadError::UnexpectedEnd));
    assert_eq!(ByteReader::new(&f32::NAN.to_le_bytes()).read_finite_f32(), Err(ReadError::NonFinite));
    assert_eq!(ByteReader::new(&f32::INFINITY.to_le_bytes()).read_f32(), Ok(f32::INFINITY));
    assert_eq!(ByteReader::new(&[0]).finish(), Err(ReadError::TrailingData));
}

#[test]
fn names_travel_as_their_hash_and_resolve_on_arrival() {
    let mut names = NameRegistry::new(8);
    let sword = names.register("sword").unwrap();
    let bytes = written(|w| w.write_name(sword, &names));
    assert_eq!(bytes, sword.0.to_le_bytes());
    assert_eq!(ByteReader::new(&bytes).read_known_name(&names), Ok((sword, "sword")));
    let stranger = NameRegistry::new(8);
    assert_eq!(ByteReader::new(&bytes).read_known_name(&stranger), Err(ReadError::UnknownName(sword)));
}

#[test]
fn debug_names_carry_their_text_and_a_lie_is_refused() {
    let mut names = NameRegistry::new(8);
    let sword = names.register("sword").unwrap();
    let mut buffer = [0; 64];
    let mut writer = ByteWriter::new(&mut buffer).with_names(NameMode::WithText);
    writer.write_name(sword, &names);
    writer.write_name(Name(7), &names);
    let length = writer.finish().unwrap();
    assert_eq!(&buffer[8..14], b"\x05sword");
    let mut reader = ByteReader::new(&buffer[..length]).with_names(NameMode::WithText);
    assert_eq!(reader.read_name(), Ok((sword, Some("sword"))));
    assert_eq!(reader.read_name(), Ok((Name(7), None)));
    buffer[9] = b'S';
    let mut reader = ByteReader::new(&buffer[..length]).with_names(NameMode::WithText);
    assert_eq!(reader.read_name(), Err(ReadError::NameMismatch(sword)));
}

#[test]
fn a_message_buffer_grows_to_its_limit_and_shrinks_when_cleared() {
    let mut buffer = MessageBuffer::new(100_000);
    buffer.write_bytes(&[7; 100_000]);
    assert_eq!(buffer.finish().map(<[u8]>::len), Ok(100_000));
    buffer.write_u8(1);
    assert_eq!(buffer.finish(), Err(WriteError::BufferFull));
    buffer.clear();
    assert!(buffer.is_empty() && buffer.capacity() <= buffer::KEPT_CAPACITY_BYTES);
    buffer.write_u32(5);
    buffer.patch(0, &[6]);
    assert_eq!(buffer.finish(), Ok(&[6, 0, 0, 0][..]));
    buffer.consume(3);
    assert_eq!(buffer.len(), 1);
    buffer.patch(0, &[1, 2]);
    assert_eq!(buffer.finish(), Err(WriteError::OutOfRange));
}

proptest! {
    #[test]
    fn every_typed_value_returns(a: u8, b: u16, c: u32, d: u64, e: i8, f: i16, g: i32, h: i64, i: f32, j: f64, k: bool, text in ".{0,12}") {
        let bytes = written(|w| {
            w.write_u8(a); w.write_u16(b); w.write_u32(c); w.write_u64(d);
            w.write_i8(e); w.write_i16(f); w.write_i32(g); w.write_i64(h);
            w.write_f32(i); w.write_f64(j); w.write_bool(k); w.write_varint(d); w.write_str(&text, 100);
        });
        let mut r = ByteReader::new(&bytes);
        prop_assert_eq!((r.read_u8(), r.read_u16(), r.read_u32(), r.read_u64()), (Ok(a), Ok(b), Ok(c), Ok(d)));
        prop_assert_eq!((r.read_i8(), r.read_i16(), r.read_i32(), r.read_i64()), (Ok(e), Ok(f), Ok(g), Ok(h)));
        prop_assert_eq!(r.read_f32().unwrap().to_bits(), i.to_bits());
        prop_assert_eq!(r.read_f64().unwrap().to_bits(), j.to_bits());
        prop_assert_eq!((r.read_bool(), r.read_varint(), r.read_str(100)), (Ok(k), Ok(d), Ok(&*text)));
        prop_assert_eq!(r.finish(), Ok(()));
    }

    #[test]
    fn any_bytes_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40), max in 0usize..64) {
        for mode in [NameMode::Hashed, NameMode::WithText] {
            let reader = ByteReader::new(&bytes).with_names(mode);
            let _ = (reader.clone().read_name(), reader.clone().read_str(max), reader.clone().read_varint());
            if let Ok(blob) = reader.clone().read_blob(max) {
                prop_assert!(blob.len() <= max);
            }
        }
    }
}
