//! What entered a peer's sight and what left it, as it is written into snapshots.

use netloom_wire::{ByteSink, ByteWriter, SectorOrigin, Sequence8, Tick};

use super::cache::Contents;
use super::flight::News;
use super::page::place;
use super::peer::Peer;
use super::slots::Phase;
use super::tally::Tally;
use crate::class::ClassId;
use crate::entry::{ENTRY_BYTES_MAX, Entry, JUMP_AGE_MAX, write_entry};
use crate::limits::EXISTENCE_PER_SNAPSHOT_MAX;
use crate::world::World;

/// Slot, generation and age of a leave.
const LEAVE_BYTES: usize = 2 + 1 + 5;
/// The count before each part.
const COUNT_BYTES: usize = 2;

impl Peer {
    /// Writes what left; returns the bytes and how many there are, none if nothing fitted.
    pub fn write_leaves(&mut self, tick: Tick, out: &mut [u8]) -> (usize, usize) {
        let room = out.len().saturating_sub(COUNT_BYTES) / LEAVE_BYTES;
        let count = self.leaves_due.len().min(room).min(EXISTENCE_PER_SNAPSHOT_MAX);
        if count == 0 {
            return (0, 0);
        }
        let mut writer = ByteWriter::new(out);
        writer.write_varint(count as u64);
        for number in self.leaves_due.drain(..count) {
            let alias = self.slots.alias(number);
            let Some(slot) = self.slots.get_mut(number) else { continue };
            let Phase::Leaving(since) = slot.phase else { continue };
            writer.write_u16(alias.slot);
            writer.write_u8(alias.generation);
            writer.write_varint(tick.distance(since).max(0) as u64);
            slot.sent = Some(tick);
            self.flights.note_told(number, alias.generation, News::Left);
        }
        (writer.finish().unwrap_or(0), count)
    }

    /// Writes what entered, as much as fits; returns the bytes and how many there are, none if nothing did.
    pub fn write_entries(
        &mut self,
        tick: Tick,
        world: &World,
        tally: &mut Tally,
        out: &mut [u8],
    ) -> (usize, usize) {
        let room = out.len().min(self.outlook.entries_left);
        let Some(out) = out.get_mut(..room) else { return (0, 0) };
        let (mut at, mut count) = (COUNT_BYTES, 0);
        let mut entry_bytes = [0; ENTRY_BYTES_MAX];
        while let Some(&number) = self.entries_due.front() {
            let Some((class, length)) = self.entry(number, tick, world, &mut entry_bytes) else {
                self.entries_due.pop_front();
                continue;
            };
            let place = out.get_mut(at..at + length).filter(|_| count < EXISTENCE_PER_SNAPSHOT_MAX);
            let Some(place) = place else { break };
            place.copy_from_slice(&entry_bytes[..length]);
            at += length;
            self.entries_due.pop_front();
            self.note_entry(number, tick);
            tally.count_entry(class, length);
            count += 1;
        }
        if count == 0 {
            return (0, 0);
        }
        // The entries were written behind a count of two bytes: of one, they move up.
        let length = if count < 128 { 1 } else { COUNT_BYTES };
        out[0] = count as u8 | if length == 1 { 0 } else { 0x80 };
        if length == 1 {
            out.copy_within(COUNT_BYTES..at, 1);
            at -= 1;
        } else {
            out[1] = (count >> 7) as u8;
        }
        self.outlook.entries_left -= at;
        (at, count)
    }

    /// Writes the entry of an object: its class, and the length.
    fn entry(&self, number: u16, tick: Tick, world: &World, out: &mut [u8]) -> Option<(ClassId, usize)> {
        let slot = self.slots.get(number)?;
        let object = world.at(self.held.pages.object(number.into()))?;
        // Whatever the peer knows of it is not older than its first entry.
        let jumped = slot.told.and_then(|told| object.jumped_since(told));
        let entry = Entry {
            alias: self.slots.alias(number),
            class: object.class_id().0,
            audience: slot.audience,
            parent: object.parent().and_then(|parent| self.slots.of(parent.slot() as u32)),
            profile: object.profile(),
            // What is attached is measured from its parent: that its own origin moved would change the entry, and nothing else.
            origin: if object.parent().is_some() { SectorOrigin::default() } else { object.origin() },
            jump_age: jumped.map(|jumped| tick.0.wrapping_sub(jumped.0)).filter(|age| *age <= JUMP_AGE_MAX),
        };
        let contents = Contents(object);
        let length =
            write_entry(&entry, object.class(), object.words(), &contents, Sequence8(0), out).ok()?;
        Some((object.class_id(), length))
    }

    fn note_entry(&mut self, number: u16, tick: Tick) {
        let (at, bit) = place(number.into());
        self.held.pages[at].dirty &= !bit;
        let Some(slot) = self.slots.get_mut(number) else { return };
        slot.sent = Some(tick);
        slot.told = slot.told.or(Some(tick));
        let (generation, telling) = (slot.generation, slot.telling);
        self.flights.note_told(number, generation, News::Entered { telling });
    }
}
