//! Replication: what a server may say to a client, what a client may say back, and the two of them over a bad network.

pub(crate) mod classes;
mod codec;
mod entry;
mod game;
mod input;
mod pair;
mod property;
mod recording;
mod remote;
mod snapshot;
mod tables;
mod witness;

pub use codec::replica_codec;
pub use entry::replica_entry;
pub use input::replica_input;
pub use pair::replica_pair;
pub use property::replica_property;
pub use snapshot::replica_snapshot;
pub use tables::replica_tables;

pub(crate) use classes::{CLASSES, board, classes, codes, ship, table};
pub(crate) use recording::RECORDING;
