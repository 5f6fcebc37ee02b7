//! Static prefix codes: frequent symbols take few bits.
//!
//! Most residuals are zero or one step, most changed masks name one field, most runs are short. A prefix code that both
//! ends hold from the start spends about the right number of bits on each, needs no adaptive state (which loss would
//! desynchronise), and decodes with one table lookup. A table is nothing but the code length of each symbol: the codes
//! follow from the lengths by the canonical rule, so a table is small to ship and has one spelling.
//!
//! ```text
//!   lengths  A:2 B:1 C:3 D:3
//!   codes    B 0    A 10    C 110    D 111        shorter first, then by symbol
//!   "CAB" is the bits 1 1 0 1 0 0, the first one in bit 0 of the byte: 0b001011
//! ```
//!
//! [`TableSet::generic`] always exists; a set trained for a game travels as bytes and is named by its id.

mod huffman;
mod set;

pub use set::{SET_BYTES, TableSet, TableSetError};

use crate::bits::{BitReader, BitWriter};
use crate::error::{ReadError, WriteError};
use crate::hash::fnv1a_32;

/// The longest code. Decoding looks up this many bits at once.
pub const CODE_BITS_MAX: u32 = 12;

/// The most symbols in one table.
pub const SYMBOLS_MAX: usize = 256;

/// Why lengths or counts make no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// A table has 2 to 256 symbols.
    #[error("the table has {count} symbols, allowed are 2 to {SYMBOLS_MAX}")]
    SymbolCount {
        /// The symbols asked for.
        count: usize,
    },
    /// Every symbol has a code of 1 to 12 bits, so that nothing is ever unencodable.
    #[error("symbol {symbol} has a code of {bits} bits, allowed are 1 to {CODE_BITS_MAX}")]
    Length {
        /// The symbol.
        symbol: usize,
        /// Its code's length.
        bits: u8,
    },
    /// The codes do not exactly fill the space of bit strings (Kraft's sum is not one).
    #[error("the code lengths fill {filled} of {} parts of the code space", 1 << CODE_BITS_MAX)]
    Kraft {
        /// How much they fill, in units of the longest code.
        filled: u64,
    },
}

#[derive(Clone, Copy, Debug, Default)]
struct Code {
    /// The code, first bit lowest.
    bits: u16,
    length: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct Lookup {
    symbol: u8,
    length: u8,
}

/// Where symbols go: a [`CodeTable`], or whatever looks on at what one would be asked for.
pub trait SymbolWriter {
    /// The bits that `symbol` takes; `None` if there is no such symbol.
    fn bit_len(&self, symbol: u8) -> Option<u32>;

    /// Writes `symbol`; one that does not exist is an error.
    fn write(&self, symbol: u8, writer: &mut BitWriter<'_>);
}

/// One complete prefix code.
#[derive(Clone, Debug)]
pub struct CodeTable {
    codes: Vec<Code>,
    /// Indexed by the next `1 << lookup_bits` bits of the input.
    lookup: Vec<Lookup>,
    lookup_bits: u32,
    id: u32,
}

impl CodeTable {
    /// The canonical code with these lengths, one per symbol.
    pub fn from_lengths(lengths: &[u8]) -> Result<CodeTable, CodeError> {
        if !(2..=SYMBOLS_MAX).contains(&lengths.len()) {
            return Err(CodeError::SymbolCount { count: lengths.len() });
        }
        let is_valid = |bits: u8| (1..=CODE_BITS_MAX).contains(&u32::from(bits));
        if let Some((symbol, &bits)) = lengths.iter().enumerate().find(|&(_, &bits)| !is_valid(bits)) {
            return Err(CodeError::Length { symbol, bits });
        }
        let filled = lengths.iter().map(|&bits| 1u64 << (CODE_BITS_MAX - u32::from(bits))).sum();
        if filled != 1 << CODE_BITS_MAX {
            return Err(CodeError::Kraft { filled });
        }
        let codes = canonical_codes(lengths);
        let lookup_bits = lengths.iter().max().copied().map_or(1, u32::from);
        Ok(CodeTable { lookup: lookup_of(&codes, lookup_bits), codes, lookup_bits, id: table_id(lengths) })
    }

