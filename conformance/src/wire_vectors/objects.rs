//! Records, schemas and property blocks.

use super::{case, file, hex, refused, singles, written};
use netloom_wire::quantize::{OriginVersion, Rotation, Words3};
use netloom_wire::schema::{
    Delivery, ElementKind, Field, FieldKind, PropertyReader, SyncFlags, Value as Property, write_properties,
};
use netloom_wire::{
    Alias, BitReader, BitWriter, ByteReader, ByteWriter, Name, NameRegistry, Profile, QuantizeCounters,
    ReadError, Record, Schema, SectorOrigin, Sequence8,
};
use serde_json::{Value, json};

pub fn vectors() -> Vec<crate::VectorFile> {
    vec![
        ("wire_record", records()),
        ("wire_schema", schemas()),
        ("wire_property_block", property_blocks()),
        ("wire_bit_value", bit_values()),
    ]
}

fn triple(words: Words3, values: [f32; 3]) -> Value {
    match words.raw {
        true => json!({ "raw": true, "values": singles(&values) }),
        false => json!({ "raw": false, "words": words.words, "values": singles(&values) }),
    }
}

fn rotation(rotation: Rotation, quaternion: [f32; 4]) -> Value {
    match rotation {
        Rotation::Raw(_) => json!({ "raw": true, "quaternion": singles(&quaternion) }),
        Rotation::SmallestThree { largest, steps } => {
            json!({ "raw": false, "largest": largest, "steps": steps, "quaternion": singles(&quaternion) })
        }
    }
}

fn described(record: &Record<'_>) -> Value {
    let profile = record.profile;
    json!({
        "slot": record.alias.slot,
        "generation": record.alias.generation,
        "profile": profile as u8,
        "origin_version": record.origin_version.get(),
        "sequence": record.sequence.0,
        "teleport": record.teleport,
        "position": record.position.map(|words| triple(words, profile.dequantize_position(words))),
        "rotation": record.rotation.map(|turned| rotation(turned, profile.dequantize_rotation(turned))),
        "scale": record.scale.map(|words| triple(words, profile.dequantize_scale(words))),
        "properties": record.properties.map(hex),
        "velocity": record.velocity.map(|words| triple(words, profile.dequantize_velocity(words))),
    })
}

fn placed(profile: Profile, position: [f64; 3], quaternion: [f32; 4]) -> Record<'static> {
    let counters = &mut QuantizeCounters::default();
    Record {
        alias: Alias { slot: 513, generation: 3 },
        profile,
        sequence: Sequence8(7),
        position: Some(profile.quantize_position(position, &SectorOrigin::default(), counters)),
        rotation: Some(profile.quantize_rotation(quaternion, counters)),
        ..Record::default()
    }
}

