//! How much time a client's commands may take.

use netloom_wire::Micros;

use super::account::Account;
use super::reason::Reason;
use netloom_replica::SettingError;

/// How far a client may be ahead of the server's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRule {
    /// What may be caught up on at once after a pause of the network: 1 ms to 10 s.
    pub slack: Micros,
}

impl Default for TimeRule {
    fn default() -> TimeRule {
        TimeRule { slack: Micros::from_millis(250) }
    }
}

impl TimeRule {
    /// Reports the first field that is out of its range.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::check(
            "time.slack",
            self.slack.0,
            1_000..=10_000_000,
            "1,000 to 10,000,000 microseconds",
        )
    }
}

/// The time that a client's commands may still take.
///
/// Whatever the commands claim, their sum since any moment is at most the server's time since then and the slack:
///
/// ```
/// use netloom_session::validate::{Reason, TimeBudget, TimeRule};
/// use netloom_wire::Micros;
///
/// let mut budget = TimeBudget::new(TimeRule { slack: Micros::from_millis(100) }, Micros::ZERO)?;
/// let command = Micros::from_millis(60);
/// assert_eq!(budget.spend(Micros::ZERO, command), Ok(()));
/// assert_eq!(budget.spend(Micros::ZERO, command), Err(Reason::TimeBudget));
/// assert_eq!(budget.spend(Micros::from_millis(20), command), Ok(()));
/// # Ok::<(), netloom_replica::SettingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TimeBudget {
    account: Account,
}

impl TimeBudget {
    /// A full budget.
    pub fn new(rule: TimeRule, now: Micros) -> Result<TimeBudget, SettingError> {
        rule.check()?;
        Ok(TimeBudget { account: Account::new(1, rule.slack.0, now) })
    }

    /// Pays for a command that claims to take so long. One that takes no time is refused: it would be free.
    pub fn spend(&mut self, now: Micros, duration: Micros) -> Result<(), Reason> {
        self.account.handle_time(now);
        let is_paid = duration > Micros::ZERO && self.account.spend(duration.0);
        if is_paid { Ok(()) } else { Err(Reason::TimeBudget) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_steady_client_is_never_refused_and_one_that_runs_fast_is() {
        let accepted = |per_second: u64| {
            let mut budget = TimeBudget::new(TimeRule::default(), Micros::ZERO).unwrap();
            let command = Micros(16_667);
            let times = (1..=per_second * 60).map(|number| Micros(number * 1_000_000 / per_second));
            times.filter(|now| budget.spend(*now, command).is_ok()).count()
        };
        // 60 × 16,667 µs are 20 µs a second more than a second, which the slack bears for hours.
        assert_eq!(accepted(60), 3_600);
        assert!((3_600..3_616).contains(&accepted(120)));
    }

    #[test]
    fn what_was_held_back_passes_up_to_the_slack() {
        let mut budget = TimeBudget::new(TimeRule::default(), Micros::ZERO).unwrap();
        let command = Micros::from_millis(10);
        let held_back = (0..100).filter(|_| budget.spend(Micros::from_secs(5), command).is_ok());
        assert_eq!(held_back.count(), 25);
    }

    #[test]
    fn a_command_without_time_and_a_slack_out_of_range_are_refused() {
        let mut budget = TimeBudget::new(TimeRule::default(), Micros::ZERO).unwrap();
        assert_eq!(budget.spend(Micros::ZERO, Micros::ZERO), Err(Reason::TimeBudget));
        let error = TimeBudget::new(TimeRule { slack: Micros::ZERO }, Micros::ZERO).unwrap_err();
        assert_eq!(error.field, "time.slack");
    }

    proptest! {
        #[test]
        fn no_commands_and_no_clock_take_more_than_the_servers_time_and_the_slack(
            steps in proptest::collection::vec((any::<u32>(), any::<bool>(), any::<u32>()), 1..100),
        ) {
            let (rule, start) = (TimeRule::default(), Micros::from_secs(10_000_000));
            let mut budget = TimeBudget::new(rule, start).unwrap();
            let (mut now, mut latest, mut spent) = (start, start, 0u64);
            for (step, goes_back, duration) in steps {
                now = if goes_back { now - Micros(step.into()) } else { now + Micros(step.into()) };
                latest = latest.max(now);
                if budget.spend(now, Micros(duration.into())).is_ok() {
                    spent += u64::from(duration);
                }
                prop_assert!(spent <= (latest - start + rule.slack).0);
            }
        }
    }
}
