//! One word as its difference from a prediction, coded by how large a difference is to be expected.
//!
//! What moves fast is predicted badly, and what was predicted badly on one axis is so on the next. The expectation, a
//! number that both sides compute from the baselines and from the axes before, chooses the table:
//!
//! ```text
//!   level   0   1   2    3    4     5      6      7       8        9         10         11     …
//!   from    0   1   2    4    8    16     32     64     128      256        512       1024
//!   table   0   1   2    3    4     5      6      7       8        9          9          9
//!   shift   0   0   0    0    0     0      0      0       0        0          1          2     …   at most 20
//! ```
//!
//! Beyond the last table the low `shift` bits of the difference are noise and sent as they are; the rest, rounded, is
//! what the table codes. A token is a magnitude class, two to the octave:
//!
//! ```text
//!   token       0  1  2  3  4    5    6     7      8      9     …  23          24
//!   magnitude   0  1  2  3  4-5  6-7  8-11  12-15  16-23  24-31    3072-4095   the word itself
//!
//!   code of the token │ sign, 1 = negative │ place in the class, low bits first │ the low `shift` bits
//!                     │ if not zero        │ token / 2 - 1 bits, from token 4   │
//! ```
//!
//! Token 24 is the escape: the distance of the word from the smallest of its range follows instead.

use netloom_wire::bits::bits_for;
use netloom_wire::entropy::CodeError;
use netloom_wire::quantize::WordRange;
use netloom_wire::{BitReader, ReadError};

use super::codes::Codes;
use super::prefix::Prefix;
use super::run::Run;

/// The token of a word that is sent as it is.
const ESCAPE: u8 = 24;

/// Tokens of one table.
pub(super) const TOKENS: usize = ESCAPE as usize + 1;

/// The largest magnitude that has a class.
const MAGNITUDE_MAX: u64 = 4095;

/// Tables of one family.
pub(super) const LEVELS: usize = 10;

/// With this many bits cut off, every difference of two words has a class, but for the largest few.
const SHIFT_MAX: u32 = 20;

/// Which distribution a difference follows. Each has its own tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// The first difference of three from the newer baseline, expected by the motion between the baselines.
    NewerFirst = 0,
    /// The next two, expected by those before.
    NewerNext = 1,
    /// The first difference from the line through both baselines.
    LineFirst = 2,
    /// The next two.
    LineNext = 3,
}

/// The table of a first difference when there is one baseline and nothing is known about motion.
const UNKNOWN_TABLE: usize = 4 * LEVELS;

/// Tables of residuals: the families, and the one for the unknown.
pub(super) const RESIDUAL_TABLES: usize = UNKNOWN_TABLE + 1;

/// By the bits of an expectation: its table, and how many low bits are cut off.
const LEVEL_SHIFTS: [(u8, u8); 65] = {
    let mut rows = [(0, 0); 65];
    let top = LEVELS as u8 - 1;
    let mut bits = 0;
    while bits <= 64 {
        let beyond = (bits as u8).saturating_sub(top);
        let shift = if beyond < SHIFT_MAX as u8 { beyond } else { SHIFT_MAX as u8 };
        rows[bits] = (bits as u8 - beyond, shift);
        bits += 1;
    }
    rows
};

/// How large a difference is expected to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    table: usize,
    shift: u32,
}

impl Scale {
    /// Nothing is known.
    pub const UNKNOWN: Scale = Scale { table: UNKNOWN_TABLE, shift: 0 };

    /// Around `expected`, in a unit of the family's own.
    #[inline]
    pub fn of(family: Family, expected: u64) -> Scale {
        let (level, shift) = LEVEL_SHIFTS[bits_for(expected) as usize];
        Scale { table: family as usize * LEVELS + usize::from(level), shift: u32::from(shift) }
    }

    /// Half of the cut-off part, added before cutting so that the rest is rounded to nearest.
    #[inline]
    fn rounding(self) -> i64 {
        (1i64 << self.shift) >> 1
    }

    #[inline]
    fn low_mask(self) -> u64 {
        (1u64 << self.shift) - 1
    }
}

/// The class of a magnitude, and the bits of the place inside it.
#[inline]
fn token_of(magnitude: u32) -> (u8, u32) {
    if magnitude < 4 {
        return (magnitude as u8, 0);
    }
    let octave = magnitude.ilog2();
    let upper_half = (magnitude >> (octave - 1)) & 1;
    ((2 * octave + upper_half) as u8, octave - 1)
}