fn records() -> Value {
    let counters = &mut QuantizeCounters::default();
    let turned = [0.1, -0.2, 0.3, 0.927_361_9];
    let standard = placed(Profile::Standard, [1.0, -2.0, 0.01], [0.0, 0.0, 0.0, 1.0]);
    let good = [
        ("position and rotation, STANDARD", standard),
        ("position and rotation, HIGH", placed(Profile::High, [1.0, -2.0, 0.000_1], turned)),
        ("position and rotation, WORLD", placed(Profile::World, [1000.0, -2.0, 0.0], turned)),
        ("position and rotation, NONE", placed(Profile::None, [1.5, -2.25, 1e6], turned)),
        ("beyond the range, raw position", placed(Profile::Standard, [400.5, 0.0, -1.0], turned)),
        (
            "nothing but the header",
            Record { alias: Alias { slot: 65_535, generation: 255 }, ..Record::default() },
        ),
        (
            "everything, with teleport and origin version",
            Record {
                teleport: true,
                origin_version: OriginVersion::new(63),
                scale: Some(Profile::Standard.quantize_scale([1.0, 0.5, 2.0], counters)),
                properties: Some(&[1, 0, 1]),
                velocity: Some(Profile::Standard.quantize_velocity([3.0, -0.01, 327.67], counters)),
                ..standard
            },
        ),
        (
            "everything, NONE",
            Record {
                scale: Some(Profile::None.quantize_scale([1.0, 0.5, -2.0], counters)),
                velocity: Some(Profile::None.quantize_velocity([3.0, -0.01, 1e9], counters)),
                ..placed(Profile::None, [0.0; 3], turned)
            },
        ),
        (
            "raw scale",
            Record {
                scale: Some(Profile::High.quantize_scale([-1.0, 0.0, 9.0], counters)),
                profile: Profile::High,
                ..Record::default()
            },
        ),
    ];
    let mut cases: Vec<Value> = good
        .iter()
        .map(|(name, record)| {
            let bytes = written(|out| record.encode(out));
            assert_eq!(Record::decode(&bytes), Ok((*record, bytes.len())));
            case(name, Value::Null, &bytes, described(record))
        })
        .collect();
    let bytes = written(|out| standard.encode(out));
    let mut refuse = |name: &str, at: usize, patch: &[u8]| {
        let mut bad = bytes.clone();
        bad[at..at + patch.len()].copy_from_slice(patch);
        cases.push(refused(name, Value::Null, &bad, Record::decode(&bad)));
    };
    refuse("teleport without a position", 3, &[0b10_0010]);
    refuse("raw scale without a scale", 3, &[0b100_0011]);
    refuse("raw position without a position", 3, &[0b1000_0010]);
    refuse("raw flag in NONE", 3, &[0b1000_0011, 3]);
    refuse("origin version in WORLD", 4, &[0b110]);
    refuse("-32768", 6, &[0x00, 0x80]);
    refuse("rotation code 1023", 12, &[0xff; 4]);
    refuse("rotation longer than one", 12, &[0; 4]);
    let mut scaled = written(|out| {
        let scale = Some(Profile::Standard.quantize_scale([1.0, 0.5, 2.0], counters));
        Record { scale, ..Record::default() }.encode(out)
    });
    scaled[7] = 0;
    cases.push(refused("scale word 0", Value::Null, &scaled, Record::decode(&scaled)));
    for (name, component) in
        [("raw rotation of length two", 1.0f32), ("raw rotation that is not a number", f32::NAN)]
    {
        let mut raw = written(|out| placed(Profile::None, [0.0; 3], turned).encode(out));
        raw[18..34].copy_from_slice(&component.to_le_bytes().repeat(4));
        cases.push(refused(name, Value::Null, &raw, Record::decode(&raw)));
    }
    cases.push(refused("cut off", Value::Null, &bytes[..15], Record::decode(&bytes[..15])));
    cases.push(refused("shorter than a header", Value::Null, &bytes[..5], Record::decode(&bytes[..5])));
    file("Full records. Fields that are not sent are null; properties is the block in hex.", cases)
}

fn ship() -> Schema {
    Schema::builder("ship")
        .field("title", FieldKind::Text { bytes_max: 20 }, SyncFlags::PUBLIC_SYNC, 1)
        .field("place", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255)
        .field("heading", FieldKind::Rotation(Profile::High), SyncFlags::PUBLIC_SYNC, 250)
        .field("size", FieldKind::Scale(Profile::Standard), SyncFlags::PUBLIC_SYNC, 5)
        .field("drift", FieldKind::Velocity(Profile::None), SyncFlags::PUBLIC_SYNC, 240)
        .field("fuel", FieldKind::quantized(0.0, 100.0, 2).expect("valid"), SyncFlags::OWNER_SYNC, 9)
        .field("lives", FieldKind::int(-1, 9).expect("valid"), SyncFlags::PUBLIC_SYNC, 8)
        .field("heat", FieldKind::F32, SyncFlags::NO_SYNC, 7)
        .field("serial", FieldKind::U64, SyncFlags::PUBLIC_SYNC, 2)
        .field("armed", FieldKind::Bool, SyncFlags::PUBLIC_SYNC.with(SyncFlags::MODIFIABLE_BY_CLIENT), 100)
        .field("weapon", FieldKind::Name, SyncFlags::PUBLIC_SYNC.with(SyncFlags::MODIFIABLE_BY_ANY_CLIENT), 6)
        .field("badge", FieldKind::Bytes { bytes_max: 300 }, SyncFlags::PUBLIC_SYNC, 0)
        .build()
        .expect("a valid schema")
}

