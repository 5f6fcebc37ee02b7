//! The last phase: snapshots into the caller's buffers.

use netloom_wire::{BitWriter, ByteSink, ByteWriter, Sequence8, Tick};

use super::peer::{Flight, Peer, SentEntry};
use super::slots::Phase;
use super::{ReplicaPeer, ReplicaServer};
use crate::codec::{Blobs, gap_code};
use crate::entry::{ENTRY_BYTES_MAX, Entry, write_entry};
use crate::limits::EXISTENCE_PER_SNAPSHOT_MAX;
use crate::snapshot::{Ages, Flags, Header};
use crate::world::{Object, World};

/// Tick, flags and both ages.
const HEADER_BYTES: usize = 5;
/// Slot, generation and age of a leave.
const LEAVE_BYTES: usize = 2 + 1 + 5;
/// A count before each part.
const COUNT_BYTES: usize = 2;
/// What names the baselines of an update that does not use the common ones.
const OWN_BASELINES_BITS: usize = 1 + 1 + 8 + 8;

struct Contents<'a>(Object<'a>);

impl Blobs for Contents<'_> {
    fn blob(&self, field: usize) -> &[u8] {
        self.0.content(field)
    }
}

impl ReplicaServer {
    /// The next snapshot for a peer: its length in `out`, whose length it never exceeds; `None` when this tick has
    /// nothing more to say. [`select`](ReplicaServer::select) comes before, once a tick.
    pub fn poll_snapshot(&mut self, peer: ReplicaPeer, sequence: u64, out: &mut [u8]) -> Option<usize> {
        let ReplicaServer { world, codes, cache, peers, tick, .. } = self;
        let peer = peers.get_mut(peer.0 as usize)?.as_mut()?;
        let mut flight = peer.flight(sequence, *tick);
        let ages = common_ages(peer, *tick, world);
        let header = Header { flags: Flags::default(), ages };
        let mut at = 3 + ages.map_or(0, |(_, older)| if older.is_some() { 2 } else { 1 });
        let mut flags = Flags::default();
        if out.len() < HEADER_BYTES + COUNT_BYTES {
            peer.give_back(flight);
            return None;
        }
        if !peer.leaves_due.is_empty() {
            at += write_leaves(peer, *tick, &mut flight, out.get_mut(at..)?);
            flags = if flight.leaves.is_empty() { flags } else { flags.with(Flags::LEAVES) };
        }
        if !peer.entries_due.is_empty() {
            at += write_entries(peer, *tick, world, &mut flight, out.get_mut(at..)?);
            flags = if flight.enters.is_empty() { flags } else { flags.with(Flags::ENTERS) };
        }
        if !peer.chosen.is_empty() {
            at += write_updates(peer, *tick, (world, codes), cache, &header, &mut flight, out.get_mut(at..)?);
            flags = if flight.updates.is_empty() { flags } else { flags.with(Flags::UPDATES) };
        }
        if flags == Flags::default() {
            peer.give_back(flight);
            return None;
        }
        write_header(*tick, flags, ages, out);
        peer.handle_sent(flight);
        Some(at)
    }
}

fn write_header(tick: Tick, flags: Flags, ages: Option<Ages>, out: &mut [u8]) {
    out[..2].copy_from_slice(&(tick.0 as u16).to_le_bytes());
    let mut flags = flags;
    if let Some((newer, older)) = ages {
        flags = flags.with(Flags::AGE);
        out[3] = newer as u8;
        if let Some(older) = older {
            flags = flags.with(Flags::SECOND_AGE);
            out[4] = older as u8;
        }
    }
    out[2] = flags.0;
}

/// The baselines of the first update: most others have the same.
fn common_ages(peer: &Peer, tick: Tick, world: &World) -> Option<Ages> {
    let &number = peer.chosen.front()?;
    ages_of(peer, number, tick, world)
}

fn ages_of(peer: &Peer, number: u16, tick: Tick, world: &World) -> Option<Ages> {
    let object = world.at(peer.slots.get(number)?.object as usize)?;
    let key = peer.key(number, tick, &object)?;
    let age = |baseline: Tick| tick.distance(baseline) as u32;
    Some((age(key.newer), key.older.map(age)))
}

/// Writes what left; returns the bytes, none if nothing fitted.
fn write_leaves(peer: &mut Peer, tick: Tick, flight: &mut Flight, out: &mut [u8]) -> usize {
    let room = out.len().saturating_sub(COUNT_BYTES) / LEAVE_BYTES;
    let count = peer.leaves_due.len().min(room).min(EXISTENCE_PER_SNAPSHOT_MAX);
    if count == 0 {
        return 0;
    }
    let mut writer = ByteWriter::new(out);
    writer.write_varint(count as u64);
    for number in peer.leaves_due.drain(..count) {
        let alias = peer.slots.alias(number);
        let Some(slot) = peer.slots.get_mut(number) else { continue };
        let Phase::Leaving(since) = slot.phase else { continue };
        writer.write_u16(alias.slot);
        writer.write_u8(alias.generation);
        writer.write_varint(tick.distance(since).max(0) as u64);
        slot.sent = Some(tick);
        flight.leaves.push((number, alias.generation));
    }
    writer.finish().unwrap_or(0)
}

