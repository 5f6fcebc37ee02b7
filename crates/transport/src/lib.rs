//! Datagrams over anything.
//!
//! The core takes and gives datagrams and does not know what carries them. This crate carries them: over UDP, over TCP
//! or WebSocket where UDP does not get through, inside a process, or nowhere; behind one interface, [`Transport`], the same for
//! clients and servers, so that whatever drives the core knows nothing else.
//!
//! | module | what it does |
//! |---|---|
//! | [`transport`] | the interface: capabilities, states and events of peers |
//! | [`address`] | who a datagram is from or for |
//! | [`batch`] | many datagrams in memory that the caller owns |
//! | [`memory`] | peers in one process |
//! | [`udp`] | sockets that lose, double and reorder |
//! | [`tcp`] | streams, cut into datagrams |
//! | [`websocket`] | the same for browsers, one datagram a message |
//! | [`http`] | plain requests on the port of a WebSocket |
//! | [`dummy`] | takes everything, delivers nothing |
//! | [`conditioner`] | a bad line on purpose, around any of them |
//! | [`link`], [`rng`] | the model of a bad line, and the randomness that a seed reproduces |
//! | [`poll`] | sleeping until there is something to do |
//! | [`toolkit`] | what transports in other crates are made with |
//! | [`counters`], [`error`], [`limits`] | what is counted, what can go wrong, what nobody sets |
//!
//! `examples/udp_echo.rs` drives a server and a client over it.
#![deny(unsafe_code)]

pub mod address;
pub mod batch;
pub mod conditioner;
pub mod counters;
pub mod dummy;
pub mod error;
mod events;
pub mod http;
pub mod limits;
pub mod link;
pub mod memory;
pub mod poll;
pub mod rng;
mod stream;
#[cfg(target_os = "linux")]
mod sys;
pub mod tcp;
pub mod toolkit;
pub mod transport;
pub mod udp;
pub mod websocket;

pub use address::{AddressError, PeerAddress};
pub use batch::{Batch, Datagram};
pub use conditioner::{Conditioner, ConditionerConfig, PRESETS, UnknownPreset, preset};
pub use counters::Counters;
pub use dummy::DummyTransport;
pub use error::{ConfigError, TransportError};
pub use memory::{MemoryConfig, MemoryNetwork, MemoryTransport};
pub use netloom_wire::Micros;
pub use poll::Waker;
pub use tcp::{TcpConfig, TcpTransport};
pub use transport::{Capabilities, CloseReason, PeerState, PeerStatus, Transport, TransportEvent};
pub use udp::{UdpConfig, UdpTransport};
pub use websocket::{WebSocketConfig, WebSocketTransport};
