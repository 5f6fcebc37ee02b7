//! Multiplayer networking for games: rooms that step, worlds that everybody sees, players who feel no delay.
//!
//! A game says what its objects are, what a player can do, and what comes of it. Server and client share that much; the rest
//! is here. This is a whole game, with both ends in one process:
//!
//! ```
//! use netloom::prelude::*;
//!
//! #[derive(Replicated, Clone, Default)]
//! struct Walker {
//!     #[replicated(position)]
//!     at: [f32; 3],
//! }
//!
//! /// How players move: the server does this, and the client does it ahead of the server.
//! #[derive(Clone)]
//! struct Walk;
//!
//! impl Step for Walk {
//!     type State = Walker;
//!     type Input = [u8; 1]; // 1: to the right
//!     fn step(&self, walker: &mut Walker, input: &[u8; 1]) {
//!         walker.at[0] += if input[0] == 1 { 0.05 } else { 0.0 };
//!     }
//! }
//!
//! #[derive(Default)]
//! struct Stroll(std::collections::BTreeMap<PlayerId, (ObjectIndex, Walker)>);
//!
//! impl Game for Stroll {
//!     type Input = [u8; 1];
//!     fn join(&mut self, room: &mut Room, player: PlayerId) {
//!         let object = room.spawn(&Walker::default(), Some(player)).expect("there is room");
//!         self.0.insert(player, (object, Walker::default()));
//!     }
//!     fn input(&mut self, room: &mut Room, player: PlayerId, did: &Command<[u8; 1]>) -> Result<(), Rejected> {
//!         let (object, walker) = self.0.get_mut(&player).ok_or(Rejected::new(1, "not playing"))?;
//!         Walk.step(walker, &did.input);
//!         room.write(*object, walker).map_err(|_| Rejected::new(2, "gone"))
//!     }
//!     fn leave(&mut self, room: &mut Room, player: PlayerId) {
//!         self.0.remove(&player).map(|(object, _)| room.despawn(object));
//!     }
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let protocol = Protocol::builder("stroll").object::<Walker>().build()?;
//!     let server = Server::builder(protocol.clone()).room(RoomConfig::new("park"), Stroll::default());
//!     let server = server.listen("127.0.0.1:0").bind()?.spawn()?;
//!
//!     let mut client = Client::<[u8; 1]>::connect(protocol, &server.local_addresses()[0].to_string())?;
//!     let mut own = Prediction::new(Walk);
//!     while own.state().is_none_or(|walker| walker.at[0] < 1.0) {
//!         let elapsed = client.tick()?;
//!         own.update(&client, elapsed)?; // what the server said of it
//!         while let Some(step) = client.poll_step() {
//!             client.push_input(step, [1])?;
//!             own.apply(step, [1]); // at once
//!         }
//!         client.wait(Micros::from_millis(5))?; // or draw a frame: own.pose(), client.view()
//!     }
//!     Ok(server.stop("the stroll is over")?)
//! }
//! ```
//!
//! | to find out about | look at |
//! |---|---|
//! | objects, and how they are sent | [`Replicated`](derive@replicated::Replicated) |
//! | what a game implements | [`Game`](prelude::Game) |
//! | what a game can do in its callbacks | [`Room`](prelude::Room) |
//! | running a server | [`Server`]: in a loop of your own, as the loop, or in a thread |
//! | being a client | [`Client`], which can all that [`session::Client`] can |
//! | settings | [`ServerConfig`](prelude::ServerConfig), [`RoomConfig`](prelude::RoomConfig), [`ClientConfig`](prelude::ClientConfig) |
//! | a player in the server's own process, or no network at all | [`ServerBuilder::bind_with_player`] |
//! | servers on the local network, codes for rooms | [`discovery`] |
//! | what a server does at the moment, also for Prometheus | [`Server::stats`] |
//! | whether a client sees what the server has | [`world_hash`] |
//! | a bad line on purpose | [`ClientBuilder::bad_line`] |
//! | browsers | `https://` and `ws://` in [`ServerBuilder::listen`]; pages beside them by [`ServerBuilder::http`] |
#![forbid(unsafe_code)]

pub mod address;
pub mod client;
pub mod clock;
mod crew;
pub mod discovery;
pub mod error;
mod line;
pub mod server;
pub mod stats;
#[cfg(feature = "webtransport")]
mod web;
pub mod world_hash;

pub use address::{Address, AddressError, Scheme};
pub use client::{Client, ClientBuilder};
pub use error::Error;
pub use line::{Driver, RING_DATAGRAMS};
pub use netloom_proto as proto;
pub use netloom_replica as replica;
pub use netloom_replica::input::Input;
pub use netloom_session as session;
pub use netloom_session::replicated;
pub use netloom_transport as transport;
#[cfg(feature = "webtransport")]
pub use netloom_webtransport as webtransport;
pub use netloom_wire as wire;
pub use server::{Server, ServerBuilder, ServerHandle};
pub use stats::Stats;

/// What most games need.
pub mod prelude {
    pub use crate::replicated::{Choice, Replicated};
    pub use crate::{Client, Driver, Error, Input, Server, ServerHandle};
    pub use netloom_proto::DisconnectReason;
    pub use netloom_replica::step::Step;
    pub use netloom_replica::world::{ObjectIndex, TeamId};
    pub use netloom_session::client::{ClientEvent, Ending, Prediction};
    pub use netloom_session::{
        Call, CallRefused, CallTarget, Candidate, ClientConfig, Command, Denied, Game, GameError, PlayerId,
        Profile, Protocol, Rejected, Room, RoomConfig, RoomId, RpcOptions, ServerConfig, ServerEvent,
    };
    pub use netloom_wire::{Alias, BitReader, BitWriter, Micros, ReadError, Tick};
}

/// The README's game compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
