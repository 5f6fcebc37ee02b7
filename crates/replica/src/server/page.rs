//! What is asked of every slot of a peer at every tick, 64 slots at a time.
//!
//! A server has thousands of peers and goes through all of them several times a tick, so what counts is how much memory
//! that touches. Every question is one bit for each slot, and all bits of 64 slots lie in one line of memory:
//!
//! ```text
//!   page 0 │ known │ dirty │ uniform │ own │ stray │ special │ chosen │      64 bits each
//!          │ 64 objects │ 64 kinds │                                         right behind them
//!   page 1 │ …
//!   busy     1 0 0 1 …                                                       one bit for each page
//! ```
//!
//! A page of which nothing is due and nothing on its way is not *busy*, and nobody looks at it: ten thousand objects at
//! rest cost next to nothing.

use std::ops::{Index, IndexMut};

use netloom_cpu::fetch;

use super::held::Kind;

/// Pages that are asked for ahead: those of 512 slots. A peer with more has work enough to hide what comes late.
pub(super) const FETCHED_PAGES: usize = 8;

/// The object of a slot that names none.
pub(super) const NO_OBJECT: u32 = u32::MAX;

/// The bits of 64 slots.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Page {
    /// Slots whose object the peer has, with at least one state to build on.
    pub known: u64,
    /// Slots with something that was never sent, or was lost. Set by [`Pages::soil`].
    pub dirty: u64,
    /// Slots whose baselines are the common ones.
    pub uniform: u64,
    /// Slots in sight that have the number of their object.
    pub own: u64,
    /// Slots in sight that have another number.
    pub stray: u64,
    /// Slots whose receiver is told other fields than the public.
    pub special: u64,
    /// Slots whose update goes into this tick's snapshots.
    pub chosen: u64,
}

/// 64 slots, with what is asked of those that have something to send.
#[derive(Clone, Copy, Debug)]
struct Block {
    page: Page,
    /// The object of each slot in the world.
    objects: [u32; 64],
    /// Which pair of baselines each slot has; see [`Held`](super::held::Held).
    kinds: [Kind; 64],
}

impl Block {
    const EMPTY: Block = Block { page: Page::EMPTY, objects: [NO_OBJECT; 64], kinds: [0; 64] };
}

/// All slots of a peer.
#[derive(Debug, Default)]
pub(super) struct Pages {
    blocks: Vec<Block>,
    /// The first 64 pages, which for most peers are all, and the others.
    busy: u64,
    more_busy: Vec<u64>,
}

impl Page {
    const EMPTY: Page = Page { known: 0, dirty: 0, uniform: 0, own: 0, stray: 0, special: 0, chosen: 0 };

    /// What is chosen, if what is said of it depends on nothing but the common baselines.
    #[inline]
    pub fn common_chosen(&self) -> Option<u64> {
        let common = self.uniform & self.own & !self.special;
        (self.chosen & !common == 0).then_some(self.chosen)
    }
}

/// The page of a slot, and its bit there.
#[inline]
pub(super) fn place(slot: usize) -> (usize, u64) {
    (slot / 64, 1 << (slot % 64))
}

impl Pages {
    /// Makes room for slots below `slots`.
    pub fn reserve(&mut self, slots: usize) {
        let pages = slots.div_ceil(64);
        if self.blocks.len() < pages {
            self.blocks.resize(pages, Block::EMPTY);
            self.more_busy.resize(pages.saturating_sub(1) / 64, 0);
        }
    }

    /// Asks for the bits of the first pages.
    pub fn fetch(&self) {
        self.blocks.iter().take(FETCHED_PAGES).for_each(|block| fetch(&block.page));
    }

    /// How many pages there are.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// A page; an empty one beyond the last.
    pub fn get(&self, at: usize) -> Page {
        self.blocks.get(at).map_or(Page::EMPTY, |block| block.page)
    }

