//! All code tables of replication, behind one id.
//!
//! How much an object moved decides which differences are likely, so there is a table for each case. What a set consists
//! of is said once, in [`GROUPS`]: each group has a number of tables of the same symbols, one for each context in which
//! they are read. A set is then nothing but the length of every code, in that order. Files, ids and training know no
//! more of the codec than this list.
//!
//! ```text
//!   lengths, 4 bits each ──parse──▶ Codes ──▶ prefixes, laid out for the hot path
//!        ▲                            │
//!        └──── train ◀── Tally ◀──────┘ numbered: the code of each symbol is its place in the list
//! ```

mod file;
mod shipped;
mod untrained;

pub use file::{NAME_BYTES_MAX, TABLE_BYTES_MAX, TableError};
pub use shipped::SHIPPED;

use netloom_wire::delta::run::RUN_MAX;
use netloom_wire::delta::{MASK_SYMBOLS, RESIDUAL_SYMBOLS, RUN_SYMBOLS};
use netloom_wire::entropy::{CODE_BITS_MAX, CodeTable};
use netloom_wire::{BitReader, ReadError};

use super::chain::{CHAIN_STRIDE, CHAIN_TABLES, HEAD_SYMBOLS, NUMBER_SYMBOLS};
use super::prefix::Prefixes;
use super::run::{Run, ShortRun};
use super::symbol::{SYMBOL_STRIDE, SYMBOL_TABLES, SYMBOLS};

/// Tables of the same symbols, one for each context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// What it is called. Part of the id of every set: a group whose symbols or contexts change their meaning gets
    /// another name.
    pub name: &'static str,
    /// What its symbols say, and what chooses the table.
    pub about: &'static str,
    /// How many tables it has.
    pub tables: usize,
    /// How many symbols each of them has.
    pub symbols: usize,
    /// The longest code.
    pub bits_max: u32,
}

impl Group {
    /// How many codes it has.
    pub const fn codes(&self) -> usize {
        self.tables * self.symbols
    }
}

/// The tables of the wire, which are no [`Prefixes`] but the first of them.
const RESIDUAL: Group = wire_group("residual", "how far other fields changed", RESIDUAL_SYMBOLS);
const MASK: Group = wire_group("mask", "which other fields changed", MASK_SYMBOLS);

const fn wire_group(name: &'static str, about: &'static str, symbols: usize) -> Group {
    Group { name, about, tables: 1, symbols, bits_max: CODE_BITS_MAX }
}

/// The groups that follow those of the wire, in the order in which they are serialized:
/// `name: tables, symbols, longest code, places of one table, about`.
macro_rules! families {
    ($($name:ident: $tables:expr, $symbols:expr, $bits:literal, $stride:expr, $about:literal;)*) => {
        /// All groups, in the order in which they are serialized.
        pub const GROUPS: &[Group] = &[RESIDUAL, MASK, $(Group {
            name: stringify!($name),
            about: $about,
            tables: $tables,
            symbols: $symbols,
            bits_max: $bits,
        }),*];

        #[derive(Clone, Debug)]
        struct Families {
            $($name: Prefixes<{ $tables.next_power_of_two() }, { $stride }, { 1 << $bits }>,)*
        }

        impl Families {
            fn new(tables: &mut Tables<'_>) -> Result<Families, TableError> {
                Ok(Families { $($name: tables.family()?,)* })
            }
        }

        impl Codes {
            $(
                #[inline(always)]
                pub(super) fn $name(
                    &self,
                ) -> &Prefixes<{ $tables.next_power_of_two() }, { $stride }, { 1 << $bits }> {
                    &self.families.$name
                }
            )*
        }
    };
}

families! {
    gap: GAP_TABLES, GAP_SYMBOLS, 12, 64, "slots to the next object, and whether it has the common baselines";
    symbol: SYMBOL_TABLES, SYMBOLS, 12, SYMBOL_STRIDE, "what changed, by what the object did between its baselines";
    head: CHAIN_TABLES, HEAD_SYMBOLS, 11, CHAIN_STRIDE, "the first number of a position in its usual form, by the expected size";
    place: CHAIN_TABLES, NUMBER_SYMBOLS, 11, CHAIN_STRIDE, "other numbers of positions, by the expected size";
    lead: CHAIN_TABLES, NUMBER_SYMBOLS, 11, CHAIN_STRIDE, "the leading number of a turn, by the expected size";
    rest: CHAIN_TABLES, NUMBER_SYMBOLS, 11, CHAIN_STRIDE, "what it leaves of the other two, by its size";
}

/// The codes of a whole set.
pub(super) const CODES: usize = {
    let (mut sum, mut group) = (0, 0);
    while group < GROUPS.len() {
        sum += GROUPS[group].codes();
        group += 1;
    }
    sum
};

/// Every table of a set, in order: its group, its number there, and the place of its first code in the list of all.
pub(super) fn tables() -> impl Iterator<Item = (&'static Group, usize, usize)> {
    let each = GROUPS.iter().flat_map(|group| (0..group.tables).map(move |table| (group, table)));
    each.scan(0, |next, (group, table)| {
        let first = *next;
        *next += group.symbols;
        Some((group, table, first))
    })
}

/// The code tables that both sides of a connection use. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Codes {
    families: Families,
    /// Of words and masks of fields beside the transform.
    residual: CodeTable,
    mask: CodeTable,
    /// Of all codes, in order.
    lengths: Box<[u8]>,
    name: Box<str>,
    id: u32,
}

