//! Message buffers that are used again instead of being freed.
//!
//! A connection at rest moves the same number of messages every tick, so the same buffers serve for ever. Small
//! ones are kept, up to a limit; one that grew large is freed, so that a single big message does not pin its memory.
//! Every connection brings some along, so that none are made in the middle of a game when a line first stalls, or when
//! receivers who were told the same for minutes are told different things.
//!
//! Most messages are either a few bytes or nearly a datagram. Buffers of the two sizes are kept apart: a small one that
//! was filled with a large message now and then would have to grow, each of them once, for minutes.

use crate::limits::{DATAGRAM_MAX, POOLED_BUFFER_BYTES_MAX, POOLED_BUFFERS_MAX};

/// What a buffer for a short message holds.
const SMALL_BYTES: usize = 256;

/// What a connection brings along: short messages of a quarter of a second at four a tick, and a world that takes a few
/// datagrams, or comes late. All connections together bring no more than what is kept.
const SMALL_PER_CONNECTION: usize = 64;
const LARGE_PER_CONNECTION: usize = 8;

/// A message that waits to be sent, to one receiver or to several: its place in the pool, to be given back by
/// [`unshare`](BufferPool::unshare).
#[derive(Debug, PartialEq, Eq)]
pub struct Shared(u32);

/// Such a message, and how many wait for it. None: the place is free.
#[derive(Debug, Default)]
struct Message {
    bytes: Vec<u8>,
    receivers: u32,
}

/// Buffers to take and give back.
#[derive(Debug, Default)]
pub struct BufferPool {
    small: Vec<Vec<u8>>,
    large: Vec<Vec<u8>>,
    messages: Vec<Message>,
    /// Places without a message.
    free: Vec<u32>,
    /// The message that was shared last, while anybody waits for it.
    last: Option<u32>,
    /// How many connections have brought buffers along.
    stocked: usize,
}

impl BufferPool {
    /// Has enough for so many connections, as far as it keeps that many.
    pub fn stock(&mut self, connections: usize) {
        for _ in self.stocked..connections {
            self.stocked += 1;
            let all = |each: usize| (self.stocked * each).min(POOLED_BUFFERS_MAX / 2);
            let (small, large) = (all(SMALL_PER_CONNECTION), all(LARGE_PER_CONNECTION));
            // The lists hold all of them, also those that are in use now.
            self.small.reserve(small.saturating_sub(self.small.len()));
            self.large.reserve(large.saturating_sub(self.large.len()));
            self.messages.reserve(large.saturating_sub(self.messages.len()));
            self.free.reserve(large.saturating_sub(self.free.len()));
            (0..SMALL_PER_CONNECTION).for_each(|_| self.give(Vec::with_capacity(SMALL_BYTES)));
            (0..LARGE_PER_CONNECTION).for_each(|_| self.give(Vec::with_capacity(DATAGRAM_MAX)));
        }
    }

    /// A buffer with a copy of `bytes`.
    pub fn copy_of(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut buffer = match bytes.len() {
            0..=SMALL_BYTES => self.small.pop().unwrap_or_else(|| Vec::with_capacity(SMALL_BYTES)),
            _ => self.take(),
        };
        buffer.extend_from_slice(bytes);
        buffer
    }

    /// Keeps a message until whoever it is for has it. The same message as the one before is kept once, for a server tells many
    /// players the same in one go. A copy for each would go into memory that nobody has touched since the last tick: 235 lines
    /// of it where 16 players see the same 200 objects.
    pub fn share(&mut self, bytes: &[u8]) -> Shared {
        if let Some(place) = self.last
            && let Some(message) = self.messages.get_mut(place as usize)
            && message.bytes == bytes
        {
            message.receivers += 1;
            return Shared(place);
        }
        let message = Message { bytes: self.copy_of(bytes), receivers: 1 };
        let place = match self.free.pop() {
            Some(place) => {
                self.messages[place as usize] = message;
                place
            }
            None => {
                self.messages.push(message);
                self.messages.len() as u32 - 1
            }
        };
        self.last = Some(place);
        Shared(place)
    }

    /// The bytes of a message.
    #[inline]
    pub fn bytes(&self, message: &Shared) -> &[u8] {
        self.messages.get(message.0 as usize).map_or(&[], |message| &message.bytes)
    }

