//! Messages on a byte stream.
//!
//! A stream (TCP, WebSocket) has no message borders, delivers pieces of any size, and may be fed by anything that
//! connects. So every message is framed, and the reader accepts partial input, holds a bounded amount of it, and gives up
//! for good at the first byte that cannot be a frame: after garbage there is no border to find again.
//!
//! ```text
//!   0            4            8        10
//!   ├─ signature ┼─ length n ─┼─ id ───┼─ payload ─┤        all little-endian
//!     22 94 1E 01    u32         u16      n bytes
//! ```
//!
//! The signature is a marker, not a secret, and [`mask`] is obfuscation for compatibility. Neither protects anything:
//! security is the transport's encryption.

pub mod mask;
mod reader;
mod writer;

pub use reader::{Frame, FrameError, FrameReader};
pub use writer::FrameWriter;

/// The first four bytes of every frame, as a little-endian u32.
pub const SIGNATURE: u32 = 0x011E_9422;

/// Signature, length and id.
pub const FRAME_HEADER_BYTES: usize = 10;

/// The largest payload limit that a reader or writer can be given: 16 MiB.
pub const PAYLOAD_BYTES_LIMIT: usize = 16 << 20;

/// A payload limit that is zero or too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("payload_bytes_max is {payload_bytes_max}, allowed are 1 to {PAYLOAD_BYTES_LIMIT}")]
pub struct PayloadLimitError {
    /// The limit asked for.
    pub payload_bytes_max: usize,
}

fn check_limit(payload_bytes_max: usize) -> Result<(), PayloadLimitError> {
    match (1..=PAYLOAD_BYTES_LIMIT).contains(&payload_bytes_max) {
        true => Ok(()),
        false => Err(PayloadLimitError { payload_bytes_max }),
    }
}

#[cfg(test)]
mod tests;