/// Arrays of every kind of element.
fn cargo() -> Schema {
    let array = |element, count_max| FieldKind::Array { element, count_max };
    let hold = ElementKind::quantized(0.0, 12.5, 2).expect("valid");
    let log = Field::new("log", FieldKind::Text { bytes_max: 40_000 }, SyncFlags::OWNER_SYNC, 1);
    Schema::builder("cargo")
        .field("locks", array(ElementKind::Bool, 40), SyncFlags::PUBLIC_SYNC, 9)
        .field("digits", array(ElementKind::int(-4, 5).expect("valid"), 6), SyncFlags::PUBLIC_SYNC, 8)
        .field("holds", array(hold, 200), SyncFlags::PUBLIC_SYNC, 7)
        .field("heats", array(ElementKind::F32, 3), SyncFlags::PUBLIC_SYNC, 6)
        .field("serials", array(ElementKind::U64, 3), SyncFlags::PUBLIC_SYNC, 5)
        .field("goods", array(ElementKind::Name, 3), SyncFlags::PUBLIC_SYNC, 4)
        .with(log.delivered(Delivery::Reliable))
        .build()
        .expect("a valid schema")
}

/// One content for each array of the cargo, in the order of the indexes.
const CARGO_CONTENTS: [&[u8]; 6] = [
    &[10, 0xa5, 0x03],
    &[3, 0x90, 0x04],
    &[2, 0x19, 0x03],
    &[2, 0x00, 0x00, 0x28, 0x41, 0x00, 0x00, 0x00, 0x80],
    &[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    &[0],
];

fn cargo_values(schema: &Schema) -> Vec<(usize, Property<'static>)> {
    let value = |(index, content): (usize, &'static &'static [u8])| {
        let kind = schema.field(index).expect("a field of the cargo").kind();
        (index, kind.read_content(content).expect("an array of the cargo"))
    };
    CARGO_CONTENTS.iter().enumerate().map(value).collect()
}

fn kind(kind: FieldKind) -> Value {
    match kind {
        FieldKind::Bool => json!({ "kind": "bool" }),
        FieldKind::Int(range) => json!({ "kind": "int", "min": range.min(), "max": range.max() }),
        FieldKind::Quantized(range) => json!({
            "kind": "quantized", "min_word": range.words().min(), "max_word": range.words().max(), "per_unit": range.per_unit(),
        }),
        FieldKind::F32 => json!({ "kind": "f32" }),
        FieldKind::U64 => json!({ "kind": "u64" }),
        FieldKind::Position(profile) => json!({ "kind": "position", "profile": profile as u8 }),
        FieldKind::Rotation(profile) => json!({ "kind": "rotation", "profile": profile as u8 }),
        FieldKind::Scale(profile) => json!({ "kind": "scale", "profile": profile as u8 }),
        FieldKind::Velocity(profile) => json!({ "kind": "velocity", "profile": profile as u8 }),
        FieldKind::Name => json!({ "kind": "name" }),
        FieldKind::Text { bytes_max } => json!({ "kind": "text", "bytes_max": bytes_max }),
        FieldKind::Bytes { bytes_max } => json!({ "kind": "bytes", "bytes_max": bytes_max }),
        FieldKind::Array { element, count_max } => {
            json!({ "kind": "array", "element": self::kind(element.field_kind()), "count_max": count_max })
        }
    }
}

/// The fields of a schema, in the order of their indexes.
pub(crate) fn fields(schema: &Schema) -> Value {
    let field = |field: &netloom_wire::schema::Field| {
        let mut described = kind(field.kind());
        described["name"] = json!(field.name());
        described["flags"] = json!(field.flags().bits());
        if field.delivery() == Delivery::Reliable {
            described["delivery"] = json!("reliable");
        }
        described
    };
    schema.fields().iter().map(field).collect()
}

fn schemas() -> Value {
    let single = Schema::builder("thing").field("field", FieldKind::Bool, SyncFlags::PUBLIC_SYNC, 0).build();
    let cases = [ship(), single.expect("a valid schema"), cargo()].map(|schema| {
        let value =
            json!({ "name": schema.name(), "fields": fields(&schema), "hash": schema.hash().to_string() });
        case(schema.name(), Value::Null, &schema.canonical_bytes(), value)
    });
    file("Canonical forms of schemas, and the FNV-1a 64 hash of each.", cases.to_vec())
}

fn described_property(schema: &Schema, index: usize, value: Property<'_>) -> Value {
    let kind = schema.field(index).expect("an index of the schema").kind();
    json!({ "index": index, "value": described_value(kind, value) })
}

fn described_value(kind: FieldKind, value: Property<'_>) -> Value {
    match (kind, value) {
        (_, Property::Bool(value)) => json!(value),
        (_, Property::Word(word)) => json!(word),
        (_, Property::F32(value)) => super::single(value),
        (_, Property::U64(value)) | (_, Property::Name(Name(value))) => json!(value.to_string()),
        (FieldKind::Position(profile), Property::Triple(words)) => {
            triple(words, profile.dequantize_position(words))
        }
        (FieldKind::Scale(profile), Property::Triple(words)) => {
            triple(words, profile.dequantize_scale(words))
        }
        (FieldKind::Velocity(profile), Property::Triple(words)) => {
            triple(words, profile.dequantize_velocity(words))
        }
        (FieldKind::Rotation(profile), Property::Rotation(turned)) => {
            rotation(turned, profile.dequantize_rotation(turned))
        }
        (_, Property::Text(text)) => json!(text),
        (_, Property::Bytes(bytes)) => json!(hex(bytes)),
        (_, Property::Array(array)) => {
            let element = array.element().field_kind();
            array.iter().map(|value| described_value(element, value)).collect()
        }
        other => unreachable!("{other:?} does not match its field"),
    }
}

/// One value for each field of the ship, in the order of the indexes.
fn ship_values(schema: &Schema) -> Vec<(usize, Property<'static>)> {
    let index = |name: &str| schema.index_of(name).expect("a field of the ship");
    let counters = &mut QuantizeCounters::default();
    let mut all = vec![
        (index("title"), Property::Text("Grüße")),
        (index("place"), Property::Triple(Words3::quantized([1, -1, 32_767]))),
        (
            index("heading"),
            Property::Rotation(Profile::High.quantize_rotation([0.0, 0.6, 0.0, 0.8], counters)),
        ),
        (index("size"), Property::Triple(Words3::raw([-1.0, 1.0, 1.0]))),
        (index("drift"), Property::Triple(Words3::raw([0.5, 0.0, -9.75]))),
        (index("fuel"), Property::Word(200)),
        (index("lives"), Property::Word(-1)),
        (index("heat"), Property::F32(36.6)),
        (index("serial"), Property::U64(u64::MAX)),
        (index("armed"), Property::Bool(true)),
        (index("weapon"), Property::Name(Name::of("sword"))),
        (index("badge"), Property::Bytes(&[0, 1, 255])),
    ];
    all.sort_by_key(|(index, _)| *index);
    all
}

fn bit_values() -> Value {
    let (ship, cargo) = (ship(), cargo());
    let mut scratch = [0; 256];
    let mut cases: Vec<Value> = Vec::new();
    let ship_values = ship_values(&ship).into_iter().map(|property| (&ship, property));
    let cargo_values = cargo_values(&cargo).into_iter().map(|property| (&cargo, property));
    for (schema, (index, value)) in ship_values.chain(cargo_values) {
        let field = schema.field(index).expect("a field of its schema");
        let bytes = written(|out| {
            let mut writer = BitWriter::new(out);
            writer.write_bits(0b101, 3);
            field.kind().write_bits(value, &mut writer);
            writer.finish()
        });
        let mut reader = BitReader::new(&bytes);
        assert_eq!(reader.read_bits(3), Ok(0b101));
        assert_eq!(field.kind().read_bits(&mut reader, &mut scratch), Ok(value));
        let described = described_property(schema, index, value);
        cases.push(case(field.name(), kind(field.kind()), &bytes, json!({ "value": described["value"] })));
    }
    let about = "Values in their bit form, after three bits 101 (value 5). given: the field's kind.";
    file(about, cases)
}

fn read_block<'a>(schema: &Schema, bytes: &'a [u8]) -> Result<Vec<(usize, Property<'a>)>, ReadError> {
    let mut reader = PropertyReader::new(schema, ByteReader::new(bytes))?;
    let mut properties = Vec::new();
    while let Some(property) = reader.poll_property()? {
        properties.push(property);
    }
    reader.into_reader().finish()?;
    Ok(properties)
}

