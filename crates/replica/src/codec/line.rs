//! The two baselines' ages as a ratio: how much further than from the older to the newer one it is to the present.

use netloom_wire::delta::predict::AGE_MAX;
use netloom_wire::quantize::WordRange;

use super::lanes::{Lanes, clamp, integer, round, zip};

/// Extrapolation from two baselines, as [`netloom_wire::delta::predict`] defines it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    /// From the newer baseline to the present, in send ticks.
    pub ahead: f64,
    /// From the older to the newer one: positive.
    pub behind: f64,
}

impl Line {
    /// The line through two ages; `None` if the older one is not older, or too old.
    #[inline]
    pub fn between(newer_age: u32, older_age: u32) -> Option<Line> {
        let usable = older_age > newer_age && older_age <= AGE_MAX;
        usable.then(|| Line { ahead: f64::from(newer_age), behind: f64::from(older_age - newer_age) })
    }

    /// Baselines as far apart as the newer one is old are the usual case, and need no division.
    #[inline]
    pub fn is_even(self) -> bool {
        self.ahead == self.behind
    }

    /// The words at the present, given the newer ones and how far they lie from the older ones.
    #[inline]
    pub fn extrapolate(self, newer: Lanes, rise: Lanes, range: WordRange) -> Lanes {
        let step = if self.is_even() { rise } else { rise.map(|rise| self.step(rise)) };
        let (min, max) = (f64::from(range.min()), f64::from(range.max()));
        zip(newer, step, |newer, step| clamp(newer + step, min, max))
    }

    /// A distance between the baselines as one between the newer baseline and the present, rounded down.
    #[inline]
    pub fn motion(self, distance: f64) -> u64 {
        let motion = if self.is_even() { distance } else { floor(distance * self.ahead / self.behind) };
        integer(motion) as u64
    }

    /// The same, rounded to nearest, ties away from zero.
    fn step(self, rise: f64) -> f64 {
        let doubled = 2.0 * rise.abs() * self.ahead + self.behind;
        floor(doubled / (2.0 * self.behind)).copysign(rise)
    }
}

/// The integer below a quotient of integers that is not negative.
fn floor(quotient: f64) -> f64 {
    let nearest = round(quotient);
    if nearest > quotient { nearest - 1.0 } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::super::lanes::{lanes, subtract};
    use super::*;
    use netloom_wire::delta::predict::{self, extrapolate};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_line_is_that_of_the_wire(
            newer in any::<[i32; 4]>(), older in any::<[i32; 4]>(), newer_age in 0u32..1100, older_age in 0u32..1100,
            limit in any::<i32>(),
        ) {
            let range = WordRange::symmetric(limit);
            let Some(line) = Line::between(newer_age, older_age) else {
                prop_assert!(older_age <= newer_age || older_age > predict::AGE_MAX);
                return Ok(());
            };
            let ours = line.extrapolate(lanes(newer), subtract(lanes(newer), lanes(older)), range);
            for lane in 0..4 {
                let by_wire = extrapolate(
                    predict::Baseline { word: newer[lane], age: newer_age },
                    predict::Baseline { word: older[lane], age: older_age },
                    range,
                );
                prop_assert_eq!(ours[lane], f64::from(by_wire));
            }
        }

        #[test]
        fn motion_is_a_quotient_rounded_down(distance in 0u64..1 << 34, newer_age in 0u32..300, gap in 1u32..300) {
            let line = Line::between(newer_age, newer_age + gap).unwrap();
            prop_assert_eq!(line.motion(distance as f64), distance * u64::from(newer_age) / u64::from(gap));
        }
    }
}
