//! Three numbers, each expected to be about as large as what is known by then.
//!
//! Differences from a prediction are small or large together: what surprises on one axis does so on all. How large they
//! will be follows roughly from how the object moved between its baselines, and better with each number that is known.
//! So they are coded one after the other, and the table of each is chosen by a size that is expected of it:
//!
//! ```text
//!   first       size                                          size: how far the object is expected to be off
//!   second      |first| + share                               share: the part of it that still counts then
//!   third       (|first| + |second|) / 2  +  3/4 share
//! ```
//!
//! The bits of that number are the level, and the level chooses the table. A number is a symbol and bits that follow it.
//! The symbols of numbers below 8 are exact; above, there are four to each power of two:
//!
//! ```text
//!   symbol       fold                                                           follows
//!   2·i + s      i, if i < 8                                                    nothing
//!                (4 + i mod 4) · 2^k up to the next, with k = i / 4 − 1         the k low bits of the fold
//!   104          any                                                            5 bits: bits, then bits + 1: the number
//! ```
//!
//! s is 1 for a negative number, whose *fold* is its complement. Four symbols to a power of two cost little more than
//! exact ones, because numbers of the same power are nearly alike in frequency.

use netloom_wire::{BitReader, ReadError};

use super::prefix::Prefixes;
use super::run::Run;

/// Bits of the largest folds that have symbols of their own.
pub(super) const BITS_MAX: u32 = 14;
/// Folds below this have a symbol each.
const EXACT: usize = 8;
/// The symbol of larger numbers.
const ESCAPE: usize = 2 * (EXACT + 4 * (BITS_MAX as usize - 3));
/// Bits of a number of bits.
const ESCAPE_BITS: u32 = 5;
/// Symbols of a table of numbers.
pub(super) const NUMBER_SYMBOLS: usize = ESCAPE + 1;

/// In a head, two symbols more: not the usual form but the one that differs from the newer baseline, and any other form.
pub(super) const FROM_NEWER: usize = NUMBER_SYMBOLS;
pub(super) const OTHER_FORM: usize = NUMBER_SYMBOLS + 1;
/// Symbols of a head.
pub(super) const HEAD_SYMBOLS: usize = NUMBER_SYMBOLS + 2;

/// Sizes that are told apart.
pub(super) const LEVELS: usize = 12;
/// Tables: a level of each kind.
pub(super) const CHAIN_TABLES: usize = 5 * LEVELS;
/// Places of one table among the codes of all.
pub(super) const CHAIN_STRIDE: usize = 128;

/// Larger sizes are of no use, and their sums would leave what floats hold exactly.
const SIZE_MAX: i32 = 1 << 20;

/// The tables of numbers, by kind and level.
pub(super) type Numbers = Prefixes<64, CHAIN_STRIDE, 2048>;

/// What differences are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// From the only baseline.
    Alone = 0,
    /// From the newer of two.
    Newer = 1,
    /// From the line or arc through two.
    Line = 2,
    /// From the line or arc of which three baselines tell how it bends.
    Curve = 3,
    /// From the newer baseline of something that another object carries.
    Carried = 4,
}

impl Kind {
    /// How much less than the size its share is, in bits.
    const fn share_bits(self) -> i32 {
        match self {
            Kind::Alone | Kind::Carried => 0,
            Kind::Newer | Kind::Curve => 1,
            Kind::Line => 3,
        }
    }
}

/// What is known about the size of three numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// The place of the first table of the kind.
    tables: i32,
    size: i32,
    share: i32,
}

impl Expected {
    /// Of the only baseline nothing follows.
    pub const ALONE: Expected = Expected::of(Kind::Alone, 0, 0);

    #[inline(always)]
    pub fn new(kind: Kind, size: i32) -> Expected {
        let size = if size < SIZE_MAX { size } else { SIZE_MAX };
        Expected::of(kind, size, size >> kind.share_bits())
    }

    #[inline(always)]
    const fn of(kind: Kind, size: i32, share: i32) -> Expected {
        Expected { tables: kind as i32 * (LEVELS * CHAIN_STRIDE) as i32, size, share }
    }

