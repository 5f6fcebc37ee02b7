//! The server's half of replication.

pub mod interest;
pub mod priority;
pub mod setting;
