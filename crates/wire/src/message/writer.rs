//! Framing outgoing messages.

use super::{FRAME_HEADER_BYTES, PayloadLimitError, SIGNATURE, check_limit};
use crate::bytes::{ByteSink, MessageBuffer};
use crate::error::WriteError;
use crate::name::NameMode;

/// Frames messages into one buffer, from which a driver sends.
///
/// ```
/// use netloom_wire::{ByteSink, message::FrameWriter};
///
/// let mut frames = FrameWriter::new(1024, 64 * 1024)?;
/// let message = frames.start_message(7);
/// message.write_str("hello", 64);
/// frames.end_message()?;
/// assert_eq!(frames.as_bytes().len(), 10 + 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FrameWriter {
    buffer: MessageBuffer,
    /// Where the open message starts.
    open: Option<usize>,
    payload_bytes_max: usize,
}

impl FrameWriter {
    /// A writer of payloads of at most `payload_bytes_max` that holds at most `buffered_bytes_max` unsent bytes.
    pub fn new(
        payload_bytes_max: usize,
        buffered_bytes_max: usize,
    ) -> Result<FrameWriter, PayloadLimitError> {
        check_limit(payload_bytes_max)?;
        Ok(FrameWriter { buffer: MessageBuffer::new(buffered_bytes_max), open: None, payload_bytes_max })
    }

    /// The same writer with another form of names.
    #[must_use]
    pub fn with_names(self, name_mode: NameMode) -> FrameWriter {
        FrameWriter { buffer: self.buffer.with_names(name_mode), ..self }
    }

    /// Begins a message; write its payload into the returned buffer. A message that was begun and not ended is dropped.
    pub fn start_message(&mut self, id: u16) -> &mut MessageBuffer {
        self.abandon_message();
        self.open = Some(self.buffer.len());
        self.buffer.write_u32(SIGNATURE);
        self.buffer.write_u32(0);
        self.buffer.write_u16(id);
        &mut self.buffer
    }

    /// Ends the open message. If it failed or is too long, nothing of it is kept.
    pub fn end_message(&mut self) -> Result<(), WriteError> {
        let Some(start) = self.open else { return Ok(()) };
        let written = self.buffer.finish().map(|bytes| bytes.len());
        let payload = written.and_then(|end| match end.checked_sub(start + FRAME_HEADER_BYTES) {
            Some(length) if length <= self.payload_bytes_max => Ok(length),
            _ => Err(WriteError::TooLong),
        });
        match payload {
            Ok(length) => {
                self.buffer.patch(start + 4, &(length as u32).to_le_bytes());
                self.open = None;
                Ok(())
            }
            Err(error) => {
                self.abandon_message();
                Err(error)
            }
        }
    }

    /// The frames to send; an open message is not among them.
    pub fn as_bytes(&self) -> &[u8] {
        let end = self.open.unwrap_or(self.buffer.len());
        self.buffer.as_bytes().get(..end).unwrap_or_default()
    }

    /// Forgets the first `count` bytes, which were sent. An open message stays.
    pub fn consume(&mut self, count: usize) {
        let count = count.min(self.as_bytes().len());
        self.buffer.consume(count);
        self.open = self.open.map(|start| start - count);
    }

    fn abandon_message(&mut self) {
        if let Some(start) = self.open.take() {
            self.buffer.truncate(start);
        }
    }
}
