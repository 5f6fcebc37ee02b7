use super::*;
use crate::bytes::{ByteSink, ByteWriter};
use crate::name::{Name, NameRegistry};
use crate::schema::{Delivery, Field, PropertyReader, Schema, SchemaError, SyncFlags, write_properties};
use proptest::prelude::*;

const COUNT_MAX: u16 = 300;

fn digits() -> ElementKind {
    ElementKind::int(0, 9).unwrap()
}

fn read<'a>(element: ElementKind, count_max: u16, bytes: &'a [u8]) -> Result<Value<'a>, ReadError> {
    FieldKind::Array { element, count_max }.read_content(bytes)
}

fn build(element: ElementKind, count_max: u16, values: &[Value<'_>]) -> Result<Vec<u8>, WriteError> {
    let mut buffer = vec![0; element.content_bytes_max(count_max)];
    let mut writer = ArrayWriter::new(element, count_max, &mut buffer);
    writer.extend(values.iter().copied());
    writer.finish().map(|array| array.content().to_vec())
}

#[test]
fn contents_have_the_documented_bytes() {
    let floats = ElementKind::quantized(-1.0, 1.0, 100).unwrap();
    for (element, values, bytes) in [
        (ElementKind::Bool, &[Value::Bool(true), Value::Bool(false), Value::Bool(true)][..], &[3, 0b101][..]),
        (digits(), &[Value::Word(7), Value::Word(0), Value::Word(9)], &[3, 0x07, 0x09]),
        (floats, &[Value::Word(-100), Value::Word(100)], &[2, 0, 200]),
        (ElementKind::F32, &[Value::F32(10.5)], &[1, 0, 0, 0x28, 0x41]),
        (ElementKind::U64, &[Value::U64(0x0102)], &[1, 2, 1, 0, 0, 0, 0, 0, 0]),
        (ElementKind::Name, &[Value::Name(Name(3))], &[1, 3, 0, 0, 0, 0, 0, 0, 0]),
        (ElementKind::F32, &[], &[0]),
    ] {
        assert_eq!(build(element, COUNT_MAX, values).as_deref(), Ok(bytes));
        let Ok(Value::Array(array)) = read(element, COUNT_MAX, bytes) else { panic!("{bytes:?}") };
        assert!(array.iter().eq(values.iter().copied()));
        assert_eq!(array.iter().len(), values.len());
    }
    assert_eq!(Array::empty(ElementKind::Bool).content(), [0]);
    assert!(Array::empty(ElementKind::Bool).is_empty());
}

#[test]
fn a_count_takes_as_many_bytes_as_it_needs_whatever_the_limit() {
    for (count, count_max, head) in [
        (127, 127, &[0x7f][..]),
        (127, 65_535, &[0x7f]),
        (128, 65_535, &[0x80, 1]),
        (20_000, 65_535, &[0xa0, 0x9c, 1]),
    ] {
        let bytes = build(ElementKind::Bool, count_max, &vec![Value::Bool(true); count]).unwrap();
        assert_eq!(&bytes[..head.len()], head);
        assert_eq!(bytes.len(), head.len() + count.div_ceil(8));
        let Ok(Value::Array(array)) = read(ElementKind::Bool, count_max, &bytes) else { panic!("{count}") };
        assert_eq!(
            (array.len(), array.get(count - 1), array.get(count)),
            (count, Some(Value::Bool(true)), None)
        );
    }
    assert_eq!(ElementKind::Bool.content_bytes_max(65_535), 3 + 8_192);
}

#[test]
fn hostile_contents_are_refused_with_their_reason() {
    for (element, bytes, reason) in [
        (digits(), &[][..], ReadError::UnexpectedEnd),
        (digits(), &[21], ReadError::TooLong),
        (digits(), &[0xff, 0xff, 0xff, 0xff, 0x0f], ReadError::TooLong),
        (digits(), &[0x80, 0], ReadError::InvalidVarint),
        (digits(), &[3, 0x07], ReadError::UnexpectedEnd),
        (digits(), &[1, 0x0a], ReadError::OutOfRange),
        (digits(), &[1, 0x17], ReadError::ReservedBits),
        (digits(), &[1, 0x07, 0], ReadError::TrailingData),
        (ElementKind::Bool, &[3, 0x08], ReadError::ReservedBits),
        (ElementKind::F32, &[1, 0, 0, 0x80, 0x7f], ReadError::NonFinite),
        (ElementKind::U64, &[1, 0, 0, 0, 0, 0, 0, 0], ReadError::UnexpectedEnd),
    ] {
        assert_eq!(read(element, 20, bytes), Err(reason), "{bytes:?}");
    }
}

#[test]
fn elements_too_many_out_of_range_or_of_another_kind_are_not_written() {
    let one = Value::Word(1);
    assert_eq!(build(digits(), 2, &[one; 3]), Err(WriteError::TooLong));
    assert_eq!(build(digits(), 2, &[Value::Word(10)]), Err(WriteError::OutOfRange));
    assert_eq!(build(digits(), 2, &[Value::Bool(true)]), Err(WriteError::FieldMismatch));
    assert_eq!(build(ElementKind::F32, 2, &[Value::F32(f32::NAN)]), Err(WriteError::NonFinite));
    let mut small = [0; 4];
    let mut writer = ArrayWriter::new(ElementKind::U64, 2, &mut small);
    writer.push(Value::U64(1));
    assert_eq!(writer.finish(), Err(WriteError::BufferFull));
}

#[test]
fn an_array_of_another_kind_or_limit_is_not_written_to_a_field() {
    let bytes = build(digits(), 20, &[Value::Word(1); 5]).unwrap();
    let array = read(digits(), 20, &bytes).unwrap();
    let written = |element, count_max| {
        let mut out = [0; 16];
        let mut writer = ByteWriter::new(&mut out);
        FieldKind::Array { element, count_max }.write(array, &NameRegistry::new(0), &mut writer);
        let bytes = writer.finish();
        let mut bits = BitWriter::new(&mut out);
        FieldKind::Array { element, count_max }.write_bits(array, &mut bits);
        (bytes, bits.finish())
    };
    assert_eq!(written(digits(), 5), (Ok(bytes.len()), Ok(3)));
    assert_eq!(written(digits(), 4), (Err(WriteError::TooLong), Err(WriteError::TooLong)));
    let mismatch = (Err(WriteError::FieldMismatch), Err(WriteError::FieldMismatch));
    assert_eq!(written(ElementKind::int(0, 10).unwrap(), 20), mismatch);
}

#[test]
fn a_block_goes_on_after_an_array() {
    let flags = SyncFlags::PUBLIC_SYNC;
    let schema = Schema::builder("player")
        .field("items", FieldKind::Array { element: ElementKind::Name, count_max: 4 }, flags, 2)
        .field("name", FieldKind::Text { bytes_max: 8 }, flags, 1)
        .build()
        .unwrap();
    let content = build(ElementKind::Name, 4, &[Value::Name(Name(1)), Value::Name(Name(2))]).unwrap();
    let items = read(ElementKind::Name, 4, &content).unwrap();
    let mut out = [0; 64];
    let mut writer = ByteWriter::new(&mut out);
    write_properties(&schema, &[(0, items), (1, Value::Text("Ada"))], &NameRegistry::new(0), &mut writer);
    writer.write_u8(77);
    let length = writer.finish().unwrap();
    assert_eq!(length, 1 + 1 + (1 + 16) + 1 + 4 + 1);
    let mut block = PropertyReader::new(&schema, ByteReader::new(&out[..length])).unwrap();
    assert_eq!(block.poll_property(), Ok(Some((0, items))));
    assert_eq!(block.poll_property(), Ok(Some((1, Value::Text("Ada")))));
    assert_eq!(block.poll_property(), Ok(None));
    assert_eq!(block.into_reader().rest(), [77]);
}

#[test]
fn mistakes_about_arrays_and_deliveries_are_named() {
    let build = |kind, delivery| {
        let field = Field::new("items", kind, SyncFlags::PUBLIC_SYNC, 0).delivered(delivery);
        Schema::builder("player").with(field).build().map(|schema| schema.hash())
    };
    let names = |count_max| FieldKind::Array { element: ElementKind::Name, count_max };
    assert!(build(names(124), Delivery::Latest).is_ok());
    let latest = build(names(125), Delivery::Latest).unwrap_err();
    assert_eq!(
        latest.to_string(),
        "field \"items\" takes up to 1001 bytes, delivered as Latest it may take 1 to 1000"
    );
    assert!(build(names(125), Delivery::Reliable).is_ok());
    assert!(build(names(8_191), Delivery::Reliable).is_ok());
    assert!(matches!(
        build(names(8_192), Delivery::Reliable),
        Err(SchemaError::BlobLimit { bytes: 65_538, .. })
    ));
    assert!(build(FieldKind::Text { bytes_max: 65_532 }, Delivery::Reliable).is_ok());
    let zero_width = Err(SchemaError::ZeroWidth { field: "items".into() });
    assert_eq!(build(names(0), Delivery::Latest), zero_width);
    let single = FieldKind::Array { element: ElementKind::int(5, 5).unwrap(), count_max: 3 };
    assert_eq!(build(single, Delivery::Latest), zero_width);
    let fixed = build(FieldKind::Bool, Delivery::Reliable);
    assert_eq!(fixed, Err(SchemaError::ReliableFixedSize { field: "items".into() }));
    let words = |max| FieldKind::Array { element: ElementKind::int(0, max).unwrap(), count_max: 4 };
    let mut hashes = [
        build(words(9), Delivery::Latest),
        build(words(9), Delivery::Reliable),
        build(words(10), Delivery::Latest),
        build(FieldKind::Array { element: digits(), count_max: 5 }, Delivery::Latest),
    ]
    .map(Result::unwrap);
    hashes.sort_unstable();
    assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]), "all of it is part of the agreement");
}

