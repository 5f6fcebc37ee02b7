//! How long ticks take.

use std::sync::atomic::{AtomicU64, Ordering};

use netloom_wire::Micros;

/// Where one bucket ends and the next begins, in microseconds; the last bucket has no end. Close enough for a percentile to mean
/// something, and with an end at a sixtieth and a thirtieth of a second, where a step takes all the time that there is.
pub const TICK_BUCKETS_US: [u64; 24] = [
    20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 7_500, 10_000, 16_667,
    25_000, 33_333, 50_000, 100_000, 250_000, 1_000_000,
];
const BUCKETS: usize = TICK_BUCKETS_US.len() + 1;

/// Counts of ticks, written by one thread and read by any.
#[derive(Debug)]
pub(super) struct Histogram {
    counts: [AtomicU64; BUCKETS],
    total_us: AtomicU64,
    longest_us: AtomicU64,
}

/// How long ticks took so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TickTimes {
    /// Ticks that took up to each of [`TICK_BUCKETS_US`] and more than the one before; then those that took longer.
    pub counts: [u64; BUCKETS],
    /// What they took together.
    pub total: Micros,
    /// The longest.
    pub longest: Micros,
}

impl TickTimes {
    /// Ticks in all.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Those since it was like this. Which of them was the longest is not known.
    #[must_use]
    pub fn since(&self, earlier: &TickTimes) -> TickTimes {
        let mut counts = self.counts;
        counts.iter_mut().zip(earlier.counts).for_each(|(count, before)| *count -= before);
        TickTimes { counts, total: self.total - earlier.total, longest: self.longest }
    }

    /// These and others.
    #[must_use]
    pub fn and(&self, other: &TickTimes) -> TickTimes {
        let mut counts = self.counts;
        counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        TickTimes { counts, total: self.total + other.total, longest: self.longest.max(other.longest) }
    }

    /// The end of the bucket below which this share of the ticks lies: an upper bound, or the longest beyond the last.
    pub fn quantile(&self, share: f64) -> Micros {
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (count, end) in self.counts.iter().zip(TICK_BUCKETS_US) {
            seen += count;
            if seen >= wanted {
                return Micros(end).min(self.longest);
            }
        }
        self.longest
    }
}

impl Histogram {
    pub fn new() -> Histogram {
        Histogram {
            counts: [const { AtomicU64::new(0) }; BUCKETS],
            total_us: AtomicU64::new(0),
            longest_us: AtomicU64::new(0),
        }
    }

    pub fn count(&self, took: Micros) {
        let bucket = TICK_BUCKETS_US.partition_point(|end| *end < took.0);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.total_us.fetch_add(took.0, Ordering::Relaxed);
        self.longest_us.fetch_max(took.0, Ordering::Relaxed);
    }

    pub fn read(&self) -> TickTimes {
        TickTimes {
            counts: self.counts.each_ref().map(|count| count.load(Ordering::Relaxed)),
            total: Micros(self.total_us.load(Ordering::Relaxed)),
            longest: Micros(self.longest_us.load(Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_belongs_to_the_first_bucket_that_holds_it() {
        let histogram = Histogram::new();
        for took in [0, 20, 21, 500, 1_000_001] {
            histogram.count(Micros(took));
        }
        let times = histogram.read();
        let mut expected = [0; BUCKETS];
        (expected[0], expected[1], expected[8], expected[24]) = (2, 1, 1, 1);
        assert_eq!(times.counts, expected);
        assert_eq!((times.count(), times.total), (5, Micros(1_000_542)));
        assert_eq!(times.quantile(0.5), Micros(30));
        assert_eq!(times.quantile(1.0), Micros(1_000_001));
        histogram.count(Micros(40));
        let since = histogram.read().since(&times);
        assert_eq!((since.count(), since.total, since.quantile(0.99)), (1, Micros(40), Micros(50)));
        assert_eq!(since.and(&times), histogram.read());
    }
}
