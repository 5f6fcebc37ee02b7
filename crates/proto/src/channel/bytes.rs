//! The bytes of messages that leave in the order in which they came.
//!
//! Every message of a reliable channel waits until it is acknowledged. A buffer for each would be a line or two of memory
//! that nobody has touched since the last tick, for each message, and a place in a list of free ones. Here they lie behind each
//! other:
//!
//! ```text
//!   │ given back │ message │ message │ message │ room │
//!   base         head                          len    capacity
//! ```
//!
//! What waits is moved to the front when the room is used up and at least half of the bytes were given back, so that a
//! byte is moved once on average; otherwise the room grows.

use crate::limits::WAITING_BYTES_KEPT_MAX;

/// Room from the first message on.
const BYTES_USUAL: usize = 4_096;

/// Bytes in order. A position counts from the first byte that was ever put in.
#[derive(Debug, Default)]
pub struct ByteQueue {
    bytes: Vec<u8>,
    /// How many at the front were given back.
    head: usize,
    /// The position of the first.
    base: u64,
}

impl ByteQueue {
    /// Appends bytes, and tells their position.
    #[inline]
    pub fn push(&mut self, data: &[u8]) -> u64 {
        if self.bytes.capacity() - self.bytes.len() < data.len() {
            self.make_room(data.len());
        }
        let position = self.base + self.bytes.len() as u64;
        self.bytes.extend_from_slice(data);
        position
    }

    /// So many bytes at a position.
    #[inline]
    pub fn get(&self, position: u64, length: usize) -> &[u8] {
        let start = position.saturating_sub(self.base) as usize;
        self.bytes.get(start..start + length).unwrap_or_default()
    }

    /// Gives back everything before a position.
    #[inline]
    pub fn give_back_to(&mut self, position: u64) {
        self.head = position.saturating_sub(self.base) as usize;
        if self.head >= self.bytes.len() {
            self.clear();
        }
    }

    /// Gives back everything.
    pub fn clear(&mut self) {
        self.base += self.bytes.len() as u64;
        self.head = 0;
        self.bytes.clear();
        if self.bytes.capacity() > WAITING_BYTES_KEPT_MAX {
            self.bytes.shrink_to(BYTES_USUAL);
        }
    }

    #[cold]
    fn make_room(&mut self, length: usize) {
        if self.head >= self.bytes.len() - self.head {
            self.bytes.drain(..self.head);
            self.base += self.head as u64;
            self.head = 0;
        }
        self.bytes.reserve(length.max(BYTES_USUAL - self.bytes.len().min(BYTES_USUAL)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn what_was_put_in_is_there_until_it_is_given_back(
            lengths in proptest::collection::vec((0usize..700, 0usize..4), 1..200)
        ) {
            let (mut queue, mut waiting) = (ByteQueue::default(), VecDeque::new());
            for (number, (length, given_back)) in lengths.into_iter().enumerate() {
                let data = vec![number as u8; length];
                waiting.push_back((queue.push(&data), data));
                for _ in 0..given_back {
                    waiting.pop_front();
                    queue.give_back_to(waiting.front().map_or(u64::MAX, |(position, _)| *position));
                }
                for (position, data) in &waiting {
                    prop_assert_eq!(queue.get(*position, data.len()), data.as_slice());
                }
            }
        }
    }

    #[test]
    fn a_steady_stream_keeps_its_room_and_a_flood_gives_it_back() {
        let mut queue = ByteQueue::default();
        let mut positions = VecDeque::new();
        for _ in 0..10_000 {
            positions.push_back(queue.push(&[7; 64]));
            if positions.len() > 20 {
                positions.pop_front();
                queue.give_back_to(positions[0]);
            }
        }
        assert_eq!(queue.bytes.capacity(), BYTES_USUAL);
        queue.push(&[7; 2 * WAITING_BYTES_KEPT_MAX]);
        queue.clear();
        assert!(queue.bytes.capacity() <= WAITING_BYTES_KEPT_MAX);
    }
}
