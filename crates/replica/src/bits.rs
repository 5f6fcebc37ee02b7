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

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// How many numbers are in the set.
    pub fn len(&self) -> usize {
        // Most words are zero, and counting takes longer than asking.
        self.words.iter().filter(|word| **word != 0).map(|word| word.count_ones() as usize).sum()
    }

    /// The lowest number.
    pub fn first(&self) -> Option<usize> {
        let at = self.words.iter().position(|word| *word != 0)?;
        Some(at * 64 + self.words[at].trailing_zeros() as usize)
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

    /// Becomes a copy of another set.
    pub fn copy_from(&mut self, other: &Bits) {
        self.words.clear();
        self.words.extend_from_slice(&other.words);
    }

    /// Puts in what is in `other`; there must be room for it.
    pub fn union_with(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(own, other)| *own |= other);
    }

    /// Becomes what is in both of two other sets; all three must have the same room.
    pub fn set_intersection(&mut self, a: &Bits, b: &Bits) {
        for (own, (a, b)) in self.words.iter_mut().zip(a.words.iter().zip(&b.words)) {
            *own = a & b;
        }
    }

    /// Puts in what is in both of two other sets.
    pub fn add_intersection(&mut self, a: &Bits, b: &Bits) {
        for (own, (a, b)) in self.words.iter_mut().zip(a.words.iter().zip(&b.words)) {
            *own |= a & b;
        }
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
            prop_assert_eq!((ours.len(), ours.first(), ours.is_empty()), (a.len(), a.first().copied(), a.is_empty()));
            ours.union_with(&other);
            prop_assert!(ours.iter().eq(a.union(&b).copied()));
            ours.subtract(&other);
            prop_assert!(ours.iter().eq(a.difference(&b).copied()));
            ours.add_intersection(&set(&a), &other);
            prop_assert!(ours.iter().eq(a.iter().copied()));
            ours.set_intersection(&set(&a), &other);
            prop_assert!(ours.iter().eq(a.intersection(&b).copied()));
            for number in 0..400 {
                prop_assert_eq!(other.contains(number), b.contains(&number));
            }
        }
    }
}