/// A block of everything, and blocks that differ from it in one array.
fn array_blocks() -> Vec<Value> {
    let schema = cargo();
    let given = json!({ "fields": fields(&schema) });
    let mut cases = vec![good_block("every kind of array", &schema, &cargo_values(&schema))];
    let index = |name: &str| schema.index_of(name).expect("a field of the cargo") as u8;
    let (locks, digits, heats, goods) = (index("locks"), index("digits"), index("heats"), index("goods"));
    for (name, bytes) in [
        ("more elements than the limit", &[1, digits, 7, 0, 0, 0, 0][..]),
        ("a count that nothing could hold", &[1, locks, 0xff, 0xff, 0xff, 0xff, 0x0f]),
        ("an element above its range", &[1, digits, 2, 0xa0]),
        ("an element that is infinite", &[1, heats, 1, 0x00, 0x00, 0x80, 0x7f]),
        ("a bit after the last element", &[1, digits, 1, 0x10]),
        ("an array that is cut off", &[1, goods, 1, 0, 0, 0, 0, 0, 0, 0]),
        ("bytes after the last element", &[1, digits, 1, 0x09, 0]),
    ] {
        cases.push(refused(name, given.clone(), bytes, read_block(&schema, bytes)));
    }
    cases
}

fn good_block(name: &str, schema: &Schema, properties: &[(usize, Property<'_>)]) -> Value {
    let bytes = written(|out| {
        let mut writer = ByteWriter::new(out);
        write_properties(schema, properties, &NameRegistry::new(0), &mut writer);
        writer.finish()
    });
    assert_eq!(read_block(schema, &bytes).as_deref(), Ok(properties));
    let described = properties.iter().map(|&(index, value)| described_property(schema, index, value));
    let value = json!({ "properties": described.collect::<Value>() });
    case(name, json!({ "fields": fields(schema) }), &bytes, value)
}

fn property_blocks() -> Value {
    let schema = ship();
    let given = json!({ "fields": fields(&schema) });
    let index = |name: &str| schema.index_of(name).expect("a field of the ship");
    let all = ship_values(&schema);
    let mut cases: Vec<Value> =
        [("no field", &all[..0]), ("one field", &all[3..4]), ("every field", &all[..])]
            .into_iter()
            .map(|(name, properties)| good_block(name, &schema, properties))
            .collect();
    let (armed, fuel, place) = (index("armed") as u8, index("fuel") as u8, index("place") as u8);
    for (name, bytes) in [
        ("more fields than the schema has", &[13][..]),
        ("an index that the schema lacks", &[1, 12, 0]),
        ("a field twice", &[2, armed, 1, armed, 1]),
        ("fields in descending order", &[2, fuel, 0, armed, 1]),
        ("a word above its range", &[1, fuel, 0xc9, 0x01]),
        ("a form byte of two", &[1, place, 2, 0, 0, 0, 0, 0, 0]),
        ("cut off", &[1, place, 0, 1]),
        ("bytes after the last field", &[1, armed, 1, 0]),
    ] {
        cases.push(refused(name, given.clone(), bytes, read_block(&schema, bytes)));
    }
    cases.extend(array_blocks());
    file(
        "Property blocks. given.fields: the schema in the order of its indexes. Words are not dequantized here.",
        cases,
    )
}
