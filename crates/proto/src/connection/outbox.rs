//! What waits to be sent, over all channels, and how it is packed.
//!
//! A packet is filled in this order: priority channels; the channel that leads this packet, with one message at least;
//! the other reliable channels, up to half of the packet while unreliable messages wait; unreliable messages; reliable
//! ones again; redundancy; and lost messages, for which room was kept from the start. Every channel that has
//! something to send leads in turn and a packet waits until the rate allows its longest message, so no flood can keep
//! another channel out, whatever the sizes. What redundancy repeats is only what is new: a message that is sent
//! again is on its way twice already.

use crate::channel::{ReliableFrames, ReliableSender, SendError, Sender, Tag, Undeliverable, check_message};
use crate::config::{ChannelKind, Config};
use crate::frame::{ChannelTable, FrameWriter, MessageFrame};
use crate::pool::BufferPool;
use crate::sent::{Carried, SentPackets};

/// The sending halves of all channels.
#[derive(Debug)]
pub struct Outbox {
    senders: Box<[Sender]>,
    /// The channels that may have something to send.
    active: ChannelSet,
    /// The reliable channels with a message that is not acknowledged yet.
    unacked: ChannelSet,
    reliable: ChannelSet,
    priority: ChannelSet,
    /// The next packet is led by this channel, or by the next one that has something to send.
    turn: u8,
}

/// Some of the channels, a bit each.
type ChannelSet = u16;

/// A packet that is being filled.
pub struct Packing<'a, 'b> {
    /// Its number.
    pub number: u64,
    /// What the channels are.
    pub table: &'a ChannelTable,
    /// Its payload.
    pub writer: &'a mut FrameWriter<'b>,
    /// Where what it carries is noted.
    pub sent: &'a mut SentPackets,
    /// Whether there are only messages in it whose outcome can wait.
    pub can_wait: bool,
}

/// How many parts of a reliable channel to pack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    One,
    All,
}

impl Outbox {
    pub fn new(config: &Config) -> Outbox {
        let those = |wanted: fn(ChannelKind) -> bool| -> ChannelSet {
            let matching = config.channels.iter().enumerate().filter(|(_, channel)| wanted(channel.kind));
            matching.fold(0, |set, (index, _)| set | 1 << index)
        };
        Outbox {
            senders: config.channels.iter().map(Sender::new).collect(),
            active: 0,
            unacked: 0,
            reliable: those(ChannelKind::is_reliable),
            priority: those(|kind| kind == ChannelKind::Priority),
            turn: 0,
        }
    }

    /// Takes a message. `dropped` is called with the tag of a message that it replaces.
    pub fn push(
        &mut self,
        channel: u8,
        message: &[u8],
        tag: Option<Tag>,
        (config, whole_max): (&Config, usize),
        pool: &mut BufferPool,
        dropped: impl FnMut(u64),
    ) -> Result<(), SendError> {
        let index = usize::from(channel);
        let Some((sender, limits)) = self.senders.get_mut(index).zip(config.channels.get(index)) else {
            return Err(SendError::NoSuchChannel(channel));
        };
        match sender {
            Sender::Reliable(sender) => {
                if tag.is_some() {
                    return Err(SendError::TagOnReliable(channel));
                }
                let pending = (sender.pending_bytes(), sender.pending_count());
                check_message(limits, message.len(), pending)?;
                sender.push((channel, limits.kind), message, whole_max);
                self.unacked |= 1 << index;
            }
            Sender::Unreliable(sender) => {
                if tag.is_some() && message.len() > whole_max {
                    return Err(SendError::TagOnFragments { bytes: message.len(), max: whole_max });
                }
                check_message(limits, message.len(), sender.pending_beside_new())?;
                sender.push(message, tag, whole_max, pool, dropped);
            }
        }
        self.active |= 1 << index;
        Ok(())
    }

    /// Asks for the memory of a channel that sending a message needs.
    pub fn fetch(&self, channel: u8) {
        self.senders.get(usize::from(channel)).into_iter().for_each(netloom_cpu::fetch);
    }

    /// Asks for that of all.
    pub fn fetch_all(&self) {
        self.senders.iter().for_each(netloom_cpu::fetch);
    }

    pub fn pending_on(&self, channel: u8) -> usize {
        self.senders.get(usize::from(channel)).map_or(0, Sender::pending_bytes)
    }

    pub fn pending_bytes(&self) -> usize {
        // What is neither due nor unacknowledged has nothing waiting, and need not be asked.
        let waiting = in_turn(0, self.active | self.unacked);
        let pending_bytes = waiting.map(|index| self.pending_on(index as u8)).sum();
        debug_assert_eq!(pending_bytes, self.senders.iter().map(Sender::pending_bytes).sum::<usize>());
        pending_bytes
    }

    /// Whether a reliable message is not acknowledged yet.
    pub fn has_unacked(&self) -> bool {
        self.unacked != 0
    }

