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

/// The tables of expectations below 256, none of which is shifted.
const SMALL_LEVELS: [u8; 256] = {
    let mut levels = [0; 256];
    let mut expected = 1;
    while expected < 256 {
        levels[expected] = LEVEL_SHIFTS[bits_for(expected as u64) as usize].0;
        expected += 1;
    }
    levels
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

    /// The same for an expectation that is small, and with less to compute.
    #[inline]
    pub fn of_small(family: Family, expected: u8) -> Scale {
        Scale { table: family as usize * LEVELS + usize::from(SMALL_LEVELS[usize::from(expected)]), shift: 0 }
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

/// Bits of an index into the ready bits of one table: differences from -64 to 63.
const READY_BITS: u32 = 7;
const READY_MAX: i32 = 1 << (READY_BITS - 1);

/// Where the number of bits is in a ready entry.
const READY_LENGTH: u32 = 24;

/// Differences of at most so many bits are read with one lookup.
const GLANCE_BITS: u32 = 11;

/// Tables in the arrays of shortcuts: a power of two, so that no index needs a bounds check.
const ROWS: usize = RESIDUAL_TABLES.next_power_of_two();

/// All tables of residuals: the codes of their tokens, and shortcuts for small differences that are not shifted.
#[derive(Clone, Debug)]
pub(super) struct Residuals {
    tokens: Box<[Prefix<32, 1024>]>,
    /// By table, and difference + 64: code, sign and place, and their number above them.
    ready: Box<[u32; ROWS << READY_BITS]>,
    /// By table, and the next bits of the input: the number of bits in the low four, the difference above them; zero if
    /// there are more bits than were looked at.
    glances: Box<[i16; ROWS << GLANCE_BITS]>,
}

impl Residuals {
    pub fn from_lengths(lengths: &[[u8; TOKENS]; RESIDUAL_TABLES]) -> Result<Residuals, CodeError> {
        let tokens: Result<Box<[Prefix<32, 1024>]>, CodeError> =
            lengths.iter().map(|row| Prefix::from_lengths(row)).collect();
        let mut residuals = Residuals { tokens: tokens?, ready: boxed(0), glances: boxed(0) };
        let ready_rows = residuals.ready.chunks_exact_mut(1 << READY_BITS);
        let glance_rows = residuals.glances.chunks_exact_mut(1 << GLANCE_BITS);
        for ((tokens, ready), glances) in residuals.tokens.iter().zip(ready_rows).zip(glance_rows) {
            for (entry, difference) in ready.iter_mut().zip(-READY_MAX..) {
                let (bits, length) = token_bits(tokens, i64::from(difference));
                *entry = bits as u32 | length << READY_LENGTH;
            }
            for difference in -(1i64 << (GLANCE_BITS - 1))..1 << (GLANCE_BITS - 1) {
                let (bits, length) = token_bits(tokens, difference);
                if length <= GLANCE_BITS {
                    for entry in glances.iter_mut().skip(bits as usize).step_by(1 << length) {
                        *entry = (difference as i16) << 4 | length as i16;
                    }
                }
            }
        }
        Ok(residuals)
    }

    /// The bits of a small difference, by its ready index, and their number.
    #[inline]
    pub fn ready(&self, scale: Scale, index: usize) -> (u64, u32) {
        let entry = self.ready[(scale.table << READY_BITS | index) % (ROWS << READY_BITS)];
        (u64::from(entry & ((1 << READY_LENGTH) - 1)), entry >> READY_LENGTH)
    }

    /// Writes `word`, which must lie in `range`, by its difference from what was predicted.
    pub fn write(&self, scale: Scale, word: i32, difference: i32, range: WordRange, run: &mut impl Run) {
        let tokens = &self.tokens[scale.table];
        let lifted = i64::from(difference) + scale.rounding();
        let high = lifted >> scale.shift;
        if high.unsigned_abs() > MAGNITUDE_MAX {
            run.put_code(tokens.code(ESCAPE));
            run.put(u64::from(word.wrapping_sub(range.min()) as u32), range.bit_width());
            return;
        }
        let (bits, length) = token_bits(tokens, high);
        run.put(bits | (lifted as u64 & scale.low_mask()) << length, length + scale.shift);
    }

    /// The difference that `bits` begin with and its number of bits, if it is small.
    #[inline]
    pub fn glance(&self, scale: Scale, bits: u64) -> Option<(i32, u32)> {
        let index = bits as usize % (1 << GLANCE_BITS);
        let entry = self.glances[(scale.table << GLANCE_BITS | index) % (ROWS << GLANCE_BITS)];
        ((entry != 0) & (scale.shift == 0)).then_some((i32::from(entry >> 4), entry as u32 & 15))
    }

    /// Reads a word of `range` that was written against the same prediction and scale.
    pub fn read(
        &self,
        scale: Scale,
        predicted: i32,
        range: WordRange,
        reader: &mut BitReader<'_>,
    ) -> Result<i32, ReadError> {
        // The longest form but for the escape: 10 bits of code, 1 of sign, 10 of place, 20 low ones.
        let bits = reader.peek_bits(41);
        let (token, code_length) = self.tokens[scale.table].symbol(bits);
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
        within(range, predicted.wrapping_add(difference as i32))
    }
}

/// The indexes of three differences whose bits are ready; `None` if one is too large, or the first is shifted.
#[inline]
pub(super) fn ready_indexes(differences: [i32; 3], first_scale: Scale) -> Option<[usize; 3]> {
    let indexes = differences.map(|difference| difference.wrapping_add(READY_MAX) as u32);
    // A negative index is huge, and a shift makes one: one comparison for all conditions.
    let all = indexes[0] | indexes[1] | indexes[2] | first_scale.shift << READY_BITS;
    (all >> READY_BITS == 0).then_some(indexes.map(|index| index as usize))
}

/// An array on the heap that never was on the stack.
fn boxed<T: Copy, const LENGTH: usize>(value: T) -> Box<[T; LENGTH]> {
    match vec![value; LENGTH].try_into() {
        Ok(array) => array,
        Err(_) => unreachable!("as long as asked for"),
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

/// The word, if it is one of the range.
#[inline]
pub(super) fn within(range: WordRange, word: i32) -> Result<i32, ReadError> {
    if range.contains(word) { Ok(word) } else { Err(ReadError::OutOfRange) }
}

#[cfg(test)]
mod tests {
    use super::super::generic::RESIDUAL;
    use super::super::run::LongRun;
    use super::*;
    use netloom_wire::BitWriter;
    use proptest::prelude::*;

    #[test]
    fn small_expectations_have_the_scales_of_all() {
        for expected in 0..=255 {
            let (small, any) = (
                Scale::of_small(Family::LineNext, expected),
                Scale::of(Family::LineNext, u64::from(expected)),
            );
            assert_eq!((small.table, small.shift), (any.table, any.shift), "{expected}");
        }
    }

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
            let residuals = Residuals::from_lengths(&RESIDUAL).unwrap();
            let scale = Scale::of(family, (1u64 << level) >> 1);
            let mut run = LongRun::default();
            let predicted = if near { word.wrapping_add(predicted % 100) } else { predicted };
            residuals.write(scale, word, word.wrapping_sub(predicted), WordRange::ALL, &mut run);
            if let Some([index, ..]) = ready_indexes([word.wrapping_sub(predicted), 0, 0], scale) {
                prop_assert_eq!(residuals.ready(scale, index), (run.bits as u64, run.length));
            }
            prop_assert!(run.length <= 42, "three of them must fit a run: {} bits", run.length);
            let mut bytes = [0; 24];
            let mut writer = BitWriter::new(&mut bytes);
            run.write(&mut writer);
            prop_assert!(writer.finish().is_ok());
            let mut reader = BitReader::with_bit_len(&bytes, run.length as usize).unwrap();
            if let Some((difference, length)) = residuals.glance(scale, reader.peek_bits(56)) {
                prop_assert_eq!((predicted.wrapping_add(difference), length), (word, run.length));
            }
            prop_assert_eq!(residuals.read(scale, predicted, WordRange::ALL, &mut reader), Ok(word));
            prop_assert_eq!(reader.remaining_bits(), 0);
        }
    }
}
