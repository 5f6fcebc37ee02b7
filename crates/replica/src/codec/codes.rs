//! All code tables of replication, behind one id.

use netloom_wire::delta::run::RUN_MAX;
use netloom_wire::delta::{RUN_SYMBOLS, run};
use netloom_wire::entropy::{CodeError, CodeTable, TableSet};
use netloom_wire::hash::fnv1a_32;
use netloom_wire::{BitReader, ReadError};

use super::generic;
use super::prefix::Prefix;
use super::residual::{RESIDUAL_TABLES, ResidualTable, TOKENS};
use super::run::{Run, ShortRun};
use super::symbol::{SYMBOL_TABLES, SYMBOLS};

type SymbolTable = Prefix<128, 4096>;
type GapTable = Prefix<32, 4096>;

/// The code tables that both sides of a connection use.
#[derive(Clone, Debug)]
pub struct Codes {
    residual: Box<[ResidualTable; RESIDUAL_TABLES]>,
    symbol: Box<[SymbolTable; SYMBOL_TABLES]>,
    gap: GapTable,
    /// Words and masks of fields beside the transform, and runs.
    wire: TableSet,
    id: u32,
}

impl Codes {
    /// The tables that every implementation holds.
    pub fn generic() -> Codes {
        Codes::from_lengths(&generic::SYMBOL, &generic::RESIDUAL, TableSet::generic())
            .expect("the generic lengths are complete codes, as a test proves")
    }

    /// Tables of these code lengths: those of symbols of at most 12 bits, those of residuals of at most 10.
    fn from_lengths(
        symbol: &[[u8; SYMBOLS]; SYMBOL_TABLES],
        residual: &[[u8; TOKENS]; RESIDUAL_TABLES],
        wire: TableSet,
    ) -> Result<Codes, CodeError> {
        let mut bytes = wire.serialize();
        bytes.extend(symbol.as_flattened());
        bytes.extend(residual.as_flattened());
        let lengths: Vec<u8> = wire.run.lengths().collect();
        Ok(Codes {
            residual: tables(residual, ResidualTable::from_lengths)?,
            symbol: tables(symbol, Prefix::from_lengths)?,
            gap: Prefix::from_lengths(&lengths)?,
            wire,
            id: fnv1a_32(&bytes),
        })
    }

    /// The name of this set: FNV-1a 32 over the wire's table set and all code lengths, a byte each.
    pub fn id(&self) -> u32 {
        self.id
    }

    #[inline]
    pub(super) fn residual(&self, table: usize) -> &ResidualTable {
        &self.residual[table]
    }

    #[inline]
    pub(super) fn symbol(&self, table: usize) -> &SymbolTable {
        &self.symbol[table]
    }

    pub(super) fn mask(&self) -> &CodeTable {
        &self.wire.mask
    }

    pub(super) fn word(&self) -> &CodeTable {
        &self.wire.residual
    }
}

/// A table for each row of lengths.
fn tables<T, const ROW: usize, const ROWS: usize>(
    lengths: &[[u8; ROW]; ROWS],
    table: impl Fn(&[u8]) -> Result<T, CodeError>,
) -> Result<Box<[T; ROWS]>, CodeError> {
    let rows: Result<Vec<T>, CodeError> = lengths.iter().map(|row| table(row)).collect();
    rows?.try_into().map_err(|rows: Vec<T>| CodeError::SymbolCount { count: rows.len() })
}

/// The bits of the distance to the next object of a snapshot, and their number: at most 28. `gap` is at most
/// [`RUN_MAX`].
#[inline]
pub fn gap_code(codes: &Codes, gap: u32) -> (u64, u32) {
    debug_assert!(gap <= RUN_MAX, "slots are 16 bits");
    let number = gap + 1;
    let class = number.ilog2();
    let mut run = ShortRun::default();
    run.put_code(codes.gap.code(class as u8));
    run.put(u64::from(number & ((1 << class) - 1)), class);
    (run.bits, run.length)
}

/// Reads a distance of at most `max`.
#[inline]
pub fn read_gap(codes: &Codes, reader: &mut BitReader<'_>, max: u32) -> Result<u32, ReadError> {
    run::read_run(max, &codes.wire.run, reader)
}

const _: () = assert!(RUN_SYMBOLS <= 32);
