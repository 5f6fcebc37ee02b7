//! Fixed rates instead of, or before, the contest for the budget.
//!
//! A game may want near objects at 30 updates a second, others at 10 or 3; or players in every frame, enemies in every
//! second, scenery in every fifth. Remembering one time per object fails twice: the first viewer's update postpones
//! everybody else's, and an interval that is no multiple of the tick loses the remainder each time (30 Hz at 40 ticks a
//! second becomes 20). So each pair of viewer and object has a phase, in whole numbers, that gains a step per tick and
//! pays one unit per update:
//!
//! ```text
//!  3 Hz at 20 ticks:  step 3, unit 20     3 6 9 12 15 18 [21→1] 4 7 10 13 16 19 [22→2] 5 8 11 14 17 [20→0]
//! ```

use netloom_wire::Tick;

use crate::setting::SettingError;

/// How often an object is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// 30 Hz, or every frame.
    High,
    /// 10 Hz, or every second frame.
    Medium,
    /// 3 Hz, or every fifth frame.
    Low,
}

/// Which gains belong to which tier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tiers {
    /// Gains above this are [`Tier::High`].
    pub high_above: f32,
    /// Other gains above this are [`Tier::Medium`].
    pub medium_above: f32,
}

impl Default for Tiers {
    /// A player is in the highest tier within 100 m, anything in view within 200 m.
    fn default() -> Tiers {
        Tiers { high_above: 1.0, medium_above: 0.3 }
    }
}

impl Tiers {
    /// The tier of a gain.
    pub fn tier(&self, gain: f32) -> Tier {
        if gain > self.high_above {
            Tier::High
        } else if gain > self.medium_above {
            Tier::Medium
        } else {
            Tier::Low
        }
    }
}

/// The rates of the three tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cadence {
    unit: u32,
    steps: [u32; 3],
}

impl Cadence {
    /// Everything may be sent in every tick.
    pub const EVERY_TICK: Cadence = Cadence { unit: 1, steps: [1; 3] };

    /// Updates a second by tier, as in 30, 10, 3. No tier exceeds the ticks a second.
    pub fn hertz(rates: [u32; 3], ticks_per_second: u32) -> Result<Cadence, SettingError> {
        SettingError::check("ticks_per_second", ticks_per_second, 1..=1_000, "1 to 1,000")?;
        for rate in rates {
            SettingError::check("rates", rate, 1..=1_000, "1 to 1,000 updates a second")?;
        }
        Ok(Cadence { unit: ticks_per_second, steps: rates.map(|rate| rate.min(ticks_per_second)) })
    }

    /// Ticks from one update to the next by tier, as in 1, 2, 5.
    pub fn frames(periods: [u32; 3]) -> Result<Cadence, SettingError> {
        for period in periods {
            SettingError::check("periods", period, 1..=255, "1 to 255 ticks")?;
        }
        let unit = periods
            .into_iter()
            .fold(1, |multiple, period| multiple / greatest_divisor(multiple, period) * period);
        Ok(Cadence { unit, steps: periods.map(|period| unit / period) })
    }
}

fn greatest_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

/// The phases of one peer, by alias slot.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    by_slot: Vec<Phase>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Phase {
    credit: u32,
    counted: Tick,
}

impl Phases {
    /// None yet: everything is due.
    pub fn new() -> Phases {
        Phases::default()
    }

    /// An object got a slot. Phases begin spread over the slots, so that slow objects do not all fall into one tick.
    pub fn enter(&mut self, slot: u16, tick: Tick, cadence: &Cadence) {
        let index = usize::from(slot);
        if self.by_slot.len() <= index {
            self.by_slot.resize(index + 1, Phase { credit: u32::MAX, counted: tick });
        }
        let spread = u32::from(slot).wrapping_mul(0x9E37_79B1);
        let credit = (u64::from(spread) * u64::from(cadence.unit)) >> 32;
        self.by_slot[index] = Phase { credit: credit as u32, counted: tick };
    }

    /// Whether an object may be sent in this tick. It stays due until it was sent, but saves up for no more than one
    /// update beyond that.
    pub fn is_due(&mut self, slot: u16, tier: Tier, tick: Tick, cadence: &Cadence) -> bool {
        let Some(phase) = self.by_slot.get_mut(usize::from(slot)) else { return true };
        let elapsed = tick.0.wrapping_sub(phase.counted.0);
        let gained = elapsed.saturating_mul(cadence.steps[tier as usize]);
        phase.credit = phase.credit.saturating_add(gained).min(2 * cadence.unit - 1);
        phase.counted = tick;
        phase.credit >= cadence.unit
    }

