//! Calls by name between players and server: all of it that knows no connection.
//!
//! A game says `call("fire", …)`, a script says the same with a plain list, and neither wants to think of what arrives
//! instead: ids that nobody registered, lists that claim a billion elements, a thousand calls a second, an object that has
//! not appeared yet. Each of these questions is answered by one module, in the order in which a call passes them.
//!
//! ```text
//!  caller                                               callee
//!  name ──table──▶ id ──map──▶ the server's id          bytes ──frame──▶ id, target, object, tick, arguments
//!  arguments ──value──▶ bytes                                 ──limit──▶ known, allowed, small, not too often?
//!                 └──frame──▶ message                         ──value──▶ well-formed?
//!                                                             ──waiting─▶ is its object here yet? (client)
//!                                                             ──inbox───▶ handlers: native ones, then scripts at once
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | [`table`] | names, who may call them and how; ids agreed with a server of another build |
//! | [`frame`] | the bytes of one call |
//! | [`limit`] | how often a client may call |
//! | [`value`] | arguments as MessagePack: checked, walked and written without trust in any length |
//! | [`args`] | arguments as Rust types |
//! | [`waiting`] | calls about objects that a client does not have yet |
//! | [`inbox`] | the calls of a tick, so that scripts are entered once |
//!
//! The server decides: its ids are those of the wire and its options are those that hold. A client translates.

pub mod args;
pub mod frame;
pub mod inbox;
pub mod limit;
mod queue;
pub mod table;
pub mod value;
pub mod waiting;

pub use args::{Args, ArgsError, ObjectArg, decode_args, encode_args};
pub use frame::{Caller, ClientCall, ServerCall, Target};
pub use inbox::{Handler, InboxCall, InboxConfig, RpcInbox};
pub use limit::{PeerLimits, Rate, RefusalCounters};
pub use table::{
    CallError, Callers, Delivery, Refusal, Rpc, RpcId, RpcList, RpcMap, RpcOptions, RpcTable, Side,
    TableBuilder,
};
pub use value::{Value, ValueError, ValueWriter};
pub use waiting::WaitingCalls;

/// The longest name of a call, in bytes of UTF-8.
pub const NAME_BYTES_MAX: usize = 64;
/// Names of one table. With 11 bytes each, the whole list takes 45 KB of a connection, once.
pub const NAMES_MAX: usize = 4_096;
/// The most that the arguments of one call may ever have; each name has a limit of its own below it.
pub const ARGS_BYTES_MAX: usize = 16 << 10;
