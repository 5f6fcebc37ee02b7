//! The versions of every object, in one vector.
//!
//! A baseline is the state of an object at a tick that a peer acked, so the past of every object must be at hand, in
//! the form in which it is compared and subtracted. Objects are encoded side by side against states of the same ages, so
//! those of one width share blocks, and in a block the same row of all of them lies together:
//!
//! ```text
//!   a block   row 0    object a, object b, object c …      versions, as wide as the class
//!             row 1    object a, object b, object c …
//!             …
//!             row 31
//!             drafts   object a, object b, object c …      what the game wrote since the newest version
//! ```
//!
//! The 32 version rows are a ring. An object's first version lies in the row of its tick, so objects that change at
//! every tick have the states of one age in one row, and reading them is reading on. Its ticks ascend backwards from the newest row, so the row that was in force at a
//! tick needs no search: as many versions as are newer than the tick lie between it and the newest, and counting 32
//! integers takes a few vector instructions.
//!
//! Places of despawned objects are kept by width and given to the next object as wide.

use std::ops::Range;

use netloom_wire::sequence::Tick;

use crate::limits::{VERSIONS_KEPT, WORDS_MAX};

const ROWS: usize = VERSIONS_KEPT + 1;

/// Objects in a block: enough for a good stretch of memory, and little waste for a class with few objects.
const BLOCK_OBJECTS: usize = 32;

/// A version this old is as good as eternal. Its tick is kept from falling further behind, because ticks wrap and half
/// their range away "older" turns into "newer".
pub(super) const AGE_KEPT: u32 = 1 << 30;

/// Where an object's versions are.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Of row 0.
    offset: usize,
    word_count: usize,
    newest: usize,
    /// How many rows hold versions of the present frame.
    len: usize,
    /// The tick of the newest version, and how many ticks before it had one each.
    latest: Tick,
    streak: u32,
}

/// The words from one row of a block to the next.
#[inline]
const fn stride(word_count: usize) -> usize {
    BLOCK_OBJECTS * word_count
}

impl Place {
    /// Where the words of a row are.
    #[inline]
    fn row(self, row: usize) -> Range<usize> {
        let start = self.offset + row * stride(self.word_count);
        start..start + self.word_count
    }
}

/// The versions of all objects, by slot.
#[derive(Debug)]
pub(super) struct Histories {
    words: Vec<i32>,
    places: Vec<Place>,
    ticks: Vec<[Tick; VERSIONS_KEPT]>,
    /// Offsets of unused places, by their width.
    unused: Vec<Vec<usize>>,
}

/// The versions of one object in its present frame: a ring of rows.
///
/// For several ticks of one object take this once and call [`History::row_at`] for each; rows are plain numbers, so
/// that a caller can see whether two ticks share one without comparing words.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    words: &'a [i32],
    ticks: &'a [Tick; VERSIONS_KEPT],
    word_count: usize,
    newest: usize,
    len: usize,
    latest: Tick,
    streak: u32,
}

impl<'a> History<'a> {
    /// How many versions are kept: at most [`VERSIONS_KEPT`].
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none, before the first commit.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The row of the newest version.
    pub fn newest_row(&self) -> usize {
        self.newest
    }

    /// The row of the version that was in force at `tick`; `None` if it is forgotten, of an earlier frame, or from
    /// before the object was there.
    #[inline]
    pub fn row_at(&self, tick: Tick) -> Option<usize> {
        let back = self.latest.0.wrapping_sub(tick.0) as i32;
        if back <= 0 && self.len > 0 {
            return Some(self.newest);
        }
        // Objects that change at every tick have a version for each: nothing needs to be looked up.
        if back as u32 <= self.streak {
            return Some((self.newest + VERSIONS_KEPT - back as usize) % VERSIONS_KEPT);
        }
        let newer: u32 = self.ticks.iter().map(|version| u32::from(version.is_newer_than(tick))).sum();
        let newer = newer as usize;
        (newer < self.len).then(|| (self.newest + VERSIONS_KEPT - newer) % VERSIONS_KEPT)
    }

    /// The words of a row; none if there is no such row.
    #[inline]
    pub fn row(&self, row: usize) -> &'a [i32] {
        let start = row * stride(self.word_count);
        self.words.get(start..start + self.word_count).unwrap_or_default()
    }

    /// The tick of each row's version. Rows without a version have a tick that is not newer than any that has.
    pub fn ticks(&self) -> &'a [Tick; VERSIONS_KEPT] {
        self.ticks
    }
}

