//! A server's list of calls, and what a client makes of it.

use netloom_wire::{ByteReader, ByteSink, Name, ReadError};

use super::{CallError, Delivery, RpcId, RpcTable, SharedOptions, Side};
use crate::rpc::NAMES_MAX;

/// The most bytes of one page of the list: a packet carries it without fragments.
pub const PAGE_BYTES_MAX: usize = 1_024;
const PAGE_HEADER_BYTES: usize = 4;
const ENTRY_BYTES: usize = 11;
const PAGE_ENTRIES_MAX: usize = (PAGE_BYTES_MAX - PAGE_HEADER_BYTES) / ENTRY_BYTES;

impl RpcTable {
    /// Writes the page of the list that begins at entry `first`, and says at which entry the next one begins; `None`
    /// after the last.
    pub fn write_page(&self, first: u16, out: &mut impl ByteSink) -> Option<u16> {
        let entries = self.calls.get(usize::from(first)..).unwrap_or_default();
        let entries = entries.get(..PAGE_ENTRIES_MAX).unwrap_or(entries);
        out.write_u16(self.calls.len() as u16);
        out.write_u16(first);
        for call in entries {
            let shared = call.shared();
            out.write_u64(call.hash.0);
            out.write_u8(shared.to_byte());
            out.write_u16(shared.bytes_max);
        }
        let next = usize::from(first) + entries.len();
        (next < self.calls.len()).then_some(next as u16)
    }
}