fn elements() -> impl Strategy<Value = (ElementKind, Vec<Value<'static>>)> {
    fn of<T: std::fmt::Debug>(
        one: impl Strategy<Value = T>,
        kind: ElementKind,
        value: fn(T) -> Value<'static>,
    ) -> impl Strategy<Value = (ElementKind, Vec<Value<'static>>)> {
        proptest::collection::vec(one.prop_map(value), 0..=usize::from(COUNT_MAX))
            .prop_map(move |values| (kind, values))
    }
    prop_oneof![
        of(any::<bool>(), ElementKind::Bool, Value::Bool),
        of(-3i32..=900, ElementKind::int(-3, 900).unwrap(), Value::Word),
        of(any::<i32>(), ElementKind::Int(WordRange::ALL), Value::Word),
        of(0i32..=200, ElementKind::quantized(0.0, 100.0, 2).unwrap(), Value::Word),
        of(-1e9f32..1e9, ElementKind::F32, Value::F32),
        of(any::<u64>(), ElementKind::U64, Value::U64),
        of(any::<u64>().prop_map(Name), ElementKind::Name, Value::Name),
    ]
}

proptest! {
    #[test]
    fn arrays_return_in_both_forms_and_by_index((element, values) in elements(), offset in 0u32..8) {
        let kind = FieldKind::Array { element, count_max: COUNT_MAX };
        let content = build(element, COUNT_MAX, &values).unwrap();
        prop_assert!(content.len() <= kind.content_bytes_max().unwrap());
        let value = kind.read_content(&content).unwrap();
        prop_assert_eq!(value.content(), Some(&content[..]));
        let Value::Array(array) = value else { panic!("no array") };
        prop_assert!(array.iter().eq(values.iter().copied()));
        for (index, &expected) in values.iter().enumerate().step_by(7) {
            prop_assert_eq!(array.get(index), Some(expected));
        }
        prop_assert_eq!(array.get(values.len()), None);

        let mut bits = vec![0; 3_000];
        let mut writer = BitWriter::new(&mut bits);
        writer.write_bits(0, offset);
        kind.write_bits(value, &mut writer);
        prop_assert!(writer.bit_len() as u32 - offset <= kind.bit_width().max());
        let length = writer.finish().unwrap();
        let mut reader = BitReader::new(&bits[..length]);
        reader.skip_bits(offset as usize).unwrap();
        let mut scratch = vec![0; kind.content_bytes_max().unwrap()];
        prop_assert_eq!(kind.read_bits(&mut reader, &mut scratch), Ok(value));
        prop_assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn any_bytes_are_one_array_or_refused((element, _) in elements(), bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let mut reader = ByteReader::new(&bytes);
        match Array::read(element, 20, &mut reader) {
            Ok(array) => {
                let values: Vec<_> = array.iter().collect();
                prop_assert_eq!(values.len(), array.len());
                prop_assert_eq!(build(element, 20, &values), Ok(bytes[..reader.position()].to_vec()));
            }
            Err(_) => prop_assert_eq!(reader.position(), 0),
        }
        let mut scratch = [0; 8];
        let _ = FieldKind::Array { element, count_max: 20 }.read_bits(&mut BitReader::new(&bytes), &mut scratch);
    }
}
