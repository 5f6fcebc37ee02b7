//! What a peer is known to hold of each object, and what it has not been sent.
//!
//! An update says how an object differs from two states that the peer has acknowledged, its *baselines*. Nearly all
//! objects of a peer move at every tick, and their acknowledgements come in the same packets, so nearly all have the
//! same two. Those are kept once, as the *common* pair, and a bit says which slots have it. The others have one of a
//! few more, and a number says which:
//!
//! ```text
//!   slot        0 1 2 3 4 5 6 7
//!   uniform     1 1 1 0 1 1 0 1      all of these: (44, 40)
//!   kind              0     1        0: (44, 36)   1: (12, 12)
//! ```
//!
//! A packet that arrives then costs a few operations on words of 64 slots instead of a loop over all of them, and
//! whatever is found out about a pair serves all slots that have it.

use netloom_wire::Tick;

use super::page::{Pages, place};
use crate::bits::ones;
use crate::limits::{BASELINE_AGE_MAX, VERSIONS_KEPT};

/// Baselines up to this age are worth waiting for one that is shared.
const SHARED_AGE_MAX: u32 = 8;

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

/// The number of a pair among those that slots of one peer have.
pub(super) type Kind = u16;

/// Kinds up to which nobody asks whether they are still used.
const KINDS_UNASKED: usize = 24;

/// As many as there usually are, so that room for them is made when a peer joins and not in the middle of things.
pub(super) const KINDS_USUAL: usize = 2 * KINDS_UNASKED;

/// How far back a pair is looked for. One that is not found gets a second number, which is a small waste and no error.
const KINDS_SOUGHT: usize = 16;

/// A pair that has a number, and the number that it will have.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    pair: Pair,
    moved_to: Option<Kind>,
}

/// What one peer holds, by alias slot.
#[derive(Debug)]
pub(super) struct Held {
    pub pages: Pages,
    pub common: Pair,
    /// By kind. The kind of a slot means nothing where its pair is the common one.
    pairs: Vec<Numbered>,
    spare: Vec<Numbered>,
    /// As many pairs as make it worth while to look for unused ones.
    pairs_max: usize,
}

impl Default for Held {
    fn default() -> Held {
        let room = || Vec::with_capacity(KINDS_USUAL);
        Held { pages: Pages::default(), common: Pair::default(), pairs: room(), spare: room(), pairs_max: 0 }
    }
}

impl Held {
    /// The baselines of a slot that is known.
    #[inline]
    pub fn pair(&self, slot: usize) -> Pair {
        let (at, bit) = place(slot);
        if self.pages[at].uniform & bit != 0 {
            self.common
        } else {
            self.pairs[usize::from(self.pages.kind(slot))].pair
        }
    }

    /// How many numbers there are.
    pub fn kinds(&self) -> usize {
        self.pairs.len()
    }

    /// The number of a pair.
    fn kind_of(&mut self, pair: Pair) -> Kind {
        let recent = self.pairs.len().saturating_sub(KINDS_SOUGHT);
        if let Some(place) = self.pairs[recent..].iter().position(|known| known.pair == pair) {
            return (recent + place) as Kind;
        }
        if self.pairs.len() >= self.pairs_max.max(KINDS_UNASKED) {
            self.forget_unused();
        }
        self.pairs.push(Numbered { pair, moved_to: None });
        (self.pairs.len() - 1) as Kind
    }

    /// Gives the pairs that slots have the lowest numbers. There are no more of them than slots, so a number is always
    /// to be had.
    #[cold]
    fn forget_unused(&mut self) {
        let Held { pages, pairs, spare, .. } = self;
        // Those that are used move to the other list, and leave their new number behind.
        spare.clear();
        for at in 0..pages.len() {
            for bit in ones(pages[at].known & !pages[at].uniform) {
                let slot = at * 64 + bit;
                let used = &mut pairs[usize::from(pages.kind(slot))];
                if used.moved_to.is_none() {
                    spare.push(*used);
                    used.moved_to = Some((spare.len() - 1) as Kind);
                }
                pages.set_kind(slot, used.moved_to.unwrap_or_default());
            }
        }
        std::mem::swap(pairs, spare);
        self.pairs_max = (2 * self.pairs.len()).min(usize::from(Kind::MAX));
    }

    /// The peer has an object in full as of `tick`.
    pub fn handle_entered(&mut self, slot: usize, tick: Tick) {
        let (at, bit) = place(slot);
        let kind = self.kind_of(Pair::single(tick));
        self.pages.set_kind(slot, kind);
        self.pages[at].known |= bit;
        self.pages[at].uniform &= !bit;
    }

    /// Nothing of a slot can be built on any more.
    pub fn forget(&mut self, slot: usize) {
        let (at, bit) = place(slot);
        self.pages[at].known &= !bit;
        self.pages[at].uniform &= !bit;
    }

    /// The states of these slots, told by page, arrived as of `tick`: newer ones than any before. They become baselines.
    pub fn handle_acked(&mut self, acked: impl Fn(usize) -> u64, tick: Tick) {
        let Some(new_common) = self.common_after(&acked, tick) else { return };
        let old_common = self.common;
        let is_second = old_common.newer == tick;
        let follows = new_common == old_common.advanced(tick);
        let mut from = 0;
        while let Some(at) = self.pages.next_busy(from) {
            from = at + 1;
            let (acked, uniform) = (acked(at) & self.pages[at].known, self.pages[at].uniform);
            let mut stays = match follows {
                // A second packet of the same tick: who has the common pair keeps it.
                _ if is_second => uniform,
                true => uniform & acked,
                false => 0,
            };
            // Forgetting unused pairs looks at who is uniform, so each slot leaves with its kind.
            for bit in ones(uniform & !stays) {
                let pair = if acked >> bit & 1 == 0 { old_common } else { old_common.advanced(tick) };
                let kind = self.kind_of(pair);
                self.pages.set_kind(at * 64 + bit, kind);
                self.pages[at].uniform &= !(1 << bit);
            }
            for bit in ones(acked & !uniform) {
                let slot = at * 64 + bit;
                let pair = self.pairs[usize::from(self.pages.kind(slot))].pair.advanced(tick);
                match pair == new_common {
                    true => stays |= 1 << bit,
                    false => {
                        let kind = self.kind_of(pair);
                        self.pages.set_kind(slot, kind);
                    }
                }
            }
            self.pages[at].uniform = stays;
        }
        self.common = new_common;
    }

