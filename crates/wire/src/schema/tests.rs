use super::*;
use crate::bits::{BitReader, BitWriter};
use crate::bytes::{ByteReader, ByteWriter};
use crate::error::{ReadError, WriteError};
use crate::name::{Name, NameRegistry};
use crate::quantize::{Profile, Rotation, WordRange, Words3};
use proptest::prelude::*;

const PUBLIC: SyncFlags = SyncFlags::PUBLIC_SYNC;

fn one(kind: FieldKind) -> Result<Schema, SchemaError> {
    Schema::builder("thing").field("field", kind, PUBLIC, 0).build()
}

fn ship() -> Schema {
    Schema::builder("ship")
        .field("title", FieldKind::Text { bytes_max: 20 }, PUBLIC, 1)
        .field("place", FieldKind::Position(Profile::Standard), PUBLIC, 255)
        .field("fuel", FieldKind::quantized(0.0, 100.0, 2).unwrap(), SyncFlags::OWNER_SYNC, 9)
        .field("secret", FieldKind::U64, SyncFlags::NO_SYNC, 9)
        .build()
        .unwrap()
}

fn block(schema: &Schema, properties: &[(usize, Value<'_>)]) -> Result<Vec<u8>, WriteError> {
    let mut buffer = [0; 256];
    let mut writer = ByteWriter::new(&mut buffer);
    write_properties(schema, properties, &NameRegistry::new(0), &mut writer);
    let length = writer.finish()?;
    Ok(buffer[..length].to_vec())
}

fn properties<'a>(schema: &Schema, bytes: &'a [u8]) -> Result<Vec<(usize, Value<'a>)>, ReadError> {
    let mut reader = PropertyReader::new(schema, ByteReader::new(bytes))?;
    let mut list = Vec::new();
    while let Some(property) = reader.poll_property()? {
        list.push(property);
    }
    reader.into_reader().finish()?;
    Ok(list)
}

#[test]
fn fields_are_ordered_hottest_first_and_by_declaration_within() {
    let schema = ship();
    let names: Vec<&str> = schema.fields().iter().map(Field::name).collect();
    assert_eq!(names, ["place", "fuel", "secret", "title"]);
    assert_eq!((schema.index_of("secret"), schema.index_of("nothing")), (Some(2), None));
    assert_eq!(schema.fields()[0].hotness(), 255);
    assert_eq!((schema.name(), schema.field_count()), ("ship", 4));
}

#[test]
fn each_audience_sees_its_fields_only() {
    let schema = ship();
    assert_eq!(schema.visible_mask(Audience::Owner), 0b1011);
    assert_eq!(schema.visible_mask(Audience::Team), 0b1001);
    assert_eq!(schema.visible_mask(Audience::Public), 0b1001);
}

#[test]
fn only_the_named_may_write() {
    let by_owner = PUBLIC.with(SyncFlags::MODIFIABLE_BY_CLIENT);
    let by_anyone = PUBLIC.with(SyncFlags::MODIFIABLE_BY_ANY_CLIENT);
    let may = |flags: SyncFlags| {
        [Writer::Server, Writer::Owner, Writer::OtherClient].map(|who| flags.may_write(who))
    };
    assert_eq!(may(PUBLIC), [true, false, false]);
    assert_eq!(may(by_owner), [true, true, false]);
    assert_eq!(may(by_anyone), [true, true, true]);
}

#[test]
fn contradictory_flags_are_refused_and_synced_follows() {
    let check = |flags: SyncFlags| flags.validated();
    assert_eq!(check(SyncFlags::SYNCED), Err(FlagsError::NoAudience));
    assert_eq!(check(SyncFlags::NO_SYNC.with(PUBLIC)), Err(FlagsError::SyncedAndNot));
    assert_eq!(check(SyncFlags::NO_SYNC.with(SyncFlags::SYNCED)), Err(FlagsError::SyncedAndNot));
    let unseen = SyncFlags::OWNER_SYNC.with(SyncFlags::MODIFIABLE_BY_ANY_CLIENT);
    assert!(matches!(check(unseen), Err(FlagsError::WritableUnseen(_))));
    let unseen = SyncFlags::NO_SYNC.with(SyncFlags::MODIFIABLE_BY_CLIENT);
    assert!(matches!(check(unseen), Err(FlagsError::WritableUnseen(_))));
    assert_eq!(check(PUBLIC), Ok(PUBLIC.with(SyncFlags::SYNCED)));
    assert_eq!(format!("{:?}", PUBLIC), "{\"PUBLIC_SYNC\"}");
}

#[test]
fn mistakes_in_a_schema_are_named() {
    let named = |name: &str| Schema::builder("thing").field(name, FieldKind::Bool, PUBLIC, 0);
    assert_eq!(
        named("a").field("a", FieldKind::U64, PUBLIC, 3).build(),
        Err(SchemaError::DuplicateField { field: "a".into() })
    );
    assert_eq!(named("").build(), Err(SchemaError::NameLength { name: String::new() }));
    assert!(matches!(named(&"x".repeat(65)).build(), Err(SchemaError::NameLength { .. })));
    assert_eq!(Schema::builder("thing").build(), Err(SchemaError::FieldCount { count: 0 }));
    let many = (0..65).fold(Schema::builder("thing"), |builder, i| {
        builder.field(&i.to_string(), FieldKind::Bool, PUBLIC, 0)
    });
    assert_eq!(many.build(), Err(SchemaError::FieldCount { count: 65 }));
    assert_eq!(one(FieldKind::int(5, 5).unwrap()), Err(SchemaError::ZeroWidth { field: "field".into() }));
    assert_eq!(one(FieldKind::Text { bytes_max: 0 }), Err(SchemaError::ZeroWidth { field: "field".into() }));
    assert!(matches!(
        one(FieldKind::Bytes { bytes_max: 1001 }),
        Err(SchemaError::BlobLimit { bytes: 1001, limit: 1000, .. })
    ));
    assert!(FieldKind::int(6, 5).is_err());
    let contradictory = Schema::builder("thing").field("a", FieldKind::Bool, SyncFlags::SYNCED, 0).build();
    assert!(matches!(contradictory, Err(SchemaError::Flags { .. })));
}

#[test]
fn the_hash_changes_with_anything_that_matters_and_with_nothing_else() {
    let base = one(FieldKind::int(0, 10).unwrap()).unwrap();
    assert_eq!(base.hash(), fnv1a_64(&base.canonical_bytes()));
    let expected = b"\x01\x05thing\x01\x05field\x01\x00\x00\x00\x00\x0a\x00\x00\x00\x05";
    assert_eq!(base.canonical_bytes(), expected);
    let others = [
        one(FieldKind::int(0, 11).unwrap()),
        one(FieldKind::quantized(0.0, 10.0, 1).unwrap()),
        one(FieldKind::Position(Profile::Standard)),
        one(FieldKind::Position(Profile::High)),
        one(FieldKind::Scale(Profile::Standard)),
        one(FieldKind::Text { bytes_max: 9 }),
        one(FieldKind::Bytes { bytes_max: 9 }),
        Schema::builder("thing").field("field", base.fields()[0].kind(), SyncFlags::OWNER_SYNC, 0).build(),
        Schema::builder("other").field("field", base.fields()[0].kind(), PUBLIC, 0).build(),
    ];
    let mut hashes: Vec<u64> = others.iter().map(|other| other.as_ref().unwrap().hash()).collect();
    hashes.push(base.hash());
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 10);
    let hotter =
        Schema::builder("thing").field("field", base.fields()[0].kind(), PUBLIC, 99).build().unwrap();
    assert_eq!(hotter.hash(), base.hash(), "hotness counts by the order that it makes");
}

