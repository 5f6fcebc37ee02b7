//! Encode once, send to many.
//!
//! What an object's update says depends on the object, the ages of the two baselines and the audience, not on who
//! receives it. So each is encoded once per tick and kept as bits:
//!
//! ```text
//!   row (newer age, older age, audience)      object 0 │ object 1 │ object 2 │ …
//!                                             56 bits of code, their number in the top byte
//! ```
//!
//! Peers with the same round trip build on the same ticks, and baselines are taken only from every few ticks, so there
//! are few rows. Longer codes lie in the [`Arena`] of whoever made them. If that is full, the object has no code in this tick
//! and its peers get it in a later one. An object without the baseline has none either; its peers get a full entry.

use netloom_wire::schema::Audience;
use netloom_wire::{BitWriter, Tick};

use super::wanted::{Index, Key, Wanted};
use crate::arena::{Arena, ArenaRange};
use crate::bits::{Bits, ones};
use crate::codec::{self, Baseline, Blobs, Codes, SmallCode};
use crate::world::{Object, World};

/// The top byte of an entry whose code lies in an arena; the rest is whose, and its number there.
const STORED: u64 = 255;

/// An entry of an object that lacks the baselines.
const NO_BASELINE: u64 = 0;

/// An entry of an object for which there was no room.
const NO_ROOM: u64 = 254 << SmallCode::BITS_MAX;

/// The largest code: what fits a snapshot.
const CODE_BYTES_MAX: usize = 2048;

/// The code of an object for those who build on the same baselines.
#[derive(Clone, Copy, Debug)]
pub(super) enum Code<'a> {
    /// Short: its bits and their number.
    Short(u64, u32),
    /// Long: its bytes and the number of bits.
    Long(&'a [u8], usize),
    /// The peer's states cannot be built on.
    NoBaseline,
    /// Not in this tick.
    NoRoom,
}

/// Text and byte fields of an object of the world.
pub(super) struct Contents<'a>(pub Object<'a>);

impl Blobs for Contents<'_> {
    fn blob(&self, field: usize) -> &[u8] {
        self.0.content(field)
    }
}

/// Where the number of an encoder lies in an entry.
const ENCODER_SHIFT: u32 = 32;

/// Encoders that share the rows of a tick.
pub(super) const ENCODERS_MAX: usize = 64;

/// What one worker encodes with.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    number: usize,
    arena: Arena,
    /// Where the long codes are, and their bits.
    long: Vec<(ArenaRange, u32)>,
    scratch: Vec<u8>,
    encodes: u64,
}

/// The world at this tick, and how it is encoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present<'a> {
    pub world: &'a World,
    pub codes: &'a Codes,
    pub tick: Tick,
}

impl Encoder {
    /// The encoder with this number, with memory of so many bytes.
    pub fn new(number: usize, arena_bytes: usize) -> Encoder {
        Encoder { number, arena: Arena::new(arena_bytes), ..Encoder::default() }
    }

    /// A new tick.
    pub fn begin(&mut self) {
        self.arena.reset();
        self.long.clear();
    }

    /// How many codes were made since the beginning.
    pub fn encodes(&self) -> u64 {
        self.encodes
    }

    /// The memory of long codes.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Makes the code of an object.
    fn encode(&mut self, key: Key, object: usize, present: Present<'_>) -> u64 {
        let Present { world, codes, tick } = present;
        let Some(object) = world.at(object) else { return NO_BASELINE };
        let history = object.history();
        let baseline = |age: u8| {
            let age = u32::from(age);
            let row = history.row_at(Tick(tick.0.wrapping_sub(age)))?;
            Some(Baseline { words: history.row(row), age })
        };
        let Some(newer) = baseline(key.newer_age) else { return NO_BASELINE };
        let older = match key.older_age {
            0 => None,
            age => match baseline(age) {
                None => return NO_BASELINE,
                older => older,
            },
        };
        self.encodes += 1;
        let (class, visible) = (object.class(), object.class().visible(key.audience));
        let teleported = object.teleported_since(Tick(tick.0.wrapping_sub(newer.age)));
        let current = history.row(history.newest_row());
        match codec::encode_small(class, visible, current, newer, older, teleported, codes) {
            Some(small) => small.0,
            None => {
                self.scratch.resize(CODE_BYTES_MAX, 0);
                let mut writer = BitWriter::new(&mut self.scratch);
                let contents = Contents(object);
                codec::encode(
                    class,
                    visible,
                    current,
                    newer,
                    older,
                    teleported,
                    &contents,
                    codes,
                    &mut writer,
                );
                let bits = writer.bit_len();
                let stored = writer.finish().ok().and_then(|bytes| self.arena.store(&self.scratch[..bytes]));
                let Some(range) = stored else { return NO_ROOM };
                self.long.push((range, bits as u32));
                STORED << SmallCode::BITS_MAX
                    | (self.number as u64) << ENCODER_SHIFT
                    | (self.long.len() - 1) as u64
            }
        }
    }

