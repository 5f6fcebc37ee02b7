//! What an update takes, learned from those that were written.
//!
//! A choice is made before anything is encoded, so it needs to know how many updates a budget holds. Too high a guess leaves
//! bytes unused. Too low a one makes the snapshot end before the choice does, and since snapshots are written in the order
//! of slots it would always be the last ones that wait. So the guess is the average, and a margin that grows whenever a
//! snapshot was cut and shrinks again while none is.
//!
//! Baselines are taken from every fourth tick, so that the same ages return every four ticks: each of the four has an
//! average of its own.

use netloom_wire::Tick;

/// Ticks after which the ages of baselines repeat, as servers are by default.
const PHASES: usize = 4;

/// What an update takes as long as nothing better is known.
const FIRST_BITS: u32 = 48;

/// The margin, in 64ths of the average.
const MARGIN_MIN: u32 = 1;
const MARGIN_MAX: u32 = 32;
const MARGIN_STEP: u32 = 2;

/// Ticks without a cut after which the margin shrinks by one.
const CALM_TICKS: u32 = 2;

/// What one peer's updates take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Experience {
    /// In sixteenths of a bit.
    averages: [u32; PHASES],
    margin: u32,
    calm_ticks: u32,
}

impl Default for Experience {
    fn default() -> Experience {
        Experience { averages: [16 * FIRST_BITS; PHASES], margin: MARGIN_MIN, calm_ticks: 0 }
    }
}

impl Experience {
    /// The bits that an update of this tick is reckoned with.
    pub fn expected_bits(&self, tick: Tick) -> u32 {
        (self.averages[tick.0 as usize % PHASES] * (64 + self.margin) / 64).div_ceil(16)
    }

    /// A tick has ended; whether something that was chosen found no room in it.
    pub fn handle_tick(&mut self, was_cut: bool) {
        self.calm_ticks = if was_cut { 0 } else { self.calm_ticks + 1 };
        if was_cut {
            self.margin = (self.margin + MARGIN_STEP).min(MARGIN_MAX);
        } else if self.calm_ticks >= CALM_TICKS {
            self.calm_ticks = 0;
            self.margin = (self.margin - 1).max(MARGIN_MIN);
        }
    }

    /// So many updates of a tick took so many bits.
    pub fn learn(&mut self, tick: Tick, bits: usize, updates: usize) {
        if updates == 0 {
            return;
        }
        let average = &mut self.averages[tick.0 as usize % PHASES];
        let seen = u32::try_from(16 * bits / updates).unwrap_or(u32::MAX).min(1 << 20);
        // Few updates say little about the next ones.
        let weight = if updates < 8 { 16 } else { 4 };
        *average = (*average * (weight - 1) + seen).div_ceil(weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_is_learned_and_the_guess_lies_just_above() {
        let mut experience = Experience::default();
        for tick in 0..200 {
            experience.learn(Tick(tick), 1_000 * (30 + tick as usize % 4 * 5), 1_000);
            experience.handle_tick(false);
        }
        for (tick, bits) in [(0, 30), (1, 35), (2, 40), (3, 45)] {
            let expected = experience.expected_bits(Tick(tick));
            assert!((bits..=bits + 2).contains(&expected), "{expected} for {bits}");
        }
    }

    #[test]
    fn cuts_make_the_guess_careful_and_calm_makes_it_bold_again() {
        let mut experience = Experience::default();
        let bold = experience.expected_bits(Tick(0));
        (0..100).for_each(|_| experience.handle_tick(true));
        let careful = experience.expected_bits(Tick(0));
        assert!(careful > bold * 5 / 4 && careful <= bold * 8 / 5, "{bold} then {careful}");
        (0..1_000).for_each(|_| experience.handle_tick(false));
        assert_eq!(experience.expected_bits(Tick(0)), bold);
    }

    #[test]
    fn huge_updates_do_not_overflow() {
        let mut experience = Experience::default();
        (0..100).for_each(|_| experience.learn(Tick(1), usize::MAX / 32, 1));
        (0..100).for_each(|_| experience.handle_tick(true));
        assert!(experience.expected_bits(Tick(1)) > 1 << 15);
    }
}
