//! Integers four at a time, held in doubles.
//!
//! A double holds every integer up to 2^53, its operations are exact to the last bit on every machine and in every
//! language, and four of them take two or four instructions where integers take a dozen. All values here are integers
//! within ±2^51; the operations are those of integers.

/// Four integers.
pub(super) type Lanes = [f64; 4];

/// A double of this size has no fraction: adding it rounds to the nearest integer, ties to even, and leaves that
/// integer in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

#[inline]
pub(super) fn lanes(words: [i32; 4]) -> Lanes {
    words.map(f64::from)
}

/// The nearest integer, ties to even, of a value within ±2^51.
#[inline]
pub(super) fn round(value: f64) -> f64 {
    (value + ROUNDER) - ROUNDER
}

/// An integer within ±2^51 as one.
#[inline]
pub(super) fn integer(value: f64) -> i64 {
    (value + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits()) as i64
}

#[inline]
pub(super) fn clamp(value: f64, min: f64, max: f64) -> f64 {
    let raised = if value < min { min } else { value };
    if raised > max { max } else { raised }
}

#[inline]
pub(super) fn zip(a: Lanes, b: Lanes, operation: impl Fn(f64, f64) -> f64) -> Lanes {
    core::array::from_fn(|lane| operation(a[lane], b[lane]))
}

#[inline]
pub(super) fn subtract(a: Lanes, b: Lanes) -> Lanes {
    zip(a, b, |a, b| a - b)
}

#[inline]
pub(super) fn sum(a: Lanes) -> f64 {
    (a[0] + a[1]) + (a[2] + a[3])
}

/// The sum of the magnitudes.
#[inline]
pub(super) fn size(a: Lanes) -> f64 {
    sum(a.map(f64::abs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn doubles_carry_integers(value in -(1i64 << 50)..1 << 50) {
            prop_assert_eq!(integer(value as f64), value);
            prop_assert_eq!(round(value as f64), value as f64);
        }

        #[test]
        fn quotients_round_as_those_of_integers(
            numerator in -(1i64 << 50)..1 << 50, denominator in 1i64..1 << 31,
        ) {
            let quotient = numerator.div_euclid(denominator);
            let twice_rest = 2 * numerator.rem_euclid(denominator);
            let up = twice_rest > denominator || (twice_rest == denominator && quotient % 2 != 0);
            prop_assert_eq!(
                integer(round(numerator as f64 / denominator as f64)),
                quotient + i64::from(up)
            );
        }
    }
}
