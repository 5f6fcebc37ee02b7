//! Reliable messages as they arrive: duplicates dropped, gaps waited for, fragments put together.
//!
//! ```text
//!   next
//!    │ part │  gap  │ part │ part │          ordered: nothing is delivered until the gap is filled
//!    │ done │  gap  │ done │ part │          unordered: whole messages are delivered past it
//!    └────────── at most RELIABLE_WINDOW ─────────┘
//! ```

use std::collections::VecDeque;

use super::{Deliver, Received};
use crate::frame::MessageFrame;
use crate::limits::RELIABLE_WINDOW;
use crate::pool::BufferPool;
use crate::validate::Rejection;

#[derive(Debug)]
enum Slot {
    Missing,
    Part {
        data: Vec<u8>,
        fragment: Option<(u16, u16)>,
    },
    /// Delivered, but something before it is missing.
    Done,
}

/// Room for so many parts behind a gap from the first message on: what comes in a round trip of a quarter of a second at
/// two a tick.
const SLOTS_USUAL: usize = 32;

/// The receiving half of a reliable channel.
#[derive(Debug)]
pub struct ReliableReceiver {
    ordered: bool,
    message_bytes_max: usize,
    slots: VecDeque<Slot>,
    /// The id of the first slot.
    next: u64,
    waiting_bytes: usize,
}

impl ReliableReceiver {
    pub fn new(ordered: bool, message_bytes_max: usize) -> ReliableReceiver {
        ReliableReceiver { ordered, message_bytes_max, slots: VecDeque::new(), next: 0, waiting_bytes: 0 }
    }

    /// Bytes that wait for something before them.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Takes in a part. An error means that the packet must not be acknowledged; `Malformed` that the sender is broken.
    pub fn receive(
        &mut self,
        frame: &MessageFrame<'_>,
        bytes_max: usize,
        pool: &mut BufferPool,
        inbox: &mut impl Deliver,
    ) -> Received {
        let distance = frame.id.wrapping_sub(self.next as u16) as i16;
        let Ok(index) = usize::try_from(distance) else {
            return Ok(());
        };
        if index >= RELIABLE_WINDOW {
            return Err(Rejection::OutOfWindow);
        }
        if !matches!(self.slots.get(index), None | Some(Slot::Missing)) {
            return Ok(());
        }
        let starts_before = frame.fragment.is_some_and(|(part, _)| usize::from(part) > index);
        if starts_before || frame.data.len() > self.message_bytes_max {
            return Err(Rejection::Malformed);
        }
        let deliverable = frame.fragment.is_none() && (index == 0 || !self.ordered);
        if deliverable && inbox.room() == 0 {
            return Err(Rejection::NoRoom);
        }
        if !deliverable {
            self.check_room(frame, index, bytes_max)?;
        }
        if self.slots.capacity() == 0 {
            self.slots.reserve(SLOTS_USUAL);
        }
        while self.slots.len() <= index {
            self.slots.push_back(Slot::Missing);
        }
        if deliverable {
            inbox.deliver(pool.copy_of(frame.data));
            self.slots[index] = Slot::Done;
        } else {
            self.waiting_bytes += frame.data.len();
            self.slots[index] = Slot::Part { data: pool.copy_of(frame.data), fragment: frame.fragment };
            if !self.ordered {
                self.complete(index, pool, inbox)?;
            }
        }
        self.advance(pool, inbox)
    }

    /// Whether a part may wait.
    ///
    /// The message that everything waits for is always taken, for refusing its parts could never end. A sender that keeps
    /// to the largest message adds no more than that to what waits already.
    fn check_room(&self, frame: &MessageFrame<'_>, index: usize, bytes_max: usize) -> Received {
        let waiting_bytes = self.waiting_bytes + frame.data.len();
        let is_awaited = frame.fragment.is_some_and(|(part, _)| usize::from(part) == index);
        if waiting_bytes <= bytes_max {
            Ok(())
        } else if !is_awaited {
            Err(Rejection::NoRoom)
        } else if waiting_bytes <= bytes_max + self.message_bytes_max {
            Ok(())
        } else {
            Err(Rejection::Malformed)
        }
    }

    /// Delivers what has become possible after room was made.
    pub fn resume(&mut self, pool: &mut BufferPool, inbox: &mut impl Deliver) -> Received {
        self.advance(pool, inbox)
    }

    /// Gives all buffers back.
    pub fn release(&mut self, pool: &mut BufferPool) {
        for slot in self.slots.drain(..) {
            if let Slot::Part { data, .. } = slot {
                pool.give(data);
            }
        }
        self.waiting_bytes = 0;
    }

    /// Delivers from the front as far as it is complete.
    fn advance(&mut self, pool: &mut BufferPool, inbox: &mut impl Deliver) -> Received {
        loop {
            match self.slots.front() {
                Some(Slot::Done) => {
                    self.slots.pop_front();
                    self.next += 1;
                }
                Some(Slot::Part { .. }) if inbox.room() > 0 => {
                    if !self.complete(0, pool, inbox)? {
                        return Ok(());
                    }
                }
                #[cfg(netloom_mutations)]
                Some(Slot::Missing)
                    if crate::mutation::is(crate::mutation::Mutation::OrderBroken) && inbox.room() > 0 =>
                {
                    if let Some(late) = self.slots.iter().position(|slot| matches!(slot, Slot::Part { .. })) {
                        if self.complete(late, pool, inbox)? {
                            continue;
                        }
                    }
                    return Ok(());
                }
                _ => return Ok(()),
            }
        }
    }