impl Codes {
    /// The codes with these lengths, of which there is one for every symbol of every table of [`GROUPS`], in order.
    pub fn from_lengths(name: &str, lengths: &[u8]) -> Result<Codes, TableError> {
        file::check_name(name.as_bytes())?;
        if lengths.len() != CODES {
            return Err(TableError::Length { length: lengths.len() });
        }
        Codes::build(name, lengths, false)
    }

    fn build(name: &str, lengths: &[u8], is_numbered: bool) -> Result<Codes, TableError> {
        let mut tables = Tables { lengths, next: 0, is_numbered };
        let [residual, mask] = [tables.rows(&RESIDUAL)?, tables.rows(&MASK)?]
            .map(|lengths| CodeTable::from_lengths(lengths).expect("checked to be complete"));
        let families = Families::new(&mut tables)?;
        let id = file::id_of(lengths);
        Ok(Codes { families, residual, mask, lengths: lengths.into(), name: name.into(), id })
    }

    /// The same, but the bits of each code are the place of its symbol in the list of all, plus one: what is written
    /// with it says which symbols were. The lengths are true.
    pub(super) fn numbered(&self) -> Codes {
        Codes::build(&self.name, &self.lengths, true).expect("these lengths made codes before")
    }

    /// The number that both sides compare: it follows from the lengths of all codes.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// What people call it. Says nothing about what it is: two sets with different names may be the same.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The length of every code, in the order of [`GROUPS`], table by table, symbol by symbol.
    pub fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    pub(super) fn mask(&self) -> &CodeTable {
        &self.mask
    }

    pub(super) fn word(&self) -> &CodeTable {
        &self.residual
    }
}

/// The same codes, whatever they are called.
impl PartialEq for Codes {
    fn eq(&self, other: &Codes) -> bool {
        self.lengths == other.lengths
    }
}

impl Eq for Codes {}

/// The lengths of a set on their way into codes, a group at a time.
#[derive(Clone, Copy)]
struct Tables<'a> {
    lengths: &'a [u8],
    /// The place of the first code of the next group.
    next: usize,
    is_numbered: bool,
}

impl<'a> Tables<'a> {
    /// The lengths of the next group, which must be this one, if each of its tables is a complete code.
    fn rows(&mut self, group: &Group) -> Result<&'a [u8], TableError> {
        let rows = &self.lengths[self.next..self.next + group.codes()];
        for (table, row) in rows.chunks_exact(group.symbols).enumerate() {
            let allowed = 1..=group.bits_max as u8;
            if let Some((symbol, &bits)) = row.iter().enumerate().find(|(_, bits)| !allowed.contains(bits)) {
                return Err(TableError::CodeLength { group: group.name, table, symbol, bits });
            }
            if row.iter().map(|&bits| 1u32 << (CODE_BITS_MAX - u32::from(bits))).sum::<u32>()
                != 1 << CODE_BITS_MAX
            {
                return Err(TableError::Kraft { group: group.name, table });
            }
        }
        self.next += group.codes();
        Ok(rows)
    }

    /// The next group as it is used.
    fn family<const TABLES: usize, const SYMBOLS: usize, const LOOKUP: usize>(
        &mut self,
    ) -> Result<Prefixes<TABLES, SYMBOLS, LOOKUP>, TableError> {
        let first = self.next;
        let group = tables().find(|&(_, _, at)| at == first).map(|(group, ..)| group);
        let group = group.expect("groups are taken one after the other");
        let rows = self.rows(group)?.chunks_exact(group.symbols);
        let mut prefixes = Prefixes::from_lengths(rows).expect("checked to be complete and short enough");
        if self.is_numbered {
            prefixes.number(first as u16 + 1);
        }
        Ok(prefixes)
    }
}

/// The most bits of a gap.
pub const GAP_BITS_MAX: u32 = CODE_BITS_MAX + u16::BITS;

/// The bits of the distance to the next object of a snapshot, and of whether it has the common baselines; and their
/// number. One code says both, because nearly all objects have them. `gap` is at most [`RUN_MAX`].
#[inline]
pub fn gap_code(codes: &Codes, gap: u32, is_common: bool) -> (u64, u32) {
    let mut run = ShortRun::default();
    put_gap(codes, gap, is_common, &mut run);
    (run.bits, run.length)
}

#[inline]
pub(super) fn put_gap(codes: &Codes, gap: u32, is_common: bool, run: &mut impl Run) {
    debug_assert!(gap <= RUN_MAX, "slots are 16 bits");
    let number = gap + 1;
    let class = number.ilog2();
    let symbol = class as usize + if is_common { 0 } else { RUN_SYMBOLS };
    run.put_code(codes.gap().code(0, symbol));
    run.put(u64::from(number & ((1 << class) - 1)), class);
}

/// Reads a distance of at most `max`, and whether the object has the common baselines.
#[inline]
pub fn read_gap(codes: &Codes, reader: &mut BitReader<'_>, max: u32) -> Result<(u32, bool), ReadError> {
    let (symbol, length) = codes.gap().symbol(0, reader.peek_bits(16));
    reader.skip_bits(length as usize)?;
    let is_common = symbol < RUN_SYMBOLS;
    let class = (symbol % RUN_SYMBOLS) as u32;
    let gap = (1 << class | reader.read_bits(class)? as u32) - 1;
    if gap > max.min(RUN_MAX) { Err(ReadError::OutOfRange) } else { Ok((gap, is_common)) }
}

/// Gaps to objects with the common baselines, then to others.
const GAP_SYMBOLS: usize = 2 * RUN_SYMBOLS;
const GAP_TABLES: usize = 1;

const _: () = assert!(CODES < u16::MAX as usize, "the bits of a numbered code are the place of its symbol");

#[cfg(test)]
mod tests;
