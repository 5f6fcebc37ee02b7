//! Round-trip time: how long to wait for an ack, and how far away the peer really is.
//!
//! Two questions are asked of the same samples. Resending needs a *typical* round trip and its spread, so that a
//! packet is neither given up too early nor waited for too long (RFC 6298). Congestion control needs the *least*
//! round trip the path has shown lately, because whatever a sample has above it was spent in queues:
//!
//! ```text
//!   rtt │      ·  ·                latest
//!       │ ·  ·      ·  · ·
//!       │───────────────────────   smoothed  (retransmission timeout = smoothed + 4 × variance)
//!       │    ·          ·   ·  ·
//!       │───────────────────────   min       (of the last ten seconds: distance without queues)
//!       └──────────────────────── time
//! ```
//!
//! The minimum is forgotten after [`MIN_RTT_WINDOW`], so that a route that became longer is not taken for a queue
//! forever.

use netloom_wire::Micros;

/// The retransmission timeout before the first sample. RFC 6298 says one second; a game's handshake resends every
/// 250 ms and a lost first message should not wait four times as long. It costs at most a few needless resends.
pub const INITIAL_RTO: Micros = Micros::from_millis(250);

/// How long a low round trip is remembered as the path's distance.
pub const MIN_RTT_WINDOW: Micros = Micros(MIN_RTT_SLOT.0 * MIN_RTT_SLOTS as u64);

/// The least spread the timeout allows for: the resolution of a driver's timer.
const GRANULARITY: Micros = Micros::from_millis(1);

/// Larger samples are clamped: no usable path is slower, and the arithmetic below stays far from its limits.
const RTT_SAMPLE_MAX: Micros = Micros::from_secs(60);

const MIN_RTT_SLOT: Micros = Micros::from_secs(1);
const MIN_RTT_SLOTS: usize = 10;

/// Estimates of one path's round-trip time, fed by acks.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct RttEstimator {
    latest: Option<Micros>,
    /// Times eight, so that the integer average does not lose the remainders.
    smoothed_x8: u64,
    /// Times four.
    variance_x4: u64,
    /// Times sixteen.
    jitter_x16: u64,
    min: WindowedMin,
}

impl RttEstimator {
    /// An estimator without samples.
    pub fn new() -> RttEstimator {
        RttEstimator { latest: None, smoothed_x8: 0, variance_x4: 0, jitter_x16: 0, min: WindowedMin::EMPTY }
    }

    /// Takes in one measured round trip.
    pub fn handle_sample(&mut self, now: Micros, rtt: Micros) {
        let rtt = rtt.min(RTT_SAMPLE_MAX);
        match self.latest {
            None => {
                self.smoothed_x8 = rtt.0 * 8;
                self.variance_x4 = rtt.0 * 2;
            }
            Some(latest) => {
                let deviation = rtt.0.abs_diff(self.smoothed_x8 / 8);
                self.variance_x4 = self.variance_x4 - self.variance_x4 / 4 + deviation;
                self.smoothed_x8 = self.smoothed_x8 - self.smoothed_x8 / 8 + rtt.0;
                self.jitter_x16 = self.jitter_x16 - self.jitter_x16 / 16 + rtt.0.abs_diff(latest.0);
            }
        }
        self.latest = Some(rtt);
        self.min.insert(now, rtt);
    }

    /// The smoothed round trip; `None` before the first sample.
    pub fn smoothed(&self) -> Option<Micros> {
        self.latest.map(|_| Micros(self.smoothed_x8 / 8))
    }

    /// The mean deviation from the smoothed round trip.
    pub fn variance(&self) -> Micros {
        Micros(self.variance_x4 / 4)
    }

    /// The newest sample; `None` before the first.
    pub fn latest(&self) -> Option<Micros> {
        self.latest
    }

    /// The least sample of the last [`MIN_RTT_WINDOW`]; `None` before the first. It stays while no samples come.
    pub fn min(&self) -> Option<Micros> {
        self.min.value()
    }

    /// The mean difference between consecutive samples, smoothed over sixteen as in RFC 3550.
    pub fn jitter(&self) -> Micros {
        Micros(self.jitter_x16 / 16)
    }

    /// How long to wait for an ack before a packet counts as lost, within `floor` and `ceiling` (the ceiling wins).
    pub fn rto(&self, floor: Micros, ceiling: Micros) -> Micros {
        let timeout = match self.smoothed() {
            None => INITIAL_RTO,
            Some(smoothed) => smoothed + Micros(self.variance_x4).max(GRANULARITY),
        };
        timeout.max(floor).min(ceiling)
    }

    /// Forgets the minimum and starts again from `rtt`: the path itself became longer.
    pub(super) fn restart_min(&mut self, now: Micros, rtt: Micros) {
        self.min = WindowedMin::EMPTY;
        self.min.insert(now, rtt);
    }
}