/// Why a page is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The page cannot be read.
    #[error("a page of the server's rpc list is malformed: {0}")]
    Malformed(#[from] ReadError),
    /// The page does not continue those before it.
    #[error("a page of the server's rpc list begins at {first}, {expected} was expected")]
    OutOfOrder {
        /// Where it begins.
        first: usize,
        /// Where the one before it ended.
        expected: usize,
    },
    /// A name comes twice.
    #[error("the server's rpc list has the name {name} twice")]
    Duplicate {
        /// Its hash.
        name: Name,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    name: Name,
    shared: SharedOptions,
}

/// A server's list, as far as it has arrived. It grows with what arrives, not with what is announced.
#[derive(Clone, Debug, Default)]
pub struct RpcList {
    entries: Vec<Entry>,
    /// What all pages say, once there is one.
    announced: Option<u16>,
}

impl RpcList {
    /// A list of which nothing has arrived.
    pub fn new() -> RpcList {
        RpcList::default()
    }

    /// Takes the next page, and says whether it was the last. A page that is refused changes nothing.
    pub fn handle_page(&mut self, page: &[u8]) -> Result<bool, ListError> {
        let mut reader = ByteReader::new(page);
        let announced = reader.read_u16()?;
        if page.len() > PAGE_BYTES_MAX || usize::from(announced) > NAMES_MAX {
            return Err(ReadError::TooLong.into());
        }
        if self.announced.is_some_and(|before| before != announced) {
            return Err(ReadError::OutOfRange.into());
        }
        let (first, expected) = (usize::from(reader.read_u16()?), self.entries.len());
        if first != expected {
            return Err(ListError::OutOfOrder { first, expected });
        }
        let left = usize::from(announced) - expected;
        match self.read_entries(&mut reader, left) {
            Ok(()) => {
                self.announced = Some(announced);
                Ok(self.is_complete())
            }
            Err(error) => {
                self.entries.truncate(expected);
                Err(error.into())
            }
        }
    }

    fn read_entries(&mut self, reader: &mut ByteReader<'_>, left: usize) -> Result<(), ReadError> {
        if reader.remaining() > left * ENTRY_BYTES {
            return Err(ReadError::TrailingData);
        }
        if left > 0 && reader.remaining() == 0 {
            return Err(ReadError::UnexpectedEnd);
        }
        while reader.remaining() > 0 {
            let name = Name(reader.read_u64()?);
            let (options, bytes_max) = (reader.read_u8()?, reader.read_u16()?);
            let shared = SharedOptions::from_byte(options, bytes_max).ok_or(ReadError::OutOfRange)?;
            self.entries.push(Entry { name, shared });
        }
        Ok(())
    }

    /// How many calls of it have arrived.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no call of it has arrived.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether all of it has arrived.
    pub fn is_complete(&self) -> bool {
        self.announced.is_some_and(|announced| usize::from(announced) == self.entries.len())
    }
}

/// What the server has under a name of ours.
#[derive(Clone, Copy, Debug)]
struct Theirs {
    id: RpcId,
    shared: SharedOptions,
}

/// A client's ids and the server's, side by side.
#[derive(Clone, Debug)]
pub struct RpcMap {
    /// By our id.
    theirs: Box<[Option<Theirs>]>,
    /// By the server's id.
    ours: Box<[Option<RpcId>]>,
}

impl RpcMap {
    /// For a server with the same table.
    pub fn same(table: &RpcTable) -> RpcMap {
        RpcMap {
            theirs: table.iter().map(|(id, call)| Some(Theirs { id, shared: call.shared() })).collect(),
            ours: table.iter().map(|(id, _)| Some(id)).collect(),
        }
    }

    /// For a server with another table, of which `list` has [all](RpcList::is_complete).
    pub fn agree(table: &RpcTable, list: &RpcList) -> Result<RpcMap, ListError> {
        let mut by_hash: Vec<(Name, RpcId)> = table.iter().map(|(id, call)| (call.hash, id)).collect();
        by_hash.sort_unstable();
        let mut theirs: Box<[Option<Theirs>]> = vec![None; table.len()].into();
        let mut ours: Box<[Option<RpcId>]> = vec![None; list.entries.len()].into();
        for ((entry, our), index) in list.entries.iter().zip(&mut ours).zip(0..) {
            let Ok(found) = by_hash.binary_search_by_key(&entry.name, |&(name, _)| name) else {
                continue;
            };
            *our = by_hash.get(found).map(|&(_, id)| id);
            if let Some(their) = our.and_then(|id| theirs.get_mut(id.index())) {
                if their.is_some() {
                    return Err(ListError::Duplicate { name: entry.name });
                }
                *their = Some(Theirs { id: RpcId(index), shared: entry.shared });
            }
        }
        Ok(RpcMap { theirs, ours })
    }

    /// The server's id for a call of ours and how it travels, if the server allows it: with so many bytes of arguments,
    /// to other players or to the server itself. `table` is the one that this map was made for.
    pub fn outgoing(
        &self,
        table: &RpcTable,
        id: RpcId,
        is_for_others: bool,
        bytes: usize,
    ) -> Result<(RpcId, Delivery), CallError> {
        let call = table.get(id).ok_or_else(|| table.refused(id, super::Refusal::Unknown))?;
        let Some(theirs) = self.theirs.get(id.index()).copied().flatten() else {
            return Err(CallError::ServerLacks { name: call.name().into() });
        };
        match theirs.shared.admit(Side::Client, is_for_others, bytes) {
            Ok(()) => Ok((theirs.id, theirs.shared.delivery)),
            Err(refusal) => Err(table.refused(id, refusal)),
        }
    }

    /// Our id for one of the server's; `None` for a call that only the server knows.
    pub fn incoming(&self, id: RpcId) -> Option<RpcId> {
        self.ours.get(id.index()).copied().flatten()
    }

    /// Whether the server's calls under this name of ours, or ours, carry the tick they are about.
    pub fn is_at_view_time(&self, id: RpcId) -> bool {
        self.theirs.get(id.index()).copied().flatten().is_some_and(|theirs| theirs.shared.at_view_time)
    }

    /// The calls of `table` that the server does not have, for a warning when the connection begins.
    pub fn missing<'t>(&'t self, table: &'t RpcTable) -> impl Iterator<Item = &'t str> {
        let missing = self.theirs.iter().zip(table.iter()).filter(|(theirs, _)| theirs.is_none());
        missing.map(|(_, (_, call))| call.name())
    }
}
