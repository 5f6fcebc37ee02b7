//! Three differences at once: of a position, or of a rotation of which nothing better is known.
//!
//! Something that surprises on one axis does so on all. So the three share one width, that of the largest, and one code
//! says the width and which of the three are zero; the differences follow as they are. Small ones, of which there are
//! many, have a code for each combination.
//!
//! ```text
//!   symbol       differences                                                    follows
//!   0 to 63      all in -2..=1: x, 4·y and 16·z, each modulo 4                  nothing
//!   64 to 140    64 + 7·(bits − 2) + mask − 1, bits from 2 to 12                bits + 1 bits for each in the mask
//!   141          any                                                            5 bits: bits, then bits + 1 for each
//! ```
//!
//! `bits` is that of the largest magnitude, where a negative number counts as its complement, so that bits + 1 bits hold
//! any of the three in two's complement. Bit 0 of the mask is x.
//!
//! What is to be expected chooses the table: how far the object would go at the pace between its baselines, and whether
//! the differences are from the newer one or from the line through both.

use netloom_wire::{BitReader, ReadError};

use super::codes::Codes;
use super::run::Run;

/// Symbols of combinations of small differences.
const SMALL: usize = 64;
/// Bits of the largest differences that have symbols of their own.
pub(super) const BITS_MAX: u32 = 12;
/// The symbol of larger ones.
const ESCAPE: usize = SMALL + 7 * (BITS_MAX as usize - 1);
/// Bits of a number of bits.
const ESCAPE_BITS: u32 = 5;
/// Symbols of one table.
pub(super) const TRIPLE_SYMBOLS: usize = ESCAPE + 1;

/// Expectations that are told apart.
pub(super) const LEVELS: usize = 12;

/// Tables: differences from the newer baseline, from the line, and from the newer one where it is the only one.
pub(super) const TRIPLE_TABLES: usize = 2 * LEVELS + 1;

/// Places of one table among the codes of all.
pub(super) const TRIPLE_STRIDE: usize = 256;

/// The place of no code at all.
const EMPTY: i32 = TRIPLE_STRIDE as i32 - 1;

/// What is known about the size of three differences: the place of its table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected(i32);

impl Expected {
    /// Nothing.
    pub const UNKNOWN: Expected = Expected((2 * LEVELS * TRIPLE_STRIDE) as i32);

    /// They are from the line or from the newer baseline of an object whose motion has this level.
    #[inline(always)]
    pub fn of(is_line: bool, level: i32) -> Expected {
        let level = if level < LEVELS as i32 { level } else { LEVELS as i32 - 1 };
        let level = if is_line { LEVELS as i32 + level } else { level };
        Expected(level * TRIPLE_STRIDE as i32)
    }
}

/// A magnitude: a negative number counts as its complement.
#[inline(always)]
pub(super) fn folded(difference: i32) -> i32 {
    difference ^ difference >> 31
}

/// As wide as the widest of the differences.
#[inline(always)]
pub(super) fn spread(differences: [i32; 3]) -> i32 {
    let [x, y, z] = differences.map(folded);
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

/// The low `count` bits of a difference.
#[inline]
pub(super) fn low_bits(difference: i32, count: u32) -> u64 {
    difference as u64 & ((1u64 << count) - 1)
}

/// The low `count` bits, at least one, as two's complement.
#[inline]
pub(super) fn signed(bits: u64, count: u32) -> i32 {
    let above = 64 - count;
    ((bits << above) as i64 >> above) as i32
}

/// Three differences on their way to be written. In words of 32 bits and without branches, because many are packed at
/// once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packed {
    /// The place of the code.
    pub code: i32,
    /// x and y.
    pub low: i32,
    pub low_bits: i32,
    /// z.
    pub high: i32,
    pub high_bits: i32,
}

impl Packed {
    /// Packs differences of a [`spread`] that the caller knows. If it has more than [`BITS_MAX`] bits, the result means
    /// nothing.
    #[inline(always)]
    pub fn new(expected: Expected, [x, y, z]: [i32; 3], spread: i32) -> Packed {
        let bits = bits_of_small(spread);
        let width = if bits < 2 { 0 } else { bits + 1 };
        let used = |difference: i32| if difference != 0 { width } else { 0 };
        let power = 1i32.wrapping_shl(width as u32);
        let field = |difference: i32| if bits < 2 { 0 } else { unsigned(difference, power) };
        let not_zero = i32::from(x != 0) + 2 * i32::from(y != 0) + 4 * i32::from(z != 0);
        let combination = (x & 3) | (y & 3) << 2 | (z & 3) << 4;
        let symbol = if bits < 2 { combination } else { symbol(bits, not_zero) };
        Packed {
            code: expected.0 + symbol,
            low: field(x).wrapping_add(field(y).wrapping_mul(if x != 0 { power } else { 1 })),
            low_bits: used(x) + used(y),
            high: field(z),
            high_bits: used(z),
        }
    }

    /// The same, if `condition`; else nothing.
    #[inline(always)]
    pub fn only_if(self, condition: bool) -> Packed {
        let only = |number: i32| if condition { number } else { 0 };
        Packed {
            code: if condition { self.code } else { EMPTY },
            low: self.low,
            low_bits: only(self.low_bits),
            high: self.high,
            high_bits: only(self.high_bits),
        }
    }

