//! The classic protocol: three-byte headers over bare UDP, for clients that know nothing of Netloom.
//!
//! The format is older than Netloom and is kept byte for byte: `01 00 00` asks for a place, `10 01 00 19` flies up and right and fires. It
//! was made without a handshake, so that whoever writes another's address into a datagram fills seats, steers other people's ships, and
//! has the server send them 126 kB/s that they did not ask for. What is added against that is small, and written down with everything
//! else in `docs/CLASSIC.md`.
//!
//! ```text
//!   UDP ──▶ desk ──── who may say what, how often ──▶ gateway ──▶ pilot ── a Netloom client in memory ──▶ the same rooms as everybody's
//!   UDP ◀── codec ◀── broadcasters: what is said, how often ◀── scene ◀── pilot
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | [`codec`] | the bytes |
//! | [`desk`] | sessions: challenge, tokens, limits, silence. No socket, no clock |
//! | [`broadcast`] | what each opcode is sent for, as six parts that know nothing of each other |
//! | [`scene`] | what a player sees at a moment, in the terms of the classic protocol |
//! | [`pilot`] | one player: a Netloom client that is steered by classic messages |
//! | [`gateway`] | desk, pilots and broadcasters together, still without a socket |
//! | [`service`] | the thread with the socket, 60 times a second |
//! | [`client`] | a client, for tests and for whoever wants to write one |
//!
//! The game does not know that this exists: to it, a classic player is a player.

pub mod broadcast;
pub mod client;
pub mod codec;
pub mod desk;
pub mod frames;
pub mod gateway;
pub mod pilot;
pub mod scene;
pub mod service;

pub use client::Client;
pub use desk::DeskConfig;
pub use service::{Entrance, Service, ServiceError};