    /// Either of two.
    #[inline(always)]
    pub fn select(condition: bool, yes: Expected, no: Expected) -> Expected {
        let select = |yes: i32, no: i32| if condition { yes } else { no };
        Expected {
            tables: select(yes.tables, no.tables),
            size: select(yes.size, no.size),
            share: select(yes.share, no.share),
        }
    }

    /// The place of the table for a number of about this size.
    #[inline(always)]
    fn table(&self, size: i32) -> i32 {
        let bits = bits_of_small(size);
        let level = if bits < LEVELS as i32 { bits } else { LEVELS as i32 - 1 };
        self.tables + level * CHAIN_STRIDE as i32
    }

    /// The place of the table of the first number.
    #[inline(always)]
    pub fn first(&self) -> i32 {
        self.table(self.size)
    }

    #[inline(always)]
    fn second(&self, first: i32) -> i32 {
        self.table(size_of(first) + self.share)
    }

    #[inline(always)]
    fn third(&self, first: i32, second: i32) -> i32 {
        self.table(((size_of(first) + size_of(second)) >> 1) + self.share - (self.share >> 2))
    }

    /// The places of the tables of three numbers.
    #[inline(always)]
    fn tables(&self, [first, second, _]: [i32; 3]) -> [i32; 3] {
        [self.first(), self.second(first), self.third(first, second)]
    }
}

/// A magnitude: a negative number counts as its complement.
#[inline(always)]
pub(super) fn folded(number: i32) -> i32 {
    number ^ number >> 31
}

#[inline(always)]
fn size_of(number: i32) -> i32 {
    let fold = folded(number);
    if fold < SIZE_MAX { fold } else { SIZE_MAX }
}

/// As wide as the widest of three.
#[inline(always)]
pub(super) fn spread(numbers: [i32; 3]) -> i32 {
    let [x, y, z] = numbers.map(folded);
    x | y | z
}

/// The bits of a folded magnitude.
#[inline(always)]
pub(super) fn bits_of(magnitude: i32) -> u32 {
    // Of an odd number no case is special, and one instruction does it.
    ((magnitude as u32) << 1 | 1).ilog2()
}

/// The same for many at once: floats know their exponents. Of magnitudes from 2^23 on it is some number above 23.
#[inline(always)]
pub(super) fn bits_of_small(magnitude: i32) -> i32 {
    let odd = magnitude.wrapping_mul(2).wrapping_add(1) as f32;
    (odd.to_bits() >> 23) as i32 - 127
}

/// Three numbers on their way to be written: the place of the code of each, and what follows the code: its bits, and how many
/// there are above [`TAIL_BITS`]. In words of 32 bits and without branches, because many are packed at once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packed {
    pub codes: [i32; 3],
    pub tails: [i32; 3],
}

/// What the bits after a code have room in.
const TAIL_BITS: u32 = 24;

const _: () = assert!(BITS_MAX <= TAIL_BITS);

impl Packed {
    /// Packs numbers of at most [`BITS_MAX`] bits. Of others the result means nothing.
    #[inline(always)]
    pub fn new(expected: Expected, numbers: [i32; 3]) -> Packed {
        let (tables, symbols) = (expected.tables(numbers), numbers.map(symbol));
        let tail = |place: usize| {
            let count = low_bits(symbols[place] as usize) as i32;
            folded(numbers[place]) & ((1 << (count & 31)) - 1) | count << TAIL_BITS
        };
        Packed {
            codes: core::array::from_fn(|place| tables[place] + symbols[place]),
            tails: core::array::from_fn(tail),
        }
    }

    /// Writes the first number with the codes of `first`, the others with those of `next`.
    #[inline(always)]
    pub fn write(&self, first: &Numbers, next: &Numbers, run: &mut impl Run) {
        for (place, (&code, &tail)) in self.codes.iter().zip(&self.tails).enumerate() {
            let code = if place == 0 { first } else { next }.code_at(code);
            run.put_code_and((tail & ((1 << TAIL_BITS) - 1)) as u64, tail as u32 >> TAIL_BITS, code);
        }
    }
}

