//! Replication without connections: the world on the server appears on every client.
#![forbid(unsafe_code)]

pub mod arena;
mod bits;
pub mod class;
pub mod client;
pub mod codec;
mod digest;
pub mod entry;
pub mod limits;
#[cfg(netloom_mutations)]
pub mod mutation;
pub mod property;
pub mod server;
pub mod snapshot;
pub mod world;

pub use class::{Class, ClassError, ClassId};
