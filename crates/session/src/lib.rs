//! Players and rooms, without I/O.
//!
//! A connection carries messages and a replica carries worlds; neither knows of the other. A session puts them together
//! into what a game is written against: players who join rooms, a world in each room that steps at a fixed rate and is
//! told to those who may see it, inputs on their way there, and calls in both directions.
//!
//! | to find out about | look at |
//! |---|---|
//! | what client and server must have in common | [`protocol`] |
//! | structs as kinds of objects | [`replicated`] |
//! | what a game implements | [`game`] |
//! | what a game can do in its callbacks | [`room`] |
//! | calls between clients and server | [`rpc`] |
//! | gathering before a game | [`lobby`] |
//! | inputs that cannot be | [`validate`] |
//! | rates, and who cannot keep up | [`adapt`], [`health`] |
//! | the server around the rooms | [`server`] |
//! | threads for large rooms | [`crew`] |
//! | the other side | [`client`] |
//! | finding servers and rooms | [`discovery`] |
//! | settings, and what they default to | [`config`] |
//! | the bytes of messages | [`message`], [`channel`] and docs/STANDARD.md |
#![forbid(unsafe_code)]

pub mod adapt;
pub mod channel;
pub mod client;
pub mod clock;
pub mod config;
pub mod crew;
pub mod discovery;
pub mod events;
pub mod game;
pub mod health;
mod host;
pub mod lobby;
pub mod measured;
pub mod message;
mod names;
mod outbox;
pub mod packed;
pub mod protocol;
pub mod random;
pub mod replicated;
pub mod room;
pub mod rpc;
pub mod server;
mod text;
pub mod validate;

pub use client::Client;
pub use config::{ClientConfig, Profile, RoomConfig, ServerConfig};
pub use game::{Candidate, Command, Denied, Game, GameError, PlayerId, Rejected};
pub use protocol::Protocol;
pub use replicated::{Choice, Replicated};
pub use room::{CallTarget, Room, RoomId};
pub use rpc::{Call, CallRefused, RpcOptions};
pub use server::{Server, ServerEvent};