    /// The object of a slot, which must exist.
    #[inline]
    pub fn object(&self, slot: usize) -> usize {
        self.blocks[slot / 64].objects[slot % 64] as usize
    }

    /// The objects of a page.
    #[inline]
    pub fn objects(&self, at: usize) -> &[u32; 64] {
        &self.blocks[at].objects
    }

    /// A slot names another object.
    pub fn set_object(&mut self, slot: usize, object: u32) {
        self.blocks[slot / 64].objects[slot % 64] = object;
    }

    /// Which pair of baselines a slot has.
    #[inline]
    pub fn kind(&self, slot: usize) -> Kind {
        self.blocks[slot / 64].kinds[slot % 64]
    }

    /// A slot has another pair.
    #[inline]
    pub fn set_kind(&mut self, slot: usize, kind: Kind) {
        self.blocks[slot / 64].kinds[slot % 64] = kind;
    }

    /// There is something new of these slots, which must exist.
    #[inline]
    pub fn soil(&mut self, at: usize, slots: u64) {
        if slots != 0 {
            self.blocks[at].page.dirty |= slots;
            *self.busy_mut(at / 64) |= 1 << (at % 64);
        }
    }

    /// Which of 64 pages are busy.
    #[inline]
    fn busy(&self, word: usize) -> Option<u64> {
        match word {
            0 => Some(self.busy),
            _ => self.more_busy.get(word - 1).copied(),
        }
    }

    #[inline]
    fn busy_mut(&mut self, word: usize) -> &mut u64 {
        match word {
            0 => &mut self.busy,
            _ => &mut self.more_busy[word - 1],
        }
    }

    /// The first busy page from `from` on.
    #[inline]
    pub fn next_busy(&self, from: usize) -> Option<usize> {
        let mut at = from / 64;
        let mut word = self.busy(at)? >> (from % 64) << (from % 64);
        while word == 0 {
            at += 1;
            word = self.busy(at)?;
        }
        Some(at * 64 + word.trailing_zeros() as usize)
    }

    /// Nothing of a page is due or on its way.
    pub fn rest(&mut self, at: usize) {
        *self.busy_mut(at / 64) &= !(1 << (at % 64));
    }

    /// The busy pages of which something is chosen.
    pub fn chosen(&self) -> impl Iterator<Item = (usize, &Page)> {
        let mut from = 0;
        let busy = std::iter::from_fn(move || {
            let at = self.next_busy(from)?;
            from = at + 1;
            Some((at, &self.blocks[at].page))
        });
        busy.filter(|(_, page)| page.chosen != 0)
    }
}

impl Index<usize> for Pages {
    type Output = Page;

    #[inline]
    fn index(&self, at: usize) -> &Page {
        &self.blocks[at].page
    }
}

impl IndexMut<usize> for Pages {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut Page {
        &mut self.blocks[at].page
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn busy_pages_are_those_with_news_that_were_not_put_to_rest(
            soiled in prop::collection::vec(0usize..200, 0..30),
            rested in prop::collection::vec(0usize..200, 0..30),
        ) {
            let mut pages = Pages::default();
            pages.reserve(200 * 64);
            let mut expected = BTreeSet::new();
            for &at in &soiled {
                pages.soil(at, 1);
                expected.insert(at);
            }
            for at in &rested {
                pages.rest(*at);
                expected.remove(at);
            }
            let mut found = BTreeSet::new();
            let mut from = 0;
            while let Some(at) = pages.next_busy(from) {
                found.insert(at);
                from = at + 1;
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_page_is_one_line_of_memory() {
        assert_eq!(size_of::<Page>(), 64);
        let mut pages = Pages::default();
        assert_eq!(pages.next_busy(0), None);
        pages.reserve(65);
        assert_eq!((pages.len(), pages.next_busy(0), pages.get(7).known), (2, None, 0));
        pages.soil(1, 0);
        assert_eq!(pages.next_busy(0), None, "nothing new is no news");
    }
}