    /// A message is no longer waited for by one of those who share it. The last one's buffer is used again.
    #[inline]
    pub fn unshare(&mut self, Shared(place): Shared) {
        let Some(message) = self.messages.get_mut(place as usize) else { return };
        message.receivers -= 1;
        if message.receivers == 0 {
            let bytes = std::mem::take(&mut message.bytes);
            self.free.push(place);
            self.last = self.last.filter(|last| *last != place);
            self.give(bytes);
        }
    }

    /// An empty buffer for a message that is put together from parts.
    pub fn take(&mut self) -> Vec<u8> {
        self.large.pop().unwrap_or_else(|| Vec::with_capacity(DATAGRAM_MAX))
    }

    /// Gives a buffer back.
    pub fn give(&mut self, mut buffer: Vec<u8>) {
        let kept = match buffer.capacity() {
            SMALL_BYTES..DATAGRAM_MAX => &mut self.small,
            DATAGRAM_MAX..=POOLED_BUFFER_BYTES_MAX => &mut self.large,
            _ => return,
        };
        if kept.len() < POOLED_BUFFERS_MAX / 2 {
            buffer.clear();
            kept.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_count::allocations;

    #[test]
    fn a_returned_buffer_is_used_again_and_a_large_one_is_not_kept() {
        let mut pool = BufferPool::default();
        let buffer = pool.copy_of(b"hello");
        let address = buffer.as_ptr();
        pool.give(buffer);
        pool.give(Vec::with_capacity(POOLED_BUFFER_BYTES_MAX + 1));
        pool.give(Vec::new());
        let again = pool.copy_of(b"you");
        assert_eq!((again.as_ptr(), again.len()), (address, 3));
        assert!(pool.small.is_empty() && pool.large.is_empty());
    }

    #[test]
    fn the_same_message_to_many_is_one_buffer_until_the_last_of_them_has_it() {
        let mut pool = BufferPool::default();
        let [first, second] = [(); 2].map(|()| pool.share(b"everybody moves"));
        assert_eq!(first, second);
        let other = pool.share(b"somebody speaks");
        assert_eq!(
            (pool.bytes(&first), pool.bytes(&other)),
            (&b"everybody moves"[..], &b"somebody speaks"[..])
        );
        let address = pool.bytes(&first).as_ptr();
        pool.unshare(first);
        assert!(pool.small.is_empty(), "one still waits for it");
        pool.unshare(second);
        let again = pool.copy_of(b"again");
        assert_eq!(again.as_ptr(), address);
        pool.unshare(other);
        let alone = pool.share(b"somebody speaks");
        assert_eq!(pool.bytes(&alone), b"somebody speaks");
        assert_eq!(pool.messages.len(), 2, "places are used again");
    }

    #[test]
    fn connections_bring_along_what_it_takes_to_tell_each_something_else() {
        let mut pool = BufferPool::default();
        pool.stock(16);
        pool.stock(16);
        let mut shared = Vec::with_capacity(16 * LARGE_PER_CONNECTION);
        let before = allocations();
        for number in 0..16 * LARGE_PER_CONNECTION as u8 {
            shared.push(pool.share(&[number; 1_000]));
        }
        shared.drain(..).for_each(|message| pool.unshare(message));
        let mut copies = [(); 16 * SMALL_PER_CONNECTION].map(|()| pool.copy_of(b"a short message"));
        copies.iter_mut().for_each(|copy| pool.give(std::mem::take(copy)));
        assert_eq!(allocations() - before, 0);
        assert_eq!(
            (pool.large.len(), pool.small.len()),
            (16 * LARGE_PER_CONNECTION, 16 * SMALL_PER_CONNECTION)
        );
    }

    #[test]
    fn a_small_buffer_never_serves_a_large_message() {
        let mut pool = BufferPool::default();
        let (small, large) = (pool.copy_of(b"hello"), pool.copy_of(&[7; SMALL_BYTES + 1]));
        let address = large.as_ptr();
        pool.give(large);
        pool.give(small);
        let again = pool.copy_of(&[8; DATAGRAM_MAX]);
        assert_eq!(again.as_ptr(), address);
        assert_eq!(pool.small.len(), 1);
    }
}
