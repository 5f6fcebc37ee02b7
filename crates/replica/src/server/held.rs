//! What a peer is known to hold of each object, and what it has not been sent.
//!
//! An update says how an object differs from two states that the peer has acknowledged, its *baselines*. Nearly all
//! objects of a peer move at every tick, and their acknowledgements come in the same packets, so nearly all have the
//! same two. Those are kept once, as the *common* pair, and a bit says which slots have it:
//!
//! ```text
//!   slot        0 1 2 3 4 5 6 7
//!   uniform     1 1 1 0 1 1 0 1      all of these: (44, 40)
//!   pairs             (44, 36) (12, 12)
//! ```
//!
//! A packet that arrives then costs a few operations on words of 64 slots instead of a loop over all of them.

use netloom_wire::Tick;

use crate::bits::{Bits, ones};
use crate::limits::{BASELINE_AGE_MAX, VERSIONS_KEPT};

/// Baselines up to this age are worth waiting for one that is shared.
const SHARED_AGE_MAX: u32 = 16;

/// The newest acknowledged state, and the one before it or the same again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pair {
    pub newer: Tick,
    pub older: Tick,
}

impl Pair {
    /// A single state.
    pub fn single(tick: Tick) -> Pair {
        Pair { newer: tick, older: tick }
    }

    /// The pair when one more state has arrived.
    fn advanced(self, tick: Tick) -> Pair {
        Pair { newer: tick, older: self.newer }
    }

    /// How old the states are in ticks, if they can be built on: an older one that may be forgotten is left out (0).
    #[inline]
    pub fn ages(self, now: Tick) -> Option<(u8, u8)> {
        let newer = now.0.wrapping_sub(self.newer.0);
        let older = now.0.wrapping_sub(self.older.0);
        if newer == 0 || newer > BASELINE_AGE_MAX {
            return None;
        }
        let is_kept = older > newer && older < VERSIONS_KEPT as u32;
        Some((newer as u8, if is_kept { older as u8 } else { 0 }))
    }
}

/// What was last found for a few pairs: slots that do not have the common one mostly have one of three others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recent<T> {
    found: [Option<(Pair, T)>; 4],
    next: usize,
}

impl<T: Copy> Recent<T> {
    pub fn new() -> Recent<T> {
        Recent { found: [None; 4], next: 0 }
    }

    #[inline]
    pub fn get(&self, pair: Pair) -> Option<T> {
        self.found.iter().flatten().find(|found| found.0 == pair).map(|found| found.1)
    }

    pub fn insert(&mut self, pair: Pair, value: T) {
        self.found[self.next % 4] = Some((pair, value));
        self.next += 1;
    }
}

/// What one peer holds, by alias slot.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Slots whose object the peer has, with at least one state to build on.
    pub known: Bits,
    /// Slots with something that was never sent, or was lost.
    pub dirty: Bits,
    /// Slots whose baselines are the common ones.
    pub uniform: Bits,
    pub common: Pair,
    pairs: Vec<Pair>,
}

impl Held {
    /// Makes room for slots below `count`.
    pub fn reserve(&mut self, count: usize) {
        for bits in [&mut self.known, &mut self.dirty, &mut self.uniform] {
            bits.reserve(count);
        }
        if self.pairs.len() < count {
            self.pairs.resize(count, Pair::default());
        }
    }

    /// The baselines of a slot that is known.
    #[inline]
    pub fn pair(&self, slot: usize) -> Pair {
        if self.uniform.contains(slot) { self.common } else { self.pairs[slot] }
    }

    /// The peer has an object in full as of `tick`.
    pub fn handle_entered(&mut self, slot: usize, tick: Tick) {
        self.known.insert(slot);
        self.uniform.remove(slot);
        self.pairs[slot] = Pair::single(tick);
    }

    /// Nothing of a slot can be built on any more.
    pub fn forget(&mut self, slot: usize) {
        self.known.remove(slot);
        self.uniform.remove(slot);
    }

    /// The states of these slots as of `tick` arrived: newer ones than any before. They become baselines.
    pub fn handle_acked(&mut self, slots: &Bits, tick: Tick) {
        let Some(new_common) = self.common_after(slots, tick) else { return };
        let old_common = self.common;
        let words = self.uniform.words_mut().iter_mut().enumerate();
        for (at, uniform) in words {
            let acked = slots.word(at);
            let follows = old_common.newer == tick || new_common == old_common.advanced(tick);
            let stays = match follows {
                // A second packet of the same tick: who has the common pair keeps it.
                true if old_common.newer == tick => *uniform,
                true => *uniform & acked,
                false => 0,
            };
            for bit in ones(*uniform & !stays) {
                self.pairs[at * 64 + bit] = match acked >> bit & 1 {
                    0 => old_common,
                    _ => old_common.advanced(tick),
                };
            }
            let mut joined = stays;
            for bit in ones(acked & !*uniform) {
                let pair = &mut self.pairs[at * 64 + bit];
                *pair = pair.advanced(tick);
                joined |= u64::from(*pair == new_common) << bit;
            }
            *uniform = joined;
        }
        self.common = new_common;
    }

