//! Where a word will be, judged by two words that the receiver holds.
//!
//! Something that moves evenly is predicted exactly by the line through its last two known values, and its residual is
//! zero. Both ends must compute that line to the bit, in any language, so it is integers only:
//!
//! ```text
//!      older ●
//!              ╲            older_age, newer_age: steps before the present
//!                ● newer
//!                  ╲        predicted = newer + (newer - older) × newer_age / (older_age - newer_age)
//!                    ○                  rounded to nearest, ties away from zero, clamped to the range
//! ```
//!
//! With ages up to [`AGE_MAX`] no intermediate exceeds 2^44, well inside what a double holds exactly.

use crate::quantize::WordRange;

/// The oldest baseline that is extrapolated from, in send ticks.
pub const AGE_MAX: u32 = 1_023;

/// A word that the receiver holds, and how many send ticks ago it was the object's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// The value.
    pub word: i32,
    /// Its age.
    pub age: u32,
}

/// The word at age zero on the line through two baselines.
///
/// If the ages do not allow a line (the older one not older, or older than [`AGE_MAX`]), it is the newer word. The
/// result always lies in `range`.
#[inline]
pub fn extrapolate(newer: Baseline, older: Baseline, range: WordRange) -> i32 {
    let word = i64::from(newer.word);
    if older.age <= newer.age || older.age > AGE_MAX {
        return range.clamp(word);
    }
    let rise = word - i64::from(older.word);
    let step = divide_rounding(rise * i64::from(newer.age), i64::from(older.age - newer.age));
    range.clamp(word + step)
}

/// The quotient rounded to nearest, ties away from zero. The denominator must be positive.
#[inline]
fn divide_rounding(numerator: i64, denominator: i64) -> i64 {
    let magnitude = (2 * numerator.abs() + denominator) / (2 * denominator);
    if numerator < 0 { -magnitude } else { magnitude }
}
