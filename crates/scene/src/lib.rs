//! Scenes: objects that move, whatever moves them, as food for replication.
//!
//! How small updates become depends on what moves. A codec that was tuned on one kind of motion fails on another, and
//! figures from somebody else's game say little about one's own. So motion is a thing of its own here, a [`Source`]: from
//! a generator with a seed, from a game that was recorded, or from a well-known recording. Whatever can be measured
//! of one can be measured of all, and tables of codes are trained on some and judged on others.
//!
//! ```text
//!   generate::{rigid, crowd, …}                     ─┐
//!   Recording (.scene) ◀── Recorder ◀── a game       ├─▶ Source ──▶ World ──▶ replay: server, network, clients ──▶ figures
//!   cubes (.bin, .bin.xz) ──────────────────────────┘                └──▶ training of tables
//! ```
//!
//! ```
//! use netloom_replica::world::{Spawn, World, WorldConfig};
//! use netloom_replica::{Class, ClassId};
//! use netloom_scene::{Recorder, Recording, Source};
//! use netloom_wire::schema::{FieldKind, SyncFlags};
//! use netloom_wire::{ObjectId, Profile, Schema, Tick};
//!
//! // A game, recorded after each of its send ticks.
//! let schema = Schema::builder("ball")
//!     .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255)
//!     .build()?;
//! let mut world = World::new(vec![Class::new(schema)?], WorldConfig::default())?;
//! let ball = world.spawn(Spawn::new(ObjectId(1), ClassId(0)))?;
//! let mut file = Vec::new();
//! let mut recorder = Recorder::new(&mut file, "ball", 20, world.classes().declared())?;
//! for tick in 1..=40 {
//!     world.set_position(ball, [0.0, 9.0 - 0.1 * f64::from(tick), 0.0])?;
//!     world.commit(Tick(tick))?;
//!     recorder.tick(&world)?;
//! }
//! recorder.finish()?;
//! drop(recorder);
//!
//! // The same again, without the game.
//! let mut scene = Recording::new(&file[..])?;
//! let mut copy = scene.world()?;
//! let mut tick = Tick(0);
//! while scene.play(&mut copy)? {
//!     tick = tick.next();
//!     copy.commit(tick)?;
//! }
//! let ball = copy.object(copy.find(ObjectId(1)).ok_or("gone")?).ok_or("gone")?;
//! assert_eq!((tick, ball.words()), (Tick(40), &[0, 500, 0, 0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod cubes;
mod error;
mod file;
pub mod generate;
mod recorder;
mod recording;
pub mod replay;
mod source;
pub mod train;

pub use error::{Damage, SceneError};
pub use file::{NAME_BYTES_MAX, TICKS_PER_SECOND_MAX};
pub use recorder::{Recorder, record};
pub use recording::{Ending, Recording};
pub use source::{Limited, Source};