    /// Which of some slots, a word of 64, have baselines that are older than peers need to share.
    pub fn outdated(&self, at: usize, slots: u64, now: Tick) -> u64 {
        let is_old = |pair: Pair| now.0.wrapping_sub(pair.newer.0) > SHARED_AGE_MAX;
        let uniform = slots & self.uniform.word(at);
        let others = ones(slots & !uniform).filter(|bit| is_old(self.pairs[at * 64 + bit]));
        others.fold(if is_old(self.common) { uniform } else { 0 }, |all, bit| all | 1 << bit)
    }

    /// The same as [`handle_acked`](Held::handle_acked) for a few slots of one word, of some of which newer states may
    /// have arrived: those are left out. What most slots have stays what they have.
    pub fn handle_acked_apart(&mut self, at: usize, slots: u64, tick: Tick) {
        for slot in ones(slots).map(|bit| at * 64 + bit) {
            let pair = self.pair(slot);
            if tick.is_newer_than(pair.newer) {
                self.uniform.remove(slot);
                self.pairs[slot] = pair.advanced(tick);
            }
        }
    }

    /// The pair that most slots will have: as before if most of those that arrived had it, else that of the first other.
    fn common_after(&self, slots: &Bits, tick: Tick) -> Option<Pair> {
        if self.common.newer == tick && !self.uniform.is_empty() {
            return Some(self.common);
        }
        let (mut with, mut without) = (0, None);
        for (at, &acked) in slots.words().iter().enumerate().filter(|(_, acked)| **acked != 0) {
            let uniform = acked & self.uniform.word(at);
            with += uniform.count_ones();
            if acked != uniform && without.is_none() {
                without = Some(at * 64 + (acked & !uniform).trailing_zeros() as usize);
            }
        }
        let other = without.map(|slot| self.pairs[slot].advanced(tick));
        match with as usize * 2 >= slots.len() && with > 0 {
            true => Some(self.common.advanced(tick)),
            false => other,
        }
    }

    /// The peer cannot build on the states of this tick.
    pub fn handle_refused(&mut self, tick: Tick, mut forgotten: impl FnMut(usize)) {
        for at in 0..self.known.words().len() {
            for bit in ones(self.known.word(at)) {
                let slot = at * 64 + bit;
                let pair = self.pair(slot);
                if pair.newer == tick || pair.older == tick {
                    self.forget(slot);
                    forgotten(slot);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SLOTS: usize = 130;

    fn bits(slots: &[usize]) -> Bits {
        let mut bits = Bits::default();
        bits.reserve(SLOTS);
        slots.iter().for_each(|slot| bits.insert(*slot));
        bits
    }

    #[test]
    fn slots_that_move_together_share_one_pair() {
        let mut held = Held::default();
        held.reserve(SLOTS);
        (0..SLOTS).for_each(|slot| held.handle_entered(slot, Tick(1)));
        let all: Vec<usize> = (0..SLOTS).collect();
        held.handle_acked(&bits(&all), Tick(4));
        held.handle_acked(&bits(&all[1..]), Tick(8));
        assert_eq!((held.common, held.uniform.len()), (Pair { newer: Tick(8), older: Tick(4) }, SLOTS - 1));
        assert_eq!(held.pair(0), Pair { newer: Tick(4), older: Tick(1) });
        assert_eq!(held.pair(0).ages(Tick(10)), Some((6, 9)));
    }

    #[test]
    fn a_state_that_may_be_forgotten_is_not_built_on() {
        let pair = Pair { newer: Tick(100), older: Tick(70) };
        assert_eq!(pair.ages(Tick(101)), Some((1, 31)));
        assert_eq!(pair.ages(Tick(102)), Some((2, 0)));
        assert_eq!(pair.ages(Tick(355)), Some((255, 0)));
        assert_eq!(pair.ages(Tick(356)), None);
        assert_eq!(Pair::single(Tick(5)).ages(Tick(6)), Some((1, 0)));
    }

    proptest! {
        /// The shared pair is an economy only: every slot has the pair that it would have on its own.
        #[test]
        fn sharing_changes_nothing(
            acks in prop::collection::vec((prop::collection::btree_set(0..SLOTS, 0..SLOTS), 0u32..2), 1..30),
        ) {
            let mut held = Held::default();
            held.reserve(SLOTS);
            let mut plain = vec![Pair::single(Tick(1)); SLOTS];
            (0..SLOTS).for_each(|slot| held.handle_entered(slot, Tick(1)));
            let mut tick = 2;
            for (slots, step) in acks {
                tick += step;
                // One tick may have several packets, but a slot is in one of them only.
                let slots: Vec<usize> = slots.into_iter().filter(|slot| plain[*slot].newer != Tick(tick)).collect();
                held.handle_acked(&bits(&slots), Tick(tick));
                slots.iter().for_each(|slot| plain[*slot] = plain[*slot].advanced(Tick(tick)));
                for (slot, pair) in plain.iter().enumerate() {
                    prop_assert_eq!(held.pair(slot), *pair, "slot {}", slot);
                }
            }
        }
    }
}
