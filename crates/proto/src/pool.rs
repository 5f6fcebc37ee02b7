//! Message buffers that are used again instead of being freed.
//!
//! A connection at rest moves the same number of messages every tick, so the same buffers serve for ever. Small
//! ones are kept, up to a limit; one that grew large is freed, so that a single big message does not pin its memory.

use crate::limits::{POOLED_BUFFER_BYTES_MAX, POOLED_BUFFERS_MAX};

/// Buffers to take and give back.
#[derive(Debug, Default)]
pub struct BufferPool {
    free: Vec<Vec<u8>>,
}

impl BufferPool {
    /// A buffer with a copy of `bytes`.
    pub fn copy_of(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut buffer = self.take();
        buffer.extend_from_slice(bytes);
        buffer
    }

    /// An empty buffer.
    pub fn take(&mut self) -> Vec<u8> {
        self.free.pop().unwrap_or_else(|| Vec::with_capacity(256))
    }

    /// Gives a buffer back.
    pub fn give(&mut self, mut buffer: Vec<u8>) {
        let ordinary = (1..=POOLED_BUFFER_BYTES_MAX).contains(&buffer.capacity());
        if ordinary && self.free.len() < POOLED_BUFFERS_MAX {
            buffer.clear();
            self.free.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_returned_buffer_is_used_again_and_a_large_one_is_not_kept() {
        let mut pool = BufferPool::default();
        let buffer = pool.copy_of(b"hello");
        let address = buffer.as_ptr();
        pool.give(buffer);
        pool.give(Vec::with_capacity(POOLED_BUFFER_BYTES_MAX + 1));
        pool.give(Vec::new());
        let again = pool.take();
        assert_eq!((again.as_ptr(), again.len()), (address, 0));
        assert!(pool.free.is_empty());
    }
}
