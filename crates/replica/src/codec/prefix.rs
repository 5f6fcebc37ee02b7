//! Prefix codes laid out for the hot path.
//!
//! [`CodeTable`] defines the codes. Writing an object takes about four of them and reading it as many, so here a code
//! and its length are one load away on both sides, in arrays whose size the index cannot leave.

use std::sync::Arc;

use netloom_wire::BitWriter;
use netloom_wire::entropy::{CodeError, CodeTable};

/// A code, first bit lowest, and its length.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Code {
    pub bits: u16,
    pub length: u8,
}

/// A family of at most `TABLES` prefix codes, each of at most `SYMBOLS` symbols whose codes index a lookup of `LOOKUP`
/// entries; all three powers of two, so that no index needs to be checked.
#[derive(Clone, Debug)]
pub(super) struct Prefixes<const TABLES: usize, const SYMBOLS: usize, const LOOKUP: usize> {
    codes: Arc<[[Code; SYMBOLS]; TABLES]>,
    /// By the next bits of the input: the symbol, and above it the length of its code; zero if that is longer.
    short: Arc<[[u16; SHORT]; TABLES]>,
    /// The same for codes of any length. Few are long, and an eighth of the memory stays in the caches.
    lookups: Arc<[[u16; LOOKUP]; TABLES]>,
}

/// Places for the bits that most codes are shorter than.
const SHORT: usize = 256;

impl<const TABLES: usize, const SYMBOLS: usize, const LOOKUP: usize> Prefixes<TABLES, SYMBOLS, LOOKUP> {
    /// The canonical codes with these lengths, each of which must be a complete code.
    pub fn from_lengths<'a>(
        tables: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Prefixes<TABLES, SYMBOLS, LOOKUP>, CodeError> {
        let rows: Result<Vec<_>, CodeError> = tables.into_iter().map(table).collect();
        let (mut codes, mut lookups): (Vec<_>, Vec<_>) = rows?.into_iter().unzip();
        codes.resize(TABLES, [Code::default(); SYMBOLS]);
        lookups.resize(TABLES, [0; LOOKUP]);
        let short = lookups.iter().map(short).collect();
        Ok(Prefixes { codes: shared(codes)?, short: shared(short)?, lookups: shared(lookups)? })
    }

    /// Replaces the bits of each code by a number, counted upwards table by table and symbol by symbol.
    pub fn number(&mut self, first: u16) {
        let codes = Arc::make_mut(&mut self.codes).as_flattened_mut().iter_mut();
        for (code, number) in codes.filter(|code| code.length > 0).zip(first..) {
            code.bits = number;
        }
    }

    /// The code of `symbol`, which the table must have.
    #[inline(always)]
    pub fn code(&self, table: usize, symbol: usize) -> Code {
        self.codes[table & (TABLES - 1)][symbol & (SYMBOLS - 1)]
    }

    /// The code at a place among all tables: `SYMBOLS` times the table, plus the symbol. Places without symbol have an
    /// empty code.
    #[inline(always)]
    pub fn code_at(&self, place: i32) -> Code {
        self.codes.as_flattened()[place as usize & (TABLES * SYMBOLS - 1)]
    }

    /// The symbol that `bits` begin with, and the length of its code. The codes are complete: there always is one.
    #[inline(always)]
    pub fn symbol(&self, table: usize, bits: u64) -> (usize, u32) {
        let table = table & (TABLES - 1);
        let mut entry = self.short[table][bits as usize & (SHORT - 1)];
        if entry == 0 {
            entry = self.lookups[table][bits as usize & (LOOKUP - 1)];
        }
        (usize::from(entry as u8), u32::from(entry >> 8))
    }
}

fn shared<T, const N: usize>(rows: Vec<T>) -> Result<Arc<[T; N]>, CodeError> {
    let rows: Box<[T; N]> =
        rows.try_into().map_err(|rows: Vec<T>| CodeError::SymbolCount { count: rows.len() })?;
    Ok(rows.into())
}

/// Those of a lookup whose codes are short enough to be known by these bits.
fn short<const LOOKUP: usize>(lookup: &[u16; LOOKUP]) -> [u16; SHORT] {
    core::array::from_fn(|bits| if lookup[bits] >> 8 <= SHORT.ilog2() as u16 { lookup[bits] } else { 0 })
}

/// One table: its codes, and its lookup.
fn table<const SYMBOLS: usize, const LOOKUP: usize>(
    lengths: &[u8],
) -> Result<([Code; SYMBOLS], [u16; LOOKUP]), CodeError> {
    if lengths.len() > SYMBOLS {
        return Err(CodeError::SymbolCount { count: lengths.len() });
    }
    let too_long = |&(_, &bits): &(usize, &u8)| u32::from(bits) > LOOKUP.ilog2();
    if let Some((symbol, &bits)) = lengths.iter().enumerate().find(too_long) {
        return Err(CodeError::Length { symbol, bits });
    }
    let table = CodeTable::from_lengths(lengths)?;
    let mut codes = [Code::default(); SYMBOLS];
    let mut lookup = [0; LOOKUP];
    for (symbol, (code, &length)) in codes.iter_mut().zip(lengths).enumerate() {
        let mut bytes = [0; 8];
        table.write(symbol as u8, &mut BitWriter::new(&mut bytes));
        *code = Code { bits: u16::from_le_bytes([bytes[0], bytes[1]]), length };
        let entry = symbol as u16 | u16::from(length) << 8;
        for slot in lookup.iter_mut().skip(usize::from(code.bits)).step_by(1 << length) {
            *slot = entry;
        }
    }
    Ok((codes, lookup))
}
