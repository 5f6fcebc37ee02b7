//! The fields beside the transform: which ones changed, and to what.
//!
//! ```text
//!   mask over the visible ones (netloom_wire::delta::mask) │ each changed field, in order
//!
//!   integer, quantized float   residual against the newer baseline (netloom_wire::delta::residual)
//!   scale, velocity            1 bit "raw" where the kind may be, then three residuals; in full if the baseline is raw
//!   singles                    differences from the newer baseline (see exact)
//!   text, bytes, array         residual of the change number, then the value in full
//!   everything else            in full (the bit form of its kind)
//! ```

use netloom_wire::delta::mask::{read_mask, write_mask};
use netloom_wire::delta::residual::{read_residual, write_residual};
use netloom_wire::entropy::SymbolWriter;
use netloom_wire::quantize::{Rotation, WordRange, Words3};
use netloom_wire::schema::{BLOB_BYTES_MAX, FieldKind, Value};
use netloom_wire::{BitReader, BitWriter, Name, Profile, ReadError, WriteError};

use super::Blobs;
use super::codes::Codes;
use super::exact;
use super::run::{LongRun, Run, Written};
use crate::class::{Class, FieldWords, triple_range};

/// The words of a field.
#[inline]
fn slice<'w>(words: &'w [i32], field: &FieldWords) -> &'w [i32] {
    &words[field.first..field.first + field.count]
}

/// The fields beside the transform, now and in the newer baseline.
pub(super) struct Others<'a> {
    class: &'a Class,
    visible: u64,
    changed: u64,
    current: &'a [i32],
    newer: &'a [i32],
}

