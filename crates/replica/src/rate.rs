//! Which step is when: the one place where numbers of steps or ticks become times and the other way round.
//!
//! Step 0 is at zero, and a second has a whole number of them. The length of a step is usually no whole number of
//! microseconds, so nothing is ever counted in lengths: a step of number n is at n seconds divided by the rate, rounded up.
//! Rounded up, and not down, because then the step at the time of a step is that step again:
//!
//! ```text
//!   60 a second    step     0         1         2
//!                  µs       0         16,667    33,334       the step at 16,667 µs is 1, at 16,666 µs it is 0
//! ```

use netloom_wire::Micros;

use crate::setting::SettingError;

const SECOND_US: u128 = 1_000_000;

/// Steps or ticks a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(u32);

impl Rate {
    /// 1 to 1,000; `field` is what a user calls it.
    pub fn new(field: &'static str, per_second: u32) -> Result<Rate, SettingError> {
        SettingError::check(field, per_second, 1..=1_000, "1 to 1,000")?;
        Ok(Rate(per_second))
    }

    /// When a step is.
    pub fn time_of(self, step: u64) -> Micros {
        let micros = (u128::from(step) * SECOND_US).div_ceil(self.0.into());
        Micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    /// The newest step that is not later.
    pub fn step_at(self, time: Micros) -> u64 {
        parts_at(time, self.0, 1)
    }

    /// How many steps a time has, the last one begun and not ended counted as one.
    pub fn steps_within(self, time: Micros) -> u64 {
        if time == Micros::ZERO { 0 } else { self.step_at(time - Micros(1)) + 1 }
    }

    /// How long a step is, in microseconds.
    pub fn step_us(self) -> f64 {
        1e6 / f64::from(self.0)
    }
}

/// The steps that have begun by a time, in parts of which each has so many. Beyond 64 bits is the end of time.
pub fn parts_at(time: Micros, per_second: u32, parts: u32) -> u64 {
    let parts = u128::from(time.0) * u128::from(per_second) * u128::from(parts) / SECOND_US;
    u64::try_from(parts).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_step_at_the_time_of_a_step_is_that_step_and_just_before_it_the_one_before(
            per_second in 1u32..=1_000, step in 1u64..1 << 40,
        ) {
            let rate = Rate::new("rate", per_second).unwrap();
            let time = rate.time_of(step);
            prop_assert_eq!(rate.step_at(time), step);
            prop_assert_eq!(rate.step_at(time - Micros(1)), step - 1);
            prop_assert_eq!(parts_at(time, per_second, 256) >> 8, step);
        }
    }

    #[test]
    fn a_step_that_has_begun_counts_as_one() {
        let rate = Rate::new("rate", 60).unwrap();
        let steps =
            [0, 1, 16_666, 16_667, 16_668, 1_000_000, 1_000_001].map(|us| rate.steps_within(Micros(us)));
        assert_eq!(steps, [0, 1, 1, 1, 2, 60, 61]);
    }

    #[test]
    fn the_end_of_time_is_no_overflow() {
        let rate = Rate::new("rate", 1_000).unwrap();
        assert_eq!(rate.time_of(u64::MAX), Micros::MAX);
        assert_eq!(Rate::new("rate", 1).unwrap().time_of(u64::MAX), Micros::MAX);
        assert_eq!(parts_at(Micros::MAX, 1_000, u32::MAX), u64::MAX);
        assert!(Rate::new("rate", 0).is_err() && Rate::new("rate", 1_001).is_err());
    }
}