#[test]
fn widths_are_what_the_ranges_need() {
    let fixed = |kind: FieldKind, bits: u32| assert_eq!(kind.bit_width(), BitWidth::Fixed(bits), "{kind:?}");
    fixed(FieldKind::Bool, 1);
    fixed(FieldKind::quantized(0.0, 100.0, 1).unwrap(), 7);
    fixed(FieldKind::Rotation(Profile::Standard), 32);
    fixed(FieldKind::Rotation(Profile::High), 47);
    fixed(FieldKind::Rotation(Profile::None), 128);
    fixed(FieldKind::Velocity(Profile::World), 48);
    fixed(FieldKind::Position(Profile::None), 96);
    assert_eq!(FieldKind::Position(Profile::Standard).bit_width(), BitWidth::UpTo(97));
    assert_eq!(FieldKind::Text { bytes_max: 20 }.bit_width(), BitWidth::UpTo(5 + 160));
}

#[test]
fn a_block_has_the_documented_bytes() {
    let schema = ship();
    let values =
        [(0, Value::Triple(Words3::quantized([1, -1, 0]))), (1, Value::Word(200)), (3, Value::Text("ab"))];
    let bytes = block(&schema, &values).unwrap();
    assert_eq!(bytes, [3, 0, 0, 1, 0, 0xff, 0xff, 0, 0, 1, 0xc8, 0x01, 3, 2, b'a', b'b']);
    assert_eq!(properties(&schema, &bytes), Ok(values.to_vec()));
}

