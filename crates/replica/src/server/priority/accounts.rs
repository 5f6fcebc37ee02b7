//! The accounts of one peer, and the choice of what is sent.
//!
//! Updates of one peer are reckoned with at one size, so a budget is a number of objects, and what goes out are the so
//! many highest accounts. Nobody needs them in order: it is enough to know the account at which they end. Accounts are
//! positive, and the bits of positive singles have the order of their values, so that border is searched for as an
//! integer, by counting what lies above a guess. Counting moves nothing and has no branch that depends on an account:
//!
//! ```text
//!   lowest                                      highest
//!   │··│····│·││··│····│··│····│·····│····│······│        40 wait, 10 may go
//!   └ 40 above      guess └ 14 above             └ 0 above
//!                                guess └ 10 above: done
//! ```
//!
//! A guess lies where the border would be if accounts were spread evenly; every second one halves what is left, which
//! bounds the number of guesses whatever the accounts are. Among equals at the border the lowest slots go.

use super::waiting::{LANES, Waiting};
use crate::bits::ones;
use crate::setting::SettingError;

/// The key of what goes first whatever its account is: above that of every account.
const KEY_FIRST: i32 = i32::MAX;

/// How a choice is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picking {
    /// Distant objects that go first in every snapshot, in at most half of its places.
    pub distant_reserve: usize,
}

impl Default for Picking {
    fn default() -> Picking {
        Picking { distant_reserve: 2 }
    }
}

impl Picking {
    /// Checks the values.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::check("distant_reserve", self.distant_reserve, 0..=64, "0 to 64")
    }
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

    /// All start again at zero.
    pub fn clear(&mut self) {
        self.by_slot.fill(0.0);
    }

    /// Another object has this slot: it starts at zero.
    pub fn reset(&mut self, slot: u16) {
        if let Some(account) = self.by_slot.get_mut(usize::from(slot)) {
            *account = 0.0;
        }
    }

    /// These of 64 slots, the `at`th word of them, went out: they start again at zero.
    pub fn reset_all(&mut self, at: usize, sent: u64) {
        let Some(accounts) = self.by_slot.get_mut(at * 64..) else { return };
        for bit in ones(sent) {
            if let Some(account) = accounts.get_mut(bit) {
                *account = 0.0;
            }
        }
    }

    /// Adds a tick's gain to everything that waits, and chooses what is sent: `count` objects at most. In this choice, and
    /// in it alone, an account counts as many times as the object is favoured. What is not is
    /// told to `drop`, by the number of a word and its slots. Returns how many are left. Accounts stay as they are until
    /// [`reset_all`](Accounts::reset_all) says what was really sent.
    ///
    /// The highest account of all is always chosen, whatever is distant: a reserve takes no more than half of the
    /// places, or a snapshot of two objects would be distant for ever.
    pub fn select(
        &mut self,
        waiting: &mut Waiting,
        count: usize,
        picking: &Picking,
        drop: impl FnMut(usize, u64),
    ) -> usize {
        self.accumulate(waiting);
        let Waiting { slots, gains, distant, keys, .. } = waiting;
        let bracket = Bracket::around(keys, gains);
        let possible = bracket.low_above;
        let border = match possible <= count {
            true => Border { key: 0, ties: 0 },
            false => {
                let border = bracket.search(keys, count);
                let reserve = picking.distant_reserve.min(count / 2);
                match raise_distant(keys, distant, reserve, border.key) {
                    0 => border,
                    raised => bracket.search_anew(border, raised, keys, count),
                }
            }
        };
        border.drop_below(slots, keys, drop);
        possible.min(count)
    }

    fn accumulate(&mut self, waiting: &mut Waiting) {
        let Waiting { slots, gains, favours, keys, .. } = waiting;
        let Some(&highest) = slots.last() else { return };
        if self.by_slot.len() <= usize::from(highest) {
            self.by_slot.resize(usize::from(highest) + 1, 0.0);
        }
        // An account stops growing where a gain is worth less than its last bit, far from where it would be infinite.
        for (((&slot, gain), favour), key) in slots.iter().zip(&*gains).zip(&*favours).zip(&mut *keys) {
            let account = &mut self.by_slot[usize::from(slot)];
            *account += gain;
            *key = (*account * favour).to_bits() as i32;
        }
    }
}

/// Where the border lies: more keys are above `low` than may go, and no more than that above `high`.
#[derive(Clone, Copy, Debug)]
struct Bracket {
    low: i32,
    low_above: usize,
    high: i32,
    high_above: usize,
}