    /// Delivers the message that the part at `index` belongs to, if all of it is here and there is room.
    fn complete(
        &mut self,
        index: usize,
        pool: &mut BufferPool,
        inbox: &mut impl Deliver,
    ) -> Result<bool, Rejection> {
        let Some(Slot::Part { fragment, .. }) = self.slots.get(index) else {
            return Ok(false);
        };
        let (part, count) = fragment.unwrap_or((0, 1));
        let Some(first) = index.checked_sub(part.into()) else {
            return Err(Rejection::Malformed);
        };
        let end = first + usize::from(count);
        if self.slots.len() < end || inbox.room() == 0 {
            return Ok(false);
        }
        let mut bytes = 0;
        for (position, slot) in self.slots.range(first..end).enumerate() {
            match slot {
                Slot::Missing => return Ok(false),
                Slot::Part { fragment, data } if fragment.unwrap_or((0, 1)) == (position as u16, count) => {
                    bytes += data.len();
                }
                #[cfg(netloom_mutations)]
                Slot::Part { .. } if crate::mutation::is(crate::mutation::Mutation::FragmentMixed) => {}
                Slot::Part { .. } | Slot::Done => return Err(Rejection::Malformed),
            }
        }
        if bytes > self.message_bytes_max {
            return Err(Rejection::Malformed);
        }
        let mut parts =
            self.slots.range_mut(first..end).filter_map(|slot| match std::mem::replace(slot, Slot::Done) {
                Slot::Part { data, .. } => Some(data),
                Slot::Missing | Slot::Done => None,
            });
        // A message that came whole and only waited stays in the buffer in which it did.
        let whole = if count == 1 { parts.next() } else { None };
        let mut message = whole.unwrap_or_else(|| pool.take());
        for data in parts {
            message.extend_from_slice(&data);
            pool.give(data);
        }
        self.waiting_bytes -= bytes;
        inbox.deliver(message);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::testing::Inbox;
    use crate::config::ChannelKind;
    use proptest::prelude::*;

    fn frame(id: u64, fragment: Option<(u16, u16)>, data: &[u8]) -> MessageFrame<'_> {
        MessageFrame { channel: 0, kind: ChannelKind::Ordered, id: id as u16, fragment, data }
    }

    struct Bench {
        receiver: ReliableReceiver,
        pool: BufferPool,
        inbox: Inbox,
    }

    impl Bench {
        fn new(ordered: bool) -> Bench {
            Bench {
                receiver: ReliableReceiver::new(ordered, 900),
                pool: BufferPool::default(),
                inbox: Inbox::default(),
            }
        }

        fn receive(&mut self, id: u64, fragment: Option<(u16, u16)>, data: &[u8]) -> Received {
            self.receiver.receive(&frame(id, fragment, data), 1_000, &mut self.pool, &mut self.inbox)
        }

        fn texts(&self) -> Vec<&str> {
            self.inbox.messages.iter().map(|message| std::str::from_utf8(message).unwrap()).collect()
        }
    }

    #[test]
    fn an_ordered_channel_waits_for_the_gap_and_an_unordered_one_does_not() {
        for (ordered, expected) in [(true, ["a", "b", "c"]), (false, ["b", "c", "a"])] {
            let mut bench = Bench::new(ordered);
            bench.receive(1, None, b"b").unwrap();
            bench.receive(2, None, b"c").unwrap();
            bench.receive(0, None, b"a").unwrap();
            for id in 0..3 {
                bench.receive(id, None, b"again").unwrap();
            }
            assert_eq!(bench.texts(), expected);
            assert_eq!(bench.receiver.waiting_bytes(), 0);
        }
    }

    #[test]
    fn fragments_are_put_together_in_any_order() {
        for ordered in [true, false] {
            let mut bench = Bench::new(ordered);
            bench.receive(3, Some((2, 3)), b"c").unwrap();
            bench.receive(1, Some((0, 3)), b"a").unwrap();
            bench.receive(2, Some((1, 3)), b"b").unwrap();
            bench.receive(0, None, b"first").unwrap();
            bench.receive(4, None, b"last").unwrap();
            assert_eq!(
                bench.texts(),
                if ordered { ["first", "abc", "last"] } else { ["abc", "first", "last"] }
            );
        }
    }

    #[test]
    fn fragments_that_contradict_each_other_are_malformed() {
        for ordered in [true, false] {
            let mut bench = Bench::new(ordered);
            assert_eq!(
                bench.receive(0, Some((1, 2)), b"x"),
                Err(Rejection::Malformed),
                "its first part would be id -1"
            );
            let mut bench = Bench::new(ordered);
            let first = bench.receive(0, Some((0, 2)), b"a");
            let second = bench.receive(1, Some((1, 3)), b"b");
            let third = bench.receive(2, Some((2, 3)), b"c");
            assert!([first, second, third].contains(&Err(Rejection::Malformed)), "ordered {ordered}");
        }
    }

