//! Messages that may be lost: sent once, delivered at most once.

use std::collections::VecDeque;

use netloom_wire::Micros;

use super::{Deliver, Received, Tag};
use crate::frame::{FRAME_HEAD_MAX, MessageFrame};
use crate::limits::ASSEMBLIES_MAX;
use crate::pool::{BufferPool, Shared};
use crate::validate::Rejection;

/// A message whose parts have not all come by then is forgotten: long before its number comes round again.
const ASSEMBLY_LIFETIME: Micros = Micros::from_secs(2);

/// A part that waits to be sent.
#[derive(Debug)]
pub struct Outgoing {
    pub data: Shared,
    /// Its bytes.
    pub length: u32,
    pub id: u16,
    pub fragment: Option<(u16, u16)>,
    pub tag: Option<Tag>,
}

/// The sending half of an unreliable channel.
#[derive(Debug)]
#[repr(C)]
pub struct UnreliableSender {
    /// The part to send next, which usually is the only one: beside the counts, not in memory of its own.
    first: Option<Outgoing>,
    pending_bytes: usize,
    /// Parts behind the first.
    rest_count: u32,
    next_id: u16,
    latest_only: bool,
    rest: VecDeque<Outgoing>,
}

impl UnreliableSender {
    pub fn new(latest_only: bool) -> UnreliableSender {
        let rest = VecDeque::new();
        UnreliableSender { latest_only, next_id: 0, first: None, rest_count: 0, rest, pending_bytes: 0 }
    }

    /// Bytes that wait to be sent.
    pub fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    /// Bytes and parts that would wait if nothing that this message replaces did.
    pub fn pending_beside_new(&self) -> (usize, usize) {
        match self.latest_only {
            true => (0, 0),
            false => (self.pending_bytes, usize::from(self.first.is_some()) + self.rest_count as usize),
        }
    }

    /// Bytes that all parts take in packets at most.
    pub fn frames_bytes_max(&self) -> usize {
        self.pending_bytes + (1 + self.rest_count as usize) * FRAME_HEAD_MAX
    }

    /// Takes a message. On a sequenced channel it replaces what was not sent; `dropped` is called with its tag.
    pub fn push(
        &mut self,
        message: &[u8],
        tag: Option<Tag>,
        whole_max: usize,
        pool: &mut BufferPool,
        mut dropped: impl FnMut(u64),
    ) {
        while self.latest_only
            && let Some(part) = self.pop()
        {
            part.tag.into_iter().for_each(|tag| dropped(tag.number));
            pool.unshare(part.data);
        }
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        self.pending_bytes += message.len();
        let mut put = |fragment, bytes: &[u8]| {
            let part = Outgoing { data: pool.share(bytes), length: bytes.len() as u32, id, fragment, tag };
            match self.first {
                None => self.first = Some(part),
                Some(_) => {
                    self.rest.push_back(part);
                    self.rest_count += 1;
                }
            }
        };
        match message.len() <= whole_max {
            true => put(None, message),
            false => super::fragments(message).for_each(|(fragment, data)| put(Some(fragment), data)),
        }
    }

    /// The part to send next.
    #[inline]
    pub fn due(&self) -> Option<&Outgoing> {
        self.first.as_ref()
    }

    /// The part that [`due`](Self::due) showed has been put into a packet.
    pub fn handle_sent(&mut self, pool: &mut BufferPool) {
        if let Some(part) = self.pop() {
            pool.unshare(part.data);
        }
    }

    /// Gives all buffers back.
    pub fn release(&mut self, pool: &mut BufferPool) {
        while let Some(part) = self.pop() {
            pool.unshare(part.data);
        }
    }

    fn pop(&mut self) -> Option<Outgoing> {
        let part = self.first.take()?;
        self.pending_bytes -= part.length as usize;
        if self.rest_count > 0 {
            self.rest_count -= 1;
            self.first = self.rest.pop_front();
        }
        Some(part)
    }
}

#[derive(Debug)]
struct Assembly {
    id: u16,
    started: Micros,
    parts: Vec<Option<Vec<u8>>>,
    bytes: usize,
}

/// The receiving half of an unreliable channel.
#[derive(Debug)]
pub struct UnreliableReceiver {
    latest_only: bool,
    message_bytes_max: usize,
    newest: Option<u16>,
    assemblies: VecDeque<Assembly>,
    waiting_bytes: usize,
}

