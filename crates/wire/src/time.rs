//! Time as the core sees it: an argument, never a clock.

use core::ops::{Add, AddAssign, Sub};

/// A point in time or a duration, in microseconds. Only differences matter: the origin is the driver's choice.
///
/// Arithmetic saturates, so that a clock which steps backwards or a hostile duration can never panic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(pub u64);

impl Micros {
    /// The origin, and the empty duration.
    pub const ZERO: Micros = Micros(0);
    /// Later than every deadline.
    pub const MAX: Micros = Micros(u64::MAX);

    /// `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Micros {
        Micros(ms.saturating_mul(1_000))
    }

    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Micros {
        Micros(s.saturating_mul(1_000_000))
    }

    /// Seconds as a float, for display and for rates.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Milliseconds as a float, for display.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The time from `earlier` to `self`; zero if `earlier` is later.
    pub const fn since(self, earlier: Micros) -> Micros {
        Micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Micros {
    type Output = Micros;
    fn add(self, duration: Micros) -> Micros {
        Micros(self.0.saturating_add(duration.0))
    }
}

impl AddAssign for Micros {
    fn add_assign(&mut self, duration: Micros) {
        *self = *self + duration;
    }
}

impl Sub for Micros {
    type Output = Micros;
    fn sub(self, earlier: Micros) -> Micros {
        self.since(earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Micros(5) - Micros(9), Micros::ZERO);
        assert_eq!(Micros::MAX + Micros(1), Micros::MAX);
        assert_eq!(Micros::from_secs(u64::MAX), Micros::MAX);
        assert_eq!(Micros::from_millis(1_500), Micros(1_500_000));
    }
}