/// The symbol of a number of at most [`BITS_MAX`] bits.
#[inline(always)]
fn symbol(number: i32) -> i32 {
    let fold = folded(number);
    // The exponent of a float and the first two bits of its fraction: four to each power of two.
    let quarter = ((fold as f32).to_bits() >> 21) as i32 - (128 << 2);
    let index = if fold < 4 { fold } else { quarter };
    2 * index - (number >> 31)
}

/// The bits that follow a symbol.
#[inline(always)]
fn low_bits(symbol: usize) -> u32 {
    (symbol as u32 >> 3).saturating_sub(1)
}

/// Writes three numbers: the first with the codes of `first`, the others with those of `next`.
#[inline(always)]
pub(super) fn write([first, next]: [&Numbers; 2], expected: Expected, numbers: [i32; 3], run: &mut impl Run) {
    if spread(numbers) >> BITS_MAX == 0 {
        return Packed::new(expected, numbers).write(first, next, run);
    }
    write_far([first, next], expected, numbers, run);
}

#[cold]
fn write_far([first, next]: [&Numbers; 2], expected: Expected, numbers: [i32; 3], run: &mut impl Run) {
    for (place, (number, table)) in numbers.into_iter().zip(expected.tables(numbers)).enumerate() {
        let codes = if place == 0 { first } else { next };
        let bits = bits_of(folded(number));
        if bits <= BITS_MAX {
            let symbol = symbol(number);
            run.put_code(codes.code_at(table + symbol));
            let count = low_bits(symbol as usize);
            run.put(folded(number) as u64 & ((1 << count) - 1), count);
        } else {
            run.put_code(codes.code_at(table + ESCAPE as i32));
            run.put(u64::from(bits), ESCAPE_BITS);
            run.put(u64::from(number as u32) & ((2 << bits) - 1), bits + 1);
        }
    }
}

/// Reads a symbol of the table at this place.
#[inline(always)]
pub(super) fn read_symbol(
    codes: &Numbers,
    table: i32,
    reader: &mut BitReader<'_>,
) -> Result<usize, ReadError> {
    let (symbol, length) = codes.symbol(table as usize / CHAIN_STRIDE, reader.peek_bits(16));
    reader.skip_bits(length as usize)?;
    Ok(symbol)
}

/// The number that a symbol begins.
#[inline(always)]
fn read_rest(symbol: usize, reader: &mut BitReader<'_>) -> Result<i32, ReadError> {
    if symbol >= ESCAPE {
        return read_far(symbol, reader);
    }
    let low = reader.peek_bits(16);
    reader.skip_bits(low_bits(symbol) as usize)?;
    Ok(number(symbol, low))
}

/// Reads a number with the table at this place.
#[inline(always)]
fn read_number(codes: &Numbers, table: i32, reader: &mut BitReader<'_>) -> Result<i32, ReadError> {
    // A code and what follows it are at most 22 bits: they are looked at once.
    let bits = reader.peek_bits(32);
    let (symbol, length) = codes.symbol(table as usize / CHAIN_STRIDE, bits);
    if symbol >= ESCAPE {
        reader.skip_bits(length as usize)?;
        return read_far(symbol, reader);
    }
    reader.skip_bits((length + low_bits(symbol)) as usize)?;
    Ok(number(symbol, bits >> length))
}

/// The number of a symbol below [`ESCAPE`], and the bits that follow it.
#[inline(always)]
fn number(symbol: usize, bits: u64) -> i32 {
    let count = low_bits(symbol);
    let index = symbol as i32 >> 1;
    let top = if index < EXACT as i32 { index } else { 4 + (index & 3) };
    let fold = top << count | bits as i32 & ((1 << count) - 1);
    fold ^ -(symbol as i32 & 1)
}

#[cold]
fn read_far(symbol: usize, reader: &mut BitReader<'_>) -> Result<i32, ReadError> {
    if symbol > ESCAPE {
        return Err(ReadError::InvalidCode);
    }
    let count = reader.read_bits(ESCAPE_BITS)? as u32 + 1;
    let above = u32::BITS - count;
    Ok(((reader.read_bits(count)? as u32) << above) as i32 >> above)
}

