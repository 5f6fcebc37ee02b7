//! What a processor can do that a compiler does not ask it for by itself.
//!
//! | module | what it does |
//! |---|---|
//! | [`vectors`] | runs a loop with the widest vectors that the processor has |
//! | [`mod@fetch`] | asks for memory ahead of its use |
//! | [`checksum`] | the CRC32C of packets, with the instruction for it |
//!
//! Nothing of it changes what is computed. It is a crate of its own because asking is `unsafe`, which the crates that
//! use it forbid.

pub mod checksum;
pub mod fetch;
pub mod vectors;

pub use checksum::crc32c;
pub use fetch::{fetch, fetch_first, fetch_next};
pub use vectors::{Work, widest};
