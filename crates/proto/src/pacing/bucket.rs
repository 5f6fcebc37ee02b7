//! A token bucket: turns "so many bytes per second" into "so many bytes now".
//!
//! Tokens are counted in millionths of a byte, so that rate × elapsed microseconds is exact and nothing is lost to
//! rounding however often the bucket is asked.

use netloom_wire::Micros;

/// Millionths per byte.
const SCALE: u64 = 1_000_000;

/// Bytes a sender may have in hand. Sending more than that is allowed (an ack must not wait) and leaves a debt.
#[derive(Clone, Debug)]
pub(super) struct TokenBucket {
    tokens: i64,
    refilled_at: Micros,
}

impl TokenBucket {
    /// A full bucket.
    pub(super) fn new(now: Micros, capacity: u64) -> TokenBucket {
        TokenBucket { tokens: scaled(capacity), refilled_at: now }
    }

    /// Credits the time since the last call. A clock that stepped back credits nothing and restarts from there.
    pub(super) fn refill(&mut self, now: Micros, rate: u64, capacity: u64) {
        self.tokens = self.tokens_at(now, rate, capacity);
        self.refilled_at = now;
    }

    /// Takes `bytes` out. The debt is bounded by one more bucketful, so that a caller who ignores the budget for a
    /// while is not silenced for long afterwards.
    pub(super) fn take(&mut self, bytes: u64, capacity: u64) {
        self.tokens = self.tokens.saturating_sub(scaled(bytes)).max(-scaled(capacity));
    }

    /// Whole bytes that may be sent at `now`.
    pub(super) fn available(&self, now: Micros, rate: u64, capacity: u64) -> u64 {
        u64::try_from(self.tokens_at(now, rate, capacity)).unwrap_or(0) / SCALE
    }

    /// When `bytes` will be available, or as many as the bucket can ever hold.
    pub(super) fn ready_at(&self, now: Micros, bytes: u64, rate: u64, capacity: u64) -> Micros {
        let missing = scaled(bytes.min(capacity)).saturating_sub(self.tokens_at(now, rate, capacity));
        match u64::try_from(missing) {
            Ok(missing) => now + Micros(missing.div_ceil(rate.max(1))),
            Err(_) => now,
        }
    }

    fn tokens_at(&self, now: Micros, rate: u64, capacity: u64) -> i64 {
        let credit = i64::try_from(rate.saturating_mul(now.since(self.refilled_at).0)).unwrap_or(i64::MAX);
        self.tokens.saturating_add(credit).min(scaled(capacity))
    }
}

fn scaled(bytes: u64) -> i64 {
    i64::try_from(bytes.saturating_mul(SCALE)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u64 = 120_000;
    const CAPACITY: u64 = 2_400;

    #[test]
    fn ready_time_is_exactly_when_the_bytes_are_available() {
        let start = Micros::from_secs(1);
        let mut bucket = TokenBucket::new(start, CAPACITY);
        assert_eq!(bucket.ready_at(start, 2_400, RATE, CAPACITY), start);
        bucket.take(2_400, CAPACITY);
        let ready = bucket.ready_at(start, 1_200, RATE, CAPACITY);
        assert_eq!(ready, start + Micros::from_millis(10));
        assert_eq!(bucket.available(ready, RATE, CAPACITY), 1_200);
        assert_eq!(bucket.available(ready - Micros(1), RATE, CAPACITY), 1_199);
    }

    #[test]
    fn debt_is_bounded_by_one_bucketful() {
        let start = Micros::from_secs(1);
        let mut bucket = TokenBucket::new(start, CAPACITY);
        for _ in 0..1_000 {
            bucket.take(1_200, CAPACITY);
        }
        let ready = bucket.ready_at(start, 1, RATE, CAPACITY);
        assert!(ready <= start + Micros(20_010), "ready at {ready:?}");
    }

    #[test]
    fn request_larger_than_the_bucket_waits_only_for_a_full_bucket() {
        let start = Micros::from_secs(1);
        let mut bucket = TokenBucket::new(start, CAPACITY);
        bucket.take(2_400, CAPACITY);
        assert_eq!(bucket.ready_at(start, 1 << 40, RATE, CAPACITY), start + Micros::from_millis(20));
    }

    #[test]
    fn clock_stepping_back_credits_nothing_and_does_not_stall() {
        let mut bucket = TokenBucket::new(Micros::from_secs(7_200), CAPACITY);
        bucket.take(2_400, CAPACITY);
        bucket.refill(Micros::from_secs(10), RATE, CAPACITY);
        assert_eq!(bucket.available(Micros::from_secs(10), RATE, CAPACITY), 0);
        assert_eq!(bucket.available(Micros::from_millis(10_010), RATE, CAPACITY), 1_200);
    }
}
