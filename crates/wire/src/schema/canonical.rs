//! The form of a schema that is hashed, and by which a schema travels to where nobody knows it.
//!
//! Two programs agree on a schema by its hash, so there must be exactly one byte form of each. A tool that reads what
//! a game recorded has no code of the game: it rebuilds the schema from the same bytes, and refuses any that the schema
//! so rebuilt would not write.
//!
//! ```text
//!   version │ name │ count │ per field: name │ tag, parameters of the kind │ flags, delivery
//! ```

use super::{ElementKind, FIELD_NAME_BYTES_MAX, Field, FieldKind, Schema, SchemaError, SyncFlags};
use crate::bytes::{ByteReader, ByteSink, MessageBuffer};
use crate::delta::mask::FIELDS_MAX;
use crate::error::ReadError;
use crate::quantize::{Profile, QuantizedRange, WordRange};
use crate::schema::Delivery;

/// The version of the form.
const CANONICAL_VERSION: u8 = 1;

/// The bytes of a schema.
pub(super) fn canonical_bytes(name: &str, fields: &[Field]) -> Vec<u8> {
    let mut buffer = MessageBuffer::new(usize::MAX);
    buffer.write_u8(CANONICAL_VERSION);
    buffer.write_str(name, FIELD_NAME_BYTES_MAX);
    buffer.write_varint(fields.len() as u64);
    for field in fields {
        buffer.write_str(&field.name, FIELD_NAME_BYTES_MAX);
        write_kind(field.kind, &mut buffer);
        buffer.write_u8(field.flags.bits() | field.delivery.bit());
    }
    buffer.as_bytes().to_vec()
}

/// The schema of these bytes, all of them.
pub(super) fn read_schema(bytes: &[u8]) -> Result<Schema, SchemaError> {
    let mut reader = ByteReader::new(bytes);
    if reader.read_u8()? != CANONICAL_VERSION {
        return Err(ReadError::OutOfRange.into());
    }
    let mut builder = Schema::builder(reader.read_str(FIELD_NAME_BYTES_MAX)?);
    // The order is that of the bytes: a later field is never hotter.
    for place in 0..reader.read_varint_up_to(u64::from(FIELDS_MAX))? {
        let name = reader.read_str(FIELD_NAME_BYTES_MAX)?;
        let kind = read_kind(&mut reader)?;
        let (delivery, flags) = Delivery::split(reader.read_u8()?);
        let flags = SyncFlags::from_bits(flags).ok_or(ReadError::ReservedBits)?;
        builder = builder.with(Field::new(name, kind, flags, u8::MAX - place as u8).delivered(delivery));
    }
    reader.finish()?;
    let schema = builder.build()?;
    match schema.canonical_bytes() == bytes {
        true => Ok(schema),
        false => Err(ReadError::InvalidFlags.into()),
    }
}

/// A tag and the parameters of the kind.
fn write_kind(kind: FieldKind, sink: &mut impl ByteSink) {
    match kind {
        FieldKind::Bool => sink.write_u8(0),
        FieldKind::Int(range) => {
            sink.write_u8(1);
            sink.write_i32(range.min());
            sink.write_i32(range.max());
        }
        FieldKind::Quantized(quantized) => {
            sink.write_u8(2);
            sink.write_i32(quantized.words().min());
            sink.write_i32(quantized.words().max());
            sink.write_u32(quantized.per_unit());
        }
        FieldKind::F32 => sink.write_u8(3),
        FieldKind::U64 => sink.write_u8(4),
        FieldKind::Position(profile) => sink.write_bytes(&[5, profile as u8]),
        FieldKind::Rotation(profile) => sink.write_bytes(&[6, profile as u8]),
        FieldKind::Scale(profile) => sink.write_bytes(&[7, profile as u8]),
        FieldKind::Velocity(profile) => sink.write_bytes(&[8, profile as u8]),
        FieldKind::Name => sink.write_u8(9),
        FieldKind::Text { bytes_max } => {
            sink.write_u8(10);
            sink.write_u16(bytes_max);
        }
        FieldKind::Bytes { bytes_max } => {
            sink.write_u8(11);
            sink.write_u16(bytes_max);
        }
        FieldKind::Array { element, count_max } => {
            sink.write_u8(12);
            write_kind(element.field_kind(), sink);
            sink.write_u16(count_max);
        }
    }
}

fn read_kind(reader: &mut ByteReader<'_>) -> Result<FieldKind, ReadError> {
    Ok(match reader.read_u8()? {
        5 => FieldKind::Position(read_profile(reader)?),
        6 => FieldKind::Rotation(read_profile(reader)?),
        7 => FieldKind::Scale(read_profile(reader)?),
        8 => FieldKind::Velocity(read_profile(reader)?),
        10 => FieldKind::Text { bytes_max: reader.read_u16()? },
        11 => FieldKind::Bytes { bytes_max: reader.read_u16()? },
        12 => {
            let tag = reader.read_u8()?;
            FieldKind::Array { element: read_element(tag, reader)?, count_max: reader.read_u16()? }
        }
        tag => read_element(tag, reader)?.field_kind(),
    })
}

