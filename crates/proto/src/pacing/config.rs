//! What one connection may send, as its user configures it.

use netloom_wire::Micros;

use crate::config::ConfigError;

/// No rate is above this (80 Gbit/s); it keeps the arithmetic far from its limits.
pub const BYTES_PER_SECOND_LIMIT: u64 = 10_000_000_000;

/// No rate is below this: a connection that cannot send one datagram per second cannot even keep itself alive.
pub(super) const BYTES_PER_SECOND_FLOOR: u64 = 1_500;

/// The byte rate of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateConfig {
    /// The rate is never above this.
    pub bytes_per_second_max: u64,
    /// The rate before anything is known about the path.
    pub bytes_per_second_initial: u64,
    /// The rate is never below this, however bad the path: what the game cannot do without.
    pub bytes_per_second_min: u64,
    /// Queueing delay above which the rate is cut; above two fifths of it, the rate stops growing.
    pub delay_target: Micros,
    /// How long a pause may be made up for at once. It should be at least the interval at which the caller sends, else
    /// what the bucket cannot hold between two calls is lost.
    pub burst: Micros,
}

impl Default for RateConfig {
    fn default() -> RateConfig {
        RateConfig {
            bytes_per_second_max: 256 * 1024,
            bytes_per_second_initial: 64 * 1024,
            bytes_per_second_min: 8 * 1024,
            delay_target: Micros::from_millis(50),
            burst: Micros::from_millis(20),
        }
    }
}

impl RateConfig {
    /// Reports the first field that is out of its range.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let (min, max) = (self.bytes_per_second_min, self.bytes_per_second_max);
        let all_rates = BYTES_PER_SECOND_FLOOR..=BYTES_PER_SECOND_LIMIT;
        let checks = [
            ("bytes_per_second_max", max, all_rates, "1500 to 10000000000"),
            ("bytes_per_second_min", min, BYTES_PER_SECOND_FLOOR..=max, "1500 to bytes_per_second_max"),
            (
                "bytes_per_second_initial",
                self.bytes_per_second_initial,
                min..=max,
                "bytes_per_second_min to bytes_per_second_max",
            ),
            ("delay_target", self.delay_target.0, 5_000..=1_000_000, "5000 to 1000000 microseconds"),
            ("burst", self.burst.0, 1_000..=1_000_000, "1000 to 1000000 microseconds"),
        ];
        match checks.into_iter().find(|(_, value, range, _)| !range.contains(value)) {
            Some((field, value, _, allowed)) => Err(ConfigError { field, value: value.to_string(), allowed }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_is_valid() {
        assert!(RateConfig::default().check().is_ok());
    }

    #[test]
    fn each_value_out_of_range_is_named_with_its_range() {
        let valid = RateConfig::default();
        let wrong = [
            ("bytes_per_second_max", RateConfig { bytes_per_second_max: u64::MAX, ..valid.clone() }),
            ("bytes_per_second_min", RateConfig { bytes_per_second_min: 1_499, ..valid.clone() }),
            ("bytes_per_second_min", RateConfig { bytes_per_second_min: 1 << 20, ..valid.clone() }),
            ("bytes_per_second_initial", RateConfig { bytes_per_second_initial: 1 << 20, ..valid.clone() }),
            ("delay_target", RateConfig { delay_target: Micros::ZERO, ..valid.clone() }),
            ("burst", RateConfig { burst: Micros::MAX, ..valid.clone() }),
        ];
        for (field, config) in wrong {
            let error = config.check().unwrap_err();
            assert_eq!(error.field, field);
            assert!(!error.value.is_empty() && !error.allowed.is_empty());
        }
    }
}
