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

use super::wanted::{Index, Key, ROWS_USUAL, Wanted};
use crate::arena::{Arena, ArenaRange, PIECE_ALIGN};
use crate::bits::{Bits, ones};
use crate::codec::{self, Baseline, Batch, Beside, Blobs, Codes, LANES, LongCode, Pair, SmallCode, Update};
use crate::snapshot::Ages;
use crate::world::{Kind, Object, World};

/// The top byte of an entry whose code lies in an arena; the rest is whose, and its number there.
const STORED: u64 = 255;

/// An entry of an object that nobody asked for.
const NOT_MADE: u64 = 0;

/// An entry of an object that lacks the baselines.
const NO_BASELINE: u64 = 253 << SmallCode::BITS_MAX;

/// An entry of an object for which there was no room.
const NO_ROOM: u64 = 254 << SmallCode::BITS_MAX;

/// Bits of codes that an entry holds.
const SHORT_BITS_MAX: usize = SmallCode::BITS_MAX as usize;

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
#[derive(Debug)]
pub(super) struct Encoder {
    number: usize,
    arena: Arena,
    /// Where the long codes are, and their bits.
    long: Vec<(ArenaRange, u32)>,
    scratch: Vec<u8>,
    /// Several kilobytes, not to be cleared for every few objects.
    batch: Box<Batch>,
    encodes: u64,
}

/// The world at this tick, and how it is encoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present<'a> {
    pub world: &'a World,
    pub codes: &'a Codes,
    pub tick: Tick,
}

/// Objects that are encoded side by side: a place each in a word of bits.
const BATCH_OBJECTS: usize = 64;

/// As many of one kind are worth encoding side by side.
const BESIDE_MIN: usize = 6;

/// An object with its present and past words.
#[derive(Clone, Copy)]
struct Located<'a> {
    object: Object<'a>,
    update: Update<'a>,
}

