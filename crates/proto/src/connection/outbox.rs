//! What waits to be sent, over all channels, and how it is packed.
//!
//! A packet is filled in this order: new messages of priority channels; new ones of the other reliable channels, up to
//! half of the packet while unreliable messages wait; unreliable messages; reliable ones again; redundancy; and
//! lost messages, for which room was kept from the start. What redundancy repeats is only what is new: a message
//! that is sent again is on its way twice already.
//!
//! Half a packet is too little for a large message. So reliable and unreliable messages take turns in leading a
//! packet while both wait: the first part of the side that leads always gets in. Together with a budget that waits
//! for the longest part ([`Outbox::due_len`]), neither a stream of snapshots nor a large download nor a flood of
//! small messages can starve the others.

use crate::channel::{ReliableSender, SendError, Sender, Undeliverable, check_message};
use crate::config::{ChannelKind, Config};
use crate::frame::{FrameWriter, MessageFrame};
use crate::pool::BufferPool;
use crate::sent::{Carried, SentPackets};

/// The sending halves of all channels.
#[derive(Debug)]
pub struct Outbox {
    senders: Vec<Sender>,
    kinds: Vec<ChannelKind>,
    /// The channels that may have something to send.
    active: ChannelSet,
    reliable: ChannelSet,
    priority: ChannelSet,
    /// Which channel goes first in the next packet.
    turn: u32,
    /// Whether unreliable messages lead the next packet that both sides want.
    is_unreliable_turn: bool,
}

/// Some of the channels, a bit each.
type ChannelSet = u16;

/// Which parts of a reliable channel to pack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    New,
    Lost,
}

/// And how many of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    One,
    All,
}

impl Outbox {
    pub fn new(config: &Config) -> Outbox {
        let kinds: Vec<ChannelKind> = config.channels.iter().map(|channel| channel.kind).collect();
        let those = |wanted: fn(ChannelKind) -> bool| -> ChannelSet {
            let matching = kinds.iter().enumerate().filter(|&(_, &kind)| wanted(kind));
            matching.fold(0, |set, (index, _)| set | 1 << index)
        };
        Outbox {
            senders: config.channels.iter().map(Sender::new).collect(),
            active: 0,
            reliable: those(ChannelKind::is_reliable),
            priority: those(|kind| kind == ChannelKind::Priority),
            turn: 0,
            is_unreliable_turn: false,
            kinds,
        }
    }