/// Writes what entered, as much as fits; returns the bytes, none if nothing did.
fn write_entries(peer: &mut Peer, tick: Tick, world: &World, flight: &mut Flight, out: &mut [u8]) -> usize {
    let mut at = COUNT_BYTES;
    let mut entry_bytes = [0; ENTRY_BYTES_MAX];
    let mut waiting = peer.entries_due.len();
    while waiting > 0 && flight.enters.len() < EXISTENCE_PER_SNAPSHOT_MAX {
        waiting -= 1;
        let Some(number) = peer.entries_due.pop_front() else { break };
        let Some(length) = entry(peer, number, world, &mut entry_bytes) else { continue };
        let Some(place) = out.get_mut(at..at + length) else {
            peer.entries_due.push_back(number);
            break;
        };
        place.copy_from_slice(&entry_bytes[..length]);
        at += length;
        note_entry(peer, number, tick, world, flight);
    }
    if flight.enters.is_empty() {
        return 0;
    }
    // The count takes two bytes whether it needs them or not only when it does: below 128 the entries move up by one.
    let count = flight.enters.len();
    if count < 128 {
        out[0] = count as u8;
        out.copy_within(COUNT_BYTES..at, 1);
        return at - 1;
    }
    out[0] = (count as u8 & 0x7f) | 0x80;
    out[1] = (count >> 7) as u8;
    at
}

fn entry(peer: &Peer, number: u16, world: &World, out: &mut [u8]) -> Option<usize> {
    let slot = peer.slots.get(number)?;
    let object = world.at(slot.object as usize)?;
    let entry = Entry {
        alias: peer.slots.alias(number),
        class: object.class_id().0,
        audience: peer.audience(&object),
        parent: object.parent().and_then(|parent| peer.slots.of(parent.slot() as u32)),
        profile: object.profile(),
        origin: object.origin(),
        teleport: false,
    };
    write_entry(&entry, object.class(), object.words(), &Contents(object), Sequence8(0), out).ok()
}

fn note_entry(peer: &mut Peer, number: u16, tick: Tick, world: &World, flight: &mut Flight) {
    let Some(object) = peer.slots.get(number).and_then(|slot| world.at(slot.object as usize)) else { return };
    let (audience, frame) = (peer.audience(&object), object.frame());
    let Some(slot) = peer.slots.get_mut(number) else { return };
    let sends = slot.handle_sent(tick);
    flight.enters.push(SentEntry { slot: number, generation: slot.generation, sends, frame, audience });
}

/// Writes updates until the room or the list ends; returns the bytes, none if nothing fitted.
fn write_updates(
    peer: &mut Peer,
    tick: Tick,
    (world, codes): (&World, &crate::codec::Codes),
    cache: &mut super::cache::Cache,
    header: &Header,
    flight: &mut Flight,
    out: &mut [u8],
) -> usize {
    let Some(room) = out.get_mut(COUNT_BYTES + 1..) else { return 0 };
    let mut writer = BitWriter::new(room);
    let mut next = 0u32;
    while let Some(&number) = peer.chosen.front() {
        let Some(object) = peer.slots.get(number).and_then(|slot| world.at(slot.object as usize)) else {
            peer.chosen.pop_front();
            continue;
        };
        let Some(key) = peer.key(number, tick, &object) else {
            peer.chosen.pop_front();
            continue;
        };
        let age = |baseline: Tick| tick.distance(baseline) as u32;
        let ages = (age(key.newer), key.older.map(age));
        let (gap_bits, gap_len) = gap_code(codes, u32::from(number) - next);
        let row = cache.row(key);
        let prefix = |writer: &mut BitWriter<'_>| {
            writer.append_bits(gap_bits, gap_len);
            header.write_baselines(ages, writer);
        };
        let prefix_bits = gap_len as usize + OWN_BASELINES_BITS;
        if !cache.append((row, object.index().slot()), (world, codes, tick), &mut writer, prefix_bits, prefix)
        {
            break;
        }
        next = u32::from(number) + 1;
        peer.chosen.pop_front();
        if let Some(slot) = peer.slots.get_mut(number) {
            let sends = slot.handle_sent(tick);
            flight.updates.push((number, slot.generation, sends));
        }
    }
    let Ok(bytes) = writer.finish() else { return 0 };
    if flight.updates.is_empty() {
        return 0;
    }
    let mut count = [0; COUNT_BYTES + 1];
    let length = netloom_wire::varint::write(flight.updates.len() as u64, &mut count).unwrap_or(0);
    out[..length].copy_from_slice(&count[..length]);
    out.copy_within(COUNT_BYTES + 1..COUNT_BYTES + 1 + bytes, length);
    length + bytes
}
