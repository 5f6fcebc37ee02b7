//! What was sent: how many updates, and how many bytes they took.
//!
//! Entries and leaves are counted apart. They are the price of moving through a world, not of seeing it, and one entry
//! weighs as much as several updates.

use netloom_replica::entry::read_entry;
use netloom_replica::limits::{EXISTENCE_PER_SNAPSHOT_MAX, VISIBLE_MAX, WORDS_MAX};
use netloom_replica::snapshot::{Flags, read_header};
use netloom_replica::world::ClassTable;
use netloom_wire::ReadError;

/// The sum over many snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Snapshots.
    pub snapshots: u64,
    /// Bytes of all snapshots.
    pub bytes: u64,
    /// Updates of an object for a peer.
    pub updates: u64,
    /// Bytes of entries and leaves, their counts included.
    pub existence_bytes: u64,
    /// Objects told in full: new in sight, or too long not updated.
    pub enters: u64,
    /// Objects told to be out of sight.
    pub leaves: u64,
}

impl Traffic {
    /// One more snapshot.
    pub fn count(&mut self, payload: &[u8], classes: &ClassTable) -> Result<(), ReadError> {
        let (header, mut reader) = read_header(payload)?;
        let start = reader.position();
        if header.flags.contains(Flags::LEAVES) {
            for _ in 0..reader.read_varint_up_to(EXISTENCE_PER_SNAPSHOT_MAX as u64)? {
                reader.read_u16()?;
                reader.read_u8()?;
                reader.read_varint_up_to(u32::MAX.into())?;
                self.leaves += 1;
            }
        }
        if header.flags.contains(Flags::ENTERS) {
            for _ in 0..reader.read_varint_up_to(EXISTENCE_PER_SNAPSHOT_MAX as u64)? {
                let (_, length) = read_entry(reader.rest(), classes, &mut [0; WORDS_MAX], |_, _| ())?;
                reader.read_bytes(length)?;
                self.enters += 1;
            }
        }
        self.existence_bytes += (reader.position() - start) as u64;
        if header.flags.contains(Flags::UPDATES) {
            self.updates += reader.read_varint_up_to(VISIBLE_MAX as u64)?;
        }
        self.snapshots += 1;
        self.bytes += payload.len() as u64;
        Ok(())
    }

    /// Bytes per update: everything but entries and leaves, headers of snapshots included.
    pub fn bytes_per_update(&self) -> f64 {
        (self.bytes - self.existence_bytes) as f64 / self.updates as f64
    }
}