/// Reads three numbers.
#[inline(always)]
pub(super) fn read(
    [first, next]: [&Numbers; 2],
    expected: Expected,
    reader: &mut BitReader<'_>,
) -> Result<[i32; 3], ReadError> {
    let first = read_number(first, expected.first(), reader)?;
    read_next(first, next, expected, reader)
}

/// Reads the rest of three numbers of which the symbol of the first is known.
#[inline(always)]
pub(super) fn read_after(
    symbol: usize,
    next: &Numbers,
    expected: Expected,
    reader: &mut BitReader<'_>,
) -> Result<[i32; 3], ReadError> {
    read_next(read_rest(symbol, reader)?, next, expected, reader)
}

#[inline(always)]
fn read_next(
    first: i32,
    next: &Numbers,
    expected: Expected,
    reader: &mut BitReader<'_>,
) -> Result<[i32; 3], ReadError> {
    let second = read_number(next, expected.second(first), reader)?;
    let third = read_number(next, expected.third(first, second), reader)?;
    Ok([first, second, third])
}

#[cfg(test)]
mod tests {
    use super::super::codes::Codes;
    use super::super::run::{LongRun, ShortRun, Written};
    use super::*;
    use netloom_wire::BitWriter;
    use proptest::prelude::*;

    fn any_number() -> impl Strategy<Value = i32> {
        // Up to 25 bits: wider ones are said in full before they come here.
        prop_oneof![Just(0), -2i32..=2, (7u32..32, any::<i32>()).prop_map(|(shift, value)| value >> shift)]
    }

    fn any_expected() -> impl Strategy<Value = Expected> {
        let kinds = [Kind::Alone, Kind::Newer, Kind::Line, Kind::Curve, Kind::Carried];
        (prop::sample::select(kinds.to_vec()), 0u32..31, 0..i32::MAX)
            .prop_map(|(kind, shift, size)| Expected::new(kind, size >> shift))
    }

    proptest! {
        #[test]
        fn any_three_numbers_return_under_any_expectation(
            numbers in prop::array::uniform3(any_number()), expected in any_expected(),
        ) {
            let codes = Codes::generic();
            let tables = [codes.lead(), codes.rest()];
            let (mut run, mut short) = (LongRun::default(), ShortRun::default());
            write(tables, expected, numbers, &mut run);
            write(tables, expected, numbers, &mut short);
            prop_assert_eq!(short.length, run.length);
            if run.length <= 64 {
                prop_assert_eq!(u128::from(short.bits), run.bits);
            }
            let mut bytes = [0; 24];
            let mut writer = BitWriter::new(&mut bytes);
            run.write(&mut writer);
            prop_assert!(writer.finish().is_ok());
            let mut reader = BitReader::with_bit_len(&bytes, run.length as usize).unwrap();
            prop_assert_eq!(read(tables, expected, &mut reader), Ok(numbers));
            prop_assert_eq!(reader.remaining_bits(), 0);
        }
    }

    #[test]
    fn symbols_are_exact_below_eight_and_four_to_a_power_above() {
        for (number, expected, low) in [
            (0, 0, 0),
            (-1, 1, 0),
            (1, 2, 0),
            (-2, 3, 0),
            (7, 14, 0),
            (-8, 15, 0),
            (8, 16, 1),
            (9, 16, 1),
            (10, 18, 1),
            (-11, 19, 1),
            (16, 24, 2),
            (31, 30, 2),
            (16_383, 102, 11),
            (-16_384, 103, 11),
        ] {
            assert_eq!((symbol(number), low_bits(expected as usize)), (expected, low), "{number}");
        }
    }

    #[test]
    fn bits_count_those_of_the_magnitude() {
        for (number, bits) in
            [(0, 0), (-1, 0), (1, 1), (-2, 1), (2, 2), (-4, 2), (i32::MAX, 31), (i32::MIN, 31)]
        {
            assert_eq!(bits_of(folded(number)), bits, "{number}");
        }
    }
}
