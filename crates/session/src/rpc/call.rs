//! A call as a game sees it: on the way in, on the way out, and refused.
//!
//! What arrives is bytes of somebody else's making. By the time a game sees a [`Call`] the questions that have the same
//! answer in every game are answered: the name exists, clients may call it, it is neither too long nor too frequent, its
//! arguments are a well-formed list, and its object is one that the caller was told of.

use std::borrow::Cow;

use netloom_replica::world::ObjectIndex;
use netloom_wire::Tick;
use serde::{Deserialize, Serialize};

use super::args::{Args, ArgsError, encode_args};
use super::table::{CallError, Rpc, RpcId, RpcTable};
use super::value::Items;
use crate::message::CallRefusal;

/// A client's call, as it reaches the game.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub(crate) id: RpcId,
    pub(crate) rpc: &'a Rpc,
    pub(crate) object: Option<ObjectIndex>,
    pub(crate) tick: Option<Tick>,
    pub(crate) args: Args<'a>,
}

impl<'a> Call<'a> {
    /// What is called.
    pub fn name(&self) -> &'a str {
        self.rpc.name()
    }

    /// Its id in the table of the room's protocol: cheaper to compare than the name.
    pub fn id(&self) -> RpcId {
        self.id
    }

    /// The object that it is about.
    pub fn object(&self) -> Option<ObjectIndex> {
        self.object
    }

    /// The tick of snapshots that the caller saw, if the call is about what it saw (`at_view_time` of its options). It is
    /// the caller's word, but never newer than what is known to have arrived there.
    pub fn tick(&self) -> Option<Tick> {
        self.tick
    }

    /// The arguments as the fields of a struct or the elements of a tuple. Objects among them are
    /// [`ObjectArg`](super::ObjectArg)s, which [`Room::object_of`](crate::room::Room::object_of) knows.
    pub fn args<T: Deserialize<'a>>(&self) -> Result<T, ArgsError> {
        self.args.decode()
    }

    /// The arguments one by one.
    pub fn values(&self) -> Items<'a> {
        self.args.values()
    }

    /// The arguments as MessagePack.
    pub fn raw(&self) -> &'a [u8] {
        self.args.as_bytes()
    }
}

/// A call that has no effect, and why. Its caller is told, unless it has been told too much already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRefused {
    reason: CallRefusal,
    text: Cow<'static, str>,
}

impl CallRefused {
    /// A refusal by the game, in its own words; cut at 256 bytes.
    pub fn new(text: impl Into<Cow<'static, str>>) -> CallRefused {
        CallRefused { reason: CallRefusal::ByGame, text: text.into() }
    }

    /// Nothing handles the call.
    pub const UNHANDLED: CallRefused = CallRefused::of(CallRefusal::Unhandled);

    pub(crate) const fn of(reason: CallRefusal) -> CallRefused {
        CallRefused { reason, text: Cow::Borrowed("") }
    }

    /// Why.
    pub fn reason(&self) -> CallRefusal {
        self.reason
    }

    /// What there is to say beyond the reason.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl From<ArgsError> for CallRefused {
    fn from(error: ArgsError) -> CallRefused {
        CallRefused { reason: CallRefusal::BadArguments, text: error.to_string().into() }
    }
}

impl From<CallFailed> for CallRefused {
    /// For a handler that answers with a call of its own, by `room.call(…)?`.
    fn from(error: CallFailed) -> CallRefused {
        CallRefused::new(error.to_string())
    }
}

/// What calls something: its name, or the id that stands for it in the protocol of this side.
pub trait Callee: Copy {
    /// The id in `table`.
    fn find(self, table: &RpcTable) -> Result<RpcId, CallError>;
}

impl Callee for &str {
    fn find(self, table: &RpcTable) -> Result<RpcId, CallError> {
        table.find(self)
    }
}

impl Callee for RpcId {
    fn find(self, table: &RpcTable) -> Result<RpcId, CallError> {
        match table.get(self) {
            Some(_) => Ok(self),
            None => Err(CallError::UnknownName { name: format!("#{}", self.0).into() }),
        }
    }
}

/// Why a server could not make a call. That nobody is there to hear it is no error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallFailed {
    /// There is no such call, or it may not be made.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The arguments cannot be sent.
    #[error(transparent)]
    Args(#[from] ArgsError),
    /// Too much waits to be sent.
    #[error("{calls} calls wait to be sent in this tick already, or more bytes than there is room for")]
    TooMany {
        /// How many wait.
        calls: usize,
    },
}

/// Where the arguments of a call come from: a Rust type, or bytes that are a list already.
pub(crate) trait Arguments {
    /// Appends them to `out`.
    fn write(&self, out: &mut Vec<u8>) -> Result<usize, ArgsError>;
}

/// A tuple or a struct.
pub(crate) struct Typed<'a, T: ?Sized>(pub &'a T);

impl<T: Serialize + ?Sized> Arguments for Typed<'_, T> {
    fn write(&self, out: &mut Vec<u8>) -> Result<usize, ArgsError> {
        encode_args(self.0, out)
    }
}

/// MessagePack, made by a script or a [`ValueWriter`](super::ValueWriter).
pub(crate) struct Raw<'a>(pub &'a [u8]);

impl Arguments for Raw<'_> {
    fn write(&self, out: &mut Vec<u8>) -> Result<usize, ArgsError> {
        let args = Args::read(self.0)?.as_bytes();
        out.extend_from_slice(args);
        Ok(args.len())
    }
}
