//! Values at random: of fields, and of arguments; and both as JSON that keeps every bit.
//!
//! A value is an object of one entry that says what it is: `nil`, `bool`, `int` (a decimal string), `f32` and `f64` (their bits in
//! hex), `text`, `bytes` (hex), `list`, `map` (pairs), `object`.

use netloom::prelude::*;
use netloom::session::random::Random;
use netloom::session::rpc::{self, ObjectArg, ValueWriter};
use netloom::wire::Name;
use netloom::wire::schema::{ArrayWriter, ElementKind, FieldKind, Value as Property};
use serde_json::{Value, json};

use super::declaration::word;

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A single that a field can have: finite, and any of those.
fn single(random: &mut Random) -> f32 {
    match random.below(3) {
        0 => random.between(-100.0, 100.0),
        1 => [0.0, -0.0, f32::MIN_POSITIVE, 1e-45, f32::MAX, -1.0][random.below(6) as usize],
        _ => Some(f32::from_bits(random.bits() as u32)).filter(|single| single.is_finite()).unwrap_or(0.5),
    }
}

/// At most so many bytes of UTF-8.
fn text(random: &mut Random, bytes_max: usize) -> String {
    let mut text: String = (0..random.below(8)).map(|_| word(random)).collect();
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}

fn bytes(random: &mut Random, count_max: usize) -> Vec<u8> {
    (0..random.below(count_max as u64 + 1)).map(|_| random.bits() as u8).collect()
}

fn element(random: &mut Random, kind: ElementKind) -> Property<'static> {
    simple(random, kind.field_kind()).unwrap_or(Property::Bool(false))
}

/// A value of fixed length that lies in no space.
fn simple(random: &mut Random, kind: FieldKind) -> Option<Property<'static>> {
    Some(match kind {
        FieldKind::Bool => Property::Bool(random.below(2) == 0),
        FieldKind::F32 => Property::F32(single(random)),
        FieldKind::U64 => Property::U64(random.bits() >> random.below(64)),
        FieldKind::Name => Property::Name(Name::of(&word(random))),
        _ => {
            let range = kind.word_range()?;
            let word = i64::from(range.min()) + random.below(u64::from(range.span()) + 1) as i64;
            Property::Word(word as i32)
        }
    })
}

