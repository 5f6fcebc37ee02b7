//! Prefix codes laid out for the hot path.
//!
//! [`CodeTable`] defines the codes. Writing an object takes about seven of them and reading it as many, so here a code
//! and its length are one load away on both sides, in arrays whose size the index cannot leave.

use netloom_wire::BitWriter;
use netloom_wire::entropy::{CodeError, CodeTable};

/// A code, first bit lowest, and its length.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Code {
    pub bits: u16,
    pub length: u8,
}

/// One prefix code of at most `SYMBOLS` symbols whose codes index a lookup of `LOOKUP` entries; both powers of two.
#[derive(Clone, Debug)]
pub(super) struct Prefix<const SYMBOLS: usize, const LOOKUP: usize> {
    codes: [Code; SYMBOLS],
    /// By the next bits of the input: the symbol, and above it the length of its code.
    lookup: Box<[u16; LOOKUP]>,
}

impl<const SYMBOLS: usize, const LOOKUP: usize> Prefix<SYMBOLS, LOOKUP> {
    /// The canonical code with these lengths, which must be a complete code.
    pub fn from_lengths(lengths: &[u8]) -> Result<Prefix<SYMBOLS, LOOKUP>, CodeError> {
        if lengths.len() > SYMBOLS {
            return Err(CodeError::SymbolCount { count: lengths.len() });
        }
        let too_long = |&(_, &bits): &(usize, &u8)| u32::from(bits) > LOOKUP.ilog2();
        if let Some((symbol, &bits)) = lengths.iter().enumerate().find(too_long) {
            return Err(CodeError::Length { symbol, bits });
        }
        let table = CodeTable::from_lengths(lengths)?;
        let mut codes = [Code::default(); SYMBOLS];
        let mut lookup = Box::new([0; LOOKUP]);
        for (symbol, (code, &length)) in codes.iter_mut().zip(lengths).enumerate() {
            let mut bytes = [0; 8];
            table.write(symbol as u8, &mut BitWriter::new(&mut bytes));
            *code = Code { bits: u16::from_le_bytes([bytes[0], bytes[1]]), length };
            let entry = symbol as u16 | u16::from(length) << 8;
            for slot in lookup.iter_mut().skip(usize::from(code.bits)).step_by(1 << length) {
                *slot = entry;
            }
        }
        Ok(Prefix { codes, lookup })
    }

    /// The code of `symbol`, which the table must have.
    #[inline]
    pub fn code(&self, symbol: u8) -> Code {
        self.codes[usize::from(symbol) & (SYMBOLS - 1)]
    }

    /// The symbol that `bits` begin with, and the length of its code. The codes are complete: there always is one.
    #[inline]
    pub fn symbol(&self, bits: u64) -> (u8, u32) {
        let entry = self.lookup[bits as usize & (LOOKUP - 1)];
        (entry as u8, u32::from(entry >> 8))
    }
}
