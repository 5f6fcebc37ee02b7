//! Values to words.
//!
//! What is stored must be sendable: a value is accepted exactly if the wire's own writer and reader accept it.

use netloom_wire::quantize::{Rotation, Words3};
use netloom_wire::schema::{FieldKind, Value};
use netloom_wire::{ByteReader, ByteWriter, Name, QuantizeCounters, Resolve, SectorOrigin, WriteError};

use super::error::ValueError;
use crate::entry::rotation_words;

/// The longest byte form of a value that is checked by writing it.
const CHECKED_BYTES_MAX: usize = 32;

/// Writes what a field of a new object holds: zero or the nearest to it, the scale one.
pub(super) fn store_default(kind: FieldKind, words: &mut [i32]) {
    words.fill(0);
    let counters = &mut QuantizeCounters::default();
    match kind {
        FieldKind::Int(range) => words[0] = range.clamp(0),
        FieldKind::Quantized(range) => words[0] = range.words().clamp(0),
        FieldKind::Scale(profile) => store_triple(profile.quantize_scale([1.0; 3], counters), words),
        FieldKind::Velocity(profile) => store_triple(profile.quantize_velocity([0.0; 3], counters), words),
        FieldKind::Position(profile) => {
            store_triple(profile.quantize_position([0.0; 3], &SectorOrigin::default(), counters), words);
        }
        FieldKind::Rotation(profile) => {
            store_rotation(profile.quantize_rotation([0.0, 0.0, 0.0, 1.0], counters), words);
        }
        _ => {}
    }
}

/// Writes `value` to the words of a field. Texts, bytes and arrays have no words of their own and are refused here.
pub(super) fn store(
    kind: FieldKind,
    value: Value<'_>,
    words: &mut [i32],
    counters: &mut QuantizeCounters,
) -> Result<(), ValueError> {
    match (kind, value) {
        (FieldKind::Bool, Value::Bool(value)) => words[0] = value.into(),
        (FieldKind::Int(_) | FieldKind::Quantized(_), Value::Word(word)) => {
            let range = kind.word_range().ok_or(ValueError::WrongKind)?;
            words[0] = if range.contains(word) { word } else { return Err(ValueError::OutOfRange) };
        }
        (FieldKind::Quantized(range), Value::F32(value)) => words[0] = range.quantize(value, counters),
        (FieldKind::U64, Value::U64(value)) | (FieldKind::Name, Value::Name(Name(value))) => {
            words[0] = value as i32;
            words[1] = (value >> 32) as i32;
        }
        (FieldKind::Text { .. } | FieldKind::Bytes { .. } | FieldKind::Array { .. }, _) => {
            return Err(ValueError::WrongKind);
        }
        (_, value) => {
            check(kind, value)?;
            match value {
                Value::F32(value) => words[0] = value.to_bits() as i32,
                Value::Triple(triple) => store_triple(triple, words),
                Value::Rotation(rotation) => store_rotation(rotation, words),
                _ => return Err(ValueError::WrongKind),
            }
        }
    }
    Ok(())
}

pub(super) fn store_triple(triple: Words3, words: &mut [i32]) {
    let [x, y, z] = triple.words;
    words[..4].copy_from_slice(&[x, y, z, triple.raw.into()]);
}

pub(super) fn load_triple(words: &[i32]) -> Words3 {
    Words3 { words: [words[0], words[1], words[2]], raw: words[3] != 0 }
}

pub(super) fn store_rotation(rotation: Rotation, words: &mut [i32]) {
    words[..4].copy_from_slice(&rotation_words(rotation));
}

fn check(kind: FieldKind, value: Value<'_>) -> Result<(), ValueError> {
    let mut buffer = [0; CHECKED_BYTES_MAX];
    let mut writer = ByteWriter::new(&mut buffer);
    kind.write(value, &NoNames, &mut writer);
    let length = writer.finish().map_err(|error| match error {
        WriteError::NonFinite => ValueError::NonFinite,
        WriteError::FieldMismatch => ValueError::WrongKind,
        _ => ValueError::OutOfRange,
    })?;
    kind.read(&mut ByteReader::new(&buffer[..length])).map_err(|_| ValueError::OutOfRange)?;
    Ok(())
}

/// Names are stored as hashes; their texts are nobody's business here.
struct NoNames;

impl Resolve for NoNames {
    fn resolve(&self, _: Name) -> Option<&str> {
        None
    }
}
