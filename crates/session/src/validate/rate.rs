//! How often a client may do something.

use netloom_wire::Micros;

use super::account::Account;
use super::reason::Reason;
use netloom_replica::SettingError;

/// One action in the unit of the account: a microsecond earns as many of them as a second allows, so nothing is rounded.
const ACTION: u64 = 1_000_000;

/// So many per second, and some at once.
///
/// Of any length of time t, at most `burst + per_second · t` pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateRule {
    /// Actions per second in the long run: 1 to 100,000.
    pub per_second: u32,
    /// Actions at once after a pause, when the network delivers what it held back: 1 to 100,000.
    pub burst: u32,
}

impl RateRule {
    /// Inputs of a client: 100 per second, and half a second's worth at once.
    pub const INPUTS: RateRule = RateRule { per_second: 100, burst: 50 };

    /// Reports the first field that is out of its range.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::check("rate.per_second", self.per_second, 1..=100_000, "1 to 100,000")?;
        SettingError::check("rate.burst", self.burst, 1..=100_000, "1 to 100,000")
    }
}

/// How many actions of one kind a client may still take. It counts by the time of receipt at the server, and is as large for
/// a flood as for nothing.
#[derive(Clone, Debug)]
pub struct ActionRate {
    account: Account,
}

impl ActionRate {
    /// With a whole burst to begin with.
    pub fn new(rule: RateRule, now: Micros) -> Result<ActionRate, SettingError> {
        rule.check()?;
        let burst = u64::from(rule.burst) * ACTION;
        Ok(ActionRate { account: Account::new(rule.per_second.into(), burst, now) })
    }

    /// Counts one action that arrived now.
    pub fn take(&mut self, now: Micros) -> Result<(), Reason> {
        self.account.handle_time(now);
        if self.account.spend(ACTION) { Ok(()) } else { Err(Reason::TooOften) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_hundred_inputs_a_second_pass_for_ever_and_no_more() {
        let mut inputs = ActionRate::new(RateRule::INPUTS, Micros::ZERO).unwrap();
        let is_steady = (0..360_000).all(|number| inputs.take(Micros(number * 10_000)).is_ok());
        assert!(is_steady, "an hour of them");
        let mut inputs = ActionRate::new(RateRule::INPUTS, Micros::ZERO).unwrap();
        let flood = (0..100_000).filter(|number| inputs.take(Micros(number * 100)).is_ok()).count();
        assert_eq!(flood, 50 + 999, "of 10,000 a second for ten seconds");
    }

    #[test]
    fn a_rule_out_of_range_is_named() {
        for (field, rule) in [
            ("rate.per_second", RateRule { per_second: 0, burst: 1 }),
            ("rate.burst", RateRule { per_second: 1, burst: 0 }),
        ] {
            assert_eq!(ActionRate::new(rule, Micros::ZERO).unwrap_err().field, field);
        }
    }

    proptest! {
        #[test]
        fn no_length_of_time_has_more_than_the_burst_and_the_rate(
            per_second in 1u32..500, burst in 1u32..50, gaps in proptest::collection::vec(0u64..40_000, 1..200),
        ) {
            let start = Micros::from_secs(3_000_000_000);
            let mut rate = ActionRate::new(RateRule { per_second, burst }, start).unwrap();
            let mut now = start;
            let mut taken = Vec::new();
            for gap in gaps {
                now += Micros(gap);
                if rate.take(now).is_ok() {
                    taken.push(now);
                }
            }
            for (first, from) in taken.iter().enumerate() {
                for (count, to) in taken[first..].iter().enumerate() {
                    let allowed = u64::from(burst) * ACTION + (*to - *from).0 * u64::from(per_second);
                    prop_assert!((count as u64 + 1) * ACTION <= allowed);
                }
            }
        }
    }
}