/// The smallest magnitude of each class, and the bits of the place inside it.
const CLASSES: [(u16, u8); 32] = {
    let mut classes = [(0, 0); 32];
    let mut token = 0;
    while token < ESCAPE {
        classes[token as usize] = match token {
            0..4 => (token as u16, 0),
            _ => ((2 | token as u16 & 1) << (token / 2 - 1), token / 2 - 1),
        };
        token += 1;
    }
    classes
};

/// Magnitudes below this have their bits ready in [`ResidualTable`].
const READY_MAX: i64 = 64;

/// Where the number of bits is in a ready entry.
const READY_LENGTH: u32 = 24;

/// Differences of at most so many bits are read with one lookup.
const GLANCE_BITS: u32 = 11;

/// The codes of one table's tokens, and shortcuts for small differences that are not shifted.
#[derive(Clone, Debug)]
pub(super) struct ResidualTable {
    tokens: Prefix<32, 1024>,
    /// By difference + 64: code, sign and place, and their number above them.
    ready: [u32; 2 * READY_MAX as usize],
    /// By the next bits of the input: the number of bits in the low four, the difference above them; zero if there are
    /// more bits than were looked at.
    glances: Box<[i16; 1 << GLANCE_BITS]>,
}

impl ResidualTable {
    pub fn from_lengths(lengths: &[u8]) -> Result<ResidualTable, CodeError> {
        let tokens = Prefix::from_lengths(lengths)?;
        let mut ready = [0; 2 * READY_MAX as usize];
        for (entry, difference) in ready.iter_mut().zip(-READY_MAX..) {
            let (bits, length) = token_bits(&tokens, difference);
            *entry = bits as u32 | length << READY_LENGTH;
        }
        let mut glances = Box::new([0; 1 << GLANCE_BITS]);
        for difference in -(1i64 << (GLANCE_BITS - 1))..1 << (GLANCE_BITS - 1) {
            let (bits, length) = token_bits(&tokens, difference);
            if length <= GLANCE_BITS {
                for entry in glances.iter_mut().skip(bits as usize).step_by(1 << length) {
                    *entry = (difference as i16) << 4 | length as i16;
                }
            }
        }
        Ok(ResidualTable { tokens, ready, glances })
    }
}

/// Code, sign and place of a difference that has a class, and their number.
fn token_bits(tokens: &Prefix<32, 1024>, high: i64) -> (u64, u32) {
    let magnitude = high.unsigned_abs();
    let (token, place_bits) = token_of(magnitude as u32);
    let code = tokens.code(token);
    let length = u32::from(code.length);
    let sign_bits = u32::from(high != 0);
    let place = magnitude & ((1 << place_bits) - 1);
    let bits = u64::from(code.bits) | u64::from(high < 0) << length | place << (length + sign_bits);
    (bits, length + sign_bits + place_bits)
}

/// Writes `word`, which must lie in `range`, by its difference from what was predicted.
#[inline]
pub(super) fn write(
    codes: &Codes,
    scale: Scale,
    word: i32,
    difference: i64,
    range: WordRange,
    run: &mut impl Run,
) {
    let table = codes.residual(scale.table);
    // A negative index is huge, and so is that of a shifted difference: one comparison for three conditions.
    let index = (difference + READY_MAX) as u64 | u64::from(scale.shift) << 8;
    match table.ready.get(index as usize) {
        Some(&entry) => run.put(u64::from(entry & ((1 << READY_LENGTH) - 1)), entry >> READY_LENGTH),
        None => write_large(table, scale, word, difference, range, run),
    }
}

fn write_large(
    table: &ResidualTable,
    scale: Scale,
    word: i32,
    difference: i64,
    range: WordRange,
    run: &mut impl Run,
) {
    let lifted = difference + scale.rounding();
    let high = lifted >> scale.shift;
    if high.unsigned_abs() > MAGNITUDE_MAX {
        run.put_code(table.tokens.code(ESCAPE));
        run.put(u64::from(word.wrapping_sub(range.min()) as u32), range.bit_width());
        return;
    }
    let (bits, length) = token_bits(&table.tokens, high);
    run.put(bits | (lifted as u64 & scale.low_mask()) << length, length + scale.shift);
}

