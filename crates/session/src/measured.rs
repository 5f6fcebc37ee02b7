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

/// A value that follows its samples with a delay, whatever the time between them.
///
/// After a time t without change the difference that is left is the product of `smoothing / (smoothing + dt)` over the
/// steps dt of t: for small steps e^(−t / smoothing). Only integers, so that every run has the same bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Smoothed {
    /// In 1,024ths, so that small differences are not rounded away. `None` before the first sample.
    value: Option<u64>,
    smoothing: Micros,
}

impl Smoothed {
    const ONE: u64 = 1_024;
    /// Samples are cut to this (12 days in microseconds), which no product here overflows with.
    const SAMPLE_MAX: u64 = 1 << 40;

    pub fn new(smoothing: Micros) -> Smoothed {
        Smoothed { value: None, smoothing }
    }

    /// Takes a sample that is `elapsed` younger than the last one, and answers with the smoothed value.
    pub fn handle(&mut self, elapsed: Micros, sample: u64) -> u64 {
        let sample = sample.min(Smoothed::SAMPLE_MAX) * Smoothed::ONE;
        let value = match self.value {
            None => sample,
            Some(before) => {
                let (old, new) = (u128::from(self.smoothing.0.max(1)), u128::from(elapsed.0));
                let mean = (u128::from(before) * old + u128::from(sample) * new) / (old + new);
                // A mean of two is never above the larger of them.
                u64::try_from(mean).unwrap_or(before)
            }
        };
        self.value = Some(value);
        value / Smoothed::ONE
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

    proptest! {
        #[test]
        fn a_smoothed_value_stays_between_what_it_was_and_the_sample(
            smoothing in 0u64..1 << 40, steps in proptest::collection::vec((any::<u64>(), any::<u64>()), 1..20),
        ) {
            let mut smoothed = Smoothed::new(Micros(smoothing));
            let mut before = smoothed.handle(Micros::ZERO, steps[0].1);
            for (elapsed, sample) in steps {
                let now = smoothed.handle(Micros(elapsed), sample);
                let sample = sample.min(Smoothed::SAMPLE_MAX);
                prop_assert!(now >= before.min(sample) && now <= before.max(sample));
                before = now;
            }
        }
    }
}
