//! A byte buffer that grows up to a limit and gives memory back.

use super::{ByteSink, NameMode};
use crate::error::WriteError;

/// Capacity that is kept after a large message; anything above is returned to the allocator.
pub const KEPT_CAPACITY_BYTES: usize = 16 * 1024;

/// Growing storage for outgoing messages. It never holds more than its limit.
#[derive(Clone, Debug)]
pub struct MessageBuffer {
    bytes: Vec<u8>,
    bytes_max: usize,
    name_mode: NameMode,
    fault: Option<WriteError>,
}

impl MessageBuffer {
    /// An empty buffer that will hold at most `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> MessageBuffer {
        MessageBuffer { bytes: Vec::new(), bytes_max, name_mode: NameMode::Hashed, fault: None }
    }

    /// The same buffer with another form of names.
    #[must_use]
    pub fn with_names(self, name_mode: NameMode) -> MessageBuffer {
        MessageBuffer { name_mode, ..self }
    }

    /// The bytes written so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bytes were written.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes written so far, or the first failure.
    pub fn finish(&self) -> Result<&[u8], WriteError> {
        match self.fault {
            None => Ok(&self.bytes),
            Some(error) => Err(error),
        }
    }

    /// Forgets the content and any failure, and gives back memory beyond [`KEPT_CAPACITY_BYTES`].
    pub fn clear(&mut self) {
        self.truncate(0);
        self.bytes.shrink_to(KEPT_CAPACITY_BYTES);
    }

    /// Forgets all after the first `len` bytes, and any failure.
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
        self.fault = None;
    }

    /// Forgets the first `count` bytes, which were sent.
    pub fn consume(&mut self, count: usize) {
        self.bytes.drain(..count.min(self.bytes.len()));
        if self.bytes.len() <= KEPT_CAPACITY_BYTES {
            self.bytes.shrink_to(KEPT_CAPACITY_BYTES);
        }
    }

    /// Overwrites bytes that were written before; a range that was not written is an error.
    pub fn patch(&mut self, position: usize, bytes: &[u8]) {
        match self.bytes.get_mut(position..).and_then(|rest| rest.get_mut(..bytes.len())) {
            Some(slot) => slot.copy_from_slice(bytes),
            None => self.fail(WriteError::OutOfRange),
        }
    }

    /// The memory held.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

impl ByteSink for MessageBuffer {
    fn write_bytes(&mut self, bytes: &[u8]) {
        if self.fault.is_some() {
        } else if bytes.len() > self.bytes_max - self.bytes.len() {
            self.fail(WriteError::BufferFull);
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn fail(&mut self, error: WriteError) {
        self.fault.get_or_insert(error);
    }

    fn name_mode(&self) -> NameMode {
        self.name_mode
    }
}
