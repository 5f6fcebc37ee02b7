//! The Netloom connection, without I/O.
//!
//! Game traffic wants several things of one socket that no single transport gives: state that is worthless once newer
//! state exists, commands that must arrive once and in order, and large data that must not get in the way of either;
//! all of it over a network that loses, repeats, reorders and damages datagrams, and past people who forge them.
//!
//! An [`Endpoint`] holds the connections of one socket. Datagrams and time go in, datagrams and events come out; the
//! driver owns socket, clock and randomness. That makes the same code run in a game loop, behind an I/O thread and
//! in a simulator that runs a thousand bad networks a minute.
//!
//! | to find out about | look at |
//! |---|---|
//! | settings, and what they default to | [`config`] |
//! | the bytes of a datagram | [`packet`], [`frame`], [`handshake`] and docs/STANDARD.md |
//! | what is dropped, and in which order it is checked | [`validate`] |
//! | keys, cookies, sealing | [`crypto`] |
//! | the states of a connection | `state` and docs/STATE-MACHINE.md |
//! | ordering, resending, fragments | `channel` |
//! | acknowledgements and replay | `receive`, `sent` |
//! | repeating ahead of need | `redundancy` |
//! | how fast to send | [`pacing`] |
//! | bounds on everything else | [`limits`] |
#![forbid(unsafe_code)]

mod channel;
pub mod config;
mod connection;
pub mod crypto;
mod endpoint;
mod events;
pub mod frame;
pub mod handshake;
pub mod limits;
#[cfg(netloom_mutations)]
pub mod mutation;
pub mod pacing;
pub mod packet;
mod pool;
mod reason;
mod receive;
mod redundancy;
mod sent;
mod state;
mod stats;
pub mod validate;

pub use channel::{SendError, Tag};
pub use config::{ChannelConfig, ChannelKind, Config, ConfigError, ListenConfig, Redundancy, Security};
pub use endpoint::{ConnectError, Endpoint, PeerId, Transmit};
pub use events::Event;
pub use handshake::ResumeToken;
pub use netloom_wire::Micros;
pub use pacing::RateConfig;
pub use reason::{DisconnectReason, RejectReason};
pub use state::State;
pub use stats::{Allowance, Counters, Pulse, Stats};
pub use validate::{Rejection, Rejections};