    /// A code for one peer alone.
    pub fn private(&mut self, key: Key, object: usize, present: Present<'_>) -> Code<'_> {
        let entry = self.encode(key, object, present);
        self.code(entry)
    }

    #[inline]
    fn code(&self, entry: u64) -> Code<'_> {
        let length = entry >> SmallCode::BITS_MAX;
        if entry == NO_BASELINE {
            return Code::NoBaseline;
        }
        if length <= SmallCode::BITS_MAX.into() {
            return Code::Short(SmallCode(entry).bits(), length as u32);
        }
        let place = self.long.get((entry & 0xffff_ffff) as usize).filter(|_| length == STORED);
        match place.and_then(|(range, bits)| Some((self.arena.bytes(*range)?, *bits))) {
            Some((bytes, bits)) => Code::Long(bytes, bits as usize),
            None => Code::NoRoom,
        }
    }
}

/// The codes of one key.
#[derive(Debug)]
pub(super) struct Row {
    key: Key,
    codes: Vec<u64>,
    wanted: Bits,
    done: Bits,
}

impl Row {
    /// Makes the codes that are wanted and not made yet.
    pub fn encode(&mut self, encoder: &mut Encoder, present: Present<'_>) {
        for at in 0..self.wanted.words().len() {
            let missing = self.wanted.word(at) & !self.done.word(at);
            if missing == 0 {
                continue;
            }
            for bit in ones(missing) {
                let object = at * 64 + bit;
                self.codes[object] = encoder.encode(self.key, object, present);
            }
            self.done.words_mut()[at] |= missing;
        }
    }

    /// How many codes are wanted and not made yet.
    fn missing(&self) -> usize {
        let words = self.wanted.words().iter().zip(self.done.words());
        words.map(|(wanted, done)| (wanted & !done).count_ones() as usize).sum()
    }

    /// The entries by object.
    #[inline]
    pub fn codes(&self) -> &[u64] {
        &self.codes
    }
}

/// The codes of one tick.
#[derive(Debug, Default)]
pub(super) struct Cache {
    index: Index,
    rows: Vec<Row>,
    objects: usize,
}

impl Cache {
    /// A new tick, of a world with room for so many objects.
    pub fn begin(&mut self, objects: usize) {
        self.index.clear();
        self.objects = objects;
    }

    /// Takes over what a worker's peers want.
    pub fn want(&mut self, wanted: &mut Wanted) {
        wanted.drain(|key, objects| {
            let known = self.index.keys().len();
            let Some(row) = self.index.find_or_add(key) else { return };
            if row == known {
                self.open(row, key);
            }
            self.rows[row].wanted.union_with(objects);
        });
    }

    fn open(&mut self, row: usize, key: Key) {
        if self.rows.len() <= row {
            let (codes, wanted, done) = (Vec::new(), Bits::default(), Bits::default());
            self.rows.push(Row { key, codes, wanted, done });
        }
        let row = &mut self.rows[row];
        row.key = key;
        row.codes.resize(row.codes.len().max(self.objects), NO_BASELINE);
        for bits in [&mut row.wanted, &mut row.done] {
            bits.reserve(self.objects);
            bits.clear();
        }
    }

    /// The rows of this tick.
    pub fn rows_mut(&mut self) -> &mut [Row] {
        let used = self.index.keys().len();
        &mut self.rows[..used]
    }

    /// The rows of this tick in `count` parts with about as many codes to make in each.
    pub fn parts_mut(&mut self, count: usize) -> impl Iterator<Item = &mut [Row]> {
        let mut rest = self.rows_mut();
        let mut parts = count;
        std::iter::from_fn(move || {
            let share = rest.iter().map(Row::missing).sum::<usize>().div_ceil(parts.max(1));
            let mut load = 0;
            let fits = |row: &&Row| {
                load += row.missing();
                load <= share
            };
            let taken = rest.iter().take_while(fits).count().max(1).min(rest.len());
            let end = if parts <= 1 { rest.len() } else { taken };
            parts = parts.saturating_sub(1);
            let (part, others) = std::mem::take(&mut rest).split_at_mut(end);
            rest = others;
            (!part.is_empty()).then_some(part)
        })
    }

    /// The row of a key, if it is shared.
    #[inline]
    pub fn row(&self, key: Key) -> Option<&Row> {
        self.index.find(key).map(|row| &self.rows[row])
    }

    /// The code that a row has for an object.
    #[inline]
    pub fn code<'a>(&self, row: &Row, object: usize, encoders: &'a [Encoder]) -> Code<'a> {
        match row.done.contains(object) {
            true => {
                let entry = row.codes[object];
                let number = (entry >> ENCODER_SHIFT) as usize % ENCODERS_MAX;
                encoders.get(number).or(encoders.first()).map_or(Code::NoRoom, |encoder| encoder.code(entry))
            }
            false => Code::NoRoom,
        }
    }
}

/// The audience whose fields a peer gets: the public, unless the class tells it more.
pub(super) fn canonical(object: &Object<'_>, audience: Audience) -> Audience {
    let class = object.class();
    if class.visible(audience) == class.visible(Audience::Public) { Audience::Public } else { audience }
}
