//! Which calls there are, and which number stands for which name.
//!
//! Games know calls by name, and the wire has room for 16 bits. Numbering names in the order of their registration breaks
//! as soon as two builds register in another order, or one of them knows a name more. So ids are indices in the list
//! sorted by name, and both sides compare a hash of their lists first. If it is the same, so are all ids. If not, the
//! server sends its list, as hashes of names in the order of its ids, and the client makes an [`RpcMap`] of it. From then
//! on the client translates; the server speaks only its own ids.
//!
//! ```text
//!   client's table            server's list          RpcMap
//!   0 chat                    0 chat                 chat 0 ↔ 0
//!   1 fire                    1 drop                 fire 1 ↔ 2
//!   2 wave                    2 fire                 wave 2: the server has no such name
//!                                                    1 of the server: unknown here
//! ```
//!
//! The list also has what the server allows for each name, because that is what holds.

mod list;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use netloom_wire::Name;
use netloom_wire::hash::Fnv64;

use super::{ARGS_BYTES_MAX, NAME_BYTES_MAX, NAMES_MAX};

pub use list::{ListError, PAGE_BYTES_MAX, RpcList, RpcMap};

/// The most calls per second, and at once, that a limit can be set to.
pub const RATE_MAX: u32 = 10_000;

/// The number of a call in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RpcId(pub u16);

impl RpcId {
    fn index(self) -> usize {
        self.0.into()
    }
}

/// Who may make a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Callers {
    /// Only the server; clients receive it.
    Server,
    /// Only clients.
    Clients,
    /// Everybody.
    #[default]
    Both,
}

/// One side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The server.
    Server,
    /// A client.
    Client,
}

/// How a call travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// It arrives, in the order of all ordered calls.
    #[default]
    Ordered,
    /// It arrives, as soon as it can.
    Unordered,
    /// It may be lost.
    Unreliable,
}

/// What a call may be. Two sides may differ in all of it; what the server says holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RpcOptions {
    /// Who may call.
    pub callers: Callers,
    /// Whether a client may ask the server to pass the call on to other players.
    pub is_forwarded: bool,
    /// How it travels.
    pub delivery: Delivery,
    /// Bytes of arguments, 1 to [`ARGS_BYTES_MAX`].
    pub bytes_max: usize,
    /// Calls per second by one client, 1 to [`RATE_MAX`]. Known to the server only.
    pub per_second: u32,
    /// Calls at once by one client after a pause, 1 to [`RATE_MAX`]. Known to the server only.
    pub burst: u32,
    /// Whether a call is about what the client sees rather than about now: it carries the tick, and a client receives it
    /// when its view gets there.
    pub at_view_time: bool,
}

impl Default for RpcOptions {
    /// By everybody, to the server only if by a client, reliable and ordered, 1,024 bytes, 60 per second and 30 at once,
    /// on arrival.
    fn default() -> RpcOptions {
        RpcOptions {
            callers: Callers::Both,
            is_forwarded: false,
            delivery: Delivery::Ordered,
            bytes_max: 1_024,
            per_second: 60,
            burst: 30,
            at_view_time: false,
        }
    }
}

/// The part of the options that both sides know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedOptions {
    pub callers: Callers,
    pub is_forwarded: bool,
    pub delivery: Delivery,
    pub bytes_max: u16,
    pub at_view_time: bool,
}

impl SharedOptions {
    /// One byte for everything but the size.
    pub fn to_byte(self) -> u8 {
        self.callers as u8
            | (self.delivery as u8) << 2
            | u8::from(self.at_view_time) << 4
            | u8::from(self.is_forwarded) << 5
    }

    pub fn from_byte(byte: u8, bytes_max: u16) -> Option<SharedOptions> {
        let callers = [Callers::Server, Callers::Clients, Callers::Both];
        let deliveries = [Delivery::Ordered, Delivery::Unordered, Delivery::Unreliable];
        if byte >> 6 != 0 || !(1..=ARGS_BYTES_MAX).contains(&bytes_max.into()) {
            return None;
        }
        Some(SharedOptions {
            callers: *callers.get(usize::from(byte & 3))?,
            delivery: *deliveries.get(usize::from(byte >> 2 & 3))?,
            at_view_time: byte & 1 << 4 != 0,
            is_forwarded: byte & 1 << 5 != 0,
            bytes_max,
        })
    }

