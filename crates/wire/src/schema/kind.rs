//! The kinds of values that a field can hold, and their byte form.

use super::array::{Array, ElementKind};
use crate::bits::bits_for;
use crate::bytes::{ByteReader, ByteSink};
use crate::error::{ReadError, WriteError};
use crate::layout::{Fine, Layout, Raw, Small, read_raw, read_scale, write_raw, write_scale};
use crate::name::{Name, Resolve};
use crate::quantize::{Profile, QuantizedRange, RangeError, Rotation, WordRange, Words3};

/// The longest content of a field that rides in snapshots, so that a property block fits a record.
pub const BLOB_BYTES_MAX: u16 = 1000;

/// The longest content of a field that is delivered reliably: with the four bytes that name object and field, 64 KiB.
pub const RELIABLE_BYTES_MAX: u16 = u16::MAX - 3;

/// What values a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// True or false.
    Bool,
    /// An integer of a range.
    Int(WordRange),
    /// A float of a range, in steps.
    Quantized(QuantizedRange),
    /// A finite single as it is.
    F32,
    /// An opaque 64-bit number.
    U64,
    /// A place.
    Position(Profile),
    /// A rotation.
    Rotation(Profile),
    /// A scale.
    Scale(Profile),
    /// A velocity.
    Velocity(Profile),
    /// A hashed string.
    Name,
    /// A string of at most so many bytes of UTF-8.
    Text {
        /// The limit, 1 to [`BLOB_BYTES_MAX`], or to [`RELIABLE_BYTES_MAX`] if it is delivered reliably.
        bytes_max: u16,
    },
    /// At most so many bytes.
    Bytes {
        /// The limit, as of a text.
        bytes_max: u16,
    },
    /// At most so many values of one kind.
    Array {
        /// What they are.
        element: ElementKind,
        /// The limit, 1 to as many as the limit of a text holds.
        count_max: u16,
    },
}

/// A value of some kind. Quantized values are words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Of [`FieldKind::Bool`].
    Bool(bool),
    /// Of [`FieldKind::Int`], or the word of [`FieldKind::Quantized`].
    Word(i32),
    /// Of [`FieldKind::F32`].
    F32(f32),
    /// Of [`FieldKind::U64`].
    U64(u64),
    /// Of [`FieldKind::Position`], [`FieldKind::Scale`] or [`FieldKind::Velocity`].
    Triple(Words3),
    /// Of [`FieldKind::Rotation`].
    Rotation(Rotation),
    /// Of [`FieldKind::Name`].
    Name(Name),
    /// Of [`FieldKind::Text`].
    Text(&'a str),
    /// Of [`FieldKind::Bytes`].
    Bytes(&'a [u8]),
    /// Of [`FieldKind::Array`].
    Array(Array<'a>),
}

impl<'a> Value<'a> {
    /// The content of a value of variable length: the bytes of a text, a byte run, or the encoded form of an array.
    pub fn content(self) -> Option<&'a [u8]> {
        match self {
            Value::Text(text) => Some(text.as_bytes()),
            Value::Bytes(bytes) => Some(bytes),
            Value::Array(array) => Some(array.content()),
            _ => None,
        }
    }
}

/// How many bits a value takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitWidth {
    /// Always as many.
    Fixed(u32),
    /// At most as many.
    UpTo(u32),
}

impl BitWidth {
    /// The most bits that a value takes.
    pub const fn max(self) -> u32 {
        match self {
            BitWidth::Fixed(bits) | BitWidth::UpTo(bits) => bits,
        }
    }
}

/// The quantized words of a triple and whether it has a raw form besides; `None` if it is always raw.
pub(super) struct TripleForm {
    pub range: WordRange,
    pub may_be_raw: bool,
}

impl FieldKind {
    /// Integers from `min` to `max`.
    pub fn int(min: i32, max: i32) -> Result<FieldKind, RangeError> {
        WordRange::new(min, max).map(FieldKind::Int)
    }

    /// Floats from `min` to `max` in steps of `1/per_unit`.
    pub fn quantized(min: f64, max: f64, per_unit: u32) -> Result<FieldKind, RangeError> {
        QuantizedRange::new(min, max, per_unit).map(FieldKind::Quantized)
    }

    /// The words of a single-word field.
    pub const fn word_range(self) -> Option<WordRange> {
        match self {
            FieldKind::Int(range) => Some(range),
            FieldKind::Quantized(quantized) => Some(quantized.words()),
            _ => None,
        }
    }

