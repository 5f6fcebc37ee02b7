//! Messages that are kept until they are acknowledged.
//!
//! ```text
//!   base                     next_new                  end
//!    │ acked │ in flight │ lost │  never sent            │
//!    └────────── at most RELIABLE_WINDOW ─────────┘
//! ```
//!
//! A message is written as a frame when it is taken, once, so that a packet gets all that fits of what is new by one copy.
//!
//! There is no timer per message: a message is resent when the last packet that carried it is given up. When nothing
//! at all comes back, the connection asks for a [`probe`](ReliableSender::probe).

use std::collections::VecDeque;

use super::bytes::ByteQueue;
use crate::config::ChannelKind;
use crate::frame::FrameHead;
use crate::limits::RELIABLE_WINDOW;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not sent yet, or lost: to be sent.
    Due,
    /// In a packet on its way.
    InFlight,
    Acked,
}

/// A message, or a part of one, as a frame.
#[derive(Debug)]
struct Outgoing {
    /// The newest packet that carried it.
    number: u64,
    /// Where its frame is, and how long that is.
    position: u32,
    length: u32,
    sends: u16,
    /// How much of it stands before the data.
    head_length: u8,
    phase: Phase,
    is_whole: bool,
}

impl Outgoing {
    fn handle_sent(&mut self, number: u64) {
        self.phase = Phase::InFlight;
        self.number = number;
        self.sends = self.sends.saturating_add(1);
    }

    fn data_length(&self) -> usize {
        self.length as usize - usize::from(self.head_length)
    }
}

const _: () = assert!(size_of::<Outgoing>() == 24);

/// Frames of parts with consecutive ids, to be put into a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frames<'a> {
    /// The id of the first.
    pub id: u64,
    /// How many.
    pub count: usize,
    /// Whether they are whole messages.
    pub are_whole: bool,
    /// Their bytes.
    pub bytes: &'a [u8],
}

/// A message was sent as often as the configuration allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undeliverable;

/// Room for so many parts from the first message on, and for so many lost ones: a round trip of a quarter of a second at
/// four messages a tick, without growing again when a line first gets worse.
const PARTS_USUAL: usize = 64;
const LOST_USUAL: usize = 16;

/// What a packet needs for a part besides its bytes, about.
const PART_OVERHEAD: usize = 8;

/// The sending half of a reliable channel.
#[derive(Debug, Default)]
pub struct ReliableSender {
    queue: VecDeque<Outgoing>,
    /// The frames of those in the queue.
    bytes: ByteQueue,
    /// The id of the front of the queue.
    base: u64,
    next_new: u64,
    /// The frames from there on.
    new_bytes: usize,
    pending_bytes: usize,
    lost: VecDeque<u64>,
}

impl ReliableSender {
    /// Bytes that are not acknowledged yet.
    pub fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    /// Messages and fragments that are not acknowledged yet.
    pub fn pending_count(&self) -> usize {
        self.queue.len()
    }

    /// Bytes of the frames that were never sent.
    pub fn new_bytes(&self) -> usize {
        self.new_bytes
    }

    /// Takes a message for a channel of this number and kind.
    pub fn push(&mut self, (channel, kind): (u8, ChannelKind), message: &[u8], whole_max: usize) {
        if self.queue.capacity() == 0 {
            self.queue.reserve(PARTS_USUAL);
            self.lost.reserve(LOST_USUAL);
        }
        self.pending_bytes += message.len();
        let mut part = |fragment: Option<(u16, u16)>, data: &[u8]| {
            let id = self.base + self.queue.len() as u64;
            let head = FrameHead::new(channel, kind, id as u16, fragment, data.len());
            let head = head.bytes();
            let length = head.len() + data.len();
            self.new_bytes += length;
            self.queue.push_back(Outgoing {
                number: 0,
                position: self.bytes.push(head, data),
                length: length as u32,
                sends: 0,
                head_length: head.len() as u8,
                phase: Phase::Due,
                is_whole: fragment.is_none(),
            });
        };
        match message.len() <= whole_max {
            true => part(None, message),
            false => super::fragments(message).for_each(|(fragment, data)| part(Some(fragment), data)),
        }
    }

