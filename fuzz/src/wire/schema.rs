//! Schemas that nobody would write, and property blocks in both of their forms.

use netloom_wire::schema::{
    BLOB_BYTES_MAX, Delivery, ElementKind, Field, FieldKind, PropertyReader, RELIABLE_BYTES_MAX, SyncFlags,
    Value, write_properties,
};
use netloom_wire::{
    BitReader, BitWriter, ByteReader, MessageBuffer, NameMode, NameRegistry, Profile, Schema,
};

use super::same_bits;
use crate::input::Input;

const FIELD_NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// Builds a schema, then reads the rest as a property block, or as values in their bit form.
pub fn wire_schema(data: &[u8]) {
    let mut input = Input::new(data);
    let form = input.u8();
    let Some(schema) = build_schema(&mut input) else {
        return;
    };
    assert!(!schema.canonical_bytes().is_empty());
    match form % 3 {
        0 => read_block(&schema, input.rest(), NameMode::Hashed),
        1 => read_block(&schema, input.rest(), NameMode::WithText),
        _ => read_bit_values(&schema, input.rest()),
    }
}

fn build_schema(input: &mut Input<'_>) -> Option<Schema> {
    let mut builder = Schema::builder("fuzzed");
    let count = input.choice(FIELD_NAMES.len()) + 1;
    for name in &FIELD_NAMES[..count] {
        let kind = field_kind(input)?;
        let field = Field::new(name, kind, SyncFlags::PUBLIC_SYNC, input.u8());
        let is_long = kind.content_bytes_max().is_some_and(|bytes| bytes > usize::from(BLOB_BYTES_MAX));
        builder = builder.with(if is_long { field.delivered(Delivery::Reliable) } else { field });
    }
    builder.build().ok()
}

fn field_kind(input: &mut Input<'_>) -> Option<FieldKind> {
    Some(match input.choice(13) {
        0 => FieldKind::Bool,
        1 => FieldKind::int(input.i32(), input.i32()).ok()?,
        2 => FieldKind::quantized(f64::from(input.i32()), f64::from(input.i32()), input.u16().into()).ok()?,
        3 => FieldKind::F32,
        4 => FieldKind::U64,
        5 => FieldKind::Position(input.pick(Profile::ALL)),
        6 => FieldKind::Rotation(input.pick(Profile::ALL)),
        7 => FieldKind::Scale(input.pick(Profile::ALL)),
        8 => FieldKind::Velocity(input.pick(Profile::ALL)),
        9 => FieldKind::Name,
        10 => FieldKind::Text { bytes_max: input.u16() },
        11 => FieldKind::Bytes { bytes_max: input.u16() },
        _ => FieldKind::Array { element: element_kind(input)?, count_max: input.u16() },
    })
}

fn element_kind(input: &mut Input<'_>) -> Option<ElementKind> {
    Some(match input.choice(6) {
        0 => ElementKind::Bool,
        1 => ElementKind::int(input.i32(), input.i32()).ok()?,
        2 => {
            ElementKind::quantized(f64::from(input.i32()), f64::from(input.i32()), input.u16().into()).ok()?
        }
        3 => ElementKind::F32,
        4 => ElementKind::U64,
        _ => ElementKind::Name,
    })
}

fn read_block(schema: &Schema, bytes: &[u8], mode: NameMode) {
    let reader = ByteReader::new(bytes).with_names(mode);
    let Ok(mut properties) = PropertyReader::new(schema, reader) else {
        return;
    };
    let mut values = Vec::new();
    loop {
        match properties.poll_property() {
            Ok(Some(property)) => values.push(property),
            Ok(None) => break,
            Err(_) => return,
        }
    }
    assert!(values.len() <= schema.fields().len());
    if mode == NameMode::WithText {
        // The text of a name is not part of its value, so there is nothing to write it back from.
        return;
    }
    for &(index, value) in &values {
        check_content(schema, index, value);
    }
    let consumed = properties.into_reader().position();
    let mut sink = MessageBuffer::new(usize::MAX);
    write_properties(schema, &values, &NameRegistry::new(0), &mut sink);
    assert_eq!(sink.finish(), Ok(&bytes[..consumed]));
}

/// A content alone stands for the same value, and an array yields what it holds by index and in turn.
fn check_content(schema: &Schema, index: usize, value: Value<'_>) {
    let kind = schema.fields()[index].kind();
    let Some(content) = value.content() else {
        return;
    };
    assert_eq!(kind.read_content(content), Ok(value));
    if let Value::Array(array) = value {
        assert!(array.iter().enumerate().all(|(index, element)| array.get(index) == Some(element)));
        assert_eq!(array.iter().count(), array.len());
    }
}

fn read_bit_values(schema: &Schema, bytes: &[u8]) {
    let mut again = vec![0; bytes.len() + 8];
    let mut writer = BitWriter::new(&mut again);
    let mut reader = BitReader::new(bytes);
    let mut scratch = [0; RELIABLE_BYTES_MAX as usize];
    for field in schema.fields() {
        let before = reader.bit_position();
        let Ok(value) = field.kind().read_bits(&mut reader, &mut scratch) else {
            return;
        };
        let taken = reader.bit_position() - before;
        assert!(taken <= field.kind().bit_width().max() as usize, "{field:?}");
        field.kind().write_bits(value, &mut writer);
    }
    assert_eq!(writer.bit_len(), reader.bit_position());
    assert!(writer.finish().is_ok());
    assert!(same_bits(bytes, &again, reader.bit_position()));
}