impl Default for RttEstimator {
    fn default() -> RttEstimator {
        RttEstimator::new()
    }
}

/// The minimum over a sliding window, kept as one minimum per second in a ring.
#[derive(Clone, Debug)]
struct WindowedMin {
    slots: [Micros; MIN_RTT_SLOTS],
    /// The number of the slot being filled, counted from time zero.
    newest: u64,
}

impl WindowedMin {
    const EMPTY: WindowedMin = WindowedMin { slots: [Micros::MAX; MIN_RTT_SLOTS], newest: 0 };

    fn insert(&mut self, now: Micros, value: Micros) {
        let slot = now.0 / MIN_RTT_SLOT.0;
        let passed = slot.saturating_sub(self.newest);
        // A clock that stepped back restarts the count, else the window would stand still until it caught up.
        self.newest = slot;
        if passed > 0 {
            let passed = usize::try_from(passed).unwrap_or(MIN_RTT_SLOTS).min(MIN_RTT_SLOTS);
            self.slots.rotate_right(passed);
            self.slots[..passed].fill(Micros::MAX);
        }
        let current = &mut self.slots[0];
        *current = value.min(*current);
    }

    fn value(&self) -> Option<Micros> {
        self.slots.iter().copied().min().filter(|least| *least != Micros::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FLOOR: Micros = Micros::from_millis(10);
    const CEILING: Micros = Micros::from_secs(3);

    fn ms(ms: u64) -> Micros {
        Micros::from_millis(ms)
    }

    #[test]
    fn timeout_before_the_first_sample_is_the_initial_one_within_bounds() {
        let rtt = RttEstimator::new();
        assert_eq!(rtt.smoothed(), None);
        assert_eq!(rtt.rto(FLOOR, CEILING), INITIAL_RTO);
        assert_eq!(rtt.rto(ms(400), CEILING), ms(400));
        assert_eq!(rtt.rto(FLOOR, ms(100)), ms(100));
    }

    #[test]
    fn first_sample_sets_the_timeout_to_three_times_itself() {
        let mut rtt = RttEstimator::new();
        rtt.handle_sample(ms(1), ms(80));
        assert_eq!(rtt.smoothed(), Some(ms(80)));
        assert_eq!(rtt.variance(), ms(40));
        assert_eq!(rtt.rto(FLOOR, CEILING), ms(240));
    }

    #[test]
    fn steady_samples_narrow_the_timeout_to_the_round_trip() {
        let mut rtt = RttEstimator::new();
        for step in 0..200 {
            rtt.handle_sample(ms(step), ms(80));
        }
        assert_eq!(rtt.smoothed(), Some(ms(80)));
        assert_eq!(rtt.jitter(), Micros::ZERO);
        assert_eq!(rtt.rto(FLOOR, CEILING), ms(81));
    }

    #[test]
    fn jitter_is_the_mean_step_between_samples() {
        let mut rtt = RttEstimator::new();
        for step in 0..400 {
            rtt.handle_sample(ms(step), if step % 2 == 0 { ms(50) } else { ms(70) });
        }
        assert!(rtt.jitter().0.abs_diff(20_000) < 100, "jitter {:?}", rtt.jitter());
    }

    #[test]
    fn minimum_is_forgotten_after_its_window_but_not_before() {
        let mut rtt = RttEstimator::new();
        rtt.handle_sample(ms(500), ms(20));
        for second in 1..10 {
            rtt.handle_sample(Micros::from_secs(second), ms(60));
            assert_eq!(rtt.min(), Some(ms(20)));
        }
        rtt.handle_sample(Micros::from_secs(10), ms(60));
        assert_eq!(rtt.min(), Some(ms(60)));
    }

    #[test]
    fn minimum_survives_a_clock_that_jumps_back_and_still_expires() {
        let mut rtt = RttEstimator::new();
        rtt.handle_sample(Micros::from_secs(9_000), ms(20));
        for second in 100..=110 {
            rtt.handle_sample(Micros::from_secs(second), ms(60));
        }
        assert_eq!(rtt.min(), Some(ms(60)));
    }

    proptest! {
        #[test]
        fn any_samples_keep_the_estimates_between_least_and_greatest(
            samples in prop::collection::vec((any::<u64>(), any::<u64>()), 1..100)
        ) {
            let mut rtt = RttEstimator::new();
            for (now, sample) in &samples {
                rtt.handle_sample(Micros(*now), Micros(*sample));
                let smoothed = rtt.smoothed().unwrap();
                prop_assert!(smoothed <= RTT_SAMPLE_MAX);
                prop_assert!(rtt.min().unwrap() <= rtt.latest().unwrap());
                prop_assert!(rtt.jitter() <= RTT_SAMPLE_MAX);
                let rto = rtt.rto(FLOOR, CEILING);
                prop_assert!((FLOOR..=CEILING).contains(&rto));
            }
        }
    }
}
