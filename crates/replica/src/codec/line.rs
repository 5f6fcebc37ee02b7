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
    /// ties away from zero.
    #[inline]
    pub fn steps<const AXES: usize>(self, rise: [i64; AXES]) -> [i64; AXES] {
        match self.is_even() {
            true => rise,
            false => rise.map(|rise| divide_rounding(rise * self.ahead, self.behind)),
        }
    }

    /// How far an object goes that went so far on each axis between the baselines, over all axes, rounded down.
    #[inline]
    pub fn motion(self, rise: [i64; 3]) -> u64 {
        let distance = size(rise);
        match self.is_even() {
            true => distance,
            false => distance * self.ahead as u64 / self.behind as u64,
        }
    }
}

/// The sum of the magnitudes.
#[inline]
pub(super) fn size(axes: [i64; 3]) -> u64 {
    axes[0].unsigned_abs() + axes[1].unsigned_abs() + axes[2].unsigned_abs()
}

#[inline]
pub(super) fn subtract(a: [i64; 3], b: [i64; 3]) -> [i64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The quotient rounded to nearest, ties away from zero. The denominator must be positive.
#[inline]
pub(super) fn divide_rounding(numerator: i64, denominator: i64) -> i64 {
    let magnitude = (2 * numerator.unsigned_abs() + denominator as u64) / (2 * denominator as u64);
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
        fn the_line_is_that_of_the_wire(
            newer in any::<i32>(), older in any::<i32>(), newer_age in 0u32..1100, older_age in 0u32..1100,
            limit in any::<i32>(),
        ) {
            let range = WordRange::symmetric(limit);
            let by_wire = extrapolate(
                predict::Baseline { word: newer, age: newer_age },
                predict::Baseline { word: older, age: older_age },
                range,
            );
            let line = Line::between(newer_age, older_age);
            let [step] = line.map_or([0], |line| line.steps([i64::from(newer) - i64::from(older)]));
            prop_assert_eq!(range.clamp(i64::from(newer) + step), by_wire);
        }
    }
}
