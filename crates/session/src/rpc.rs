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
//! | [`call`] | a call as a game sees it |
//!
//! The server decides: its ids are those of the wire and its options are those that hold. A client translates.
//!
//! A game names its calls in its protocol, handles those of players in [`Game::rpc`](crate::game::Game::rpc), and makes its own
//! with [`Room::call`](crate::room::Room::call). A client calls with [`Client::call`](crate::client::Client::call), and gets
//! [`ClientEvent::Called`](crate::client::ClientEvent::Called):
//!
//! ```
//! use netloom_session::{
//!     Call, CallRefused, CallTarget, Command, Game, PlayerId, Protocol, Rejected, Room, RpcOptions,
//! };
//!
//! struct Party;
//!
//! impl Game for Party {
//!     type Input = [u8; 1];
//!
//!     fn rpc(&mut self, room: &mut Room, from: PlayerId, call: &Call<'_>) -> Result<(), CallRefused> {
//!         match call.name() {
//!             "wave" => {
//!                 let (times,): (u8,) = call.args()?;
//!                 Ok(room.call(CallTarget::Others(from), "waved", None, &(from.0, times))?)
//!             }
//!             _ => Err(CallRefused::UNHANDLED),
//!         }
//!     }
//! #    fn join(&mut self, _: &mut Room, _: PlayerId) {}
//! #    fn leave(&mut self, _: &mut Room, _: PlayerId) {}
//! #    fn input(&mut self, _: &mut Room, _: PlayerId, _: &Command<[u8; 1]>) -> Result<(), Rejected> { Ok(()) }
//!     // and join, input, leave
//! }
//!
//! let calls = Protocol::builder("party").rpc("wave", RpcOptions::default()).rpc("waved", RpcOptions::default());
//! assert_eq!(calls.build()?.rpcs().len(), 2);
//! # Ok::<(), netloom_session::protocol::ProtocolError>(())
//! ```

pub mod args;
pub mod call;
pub mod frame;
pub mod inbox;
pub mod limit;
pub(crate) mod queue;
pub mod table;
pub mod value;
pub mod waiting;

pub use args::{Args, ArgsError, ObjectArg, decode_args, encode_args};
pub use call::{Call, CallFailed, CallRefused, Callee};
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
