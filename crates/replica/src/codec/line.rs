//! The two baselines' ages, and what follows from them for every object that has both.
//!
//! How much further than from the older to the newer baseline it is to the present, r, decides the prediction. It is
//! the same for all objects of a snapshot, so everything that needs a division is computed once:
//!
//! ```text
//!   ────●───────────────●───────────○──►          r = ahead / behind
//!     older   behind  newer  ahead  present
//! ```
//!
//! Here quotients are rounded towards minus infinity.

use netloom_wire::delta::predict::AGE_MAX;

/// Bits of the fraction of [`Line::fine_ratio`].
const FINE_BITS: i32 = 13;
/// Bits of the fraction of the ratio of positions.
const RATIO_BITS: i32 = 11;
/// Bits of the fraction of a factor of a bend.
pub(super) const FACTOR_BITS: i32 = 7;
const FACTOR_ONE: i64 = 1 << FACTOR_BITS;
/// Bits of the fraction of a bend.
pub(super) const BEND_BITS: i32 = 14;
const BEND_ONE: i64 = 1 << BEND_BITS;

/// Baselines that lie closer together than this part of the way to the present say nothing about it.
const AHEAD_MAX: u32 = 4;

/// Ages of which the line lies ready.
const READY_AHEAD: usize = 16;
const READY_BEHIND: usize = 8;

/// Extrapolation from two baselines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// r in 2^-13.
    fine_ratio: i32,
    /// How an arc bends away from the line, as parts of the bend in 2^-7: r(r+1) towards the centre,
    pub inwards: i32,
    /// and r(r²−1)/3 against the rise.
    pub backwards: i32,
    /// The largest bend of which the arc ahead is less than a quarter turn: 1/r², at most one.
    pub bend_max: i32,
}

impl Line {
    /// The line through two ages; `None` if the older one is not older, or too old, or too near the newer one.
    #[inline]
    pub fn between(newer_age: u32, older_age: u32) -> Option<Line> {
        let behind = older_age.wrapping_sub(newer_age);
        match READY.get(behind.wrapping_sub(1) as usize).and_then(|row| row.get(newer_age as usize)) {
            Some(&line) => line,
            None => Line::compute(newer_age, older_age),
        }
    }

    const fn compute(newer_age: u32, older_age: u32) -> Option<Line> {
        if older_age <= newer_age || older_age > AGE_MAX || newer_age > AHEAD_MAX * (older_age - newer_age) {
            return None;
        }
        let (ahead, behind) = (newer_age as i64, (older_age - newer_age) as i64);
        let (squared, cubed) = (behind * behind, behind * behind * behind);
        let backwards = (FACTOR_ONE * ahead * (ahead * ahead - squared)).div_euclid(3 * cubed);
        let bend_max = if ahead <= behind { BEND_ONE } else { BEND_ONE * squared / (ahead * ahead) };
        Some(Line {
            fine_ratio: ((ahead << FINE_BITS) / behind) as i32,
            inwards: (FACTOR_ONE * ahead * (ahead + behind) / squared) as i32,
            backwards: backwards as i32,
            bend_max: bend_max as i32,
        })
    }

    /// r with a fraction of so many bits, at most 13.
    #[inline(always)]
    pub fn ratio(&self, bits: i32) -> i32 {
        self.fine_ratio >> (FINE_BITS - bits)
    }

    /// What rose so much between the baselines rises so much from the newer one to the present: rounded to nearest,
    /// ties up, and cut to 32 bits.
    #[inline(always)]
    pub fn step(&self, rise: i32) -> i32 {
        let ratio = self.ratio(RATIO_BITS);
        // Whole multiples of the ratio's unit apart from the rest, so that 32 bits suffice.
        let whole = (rise >> RATIO_BITS).wrapping_mul(ratio);
        let rest = (rise & ((1 << RATIO_BITS) - 1)) * ratio;
        whole.wrapping_add((rest + (1 << (RATIO_BITS - 1))) >> RATIO_BITS)
    }
}

/// How a third baseline bends the line: what the change of pace between the baselines comes to by the present.
///
/// ```text
///   ────●─────────────●───────●───────────○──►        bow = p (p + h) / (h + k)  ·  (rise / h  −  rise before / k)
///    oldest    k    older h newer    p   present
/// ```
///
/// A pace that changed goes on changing about half as much: collisions and friction end what forces begin. Nine
/// sixteenths of the bow fit recorded physics best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Curve {
    /// What a rise since the older baseline weighs, in 2^-11,
    onwards: i32,
    /// and one before it.
    backwards: i32,
}