    /// Whether `side` may make a call of this kind.
    pub fn admit(&self, side: Side, is_for_others: bool, bytes: usize) -> Result<(), Refusal> {
        let is_caller = match side {
            Side::Server => self.callers != Callers::Clients,
            Side::Client => self.callers != Callers::Server,
        };
        if !is_caller {
            return Err(Refusal::NotAllowed);
        }
        if side == Side::Client && is_for_others && !self.is_forwarded {
            return Err(Refusal::NotForwarded);
        }
        if bytes > self.bytes_max.into() {
            return Err(Refusal::TooLarge { bytes, bytes_max: self.bytes_max.into() });
        }
        Ok(())
    }
}

/// Why a call is not made, or not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No call has this id.
    #[error("no such call is registered")]
    Unknown,
    /// This side may not make the call.
    #[error("this side may not make the call: see `callers` of its options")]
    NotAllowed,
    /// A client may make the call to the server only.
    #[error("clients may make the call to the server only: see `is_forwarded` of its options")]
    NotForwarded,
    /// The arguments are too long.
    #[error("the arguments take {bytes} bytes, allowed are {bytes_max}")]
    TooLarge {
        /// Their length.
        bytes: usize,
        /// What the options allow.
        bytes_max: usize,
    },
    /// A client makes the call too often, or too many calls altogether.
    #[error("more than {limit} calls per second")]
    TooOften {
        /// How many are allowed per second.
        limit: u32,
    },
}

/// Why a call could not be made, told to whoever tried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The name is not in this side's table.
    #[error("no rpc named \"{name}\" is registered here")]
    UnknownName {
        /// The name.
        name: Box<str>,
    },
    /// The server's table has no such name: it runs another version of the game.
    #[error("the server has no rpc named \"{name}\"")]
    ServerLacks {
        /// The name.
        name: Box<str>,
    },
    /// The options of the call do not allow it.
    #[error("rpc \"{name}\": {refusal}")]
    Refused {
        /// The name.
        name: Box<str>,
        /// Why not.
        refusal: Refusal,
    },
}

/// Why a name was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The name is empty or too long.
    #[error("the rpc name \"{name}\" has {} bytes, allowed are 1 to {NAME_BYTES_MAX}", name.len())]
    NameLength {
        /// The name.
        name: Box<str>,
    },
    /// The name is there already.
    #[error("an rpc named \"{name}\" is registered already")]
    Duplicate {
        /// The name.
        name: Box<str>,
    },
    /// Another name has the same hash.
    #[error("the rpc names \"{name}\" and \"{registered}\" have the same hash: rename one of them")]
    Collision {
        /// The name that was refused.
        name: Box<str>,
        /// The name that was registered first.
        registered: Box<str>,
    },
    /// An option is out of range.
    #[error("{field} of rpc \"{name}\" is {value}, allowed are 1 to {max}")]
    OutOfRange {
        /// The name.
        name: Box<str>,
        /// The option.
        field: &'static str,
        /// Its value.
        value: usize,
        /// The largest value that is allowed.
        max: usize,
    },
    /// There are too many names.
    #[error("the table has {NAMES_MAX} rpc names already, its limit")]
    Full,
}

/// One call of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rpc {
    name: Arc<str>,
    hash: Name,
    options: RpcOptions,
}

impl Rpc {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name, to keep.
    pub fn shared_name(&self) -> Arc<str> {
        self.name.clone()
    }

    /// Its options.
    pub fn options(&self) -> &RpcOptions {
        &self.options
    }

    pub(super) fn shared(&self) -> SharedOptions {
        let RpcOptions { callers, is_forwarded, delivery, bytes_max, at_view_time, .. } = self.options;
        // A table is built only from sizes that fit.
        SharedOptions { callers, is_forwarded, delivery, bytes_max: bytes_max as u16, at_view_time }
    }
}

