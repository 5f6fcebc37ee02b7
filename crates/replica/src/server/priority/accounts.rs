//! The accounts of one peer, and the choice of what is sent.
//!
//! Only the highest accounts that fit are wanted, not the order of all, so there is no sort: accounts are counted into
//! levels of an eighth of an octave below the highest, and a walk over the levels finds the one at which the budget
//! ends. Everything above goes, nothing below does, and only that level itself is put in order.
//!
//! ```text
//!   level  bits                     budget 1,000, of which 90 for two distant objects
//!     0    ████████ 400             goes
//!     1    ██████ 300               goes: 700
//!     2    █████████ 450            the border: highest first, skipping what does not fit
//!     3    ███ …                    only if the border left room
//! ```

use crate::server::setting::SettingError;

/// Levels that are told apart: 8 octaves. Accounts that lie lower share the last one.
const LEVELS: usize = 64;

/// Bits of a single below its three highest of the fraction: what is left is eight steps per octave.
const LEVEL_SHIFT: u32 = 20;

/// Accounts stay finite, and far from where adding a gain would no longer change them within a session.
const ACCOUNT_MAX: f32 = 1e30;

/// An object that has something to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pending {
    /// Its alias slot.
    pub slot: u16,
    /// Bits that it takes at most.
    pub estimate_bits: u16,
    /// Whether it is far from the viewer.
    pub is_distant: bool,
    /// What it gains a tick; 0 means never.
    pub gain: f32,
}

/// How a choice is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picking {
    /// Distant objects that go first in every snapshot, out of at most half of the budget.
    pub distant_reserve: usize,
    /// Objects at the border that may be skipped because they do not fit, before the search for smaller ones ends.
    pub misses_max: usize,
}

impl Default for Picking {
    fn default() -> Picking {
        Picking { distant_reserve: 2, misses_max: 4 }
    }
}

impl Picking {
    /// Checks the values.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::check("distant_reserve", self.distant_reserve, 0..=64, "0 to 64")?;
        SettingError::check("misses_max", self.misses_max, 0..=1_000, "0 to 1,000")
    }
}

/// Buffers of a choice. One per worker; their content means nothing between choices.
#[derive(Clone, Debug, Default)]
pub struct PickScratch {
    /// Accounts as integers of the same order, plus 1; 0 is not to be chosen, or chosen already.
    keys: Vec<u32>,
    levels: Vec<u8>,
    taken: Vec<bool>,
    border: Vec<u64>,
}

/// What every object of one peer has gained since it was sent, by alias slot.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    by_slot: Vec<f32>,
}

impl Accounts {
    /// All at zero.
    pub fn new() -> Accounts {
        Accounts::default()
    }

    /// The account of a slot.
    pub fn account(&self, slot: u16) -> f32 {
        self.by_slot.get(usize::from(slot)).copied().unwrap_or(0.0)
    }

    /// Adds a tick's gain to everything that waits. In ticks in which [`fits`] is true it can be left out.
    pub fn accumulate(&mut self, pending: &[Pending]) {
        let Some(highest) = pending.iter().map(|object| object.slot).max() else { return };
        if self.by_slot.len() <= usize::from(highest) {
            self.by_slot.resize(usize::from(highest) + 1, 0.0);
        }
        for object in pending {
            let account = &mut self.by_slot[usize::from(object.slot)];
            *account = (*account + object.gain.max(0.0)).min(ACCOUNT_MAX);
        }
    }

    /// These went out, or another object has their slot: they start again at zero.
    pub fn reset(&mut self, slots: &[u16]) {
        for slot in slots {
            if let Some(account) = self.by_slot.get_mut(usize::from(*slot)) {
                *account = 0.0;
            }
        }
    }

    /// Chooses what is sent, in the order of `pending`, which is that of slots, and returns the bits that it takes:
    /// never more than the budget. Objects that exceed the budget on their own cannot be chosen; of the others, the
    /// one with the highest account always is. Accounts stay as they are until [`reset`](Accounts::reset) says what
    /// was really sent.
    pub fn select(
        &self,
        pending: &[Pending],
        budget_bits: u32,
        picking: &Picking,
        scratch: &mut PickScratch,
        chosen: &mut Vec<u16>,
    ) -> u32 {
        let mut choice = Choice { pending, budget_bits, left_bits: budget_bits, scratch };
        if fits(pending, budget_bits) {
            choice.scratch.taken.clear();
            choice.scratch.taken.extend(pending.iter().map(|object| object.gain > 0.0));
            choice.left_bits -= pending.iter().filter(|object| object.gain > 0.0).map(cost).sum::<u32>();
        } else {
            choice.read_accounts(&self.by_slot);
            choice.reserve_distant(picking.distant_reserve);
            let border = choice.take_highest();
            choice.fill_up(border, picking.misses_max);
        }
        choice.write(chosen);
        budget_bits - choice.left_bits
    }
}

/// Whether everything that may be sent fits into a budget.
pub fn fits(pending: &[Pending], budget_bits: u32) -> bool {
    let wanted = pending.iter().map(|object| if object.gain > 0.0 { u64::from(cost(object)) } else { 0 });
    wanted.sum::<u64>() <= u64::from(budget_bits)
}

