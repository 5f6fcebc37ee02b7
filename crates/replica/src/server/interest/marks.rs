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
    }
}