/// Collects the calls of a table.
#[derive(Clone, Debug, Default)]
pub struct TableBuilder {
    /// Sorted by name.
    calls: Vec<Rpc>,
}

impl TableBuilder {
    /// Adds a call. Ids are given when all names are known, by [`TableBuilder::build`].
    pub fn add(&mut self, name: &str, options: RpcOptions) -> Result<&mut TableBuilder, TableError> {
        if !(1..=NAME_BYTES_MAX).contains(&name.len()) {
            return Err(TableError::NameLength { name: name.into() });
        }
        for (field, value, max) in [
            ("bytes_max", options.bytes_max, ARGS_BYTES_MAX),
            ("per_second", options.per_second as usize, RATE_MAX as usize),
            ("burst", options.burst as usize, RATE_MAX as usize),
        ] {
            if !(1..=max).contains(&value) {
                return Err(TableError::OutOfRange { name: name.into(), field, value, max });
            }
        }
        let Err(place) = self.calls.binary_search_by(|call| (*call.name).cmp(name)) else {
            return Err(TableError::Duplicate { name: name.into() });
        };
        let hash = Name::of(name);
        if let Some(other) = self.calls.iter().find(|call| call.hash == hash) {
            return Err(TableError::Collision { name: name.into(), registered: other.name().into() });
        }
        if self.calls.len() == NAMES_MAX {
            return Err(TableError::Full);
        }
        self.calls.insert(place, Rpc { name: name.into(), hash, options });
        Ok(self)
    }

    /// The finished table.
    pub fn build(&self) -> RpcTable {
        let calls = self.calls.clone().into_boxed_slice();
        let hash = calls.iter().fold(Fnv64::new(), |hash, call| {
            let shared = call.shared();
            hash.with(&[call.name.len() as u8])
                .with(call.name.as_bytes())
                .with(&[shared.to_byte()])
                .with(&shared.bytes_max.to_le_bytes())
        });
        RpcTable { calls, hash: hash.value() }
    }
}

/// The calls that one side knows. An id is an index: finding a call takes no search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RpcTable {
    calls: Box<[Rpc]>,
    hash: u64,
}

impl RpcTable {
    /// A table to fill.
    pub fn builder() -> TableBuilder {
        TableBuilder::default()
    }

    /// How many calls there are.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The number by which two sides see whether they have the same table.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The call with this id.
    pub fn get(&self, id: RpcId) -> Option<&Rpc> {
        self.calls.get(id.index())
    }

    /// The id of a name.
    pub fn id(&self, name: &str) -> Option<RpcId> {
        self.calls.binary_search_by(|call| (*call.name).cmp(name)).ok().map(|index| RpcId(index as u16))
    }

    /// The id of a name, for whoever calls it.
    pub fn find(&self, name: &str) -> Result<RpcId, CallError> {
        self.id(name).ok_or_else(|| CallError::UnknownName { name: name.into() })
    }

    /// All calls in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (RpcId, &Rpc)> {
        self.calls.iter().enumerate().map(|(index, call)| (RpcId(index as u16), call))
    }

    /// Whether `side` may make the call with so many bytes of arguments, for players other than the server or not.
    pub fn admit(&self, side: Side, id: RpcId, is_for_others: bool, bytes: usize) -> Result<&Rpc, Refusal> {
        let call = self.get(id).ok_or(Refusal::Unknown)?;
        call.shared().admit(side, is_for_others, bytes)?;
        Ok(call)
    }

    /// Whether the server may make the call with so many bytes of arguments.
    pub fn check_call(&self, id: RpcId, bytes: usize) -> Result<&Rpc, CallError> {
        self.admit(Side::Server, id, false, bytes).map_err(|refusal| self.refused(id, refusal))
    }

    fn refused(&self, id: RpcId, refusal: Refusal) -> CallError {
        match self.get(id) {
            Some(call) => CallError::Refused { name: call.name().into(), refusal },
            None => CallError::UnknownName { name: format!("#{}", id.0).into() },
        }
    }
}
