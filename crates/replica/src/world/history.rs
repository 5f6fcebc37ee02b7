//! The versions of every object, in one vector.
//!
//! A baseline is the state of an object at a tick that a peer acked, so the past of every object must be at hand, in
//! the form in which it is compared and subtracted. Each object has a block of rows as wide as its class:
//!
//! ```text
//!   words  ─┬ row 0 ─┬ row 1 ─┬ ... ┬ row 31 ─┬ draft ─┬─ the next object's block
//!           │ version│ version│     │ version │ what the game wrote since the newest version
//!   ticks  [  40     ,  44    , ... ,  36     ]
//! ```
//!
//! The 32 version rows are a ring. Its ticks ascend backwards from the newest row, so the row that was in force at a
//! tick needs no search: as many versions as are newer than the tick lie between it and the newest, and counting 32
//! integers takes a few vector instructions.
//!
//! Blocks of despawned objects are kept by width and given to the next object as wide.

use netloom_wire::sequence::Tick;

use crate::limits::{VERSIONS_KEPT, WORDS_MAX};

const ROWS: usize = VERSIONS_KEPT + 1;

/// A version this old is as good as eternal. Its tick is kept from falling further behind, because ticks wrap and half
/// their range away "older" turns into "newer".
pub(super) const AGE_KEPT: u32 = 1 << 30;

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    offset: usize,
    word_count: usize,
    newest: usize,
    /// How many rows hold versions of the present frame.
    len: usize,
    /// The tick of the newest version, and how many ticks before it had one each.
    latest: Tick,
    streak: u32,
}

/// The versions of all objects, by slot.
#[derive(Debug)]
pub(super) struct Histories {
    words: Vec<i32>,
    blocks: Vec<Block>,
    ticks: Vec<[Tick; VERSIONS_KEPT]>,
    /// Offsets of unused blocks, by their width.
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
        let start = row * self.word_count;
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
            blocks: Vec::new(),
            ticks: Vec::new(),
            unused: vec![Vec::new(); WORDS_MAX + 1],
        }
    }

    /// Gives a slot a block without versions, for objects of `word_count` words.
    pub(super) fn open(&mut self, slot: usize, word_count: usize) {
        if slot >= self.blocks.len() {
            self.blocks.resize(slot + 1, Block::default());
            self.ticks.resize(slot + 1, [Tick::default(); VERSIONS_KEPT]);
        }
        let offset = self.unused[word_count].pop().unwrap_or_else(|| {
            let offset = self.words.len();
            self.words.resize(offset + ROWS * word_count, 0);
            offset
        });
        self.blocks[slot] = Block { offset, word_count, ..Block::default() };
    }

    /// Takes the block of a slot back.
    pub(super) fn close(&mut self, slot: usize) {
        let Block { offset, word_count, .. } = std::mem::take(&mut self.blocks[slot]);
        self.unused[word_count].push(offset);
    }

    /// What will be the next version.
    #[inline]
    pub(super) fn draft(&self, slot: usize) -> &[i32] {
        let Block { offset, word_count, .. } = self.blocks[slot];
        &self.words[offset + VERSIONS_KEPT * word_count..][..word_count]
    }

    #[inline]
    pub(super) fn draft_mut(&mut self, slot: usize) -> &mut [i32] {
        let Block { offset, word_count, .. } = self.blocks[slot];
        &mut self.words[offset + VERSIONS_KEPT * word_count..][..word_count]
    }

    /// Whether the draft says something else than the newest version.
    #[inline]
    pub(super) fn differs(&self, slot: usize) -> bool {
        let block = self.blocks[slot];
        let newest = block.offset + block.newest * block.word_count;
        block.len == 0 || self.words[newest..newest + block.word_count] != *self.draft(slot)
    }

    /// The draft becomes the newest version. If the words have another meaning than before, the older ones go.
    pub(super) fn store(&mut self, slot: usize, tick: Tick, reframed: bool) {
        let Block { offset, word_count, .. } = self.blocks[slot];
        let block = &mut self.blocks[slot];
        if reframed || block.len == 0 {
            block.len = 0;
            self.ticks[slot] = [tick; VERSIONS_KEPT];
        }
        let follows = block.len > 0 && tick == block.latest.next();
        block.streak = if follows { (block.streak + 1).min(VERSIONS_KEPT as u32 - 1) } else { 0 };
        block.latest = tick;
        block.newest = (block.newest + 1) % VERSIONS_KEPT;
        block.len = (block.len + 1).min(VERSIONS_KEPT);
        let row = offset + block.newest * word_count;
        self.ticks[slot][block.newest] = tick;
        let draft = offset + VERSIONS_KEPT * word_count;
        self.words.copy_within(draft..draft + word_count, row);
    }

    #[inline]
    pub(super) fn history(&self, slot: usize) -> History<'_> {
        let Block { offset, word_count, newest, len, latest, streak } = self.blocks[slot];
        let words = &self.words[offset..offset + VERSIONS_KEPT * word_count];
        History { words, ticks: &self.ticks[slot], word_count, newest, len, latest, streak }
    }

    /// Keeps very old ticks comparable.
    pub(super) fn refresh(&mut self, slot: usize, now: Tick) {
        self.ticks[slot].iter_mut().for_each(|tick| *tick = not_ancient(*tick, now));
        let block = &mut self.blocks[slot];
        let latest = not_ancient(block.latest, now);
        if latest != block.latest {
            (block.latest, block.streak) = (latest, 0);
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
    fn a_block_goes_to_the_next_object_of_its_width() {
        let mut histories = Histories::new();
        histories.open(0, 10);
        histories.open(1, 4);
        let taken = histories.words.len();
        assert_eq!(taken, 33 * 14);
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
