//! The bit form of values: what a snapshot holds of a field that has no baseline.
//!
//! Words are sent as their distance from the smallest one, in as many bits as the range needs; nothing is aligned, since
//! encoded runs are appended at any bit position.

use super::array::{Array, ArrayWriter, ElementKind};
use super::kind::{FieldKind, TripleForm, Value};
use crate::bits::{BitReader, BitWriter};
use crate::error::{ReadError, WriteError};
use crate::name::Name;
use crate::quantize::{Profile, Rotation, WordRange, Words3};

impl FieldKind {
    /// Writes a value in its bit form; one of another kind or out of range is an error. Names are hashes here always.
    pub fn write_bits(self, value: Value<'_>, writer: &mut BitWriter<'_>) {
        match (self, value) {
            (FieldKind::Bool, Value::Bool(value)) => writer.write_bool(value),
            (FieldKind::F32, Value::F32(value)) => write_single(value, writer),
            (FieldKind::U64, Value::U64(value)) | (FieldKind::Name, Value::Name(Name(value))) => {
                writer.write_bits(value, 64);
            }
            (
                FieldKind::Position(_) | FieldKind::Scale(_) | FieldKind::Velocity(_),
                Value::Triple(triple),
            ) => {
                self.write_triple_bits(triple, writer);
            }
            (FieldKind::Rotation(profile), Value::Rotation(rotation)) => {
                write_rotation(rotation, profile, writer)
            }
            (FieldKind::Text { bytes_max }, Value::Text(text)) => {
                write_blob(text.as_bytes(), bytes_max, writer)
            }
            (FieldKind::Bytes { bytes_max }, Value::Bytes(bytes)) => write_blob(bytes, bytes_max, writer),
            (FieldKind::Array { element, count_max }, Value::Array(array)) if array.element() == element => {
                write_array(array, count_max, writer)
            }
            (_, Value::Word(word)) => match self.word_range() {
                Some(range) => write_word(word, range, writer),
                None => writer.fail(WriteError::FieldMismatch),
            },
            _ => writer.fail(WriteError::FieldMismatch),
        }
    }

    /// Reads a value in its bit form. Strings, byte runs and arrays are copied into `scratch`, which must hold the
    /// longest [content](FieldKind::content_bytes_max).
    pub fn read_bits<'s>(
        self,
        reader: &mut BitReader<'_>,
        scratch: &'s mut [u8],
    ) -> Result<Value<'s>, ReadError> {
        Ok(match self {
            FieldKind::Bool => Value::Bool(reader.read_bool()?),
            FieldKind::Int(range) => Value::Word(read_word(range, reader)?),
            FieldKind::Quantized(quantized) => Value::Word(read_word(quantized.words(), reader)?),
            FieldKind::F32 => Value::F32(read_single(reader)?),
            FieldKind::U64 => Value::U64(reader.read_bits(64)?),
            FieldKind::Name => Value::Name(Name(reader.read_bits(64)?)),
            FieldKind::Position(_) | FieldKind::Scale(_) | FieldKind::Velocity(_) => {
                Value::Triple(self.read_triple_bits(reader)?)
            }
            FieldKind::Rotation(profile) => Value::Rotation(read_rotation(profile, reader)?),
            FieldKind::Text { bytes_max } => {
                let bytes = read_blob(bytes_max, reader, scratch)?;
                Value::Text(core::str::from_utf8(bytes).map_err(|_| ReadError::InvalidUtf8)?)
            }
            FieldKind::Bytes { bytes_max } => Value::Bytes(read_blob(bytes_max, reader, scratch)?),
            FieldKind::Array { element, count_max } => {
                Value::Array(read_array(element, count_max, reader, scratch)?)
            }
        })
    }

    fn write_triple_bits(self, triple: Words3, writer: &mut BitWriter<'_>) {
        let form = self.triple_form();
        match form {
            Some(TripleForm { may_be_raw: true, .. }) => writer.write_bool(triple.raw),
            _ if triple.raw == form.is_none() => {}
            _ => return writer.fail(WriteError::FieldMismatch),
        }
        match form {
            Some(TripleForm { range, .. }) if !triple.raw => {
                triple.words.into_iter().for_each(|word| write_word(word, range, writer));
            }
            _ => triple.raw_values().into_iter().for_each(|value| write_single(value, writer)),
        }
    }

    fn read_triple_bits(self, reader: &mut BitReader<'_>) -> Result<Words3, ReadError> {
        match self.triple_form() {
            Some(TripleForm { range, may_be_raw }) if !(may_be_raw && reader.read_bool()?) => {
                Ok(Words3::quantized([
                    read_word(range, reader)?,
                    read_word(range, reader)?,
                    read_word(range, reader)?,
                ]))
            }
            _ => Ok(Words3::raw([read_single(reader)?, read_single(reader)?, read_single(reader)?])),
        }
    }
}

