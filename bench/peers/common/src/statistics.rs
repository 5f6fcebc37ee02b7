//! Means and percentiles.

/// The mean; 0 of nothing.
pub fn mean(samples: &[u64]) -> f64 {
    samples.iter().sum::<u64>() as f64 / samples.len().max(1) as f64
}

/// The sample that `share` of all are not above; 0 of nothing.
pub fn percentile(sorted: &[u64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted
        .get(rank.saturating_sub(1).min(sorted.len().saturating_sub(1)))
        .map_or(0.0, |&sample| sample as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples_by_nearest_rank() {
        let samples: Vec<u64> = (1..=200).collect();
        assert_eq!(percentile(&samples, 0.0), 1.0);
        assert_eq!(percentile(&samples, 0.5), 100.0);
        assert_eq!(percentile(&samples, 0.99), 198.0);
        assert_eq!(percentile(&samples, 1.0), 200.0);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }

    #[test]
    fn the_mean_of_nothing_is_no_division_by_zero() {
        assert_eq!(mean(&[]), 0.0);
        assert_eq!(mean(&[1, 2, 6]), 3.0);
    }
}