    /// These went out.
    pub fn sent(&mut self, slots: &[u16], cadence: &Cadence) {
        for slot in slots {
            if let Some(phase) = self.by_slot.get_mut(usize::from(*slot)) {
                phase.credit = phase.credit.saturating_sub(cadence.unit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Updates in each of the given seconds of one pair that is always willing.
    fn updates(cadence: &Cadence, tier: Tier, ticks_per_second: u32, seconds: u32) -> Vec<usize> {
        let mut phases = Phases::new();
        phases.enter(7, Tick(0), cadence);
        let mut second = |number: u32| {
            let ticks = 1 + number * ticks_per_second..=(number + 1) * ticks_per_second;
            ticks
                .filter(|tick| {
                    let due = phases.is_due(7, tier, Tick(*tick), cadence);
                    phases.sent(if due { &[7] } else { &[] }, cadence);
                    due
                })
                .count()
        };
        (0..seconds).map(&mut second).collect()
    }

    #[test]
    fn a_tier_has_its_rate_in_every_second_and_never_more_than_the_ticks() {
        for ticks in [10, 20, 30, 40, 60] {
            let cadence = Cadence::hertz([30, 10, 3], ticks).unwrap();
            for (tier, rate) in [(Tier::High, 30), (Tier::Medium, 10), (Tier::Low, 3)] {
                assert_eq!(
                    updates(&cadence, tier, ticks, 4),
                    [rate.min(ticks) as usize; 4],
                    "{tier:?} at {ticks}"
                );
            }
        }
    }

    #[test]
    fn an_interval_without_a_phase_loses_a_third_of_the_updates() {
        let (mut last_sent_ms, mut literal) = (0.0, 0);
        for tick in 1..=400 {
            let now_ms = f64::from(tick) * 25.0;
            if now_ms - last_sent_ms >= 1000.0 / 30.0 {
                (last_sent_ms, literal) = (now_ms, literal + 1);
            }
        }
        assert_eq!(literal, 200, "in ten seconds, of 300");
        let cadence = Cadence::hertz([30, 10, 3], 40).unwrap();
        assert_eq!(updates(&cadence, Tier::High, 40, 10).iter().sum::<usize>(), 300);
    }

    #[test]
    fn ten_observers_of_one_object_all_get_its_updates_where_one_time_per_object_serves_the_first() {
        let cadence = Cadence::hertz([30, 10, 3], 20).unwrap();
        let mut observers = vec![Phases::new(); 10];
        observers.iter_mut().for_each(|phases| phases.enter(0, Tick(0), &cadence));
        let (mut ours, mut literal, mut last_sent_ms) = ([0; 10], [0; 10], -100);
        for tick in 1..=20u32 {
            for observer in 0..10 {
                let now_ms = (tick * 50) as i32;
                if now_ms - last_sent_ms >= 100 {
                    last_sent_ms = now_ms;
                    literal[observer] += 1;
                }
                if observers[observer].is_due(0, Tier::Medium, Tick(tick), &cadence) {
                    observers[observer].sent(&[0], &cadence);
                    ours[observer] += 1;
                }
            }
        }
        assert_eq!(literal, [10, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(ours, [10; 10]);
    }

    #[test]
    fn frames_are_every_first_second_and_fifth() {
        let cadence = Cadence::frames([1, 2, 5]).unwrap();
        assert_eq!(updates(&cadence, Tier::High, 10, 2), [10, 10]);
        assert_eq!(updates(&cadence, Tier::Medium, 10, 2), [5, 5]);
        assert_eq!(updates(&cadence, Tier::Low, 10, 2), [2, 2]);
    }

    #[test]
    fn slow_objects_are_spread_over_the_ticks() {
        let cadence = Cadence::frames([1, 2, 5]).unwrap();
        let mut phases = Phases::new();
        (0..100).for_each(|slot| phases.enter(slot, Tick(0), &cadence));
        for tick in 1..=20 {
            let due: Vec<u16> =
                (0..100).filter(|slot| phases.is_due(*slot, Tier::Low, Tick(tick), &cadence)).collect();
            phases.sent(&due, &cadence);
            assert!((10..=30).contains(&due.len()), "tick {tick}: {} of 100", due.len());
        }
    }

    #[test]
    fn an_object_that_rested_is_due_at_once_and_one_that_waited_does_not_burst() {
        let cadence = Cadence::hertz([30, 10, 3], 20).unwrap();
        let mut phases = Phases::new();
        phases.enter(0, Tick(0), &cadence);
        let bursts = (1000..1006).filter(|tick| {
            let due = phases.is_due(0, Tier::Low, Tick(*tick), &cadence);
            phases.sent(if due { &[0] } else { &[] }, &cadence);
            due
        });
        assert_eq!(bursts.collect::<Vec<_>>(), [1000, 1001]);
    }

    #[test]
    fn everything_is_due_without_rates_and_before_it_entered() {
        let mut phases = Phases::new();
        assert!(phases.is_due(3, Tier::Low, Tick(0), &Cadence::hertz([30, 10, 3], 20).unwrap()));
        assert_eq!(updates(&Cadence::EVERY_TICK, Tier::Low, 20, 2), [20, 20]);
    }

    #[test]
    fn rates_out_of_range_are_refused_by_name() {
        assert_eq!(Cadence::hertz([30, 10, 3], 0).unwrap_err().field, "ticks_per_second");
        assert_eq!(Cadence::hertz([30, 0, 3], 20).unwrap_err().field, "rates");
        assert_eq!(Cadence::frames([1, 2, 0]).unwrap_err().field, "periods");
    }

    #[test]
    fn gains_fall_into_tiers() {
        let tiers = Tiers::default();
        assert_eq!(
            [2.0, 1.0, 0.3, f32::NAN].map(|gain| tiers.tier(gain)),
            [Tier::High, Tier::Medium, Tier::Low, Tier::Low]
        );
    }
}