    /// Takes a message. `dropped` is called with the tag of a message that it replaces.
    pub fn push(
        &mut self,
        channel: u8,
        message: &[u8],
        tag: Option<u64>,
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
                sender.push(message, whole_max, pool);
            }
            Sender::Unreliable(sender) => {
                if tag.is_some() && message.len() > whole_max {
                    return Err(SendError::TagOnFragments {
                        bytes: message.len(),
                        max: whole_max,
                    });
                }
                check_message(limits, message.len(), sender.pending_beside_new())?;
                sender.push(message, tag, whole_max, pool, dropped);
            }
        }
        self.active |= 1 << index;
        Ok(())
    }

    pub fn pending_bytes(&self) -> usize {
        self.senders.iter().map(Sender::pending_bytes).sum()
    }

    /// Whether a reliable message is not acknowledged yet.
    pub fn has_unacked(&self) -> bool {
        self.senders
            .iter()
            .any(|sender| matches!(sender, Sender::Reliable(sender) if sender.pending_count() > 0))
    }

    /// The length of the longest part that its channel sends next; `None` if nothing is due. A packet that went out
    /// before the rate allows that much would be filled with smaller parts, again and again.
    pub fn due_len(&mut self) -> Option<usize> {
        let mut longest = None;
        let mut rest = self.active;
        while rest != 0 {
            let index = rest.trailing_zeros() as usize;
            let due = match self.senders.get_mut(index)? {
                Sender::Reliable(sender) => sender
                    .due_lost()
                    .or_else(|| sender.due_new())
                    .map(|id| sender.part_len(id)),
                Sender::Unreliable(sender) => sender.due().map(|part| part.data.len()),
            };
            if due.is_none() {
                self.active &= !(1 << index);
            }
            longest = longest.max(due);
            rest &= rest - 1;
        }
        longest
    }

    /// Packs everything but what is sent again. Returns the room to keep for that.
    pub fn fill(
        &mut self,
        number: u64,
        writer: &mut FrameWriter<'_>,
        sent: &mut SentPackets,
        pool: &mut BufferPool,
    ) -> usize {
        let unreliable_waits = self.active & !self.reliable != 0;
        let is_contested = unreliable_waits && self.active & self.reliable != 0;
        let unreliable_leads = is_contested && self.is_unreliable_turn;
        self.is_unreliable_turn = is_contested && !self.is_unreliable_turn;
        // A channel keeps its turn until both sides have led, else some channels would never lead their side.
        if !self.is_unreliable_turn {
            let next = self.turn + 1;
            self.turn = if next < self.kinds.len() as u32 { next } else { 0 };
        }
        if self.active & self.reliable == 0 {
            self.fill_unreliable(0, writer, sent, pool);
            return 0;
        }
        let for_leader = if unreliable_leads {
            self.next_unreliable_len()
        } else {
            0
        };
        let for_lost = self.lost_bytes().min(writer.room().saturating_sub(for_leader));
        self.fill_new(self.priority, number, for_lost, Parts::All, writer, sent);
        let for_unreliable = if unreliable_waits {
            (writer.room().saturating_sub(for_lost) / 2).max(for_leader)
        } else {
            0
        };
        if is_contested && !unreliable_leads {
            let others = self.reliable & !self.priority;
            self.fill_new(others, number, for_lost, Parts::One, writer, sent);
        }
        let reserve = for_lost + for_unreliable;
        self.fill_new(self.reliable, number, reserve, Parts::All, writer, sent);
        if unreliable_waits {
            self.fill_unreliable(for_lost, writer, sent, pool);
            self.fill_new(self.reliable, number, for_lost, Parts::All, writer, sent);
        }
        for_lost
    }

    /// Packs what is sent again; returns how many parts that were.
    pub fn fill_lost(&mut self, number: u64, writer: &mut FrameWriter<'_>, sent: &mut SentPackets) -> u64 {
        let mut packed = 0;
        for index in in_turn(self.turn, self.active & self.reliable) {
            if let Some(Sender::Reliable(sender)) = self.senders.get_mut(index) {
                packed += fill_reliable(
                    (index, self.kinds[index]),
                    sender,
                    (Which::Lost, Parts::All),
                    number,
                    0,
                    writer,
                    sent,
                );
            }
        }
        packed
    }

    /// A packet with this part arrived.
    pub fn handle_acked(&mut self, channel: u8, id: u64, pool: &mut BufferPool) {
        if let Some(Sender::Reliable(sender)) = self.senders.get_mut(usize::from(channel)) {
            sender.handle_acked(id, pool);
            if sender.pending_count() > 0 {
                self.active |= 1 << channel;
            }
        }
    }

    /// Packet `number` with this part was given up.
    pub fn handle_lost(
        &mut self,
        channel: u8,
        id: u64,
        number: u64,
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
        self.active = 0;
    }

    /// Bytes that what is lost will take, about.
    fn lost_bytes(&self) -> usize {
        let lost = |index| match self.senders.get(index) {
            Some(Sender::Reliable(sender)) => sender.lost_bytes(),
            _ => 0,
        };
        in_turn(0, self.active & self.reliable).map(lost).sum()
    }

    /// Bytes that the next unreliable part takes in a packet.
    fn next_unreliable_len(&self) -> usize {
        let length = |index: usize| match self.senders.get(index) {
            Some(Sender::Unreliable(sender)) => sender.due().map(|part| {
                FrameWriter::message_len(&MessageFrame {
                    channel: index as u8,
                    kind: self.kinds[index],
                    id: part.id,
                    fragment: part.fragment,
                    data: part.data,
                })
            }),
            _ => None,
        };
        in_turn(self.turn, self.active & !self.reliable)
            .find_map(length)
            .unwrap_or(0)
    }

    /// Packs new messages of some reliable channels, until only `reserve` bytes are left.
    fn fill_new(
        &mut self,
        channels: ChannelSet,
        number: u64,
        reserve: usize,
        parts: Parts,
        writer: &mut FrameWriter<'_>,
        sent: &mut SentPackets,
    ) {
        for index in in_turn(self.turn, self.active & channels) {
            if let Some(Sender::Reliable(sender)) = self.senders.get_mut(index) {
                let packed = fill_reliable(
                    (index, self.kinds[index]),
                    sender,
                    (Which::New, parts),
                    number,
                    reserve,
                    writer,
                    sent,
                );
                if packed > 0 && parts == Parts::One {
                    return;
                }
            }
        }
    }

    fn fill_unreliable(
        &mut self,
        reserve: usize,
        writer: &mut FrameWriter<'_>,
        sent: &mut SentPackets,
        pool: &mut BufferPool,
    ) {
        for index in in_turn(self.turn, self.active & !self.reliable) {
            let Some(Sender::Unreliable(sender)) = self.senders.get_mut(index) else {
                continue;
            };
            while let Some(part) = sender.due() {
                let (channel, kind) = (index as u8, self.kinds[index]);
                let frame = MessageFrame {
                    channel,
                    kind,
                    id: part.id,
                    fragment: part.fragment,
                    data: part.data,
                };
                let fits = FrameWriter::message_len(&frame) + reserve <= writer.room();
                if !fits || !sent.has_room_for_messages() || !writer.message(&frame) {
                    break;
                }
                if let Some(tag) = part.tag {
                    sent.carry(Carried::Tagged(tag));
                }
                sender.handle_sent(pool);
            }
            if sender.due().is_none() {
                self.active &= !(1 << index);
            }
        }
    }
}

/// The channels of a set, beginning with `first` and going round.
fn in_turn(first: u32, set: ChannelSet) -> impl Iterator<Item = usize> {
    let before = set & ((1 << first) - 1);
    let mut parts = [set & !before, before];
    std::iter::from_fn(move || {
        let part = parts.iter_mut().find(|part| **part != 0)?;
        let index = part.trailing_zeros() as usize;
        *part &= *part - 1;
        Some(index)
    })
}

/// Packs parts of one channel until only `reserve` bytes are left; returns how many.
fn fill_reliable(
    (index, kind): (usize, ChannelKind),
    sender: &mut ReliableSender,
    (which, parts): (Which, Parts),
    number: u64,
    reserve: usize,
    writer: &mut FrameWriter<'_>,
    sent: &mut SentPackets,
) -> u64 {
    let channel = index as u8;
    let mut packed = 0;
    while let Some(id) = if which == Which::New {
        sender.due_new()
    } else {
        sender.due_lost()
    } {
        let Some((fragment, data)) = sender.part(id) else {
            break;
        };
        let frame = MessageFrame {
            channel,
            kind,
            id: id as u16,
            fragment,
            data,
        };
        let fits = FrameWriter::message_len(&frame) + reserve <= writer.room();
        if !fits || !sent.has_room_for_messages() || !writer.message(&frame) {
            break;
        }
        sender.handle_sent(id, number);
        sent.carry(Carried::Reliable { channel, id });
        packed += 1;
        if parts == Parts::One {
            break;
        }
    }
    packed
}