impl Histories {
    pub(super) fn new() -> Histories {
        Histories {
            words: Vec::new(),
            places: Vec::new(),
            ticks: Vec::new(),
            unused: vec![Vec::new(); WORDS_MAX + 1],
        }
    }

    /// Gives a slot a place without versions, for objects of `word_count` words.
    pub(super) fn open(&mut self, slot: usize, word_count: usize) {
        if slot >= self.places.len() {
            self.places.resize(slot + 1, Place::default());
            self.ticks.resize(slot + 1, [Tick::default(); VERSIONS_KEPT]);
        }
        if self.unused[word_count].is_empty() {
            let block = self.words.len();
            self.words.resize(block + ROWS * stride(word_count), 0);
            // The last is taken first.
            let places = (0..BLOCK_OBJECTS).rev().map(|place| block + place * word_count);
            self.unused[word_count].extend(places);
        }
        let offset = self.unused[word_count].pop().unwrap_or_default();
        self.places[slot] = Place { offset, word_count, ..Place::default() };
    }

    /// Takes the place of a slot back.
    pub(super) fn close(&mut self, slot: usize) {
        let Place { offset, word_count, .. } = std::mem::take(&mut self.places[slot]);
        self.unused[word_count].push(offset);
    }

    /// What will be the next version.
    #[inline]
    pub(super) fn draft(&self, slot: usize) -> &[i32] {
        &self.words[self.places[slot].row(VERSIONS_KEPT)]
    }

    #[inline]
    pub(super) fn draft_mut(&mut self, slot: usize) -> &mut [i32] {
        &mut self.words[self.places[slot].row(VERSIONS_KEPT)]
    }

    /// Whether the draft says something else than the newest version.
    #[inline]
    pub(super) fn differs(&self, slot: usize) -> bool {
        let place = self.places[slot];
        place.len == 0 || self.words[place.row(place.newest)] != *self.draft(slot)
    }

    /// The draft becomes the newest version. If the words have another meaning than before, the older ones go.
    pub(super) fn store(&mut self, slot: usize, tick: Tick, reframed: bool) {
        let place = &mut self.places[slot];
        place.newest = (place.newest + 1) % VERSIONS_KEPT;
        if reframed || place.len == 0 {
            place.len = 0;
            place.newest = tick.0 as usize % VERSIONS_KEPT;
            self.ticks[slot] = [tick; VERSIONS_KEPT];
        }
        let follows = place.len > 0 && tick == place.latest.next();
        place.streak = if follows { (place.streak + 1).min(VERSIONS_KEPT as u32 - 1) } else { 0 };
        place.latest = tick;
        place.len = (place.len + 1).min(VERSIONS_KEPT);
        self.ticks[slot][place.newest] = tick;
        self.words.copy_within(place.row(VERSIONS_KEPT), place.row(place.newest).start);
    }

    #[inline]
    pub(super) fn history(&self, slot: usize) -> History<'_> {
        let place = self.places[slot];
        let words = &self.words[place.offset..place.row(VERSIONS_KEPT - 1).end];
        let Place { word_count, newest, len, latest, streak, .. } = place;
        History { words, ticks: &self.ticks[slot], word_count, newest, len, latest, streak }
    }

    /// Keeps very old ticks comparable.
    pub(super) fn refresh(&mut self, slot: usize, now: Tick) {
        self.ticks[slot].iter_mut().for_each(|tick| *tick = not_ancient(*tick, now));
        let place = &mut self.places[slot];
        let latest = not_ancient(place.latest, now);
        if latest != place.latest {
            (place.latest, place.streak) = (latest, 0);
        }
    }
}

/// The tick, or one [`AGE_KEPT`] ago if it is older.
pub(super) fn not_ancient(tick: Tick, now: Tick) -> Tick {
    let age = now.0.wrapping_sub(tick.0);
    if age > AGE_KEPT { Tick(now.0.wrapping_sub(AGE_KEPT)) } else { tick }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_goes_to_the_next_object_of_its_width() {
        let mut histories = Histories::new();
        histories.open(0, 10);
        histories.open(1, 4);
        let taken = histories.words.len();
        assert_eq!(taken, 33 * 32 * 14);
        for respawn in 0..100 {
            histories.store(0, Tick(respawn), false);
            histories.close(0);
            histories.close(1);
            histories.open(1, 10);
            histories.open(0, 4);
            assert!(histories.history(0).is_empty());
            histories.close(0);
            histories.close(1);
            histories.open(0, 10);
            histories.open(1, 4);
        }
        assert_eq!(histories.words.len(), taken);
    }
}