    /// The next part that was lost, by id.
    pub fn due_lost(&mut self) -> Option<u64> {
        while let Some(&id) = self.lost.front() {
            if self.index(id).is_some_and(|index| self.queue[index].phase == Phase::Due) {
                return Some(id);
            }
            self.lost.pop_front();
        }
        None
    }

    /// The next part that was never sent, by id, if the window allows it.
    pub fn due_new(&self) -> Option<u64> {
        let end = self.base + self.queue.len().min(RELIABLE_WINDOW) as u64;
        (self.next_new < end).then_some(self.next_new)
    }

    /// The parts from a new one on that fit so many bytes, at most so many, and either all whole or all fragments. `None` if
    /// the first does not fit.
    pub fn new_frames(&self, id: u64, bytes_max: usize, count_max: usize) -> Option<Frames<'_>> {
        let window = self.queue.len().min(RELIABLE_WINDOW);
        let first = self.index(id)?;
        let Outgoing { position, is_whole: are_whole, .. } = self.queue[first];
        let (mut count, mut length) = (0, 0);
        for part in self.queue.range(first..window).take(count_max) {
            let longer = length + part.length as usize;
            if longer > bytes_max || part.is_whole != are_whole {
                break;
            }
            (count, length) = (count + 1, longer);
        }
        (count > 0).then(|| Frames { id, count, are_whole, bytes: self.bytes.get(position, length) })
    }

    /// One part.
    pub fn frame(&self, id: u64) -> Option<Frames<'_>> {
        let part = &self.queue[self.index(id)?];
        let bytes = self.bytes.get(part.position, part.length as usize);
        Some(Frames { id, count: 1, are_whole: part.is_whole, bytes })
    }

    /// The length of the data of a part.
    pub fn part_len(&self, id: u64) -> usize {
        self.index(id).map_or(0, |index| self.queue[index].data_length())
    }

    /// Bytes that the lost parts will take in packets, about.
    pub fn lost_bytes(&self) -> usize {
        let parts = self.lost.iter().filter_map(|&id| self.index(id));
        parts.map(|index| self.queue[index].data_length() + PART_OVERHEAD).sum()
    }

    /// New parts from this one on have been put into packet `number`.
    pub fn handle_new_sent(&mut self, id: u64, count: usize, number: u64) {
        self.next_new = id + count as u64;
        let Some(first) = self.index(id) else { return };
        let end = self.queue.len().min(first + count);
        for part in self.queue.range_mut(first..end) {
            part.handle_sent(number);
            self.new_bytes -= part.length as usize;
        }
    }

    /// A part that was lost has been put into packet `number`.
    pub fn handle_lost_sent(&mut self, id: u64, number: u64) {
        if self.lost.front() == Some(&id) {
            self.lost.pop_front();
        }
        if let Some(index) = self.index(id) {
            self.queue[index].handle_sent(number);
        }
    }

    /// A packet that carried these parts arrived.
    pub fn handle_acked(&mut self, id: u64, count: u8) {
        let mut is_oldest = false;
        for id in id..id + u64::from(count) {
            let Some(index) = self.index(id) else { continue };
            let part = &mut self.queue[index];
            if part.phase != Phase::Acked {
                part.phase = Phase::Acked;
                self.pending_bytes -= part.data_length();
            }
            is_oldest |= index == 0;
        }
        if is_oldest {
            self.forget_acked();
        }
    }

    fn forget_acked(&mut self) {
        while self.queue.pop_front_if(|part| part.phase == Phase::Acked).is_some() {
            self.base += 1;
        }
        match self.queue.front() {
            Some(part) => self.bytes.give_back_to(part.position),
            None => {
                // From the first line of their memory again, which is still in the caches.
                self.queue.clear();
                self.bytes.clear();
            }
        }
    }

    /// Packet `number`, which carried this part, was given up: it is due again unless a later packet carries it too.
    /// Without a number it is due again in any case.
    pub fn handle_lost(&mut self, id: u64, number: Option<u64>, sends_max: u16) -> Result<(), Undeliverable> {
        let Some(index) = self.index(id) else {
            return Ok(());
        };
        let part = &mut self.queue[index];
        if part.phase != Phase::InFlight || number.is_some_and(|number| part.number != number) {
            return Ok(());
        }
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::ResendDropped) {
            return Ok(());
        }
        self.make_due(id, sends_max)
    }

    /// Makes the oldest parts due again although nothing is known of them, up to one packet's worth.
    pub fn probe(&mut self, bytes_max: usize, sends_max: u16) -> Result<(), Undeliverable> {
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::ResendDropped) {
            return Ok(());
        }
        let mut bytes = 0;
        for id in self.base..self.next_new {
            let Some(index) = self.index(id) else { break };
            let part = &self.queue[index];
            if part.phase == Phase::InFlight {
                bytes += part.data_length() + PART_OVERHEAD;
                if bytes > bytes_max {
                    break;
                }
                self.make_due(id, sends_max)?;
            }
        }
        Ok(())
    }

    /// Forgets everything that waits.
    pub fn release(&mut self) {
        self.queue.clear();
        self.bytes.clear();
        self.lost.clear();
        (self.pending_bytes, self.new_bytes) = (0, 0);
    }

    fn make_due(&mut self, id: u64, sends_max: u16) -> Result<(), Undeliverable> {
        let index = self.index(id).ok_or(Undeliverable)?;
        let part = &mut self.queue[index];
        if part.sends > sends_max {
            return Err(Undeliverable);
        }
        part.phase = Phase::Due;
        self.lost.push_back(id);
        Ok(())
    }

    fn index(&self, id: u64) -> Option<usize> {
        let index = usize::try_from(id.checked_sub(self.base)?).ok()?;
        (index < self.queue.len()).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{ChannelTable, Frame, FrameWriter, MessageFrame};
    use crate::limits::FRAGMENT_BYTES;

    const CHANNEL: (u8, ChannelKind) = (1, ChannelKind::Ordered);

    fn send_all(sender: &mut ReliableSender, number: u64) -> Vec<u64> {
        let mut ids = vec![];
        while let Some(id) = sender.due_lost() {
            sender.handle_lost_sent(id, number);
            ids.push(id);
        }
        while let Some(Frames { id, count, .. }) =
            sender.due_new().and_then(|id| sender.new_frames(id, 1 << 20, 255))
        {
            sender.handle_new_sent(id, count, number);
            ids.extend(id..id + count as u64);
        }
        ids
    }

    fn with_messages(count: usize) -> ReliableSender {
        let mut sender = ReliableSender::default();
        (0..count).for_each(|index| sender.push(CHANNEL, &[index as u8; 10], 1_000));
        sender
    }

    #[test]
    fn a_message_is_sent_once_until_its_last_packet_is_lost() {
        let mut sender = with_messages(3);
        assert_eq!(send_all(&mut sender, 1), [0, 1, 2]);
        assert_eq!(send_all(&mut sender, 2), []);
        sender.handle_lost(1, Some(1), 10).unwrap();
        assert_eq!(send_all(&mut sender, 2), [1]);
        sender.handle_lost(1, Some(1), 10).unwrap();
        assert_eq!(send_all(&mut sender, 3), [], "packet 2 still carries it");
        sender.handle_acked(1, 1);
        assert_eq!(sender.pending_bytes(), 20);
        sender.handle_acked(0, 3);
        sender.handle_acked(2, 1);
        assert_eq!((sender.pending_bytes(), sender.pending_count()), (0, 0));
    }

    #[test]
    fn a_lost_message_that_arrives_after_all_is_not_sent_again() {
        let mut sender = with_messages(2);
        send_all(&mut sender, 1);
        sender.handle_lost(0, Some(1), 10).unwrap();
        sender.handle_acked(0, 1);
        assert_eq!(send_all(&mut sender, 2), []);
    }

    #[test]
    fn the_window_holds_new_messages_back() {
        let mut sender = with_messages(RELIABLE_WINDOW + 5);
        assert_eq!(send_all(&mut sender, 1).len(), RELIABLE_WINDOW);
        sender.handle_acked(1, 1);
        assert_eq!(send_all(&mut sender, 2), [], "the oldest is still missing");
        sender.handle_acked(0, 1);
        assert_eq!(send_all(&mut sender, 3).len(), 2);
    }

    #[test]
    fn a_message_that_never_arrives_is_given_up_after_the_limit() {
        let mut sender = with_messages(1);
        for number in 0..4 {
            assert_eq!(send_all(&mut sender, number), [0]);
            assert_eq!(
                sender.handle_lost(0, Some(number), 3),
                if number < 3 { Ok(()) } else { Err(Undeliverable) }
            );
        }
    }

    #[test]
    fn a_probe_repeats_the_oldest_packet_full() {
        let mut sender = with_messages(10);
        send_all(&mut sender, 1);
        sender.probe(60, 10).unwrap();
        assert_eq!(send_all(&mut sender, 2), [0, 1, 2]);
    }

    #[test]
    fn frames_are_those_of_a_writer_and_no_more_than_fit() {
        let mut sender = with_messages(5);
        let whole = FrameWriter::length(ChannelKind::Ordered, None, 10);
        let frames = sender.new_frames(0, 3 * whole + 1, 255).unwrap();
        assert_eq!((frames.count, frames.are_whole, frames.bytes.len()), (3, true, 3 * whole));
        let mut out = [0; 200];
        let mut writer = FrameWriter::new(&mut out);
        for id in 0..3 {
            let data = &[id as u8; 10];
            let (channel, kind) = CHANNEL;
            assert!(writer.message(&MessageFrame { channel, kind, id, fragment: None, data }));
        }
        let end = writer.finish();
        assert_eq!(frames.bytes, &out[1..end]);
        assert_eq!(sender.new_frames(0, 10_000, 2).unwrap().count, 2);
        assert_eq!(sender.new_frames(0, whole - 1, 255), None);
        sender.handle_new_sent(0, 2, 1);
        assert_eq!(sender.due_new(), Some(2));
        assert_eq!(sender.frame(1).unwrap().bytes.len(), whole);
    }

    #[test]
    fn a_large_message_is_split_into_numbered_fragments() {
        let mut sender = ReliableSender::default();
        sender.push(CHANNEL, b"whole", 1_000);
        sender.push(CHANNEL, &vec![7; 2 * FRAGMENT_BYTES + 1], 1_000);
        let run = |id| {
            let Frames { count, are_whole, .. } = sender.new_frames(id, 1 << 20, 255).unwrap();
            (count, are_whole)
        };
        assert_eq!((run(0), run(1)), ((1, true), (3, false)));
        let table = ChannelTable::new([ChannelKind::Priority, ChannelKind::Ordered]);
        let bytes = sender.new_frames(1, 1 << 20, 255).unwrap().bytes;
        let parts: Vec<_> = crate::frame::Frames::of_block(bytes, &table)
            .map(|frame| match frame {
                Ok(Frame::Message(message)) => (message.id, message.fragment, message.data.len()),
                other => panic!("{other:?}"),
            })
            .collect();
        let split = FRAGMENT_BYTES;
        assert_eq!(parts, [(1, Some((0, 3)), split), (2, Some((1, 3)), split), (3, Some((2, 3)), 1)]);
    }
}