/// Nothing is free: an object of 0 bits would make the number that fits unbounded.
#[inline]
fn cost(object: &Pending) -> u32 {
    u32::from(object.estimate_bits.max(1))
}

struct Choice<'a> {
    pending: &'a [Pending],
    budget_bits: u32,
    left_bits: u32,
    scratch: &'a mut PickScratch,
}

impl Choice<'_> {
    fn read_accounts(&mut self, by_slot: &[f32]) {
        let PickScratch { keys, taken, .. } = &mut *self.scratch;
        taken.clear();
        taken.resize(self.pending.len(), false);
        keys.clear();
        keys.extend(self.pending.iter().map(|object| {
            let account = by_slot.get(usize::from(object.slot)).copied().unwrap_or(0.0);
            let is_possible = (object.gain > 0.0) & (cost(object) <= self.budget_bits);
            if is_possible { account.to_bits() + 1 } else { 0 }
        }));
    }

    /// Takes the highest distant objects. They get at most half of the budget, and never what the highest object of
    /// all needs: otherwise a snapshot of two objects would be distant for ever.
    fn reserve_distant(&mut self, count: usize) {
        let highest = self.highest(|_| true);
        let kept_bits = highest.map_or(0, |at| cost(&self.pending[at]));
        let mut reserve_bits = (self.budget_bits / 2).min(self.budget_bits - kept_bits);
        for _ in 0..count {
            let found = self.highest(|object| object.is_distant & (cost(object) <= reserve_bits));
            let Some(at) = found else { return };
            let bits = cost(&self.pending[at]);
            // The highest of all has its bits set aside already.
            reserve_bits -= if Some(at) == highest { 0 } else { bits };
            self.take(at, bits);
        }
    }

    fn highest(&self, counts: impl Fn(&Pending) -> bool) -> Option<usize> {
        let mut best = (0, 0);
        for (at, (object, key)) in self.pending.iter().zip(&self.scratch.keys).enumerate() {
            let key = if counts(object) { *key } else { 0 };
            best = if key > best.0 { (key, at) } else { best };
        }
        (best.0 > 0).then_some(best.1)
    }

    fn take(&mut self, at: usize, bits: u32) {
        self.scratch.taken[at] = true;
        self.scratch.keys[at] = 0;
        self.left_bits -= bits;
    }

    /// Takes all levels that fit as a whole. Returns the first that does not.
    fn take_highest(&mut self) -> usize {
        let PickScratch { keys, levels, taken, .. } = &mut *self.scratch;
        let top = keys.iter().max().map_or(0, |key| key >> LEVEL_SHIFT);
        // One more, for what is not to be chosen.
        let mut bits_of_level = [0u32; LEVELS + 1];
        levels.clear();
        levels.extend(self.pending.iter().zip(&*keys).map(|(object, key)| {
            let below = (top - (key >> LEVEL_SHIFT)).min(LEVELS as u32 - 1);
            let level = if *key == 0 { LEVELS } else { below as usize };
            bits_of_level[level] = bits_of_level[level].saturating_add(cost(object));
            level as u8
        }));
        let mut border = 0;
        while border < LEVELS && bits_of_level[border] <= self.left_bits {
            self.left_bits -= bits_of_level[border];
            border += 1;
        }
        for (taken, level) in taken.iter_mut().zip(&*levels) {
            *taken |= usize::from(*level) < border;
        }
        border
    }

    /// Fills what is left from the border downwards.
    fn fill_up(&mut self, border: usize, misses_max: usize) {
        let smallest = self.pending.iter().map(cost).min().unwrap_or(1);
        let mut misses = 0;
        for level in border..LEVELS {
            if self.left_bits < smallest || misses > misses_max {
                return;
            }
            self.gather(level, (self.left_bits / smallest) as usize + misses_max - misses + 1);
            for place in 0..self.scratch.border.len() {
                let at = self.scratch.border[place] as u32 as usize;
                let bits = cost(&self.pending[at]);
                if bits <= self.left_bits {
                    self.take(at, bits);
                } else {
                    misses += 1;
                    if misses > misses_max {
                        return;
                    }
                }
            }
        }
    }

    /// Puts the highest objects of a level in order, as many as can be looked at.
    fn gather(&mut self, level: usize, count: usize) {
        let PickScratch { keys, levels, border, .. } = &mut *self.scratch;
        border.clear();
        for (at, (key, own)) in keys.iter().zip(&*levels).enumerate() {
            if usize::from(*own) == level {
                // Ascending, this is the highest account first, and the lowest slot among equals.
                border.push(u64::from(!key) << 32 | at as u64);
            }
        }
        if border.len() > count {
            border.select_nth_unstable(count);
            border.truncate(count);
        }
        border.sort_unstable();
    }

    fn write(&mut self, chosen: &mut Vec<u16>) {
        chosen.clear();
        chosen.resize(self.pending.len(), 0);
        let mut count = 0;
        for (object, taken) in self.pending.iter().zip(&self.scratch.taken) {
            chosen[count] = object.slot;
            count += usize::from(*taken);
        }
        chosen.truncate(count);
    }
}