impl Curve {
    /// The curve of three ages; `None` if the oldest is not older than `older_age`, too old, or too near it.
    pub const fn between(newer_age: u32, older_age: u32, oldest_age: u32) -> Option<Curve> {
        if older_age <= newer_age || oldest_age <= older_age || oldest_age > AGE_MAX {
            return None;
        }
        let (ahead, behind) = (newer_age as i64, (older_age - newer_age) as i64);
        let before = (oldest_age - older_age) as i64;
        if ahead > AHEAD_MAX as i64 * behind || behind > AHEAD_MAX as i64 * before {
            return None;
        }
        let reach = (ahead * (ahead + behind)) << RATIO_BITS;
        let apart = behind + before;
        Some(Curve {
            onwards: (reach / (apart * behind)) as i32,
            backwards: (reach / (apart * before)) as i32,
        })
    }

    /// How far what rose so much since the older baseline, and so much before it, gets off the line by the present:
    /// rounded to nearest, ties up, and cut to 32 bits.
    #[inline(always)]
    pub fn bow(&self, rise: i32, rise_before: i32) -> i32 {
        let bow =
            i64::from(rise) * i64::from(self.onwards) - i64::from(rise_before) * i64::from(self.backwards);
        ((bow + (1 << (RATIO_BITS - 1))) >> RATIO_BITS) as i32
    }

    /// The part of a bow that is predicted.
    #[inline(always)]
    pub fn part(bow: i32) -> i32 {
        ((i64::from(bow) * 9 + 8) >> 4) as i32
    }
}

/// By the distance between the baselines less one, and the newer age.
static READY: [[Option<Line>; READY_AHEAD]; READY_BEHIND] = {
    let mut rows = [[None; READY_AHEAD]; READY_BEHIND];
    let mut behind = 1;
    while behind <= READY_BEHIND {
        let mut ahead = 0;
        while ahead < READY_AHEAD {
            rows[behind - 1][ahead] = Line::compute(ahead as u32, (ahead + behind) as u32);
            ahead += 1;
        }
        behind += 1;
    }
    rows
};

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_wire::delta::predict::{Baseline, extrapolate};
    use netloom_wire::quantize::WordRange;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_step_is_the_product_with_the_ratio_rounded(rise in any::<i32>(), newer_age in 0u32..300, behind in 1u32..300) {
            if let Some(line) = Line::between(newer_age, newer_age + behind) {
                let exact = i64::from(rise) * i64::from(line.ratio(RATIO_BITS));
                prop_assert!(exact.abs() < 1 << 53, "a double holds it");
                prop_assert_eq!(line.step(rise), ((exact + (1 << (RATIO_BITS - 1))) >> RATIO_BITS) as i32);
            }
        }

        #[test]
        fn baselines_four_ticks_apart_are_extrapolated_exactly(
            newer in -32_767..=32_767, rise in -8_000..8_000, newer_age in 1u32..=16,
        ) {
            let line = Line::between(newer_age, newer_age + 4).unwrap();
            let newer_word = Baseline { word: newer, age: newer_age };
            let older_word = Baseline { word: newer - rise, age: newer_age + 4 };
            let by_wire = extrapolate(newer_word, older_word, WordRange::ALL);
            let off = newer + line.step(rise) - by_wire;
            prop_assert!((0..=1).contains(&off), "ties go up here and away from zero there: {}", off);
        }
    }

    #[test]
    fn lines_that_lie_ready_are_those_computed() {
        for newer_age in 0..20 {
            for older_age in 0..40 {
                assert_eq!(Line::between(newer_age, older_age), Line::compute(newer_age, older_age));
            }
        }
    }

    #[test]
    fn there_is_no_line_through_ages_that_say_nothing() {
        for (newer_age, older_age) in [(4, 4), (5, 4), (0, 0), (2, AGE_MAX + 1), (5, 6), (u32::MAX, 0)] {
            assert_eq!(Line::between(newer_age, older_age), None, "{newer_age}, {older_age}");
        }
        assert!(Line::between(4, 5).is_some() && Line::between(500, AGE_MAX).is_some());
    }
}