impl<'a> Others<'a> {
    /// Compares the fields of `visible`.
    #[inline]
    pub fn new(class: &'a Class, visible: u64, current: &'a [i32], newer: &'a [i32]) -> Others<'a> {
        let mut changed = 0;
        for index in places(visible) {
            let field = &class.fields()[index];
            // Most fields are one word, which needs no call to be compared.
            let differs = match field.count {
                1 => current[field.first] != newer[field.first],
                _ => slice(current, field) != slice(newer, field),
            };
            changed |= u64::from(differs) << index;
        }
        Others { class, visible, changed, current, newer }
    }

    /// Whether any of them changed.
    #[inline]
    pub fn any_changed(&self) -> bool {
        self.changed != 0
    }

    /// Writes those that changed.
    pub fn write<S: SymbolWriter>(&self, blobs: &impl Blobs, mask: &S, word: &S, writer: &mut BitWriter<'_>) {
        write_mask(gathered(self.changed, self.visible), self.visible.count_ones(), mask, writer);
        for index in places(self.changed) {
            let field = &self.class.fields()[index];
            let (words, base) = (slice(self.current, field), slice(self.newer, field));
            match field.kind {
                FieldKind::Text { .. } | FieldKind::Bytes { .. } | FieldKind::Array { .. } => {
                    write_residual(words[0], base[0], WordRange::ALL, word, writer);
                    match field.kind.read_content(blobs.blob(index)) {
                        Ok(value) => field.kind.write_bits(value, writer),
                        Err(_) => return writer.fail(WriteError::FieldMismatch),
                    }
                }
                _ => write_field(field, words, base, word, writer),
            }
        }
    }
}

fn write_field(
    field: &FieldWords,
    words: &[i32],
    base: &[i32],
    table: &impl SymbolWriter,
    writer: &mut BitWriter<'_>,
) {
    match (field.kind, words, triple_range(field.kind)) {
        (FieldKind::Int(_) | FieldKind::Quantized(_), &[word], _) => {
            write_residual(word, base[0], field.range, table, writer);
        }
        (kind, &[x, y, z, 0], Some(range)) if base[3] == 0 => {
            if may_be_raw(kind) {
                writer.write_bool(false);
            }
            for (word, &base) in [x, y, z].into_iter().zip(base) {
                write_residual(word, base, range, table, writer);
            }
        }
        (FieldKind::F32, &[word], _) => write_singles([word], [base[0]], writer),
        (FieldKind::Scale(Profile::None) | FieldKind::Velocity(Profile::None), &[x, y, z, 1], _) => {
            write_singles([x, y, z], [base[0], base[1], base[2]], writer);
        }
        (kind, words, _) => match value_of(kind, words) {
            Some(value) => kind.write_bits(value, writer),
            None => writer.fail(WriteError::FieldMismatch),
        },
    }
}

/// Reads the fields that changed into `words`, which hold the newer baseline, and returns which ones they are.
pub(super) fn read(
    class: &Class,
    others: u64,
    codes: &Codes,
    reader: &mut BitReader<'_>,
    words: &mut [i32],
    blob: &mut impl FnMut(usize, &[u8]),
) -> Result<u64, ReadError> {
    let changed = scattered(read_mask(others.count_ones(), codes.mask(), reader)?, others);
    for index in places(changed) {
        let field = &class.fields()[index];
        let target = &mut words[field.first..field.first + field.count];
        match field.kind {
            FieldKind::Text { .. } | FieldKind::Bytes { .. } | FieldKind::Array { .. } => {
                target[0] = read_residual(target[0], WordRange::ALL, codes.word(), reader)?;
                let mut scratch = [0; BLOB_BYTES_MAX as usize];
                let value = field.kind.read_bits(reader, &mut scratch)?;
                blob(index, value.content().ok_or(ReadError::InvalidField)?);
            }
            _ => read_field(field, codes, reader, target)?,
        }
    }
    Ok(changed)
}

fn read_field(
    field: &FieldWords,
    codes: &Codes,
    reader: &mut BitReader<'_>,
    target: &mut [i32],
) -> Result<(), ReadError> {
    match (field.kind, triple_range(field.kind)) {
        (FieldKind::Int(_) | FieldKind::Quantized(_), _) => {
            target[0] = read_residual(target[0], field.range, codes.word(), reader)?;
            Ok(())
        }
        (kind, Some(range)) if target[3] == 0 && !(may_be_raw(kind) && reader.peek_bits(1) == 1) => {
            reader.skip_bits(usize::from(may_be_raw(kind)))?;
            for word in target.iter_mut().take(3) {
                *word = read_residual(*word, range, codes.word(), reader)?;
            }
            Ok(())
        }
        (FieldKind::F32, _) => read_singles::<1>(reader, target),
        (FieldKind::Scale(Profile::None) | FieldKind::Velocity(Profile::None), _) => {
            target[3] = 1;
            read_singles::<3>(reader, target)
        }
        (kind, _) => read_whole(kind, reader, target),
    }
}

fn write_singles<const N: usize>(words: [i32; N], base: [i32; N], writer: &mut BitWriter<'_>) {
    if !words.into_iter().all(exact::is_finite) {
        return writer.fail(WriteError::NonFinite);
    }
    let mut run = LongRun::default();
    exact::put_alone(words, base, &mut run);
    run.write(writer);
}

/// Reads singles over the first words of `target`, which hold those of the baseline.
fn read_singles<const N: usize>(reader: &mut BitReader<'_>, target: &mut [i32]) -> Result<(), ReadError> {
    if let Some(words) = target.first_chunk_mut::<N>() {
        *words = exact::take_alone(*words, reader)?;
    }
    Ok(())
}

/// A kind of triple that falls back to singles where its words do not reach.
fn may_be_raw(kind: FieldKind) -> bool {
    matches!(kind, FieldKind::Position(_) | FieldKind::Scale(_))
}

/// The bits of a transform field in full; `None` if its words are out of range.
#[cold]
pub(super) fn whole<R: Run>(kind: FieldKind, words: [i32; 4]) -> Option<R> {
    let mut bytes = [0; 16];
    let mut writer = BitWriter::new(&mut bytes);
    kind.write_bits(value_of(kind, &words)?, &mut writer);
    let length = writer.bit_len() as u32;
    writer.finish().ok()?;
    let bits = u128::from_le_bytes(bytes);
    let mut run = R::default();
    run.put(bits as u64, length.min(64));
    run.put((bits >> 64) as u64, length.saturating_sub(64));
    Some(run)
}

/// Reads a field in full into its words.
pub(super) fn read_whole(
    kind: FieldKind,
    reader: &mut BitReader<'_>,
    target: &mut [i32],
) -> Result<(), ReadError> {
    let value = kind.read_bits(reader, &mut [])?;
    let low_high = |number: u64| [number as i32, (number >> 32) as i32];
    let put =
        |target: &mut [i32], words: &[i32]| target.iter_mut().zip(words).for_each(|(to, from)| *to = *from);
    match value {
        Value::Bool(value) => put(target, &[i32::from(value)]),
        Value::Word(word) => put(target, &[word]),
        Value::F32(value) => put(target, &[value.to_bits() as i32]),
        Value::U64(number) | Value::Name(Name(number)) => put(target, &low_high(number)),
        Value::Triple(Words3 { words: [x, y, z], raw }) => put(target, &[x, y, z, i32::from(raw)]),
        Value::Rotation(Rotation::SmallestThree { largest, steps: [a, b, c] }) => {
            put(target, &[i32::from(largest), i32::from(a), i32::from(b), i32::from(c)]);
        }
        Value::Rotation(Rotation::Raw(quaternion)) => {
            put(target, &quaternion.map(|value| value.to_bits() as i32))
        }
        Value::Text(_) | Value::Bytes(_) | Value::Array(_) => return Err(ReadError::InvalidField),
    }
    Ok(())
}

/// The value that a field's words stand for; `None` if they stand for none, or if its content lies elsewhere.
fn value_of(kind: FieldKind, words: &[i32]) -> Option<Value<'static>> {
    let single = |word: i32| f32::from_bits(word as u32);
    let number = |low: i32, high: i32| u64::from(low as u32) | u64::from(high as u32) << 32;
    let step = |word: i32| i16::try_from(word).ok();
    Some(match (kind, words) {
        (FieldKind::Bool, &[word]) => Value::Bool(word != 0),
        (FieldKind::Int(_) | FieldKind::Quantized(_), &[word]) => Value::Word(word),
        (FieldKind::F32, &[word]) => Value::F32(single(word)),
        (FieldKind::U64, &[low, high]) => Value::U64(number(low, high)),
        (FieldKind::Name, &[low, high]) => Value::Name(Name(number(low, high))),
        (FieldKind::Position(_) | FieldKind::Scale(_) | FieldKind::Velocity(_), &[x, y, z, raw]) => {
            Value::Triple(Words3 { words: [x, y, z], raw: raw != 0 })
        }
        (FieldKind::Rotation(Profile::None), &[x, y, z, w]) => {
            Value::Rotation(Rotation::Raw([single(x), single(y), single(z), single(w)]))
        }
        (FieldKind::Rotation(_), &[largest, a, b, c]) => Value::Rotation(Rotation::SmallestThree {
            largest: u8::try_from(largest).ok()?,
            steps: [step(a)?, step(b)?, step(c)?],
        }),
        _ => return None,
    })
}

/// The bits of `mask` at the places of `within`, pushed together.
fn gathered(mask: u64, within: u64) -> u64 {
    let mut result = 0;
    for (index, place) in places(within).enumerate() {
        result |= (mask >> place & 1) << index;
    }
    result
}

/// The inverse of [`gathered`].
fn scattered(bits: u64, within: u64) -> u64 {
    let mut result = 0;
    for (index, place) in places(within).enumerate() {
        result |= (bits >> index & 1) << place;
    }
    result
}

/// The places of the set bits.
#[inline]
fn places(mut mask: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let place = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(place)
    })
}
