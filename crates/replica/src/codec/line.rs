//! The two baselines' ages as a ratio: how much further than from the older to the newer one it is to the present.

use netloom_wire::delta::predict::AGE_MAX;

/// Extrapolation from two baselines, as [`netloom_wire::delta::predict`] defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// From the newer baseline to the present, in send ticks.
    pub ahead: i64,
    /// From the older to the newer one: positive.
    pub behind: i64,
}

impl Line {
    /// The line through two ages; `None` if the older one is not older, or too old.
    #[inline]
    pub fn between(newer_age: u32, older_age: u32) -> Option<Line> {
        let usable = older_age > newer_age && older_age <= AGE_MAX;
        usable.then(|| Line { ahead: i64::from(newer_age), behind: i64::from(older_age - newer_age) })
    }

    /// Baselines as far apart as the newer one is old are the usual case, and need no division.
    #[inline]
    pub fn is_even(self) -> bool {
        self.ahead == self.behind
    }

    /// What rose so much between the baselines rises so much from the newer one to the present: rounded to nearest,
    /// ties away from zero, and cut to 32 bits.
    #[inline]
    pub fn steps(self, rise: &Lanes) -> Lanes {
        match self.is_even() {
            true => *rise,
            false => rise.map(|rise| divide_rounding(i64::from(rise) * self.ahead, self.behind) as i32),
        }
    }

    /// How far an object goes that went so far between the baselines, rounded down.
    #[inline]
    pub fn motion(self, distance: u32) -> u64 {
        match self.is_even() {
            true => u64::from(distance),
            false => u64::from(distance) * self.ahead as u64 / self.behind as u64,
        }
    }
}

/// The four words of a position or rotation, or differences of them. All arithmetic on them wraps: of words that are far
/// apart, predictions are useless but the same on both sides.
pub(super) type Lanes = [i32; 4];

#[inline]
pub(super) fn add(a: &Lanes, b: &Lanes) -> Lanes {
    core::array::from_fn(|lane| a[lane].wrapping_add(b[lane]))
}

#[inline]
pub(super) fn subtract(a: &Lanes, b: &Lanes) -> Lanes {
    core::array::from_fn(|lane| a[lane].wrapping_sub(b[lane]))
}

/// The sum of the magnitudes.
#[inline]
pub(super) fn size(a: &Lanes) -> u32 {
    let [x, y, z, w] = a.map(i32::unsigned_abs);
    x.wrapping_add(y).wrapping_add(z.wrapping_add(w))
}

/// The quotient rounded to nearest, ties away from zero. The denominator must be positive.
#[inline]
pub(super) fn divide_rounding(numerator: i64, denominator: i64) -> i64 {
    let doubled = numerator.unsigned_abs().wrapping_mul(2).wrapping_add(denominator as u64);
    let magnitude = doubled / (2 * denominator as u64);
    if numerator < 0 { -(magnitude as i64) } else { magnitude as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_wire::delta::predict::{self, extrapolate};
    use netloom_wire::quantize::WordRange;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn inside_the_range_the_line_is_that_of_the_wire(
            newer in -1_000_000i32..1_000_000, older in -1_000_000i32..1_000_000,
            newer_age in 0u32..1100, older_age in 0u32..1100,
        ) {
            let by_wire = extrapolate(
                predict::Baseline { word: newer, age: newer_age },
                predict::Baseline { word: older, age: older_age },
                WordRange::ALL,
            );
            let line = Line::between(newer_age, older_age);
            let rise = line.map_or([0; 4], |line| line.steps(&[newer - older; 4]));
            prop_assert_eq!(add(&[newer; 4], &rise), [by_wire; 4]);
        }
    }
}