    /// The longest content of a value of variable length; `None` for kinds of fixed size.
    pub fn content_bytes_max(self) -> Option<usize> {
        match self {
            FieldKind::Text { bytes_max } | FieldKind::Bytes { bytes_max } => Some(usize::from(bytes_max)),
            FieldKind::Array { element, count_max } => Some(element.content_bytes_max(count_max)),
            _ => None,
        }
    }

    /// The value that a whole [content](Value::content) stands for.
    pub fn read_content(self, content: &[u8]) -> Result<Value<'_>, ReadError> {
        let is_too_long = |bytes_max: u16| content.len() > usize::from(bytes_max);
        match self {
            FieldKind::Text { bytes_max } | FieldKind::Bytes { bytes_max } if is_too_long(bytes_max) => {
                Err(ReadError::TooLong)
            }
            FieldKind::Text { .. } => {
                Ok(Value::Text(core::str::from_utf8(content).map_err(|_| ReadError::InvalidUtf8)?))
            }
            FieldKind::Bytes { .. } => Ok(Value::Bytes(content)),
            FieldKind::Array { element, count_max } => {
                let mut reader = ByteReader::new(content);
                let array = Array::read(element, count_max, &mut reader)?;
                reader.finish()?;
                Ok(Value::Array(array))
            }
            _ => Err(ReadError::InvalidField),
        }
    }

    /// How many bits a value takes in the bit form.
    pub fn bit_width(self) -> BitWidth {
        match self {
            FieldKind::Bool => BitWidth::Fixed(1),
            FieldKind::Int(range) => BitWidth::Fixed(range.bit_width()),
            FieldKind::Quantized(quantized) => BitWidth::Fixed(quantized.words().bit_width()),
            FieldKind::F32 => BitWidth::Fixed(32),
            FieldKind::U64 | FieldKind::Name => BitWidth::Fixed(64),
            FieldKind::Rotation(profile) => {
                BitWidth::Fixed(profile.rotation_width().map_or(4 * 32, |width| width.bit_width()))
            }
            FieldKind::Position(_) | FieldKind::Scale(_) | FieldKind::Velocity(_) => match self.triple_form()
            {
                Some(TripleForm { range, may_be_raw: false }) => BitWidth::Fixed(3 * range.bit_width()),
                Some(TripleForm { .. }) => BitWidth::UpTo(1 + 3 * 32),
                None => BitWidth::Fixed(3 * 32),
            },
            FieldKind::Text { bytes_max: 0 }
            | FieldKind::Bytes { bytes_max: 0 }
            | FieldKind::Array { count_max: 0, .. } => BitWidth::Fixed(0),
            FieldKind::Text { bytes_max } | FieldKind::Bytes { bytes_max } => {
                BitWidth::UpTo(bits_for(u64::from(bytes_max)) + 8 * u32::from(bytes_max))
            }
            FieldKind::Array { element, count_max } => {
                BitWidth::UpTo(bits_for(u64::from(count_max)) + element.bit_width() * u32::from(count_max))
            }
        }
    }

    pub(super) fn triple_form(self) -> Option<TripleForm> {
        let (profile, may_be_raw) = match self {
            FieldKind::Position(profile) | FieldKind::Scale(profile) => (profile, true),
            FieldKind::Velocity(profile) => (profile, false),
            _ => return None,
        };
        let range = match (self, profile) {
            (_, Profile::None) => return None,
            (FieldKind::Scale(_), _) => WordRange::new(1, 255).ok()?,
            (_, Profile::High) => WordRange::symmetric(i32::MAX),
            (_, Profile::Standard | Profile::World) => WordRange::symmetric(i32::from(i16::MAX)),
        };
        Some(TripleForm { range, may_be_raw })
    }

    /// Writes a value in its byte form; one of another kind or out of range is an error.
    pub fn write(self, value: Value<'_>, names: &dyn Resolve, sink: &mut impl ByteSink) {
        match (self, value) {
            (FieldKind::Bool, Value::Bool(value)) => sink.write_bool(value),
            (FieldKind::F32, Value::F32(value)) if value.is_finite() => sink.write_f32(value),
            (FieldKind::F32, Value::F32(_)) => sink.fail(WriteError::NonFinite),
            (FieldKind::U64, Value::U64(value)) => sink.write_u64(value),
            (FieldKind::Position(profile) | FieldKind::Velocity(profile), Value::Triple(triple)) => {
                self.write_form(triple, sink);
                match (profile, triple.raw) {
                    (_, true) => write_raw(triple.words, sink),
                    (Profile::High, false) => Fine::write_triple(triple.words, sink),
                    (_, false) => Small::write_triple(triple.words, sink),
                }
            }
            (FieldKind::Scale(_), Value::Triple(triple)) => {
                self.write_form(triple, sink);
                if triple.raw { write_raw(triple.words, sink) } else { write_scale(triple.words, sink) }
            }
            (FieldKind::Rotation(profile), Value::Rotation(rotation)) => match profile {
                Profile::Standard | Profile::World => Small::write_rotation(rotation, sink),
                Profile::High => Fine::write_rotation(rotation, sink),
                Profile::None => Raw::write_rotation(rotation, sink),
            },
            (FieldKind::Name, Value::Name(name)) => sink.write_name(name, names),
            (FieldKind::Text { bytes_max }, Value::Text(text)) => {
                sink.write_str(text, usize::from(bytes_max))
            }
            (FieldKind::Bytes { bytes_max }, Value::Bytes(bytes)) => {
                sink.write_blob(bytes, usize::from(bytes_max))
            }
            (FieldKind::Array { element, count_max }, Value::Array(array)) if array.element() == element => {
                match array.len() <= usize::from(count_max) {
                    true => sink.write_bytes(array.content()),
                    false => sink.fail(WriteError::TooLong),
                }
            }
            (_, Value::Word(word)) => match self.word_range() {
                Some(range) if range.contains(word) => {
                    sink.write_varint(u64::from(word.wrapping_sub(range.min()) as u32));
                }
                Some(_) => sink.fail(WriteError::OutOfRange),
                None => sink.fail(WriteError::FieldMismatch),
            },
            _ => sink.fail(WriteError::FieldMismatch),
        }
    }

    /// Where a triple has two forms, a byte says which; where it has one, the value must have that one.
    fn write_form(self, triple: Words3, sink: &mut impl ByteSink) {
        match self.triple_form() {
            Some(TripleForm { may_be_raw: true, .. }) => sink.write_bool(triple.raw),
            form if triple.raw == form.is_none() => {}
            _ => sink.fail(WriteError::FieldMismatch),
        }
    }

    /// Reads a value in its byte form and refuses one out of range.
    pub fn read<'a>(self, reader: &mut ByteReader<'a>) -> Result<Value<'a>, ReadError> {
        Ok(match self {
            FieldKind::Bool => Value::Bool(reader.read_bool()?),
            FieldKind::Int(range) => Value::Word(read_word(range, reader)?),
            FieldKind::Quantized(quantized) => Value::Word(read_word(quantized.words(), reader)?),
            FieldKind::F32 => Value::F32(reader.read_finite_f32()?),
            FieldKind::U64 => Value::U64(reader.read_u64()?),
            FieldKind::Position(profile) | FieldKind::Velocity(profile) => {
                Value::Triple(match (profile, self.read_form(reader)?) {
                    (_, true) => read_raw(reader)?,
                    (Profile::High, false) => Fine::read_triple(reader)?,
                    (_, false) => Small::read_triple(reader)?,
                })
            }
            FieldKind::Scale(_) => {
                let raw = self.read_form(reader)?;
                Value::Triple(if raw { read_raw(reader)? } else { read_scale(reader)? })
            }
            FieldKind::Rotation(profile) => Value::Rotation(match profile {
                Profile::Standard | Profile::World => Small::read_rotation(reader)?,
                Profile::High => Fine::read_rotation(reader)?,
                Profile::None => Raw::read_rotation(reader)?,
            }),
            FieldKind::Name => Value::Name(reader.read_name()?.0),
            FieldKind::Text { bytes_max } => Value::Text(reader.read_str(usize::from(bytes_max))?),
            FieldKind::Bytes { bytes_max } => Value::Bytes(reader.read_blob(usize::from(bytes_max))?),
            FieldKind::Array { element, count_max } => Value::Array(Array::read(element, count_max, reader)?),
        })
    }

    fn read_form(self, reader: &mut ByteReader<'_>) -> Result<bool, ReadError> {
        match self.triple_form() {
            Some(TripleForm { may_be_raw, .. }) => Ok(may_be_raw && reader.read_bool()?),
            None => Ok(true),
        }
    }
}

fn read_word(range: WordRange, reader: &mut ByteReader<'_>) -> Result<i32, ReadError> {
    let offset = reader.read_varint()?;
    if offset > u64::from(range.span()) {
        return Err(ReadError::OutOfRange);
    }
    Ok(range.min().wrapping_add(offset as u32 as i32))
}
