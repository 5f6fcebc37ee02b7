//! Code tables as files.
//!
//! ```text
//!   4 bytes  "NLCT"
//!   1        version of this form: 1
//!   1        bytes of the name, 1 to 32
//!   …        the name: a-z, 0-9, - and _
//!   4        what sets consist of: FNV-1a 32 over GROUPS
//!   4        the id: FNV-1a 32 over the four bytes before it and the lengths of all codes, a byte each
//!   …        these lengths, in half bytes, the lower one first: a length; or 0 and n, the one before n + 2 times more
//! ```
//!
//! Rare symbols have the longest codes, many in a row: without the repeats a file would be twice as long.
//!
//! A file may come from anywhere, so that each field is checked before anything is made of it, and what is made has one
//! size whatever the bytes are. Lengths that do not make complete codes are refused here: with what is left any bits
//! decode to some symbol and every symbol has its bits.

use netloom_wire::hash::Fnv32;

use super::{CODES, Codes, GROUPS, Group};

/// The longest name of a set, in bytes.
pub const NAME_BYTES_MAX: usize = 32;

/// No file is longer, in bytes.
pub const TABLE_BYTES_MAX: usize = HEADER_BYTES + NAME_BYTES_MAX + CODES.div_ceil(2);

const MAGIC: &[u8; 4] = b"NLCT";
const VERSION: u8 = 1;
/// Everything before the lengths but the name.
const HEADER_BYTES: usize = 14;
/// A shorter repeat takes as much as it says; a longer one does not fit.
const REPEATS_MIN: usize = 2;
const REPEATS_MAX: usize = REPEATS_MIN + 15;

/// What sets consist of: of each group its name and a zero, its tables and its symbols (u16 each), and its longest code.
const LAYOUT: u32 = {
    let mut hash = Fnv32::new();
    let mut group = 0;
    while group < GROUPS.len() {
        let Group { name, tables, symbols, bits_max, .. } = GROUPS[group];
        let sizes = [(tables as u16).to_le_bytes(), (symbols as u16).to_le_bytes()];
        hash = hash.with(name.as_bytes()).with(&[0]).with(sizes.as_flattened()).with(&[bits_max as u8]);
        group += 1;
    }
    hash.value()
};

/// Why bytes are no code tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The first bytes are others.
    #[error("this is no file of code tables: make one with `netloom train`")]
    Magic,
    /// The form is not known here.
    #[error(
        "code tables of version {version} are not known here, only version {VERSION}: update Netloom, or train the table again"
    )]
    Version {
        /// The version that was found.
        version: u8,
    },
    /// The name is empty, too long, or has other characters than it may.
    #[error("a table's name has 1 to {NAME_BYTES_MAX} characters of a-z, 0-9, - and _")]
    Name,
    /// It is of a Netloom whose sets consist of other tables.
    #[error("the table was made for another version of Netloom's codec: train it again with `netloom train`")]
    Layout,
    /// There are fewer or more bytes than a set has.
    #[error("the file of code tables is cut off or damaged: it has {length} bytes")]
    Length {
        /// How many bytes there are.
        length: usize,
    },
    /// The id is not that of the lengths.
    #[error("the table says that its id is {said:08x} and its content has {is:08x}: the file is damaged")]
    Id {
        /// The id in the file.
        said: u32,
        /// The id of what is in the file.
        is: u32,
    },
    /// The unused half of the last byte is not zero.
    #[error("the padding at the end is not zero: the file is damaged")]
    Padding,
    /// A code is too short or too long.
    #[error("symbol {symbol} of table {table} of the group {group} has a code of {bits} bits")]
    CodeLength {
        /// The group.
        group: &'static str,
        /// The table in it.
        table: usize,
        /// The symbol.
        symbol: usize,
        /// The length of its code.
        bits: u8,
    },
    /// The codes of a table do not exactly fill the space of bit strings.
    #[error("the codes of table {table} of the group {group} are not complete")]
    Kraft {
        /// The group.
        group: &'static str,
        /// The table in it.
        table: usize,
    },
}