/// A creature of an online world, with more fields if asked for.
fn creature(more: &[&str]) -> Schema {
    let base = Schema::builder("creature")
        .field("position", FieldKind::Position(Profile::Standard), PUBLIC, 9)
        .field("rotation", FieldKind::Rotation(Profile::Standard), PUBLIC, 8)
        .field("health", FieldKind::quantized(0.0, 100.0, 1).unwrap(), PUBLIC, 7)
        .field("animation", FieldKind::int(0, i32::MAX).unwrap(), PUBLIC, 6);
    let add = |builder: SchemaBuilder, name: &&str| builder.field(name, FieldKind::U64, PUBLIC, 0);
    more.iter().fold(base, add).build().unwrap()
}

#[test]
fn position_rotation_health_and_animation_return_and_more_can_be_added() {
    let values = [
        (0, Value::Triple(Words3::quantized([100, -200, 300]))),
        (1, Value::Rotation(Rotation::IDENTITY)),
        (2, Value::Word(73)),
        (3, Value::Word(i32::MAX)),
    ];
    let plain = creature(&[]);
    let bytes = block(&plain, &values).unwrap();
    assert_eq!(properties(&plain, &bytes), Ok(values.to_vec()));

    let grown = creature(&["experience"]);
    assert_ne!(grown.hash(), plain.hash(), "both sides must have grown");
    let more = [&values[..], &[(4, Value::U64(u64::MAX))]].concat();
    let bytes = block(&grown, &more).unwrap();
    assert_eq!(properties(&grown, &bytes), Ok(more));
}

#[test]
fn fields_out_of_order_unknown_or_of_another_kind_are_not_written() {
    let schema = ship();
    let fuel = (1, Value::Word(1));
    assert_eq!(block(&schema, &[fuel, fuel]), Err(WriteError::FieldOrder));
    assert_eq!(block(&schema, &[(4, Value::Bool(true))]), Err(WriteError::FieldMismatch));
    assert_eq!(block(&schema, &[(0, Value::Bool(true))]), Err(WriteError::FieldMismatch));
    assert_eq!(block(&schema, &[(0, Value::Word(1))]), Err(WriteError::FieldMismatch));
    assert_eq!(block(&schema, &[(1, Value::Word(201))]), Err(WriteError::OutOfRange));
    assert_eq!(block(&schema, &[(3, Value::Text("twenty-one characters"))]), Err(WriteError::TooLong));
}

#[test]
fn hostile_blocks_are_refused_with_their_reason() {
    let schema = ship();
    for (bytes, reason) in [
        (&[5][..], ReadError::TooLong),
        (&[1, 4, 0], ReadError::InvalidField),
        (&[2, 1, 0, 1, 0], ReadError::InvalidField),
        (&[2, 1, 0, 0, 0], ReadError::InvalidField),
        (&[1, 1, 0xc9, 0x01], ReadError::OutOfRange),
        (&[1, 0, 2], ReadError::InvalidBool),
        (&[1, 3, 21], ReadError::TooLong),
        (&[1, 3, 1, 0xff], ReadError::InvalidUtf8),
        (&[1], ReadError::UnexpectedEnd),
        (&[0, 0], ReadError::TrailingData),
    ] {
        assert_eq!(properties(&schema, bytes), Err(reason), "{bytes:?}");
    }
}