    /// Which of some slots, a word of 64, have baselines that are older than peers need to share.
    pub fn outdated(&self, at: usize, slots: u64, now: Tick) -> u64 {
        let is_old = |pair: Pair| now.0.wrapping_sub(pair.newer.0) > SHARED_AGE_MAX;
        // Asking all pairs takes less than asking all slots, and mostly there is none.
        if !is_old(self.common) && !self.pairs.iter().any(|numbered| is_old(numbered.pair)) {
            return 0;
        }
        let uniform = slots & self.pages[at].uniform;
        let pair = |bit: usize| self.pairs[usize::from(self.pages.kind(at * 64 + bit))].pair;
        let others = ones(slots & !uniform).filter(|bit| is_old(pair(*bit)));
        others.fold(if is_old(self.common) { uniform } else { 0 }, |all, bit| all | 1 << bit)
    }

    /// The same as [`handle_acked`](Held::handle_acked) for a few slots of one word, of some of which newer states may
    /// have arrived: those are left out. What most slots have stays what they have.
    pub fn handle_acked_apart(&mut self, at: usize, slots: u64, tick: Tick) {
        for bit in ones(slots) {
            let slot = at * 64 + bit;
            let pair = self.pair(slot);
            if tick.is_newer_than(pair.newer) {
                let kind = self.kind_of(pair.advanced(tick));
                self.pages.set_kind(slot, kind);
                self.pages[at].uniform &= !(1 << bit);
            }
        }
    }

    /// The pair that most slots will have: as before if most of those that arrived had it, else that of the first other.
    fn common_after(&self, acked: impl Fn(usize) -> u64, tick: Tick) -> Option<Pair> {
        let (mut with, mut all, mut without, mut is_used) = (0, 0, None, false);
        let mut from = 0;
        while let Some(at) = self.pages.next_busy(from) {
            from = at + 1;
            let (acked, uniform) = (acked(at) & self.pages[at].known, self.pages[at].uniform);
            is_used |= uniform != 0;
            if acked == 0 {
                continue;
            }
            all += acked.count_ones();
            with += (acked & uniform).count_ones();
            if acked & !uniform != 0 && without.is_none() {
                without = Some(at * 64 + (acked & !uniform).trailing_zeros() as usize);
            }
        }
        if self.common.newer == tick && is_used {
            return Some(self.common);
        }
        let other = without.map(|slot| self.pairs[usize::from(self.pages.kind(slot))].pair.advanced(tick));
        match with * 2 >= all && with > 0 {
            true => Some(self.common.advanced(tick)),
            false => other,
        }
    }

    /// The peer cannot build on the states of this tick.
    pub fn handle_refused(&mut self, tick: Tick, mut forgotten: impl FnMut(usize)) {
        for at in 0..self.pages.len() {
            for bit in ones(self.pages[at].known) {
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

    fn held() -> Held {
        let mut held = Held::default();
        held.pages.reserve(SLOTS);
        (0..SLOTS).for_each(|slot| held.handle_entered(slot, Tick(1)));
        (0..held.pages.len()).for_each(|at| held.pages.soil(at, 1));
        held
    }

    fn ack(held: &mut Held, slots: &[usize], tick: Tick) {
        let mut words = [0u64; SLOTS.div_ceil(64)];
        slots.iter().for_each(|slot| words[slot / 64] |= 1 << (slot % 64));
        held.handle_acked(|at| words[at], tick);
    }

    fn uniform(held: &Held) -> usize {
        (0..held.pages.len()).map(|at| held.pages[at].uniform.count_ones() as usize).sum()
    }

    #[test]
    fn slots_that_move_together_share_one_pair() {
        let mut held = held();
        let all: Vec<usize> = (0..SLOTS).collect();
        ack(&mut held, &all, Tick(4));
        ack(&mut held, &all[1..], Tick(8));
        assert_eq!((held.common, uniform(&held)), (Pair { newer: Tick(8), older: Tick(4) }, SLOTS - 1));
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
            acks in prop::collection::vec((prop::collection::btree_set(0..SLOTS, 0..SLOTS), 0u32..2), 1..200),
        ) {
            let mut held = held();
            let mut plain = vec![Pair::single(Tick(1)); SLOTS];
            let mut tick = 2;
            for (slots, step) in acks {
                tick += step;
                // One tick may have several packets, but a slot is in one of them only.
                let slots: Vec<usize> = slots.into_iter().filter(|slot| plain[*slot].newer != Tick(tick)).collect();
                ack(&mut held, &slots, Tick(tick));
                slots.iter().for_each(|slot| plain[*slot] = plain[*slot].advanced(Tick(tick)));
                for (slot, pair) in plain.iter().enumerate() {
                    prop_assert_eq!(held.pair(slot), *pair, "slot {}", slot);
                }
                prop_assert!(held.kinds() <= 2 * SLOTS, "unused pairs are forgotten");
            }
        }
    }
}
