//! Replication without connections: the world on the server appears on every client.
//!
//! ```text
//!   server                                                     client
//!   World ──▶ ReplicaServer ──▶ snapshots ─────────────────▶ ReplicaClient ──▶ View        what everybody else does
//!     ▲            ▲ acked, lost ◀──────────────────────────────┘       └────▶ Predictor   what the player does
//!     └─ game ◀─ InputQueue ◀─────────────────────────────── inputs ◀───────────┘
//!          └──── Rewind: what a shot hit in the past
//! ```
//!
//! Nothing here opens a socket, reads a clock or starts a thread. A snapshot is bytes in the caller's buffer; whoever sends
//! it says later whether it arrived, and time is an argument.
//!
//! ```
//! use netloom_replica::client::{ReplicaClient, View, ViewConfig};
//! use netloom_replica::codec::Codes;
//! use netloom_replica::server::{PeerConfig, ReplicaServer, ServerConfig};
//! use netloom_replica::world::{ClassTable, OwnerId, Spawn, World, WorldConfig};
//! use netloom_replica::{Class, ClassId};
//! use netloom_wire::schema::{FieldKind, SyncFlags};
//! use netloom_wire::{Micros, ObjectId, Profile, Schema};
//!
//! // Both sides know what objects are made of.
//! let classes = || -> Result<Vec<Class>, Box<dyn std::error::Error>> {
//!     let schema = Schema::builder("walker")
//!         .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255)
//!         .field("health", FieldKind::F32, SyncFlags::PUBLIC_SYNC, 100)
//!         .build()?;
//!     Ok(vec![Class::new(schema)?])
//! };
//!
//! // The server: a world, and who looks at it.
//! let mut world = World::new(classes()?, WorldConfig::default())?;
//! let walker = world.spawn(Spawn::new(ObjectId(1), ClassId(0)))?;
//! let mut server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default())?;
//! let peer = server.add_peer(PeerConfig::new(OwnerId(1)));
//!
//! // The client: what it was told, and what it shows of that.
//! let mut client = ReplicaClient::new(ClassTable::new(classes()?)?, Codes::generic());
//! let mut view = View::new(ViewConfig { ticks_per_second: 20, ..ViewConfig::default() })?;
//!
//! for tick in 0..40u64 {
//!     let now = Micros::from_millis(50 * tick);
//!     server.world_mut().set_position(walker, [tick as f64 * 0.1, 0.0, 0.0])?;
//!     server.begin_tick()?;
//!     server.select(peer, 1_000);
//!     let mut snapshot = [0; 1_150];
//!     while let Some(length) = server.poll_snapshot(peer, tick, &mut snapshot) {
//!         // Here the network is in between; this one delivers at once.
//!         client.handle_snapshot(&snapshot[..length])?;
//!         view.handle_snapshot(now, &client);
//!         server.handle_outcome(peer, tick, true);
//!     }
//!     view.advance(now);
//! }
//!
//! let (_, shown) = view.iter().next().expect("a walker is in sight");
//! // A tenth of a second ago it was two ticks behind where it is.
//! assert!((shown.pose.position[0] - 3.7).abs() < 0.05, "{:?}", shown.pose);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod arena;
mod bits;
pub mod class;
pub mod client;
pub mod codec;
pub mod determinism;
mod digest;
pub mod entry;
pub mod input;
pub mod limits;
#[cfg(netloom_mutations)]
pub mod mutation;
#[cfg(test)]
mod noise;
pub mod pose;
pub mod property;
mod rate;
pub mod server;
pub mod setting;
pub mod snapshot;
mod space;
pub mod step;
pub mod world;

pub use class::{Class, ClassError, ClassId};
pub use pose::Pose;
pub use setting::SettingError;
