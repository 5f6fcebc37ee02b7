//! The tables that a connection agrees on.

use super::{CODE_BITS_MAX, CodeError, CodeTable};
use crate::delta::{MASK_SYMBOLS, RESIDUAL_SYMBOLS, RUN_SYMBOLS};
use crate::hash::fnv1a_32;

/// The version of the serialized form.
const FORMAT_VERSION: u8 = 1;

/// The symbols of each table, in the order of the serialized form.
const SYMBOL_COUNTS: [usize; 3] = [RESIDUAL_SYMBOLS, RUN_SYMBOLS, MASK_SYMBOLS];

/// The bytes of a serialized set.
pub const SET_BYTES: usize =
    1 + RESIDUAL_SYMBOLS.div_ceil(2) + RUN_SYMBOLS.div_ceil(2) + MASK_SYMBOLS.div_ceil(2);

/// Code lengths of the generic tables, for the geometric fall-off that small residuals, short runs and few changed
/// fields have in most games.
const GENERIC_RESIDUAL: [u8; RESIDUAL_SYMBOLS] = [2, 3, 3, 3, 3, 4, 4, 4, 5, 7, 7, 8, 9, 10, 11, 12, 12, 7];
const GENERIC_RUN: [u8; RUN_SYMBOLS] = [1, 3, 3, 3, 4, 5, 6, 7, 8, 9, 11, 12, 12, 12, 12, 12, 12];
const GENERIC_MASK: [u8; MASK_SYMBOLS] = [4, 1, 2, 4, 4, 4];

/// Why serialized tables were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableSetError {
    /// The bytes end early or go on too long for the three tables.
    #[error("a table set of this version takes {SET_BYTES} bytes, got {length}")]
    Length {
        /// The bytes that were handed in.
        length: usize,
    },
    /// The first byte names another form.
    #[error("table sets of version {version} are not known here, only version {FORMAT_VERSION}")]
    Version {
        /// The version that was found.
        version: u8,
    },
    /// A table is no complete code.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// The unused half of a table's last byte is not zero.
    #[error("the padding of a table is not zero")]
    Padding,
}

/// One table for each kind of symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSet {
    /// Magnitude classes of residuals, see [`delta::residual`](crate::delta::residual).
    pub residual: CodeTable,
    /// Magnitude classes of run lengths, see [`delta::run`](crate::delta::run).
    pub run: CodeTable,
    /// Numbers of changed fields, see [`delta::mask`](crate::delta::mask).
    pub mask: CodeTable,
}

impl TableSet {
    /// A set from the code lengths of its three tables.
    pub fn from_lengths(residual: &[u8], run: &[u8], mask: &[u8]) -> Result<TableSet, TableSetError> {
        let table = |lengths: &[u8], symbols: usize| match lengths.len() == symbols {
            true => CodeTable::from_lengths(lengths),
            false => Err(CodeError::SymbolCount { count: lengths.len() }),
        };
        Ok(TableSet {
            residual: table(residual, RESIDUAL_SYMBOLS)?,
            run: table(run, RUN_SYMBOLS)?,
            mask: table(mask, MASK_SYMBOLS)?,
        })
    }

    /// The set that every implementation holds.
    pub fn generic() -> TableSet {
        TableSet::from_lengths(&GENERIC_RESIDUAL, &GENERIC_RUN, &GENERIC_MASK)
            .expect("the generic lengths are complete codes, as a test proves")
    }

    /// The name of this set: FNV-1a 32 of its serialized form.
    pub fn id(&self) -> u32 {
        fnv1a_32(&self.serialize())
    }

    /// The version, then for each table the code lengths, four bits each, the first in the low half.
    pub fn serialize(&self) -> Vec<u8> {
        let mut bytes = vec![FORMAT_VERSION];
        for table in [&self.residual, &self.run, &self.mask] {
            let lengths: Vec<u8> = table.lengths().collect();
            bytes.extend(lengths.chunks(2).map(|pair| pair[0] | pair.get(1).map_or(0, |high| high << 4)));
        }
        bytes
    }

    /// The inverse of [`TableSet::serialize`]; work and memory are bounded whatever the bytes are.
    pub fn parse(bytes: &[u8]) -> Result<TableSet, TableSetError> {
        match bytes.first() {
            Some(&version) if version != FORMAT_VERSION => return Err(TableSetError::Version { version }),
            _ if bytes.len() != SET_BYTES => {
                return Err(TableSetError::Length { length: bytes.len() });
            }
            _ => {}
        }
        let mut rest = bytes.get(1..).unwrap_or_default();
        let mut table = |symbols: usize| {
            let (packed, after) = rest.split_at(symbols.div_ceil(2).min(rest.len()));
            rest = after;
            let mut lengths: Vec<u8> = packed.iter().flat_map(|pair| [pair & 15, pair >> 4]).collect();
            if lengths.iter().skip(symbols).any(|&padding| padding != 0) {
                return Err(TableSetError::Padding);
            }
            lengths.truncate(symbols);
            Ok(lengths)
        };
        let [residual, run, mask] = SYMBOL_COUNTS.map(&mut table);
        TableSet::from_lengths(&residual?, &run?, &mask?)
    }
}

const _: () = assert!(CODE_BITS_MAX < 16, "a length must fit four bits");