impl Codes {
    /// Reads a file of code tables. Work and memory are bounded whatever the bytes are.
    pub fn parse(bytes: &[u8]) -> Result<Codes, TableError> {
        let cut_off = TableError::Length { length: bytes.len() };
        let (magic, rest) = bytes.split_first_chunk().ok_or(TableError::Magic)?;
        if magic != MAGIC {
            return Err(TableError::Magic);
        }
        let (&version, rest) = rest.split_first().ok_or(cut_off)?;
        if version != VERSION {
            return Err(TableError::Version { version });
        }
        let (&name_bytes, rest) = rest.split_first().ok_or(cut_off)?;
        let (name, rest) = rest.split_at_checked(name_bytes.into()).ok_or(cut_off)?;
        let name = check_name(name)?;
        let (layout, rest) = rest.split_first_chunk().ok_or(cut_off)?;
        if u32::from_le_bytes(*layout) != LAYOUT {
            return Err(TableError::Layout);
        }
        let (said, packed) = rest.split_first_chunk().ok_or(cut_off)?;
        let lengths = unpacked(packed).map_err(|error| error.unwrap_or(cut_off))?;
        let (said, is) = (u32::from_le_bytes(*said), id_of(&lengths));
        if said != is {
            return Err(TableError::Id { said, is });
        }
        Codes::build(name, &lengths, false)
    }

    /// The file of these tables.
    pub fn serialize(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(TABLE_BYTES_MAX);
        bytes.extend(MAGIC);
        bytes.extend([VERSION, self.name().len() as u8]);
        bytes.extend(self.name().as_bytes());
        bytes.extend(LAYOUT.to_le_bytes());
        bytes.extend(self.id().to_le_bytes());
        bytes.extend(packed(self.lengths()));
        bytes
    }
}

/// The name, if it may be one.
pub(super) fn check_name(name: &[u8]) -> Result<&str, TableError> {
    let is_allowed = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    let name =
        Some(name).filter(|name| (1..=NAME_BYTES_MAX).contains(&name.len()) && name.iter().all(is_allowed));
    name.and_then(|name| core::str::from_utf8(name).ok()).ok_or(TableError::Name)
}

/// The id of a set with these lengths.
pub(super) fn id_of(lengths: &[u8]) -> u32 {
    Fnv32::new().with(&LAYOUT.to_le_bytes()).with(lengths).value()
}

/// The lengths of all codes with repeats, two half bytes to a byte.
pub(super) fn packed(lengths: &[u8]) -> Vec<u8> {
    halves(lengths).chunks(2).map(|pair| pair[0] | pair.get(1).map_or(0, |high| high << 4)).collect()
}

/// The same, a byte each.
pub(super) fn halves(lengths: &[u8]) -> Vec<u8> {
    let mut halves = Vec::with_capacity(lengths.len());
    for row in lengths.chunk_by(|one, next| one == next) {
        let mut rest = row.len();
        while let (Some(&length), 1..) = (row.first(), rest) {
            halves.push(length);
            let repeats = (rest - 1).min(REPEATS_MAX);
            rest -= 1;
            if repeats >= REPEATS_MIN {
                halves.extend([0, (repeats - REPEATS_MIN) as u8]);
                rest -= repeats;
            }
        }
    }
    halves
}

/// The inverse of [`packed`]; without an error of its own if there are too few or too many bytes.
fn unpacked(packed: &[u8]) -> Result<Vec<u8>, Option<TableError>> {
    let mut halves = packed.iter().flat_map(|pair| [pair & 15, pair >> 4]);
    let mut lengths: Vec<u8> = Vec::with_capacity(CODES);
    while lengths.len() < CODES {
        let half = halves.next().ok_or(None)?;
        match (half, lengths.last()) {
            (0, Some(&before)) => {
                let repeats = usize::from(halves.next().ok_or(None)?) + REPEATS_MIN;
                if lengths.len() + repeats > CODES {
                    return Err(None);
                }
                lengths.resize(lengths.len() + repeats, before);
            }
            _ => lengths.push(half),
        }
    }
    let mut left_over = halves.fuse();
    match (left_over.next(), left_over.next()) {
        (None, _) | (Some(0), None) => Ok(lengths),
        (Some(_), None) => Err(Some(TableError::Padding)),
        (Some(_), Some(_)) => Err(None),
    }
}
