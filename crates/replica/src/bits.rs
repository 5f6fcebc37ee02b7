//! Sets of small numbers, a bit each, worked on 64 at a time.

/// A set of slots or objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Makes room for numbers below `count`. Room never shrinks.
    pub fn reserve(&mut self, count: usize) {
        let words = count.div_ceil(64);
        if self.words.len() < words {
            self.words.resize(words, 0);
        }
    }

    /// Puts a number in; there must be room for it.
    #[inline]
    pub fn insert(&mut self, number: usize) {
        self.words[number / 64] |= 1 << (number % 64);
    }

    /// Takes a number out.
    #[inline]
    pub fn remove(&mut self, number: usize) {
        if let Some(word) = self.words.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    /// Whether a number is in the set.
    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// 64 numbers from `64 × at`.
    #[inline]
    pub fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// All words.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// All words, to change them.
    #[inline]
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Puts in what these words have; there must be room for it.
    pub fn add_words(&mut self, words: &[u64]) {
        self.words.iter_mut().zip(words).for_each(|(own, other)| *own |= other);
    }

    /// Takes out what is in `other`.
    pub fn subtract(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(own, other)| *own &= !other);
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| ones(word).map(move |bit| at * 64 + bit))
    }
}

/// The places of the ones of a word, ascending.
#[inline]
pub(crate) fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let bit = word.trailing_zeros();
        word &= word - 1;
        Some(bit as usize)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set(numbers: &BTreeSet<usize>) -> Bits {
        let mut bits = Bits::default();
        bits.reserve(300);
        numbers.iter().for_each(|number| bits.insert(*number));
        bits
    }

    proptest! {
        #[test]
        fn it_is_a_set(
            a in prop::collection::btree_set(0usize..300, 0..40),
            b in prop::collection::btree_set(0usize..300, 0..40),
        ) {
            let (mut ours, other) = (set(&a), set(&b));
            prop_assert!(ours.iter().eq(a.iter().copied()));
            ours.add_words(other.words());
            prop_assert!(ours.iter().eq(a.union(&b).copied()));
            ours.subtract(&other);
            prop_assert!(ours.iter().eq(a.difference(&b).copied()));
            for number in 0..400 {
                prop_assert_eq!(other.contains(number), b.contains(&number));
            }
        }
    }
}
