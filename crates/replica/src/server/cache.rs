//! Encode once, send to many.
//!
//! What an object's update says depends on the object, the two baselines and the audience, not on who receives it. So
//! each is encoded once per tick and kept as bits:
//!
//! ```text
//!   row (newer tick, older tick, audience)      object 0 │ object 1 │ object 2 │ …
//!                                               56 bits of code, their number in the top byte; 0: not encoded yet
//! ```
//!
//! Peers with the same round trip build on the same ticks, and baselines are taken only from every few ticks, so there
//! are few rows. Longer codes lie in a store of their own.

use netloom_wire::schema::Audience;
use netloom_wire::{BitWriter, Tick};

use crate::codec::{self, Baseline, Blobs, Codes, SmallCode};
use crate::world::{Object, World};

/// The top byte of an entry whose code lies in the store.
const STORED: u64 = 255;

/// The largest code: every field of a class, contents included.
const CODE_BYTES_MAX: usize = 64 * 1024;

/// What a row was encoded against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The newer baseline.
    pub newer: Tick,
    /// The older one.
    pub older: Option<Tick>,
    /// Who receives it.
    pub audience: Audience,
}

#[derive(Debug)]
struct Row {
    key: Key,
    codes: Vec<u64>,
    encoded: Vec<u32>,
}

/// The codes of one tick.
#[derive(Debug, Default)]
pub struct Cache {
    rows: Vec<Row>,
    used: usize,
    stored: Vec<u8>,
    /// Where each stored code begins, and its bits.
    places: Vec<(usize, usize)>,
    scratch: Vec<u8>,
    encodes: u64,
}

/// Text and byte fields of an object of the world.
struct Contents<'a>(Object<'a>);

impl Blobs for Contents<'_> {
    fn blob(&self, field: usize) -> &[u8] {
        self.0.content(field)
    }
}

impl Cache {
    /// Forgets everything: a new tick.
    pub fn clear(&mut self) {
        for row in &mut self.rows[..self.used] {
            for object in row.encoded.drain(..) {
                row.codes[object as usize] = 0;
            }
        }
        self.used = 0;
        self.stored.clear();
        self.places.clear();
    }

    /// How many codes were made since the beginning.
    pub fn encodes(&self) -> u64 {
        self.encodes
    }

    /// The row of a key.
    pub fn row(&mut self, key: Key) -> usize {
        if let Some(row) = self.rows[..self.used].iter().position(|row| row.key == key) {
            return row;
        }
        if self.used == self.rows.len() {
            self.rows.push(Row { key, codes: Vec::new(), encoded: Vec::new() });
        }
        self.rows[self.used].key = key;
        self.used += 1;
        self.used - 1
    }

    /// Appends the code of an object to a snapshot, making it if nobody has needed it yet. Says whether it fitted with
    /// `prefix_bits` before it; nothing is written if it did not. `prefix` writes those bits.
    pub fn append(
        &mut self,
        (row, object): (usize, usize),
        (world, codes, now): (&World, &Codes, Tick),
        writer: &mut BitWriter<'_>,
        prefix_bits: usize,
        prefix: impl FnOnce(&mut BitWriter<'_>),
    ) -> bool {
        let Some(entry) = self.entry(row, object, world, codes, now) else { return false };
        let place =
            (entry >> SmallCode::BITS_MAX == STORED).then(|| self.places[(entry & 0xffff_ffff) as usize]);
        let length = place.map_or((entry >> SmallCode::BITS_MAX) as usize, |(_, bits)| bits);
        if prefix_bits + length > writer.remaining_bits() {
            return false;
        }
        prefix(writer);
        match place {
            None => writer.append_bits(SmallCode(entry).bits(), length as u32),
            Some((start, bits)) => writer.append_slice(&self.stored[start..start + bits.div_ceil(8)], bits),
        }
        true
    }

    fn entry(&mut self, row: usize, object: usize, world: &World, codes: &Codes, now: Tick) -> Option<u64> {
        let known = self.rows[row].codes.get(object).copied().unwrap_or(0);
        if known != 0 {
            return Some(known);
        }
        let entry = self.encode(row, object, world, codes, now)?;
        let row = &mut self.rows[row];
        if row.codes.len() <= object {
            row.codes.resize(object + 1, 0);
        }
        row.codes[object] = entry;
        row.encoded.push(object as u32);
        self.encodes += 1;
        Some(entry)
    }

    fn encode(&mut self, row: usize, object: usize, world: &World, codes: &Codes, now: Tick) -> Option<u64> {
        let Key { newer, older, audience } = self.rows[row].key;
        let object = world.at(object)?;
        let age = |tick: Tick| now.distance(tick) as u32;
        let baseline = |tick: Tick| object.words_at(tick).map(|words| Baseline { words, age: age(tick) });
        let (newer_words, older_words) = (baseline(newer)?, older.and_then(baseline));
        let (class, visible) = (object.class(), object.class().visible(audience));
        let teleported = object.teleported_since(newer);
        let current = object.words();
        if let Some(small) =
            codec::encode_small(class, visible, current, newer_words, older_words, teleported, codes)
        {
            return Some(small.0);
        }
        self.scratch.resize(CODE_BYTES_MAX, 0);
        let mut writer = BitWriter::new(&mut self.scratch);
        codec::encode(
            class,
            visible,
            current,
            newer_words,
            older_words,
            teleported,
            &Contents(object),
            codes,
            &mut writer,
        );
        let bits = writer.bit_len();
        let bytes = writer.finish().ok()?;
        self.places.push((self.stored.len(), bits));
        self.stored.extend_from_slice(&self.scratch[..bytes]);
        Some(STORED << SmallCode::BITS_MAX | (self.places.len() - 1) as u64)
    }
}
