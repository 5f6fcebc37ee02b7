//! What it means that snapshots arrived and said nothing of an object.
//!
//! The server sends nothing of what does not change, so silence should mean rest. But it also waits: after a state that got
//! lost until it knows of the loss, and after an object was told in full until it knows that this arrived. All that
//! while it says nothing, moving or not:
//!
//! ```text
//!   snapshots   │ A  │ ·  │ ·  │ ·           the one that was due next came without it: it rests
//!   snapshots   │ A  ×    │ ·  │ ·           that one got lost, and the next state may have been in it: not known
//!   snapshots   │ A in full  │ ·  │ ·        not known either
//!                                            a second of such snapshots is taken for rest all the same
//! ```

/// Snapshots that are remembered: more than the longest delay has.
const SNAPSHOTS: usize = 64;
/// Silent snapshots for so long prove rest.
pub const REST_US: i64 = 1_000_000;

/// That an object rested after a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// By the last snapshot.
    pub until_us: i64,
    /// By the last one before the first that got lost within the last second: what was in that one may have been waited
    /// for since.
    pub certain_us: i64,
}

/// The snapshots that arrived.
#[derive(Debug)]
pub struct Silence {
    /// Between two, if none gets lost.
    interval_us: i64,
    times_us: [i64; SNAPSHOTS],
    next: usize,
    newest_us: i64,
}

impl Silence {
    pub fn new(interval_us: i64) -> Silence {
        Silence { interval_us, times_us: [i64::MIN; SNAPSHOTS], next: 0, newest_us: i64::MIN }
    }

    pub fn insert(&mut self, time_us: i64) {
        if self.times_us.contains(&time_us) {
            return;
        }
        self.times_us[self.next] = time_us;
        self.next = (self.next + 1) % SNAPSHOTS;
        self.newest_us = self.newest_us.max(time_us);
    }

    /// Whether an object rests since a state of which the next is due after `interval_us`.
    pub fn is_rest(&self, state_us: i64, interval_us: i64, in_full: bool) -> bool {
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::RestUnnoticed) {
            return false;
        }
        let slack_us = interval_us / 4;
        let due_us = state_us.saturating_add(interval_us);
        self.newest_us >= due_us - slack_us && self.proves_rest(state_us, interval_us, in_full, i64::MAX)
    }

    /// What is known of an object between a state and a later one, with a snapshot in between.
    pub fn rest_until(&self, state_us: i64, interval_us: i64, in_full: bool, time_us: i64) -> Option<Rest> {
        if !self.proves_rest(state_us, interval_us, in_full, time_us) {
            return None;
        }
        let mut silent = [i64::MAX; SNAPSHOTS];
        let mut count = 0;
        for silent_us in
            self.times_us.into_iter().filter(|silent_us| (state_us + 1..time_us).contains(silent_us))
        {
            silent[count] = silent_us;
            count += 1;
        }
        silent[..count].sort_unstable();
        let until_us = *silent[..count].last()?;
        let mut certain_us = state_us;
        for &silent_us in silent[..count].iter().filter(|_| !in_full) {
            let has_gap = silent_us - certain_us > self.interval_us + self.interval_us / 2;
            if has_gap && time_us - silent_us < REST_US {
                break;
            }
            certain_us = silent_us;
        }
        Some(Rest { until_us, certain_us })
    }

    /// By the snapshots after a state and before a time.
    fn proves_rest(&self, state_us: i64, interval_us: i64, in_full: bool, until_us: i64) -> bool {
        let slack_us = interval_us / 4;
        let due = state_us + interval_us - slack_us..=state_us + interval_us + slack_us;
        let (mut first_us, mut last_us, mut count) = (i64::MAX, i64::MIN, 0);
        for time_us in
            self.times_us.iter().copied().filter(|time_us| (state_us + 1..until_us).contains(time_us))
        {
            if !in_full && due.contains(&time_us) {
                return true;
            }
            (first_us, last_us, count) = (first_us.min(time_us), last_us.max(time_us), count + 1);
        }
        count == SNAPSHOTS || (count > 0 && last_us - first_us >= REST_US)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL_US: i64 = 50_000;

    fn heard(ticks: impl IntoIterator<Item = i64>) -> Silence {
        let mut silence = Silence::new(INTERVAL_US);
        ticks.into_iter().for_each(|tick| silence.insert(tick * INTERVAL_US));
        silence
    }

    fn rests(silence: &Silence, in_full: bool) -> bool {
        silence.is_rest(10 * INTERVAL_US, INTERVAL_US, in_full)
    }

    #[test]
    fn the_snapshot_that_was_due_proves_rest_and_later_ones_do_not() {
        assert!(!rests(&heard(5..=10), false), "nothing was due yet");
        assert!(rests(&heard(5..=11), false));
        assert!(!rests(&heard([9, 10, 12, 13, 14]), false), "the next state may have been in what got lost");
        assert!(!rests(&heard(5..=20), true), "the server waits for news of what it told in full");
    }

    #[test]
    fn a_second_of_silence_proves_rest_and_a_second_without_snapshots_does_not() {
        assert!(rests(&heard(10..=31), true));
        assert!(rests(&heard((10..=11).chain(13..=33)), false));
        assert!(!rests(&heard([9, 10, 40, 41, 42]), false), "an outage is no silence");
    }

    #[test]
    fn rest_ends_with_the_last_snapshot_and_is_certain_until_one_got_lost() {
        let rest = |silence: &Silence, in_full| {
            let rest = silence.rest_until(10 * INTERVAL_US, INTERVAL_US, in_full, 18 * INTERVAL_US)?;
            Some((rest.until_us / INTERVAL_US, rest.certain_us / INTERVAL_US))
        };
        assert_eq!(rest(&heard(10..=18), false), Some((17, 17)));
        assert_eq!(rest(&heard([10, 11, 12, 14, 15, 16, 18]), false), Some((16, 12)));
        assert_eq!(rest(&heard(10..=18), true), None, "told in full, and nothing heard since");
        assert_eq!(rest(&heard([10, 18]), false), None);
    }
}