/// The difference that `bits` begin with and its number of bits, if it is small.
#[inline]
pub(super) fn glance(codes: &Codes, scale: Scale, bits: u64) -> Option<(i64, u32)> {
    let entry = codes.residual(scale.table).glances[bits as usize & ((1 << GLANCE_BITS) - 1)];
    ((entry != 0) & (scale.shift == 0)).then_some((i64::from(entry >> 4), entry as u32 & 15))
}

/// Reads a word of `range` that was written against the same prediction and scale.
pub(super) fn read(
    codes: &Codes,
    scale: Scale,
    predicted: i64,
    range: WordRange,
    reader: &mut BitReader<'_>,
) -> Result<i32, ReadError> {
    // The longest form but for the escape: 10 bits of code, 1 of sign, 10 of place, 20 low ones.
    let bits = reader.peek_bits(41);
    let (token, code_length) = codes.residual(scale.table).tokens.symbol(bits);
    if token >= ESCAPE {
        reader.skip_bits(code_length as usize)?;
        let offset = reader.read_ranged(u64::from(range.span()))?;
        return Ok(range.min().wrapping_add(offset as u32 as i32));
    }
    let (smallest, place_bits) = CLASSES[usize::from(token) % CLASSES.len()];
    let (smallest, place_bits) = (u64::from(smallest), u32::from(place_bits));
    let sign_bits = u32::from(token != 0);
    let rest = bits >> code_length;
    let negative = rest & u64::from(sign_bits) != 0;
    let rest = rest >> sign_bits;
    let magnitude = (smallest + (rest & ((1 << place_bits) - 1))) as i64;
    let low = (rest >> place_bits & scale.low_mask()) as i64;
    reader.skip_bits((code_length + sign_bits + place_bits + scale.shift) as usize)?;
    let high = if negative { -magnitude } else { magnitude };
    let difference = (high << scale.shift) + low - scale.rounding();
    within(range, predicted + difference)
}

/// The word, if it is one of the range.
#[inline]
pub(super) fn within(range: WordRange, word: i64) -> Result<i32, ReadError> {
    match i64::from(range.min()) <= word && word <= i64::from(range.max()) {
        true => Ok(word as i32),
        false => Err(ReadError::OutOfRange),
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::LongRun;
    use super::*;
    use netloom_wire::BitWriter;
    use proptest::prelude::*;

    #[test]
    fn classes_follow_one_another_without_gap_or_overlap() {
        let mut next = 0;
        for token in 0..ESCAPE {
            let (smallest, place_bits) = CLASSES[usize::from(token)];
            assert_eq!(u64::from(smallest), next, "token {token}");
            next += 1 << place_bits;
            for magnitude in [u64::from(smallest), next - 1] {
                assert_eq!(
                    token_of(magnitude as u32),
                    (token, u32::from(place_bits)),
                    "magnitude {magnitude}"
                );
            }
        }
        assert_eq!(next, MAGNITUDE_MAX + 1);
    }

    proptest! {
        #[test]
        fn any_word_returns_under_any_expectation(
            word in any::<i32>(),
            predicted in any::<i32>(),
            family in prop::sample::select(vec![
                Family::NewerFirst, Family::NewerNext, Family::LineFirst, Family::LineNext,
            ]),
            level in 0u32..45,
            near in any::<bool>(),
        ) {
            let codes = Codes::generic();
            let scale = Scale::of(family, (1u64 << level) >> 1);
            let mut run = LongRun::default();
            let predicted = if near { i64::from(word) + i64::from(predicted % 100) } else { i64::from(predicted) };
            write(&codes, scale, word, i64::from(word) - predicted, WordRange::ALL, &mut run);
            prop_assert!(run.length <= 42, "three of them must fit a run: {} bits", run.length);
            let mut bytes = [0; 24];
            let mut writer = BitWriter::new(&mut bytes);
            run.write(&mut writer);
            prop_assert!(writer.finish().is_ok());
            let mut reader = BitReader::with_bit_len(&bytes, run.length as usize).unwrap();
            if let Some((difference, length)) = glance(&codes, scale, reader.peek_bits(56)) {
                prop_assert_eq!((predicted + difference, length), (i64::from(word), run.length));
            }
            prop_assert_eq!(read(&codes, scale, predicted, WordRange::ALL, &mut reader), Ok(word));
            prop_assert_eq!(reader.remaining_bits(), 0);
        }
    }
}