    /// The length of the longest part that its channel sends next; `None` if nothing is due. A packet that went out
    /// before the rate allows that much would be filled with smaller parts, again and again.
    pub fn due_len(&mut self) -> Option<usize> {
        let mut longest = None;
        let mut rest = self.active;
        while rest != 0 {
            let index = rest.trailing_zeros() as usize;
            let due = match self.senders.get_mut(index)? {
                Sender::Reliable(sender) => {
                    sender.due_lost().or_else(|| sender.due_new()).map(|id| sender.part_len(id))
                }
                Sender::Unreliable(sender) => sender.due().map(|part| part.length as usize),
            };
            if due.is_none() {
                self.active &= !(1 << index);
            }
            longest = longest.max(due);
            rest &= rest - 1;
        }
        longest
    }

    /// Packs everything but what is sent again. Returns the room to keep for that; `None` if nothing reliable waits.
    pub fn fill(&mut self, packing: &mut Packing<'_, '_>, pool: &mut BufferPool) -> Option<usize> {
        let first = in_turn(self.turn.into(), self.active & !self.priority).next().unwrap_or(0);
        self.turn = if first + 1 < self.senders.len() { first as u8 + 1 } else { 0 };
        if self.active & self.reliable == 0 {
            self.fill_unreliable(first, 0, packing, pool);
            return None;
        }
        let unreliable_waits = self.active & !self.reliable != 0;
        if self.all_bytes_max() <= packing.writer.room() {
            // Everything fits, as it does most of the time: nobody's turn has to be kept.
            self.fill_new(self.reliable, first, 0, Parts::All, packing);
            if unreliable_waits {
                self.fill_unreliable(first, 0, packing, pool);
            }
            return Some(self.lost_bytes());
        }
        let for_leader = self.next_unreliable_len(first, packing.table);
        let for_lost = self.lost_bytes().min(packing.writer.room().saturating_sub(for_leader));
        self.fill_new(self.priority, first, for_lost, Parts::All, packing);
        self.fill_new(1 << first, first, for_lost, Parts::One, packing);
        let half = packing.writer.room().saturating_sub(for_lost) / 2;
        let for_unreliable = if unreliable_waits { half.max(for_leader) } else { 0 };
        self.fill_new(self.reliable, first, for_lost + for_unreliable, Parts::All, packing);
        if unreliable_waits {
            self.fill_unreliable(first, for_lost, packing, pool);
            self.fill_new(self.reliable, first, for_lost, Parts::All, packing);
        }
        Some(for_lost)
    }

    /// Packs what is sent again; returns how many parts that were.
    pub fn fill_lost(&mut self, packing: &mut Packing<'_, '_>) -> u64 {
        let mut packed = 0;
        for index in in_turn(0, self.active & self.reliable) {
            if let Some(Sender::Reliable(sender)) = self.senders.get_mut(index) {
                packed += fill_lost(index, sender, packing);
            }
        }
        packed
    }

    /// A packet with these parts arrived.
    pub fn handle_acked(&mut self, channel: u8, id: u64, count: u8) {
        if let Some(Sender::Reliable(sender)) = self.senders.get_mut(usize::from(channel)) {
            sender.handle_acked(id, count);
            match sender.pending_count() {
                0 => self.unacked &= !(1 << channel),
                _ => self.active |= 1 << channel,
            }
        }
    }

    /// Packet `number` with this part was given up; without a number, every one that brought it before its resend.
    pub fn handle_lost(
        &mut self,
        channel: u8,
        id: u64,
        number: Option<u64>,
        sends_max: u16,
    ) -> Result<(), Undeliverable> {
        match self.senders.get_mut(usize::from(channel)) {
            Some(Sender::Reliable(sender)) => {
                self.active |= 1 << channel;
                sender.handle_lost(id, number, sends_max)
            }
            _ => Ok(()),
        }
    }

    /// Makes the oldest unacknowledged parts of every channel due again.
    pub fn probe(&mut self, bytes_max: usize, sends_max: u16) -> Result<(), Undeliverable> {
        for (index, sender) in self.senders.iter_mut().enumerate() {
            if let Sender::Reliable(sender) = sender
                && sender.pending_count() > 0
            {
                self.active |= 1 << index;
                sender.probe(bytes_max, sends_max)?;
            }
        }
        Ok(())
    }

    /// Gives all buffers back.
    pub fn release(&mut self, pool: &mut BufferPool) {
        self.senders.iter_mut().for_each(|sender| sender.release(pool));
        (self.active, self.unacked) = (0, 0);
    }

    /// Bytes that everything that waits takes in a packet at most, what is lost included.
    fn all_bytes_max(&self) -> usize {
        let most = |index| match self.senders.get(index) {
            Some(Sender::Reliable(sender)) => sender.new_bytes() + sender.lost_bytes(),
            Some(Sender::Unreliable(sender)) => sender.frames_bytes_max(),
            None => 0,
        };
        in_turn(0, self.active).map(most).sum()
    }

