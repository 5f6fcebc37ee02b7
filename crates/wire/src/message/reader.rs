//! Cutting a stream back into messages.

use super::{FRAME_HEADER_BYTES, PayloadLimitError, SIGNATURE, check_limit};
use crate::bytes::KEPT_CAPACITY_BYTES;

/// One whole message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// What kind of message it is.
    pub id: u16,
    /// Its content.
    pub payload: &'a [u8],
}

/// Why a stream is beyond repair. The reader repeats it until it is dropped; close the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A frame does not begin with the signature.
    #[error("the stream does not continue with a frame signature")]
    BadSignature,
    /// A frame announces more than the limit.
    #[error("a frame announces {length} bytes, more than the limit of {max}")]
    Oversize {
        /// The announced length.
        length: u32,
        /// The limit.
        max: usize,
    },
}

/// Collects the bytes of a stream and yields its messages. Holds at most one frame of the largest size.
#[derive(Clone, Debug)]
pub struct FrameReader {
    buffer: Vec<u8>,
    /// Bytes of the buffer that were yielded already.
    consumed: usize,
    payload_bytes_max: usize,
    poison: Option<FrameError>,
}

impl FrameReader {
    /// A reader that accepts payloads of at most `payload_bytes_max`.
    pub fn new(payload_bytes_max: usize) -> Result<FrameReader, PayloadLimitError> {
        check_limit(payload_bytes_max)?;
        Ok(FrameReader { buffer: Vec::new(), consumed: 0, payload_bytes_max, poison: None })
    }

    /// Takes bytes that arrived and returns how many it took; poll, then push the rest.
    ///
    /// A poisoned reader takes everything and keeps nothing.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        if self.poison.is_some() {
            return bytes.len();
        }
        self.forget_consumed();
        let room = FRAME_HEADER_BYTES + self.payload_bytes_max - self.buffer.len();
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.buffer.extend_from_slice(taken);
        taken.len()
    }

    /// The next whole message, `None` if more bytes are needed first.
    pub fn poll_frame(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        match self.frame_length() {
            Ok(None) => Ok(None),
            Ok(Some((id, payload_length))) => {
                let start = self.consumed + FRAME_HEADER_BYTES;
                self.consumed = start + payload_length;
                let payload = self.buffer.get(start..self.consumed).unwrap_or_default();
                Ok(Some(Frame { id, payload }))
            }
            Err(error) => {
                self.poison = Some(error);
                self.buffer = Vec::new();
                self.consumed = 0;
                Err(error)
            }
        }
    }

    /// Whether a whole message is waiting, or an error is.
    pub fn needs_process(&self) -> bool {
        !matches!(self.frame_length(), Ok(None))
    }

    /// Bytes that arrived and were not yielded yet.
    pub fn buffered(&self) -> usize {
        self.buffer.len() - self.consumed
    }

    /// The memory held.
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// The id and payload length of the first frame if all of it is here. A wrong signature or length is found as soon
    /// as its first wrong byte is.
    fn frame_length(&self) -> Result<Option<(u16, usize)>, FrameError> {
        if let Some(error) = self.poison {
            return Err(error);
        }
        let rest = self.buffer.get(self.consumed..).unwrap_or_default();
        if rest.iter().zip(SIGNATURE.to_le_bytes()).any(|(&byte, expected)| byte != expected) {
            return Err(FrameError::BadSignature);
        }
        let Some(length_bytes) = rest.get(4..).and_then(|after| after.first_chunk()) else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length_bytes);
        if length as usize > self.payload_bytes_max {
            return Err(FrameError::Oversize { length, max: self.payload_bytes_max });
        }
        let Some(id) = rest.get(8..).and_then(|after| after.first_chunk()) else {
            return Ok(None);
        };
        let whole = rest.len() >= FRAME_HEADER_BYTES + length as usize;
        Ok(whole.then_some((u16::from_le_bytes(*id), length as usize)))
    }

    /// Drops what was yielded; once little is left, memory that a large message needed is given back.
    fn forget_consumed(&mut self) {
        if self.consumed == 0 {
            return;
        }
        self.buffer.drain(..self.consumed);
        self.consumed = 0;
        if self.buffer.len() <= KEPT_CAPACITY_BYTES {
            self.buffer.shrink_to(KEPT_CAPACITY_BYTES);
        }
    }
}
