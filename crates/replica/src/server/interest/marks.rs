//! A few dozen numbers out of a million, in ascending order and each once, without sorting them.
//!
//! A scan of the grid finds objects cell by cell. The lists that viewers get are in ascending order, because the
//! difference of two ordered lists is one merge. Every object found sets a bit; reading the bits from left to right
//! gives the order. So that a million objects with fifty bits set do not cost a million bits of reading, a summary has
//! a bit for every word that is not zero:
//!
//! ```text
//! summary   0 1 0 0 …                     1 bit  = 1 word  = 64 objects
//! words     [0] [0010…1] [0] [0] …        1 word of summary = 4,096 objects
//! ```

/// A set of object indexes, each with the mark that it is near enough to enter.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    words: Vec<Word>,
    summary: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Word {
    found: u64,
    enters: u64,
}

impl Marks {
    /// Makes room for indexes below `objects`.
    pub(super) fn reserve(&mut self, objects: usize) {
        let words = objects.div_ceil(64);
        if self.words.len() < words {
            self.words.resize(words, Word::default());
            self.summary.resize(words.div_ceil(64), 0);
        }
    }

    /// Marks an index for which there is room.
    #[inline]
    pub(super) fn mark(&mut self, index: u32, enters: bool) {
        let word = (index / 64) as usize;
        self.words[word].found |= 1 << (index % 64);
        self.words[word].enters |= u64::from(enters) << (index % 64);
        self.summary[word / 64] |= 1 << (word % 64);
    }

    /// Marks indexes, each with whether it enters in the lowest bit.
    #[inline]
    pub(super) fn mark_all<'a>(&mut self, hits: impl Iterator<Item = &'a u32>) {
        // A single word of summary stays in a register.
        let mut summary = 0;
        let is_small = self.summary.len() == 1;
        for &hit in hits {
            let (index, enters) = (hit >> 1, u64::from(hit & 1));
            let at = (index / 64) as usize;
            let word = &mut self.words[at];
            word.found |= 1 << (index % 64);
            word.enters |= enters << (index % 64);
            match is_small {
                true => summary |= 1 << (at % 64),
                false => self.summary[at / 64] |= 1 << (at % 64),
            }
        }
        if is_small {
            self.summary[0] |= summary;
        }
    }

    /// Calls `visit` with every index in ascending order and whether it enters; leaves the set empty.
    #[inline]
    pub(super) fn drain(&mut self, mut visit: impl FnMut(u32, bool)) {
        for (block, summary) in self.summary.iter_mut().enumerate() {
            let mut nonzero = std::mem::take(summary);
            while nonzero != 0 {
                let word = block * 64 + nonzero.trailing_zeros() as usize;
                nonzero &= nonzero - 1;
                let Word { mut found, enters } = std::mem::take(&mut self.words[word]);
                while found != 0 {
                    let bit = found.trailing_zeros();
                    found &= found - 1;
                    visit(word as u32 * 64 + bit, enters >> bit & 1 != 0);
                }
            }
        }
    }
}

/// Indexes that are set, 64 at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    word: u32,
    bits: u64,
}

impl Block {
    /// Adds an index to blocks that hold none above it.
    pub(super) fn push(blocks: &mut Vec<Block>, index: u32) {
        match blocks.last_mut().filter(|block| block.word == index / 64) {
            Some(block) => block.bits |= 1 << (index % 64),
            None => blocks.push(Block { word: index / 64, bits: 1 << (index % 64) }),
        }
    }
}

impl Marks {
    /// If all of `seen` was found and nothing else enters, empties the set and returns true: 64 objects at a time,
    /// for that is how most looks end.
    pub(super) fn drain_if_same(&mut self, seen: &[Block]) -> bool {
        let mut seen = seen.iter().copied().peekable();
        for (block, summary) in self.summary.iter().enumerate() {
            let mut nonzero = *summary;
            while nonzero != 0 {
                let at = block * 64 + nonzero.trailing_zeros() as usize;
                nonzero &= nonzero - 1;
                let bits = seen.next_if(|seen| seen.word as usize == at).map_or(0, |seen| seen.bits);
                let word = self.words[at];
                if bits & !word.found != 0 || word.enters & !bits != 0 {
                    return false;
                }
            }
        }
        // A block that no word answered to stops all that follow it, so it is still here.
        let is_same = seen.next().is_none();
        if is_same {
            self.clear();
        }
        is_same
    }

    fn clear(&mut self) {
        for (words, summary) in self.words.chunks_mut(64).zip(&mut self.summary) {
            let mut nonzero = std::mem::take(summary);
            while nonzero != 0 {
                words[nonzero.trailing_zeros() as usize] = Word::default();
                nonzero &= nonzero - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn indexes_come_out_in_order_once_and_only_once(
            rounds in prop::collection::vec(prop::collection::vec((0u32..20_000, any::<bool>()), 0..200), 1..4),
        ) {
            let mut marks = Marks::default();
            marks.reserve(20_000);
            for round in rounds {
                let mut expected = BTreeMap::new();
                for (index, enters) in round {
                    marks.mark(index, enters);
                    *expected.entry(index).or_insert(false) |= enters;
                }
                let mut drained = Vec::new();
                marks.drain(|index, enters| drained.push((index, enters)));
                prop_assert_eq!(drained, expected.into_iter().collect::<Vec<_>>());
            }
        }

        #[test]
        fn findings_are_the_same_if_all_that_was_seen_is_found_and_nothing_enters(
            found in prop::collection::btree_map(0u32..300, any::<bool>(), 0..60),
            seen in prop::collection::btree_set(0u32..300, 0..60),
            is_likely_same: bool,
        ) {
            let entering = || found.iter().filter(|(_, enters)| **enters).map(|(index, _)| *index);
            let seen = if is_likely_same { entering().collect() } else { seen };
            let (mut marks, mut blocks) = (Marks::default(), Vec::new());
            marks.reserve(300);
            found.iter().for_each(|(index, enters)| marks.mark(*index, *enters));
            seen.iter().for_each(|index| Block::push(&mut blocks, *index));
            let expected = seen.iter().all(|index| found.contains_key(index)) && entering().all(|index| seen.contains(&index));
            prop_assert_eq!(marks.drain_if_same(&blocks), expected);
            let mut left = 0;
            marks.drain(|_, _| left += 1);
            prop_assert_eq!(left, if expected { 0 } else { found.len() });
        }
    }
}
