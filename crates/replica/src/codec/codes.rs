//! All code tables of replication, behind one id.

use netloom_wire::delta::run::RUN_MAX;
use netloom_wire::delta::{RUN_SYMBOLS, run};
use netloom_wire::entropy::{CodeError, CodeTable, TableSet};
use netloom_wire::hash::fnv1a_32;
use netloom_wire::{BitReader, ReadError};

use super::generic;
use super::lead::{LEAD_STRIDE, LEAD_SYMBOLS, LEAD_TABLES, OTHER_STRIDE, OTHER_SYMBOLS, OTHER_TABLES};
use super::prefix::Prefixes;
use super::run::{Run, ShortRun};
use super::symbol::{SYMBOL_STRIDE, SYMBOL_TABLES, SYMBOLS};
use super::triple::{TRIPLE_STRIDE, TRIPLE_SYMBOLS, TRIPLE_TABLES};

/// Of symbols, of at most 12 bits.
type SymbolPrefixes = Prefixes<8, SYMBOL_STRIDE, 4096>;
/// Of three differences, of at most 10 bits.
type TriplePrefixes = Prefixes<32, TRIPLE_STRIDE, 1024>;
/// Of a lead, and of what it leaves, of at most 9 bits.
type LeadPrefixes = Prefixes<16, LEAD_STRIDE, 512>;
type OtherPrefixes = Prefixes<16, OTHER_STRIDE, 512>;
type GapPrefixes = Prefixes<1, 32, 4096>;

/// The lengths of all codes of transforms.
pub(super) struct Lengths {
    pub symbol: [[u8; SYMBOLS]; SYMBOL_TABLES],
    pub triple: [[u8; TRIPLE_SYMBOLS]; TRIPLE_TABLES],
    pub lead: [[u8; LEAD_SYMBOLS]; LEAD_TABLES],
    pub other: [[u8; OTHER_SYMBOLS]; OTHER_TABLES],
}

/// The code tables that both sides of a connection use.
#[derive(Clone, Debug)]
pub struct Codes {
    symbol: SymbolPrefixes,
    triple: TriplePrefixes,
    lead: LeadPrefixes,
    other: OtherPrefixes,
    gap: GapPrefixes,
    /// Words and masks of fields beside the transform, and runs.
    wire: TableSet,
    id: u32,
}

impl Codes {
    /// The tables that every implementation holds.
    pub fn generic() -> Codes {
        Codes::from_lengths(&generic::LENGTHS, TableSet::generic())
            .expect("the generic lengths are complete codes, as a test proves")
    }

    fn from_lengths(lengths: &Lengths, wire: TableSet) -> Result<Codes, CodeError> {
        let mut bytes = wire.serialize();
        bytes.extend(lengths.symbol.as_flattened());
        bytes.extend(lengths.triple.as_flattened());
        bytes.extend(lengths.lead.as_flattened());
        bytes.extend(lengths.other.as_flattened());
        let gap: Vec<u8> = wire.run.lengths().collect();
        Ok(Codes {
            symbol: Prefixes::from_lengths(lengths.symbol.iter().map(|row| &row[..]))?,
            triple: Prefixes::from_lengths(lengths.triple.iter().map(|row| &row[..]))?,
            lead: Prefixes::from_lengths(lengths.lead.iter().map(|row| &row[..]))?,
            other: Prefixes::from_lengths(lengths.other.iter().map(|row| &row[..]))?,
            gap: Prefixes::from_lengths([&gap[..]])?,
            wire,
            id: fnv1a_32(&bytes),
        })
    }

    /// What the [id](Codes::id) is made of: the wire's table set, and the lengths of all codes, a byte each. First those
    /// of symbols, then of three differences, of leads and of what those leave; table by table.
    pub fn serialize(&self) -> Vec<u8> {
        let mut bytes = self.wire.serialize();
        self.symbol.lengths(SYMBOL_TABLES, SYMBOLS, &mut bytes);
        self.triple.lengths(TRIPLE_TABLES, TRIPLE_SYMBOLS, &mut bytes);
        self.lead.lengths(LEAD_TABLES, LEAD_SYMBOLS, &mut bytes);
        self.other.lengths(OTHER_TABLES, OTHER_SYMBOLS, &mut bytes);
        bytes
    }

    /// The name of this set: FNV-1a 32 over the wire's table set and all code lengths, a byte each.
    pub fn id(&self) -> u32 {
        self.id
    }

    #[inline]
    pub(super) fn symbol(&self) -> &SymbolPrefixes {
        &self.symbol
    }

    #[inline]
    pub(super) fn triple(&self) -> &TriplePrefixes {
        &self.triple
    }

    #[inline]
    pub(super) fn lead(&self) -> &LeadPrefixes {
        &self.lead
    }

    #[inline]
    pub(super) fn other(&self) -> &OtherPrefixes {
        &self.other
    }

    pub(super) fn mask(&self) -> &CodeTable {
        &self.wire.mask
    }

    pub(super) fn word(&self) -> &CodeTable {
        &self.wire.residual
    }
}

/// The bits of the distance to the next object of a snapshot, and their number: at most 28. `gap` is at most
/// [`RUN_MAX`].
#[inline]
pub fn gap_code(codes: &Codes, gap: u32) -> (u64, u32) {
    debug_assert!(gap <= RUN_MAX, "slots are 16 bits");
    let number = gap + 1;
    let class = number.ilog2();
    let mut run = ShortRun::default();
    run.put_code(codes.gap.code(0, class as usize));
    run.put(u64::from(number & ((1 << class) - 1)), class);
    (run.bits, run.length)
}

/// Reads a distance of at most `max`.
#[inline]
pub fn read_gap(codes: &Codes, reader: &mut BitReader<'_>, max: u32) -> Result<u32, ReadError> {
    run::read_run(max, &codes.wire.run, reader)
}

const _: () = assert!(RUN_SYMBOLS <= 32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_named_by_what_it_serializes_to() {
        let codes = Codes::generic();
        assert_eq!(fnv1a_32(&codes.serialize()), codes.id());
    }
}