impl UnreliableReceiver {
    pub fn new(latest_only: bool, message_bytes_max: usize) -> UnreliableReceiver {
        UnreliableReceiver {
            latest_only,
            message_bytes_max,
            newest: None,
            assemblies: VecDeque::new(),
            waiting_bytes: 0,
        }
    }

    /// Bytes of incomplete messages.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Takes in a part. An error means that the packet must not be acknowledged.
    pub fn receive(
        &mut self,
        now: Micros,
        frame: &MessageFrame<'_>,
        bytes_max: usize,
        pool: &mut BufferPool,
        inbox: &mut impl Deliver,
    ) -> Received {
        if self.latest_only && !self.is_newer(frame.id) {
            return Ok(());
        }
        if frame.data.len() > self.message_bytes_max {
            return Err(Rejection::Malformed);
        }
        if inbox.room() == 0 {
            return Err(Rejection::NoRoom);
        }
        match frame.fragment {
            None => {
                inbox.deliver(pool.copy_of(frame.data));
                self.newest = Some(frame.id);
                Ok(())
            }
            Some((index, count)) => self.receive_fragment(now, frame, (index, count), bytes_max, pool, inbox),
        }
    }

    /// Gives all buffers back.
    pub fn release(&mut self, pool: &mut BufferPool) {
        while self.drop_oldest(pool) {}
    }