/// A kind, and a value of it.
fn kind_and_value() -> impl Strategy<Value = (FieldKind, Value<'static>)> {
    let small = proptest::array::uniform3(-32_767i32..=32_767);
    let steps = proptest::array::uniform3(-295i16..=295);
    prop_oneof![
        any::<bool>().prop_map(|value| (FieldKind::Bool, Value::Bool(value))),
        (any::<i32>(), any::<i32>(), any::<i32>()).prop_map(|(a, b, word)| {
            let range = WordRange::new(a.min(b), a.max(b)).unwrap();
            (FieldKind::Int(range), Value::Word(range.clamp(i64::from(word))))
        }),
        (0i32..=200).prop_map(|word| (FieldKind::quantized(0.0, 100.0, 2).unwrap(), Value::Word(word))),
        (-1e9f32..1e9).prop_map(|value| (FieldKind::F32, Value::F32(value))),
        any::<u64>().prop_map(|value| (FieldKind::U64, Value::U64(value))),
        any::<u64>().prop_map(|value| (FieldKind::Name, Value::Name(Name(value)))),
        small
            .clone()
            .prop_map(|w| (FieldKind::Position(Profile::Standard), Value::Triple(Words3::quantized(w)))),
        small.prop_map(|w| (FieldKind::Velocity(Profile::High), Value::Triple(Words3::quantized(w)))),
        proptest::array::uniform3(-1e9f32..1e9)
            .prop_map(|v| (FieldKind::Position(Profile::High), Value::Triple(Words3::raw(v)))),
        proptest::array::uniform3(-1e9f32..1e9)
            .prop_map(|v| (FieldKind::Velocity(Profile::None), Value::Triple(Words3::raw(v)))),
        proptest::array::uniform3(1i32..=255)
            .prop_map(|w| (FieldKind::Scale(Profile::World), Value::Triple(Words3::quantized(w)))),
        (0u8..4, steps).prop_map(|(largest, steps)| {
            (
                FieldKind::Rotation(Profile::Standard),
                Value::Rotation(Rotation::SmallestThree { largest, steps }),
            )
        }),
        Just((FieldKind::Rotation(Profile::None), Value::Rotation(Rotation::Raw([0.0, 0.6, 0.0, 0.8])))),
        Just((FieldKind::Text { bytes_max: 9 }, Value::Text("grüße"))),
        Just((FieldKind::Bytes { bytes_max: 300 }, Value::Bytes(&[0, 255, 7]))),
        Just(FieldKind::Array { element: ElementKind::int(0, 9).unwrap(), count_max: 20 })
            .prop_map(|kind| (kind, kind.read_content(&[3, 0x07, 0x09]).unwrap())),
    ]
}

proptest! {
    #[test]
    fn every_value_returns_in_both_forms((kind, value) in kind_and_value(), offset in 0u32..8) {
        let mut buffer = [0; 64];
        let mut writer = ByteWriter::new(&mut buffer);
        kind.write(value, &NameRegistry::new(0), &mut writer);
        let length = writer.finish().unwrap();
        let mut reader = ByteReader::new(&buffer[..length]);
        prop_assert_eq!(kind.read(&mut reader), Ok(value));
        prop_assert_eq!(reader.finish(), Ok(()));

        let mut buffer = [0; 64];
        let mut writer = BitWriter::new(&mut buffer);
        writer.write_bits(0, offset);
        kind.write_bits(value, &mut writer);
        let bits = writer.bit_len() as u32 - offset;
        match kind.bit_width() {
            BitWidth::Fixed(width) => prop_assert_eq!(bits, width),
            BitWidth::UpTo(width) => prop_assert!(bits <= width),
        }
        let length = writer.finish().unwrap();
        let mut reader = BitReader::new(&buffer[..length]);
        reader.skip_bits(offset as usize).unwrap();
        let mut scratch = [0; 16];
        prop_assert_eq!(kind.read_bits(&mut reader, &mut scratch), Ok(value));
        prop_assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn any_bytes_read_or_are_refused_without_panic((kind, _) in kind_and_value(), bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let schema = ship();
        let _ = properties(&schema, &bytes);
        let mut reader = ByteReader::new(&bytes);
        if let Ok(value) = kind.read(&mut reader) {
            let mut out = [0; 64];
            let mut writer = ByteWriter::new(&mut out);
            kind.write(value, &NameRegistry::new(0), &mut writer);
            prop_assert_eq!(writer.finish(), Ok(reader.position()));
            prop_assert_eq!(&out[..reader.position()], &bytes[..reader.position()]);
        }
        let _ = kind.read_bits(&mut BitReader::new(&bytes), &mut [0; 4]);
    }
}
