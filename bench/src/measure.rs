//! Timing on a machine that cannot be trusted to run at one speed.
//!
//! A shared host changes its clock speed by up to two times for minutes on end, and other work steals slices of it. A
//! mean over such a run says more about the neighbours than about the code. So:
//!
//! ```text
//!   batch 0:  ours ×1000 | renet ×1000 | enet ×1000
//!   batch 1:  renet ×1000 | enet ×1000 | ours ×1000      the order rotates
//!   ...                                                    each piece gives one figure in ns per operation
//!   batch n
//!                figure reported = 5th percentile of a contender's batches
//! ```
//!
//! The 5th percentile drops every batch that was interrupted or ran at the slow speed. Interleaving gives all contenders
//! the same share of fast batches, so that a ratio within one run is fair even when the absolute figures are not.

use std::time::Instant;

/// Operations timed together: long enough that reading the clock (about 25 ns) disappears, and short enough that most
/// batches of the dearest operation here still fit between two interruptions by the scheduler.
pub const OPERATIONS_PER_BATCH: u32 = 1_000;

/// The fewest batches that give a 5th percentile worth printing: 25 of them lie below it.
pub const BATCHES_MIN: u32 = 500;

/// The percentile by which nanosecond figures are judged.
const FAST_PERCENTILE: f64 = 5.0;

/// One thing to be timed: runs its operation as many times as it is told. The loop is inside, so that an indirect call is
/// paid once per batch and not once per operation.
pub type Contender<'a> = dyn FnMut(u32) + 'a;

/// Times the contenders interleaved and returns, in their order, the 5th percentile in nanoseconds per operation.
pub fn interleaved(batches: u32, contenders: &mut [&mut Contender<'_>]) -> Vec<f64> {
    let mut samples_ns = vec![Vec::with_capacity(batches as usize); contenders.len()];
    for contender in contenders.iter_mut() {
        contender(OPERATIONS_PER_BATCH);
    }
    for batch in 0..batches as usize {
        for turn in 0..contenders.len() {
            let index = (batch + turn) % contenders.len();
            let started = Instant::now();
            contenders[index](OPERATIONS_PER_BATCH);
            let elapsed_ns = started.elapsed().as_nanos() as f64;
            samples_ns[index].push(elapsed_ns / f64::from(OPERATIONS_PER_BATCH));
        }
    }
    samples_ns.iter_mut().map(|samples| percentile(samples, FAST_PERCENTILE).unwrap_or(f64::NAN)).collect()
}

/// The `percent`th percentile by nearest rank: the smallest sample such that at least `percent` % of all are not above it.
/// Sorts the samples; `None` if there are none.
pub fn percentile(samples: &mut [f64], percent: f64) -> Option<f64> {
    samples.sort_unstable_by(f64::total_cmp);
    let rank = (percent / 100.0 * samples.len() as f64).ceil() as usize;
    samples.get(rank.clamp(1, samples.len().max(1)) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percentile_is_the_nearest_rank() {
        let mut samples: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(percentile(&mut samples, 5.0), Some(10.0));
        assert_eq!(percentile(&mut samples, 50.0), Some(100.0));
        assert_eq!(percentile(&mut samples, 99.0), Some(198.0));
        assert_eq!(percentile(&mut samples, 100.0), Some(200.0));
        assert_eq!(percentile(&mut samples, 0.0), Some(1.0));
    }

    #[test]
    fn percentile_of_one_sample_is_that_sample_and_of_none_is_none() {
        assert_eq!(percentile(&mut [7.5], 5.0), Some(7.5));
        assert_eq!(percentile(&mut [7.5], 99.0), Some(7.5));
        assert_eq!(percentile(&mut [], 50.0), None);
    }

    #[test]
    fn every_contender_runs_the_same_number_of_operations() {
        let (mut first, mut second) = (0u64, 0u64);
        let figures = interleaved(7, &mut [&mut |n| first += u64::from(n), &mut |n| second += u64::from(n)]);
        assert_eq!(figures.len(), 2);
        assert_eq!(first, second);
        assert_eq!(first, 8 * u64::from(OPERATIONS_PER_BATCH), "one batch to warm up and seven measured");
    }

    proptest! {
        #[test]
        fn at_least_the_asked_share_lies_at_or_below_the_percentile(
            mut samples in prop::collection::vec(-1e9f64..1e9, 1..300), percent in 0.0f64..=100.0,
        ) {
            let value = percentile(&mut samples, percent).expect("there are samples");
            let at_or_below = samples.iter().filter(|sample| **sample <= value).count() as f64;
            let below = samples.iter().filter(|sample| **sample < value).count() as f64;
            let share = percent / 100.0 * samples.len() as f64;
            prop_assert!(at_or_below >= share - 1e-9);
            prop_assert!(below <= share + 1e-9);
        }
    }
}