    fn is_newer(&self, id: u16) -> bool {
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::SequenceRegress) {
            return true;
        }
        self.newest.is_none_or(|newest| (id.wrapping_sub(newest) as i16) > 0)
    }

    fn receive_fragment(
        &mut self,
        now: Micros,
        frame: &MessageFrame<'_>,
        (index, count): (u16, u16),
        bytes_max: usize,
        pool: &mut BufferPool,
        inbox: &mut impl Deliver,
    ) -> Received {
        while self.assemblies.front().is_some_and(|oldest| now - oldest.started >= ASSEMBLY_LIFETIME) {
            self.drop_oldest(pool);
        }
        while self.waiting_bytes + frame.data.len() > bytes_max {
            if !self.drop_oldest(pool) {
                return Err(Rejection::NoRoom);
            }
        }
        let position = match self.assemblies.iter().position(|assembly| assembly.id == frame.id) {
            Some(position) => position,
            None => {
                if self.assemblies.len() == ASSEMBLIES_MAX {
                    self.drop_oldest(pool);
                }
                let parts = (0..count).map(|_| None).collect();
                self.assemblies.push_back(Assembly { id: frame.id, started: now, parts, bytes: 0 });
                self.assemblies.len() - 1
            }
        };
        let assembly = &mut self.assemblies[position];
        if assembly.parts.len() != usize::from(count) {
            return Err(Rejection::Malformed);
        }
        let part = &mut assembly.parts[usize::from(index)];
        if part.is_none() {
            if assembly.bytes + frame.data.len() > self.message_bytes_max {
                return Err(Rejection::Malformed);
            }
            *part = Some(pool.copy_of(frame.data));
            assembly.bytes += frame.data.len();
            self.waiting_bytes += frame.data.len();
        }
        if assembly.parts.iter().all(Option::is_some) {
            let mut message = pool.take();
            for part in assembly.parts.drain(..).flatten() {
                message.extend_from_slice(&part);
                pool.give(part);
            }
            self.waiting_bytes -= assembly.bytes;
            self.assemblies.remove(position);
            self.newest = Some(frame.id);
            inbox.deliver(message);
        }
        Ok(())
    }

    fn drop_oldest(&mut self, pool: &mut BufferPool) -> bool {
        let Some(assembly) = self.assemblies.pop_front() else {
            return false;
        };
        self.waiting_bytes -= assembly.bytes;
        assembly.parts.into_iter().flatten().for_each(|part| pool.give(part));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::testing::Inbox;
    use crate::config::ChannelKind;
    use crate::limits::FRAGMENT_BYTES;

    fn frame(id: u16, fragment: Option<(u16, u16)>, data: &[u8]) -> MessageFrame<'_> {
        MessageFrame { channel: 0, kind: ChannelKind::Sequenced, id, fragment, data }
    }

    struct Bench {
        receiver: UnreliableReceiver,
        pool: BufferPool,
        inbox: Inbox,
        now: Micros,
    }

    impl Bench {
        fn new(latest_only: bool) -> Bench {
            let receiver = UnreliableReceiver::new(latest_only, 300);
            Bench { receiver, pool: BufferPool::default(), inbox: Inbox::default(), now: Micros::ZERO }
        }

        fn receive(&mut self, id: u16, fragment: Option<(u16, u16)>, data: &[u8]) -> Received {
            self.receiver.receive(self.now, &frame(id, fragment, data), 100, &mut self.pool, &mut self.inbox)
        }
    }

    #[test]
    fn a_sequenced_channel_never_goes_back_not_even_at_the_wrap() {
        let mut bench = Bench::new(true);
        for id in [65_533, 65_535, 65_534, 1, 0, 65_535, 2, 2] {
            bench.receive(id, None, &id.to_le_bytes()).unwrap();
        }
        let got: Vec<u16> =
            bench.inbox.messages.iter().map(|message| u16::from_le_bytes([message[0], message[1]])).collect();
        assert_eq!(got, [65_533, 65_535, 1, 2]);
    }

    #[test]
    fn a_message_longer_than_the_channel_allows_is_malformed() {
        let mut bench = Bench::new(false);
        bench.receiver.message_bytes_max = 50;
        assert_eq!(bench.receive(0, None, &[0; 51]), Err(Rejection::Malformed));
        bench.receive(1, Some((0, 2)), &[0; 40]).unwrap();
        assert_eq!(bench.receive(1, Some((1, 2)), &[0; 11]), Err(Rejection::Malformed));
        bench.receive(1, Some((1, 2)), &[0; 10]).unwrap();
        assert_eq!(bench.inbox.messages, [[0; 50]]);
    }

    #[test]
    fn a_newer_message_replaces_an_unsent_one_and_its_tag_is_reported() {
        let (mut sender, mut pool) = (UnreliableSender::new(true), BufferPool::default());
        let mut dropped = vec![];
        sender.push(b"old", Some(1.into()), 1_000, &mut pool, |tag| dropped.push(tag));
        sender.push(b"newer", Some(2.into()), 1_000, &mut pool, |tag| dropped.push(tag));
        assert_eq!(pool.bytes(&sender.due().unwrap().data), b"newer");
        assert_eq!((dropped, sender.pending_bytes()), (vec![1], 5));
    }

    #[test]
    fn fragments_make_a_message_once_and_a_missing_one_makes_none() {
        let mut bench = Bench::new(false);
        bench.receive(5, Some((1, 2)), b"b").unwrap();
        bench.receive(6, Some((0, 2)), b"x").unwrap();
        bench.receive(5, Some((0, 2)), b"a").unwrap();
        assert_eq!(bench.inbox.messages, [b"ab"]);
        assert_eq!(bench.receiver.waiting_bytes(), 1);
    }

    #[test]
    fn a_flood_of_first_fragments_stays_within_its_limits() {
        let mut bench = Bench::new(false);
        for id in 0..1_000 {
            bench.receive(id, Some((0, 64)), &[0; 40]).unwrap();
            assert!(bench.receiver.waiting_bytes() <= 100);
            assert!(bench.receiver.assemblies.len() <= ASSEMBLIES_MAX);
        }
        assert_eq!(
            bench.receive(0, Some((0, 64)), &[0; 200]),
            Err(Rejection::NoRoom),
            "larger than the whole limit"
        );
    }

    #[test]
    fn an_old_half_message_is_not_mixed_with_a_new_one_of_the_same_number() {
        let mut bench = Bench::new(false);
        bench.receive(9, Some((0, 2)), b"old").unwrap();
        bench.now = ASSEMBLY_LIFETIME;
        bench.receive(9, Some((1, 2)), b"new").unwrap();
        assert!(bench.inbox.messages.is_empty());
        assert_eq!(bench.receive(9, Some((1, 3)), b"odd"), Err(Rejection::Malformed));
    }

    #[test]
    fn a_message_that_fits_one_packet_is_whole_and_a_larger_one_is_split() {
        let (mut sender, mut pool) = (UnreliableSender::new(false), BufferPool::default());
        sender.push(&[1; FRAGMENT_BYTES + 1], None, FRAGMENT_BYTES + 1, &mut pool, |_| ());
        sender.push(&[1; FRAGMENT_BYTES + 2], None, FRAGMENT_BYTES + 1, &mut pool, |_| ());
        let mut sizes = vec![];
        while let Some(part) = sender.due() {
            sizes.push((part.id, part.fragment, part.length as usize));
            sender.handle_sent(&mut pool);
        }
        let split = FRAGMENT_BYTES;
        assert_eq!(sizes, [(0, None, split + 1), (1, Some((0, 2)), split), (1, Some((1, 2)), 2)]);
        assert_eq!(sender.pending_bytes(), 0);
    }
}
