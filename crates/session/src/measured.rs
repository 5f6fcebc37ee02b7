//! What is known of one connection at one moment, as far as sessions act on it.

use netloom_proto::Pulse;
use netloom_proto::limits::DATAGRAM_MAX;
use netloom_wire::Micros;

/// The state of a connection, as [`adapt`](crate::adapt) and [`health`](crate::health) look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// The round trip; zero before the first sample.
    pub rtt: Micros,
    /// The least round trip of the last seconds: what distance alone takes.
    pub rtt_min: Micros,
    /// How much the round trip varies.
    pub jitter: Micros,
    /// Recent loss, in thousandths.
    pub loss_per_mille: u32,
    /// Packets' worth of bytes that wait to be sent or acknowledged.
    pub queue_packets: usize,
    /// When the last valid packet arrived.
    pub last_received: Micros,
}

impl Measured {
    /// What a round trip takes beyond distance: time in queues.
    pub fn queueing(&self) -> Micros {
        self.rtt - self.rtt_min
    }
}

impl From<&Pulse> for Measured {
    fn from(pulse: &Pulse) -> Measured {
        Measured {
            rtt: pulse.rtt,
            rtt_min: pulse.rtt_min,
            jitter: pulse.jitter,
            loss_per_mille: pulse.loss_per_mille,
            queue_packets: pulse.pending_bytes.div_ceil(DATAGRAM_MAX),
            last_received: pulse.last_received,
        }
    }
}

/// How much a new sample counts against what was known before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weight(i64);

/// How long it takes until what was known counts no more: the time over which samples are smoothed.
///
/// A sample that is dt younger than the one before counts dt / (smoothing + dt). After a time t without change the difference
/// that is left is the product of `smoothing / (smoothing + dt)` over the steps dt of t: for small steps e^(−t / smoothing).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Smoothing {
    time: Micros,
    /// The weight of the last step, and its length: most steps are as long as the one before, and dividing is most of
    /// what smoothing costs.
    elapsed: Micros,
    weight: Weight,
}

impl Smoothing {
    /// Steps are cut to this, 35 minutes, which no product here overflows with.
    const ELAPSED_MAX: u64 = 1 << 31;

    pub fn new(time: Micros) -> Smoothing {
        Smoothing { time, elapsed: Micros::ZERO, weight: Weight(0) }
    }

    /// What a sample counts that is `elapsed` younger than the last one.
    pub fn weigh(&mut self, elapsed: Micros) -> Weight {
        if elapsed != self.elapsed {
            let (old, new) = (self.time.0.max(1), elapsed.0.min(Smoothing::ELAPSED_MAX));
            let weight = (new << Smoothed::WEIGHT_BITS) / old.saturating_add(new);
            (self.elapsed, self.weight) = (elapsed, Weight(weight as i64));
        }
        self.weight
    }
}

/// A value that follows its samples with a delay, whatever the time between them. Only integers, so that every run has the
/// same bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Smoothed {
    /// In 1,024ths, so that small differences are not rounded away, and one more: 0 before the first sample.
    value_plus_one: i64,
}

impl Smoothed {
    /// 1,024ths.
    const FRACTION_BITS: u32 = 10;
    /// Samples are cut to this (12 days in microseconds), which no product here overflows with.
    const SAMPLE_MAX: u64 = 1 << 40;
    /// A sample of this weight, as a power of two, is all that counts.
    const WEIGHT_BITS: u32 = 32;

    /// Takes a sample and answers with the smoothed value.
    pub fn handle(&mut self, Weight(weight): Weight, sample: u64) -> u64 {
        let sample = (sample.min(Smoothed::SAMPLE_MAX) << Smoothed::FRACTION_BITS) as i64;
        let value = match self.value_plus_one {
            0 => sample,
            // The weight is at most one, so the value stays between what it was and the sample.
            before_plus_one => {
                let before = before_plus_one - 1;
                let change = i128::from(sample - before) * i128::from(weight);
                before + (change >> Smoothed::WEIGHT_BITS) as i64
            }
        };
        self.value_plus_one = value + 1;
        (value >> Smoothed::FRACTION_BITS) as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_queue_is_counted_in_packets_and_distance_is_no_queueing() {
        let pulse = Pulse {
            rtt: Micros(260_000),
            rtt_min: Micros(250_000),
            pending_bytes: 1_201,
            ..Pulse::default()
        };
        let measured = Measured::from(&pulse);
        assert_eq!((measured.queue_packets, measured.queueing()), (2, Micros(10_000)));
    }

    #[test]
    fn after_its_time_a_third_of_a_difference_is_left_whatever_the_steps() {
        for step_ms in [1, 10, 50] {
            let (mut smoothing, mut smoothed) = (Smoothing::new(Micros::from_secs(5)), Smoothed::default());
            smoothed.handle(smoothing.weigh(Micros::ZERO), 0);
            let step = Micros::from_millis(step_ms);
            let now = (0..5_000 / step_ms).map(|_| smoothed.handle(smoothing.weigh(step), 100_000)).last();
            assert!(now.is_some_and(|now| (62_500..=63_500).contains(&now)), "{step_ms} ms: {now:?}");
        }
    }

    proptest! {
        #[test]
        fn a_smoothed_value_stays_between_what_it_was_and_the_sample(
            smoothing in 0u64..1 << 40, steps in proptest::collection::vec((any::<u64>(), any::<u64>()), 1..20),
        ) {
            let (mut smoothing, mut smoothed) = (Smoothing::new(Micros(smoothing)), Smoothed::default());
            let mut before = smoothed.handle(smoothing.weigh(Micros::ZERO), steps[0].1);
            for (elapsed, sample) in steps {
                let now = smoothed.handle(smoothing.weigh(Micros(elapsed)), sample);
                let sample = sample.min(Smoothed::SAMPLE_MAX);
                prop_assert!(now >= before.min(sample) && now <= before.max(sample));
                before = now;
            }
        }
    }
}
