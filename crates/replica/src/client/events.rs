//! Things that happen once, shown when the view gets there.
//!
//! A hit, a sound or a call arrives as soon as it can, while what is seen lies behind by the delay of the view. Shown at
//! once, the explosion comes before the shell. So an event may carry the server time at which it happened and wait until
//! the view shows that time; another one, which concerns no motion, is given at once. The game says which.
//!
//! ```text
//!   arrived   chat          hit at 5.20 s                view time ──▶ 5.10   5.15   5.20
//!   given     chat ▲ at once                                                          hit ▲
//! ```
//!
//! Events of one time keep the order in which they came. One whose time has passed when it arrives is given at once, and
//! says how late it is. The queue is bounded in number and in how far ahead a time may lie: a server that names a time
//! hours away cannot fill it.

use std::collections::VecDeque;

use netloom_wire::Micros;

use crate::setting::SettingError;

/// The most events that can be made to wait.
pub const EVENTS_MAX: usize = 65_536;

/// When an event is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At the next poll.
    OnArrival,
    /// When the view reaches the time of the event.
    AtView,
}

/// Bounds of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewEventsConfig {
    /// Events that wait, 1 to [`EVENTS_MAX`].
    pub waiting_max: usize,
    /// How far ahead of the view the time of an event may lie: 1 ms to 60 s.
    pub ahead_max: Micros,
}

impl Default for ViewEventsConfig {
    fn default() -> ViewEventsConfig {
        ViewEventsConfig { waiting_max: 1_024, ahead_max: Micros::from_secs(2) }
    }
}

/// Why an event was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventRefused {
    /// Too many wait.
    #[error("{waiting_max} events wait already: poll more often, or allow more with waiting_max")]
    Full {
        /// The bound.
        waiting_max: usize,
    },
    /// Its time is too far away.
    #[error("the event lies {} µs ahead of the view, at most {} are allowed: is it stamped in the server's time?", ahead.0, ahead_max.0)]
    TooFarAhead {
        /// How far.
        ahead: Micros,
        /// The bound.
        ahead_max: Micros,
    },
}

/// What became of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounters {
    /// Given when the view reached them, or on arrival if they wished so.
    pub given: u64,
    /// Given on arrival because their time had passed.
    pub late: u64,
    /// Refused because too many waited.
    pub refused_full: u64,
    /// Refused because they were too far ahead.
    pub refused_ahead: u64,
}

/// An event that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueEvent<E> {
    /// The server time at which it happened.
    pub time: Micros,
    /// By how much that had passed already when it arrived; zero unless it waits for the view.
    pub late: Micros,
    /// What happened.
    pub payload: E,
}

/// Events that wait for the view. See the [module](self).
///
/// ```
/// use netloom_replica::client::{ViewEvents, ViewEventsConfig, When};
/// use netloom_wire::Micros;
///
/// let mut events = ViewEvents::new(ViewEventsConfig::default())?;
/// let view_time = Micros::from_millis(5_100);
/// events.push(view_time, Micros::from_millis(5_200), When::AtView, "hit")?;
/// events.push(view_time, Micros::from_millis(5_200), When::OnArrival, "chat")?;
///
/// assert_eq!(events.poll(Micros::from_millis(5_110)).map(|due| due.payload), Some("chat"));
/// assert_eq!(events.poll(Micros::from_millis(5_199)), None);
/// assert_eq!(events.poll(Micros::from_millis(5_200)).map(|due| due.payload), Some("hit"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ViewEvents<E> {
    config: ViewEventsConfig,
    /// By the time at which they are due.
    waiting: VecDeque<Waiting<E>>,
    counters: EventCounters,
}

#[derive(Clone, Debug)]
struct Waiting<E> {
    due: Micros,
    event: DueEvent<E>,
}

impl<E> ViewEvents<E> {
    /// An empty queue.
    pub fn new(config: ViewEventsConfig) -> Result<ViewEvents<E>, SettingError> {
        SettingError::check("waiting_max", config.waiting_max, 1..=EVENTS_MAX, "1 to 65,536")?;
        SettingError::check("ahead_max", config.ahead_max.0, 1_000..=60_000_000, "1,000 to 60,000,000 µs")?;
        let waiting = VecDeque::with_capacity(config.waiting_max);
        Ok(ViewEvents { config, waiting, counters: EventCounters::default() })
    }

