//! Three differences of which the first says most: those of a turn.
//!
//! Something that turns mostly keeps its axis and changes its speed. Once the leading difference is known, the other two
//! are corrected by it, and what is left of them is little.
//!
//! ```text
//!   symbol of the lead       0: 0    1: -1    2 to 15: bits + 1, then as many bits
//!   symbol of the others     0 to 15: both in -2..=1: the second and 4 × the third, each modulo 4
//!                            16 to 25: bits + 14, bits from 2 to 11, then bits + 1 bits for each
//! ```
//!
//! Bits are counted as in [`triple`](super::triple). Those of the lead are the low ones: the highest of them is 1 for a
//! positive lead and 0 for a negative one. The table of the lead is chosen by how far the object would turn at the pace
//! between its baselines; that of the others by the bits of the lead.

use netloom_wire::{BitReader, ReadError};

use super::codes::Codes;
use super::run::Run;
use super::triple::{LEVELS, bits_of_small, folded, signed, unsigned};

/// The bits of the largest lead.
const LEAD_BITS_MAX: u32 = 14;
/// Symbols of a lead.
pub(super) const LEAD_SYMBOLS: usize = LEAD_BITS_MAX as usize + 2;
/// Tables of leads, by the level of the motion.
pub(super) const LEAD_TABLES: usize = LEVELS;

/// Symbols of combinations of small differences.
const SMALL: usize = 16;
/// The bits of the largest others.
const OTHER_BITS_MAX: u32 = 11;
/// Symbols of the other two.
pub(super) const OTHER_SYMBOLS: usize = SMALL + OTHER_BITS_MAX as usize - 1;
/// Tables of the others, by the bits of the lead.
pub(super) const OTHER_TABLES: usize = 11;

/// Places of one table among the codes of all: of leads, and of the others.
pub(super) const LEAD_STRIDE: usize = 16;
pub(super) const OTHER_STRIDE: usize = 32;

/// A lead and what it leaves of the others, on their way to be written. In words of 32 bits and without branches, because
/// many are packed at once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packed {
    /// The place of the code of the lead.
    pub lead_code: i32,
    pub lead: i32,
    pub lead_bits: i32,
    /// The place of the code of the others.
    pub other_code: i32,
    pub others: i32,
    pub other_bits: i32,
}

impl Packed {
    /// Packs differences that [`fit`](Packed::fits). Of others the result means nothing.
    #[inline(always)]
    pub fn new(level: i32, [lead, second, third]: [i32; 3]) -> Packed {
        let lead_bits = bits_of_small(folded(lead));
        let level = if level < LEAD_TABLES as i32 { level } else { LEAD_TABLES as i32 - 1 };
        let table = if lead_bits < OTHER_TABLES as i32 { lead_bits } else { OTHER_TABLES as i32 - 1 };
        let bits = bits_of_small(folded(second) | folded(third));
        let is_small = bits < 2;
        let width = if is_small { 0 } else { bits + 1 };
        let power = 1i32.wrapping_shl(width as u32);
        let fields = unsigned(second, power).wrapping_add(unsigned(third, power).wrapping_mul(power));
        let combination = (second & 3) | (third & 3) << 2;
        let symbol = if is_small { combination } else { SMALL as i32 + bits - 2 };
        Packed {
            lead_code: level * LEAD_STRIDE as i32 + lead_bits + i32::from(lead != 0),
            lead: unsigned(lead, 1i32.wrapping_shl(lead_bits as u32)),
            lead_bits,
            other_code: table * OTHER_STRIDE as i32 + symbol,
            others: if is_small { 0 } else { fields },
            other_bits: 2 * width,
        }
    }

    /// Whether three differences are small enough to be worth it.
    #[inline(always)]
    pub fn fits([lead, second, third]: [i32; 3]) -> bool {
        (folded(lead) < 1 << LEAD_BITS_MAX) & (folded(second) | folded(third) < 1 << OTHER_BITS_MAX)
    }

    #[inline(always)]
    pub fn write(&self, codes: &Codes, run: &mut impl Run) {
        run.put_code(codes.lead().code_at(self.lead_code));
        run.put(self.lead as u64, self.lead_bits as u32);
        run.put_code(codes.others().code_at(self.other_code));
        run.put(self.others as u64, self.other_bits as u32);
    }
}

/// Reads a lead and what it leaves of the others.
#[inline]
pub(super) fn read(codes: &Codes, level: i32, reader: &mut BitReader<'_>) -> Result<[i32; 3], ReadError> {
    // The longest form: twice 9 bits of code, 14 of the lead, twice 12 of the others.
    let bits = reader.peek_bits(56);
    let (symbol, lead_length) = codes.lead().symbol((level as usize).min(LEAD_TABLES - 1), bits);
    let lead_bits = (symbol as u32).saturating_sub(1);
    let low = bits >> lead_length & ((1 << lead_bits) - 1);
    // Without the highest bit the lead is negative. Of the two symbols without bits the second is -1.
    let lead = match symbol {
        0 => 0,
        _ if low >> lead_bits.saturating_sub(1) & 1 == 1 => low as i32,
        _ => low as i32 - (1 << lead_bits),
    };
    let used = lead_length + lead_bits;
    let bits = bits >> used;
    let (symbol, length) = codes.others().symbol((lead_bits as usize).min(OTHER_TABLES - 1), bits);
    let is_small = symbol < SMALL;
    let width = if is_small { 2 } else { (symbol - SMALL) as u32 + 3 };
    let fields = if is_small { symbol as u64 } else { bits >> length };
    reader.skip_bits((used + length + if is_small { 0 } else { 2 * width }) as usize)?;
    Ok([lead, signed(fields, width), signed(fields >> width, width)])
}

#[cfg(test)]
mod tests {
    use super::super::run::{LongRun, Written};
    use super::*;
    use netloom_wire::BitWriter;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_lead_and_others_return(
            differences in prop::array::uniform3((0u32..32, any::<i32>()).prop_map(|(shift, value)| value >> shift)),
            level in 0i32..20,
        ) {
            let codes = Codes::generic();
            let mut run = LongRun::default();
            let fits = Packed::fits(differences);
            let [lead, second, third] = differences;
            let inside = |difference: i32, bits: u32| (-(1 << bits)..1 << bits).contains(&difference);
            prop_assert_eq!(fits, inside(lead, 14) && inside(second, 11) && inside(third, 11));
            if fits {
                Packed::new(level, differences).write(&codes, &mut run);
                prop_assert!(run.length <= 56, "a reader looks at so many: {}", run.length);
                let mut bytes = [0; 24];
                let mut writer = BitWriter::new(&mut bytes);
                run.write(&mut writer);
                prop_assert!(writer.finish().is_ok());
                let mut reader = BitReader::with_bit_len(&bytes, run.length as usize).unwrap();
                prop_assert_eq!(read(&codes, level, &mut reader), Ok(differences));
                prop_assert_eq!(reader.remaining_bits(), 0);
            }
        }
    }
}