    #[test]
    fn a_message_too_far_ahead_is_refused() {
        let mut bench = Bench::new(true);
        assert_eq!(bench.receive(RELIABLE_WINDOW as u64, None, b"x"), Err(Rejection::OutOfWindow));
        assert_eq!(bench.receive(RELIABLE_WINDOW as u64 - 1, None, b"x"), Ok(()));
    }

    #[test]
    fn memory_is_bounded_but_the_missing_part_always_fits() {
        let mut bench = Bench::new(true);
        let half = [0; 400];
        bench.receive(1, None, &half).unwrap();
        bench.receive(2, None, &half).unwrap();
        assert_eq!(bench.receive(3, None, &half), Err(Rejection::NoRoom));
        assert!(bench.receiver.waiting_bytes() <= 1_000);
        bench.receive(0, Some((0, 1)), &half).unwrap_or(());
        bench.receive(0, None, &half).unwrap();
        bench.receive(3, None, &half).unwrap();
        assert_eq!(bench.inbox.messages.len(), 4);
    }

    #[test]
    fn a_message_longer_than_the_channel_allows_is_malformed() {
        for ordered in [true, false] {
            let mut bench = Bench::new(ordered);
            assert_eq!(bench.receive(0, None, &[0; 901]), Err(Rejection::Malformed));
            bench.receive(0, Some((0, 3)), &[0; 400]).unwrap();
            bench.receive(1, Some((1, 3)), &[0; 400]).unwrap();
            assert_eq!(bench.receive(2, Some((2, 3)), &[0; 101]), Err(Rejection::Malformed));
            assert!(bench.inbox.messages.is_empty());
        }
    }

    #[test]
    fn the_awaited_message_goes_beyond_the_limit_by_its_own_size_and_no_further() {
        let mut bench = Bench::new(true);
        bench.receive(500, None, &[0; 900]).unwrap();
        for part in 0..3 {
            bench.receive(part, Some((part as u16, 400)), &[0; 300]).unwrap();
        }
        assert_eq!(bench.receive(3, Some((3, 400)), &[0; 300]), Err(Rejection::Malformed));
        assert!(bench.receiver.waiting_bytes() <= 1_000 + 900);
    }

    #[test]
    fn a_full_inbox_does_not_lift_the_limit() {
        let mut bench = Bench::new(true);
        bench.inbox.capacity = 0;
        for part in 0..2 {
            bench.receive(part, Some((part as u16, 2)), &[0; 400]).unwrap();
        }
        assert_eq!(
            bench.receive(2, Some((0, 2)), &[0; 400]),
            Err(Rejection::NoRoom),
            "the awaited message is whole already"
        );
    }

    #[test]
    fn a_full_inbox_refuses_and_takes_it_later() {
        let mut bench = Bench::new(true);
        bench.inbox.capacity = 1;
        bench.receive(1, None, b"b").unwrap();
        bench.receive(0, None, b"a").unwrap();
        assert_eq!(bench.texts(), ["a"], "b waits for room");
        assert_eq!(bench.receive(2, None, b"c"), Ok(()));
        bench.inbox.capacity = 10;
        bench.receiver.resume(&mut bench.pool, &mut bench.inbox).unwrap();
        assert_eq!(bench.texts(), ["a", "b", "c"]);
    }

    proptest! {
        #[test]
        fn any_order_with_duplicates_delivers_every_message_once(
            ordered: bool,
            start in 0u64..200_000,
            sizes in proptest::collection::vec(1usize..4, 1..20),
            shuffle in proptest::collection::vec(any::<u32>(), 120),
        ) {
            let mut parts = vec![];
            for (message, &count) in sizes.iter().enumerate() {
                for index in 0..count {
                    let fragment = (count > 1).then_some((index as u16, count as u16));
                    parts.push((start + parts.len() as u64, fragment, [message as u8, index as u8]));
                }
            }
            let twice: Vec<_> = parts.iter().chain(&parts).copied().collect();
            let mut order: Vec<usize> = (0..twice.len()).collect();
            order.sort_by_key(|&index| shuffle[index % shuffle.len()] ^ (index as u32).wrapping_mul(2_654_435_761));
            let mut bench = Bench::new(ordered);
            bench.receiver.next = start;
            for index in order {
                let (id, fragment, data) = twice[index];
                bench.receive(id, fragment, &data).unwrap();
            }
            let mut got: Vec<Vec<u8>> = bench.inbox.messages.clone();
            if !ordered {
                got.sort();
            }
            let expected: Vec<Vec<u8>> = sizes.iter().enumerate()
                .map(|(message, &count)| (0..count).flat_map(|index| [message as u8, index as u8]).collect())
                .collect();
            prop_assert_eq!(got, expected);
            prop_assert_eq!(bench.receiver.waiting_bytes(), 0);
        }
    }
}
