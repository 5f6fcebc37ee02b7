//! The byte layouts of quantized values, shared by records and property blocks.
//!
//! Writers refuse what the reader of the same layout would refuse, so that nothing invalid leaves this side.

use crate::bytes::{ByteReader, ByteSink};
use crate::error::{ReadError, WriteError};
use crate::quantize::{Rotation, RotationWidth, Words3};

/// The byte layout of one profile's positions, velocities and rotations.
pub(crate) trait Layout {
    fn write_triple<S: ByteSink + ?Sized>(words: [i32; 3], sink: &mut S);
    fn read_triple(reader: &mut ByteReader<'_>) -> Result<Words3, ReadError>;
    fn write_rotation<S: ByteSink + ?Sized>(rotation: Rotation, sink: &mut S);
    fn read_rotation(reader: &mut ByteReader<'_>) -> Result<Rotation, ReadError>;
}

/// STANDARD and WORLD: i16 and 10-bit rotations.
pub(crate) struct Small;
/// HIGH: i32 and 15-bit rotations.
pub(crate) struct Fine;
/// NONE: singles.
pub(crate) struct Raw;

macro_rules! layout {
    ($layout:ident, $write_triple:ident, $read_triple:ident, $write_rotation:ident, $read_rotation:ident) => {
        impl Layout for $layout {
            #[inline]
            fn write_triple<S: ByteSink + ?Sized>(words: [i32; 3], sink: &mut S) {
                $write_triple(words, sink);
            }
            #[inline]
            fn read_triple(reader: &mut ByteReader<'_>) -> Result<Words3, ReadError> {
                $read_triple(reader)
            }
            #[inline]
            fn write_rotation<S: ByteSink + ?Sized>(rotation: Rotation, sink: &mut S) {
                $write_rotation(rotation, sink);
            }
            #[inline]
            fn read_rotation(reader: &mut ByteReader<'_>) -> Result<Rotation, ReadError> {
                $read_rotation(reader)
            }
        }
    };
}

layout!(Small, write_i16, read_i16, write_ten, read_ten);
layout!(Fine, write_i32, read_i32, write_fifteen, read_fifteen);
layout!(Raw, write_raw, read_raw, write_quaternion, read_quaternion);

const I16_LIMIT: i32 = i16::MAX as i32;

/// Three i16 of ±32767.
#[inline]
fn write_i16<S: ByteSink + ?Sized>(words: [i32; 3], sink: &mut S) {
    if words.iter().any(|word| !(-I16_LIMIT..=I16_LIMIT).contains(word)) {
        return sink.fail(WriteError::OutOfRange);
    }
    let [[a, b], [c, d], [e, f]] = words.map(|word| (word as i16).to_le_bytes());
    sink.write_bytes(&[a, b, c, d, e, f]);
}

#[inline]
fn read_i16(reader: &mut ByteReader<'_>) -> Result<Words3, ReadError> {
    let [a, b, c, d, e, f] = reader.read_array()?;
    let words = [[a, b], [c, d], [e, f]].map(i16::from_le_bytes);
    if words.contains(&i16::MIN) {
        return Err(ReadError::OutOfRange);
    }
    Ok(Words3::quantized(words.map(i32::from)))
}

/// Three i32, all but the smallest.
#[inline]
fn write_i32<S: ByteSink + ?Sized>(words: [i32; 3], sink: &mut S) {
    if words.contains(&i32::MIN) {
        return sink.fail(WriteError::OutOfRange);
    }
    write_words(words, sink);
}

#[inline]
fn read_i32(reader: &mut ByteReader<'_>) -> Result<Words3, ReadError> {
    let words = read_words(reader)?;
    if words.contains(&i32::MIN) {
        return Err(ReadError::OutOfRange);
    }
    Ok(Words3::quantized(words))
}

/// Three finite f32.
#[inline]
pub(crate) fn write_raw<S: ByteSink + ?Sized>(words: [i32; 3], sink: &mut S) {
    if words.iter().any(|&word| !f32::from_bits(word as u32).is_finite()) {
        return sink.fail(WriteError::NonFinite);
    }
    write_words(words, sink);
}

#[inline]
pub(crate) fn read_raw(reader: &mut ByteReader<'_>) -> Result<Words3, ReadError> {
    let words = Words3 { words: read_words(reader)?, raw: true };
    if words.raw_values().iter().any(|value| !value.is_finite()) {
        return Err(ReadError::NonFinite);
    }
    Ok(words)
}

#[inline]
fn write_words<S: ByteSink + ?Sized>(words: [i32; 3], sink: &mut S) {
    let [[a, b, c, d], [e, f, g, h], [i, j, k, l]] = words.map(i32::to_le_bytes);
    sink.write_bytes(&[a, b, c, d, e, f, g, h, i, j, k, l]);
}

#[inline]
fn read_words(reader: &mut ByteReader<'_>) -> Result<[i32; 3], ReadError> {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = reader.read_array()?;
    Ok([[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(i32::from_le_bytes))
}

/// Three bytes of 1 to 255 steps.
#[inline]
pub(crate) fn write_scale<S: ByteSink + ?Sized>(words: [i32; 3], sink: &mut S) {
    if words.iter().any(|word| !(1..=255).contains(word)) {
        return sink.fail(WriteError::OutOfRange);
    }
    sink.write_bytes(&words.map(|word| word as u8));
}

#[inline]
pub(crate) fn read_scale(reader: &mut ByteReader<'_>) -> Result<Words3, ReadError> {
    let words: [u8; 3] = reader.read_array()?;
    if words.contains(&0) {
        return Err(ReadError::OutOfRange);
    }
    Ok(Words3::quantized(words.map(i32::from)))
}

/// Smallest three in 32 bits.
#[inline]
fn write_ten<S: ByteSink + ?Sized>(rotation: Rotation, sink: &mut S) {
    match rotation.pack(RotationWidth::Ten) {
        Some(packed) => sink.write_u32(packed as u32),
        None => sink.fail(WriteError::OutOfRange),
    }
}

#[inline]
fn read_ten(reader: &mut ByteReader<'_>) -> Result<Rotation, ReadError> {
    Rotation::unpack(u64::from(reader.read_u32()?), RotationWidth::Ten)
}

/// Smallest three in 47 bits and a zero bit.
#[inline]
fn write_fifteen<S: ByteSink + ?Sized>(rotation: Rotation, sink: &mut S) {
    match rotation.pack(RotationWidth::Fifteen) {
        Some(packed) => {
            let [a, b, c, d, e, f, ..] = packed.to_le_bytes();
            sink.write_bytes(&[a, b, c, d, e, f]);
        }
        None => sink.fail(WriteError::OutOfRange),
    }
}

#[inline]
fn read_fifteen(reader: &mut ByteReader<'_>) -> Result<Rotation, ReadError> {
    let [a, b, c, d, e, f] = reader.read_array()?;
    Rotation::unpack(u64::from_le_bytes([a, b, c, d, e, f, 0, 0]), RotationWidth::Fifteen)
}

/// Four f32 of a unit quaternion.
#[inline]
fn write_quaternion<S: ByteSink + ?Sized>(rotation: Rotation, sink: &mut S) {
    match rotation {
        Rotation::Raw(quaternion) if Rotation::from_raw(quaternion).is_ok() => {
            quaternion.into_iter().for_each(|component| sink.write_f32(component));
        }
        _ => sink.fail(WriteError::OutOfRange),
    }
}

#[inline]
fn read_quaternion(reader: &mut ByteReader<'_>) -> Result<Rotation, ReadError> {
    let mut quaternion = [0.0; 4];
    for component in &mut quaternion {
        *component = reader.read_f32()?;
    }
    Rotation::from_raw(quaternion)
}