impl<'a> Located<'a> {
    /// `None` if the object is gone or the baselines are not kept.
    #[inline]
    fn new(key: Key, object: usize, present: Present<'a>) -> Option<Located<'a>> {
        let located = present.world.at(object)?;
        let update = update_of(key.ticks(present.tick), object, present)?;
        Some(Located { object: located, update })
    }
}

/// What an object that is there is now and was at two ticks; `None` if one of them is not kept.
#[inline]
fn update_of(ticks: [Tick; 2], object: usize, present: Present<'_>) -> Option<Update<'_>> {
    let ([current, newer, older], jumped) = present.world.past_at(object, ticks)?;
    Some(Update { current, newer, older, jumped })
}

impl Key {
    /// The ages, as a snapshot names them.
    #[inline]
    pub fn ages(self) -> Ages {
        (self.newer_age.into(), (self.older_age > 0).then_some(self.older_age.into()))
    }

    /// The tick of the newer baseline.
    #[inline]
    fn newer_tick(self, present: Tick) -> Tick {
        Tick(present.0.wrapping_sub(self.newer_age.into()))
    }

    /// The ticks of both baselines; of one, it twice.
    #[inline]
    fn ticks(self, present: Tick) -> [Tick; 2] {
        let older_age = if self.older_age > 0 { self.older_age } else { self.newer_age };
        [self.newer_age, older_age].map(|age| Tick(present.0.wrapping_sub(age.into())))
    }

    fn pair(self) -> Pair {
        let (newer, older) = self.ages();
        Pair::new(newer, older)
    }
}

impl Encoder {
    /// The encoder with this number, with memory of so many bytes.
    pub fn new(number: usize, arena_bytes: usize) -> Encoder {
        let arena = Arena::new(arena_bytes);
        // As many as the arena can hold: which ticks have the most long codes is nobody's to know.
        let long = Vec::with_capacity(arena.capacity() / PIECE_ALIGN);
        Encoder { number, arena, long, scratch: vec![0; CODE_BYTES_MAX], batch: Box::default(), encodes: 0 }
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

    /// Makes the codes of some objects, at most [`BATCH_OBJECTS`], into their places.
    fn encode_batch(&mut self, key: Key, objects: &[u32], present: Present<'_>, codes: &mut [u64]) {
        let pair = key.pair();
        let mut waiting = if objects.len() < BATCH_OBJECTS { (1 << objects.len()) - 1 } else { u64::MAX };
        // Kinds of objects differ in where their words are, so those of one kind go together.
        while waiting != 0 {
            let first = objects[waiting.trailing_zeros() as usize] as usize;
            let kind = present.world.kind_at(first);
            let class = kind.and_then(|kind| present.world.classes().class(kind.class, kind.profile));
            let beside = class.and_then(|class| pair.beside(class, class.visible(key.audience)));
            waiting &= match (kind, beside) {
                (None, _) => {
                    codes[first] = NO_BASELINE;
                    waiting - 1
                }
                (Some(kind), None) => {
                    let is_alike = |at: &usize| present.world.kind_at(objects[*at] as usize) == Some(kind);
                    let alike = ones(waiting).filter(is_alike).fold(0, |all, at| all | 1 << at);
                    ones(alike).for_each(|at| self.encode_one(key, &pair, objects[at], present, codes));
                    !alike
                }
                (Some(kind), Some(beside)) => {
                    let beside = (kind, beside, &pair);
                    self.encode_beside(key, beside, (objects, waiting), present, codes)
                }
            };
        }
    }

    /// Makes the codes of the objects of a kind, of those that wait; says which are of others.
    fn encode_beside(
        &mut self,
        key: Key,
        (kind, beside, pair): (Kind, Beside<'_>, &Pair),
        (objects, waiting): (&[u32], u64),
        present: Present<'_>,
        codes: &mut [u64],
    ) -> u64 {
        let ticks = key.ticks(present.tick);
        let first = objects[waiting.trailing_zeros() as usize] as usize;
        let alike = present.world.alike(first, ticks);
        let (mut lanes, mut count, mut others) = ([0; LANES], 0, 0u64);
        for at in ones(waiting) {
            let object = objects[at];
            // Nearly all move at every tick, and where the states of one are, those of all are found without a search.
            let update = match alike.and_then(|alike| present.world.past_of(object as usize, &alike)) {
                Some([current, newer, older]) => Some(Update { current, newer, older, jumped: false }),
                None if present.world.kind_at(object as usize) == Some(kind) => {
                    update_of(ticks, object as usize, present)
                }
                None => {
                    others |= 1 << at;
                    continue;
                }
            };
            let Some(update) = update else {
                codes[object as usize] = NO_BASELINE;
                continue;
            };
            beside.load(&mut self.batch, count, &update);
            lanes[count] = object;
            count += 1;
            if count == LANES {
                self.encode_lanes(key, (beside, pair), &lanes, present, codes);
                count = 0;
            }
        }
        self.encode_lanes(key, (beside, pair), &lanes[..count], present, codes);
        others
    }

    /// Makes the codes of what is in the batch.
    fn encode_lanes(
        &mut self,
        key: Key,
        (beside, pair): (Beside<'_>, &Pair),
        lanes: &[u32],
        present: Present<'_>,
        codes: &mut [u64],
    ) {
        let mut made = [0; LANES];
        // Few are made sooner one by one than side by side with nobody.
        if lanes.len() >= BESIDE_MIN {
            match beside.is_exact() {
                true => self.encode_exact(beside, &mut made[..lanes.len()]),
                false => beside.encode(&mut self.batch, present.codes, &mut made[..lanes.len()]),
            }
            self.encodes += made.iter().filter(|code| **code != 0).count() as u64;
        }
        for (&object, code) in lanes.iter().zip(made) {
            match code {
                0 => self.encode_one(key, pair, object, present, codes),
                _ => codes[object as usize] = code,
            }
        }
    }

    /// Makes the codes of what is in the batch, all of singles.
    #[inline(never)] // other codes go without its place on the stack
    fn encode_exact(&mut self, beside: Beside<'_>, made: &mut [u64]) {
        let mut codes = [LongCode::default(); LANES];
        beside.encode_exact(&mut self.batch, &mut codes[..made.len()]);
        for (made, LongCode { bits, length }) in made.iter_mut().zip(codes) {
            if length > 0 {
                *made =
                    entry(self.number, &bits.to_le_bytes(), length as usize, &mut self.arena, &mut self.long);
            }
        }
    }

    /// Makes the code of an object by itself.
    fn encode_one(&mut self, key: Key, pair: &Pair, object: u32, present: Present<'_>, codes: &mut [u64]) {
        let code = self.encode_alone(key, pair, object as usize, present);
        self.encodes += u64::from(code != NO_BASELINE);
        codes[object as usize] = code;
    }

    /// Makes the code of an object that has anything unusual.
    fn encode_alone(&mut self, key: Key, pair: &Pair, object: usize, present: Present<'_>) -> u64 {
        let Some(Located { object, update }) = Located::new(key, object, present) else { return NO_BASELINE };
        let (class, visible) = (object.class(), object.class().visible(key.audience));
        let older = (key.older_age > 0).then_some(update.older);
        let jumped = object.jumped_since(key.newer_tick(present.tick));
        let jump_age = jumped.map(|jumped| present.tick.0.wrapping_sub(jumped.0));
        #[cfg(netloom_mutations)]
        let jump_age = match crate::mutation::is(crate::mutation::Mutation::JumpAgeless) {
            true => jump_age.map(|_| 0),
            false => jump_age,
        };
        let small =
            pair.encode_small(class, visible, update.current, update.newer, older, jump_age, present.codes);
        if let Some(small) = small {
            return small.0;
        }
        let mut writer = BitWriter::new(&mut self.scratch);
        let newer = Baseline { words: update.newer, age: key.newer_age.into() };
        let older = older.map(|words| Baseline { words, age: key.older_age.into() });
        let contents = Contents(object);
        codec::encode(
            class,
            visible,
            update.current,
            newer,
            older,
            jump_age,
            &contents,
            present.codes,
            &mut writer,
        );
        let bits = writer.bit_len();
        if writer.finish().is_err() {
            return NO_ROOM;
        }
        let Encoder { number, arena, long, scratch, .. } = self;
        entry(*number, scratch, bits, arena, long)
    }

    /// A code for one peer alone.
    pub fn private(&mut self, key: Key, object: usize, present: Present<'_>) -> Code<'_> {
        self.encodes += 1;
        let entry = self.encode_alone(key, &key.pair(), object, present);
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

/// The entry of a code of so many bits, which an encoder keeps if they are many.
fn entry(
    number: usize,
    bytes: &[u8],
    bits: usize,
    arena: &mut Arena,
    long: &mut Vec<(ArenaRange, u32)>,
) -> u64 {
    if let 1..=SHORT_BITS_MAX = bits {
        let first = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        return first & ((1 << bits) - 1) | (bits as u64) << SmallCode::BITS_MAX;
    }
    let Some(range) = arena.store(&bytes[..bits.div_ceil(8)]) else { return NO_ROOM };
    long.push((range, bits as u32));
    STORED << SmallCode::BITS_MAX | (number as u64) << ENCODER_SHIFT | (long.len() - 1) as u64
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
    /// The row of no key yet.
    fn unused() -> Row {
        let key = Key { newer_age: 0, older_age: 0, audience: Audience::Public };
        Row { key, codes: Vec::new(), wanted: Bits::default(), done: Bits::default() }
    }

    /// Makes room for so many objects.
    fn reserve(&mut self, objects: usize) {
        self.codes.reserve(objects.saturating_sub(self.codes.len()));
        self.wanted.reserve(objects);
        self.done.reserve(objects);
    }

    /// Becomes the row of a key in a new tick.
    fn open(&mut self, key: Key, objects: usize) {
        self.key = key;
        // What is not encoded in this tick has no code, whatever it had in another one. Most rows had few.
        for at in 0..self.done.words().len() {
            for bit in ones(self.done.word(at)) {
                self.codes[at * 64 + bit] = NOT_MADE;
            }
        }
        self.codes.resize(objects, NOT_MADE);
        for bits in [&mut self.wanted, &mut self.done] {
            bits.reserve(objects);
            bits.clear();
        }
    }

    /// Makes the codes that are wanted and not made yet.
    pub fn encode(&mut self, encoder: &mut Encoder, present: Present<'_>) {
        let mut objects = [0; BATCH_OBJECTS];
        let mut count = 0;
        for at in 0..self.wanted.words().len() {
            let missing = self.wanted.word(at) & !self.done.word(at);
            if missing == 0 {
                continue;
            }
            for bit in ones(missing) {
                objects[count] = (at * 64 + bit) as u32;
                count += 1;
                if count == BATCH_OBJECTS {
                    encoder.encode_batch(self.key, &objects, present, &mut self.codes);
                    count = 0;
                }
            }
            self.done.words_mut()[at] |= missing;
        }
        encoder.encode_batch(self.key, &objects[..count], present, &mut self.codes);
    }

    /// How many codes are wanted and not made yet.
    fn missing(&self) -> usize {
        let words = self.wanted.words().iter().zip(self.done.words());
        words.map(|(wanted, done)| (wanted & !done).count_ones() as usize).sum()
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
        if objects > self.objects {
            self.rows.resize_with(self.rows.len().max(ROWS_USUAL), Row::unused);
            self.rows.iter_mut().for_each(|row| row.reserve(objects));
        }
        self.objects = objects;
    }

    /// Takes over what a worker's peers want of the objects that live.
    pub fn want(&mut self, wanted: &mut Wanted, live: &[u64]) {
        wanted.drain(live, |key, objects| {
            let known = self.index.keys().len();
            let Some(row) = self.index.find_or_add(key) else { return };
            if row == known {
                self.open(row, key);
            }
            self.rows[row].wanted.add_words(objects);
        });
    }

    fn open(&mut self, row: usize, key: Key) {
        if self.rows.len() <= row {
            self.rows.push(Row::unused());
        }
        self.rows[row].open(key, self.objects);
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
            // A row goes where more than half of it belongs.
            let fits = |row: &&Row| {
                let missing = row.missing();
                load += missing;
                2 * load <= 2 * share + missing
            };
            let taken = rest.iter().take_while(fits).count().max(1).min(rest.len());
            let end = if parts <= 1 { rest.len() } else { taken };
            parts = parts.saturating_sub(1);
            let (part, others) = std::mem::take(&mut rest).split_at_mut(end);
            rest = others;
            (!part.is_empty()).then_some(part)
        })
    }

    /// The number of the row of a key, if it is shared.
    #[inline]
    pub fn find(&self, key: Key) -> Option<usize> {
        self.index.find(key)
    }

    /// The baselines of a row.
    #[inline]
    pub fn ages(&self, row: usize) -> Ages {
        self.rows[row].key.ages()
    }

    /// The entries of a row by object.
    #[inline]
    pub fn codes(&self, row: usize) -> &[u64] {
        &self.rows[row].codes
    }

    /// The code that a row has for an object.
    #[inline]
    pub fn code<'a>(&self, row: usize, object: usize, encoders: &'a [Encoder]) -> Code<'a> {
        let row = &self.rows[row];
        match row.done.contains(object) {
            true => stored_code(row.codes[object], encoders),
            false => Code::NoRoom,
        }
    }
}

/// The code of an entry that one of these made.
#[inline]
pub(super) fn stored_code(entry: u64, encoders: &[Encoder]) -> Code<'_> {
    let number = (entry >> ENCODER_SHIFT) as usize % ENCODERS_MAX;
    encoders.get(number).or(encoders.first()).map_or(Code::NoRoom, |encoder| encoder.code(entry))
}

/// The audience whose fields a peer gets: the public, unless the class tells it more.
pub(super) fn canonical(object: &Object<'_>, audience: Audience) -> Audience {
    let class = object.class();
    if class.visible(audience) == class.visible(Audience::Public) { Audience::Public } else { audience }
}
