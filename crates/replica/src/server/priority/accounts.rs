//! The accounts of one peer, and the choice of what is sent.
//!
//! Only the highest accounts that fit are wanted, not the order of all, so there is no sort: accounts are counted into
//! levels of a sixteenth of an octave below the highest, and a walk over the levels finds the one at which the budget
//! ends. Everything above goes, and only that level itself, and what is left below it, is put in order.
//!
//! ```text
//!   level  bits                     budget 1,000, of which 90 for two distant objects
//!     0    ████████ 400             goes
//!     1    ██████ 300               goes: 700
//!     2    █████████ 450            the border: highest first, skipping what does not fit
//!     3    ███ …                    only if the border left room
//! ```

use std::ops::Range;

use crate::server::setting::SettingError;

/// Levels that are told apart: 4 octaves. Accounts that lie lower share the last one.
const LEVELS: usize = 64;

/// Bits of a single below the four highest of its fraction: what is left is sixteen steps per octave.
const LEVEL_SHIFT: u32 = 19;

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
    /// The same of distant objects, 0 for all others.
    keys_distant: Vec<u32>,
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

    /// All start again at zero.
    pub fn clear(&mut self) {
        self.by_slot.fill(0.0);
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
        let mut choice =
            Choice { pending, budget_bits, left_bits: budget_bits, smallest_bits: u32::MAX, scratch };
        if fits(pending, budget_bits) {
            choice.take_everything();
        } else {
            choice.read_accounts(&self.by_slot);
            if let Some((key, highest)) = first_highest(&choice.scratch.keys) {
                choice.reserve_distant(picking, highest);
                choice.take_highest_levels(key, picking.misses_max);
            }
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
    /// No object that can be chosen has less.
    smallest_bits: u32,
    scratch: &'a mut PickScratch,
}

impl Choice<'_> {
    fn take_everything(&mut self) {
        let taken = &mut self.scratch.taken;
        taken.clear();
        taken.extend(self.pending.iter().map(|object| object.gain > 0.0));
        self.left_bits -= self.pending.iter().filter(|object| object.gain > 0.0).map(cost).sum::<u32>();
    }

    /// Fills in the keys.
    fn read_accounts(&mut self, by_slot: &[f32]) {
        let PickScratch { keys, keys_distant, taken, .. } = &mut *self.scratch;
        for keys in [&mut *keys, &mut *keys_distant] {
            keys.resize(self.pending.len(), 0);
        }
        taken.clear();
        taken.resize(self.pending.len(), false);
        for ((object, key), key_distant) in self.pending.iter().zip(keys).zip(keys_distant) {
            let account = by_slot.get(usize::from(object.slot)).copied().unwrap_or(0.0);
            let is_possible = (object.gain > 0.0) & (cost(object) <= self.budget_bits);
            *key = if is_possible { account.to_bits() + 1 } else { 0 };
            *key_distant = if object.is_distant { *key } else { 0 };
            self.smallest_bits = self.smallest_bits.min(cost(object));
        }
    }

    /// Takes the highest distant objects. They get at most half of the budget, and never what the highest object of
    /// all needs: otherwise a snapshot of two objects would be distant for ever.
    fn reserve_distant(&mut self, picking: &Picking, highest: usize) {
        let kept_bits = cost(&self.pending[highest]);
        let mut reserve_bits = (self.budget_bits / 2).min(self.budget_bits - kept_bits);
        let (mut reserved, mut misses) = (0, 0);
        while reserved < picking.distant_reserve && misses <= picking.misses_max {
            let Some((_, at)) = first_highest(&self.scratch.keys_distant) else { return };
            self.scratch.keys_distant[at] = 0;
            let bits = cost(&self.pending[at]);
            if at == highest {
                // Its bits are set aside already.
                self.take(at, bits);
                reserved += 1;
            } else if bits <= reserve_bits {
                reserve_bits -= bits;
                self.take(at, bits);
                reserved += 1;
            } else {
                misses += 1;
            }
        }
    }

    fn take(&mut self, at: usize, bits: u32) {
        self.scratch.taken[at] = true;
        self.scratch.keys[at] = 0;
        self.left_bits -= bits;
    }

    /// Takes all levels that fit as a whole, then what fits of the next, then what fits of all below.
    fn take_highest_levels(&mut self, highest_key: u32, misses_max: usize) {
        let PickScratch { keys, levels, taken, .. } = &mut *self.scratch;
        let top = highest_key >> LEVEL_SHIFT;
        // One more, for what is not to be chosen.
        let mut bits_of_level = [0u32; LEVELS + 1];
        levels.clear();
        levels.extend(self.pending.iter().zip(&*keys).map(|(object, key)| {
            let below = (top - (key >> LEVEL_SHIFT)).min(LEVELS as u32 - 1);
            let level = if *key == 0 { LEVELS as u8 } else { below as u8 };
            let bits = &mut bits_of_level[usize::from(level)];
            *bits = bits.saturating_add(cost(object));
            level
        }));
        let mut border = 0;
        while usize::from(border) < LEVELS && bits_of_level[usize::from(border)] <= self.left_bits {
            self.left_bits -= bits_of_level[usize::from(border)];
            border += 1;
        }
        for (taken, level) in taken.iter_mut().zip(&*levels) {
            *taken |= *level < border;
        }
        if usize::from(border) < LEVELS
            && let Some(misses_left) = self.fill_up(border..border + 1, misses_max)
        {
            self.fill_up(border + 1..LEVELS as u8, misses_left);
        }
    }

    /// Fills what is left from those objects of some levels that fit into it, highest first. Those that no longer fit
    /// when their turn comes are misses. Returns how many more are allowed.
    fn fill_up(&mut self, from: Range<u8>, misses_max: usize) -> Option<usize> {
        if self.left_bits < self.smallest_bits {
            return None;
        }
        let PickScratch { keys, levels, border, .. } = &mut *self.scratch;
        border.resize(self.pending.len(), 0);
        let mut count = 0;
        for (at, (object, level)) in self.pending.iter().zip(&*levels).enumerate() {
            // Ascending, this is the highest account first, and the first place among equals.
            border[count] = u64::from(!keys[at]) << 32 | at as u64;
            count +=
                usize::from((*level >= from.start) & (*level < from.end) & (cost(object) <= self.left_bits));
        }
        border.truncate(count);
        let affordable = (self.left_bits / self.smallest_bits) as usize;
        let ordered = order_lowest(border, affordable.saturating_add(misses_max).saturating_add(1));
        let mut misses_left = misses_max;
        for place in 0..ordered {
            let at = self.scratch.border[place] as u32 as usize;
            let bits = cost(&self.pending[at]);
            if bits <= self.left_bits {
                self.take(at, bits);
            } else {
                misses_left = misses_left.checked_sub(1)?;
            }
        }
        Some(misses_left)
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

/// The highest key that is not 0, and its first place.
fn first_highest(keys: &[u32]) -> Option<(u32, usize)> {
    // Two short loops that a compiler turns into vectors, where one that carries the place along stays scalar.
    let highest = keys.iter().copied().fold(0, u32::max);
    let at = keys.iter().position(|key| *key == highest)?;
    (highest > 0).then_some((highest, at))
}

/// Puts the lowest `count` values in order at the front. Returns how many there are.
fn order_lowest(values: &mut [u64], count: usize) -> usize {
    if values.len() > count {
        values.select_nth_unstable(count);
    }
    let ordered = values.len().min(count);
    values[..ordered].sort_unstable();
    ordered
}
