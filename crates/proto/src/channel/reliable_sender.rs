//! Messages that are kept until they are acknowledged.
//!
//! ```text
//!   base                     next_new                  end
//!    │ acked │ in flight │ lost │  never sent            │
//!    └────────── at most RELIABLE_WINDOW ─────────┘
//! ```
//!
//! There is no timer per message: a message is resent when the last packet that carried it is given up. When nothing
//! at all comes back, the connection asks for a [`probe`](ReliableSender::probe).

use std::collections::VecDeque;

use super::bytes::ByteQueue;
use crate::limits::RELIABLE_WINDOW;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not sent yet, or lost: to be sent.
    Due,
    /// In a packet on its way.
    InFlight,
    Acked,
}

#[derive(Debug)]
struct Outgoing {
    /// Where its bytes are.
    position: u64,
    /// The newest packet that carried it.
    number: u64,
    length: u32,
    fragment: Option<(u16, u16)>,
    phase: Phase,
    sends: u16,
}

/// A message was sent as often as the configuration allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undeliverable;

/// Which fragment a part is, if it is one, and its bytes.
pub type Part<'a> = (Option<(u16, u16)>, &'a [u8]);

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
    /// The bytes of those in the queue.
    bytes: ByteQueue,
    /// The id of the front of the queue.
    base: u64,
    next_new: u64,
    lost: VecDeque<u64>,
    pending_bytes: usize,
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

    /// Takes a message.
    pub fn push(&mut self, message: &[u8], whole_max: usize) {
        if self.queue.capacity() == 0 {
            self.queue.reserve(PARTS_USUAL);
            self.lost.reserve(LOST_USUAL);
        }
        self.pending_bytes += message.len();
        let mut part = |fragment, data: &[u8]| {
            let (position, length) = (self.bytes.push(data), data.len() as u32);
            let phase = Phase::Due;
            self.queue.push_back(Outgoing { position, number: 0, length, fragment, phase, sends: 0 });
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

    /// A part that is not acknowledged yet.
    pub fn part(&self, id: u64) -> Option<Part<'_>> {
        let part = &self.queue[self.index(id)?];
        Some((part.fragment, self.bytes.get(part.position, part.length as usize)))
    }

    /// The length of a part.
    pub fn part_len(&self, id: u64) -> usize {
        self.index(id).map_or(0, |index| self.queue[index].length as usize)
    }

    /// Bytes that the lost parts will take in packets, about.
    pub fn lost_bytes(&self) -> usize {
        let parts = self.lost.iter().filter_map(|&id| self.index(id));
        parts.map(|index| self.queue[index].length as usize + PART_OVERHEAD).sum()
    }

    /// A part has been put into packet `number`.
    pub fn handle_sent(&mut self, id: u64, number: u64) {
        if self.lost.front() == Some(&id) {
            self.lost.pop_front();
        }
        self.next_new = self.next_new.max(id + 1);
        let Some(index) = self.index(id) else { return };
        let part = &mut self.queue[index];
        part.phase = Phase::InFlight;
        part.number = number;
        part.sends = part.sends.saturating_add(1);
    }

    /// A packet that carried this part arrived.
    pub fn handle_acked(&mut self, id: u64) {
        let Some(index) = self.index(id) else { return };
        let part = &mut self.queue[index];
        if part.phase != Phase::Acked {
            part.phase = Phase::Acked;
            self.pending_bytes -= part.length as usize;
        }
        if index > 0 {
            return;
        }
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
                bytes += part.length as usize + PART_OVERHEAD;
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
        self.pending_bytes = 0;
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
    use crate::limits::FRAGMENT_BYTES;

    fn send_all(sender: &mut ReliableSender, number: u64) -> Vec<u64> {
        let mut ids = vec![];
        while let Some(id) = sender.due_lost().or_else(|| sender.due_new()) {
            sender.handle_sent(id, number);
            ids.push(id);
        }
        ids
    }

    fn with_messages(count: usize) -> ReliableSender {
        let mut sender = ReliableSender::default();
        (0..count).for_each(|index| sender.push(&[index as u8; 10], 1_000));
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
        sender.handle_acked(1);
        assert_eq!(sender.pending_bytes(), 20);
        sender.handle_acked(0);
        sender.handle_acked(2);
        sender.handle_acked(2);
        assert_eq!((sender.pending_bytes(), sender.pending_count()), (0, 0));
    }

    #[test]
    fn a_lost_message_that_arrives_after_all_is_not_sent_again() {
        let mut sender = with_messages(2);
        send_all(&mut sender, 1);
        sender.handle_lost(0, Some(1), 10).unwrap();
        sender.handle_acked(0);
        assert_eq!(send_all(&mut sender, 2), []);
    }

    #[test]
    fn the_window_holds_new_messages_back() {
        let mut sender = with_messages(RELIABLE_WINDOW + 5);
        assert_eq!(send_all(&mut sender, 1).len(), RELIABLE_WINDOW);
        sender.handle_acked(1);
        assert_eq!(send_all(&mut sender, 2), [], "the oldest is still missing");
        sender.handle_acked(0);
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
    fn a_large_message_is_split_into_numbered_fragments() {
        let mut sender = ReliableSender::default();
        sender.push(&vec![7; 2 * FRAGMENT_BYTES + 1], 1_000);
        let mut parts = vec![];
        while let Some(id) = sender.due_new() {
            let (fragment, data) = sender.part(id).unwrap();
            parts.push((id, fragment, data.len()));
            sender.handle_sent(id, 0);
        }
        assert_eq!(
            parts,
            [(0, Some((0, 3)), FRAGMENT_BYTES), (1, Some((1, 3)), FRAGMENT_BYTES), (2, Some((2, 3)), 1)]
        );
    }
}
