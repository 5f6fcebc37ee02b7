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

/// Bytes in order. A position counts from the first byte that was ever put in and wraps: fewer than half as many ever wait.
#[derive(Debug, Default)]
pub struct ByteQueue {
    bytes: Vec<u8>,
    /// How many at the front were given back.
    head: usize,
    /// The position of the first.
    base: u32,
}

impl ByteQueue {
    /// Appends bytes, those of the head first, and tells their position.
    #[inline]
    pub fn push(&mut self, head: &[u8], data: &[u8]) -> u32 {
        let length = head.len() + data.len();
        if self.bytes.capacity() - self.bytes.len() < length {
            self.make_room(length);
        }
        let position = self.base.wrapping_add(self.bytes.len() as u32);
        self.bytes.extend_from_slice(head);
        self.bytes.extend_from_slice(data);
        position
    }

    /// So many bytes at a position.
    #[inline]
    pub fn get(&self, position: u32, length: usize) -> &[u8] {
        let start = position.wrapping_sub(self.base) as usize;
        self.bytes.get(start..start + length).unwrap_or_default()
    }

    /// Gives back everything before a position.
    #[inline]
    pub fn give_back_to(&mut self, position: u32) {
        self.head = position.wrapping_sub(self.base) as usize;
        if self.head >= self.bytes.len() {
            self.clear();
        }
    }

    /// Gives back everything.
    pub fn clear(&mut self) {
        self.base = self.base.wrapping_add(self.bytes.len() as u32);
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
            self.base = self.base.wrapping_add(self.head as u32);
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
            // The positions wrap while they wait.
            let (mut queue, mut waiting) = (ByteQueue { base: u32::MAX - 5_000, ..ByteQueue::default() }, VecDeque::new());
            for (number, (length, given_back)) in lengths.into_iter().enumerate() {
                let data = vec![number as u8; length];
                waiting.push_back((queue.push(&data[..length / 2], &data[length / 2..]), data));
                for _ in 0..given_back {
                    waiting.pop_front();
                    match waiting.front() {
                        Some((position, _)) => queue.give_back_to(*position),
                        None => queue.clear(),
                    }
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
            positions.push_back(queue.push(&[7; 4], &[7; 60]));
            if positions.len() > 20 {
                positions.pop_front();
                queue.give_back_to(positions[0]);
            }
        }
        assert_eq!(queue.bytes.capacity(), BYTES_USUAL);
        queue.push(&[], &[7; 2 * WAITING_BYTES_KEPT_MAX]);
        queue.clear();
        assert!(queue.bytes.capacity() <= WAITING_BYTES_KEPT_MAX);
    }
}