    #[inline(always)]
    pub fn write(&self, codes: &Codes, run: &mut impl Run) {
        run.put_code(codes.triple().code_at(self.code));
        let fields = self.low as u64 | (self.high as u64) << (self.low_bits & 63);
        run.put(fields, (self.low_bits + self.high_bits) as u32);
    }
}

/// The low bits of a difference in two's complement of so many bits that `power` is the first number beyond them.
#[inline(always)]
pub(super) fn unsigned(difference: i32, power: i32) -> i32 {
    difference.wrapping_add(power & difference >> 31)
}

/// Writes three differences, whose [`spread`] the caller knows.
#[inline(always)]
pub(super) fn write(
    codes: &Codes,
    expected: Expected,
    differences: [i32; 3],
    spread: i32,
    run: &mut impl Run,
) {
    match bits_of(spread) {
        0..=BITS_MAX => Packed::new(expected, differences, spread).write(codes, run),
        bits => write_escaped(codes, expected, differences, bits, run),
    }
}

#[inline(never)]
fn write_escaped(codes: &Codes, expected: Expected, differences: [i32; 3], bits: u32, run: &mut impl Run) {
    run.put_code(codes.triple().code_at(expected.0 + ESCAPE as i32));
    run.put(u64::from(bits), ESCAPE_BITS);
    for difference in differences {
        run.put(low_bits(difference, bits + 1), bits + 1);
    }
}

#[inline(always)]
fn symbol(bits: i32, mask: i32) -> i32 {
    SMALL as i32 + 7 * (bits - 2) + mask - 1
}

/// The width and the mask of the symbols that have one.
const SHAPES: [(u8, u8); 256] = {
    let mut shapes = [(0, 0); 256];
    let mut symbol = SMALL;
    while symbol < ESCAPE {
        shapes[symbol] = ((3 + (symbol - SMALL) / 7) as u8, (1 + (symbol - SMALL) % 7) as u8);
        symbol += 1;
    }
    shapes
};

/// Reads three differences.
#[inline]
pub(super) fn read(
    codes: &Codes,
    expected: Expected,
    reader: &mut BitReader<'_>,
) -> Result<[i32; 3], ReadError> {
    // The longest form but for the escape: 10 bits of code and three times 13.
    let bits = reader.peek_bits(49);
    let (symbol, length) = codes.triple().symbol(expected.0 as usize / TRIPLE_STRIDE, bits);
    if symbol < SMALL {
        reader.skip_bits(length as usize)?;
        return Ok([0, 2, 4].map(|place| signed(symbol as u64 >> place, 2)));
    }
    let (width, mask) = SHAPES[symbol & (SHAPES.len() - 1)];
    let width = u32::from(width);
    let rest = bits >> length;
    if mask == 7 {
        reader.skip_bits((length + 3 * width) as usize)?;
        return Ok([0, width, 2 * width].map(|place| signed(rest >> place, width)));
    }
    reader.skip_bits(length as usize)?;
    read_uneven(symbol, width, mask, reader)
}

#[inline(never)]
fn read_uneven(
    symbol: usize,
    width: u32,
    mask: u8,
    reader: &mut BitReader<'_>,
) -> Result<[i32; 3], ReadError> {
    let (width, mask) = match symbol {
        ESCAPE => (reader.read_bits(ESCAPE_BITS)? as u32 + 1, 7),
        _ => (width, mask),
    };
    let mut differences = [0; 3];
    for (axis, difference) in differences.iter_mut().enumerate() {
        if mask >> axis & 1 == 1 {
            *difference = signed(reader.read_bits(width)?, width);
        }
    }
    Ok(differences)
}

#[cfg(test)]
mod tests {
    use super::super::run::{LongRun, ShortRun, Written};
    use super::*;
    use netloom_wire::BitWriter;
    use proptest::prelude::*;

    fn any_difference() -> impl Strategy<Value = i32> {
        prop_oneof![Just(0), -2i32..=2, (0u32..32, any::<i32>()).prop_map(|(shift, value)| value >> shift)]
    }

    proptest! {
        #[test]
        fn any_three_differences_return_under_any_expectation(
            differences in prop::array::uniform3(any_difference()), table in 0..TRIPLE_TABLES,
        ) {
            let codes = Codes::generic();
            let expected = Expected((table * TRIPLE_STRIDE) as i32);
            let (mut run, mut short) = (LongRun::default(), ShortRun::default());
            write(&codes, expected, differences, spread(differences), &mut run);
            write(&codes, expected, differences, spread(differences), &mut short);
            prop_assert_eq!(short.length, run.length);
            if run.length <= 64 {
                prop_assert_eq!(u128::from(short.bits), run.bits);
            }
            let mut bytes = [0; 24];
            let mut writer = BitWriter::new(&mut bytes);
            run.write(&mut writer);
            prop_assert!(writer.finish().is_ok());
            let mut reader = BitReader::with_bit_len(&bytes, run.length as usize).unwrap();
            prop_assert_eq!(read(&codes, expected, &mut reader), Ok(differences));
            prop_assert_eq!(reader.remaining_bits(), 0);
        }
    }

    #[test]
    fn bits_count_those_of_the_magnitude() {
        for (difference, bits) in
            [(0, 0), (-1, 0), (1, 1), (-2, 1), (2, 2), (-4, 2), (i32::MAX, 31), (i32::MIN, 31)]
        {
            assert_eq!(bits_of(folded(difference)), bits, "{difference}");
            assert_eq!(signed(low_bits(difference, bits + 1), bits + 1), difference);
        }
    }
}