/// The kinds that an array can hold, too.
fn read_element(tag: u8, reader: &mut ByteReader<'_>) -> Result<ElementKind, ReadError> {
    Ok(match tag {
        0 => ElementKind::Bool,
        1 => ElementKind::Int(read_range(reader)?),
        2 => {
            let words = read_range(reader)?;
            let per_unit = reader.read_u32()?;
            // Divided and multiplied again, a word comes back within far less than half a step.
            let value = |word: i32| f64::from(word) / f64::from(per_unit);
            let range = QuantizedRange::new(value(words.min()), value(words.max()), per_unit);
            ElementKind::Quantized(range.map_err(|_| ReadError::OutOfRange)?)
        }
        3 => ElementKind::F32,
        4 => ElementKind::U64,
        9 => ElementKind::Name,
        _ => return Err(ReadError::OutOfRange),
    })
}

fn read_range(reader: &mut ByteReader<'_>) -> Result<WordRange, ReadError> {
    WordRange::new(reader.read_i32()?, reader.read_i32()?).map_err(|_| ReadError::OutOfRange)
}

fn read_profile(reader: &mut ByteReader<'_>) -> Result<Profile, ReadError> {
    let profile = reader.read_u8()?;
    Profile::ALL.get(usize::from(profile)).copied().ok_or(ReadError::OutOfRange)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn every_kind() -> Schema {
        let element = ElementKind::quantized(-2.5, 1e3, 100).unwrap();
        Schema::builder("everything")
            .field("at", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255)
            .field("turned", FieldKind::Rotation(Profile::High), SyncFlags::PUBLIC_SYNC, 254)
            .field("size", FieldKind::Scale(Profile::World), SyncFlags::PUBLIC_SYNC, 10)
            .field("speed", FieldKind::Velocity(Profile::None), SyncFlags::OWNER_SYNC, 10)
            .field("on", FieldKind::Bool, SyncFlags::NO_SYNC, 10)
            .field("count", FieldKind::int(i32::MIN, i32::MAX).unwrap(), SyncFlags::PUBLIC_SYNC, 9)
            .field(
                "share",
                FieldKind::quantized(-0.3, 1.0 / 3.0, 999_983).unwrap(),
                SyncFlags::PUBLIC_SYNC,
                9,
            )
            .field("weight", FieldKind::F32, SyncFlags::PUBLIC_SYNC, 8)
            .field("seed", FieldKind::U64, SyncFlags::PUBLIC_SYNC, 7)
            .field("name", FieldKind::Name, SyncFlags::PUBLIC_SYNC, 6)
            .field("text", FieldKind::Text { bytes_max: 12 }, SyncFlags::PUBLIC_SYNC, 5)
            .field("raw", FieldKind::Bytes { bytes_max: 3 }, SyncFlags::PUBLIC_SYNC, 4)
            .field("list", FieldKind::Array { element, count_max: 9 }, SyncFlags::PUBLIC_SYNC, 3)
            .with(
                Field::new("log", FieldKind::Text { bytes_max: 9_999 }, SyncFlags::OWNER_SYNC, 2)
                    .delivered(Delivery::Reliable),
            )
            .build()
            .unwrap()
    }

    #[test]
    fn a_schema_comes_back_from_its_bytes() {
        let schema = every_kind();
        let back = Schema::from_canonical(&schema.canonical_bytes()).unwrap();
        assert_eq!(back.hash(), schema.hash());
        let kinds = |schema: &Schema| -> Vec<_> {
            let fields = schema.fields().iter();
            fields
                .map(|field| (field.name().to_owned(), field.kind(), field.flags(), field.delivery()))
                .collect()
        };
        assert_eq!(kinds(&back), kinds(&schema));
    }

    #[test]
    fn bytes_that_are_cut_or_longer_are_refused() {
        let bytes = every_kind().canonical_bytes();
        for length in 0..bytes.len() {
            assert!(Schema::from_canonical(&bytes[..length]).is_err(), "{length} bytes");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(Schema::from_canonical(&longer), Err(SchemaError::Canonical(ReadError::TrailingData)));
    }

    proptest! {
        /// What is accepted is what the schema would write: no two byte forms of one schema.
        #[test]
        fn other_bytes_are_refused_or_are_the_form_of_another_schema(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)
        ) {
            let mut bytes = every_kind().canonical_bytes();
            for (place, value) in changes {
                let place = place.index(bytes.len());
                bytes[place] = value;
            }
            if let Ok(schema) = Schema::from_canonical(&bytes) {
                prop_assert_eq!(schema.canonical_bytes(), bytes);
            }
        }
    }
}