impl Bracket {
    /// Makes the keys of what gains nothing 0, and finds where the others lie: all above `low`, none above `high`.
    fn around(keys: &mut [i32], gains: &[f32]) -> Bracket {
        let (mut possible, mut low, mut high) = (0, KEY_FIRST, 0);
        for (key, gain) in keys.iter_mut().zip(gains) {
            let is_possible = *gain > 0.0;
            *key = if is_possible { *key } else { 0 };
            possible += u32::from(is_possible);
            // One less than 0 is the highest of all here: what gains nothing does not count.
            low = low.min(key.wrapping_sub(1) & KEY_FIRST);
            high = high.max(*key);
        }
        Bracket { low, low_above: possible as usize, high, high_above: 0 }
    }

    /// The border above which `count` keys lie. Branches on a guess would be foretold wrongly half of the time, so what
    /// it changes is written as a choice of values.
    fn search(self, keys: &[i32], count: usize) -> Border {
        let Bracket { mut low, mut low_above, mut high, mut high_above } = self;
        let mut is_halving = false;
        while high - low > 1 {
            let span = (high - low) as u64;
            let step = match is_halving {
                true => span / 2,
                false => span * (low_above - count) as u64 / (low_above - high_above) as u64,
            };
            let guess = low + step.clamp(1, span - 1) as i32;
            let guess_above = above(keys, guess);
            if guess_above == count {
                return Border { key: guess, ties: 0 };
            }
            let is_low = guess_above > count;
            (low, low_above) = if is_low { (guess, guess_above) } else { (low, low_above) };
            (high, high_above) = if is_low { (high, high_above) } else { (guess, guess_above) };
            is_halving = !is_halving;
        }
        Border { key: high, ties: count - high_above }
    }

    /// The border once some keys were moved above all others: no lower than it was.
    fn search_anew(self, before: Border, raised: usize, keys: &[i32], count: usize) -> Border {
        let low_above = above(keys, before.key);
        match low_above > count {
            true => Bracket { low: before.key, low_above, high_above: raised, ..self }.search(keys, count),
            false => Border { key: before.key, ties: count - low_above },
        }
    }
}

fn above(keys: &[i32], border: i32) -> usize {
    keys.iter().map(|key| u32::from(*key > border)).sum::<u32>() as usize
}

/// Moves the keys of the highest distant objects above all others. Returns how many: none where enough of them are
/// above the border anyhow, for then a reserve changes nothing.
fn raise_distant(keys: &mut [i32], distant: &mut [i32], reserve: usize, border: i32) -> usize {
    let mut earned = 0;
    for (key, distant) in keys.iter().zip(&mut *distant) {
        *distant &= key;
        earned += u32::from(*distant > border);
    }
    if earned as usize >= reserve {
        return 0;
    }
    for raised in 0..reserve {
        let highest = distant.iter().copied().fold(0, i32::max);
        let at = distant.iter().position(|key| *key == highest);
        let Some(at) = at.filter(|_| highest > 0) else { return raised };
        (keys[at], distant[at]) = (KEY_FIRST, 0);
    }
    reserve
}

/// Where a choice ends: what is above goes, and the first few of what is level with it.
#[derive(Clone, Copy, Debug)]
struct Border {
    key: i32,
    ties: usize,
}

impl Border {
    fn drop_below(mut self, slots: &[u16], keys: &[i32], mut drop: impl FnMut(usize, u64)) {
        let (mut at, mut dropped) = (0, 0);
        for (slots, keys) in slots.chunks(64).zip(keys.chunks(64)) {
            let groups = keys.as_chunks::<LANES>().0.iter().enumerate();
            let below = groups.fold(0, |all, (group, keys)| all | self.below(keys) << (group * LANES));
            for row in ones(below) {
                let Some(&slot) = slots.get(row) else { break };
                if self.ties > 0 && keys[row] == self.key {
                    self.ties -= 1;
                    continue;
                }
                // Words change once each, not once for every slot.
                if usize::from(slot / 64) != at {
                    if dropped != 0 {
                        drop(at, dropped);
                    }
                    (at, dropped) = (usize::from(slot / 64), 0);
                }
                dropped |= 1 << (slot % 64);
            }
        }
        if dropped != 0 {
            drop(at, dropped);
        }
    }

    /// A bit for each key that is not above.
    fn below(&self, keys: &[i32; LANES]) -> u64 {
        let bits = keys.iter().enumerate().map(|(lane, key)| u32::from(*key <= self.key) << lane);
        bits.fold(0, |all, bit| all | bit).into()
    }
}