    /// Bytes that what is lost will take, about.
    fn lost_bytes(&self) -> usize {
        let lost = |index| match self.senders.get(index) {
            Some(Sender::Reliable(sender)) => sender.lost_bytes(),
            _ => 0,
        };
        in_turn(0, self.active & self.reliable).map(lost).sum()
    }

    /// Bytes that the next part of an unreliable channel takes in a packet; 0 for a reliable one.
    fn next_unreliable_len(&self, index: usize, table: &ChannelTable) -> usize {
        let Some(Sender::Unreliable(sender)) = self.senders.get(index) else { return 0 };
        let part = sender.due().zip(table.kind(index as u8));
        part.map_or(0, |(part, kind)| FrameWriter::length(kind, part.fragment, part.length as usize))
    }

    /// Packs new messages of some reliable channels, until only `reserve` bytes are left.
    fn fill_new(
        &mut self,
        channels: ChannelSet,
        first: usize,
        reserve: usize,
        parts: Parts,
        packing: &mut Packing<'_, '_>,
    ) {
        for index in in_turn(first, self.active & channels) {
            if let Some(Sender::Reliable(sender)) = self.senders.get_mut(index) {
                fill_new(index, sender, parts, reserve, packing);
            }
        }
    }

    fn fill_unreliable(
        &mut self,
        first: usize,
        reserve: usize,
        packing: &mut Packing<'_, '_>,
        pool: &mut BufferPool,
    ) {
        for index in in_turn(first, self.active & !self.reliable) {
            let Some(Sender::Unreliable(sender)) = self.senders.get_mut(index) else { continue };
            let Some(kind) = packing.table.kind(index as u8) else { continue };
            while let Some(part) = sender.due() {
                let (id, fragment, data) = (part.id, part.fragment, pool.bytes(&part.data));
                let frame = MessageFrame { channel: index as u8, kind, id, fragment, data };
                if !packing.message(&frame, reserve) {
                    break;
                }
                packing.can_wait &= part.tag.is_some_and(|tag| tag.can_wait);
                if let Some(tag) = part.tag {
                    packing.sent.carry(Carried::Tagged(tag.number));
                }
                sender.handle_sent(pool);
            }
            if sender.due().is_none() {
                self.active &= !(1 << index);
            }
        }
    }
}

impl Packing<'_, '_> {
    /// Appends frames of a reliable channel if they fit; says whether they did.
    fn frames(&mut self, index: usize, frames: ReliableFrames<'_>) -> bool {
        let ReliableFrames { id, count, are_whole, bytes } = frames;
        let is_packed = self.writer.frames(bytes, count, are_whole);
        if is_packed {
            self.can_wait = false;
            self.sent.carry(Carried::Reliable { channel: index as u8, count: count as u8, id });
        }
        is_packed
    }

    /// Appends a frame if it fits and leaves `reserve` bytes; says whether it did.
    fn message(&mut self, frame: &MessageFrame<'_>, reserve: usize) -> bool {
        self.sent.has_room_for_messages() && self.writer.message_within(frame, reserve)
    }
}

/// The channels of a set, beginning with `first` and going round.
#[inline]
fn in_turn(first: usize, set: ChannelSet) -> impl Iterator<Item = usize> {
    let twice = u32::from(set) | u32::from(set) << ChannelSet::BITS;
    let mut rest = twice & u32::from(ChannelSet::MAX) << first;
    std::iter::from_fn(move || {
        let index = (rest != 0).then(|| rest.trailing_zeros() % ChannelSet::BITS);
        rest &= rest.wrapping_sub(1);
        index.map(|index| index as usize)
    })
}

/// Packs new parts of one channel until only `reserve` bytes are left.
fn fill_new(
    index: usize,
    sender: &mut ReliableSender,
    parts: Parts,
    reserve: usize,
    packing: &mut Packing<'_, '_>,
) {
    while packing.sent.has_room_for_messages()
        && let Some(id) = sender.due_new()
    {
        let room = packing.writer.room().saturating_sub(reserve);
        let count_max = if parts == Parts::One { 1 } else { packing.writer.frames_left() };
        let Some(frames) = sender.new_frames(id, room, count_max) else { break };
        let count = frames.count;
        if !packing.frames(index, frames) {
            break;
        }
        sender.handle_new_sent(id, count, packing.number);
        if parts == Parts::One {
            break;
        }
    }
}

/// Packs parts of one channel that were lost; returns how many.
fn fill_lost(index: usize, sender: &mut ReliableSender, packing: &mut Packing<'_, '_>) -> u64 {
    let mut packed = 0;
    while packing.sent.has_room_for_messages()
        && let Some(id) = sender.due_lost()
    {
        if !sender.frame(id).is_some_and(|frame| packing.frames(index, frame)) {
            break;
        }
        sender.handle_lost_sent(id, packing.number);
        packed += 1;
    }
    packed
}