fn write_word(word: i32, range: WordRange, writer: &mut BitWriter<'_>) {
    writer.write_ranged_signed(i64::from(word), i64::from(range.min()), i64::from(range.max()));
}

fn read_word(range: WordRange, reader: &mut BitReader<'_>) -> Result<i32, ReadError> {
    Ok(reader.read_ranged_signed(i64::from(range.min()), i64::from(range.max()))? as i32)
}

fn write_single(value: f32, writer: &mut BitWriter<'_>) {
    match value.is_finite() {
        true => writer.write_bits(u64::from(value.to_bits()), 32),
        false => writer.fail(WriteError::NonFinite),
    }
}

fn read_single(reader: &mut BitReader<'_>) -> Result<f32, ReadError> {
    let value = f32::from_bits(reader.read_bits(32)? as u32);
    if value.is_finite() { Ok(value) } else { Err(ReadError::NonFinite) }
}

fn write_rotation(rotation: Rotation, profile: Profile, writer: &mut BitWriter<'_>) {
    match (profile.rotation_width(), rotation) {
        (Some(width), _) => match rotation.pack(width) {
            Some(packed) => writer.write_bits(packed, width.bit_width()),
            None => writer.fail(WriteError::OutOfRange),
        },
        (None, Rotation::Raw(quaternion)) if Rotation::from_raw(quaternion).is_ok() => {
            quaternion.into_iter().for_each(|component| write_single(component, writer));
        }
        (None, _) => writer.fail(WriteError::OutOfRange),
    }
}

fn read_rotation(profile: Profile, reader: &mut BitReader<'_>) -> Result<Rotation, ReadError> {
    match profile.rotation_width() {
        Some(width) => Rotation::unpack(reader.read_bits(width.bit_width())?, width),
        None => {
            let mut quaternion = [0.0; 4];
            for component in &mut quaternion {
                *component = read_single(reader)?;
            }
            Rotation::from_raw(quaternion)
        }
    }
}

fn write_blob(bytes: &[u8], bytes_max: u16, writer: &mut BitWriter<'_>) {
    if bytes.len() > usize::from(bytes_max) {
        return writer.fail(WriteError::TooLong);
    }
    writer.write_ranged(bytes.len() as u64, u64::from(bytes_max));
    writer.append_slice(bytes, bytes.len() * 8);
}

fn read_blob<'s>(
    bytes_max: u16,
    reader: &mut BitReader<'_>,
    scratch: &'s mut [u8],
) -> Result<&'s [u8], ReadError> {
    let length = reader.read_ranged(u64::from(bytes_max))? as usize;
    let target = scratch.get_mut(..length).ok_or(ReadError::TooLong)?;
    for byte in &mut *target {
        *byte = reader.read_bits(8)? as u8;
    }
    Ok(target)
}

fn write_array(array: Array<'_>, count_max: u16, writer: &mut BitWriter<'_>) {
    if array.len() > usize::from(count_max) {
        return writer.fail(WriteError::TooLong);
    }
    writer.write_ranged(array.len() as u64, u64::from(count_max));
    writer.append_slice(array.packed(), array.len() * array.element().bit_width() as usize);
}

fn read_array<'s>(
    element: ElementKind,
    count_max: u16,
    reader: &mut BitReader<'_>,
    scratch: &'s mut [u8],
) -> Result<Array<'s>, ReadError> {
    let count = reader.read_ranged(u64::from(count_max))?;
    let mut array = ArrayWriter::new(element, count_max, scratch);
    for _ in 0..count {
        array.push(element.read(reader)?);
    }
    // Every element is in range and there are not too many, so that only the room can be lacking.
    array.finish().map_err(|_| ReadError::TooLong)
}