/// Hands a random value of a kind to `set`; places and rotations, which depend on an object, are not among them.
pub fn with_property(random: &mut Random, kind: FieldKind, set: impl FnOnce(Property<'_>)) {
    match kind {
        FieldKind::Text { bytes_max } => set(Property::Text(&text(random, bytes_max.into()))),
        FieldKind::Bytes { bytes_max } => set(Property::Bytes(&bytes(random, bytes_max.into()))),
        FieldKind::Array { element: kind, count_max } => {
            let mut storage = vec![0; kind.content_bytes_max(count_max)];
            let mut writer = ArrayWriter::new(kind, count_max, &mut storage);
            (0..random.below(u64::from(count_max) + 1)).for_each(|_| writer.push(element(random, kind)));
            if let Ok(array) = writer.finish() {
                set(Property::Array(array));
            }
        }
        _ => {
            if let Some(value) = simple(random, kind) {
                set(value);
            }
        }
    }
}

/// What a field is set to. Quantized values are their words.
pub fn property_json(value: Property<'_>) -> Value {
    match value {
        Property::Bool(value) => json!({ "bool": value }),
        Property::Word(word) => json!({ "int": word.to_string() }),
        Property::F32(single) => json!({ "f32": format!("{:08x}", single.to_bits()) }),
        Property::U64(number) | Property::Name(Name(number)) => json!({ "int": number.to_string() }),
        Property::Text(text) => json!({ "text": text }),
        Property::Bytes(bytes) => json!({ "bytes": hex(bytes) }),
        Property::Array(array) => json!({ "list": array.iter().map(property_json).collect::<Vec<_>>() }),
        Property::Triple(_) | Property::Rotation(_) => json!({ "nil": true }),
    }
}

/// An argument that arrived; an object is its alias.
pub fn argument_json(value: &rpc::Value<'_>) -> Value {
    match value {
        rpc::Value::Nil => json!({ "nil": true }),
        rpc::Value::Bool(value) => json!({ "bool": value }),
        rpc::Value::Int(value) => json!({ "int": value.to_string() }),
        rpc::Value::UInt(value) => json!({ "int": value.to_string() }),
        rpc::Value::F32(value) => json!({ "f32": format!("{:08x}", value.to_bits()) }),
        rpc::Value::F64(value) => json!({ "f64": format!("{:016x}", value.to_bits()) }),
        rpc::Value::Text(text) => json!({ "text": text }),
        rpc::Value::Bytes(bytes) => json!({ "bytes": hex(bytes) }),
        rpc::Value::List(items) => {
            json!({ "list": items.clone().map(|item| argument_json(&item)).collect::<Vec<_>>() })
        }
        rpc::Value::Map(entries) => {
            let pairs = entries.clone().map(|(key, value)| json!([key, argument_json(&value)]));
            json!({ "map": pairs.collect::<Vec<_>>() })
        }
        rpc::Value::Object(alias) => json!({ "object": alias.map(Alias::to_script_int) }),
    }
}

/// An argument on its way out.
pub enum Argument {
    Nil,
    Bool(bool),
    Int(i64),
    UInt(u64),
    F32(f32),
    F64(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Argument>),
    Map(Vec<(String, Argument)>),
    /// An object, and the identity by which the truth knows it.
    Object(ObjectArg, u64),
}

impl Argument {
    /// One of any kind, nested at most so deep. Of `objects` any can be one.
    pub fn random(random: &mut Random, depth: u32, objects: &[(ObjectArg, u64)]) -> Argument {
        let nested = if depth == 0 { 9 } else { 11 };
        match random.below(nested) {
            0 => Argument::Nil,
            1 => Argument::Bool(random.below(2) == 0),
            2 => Argument::Int(random.bits() as i64 >> random.below(64)),
            3 => Argument::UInt(random.bits() >> random.below(64)),
            4 => Argument::F32(f32::from_bits(random.bits() as u32)),
            5 => Argument::F64(f64::from_bits(random.bits())),
            6 => Argument::Text(text(random, 400)),
            7 => Argument::Bytes(bytes(random, 40)),
            8 => match objects.get(random.below(objects.len() as u64 + 1) as usize) {
                Some((object, id)) => Argument::Object(*object, *id),
                None => Argument::Object(ObjectArg(None), 0),
            },
            9 => Argument::List(
                (0..random.below(20)).map(|_| Argument::random(random, depth - 1, objects)).collect(),
            ),
            _ => {
                let value = |number| {
                    (format!("{}{number}", word(random)), Argument::random(random, depth - 1, objects))
                };
                Argument::Map((0..3).map(value).collect())
            }
        }
    }

    pub fn write(&self, writer: &mut ValueWriter<'_>) {
        match self {
            Argument::Nil => writer.nil(),
            Argument::Bool(value) => writer.bool(*value),
            Argument::Int(value) => writer.int(*value),
            Argument::UInt(value) => writer.uint(*value),
            Argument::F32(value) => writer.f32(*value),
            Argument::F64(value) => writer.f64(*value),
            Argument::Text(text) => writer.text(text),
            Argument::Bytes(bytes) => writer.bytes(bytes),
            Argument::List(list) => {
                writer.list(list.len());
                list.iter().for_each(|value| value.write(writer));
            }
            Argument::Map(map) => {
                writer.map(map.len());
                for (key, value) in map {
                    writer.text(key);
                    value.write(writer);
                }
            }
            Argument::Object(object, _) => writer.object(object.0),
        }
    }

    /// As it is to arrive; an object is its identity.
    pub fn json(&self) -> Value {
        match self {
            Argument::Nil => json!({ "nil": true }),
            Argument::Bool(value) => json!({ "bool": value }),
            Argument::Int(value) => json!({ "int": value.to_string() }),
            Argument::UInt(value) => json!({ "int": value.to_string() }),
            Argument::F32(value) => json!({ "f32": format!("{:08x}", value.to_bits()) }),
            Argument::F64(value) => json!({ "f64": format!("{:016x}", value.to_bits()) }),
            Argument::Text(text) => json!({ "text": text }),
            Argument::Bytes(bytes) => json!({ "bytes": hex(bytes) }),
            Argument::List(list) => json!({ "list": list.iter().map(Argument::json).collect::<Vec<_>>() }),
            Argument::Map(map) => {
                json!({ "map": map.iter().map(|(key, value)| json!([key, value.json()])).collect::<Vec<_>>() })
            }
            Argument::Object(_, id) => json!({ "object": id }),
        }
    }
}