    /// A code for symbols that were seen `counts` times, shortest on average among those of at most
    /// [`CODE_BITS_MAX`] bits. A count of zero is raised to one: what was not seen can still be sent.
    pub fn from_counts(counts: &[u64]) -> Result<CodeTable, CodeError> {
        CodeTable::from_lengths(&lengths_for(counts, CODE_BITS_MAX)?)
    }

    /// The name of this table: FNV-1a 32 over the number of symbols (u16, little-endian) and the lengths.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// How many symbols it has.
    pub fn symbol_count(&self) -> usize {
        self.codes.len()
    }

    /// The code length of each symbol.
    pub fn lengths(&self) -> impl ExactSizeIterator<Item = u8> + '_ {
        self.codes.iter().map(|code| code.length)
    }

    /// The bits that `symbol` takes; `None` if the table has no such symbol.
    pub fn bit_len(&self, symbol: u8) -> Option<u32> {
        self.codes.get(usize::from(symbol)).map(|code| u32::from(code.length))
    }

    /// Writes `symbol`; one that the table lacks is an error.
    #[inline]
    pub fn write(&self, symbol: u8, writer: &mut BitWriter<'_>) {
        match self.codes.get(usize::from(symbol)) {
            Some(code) => writer.append_bits(u64::from(code.bits), u32::from(code.length)),
            None => writer.fail(WriteError::OutOfRange),
        }
    }

    /// Reads one symbol.
    #[inline]
    pub fn read(&self, reader: &mut BitReader<'_>) -> Result<u8, ReadError> {
        let window = reader.peek_bits(self.lookup_bits) as usize;
        let entry = self.lookup.get(window).ok_or(ReadError::InvalidCode)?;
        reader.skip_bits(usize::from(entry.length))?;
        Ok(entry.symbol)
    }
}

impl SymbolWriter for CodeTable {
    #[inline]
    fn bit_len(&self, symbol: u8) -> Option<u32> {
        CodeTable::bit_len(self, symbol)
    }

    #[inline]
    fn write(&self, symbol: u8, writer: &mut BitWriter<'_>) {
        CodeTable::write(self, symbol, writer);
    }
}

impl PartialEq for CodeTable {
    fn eq(&self, other: &CodeTable) -> bool {
        self.lengths().eq(other.lengths())
    }
}

impl Eq for CodeTable {}

/// The lengths of a code for symbols that were seen `counts` times, shortest on average among those of at most `bits_max`
/// bits. A count of zero is raised to one: what was not seen can still be sent. The same counts give the same lengths.
pub fn lengths_for(counts: &[u64], bits_max: u32) -> Result<Vec<u8>, CodeError> {
    let bits_max = bits_max.min(CODE_BITS_MAX);
    if !(2..=SYMBOLS_MAX.min(1 << bits_max)).contains(&counts.len()) {
        return Err(CodeError::SymbolCount { count: counts.len() });
    }
    Ok(huffman::limited_lengths(counts, bits_max))
}

fn table_id(lengths: &[u8]) -> u32 {
    let mut bytes = [0; 2 + SYMBOLS_MAX];
    let used = 2 + lengths.len();
    bytes[..2].copy_from_slice(&(lengths.len() as u16).to_le_bytes());
    bytes[2..used].copy_from_slice(lengths);
    fnv1a_32(&bytes[..used])
}

/// Codes counted upwards by length, then by symbol, each turned so that its first bit is the lowest.
fn canonical_codes(lengths: &[u8]) -> Vec<Code> {
    let mut codes = vec![Code::default(); lengths.len()];
    let mut next = 0u16;
    for length in 1..=CODE_BITS_MAX as u8 {
        next <<= 1;
        for (code, _) in codes.iter_mut().zip(lengths).filter(|(_, bits)| **bits == length) {
            *code = Code { bits: next.reverse_bits() >> (16 - length), length };
            next += 1;
        }
    }
    codes
}

fn lookup_of(codes: &[Code], lookup_bits: u32) -> Vec<Lookup> {
    let mut lookup = vec![Lookup::default(); 1 << lookup_bits];
    for (symbol, code) in codes.iter().enumerate() {
        let every = 1 << code.length;
        for entry in lookup.iter_mut().skip(usize::from(code.bits)).step_by(every) {
            *entry = Lookup { symbol: symbol as u8, length: code.length };
        }
    }
    lookup
}

#[cfg(test)]
mod tests;
