//! Replication without connections: the world on the server appears on every client.
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
