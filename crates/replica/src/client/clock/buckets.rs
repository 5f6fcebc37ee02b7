//! The least delayed samples, and the line through them.

use netloom_wire::Micros;

use super::signed;

/// One best sample for so long.
const BUCKET_US: u64 = 2_000_000;
/// A minute of best samples: enough that 80 ms of jitter leaves some 50 ppm of doubt about the slope.
const BUCKETS: usize = 32;
/// Samples that decide about the offset.
const RECENT: usize = 4;
const RECENT_US: i64 = RECENT as i64 * BUCKET_US as i64;
/// With fewer, jitter would say more about the slope than the clocks do.
const DRIFT_BUCKETS_MIN: usize = 16;
/// No quartz is this far off; 200 ppm is a bad one.
const DRIFT_MAX: f64 = 1e-3;

#[derive(Clone, Copy, Debug, Default)]
struct Best {
    number: u64,
    at_us: i64,
    offset: i64,
}

/// The best samples in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Buckets {
    ring: [Best; BUCKETS],
    count: usize,
    newest: usize,
    drift: f64,
    /// The offset when it was last known: holds while nothing arrives.
    line: Option<(i64, i64)>,
}

impl Buckets {
    pub fn insert(&mut self, now: Micros, offset: i64) {
        let (number, at_us) = (now.0 / BUCKET_US, signed(now));
        let sample = Best { number, at_us, offset };
        if self.count > 0 && self.ring[self.newest].number == number {
            let best = &mut self.ring[self.newest];
            if offset > best.offset {
                *best = sample;
            }
        } else {
            self.measure_drift();
            self.newest = if self.count == 0 { 0 } else { (self.newest + 1) % BUCKETS };
            self.count = (self.count + 1).min(BUCKETS);
            self.ring[self.newest] = sample;
        }
        self.line = self.second_best(at_us).map(|offset| (at_us, offset));
    }

    /// Forgets the samples; the clocks still drift as they did.
    pub fn restart(&mut self) {
        (self.count, self.newest, self.line) = (0, 0, None);
    }

    /// The other clock runs faster by this part.
    pub fn drift(&self) -> f64 {
        self.drift
    }

    /// Where the line is.
    pub fn offset_at(&self, now: Micros) -> Option<i64> {
        let (at_us, offset) = self.line?;
        Some(offset + self.drifted(at_us, signed(now)))
    }

    fn drifted(&self, from_us: i64, to_us: i64) -> i64 {
        ((to_us - from_us).max(0) as f64 * self.drift) as i64
    }

    fn second_best(&self, at_us: i64) -> Option<i64> {
        let (mut best, mut second) = (None, None);
        for sample in (0..self.count.min(RECENT)).map(|back| self.before_newest(back)) {
            if at_us.saturating_sub(sample.at_us) > RECENT_US {
                break;
            }
            let offset = Some(sample.offset + self.drifted(sample.at_us, at_us));
            if offset > best {
                (best, second) = (offset, best);
            } else {
                second = second.max(offset);
            }
        }
        second.or(best)
    }

    fn before_newest(&self, back: usize) -> Best {
        self.ring[(self.newest + BUCKETS - back) % BUCKETS]
    }

    fn measure_drift(&mut self) {
        if self.count < DRIFT_BUCKETS_MIN {
            return;
        }
        let half = self.count / 2;
        let mut slopes = [0.0; BUCKETS];
        let mut found = 0;
        for back in 0..half {
            let (later, earlier) = (self.before_newest(back), self.before_newest(back + half));
            let apart_us = (later.at_us - earlier.at_us) as f64;
            let slope = (later.offset - earlier.offset) as f64 / apart_us.max(1.0);
            if apart_us > 2.0 * BUCKET_US as f64 && slope.abs() <= DRIFT_MAX {
                slopes[found] = slope;
                found += 1;
            }
        }
        if found * 2 >= half {
            let (_, median, _) = slopes[..found].select_nth_unstable_by(found / 2, f64::total_cmp);
            self.drift = *median;
        }
    }
}
