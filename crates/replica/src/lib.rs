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
pub mod property;
pub mod server;
pub mod snapshot;
pub mod step;
pub mod world;

pub use class::{Class, ClassError, ClassId};