    /// An event of `time` arrived while the view shows `view_time`.
    pub fn push(
        &mut self,
        view_time: Micros,
        time: Micros,
        when: When,
        payload: E,
    ) -> Result<(), EventRefused> {
        let ahead = time.since(view_time);
        let ahead_max = self.config.ahead_max;
        if when == When::AtView && ahead > ahead_max {
            self.counters.refused_ahead += 1;
            return Err(EventRefused::TooFarAhead { ahead, ahead_max });
        }
        let waiting_max = self.config.waiting_max;
        if self.waiting.len() >= waiting_max {
            self.counters.refused_full += 1;
            return Err(EventRefused::Full { waiting_max });
        }
        let (due, late) = match when {
            When::OnArrival => (Micros::ZERO, Micros::ZERO),
            When::AtView => (time, view_time.since(time)),
        };
        let place = self.waiting.partition_point(|other| other.due <= due);
        #[cfg(netloom_mutations)]
        let is_turned = crate::mutation::is(crate::mutation::Mutation::EventOrderTurned);
        #[cfg(netloom_mutations)]
        let place = if is_turned { self.waiting.partition_point(|other| other.due < due) } else { place };
        self.waiting.insert(place, Waiting { due, event: DueEvent { time, late, payload } });
        Ok(())
    }

    /// The next event that is due when the view shows `view_time`.
    pub fn poll(&mut self, view_time: Micros) -> Option<DueEvent<E>> {
        #[cfg(netloom_mutations)]
        let is_unawaited = crate::mutation::is(crate::mutation::Mutation::EventUnawaited);
        #[cfg(netloom_mutations)]
        let view_time = if is_unawaited { Micros::MAX } else { view_time };
        let waiting = self.waiting.pop_front_if(|waiting| waiting.due <= view_time)?;
        self.counters.given += 1;
        self.counters.late += u64::from(waiting.event.late > Micros::ZERO);
        Some(waiting.event)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// What became of them.
    pub fn counters(&self) -> EventCounters {
        self.counters
    }

    /// Forgets all of them, as after a break of the clock.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn queue(waiting_max: usize) -> ViewEvents<usize> {
        ViewEvents::new(ViewEventsConfig { waiting_max, ahead_max: Micros(2_000_000) }).unwrap()
    }

    #[test]
    fn bounds_outside_their_range_are_refused_by_name() {
        let with =
            |waiting_max, ahead_max| ViewEvents::<()>::new(ViewEventsConfig { waiting_max, ahead_max });
        let error = with(0, Micros(1_000)).unwrap_err().to_string();
        assert_eq!(error, "waiting_max = 0 is not allowed: use 1 to 65,536");
        let error = with(1, Micros(999)).unwrap_err().to_string();
        assert_eq!(error, "ahead_max = 999 is not allowed: use 1,000 to 60,000,000 µs");
    }

    #[test]
    fn a_full_queue_and_a_time_far_ahead_are_refused_and_counted() {
        let mut events = queue(2);
        let far = events.push(Micros(0), Micros(2_000_001), When::AtView, 0);
        let (ahead, ahead_max) = (Micros(2_000_001), Micros(2_000_000));
        assert_eq!(far, Err(EventRefused::TooFarAhead { ahead, ahead_max }));
        events.push(Micros(0), Micros(2_000_001), When::OnArrival, 1).unwrap();
        events.push(Micros(0), Micros(2_000_000), When::AtView, 2).unwrap();
        let full = events.push(Micros(0), Micros(5), When::AtView, 3);
        assert_eq!(full, Err(EventRefused::Full { waiting_max: 2 }));
        let counters = events.counters();
        assert_eq!((counters.refused_ahead, counters.refused_full, events.len()), (1, 1, 2));
    }

    #[test]
    fn one_that_comes_too_late_is_given_at_once_and_says_so() {
        let mut events = queue(8);
        events.push(Micros(500), Micros(400), When::AtView, 7).unwrap();
        let due = events.poll(Micros(500)).unwrap();
        assert_eq!((due.time, due.late, due.payload), (Micros(400), Micros(100), 7));
        assert_eq!(events.counters().late, 1);
    }

    proptest! {
        #[test]
        fn each_is_given_once_in_order_and_not_before_its_time(
            times in prop::collection::vec((0u64..1_000, any::<bool>()), 0..60), step in 1u64..300,
        ) {
            let mut events = queue(64);
            for (number, &(time, at_view)) in times.iter().enumerate() {
                let when = if at_view { When::AtView } else { When::OnArrival };
                events.push(Micros(0), Micros(time), when, number).unwrap();
            }
            let mut given = Vec::new();
            let mut view_time = Micros(0);
            while view_time.0 < 1_400 {
                while let Some(due) = events.poll(view_time) {
                    let (time, at_view) = times[due.payload];
                    prop_assert!(!at_view || time <= view_time.0 && view_time.0 < time + step || view_time.0 == 0);
                    given.push(due.payload);
                }
                view_time += Micros(step);
            }
            let due_of = |number: &usize| if times[*number].1 { times[*number].0 } else { 0 };
            let mut expected: Vec<usize> = (0..times.len()).collect();
            expected.sort_by_key(due_of);
            prop_assert_eq!(given, expected);
        }
    }
}
