//! The integers that circles are computed with.
//!
//! All of them are in 2^-26, the finest step of which every product fits the 53 bits that all languages have. One object is computed
//! with integers of 64 bits. Many at once are computed with doubles, which hold every integer of 53 bits: a vector of them is
//! multiplied, divided and rooted with one instruction each, where integers are taken one by one. Every result is the same
//! to the bit.

use core::ops::{Add, Mul, Sub};

/// Bits of a fraction.
const BITS: i32 = 26;
/// Beyond any component of a rotation.
const FIXED_MAX: i64 = (1 << BITS) + (1 << (BITS - 2));

/// An integer.
pub trait Whole: Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    const ZERO: Self;
    /// One in 2^-26.
    const ONE: Self;
    /// One in 2^-52.
    const SQUARE: Self;
    /// Rotations that differ by less have no plane that is worth it.
    const CHORD_MIN: Self;

    fn new(number: i32) -> Self;
    /// A single in 2^-26, rounded towards zero. Of one that no rotation has, some number that is more than one and does not
    /// overflow: what becomes of it is refused.
    fn fixed(word: i32) -> Self;
    /// The single nearest to a number of 2^-26, of equally near ones the even one.
    fn single(self) -> f32;
    /// Divided by 2^`bits`, rounded down.
    fn shifted(self, bits: i32) -> Self;
    /// Divided by a positive number, rounded down; less than 2^50.
    fn over(self, divisor: Self) -> Self;
    /// The root, rounded down, of a number that is not negative.
    fn root(self) -> Self;

    /// A product in 2^-26, rounded down.
    #[inline(always)]
    fn cut(self) -> Self {
        self.shifted(BITS)
    }

    #[inline(always)]
    fn within(self, least: Self, most: Self) -> Self {
        // Comparisons alone: the minimum and the maximum of doubles take more instructions, for the sake of what is no number.
        let number = if self > least { self } else { least };
        if number < most { number } else { most }
    }

    #[inline(always)]
    fn negated_if(self, condition: bool) -> Self {
        if condition { Self::ZERO - self } else { self }
    }

    #[inline(always)]
    fn size(self) -> Self {
        self.negated_if(self < Self::ZERO)
    }
}

impl Whole for i64 {
    const ZERO: i64 = 0;
    const ONE: i64 = 1 << BITS;
    const SQUARE: i64 = 1 << (2 * BITS);
    const CHORD_MIN: i64 = 1 << 10;

    #[inline(always)]
    fn new(number: i32) -> i64 {
        number.into()
    }

    #[inline(always)]
    fn fixed(word: i32) -> i64 {
        let value = f64::from(f32::from_bits(word as u32)) * i64::ONE as f64;
        (value as i64).clamp(-FIXED_MAX, FIXED_MAX)
    }

    #[inline(always)]
    fn single(self) -> f32 {
        self as f32 / i64::ONE as f32
    }

    #[inline(always)]
    fn shifted(self, bits: i32) -> i64 {
        self >> bits
    }

    #[inline(always)]
    fn over(self, divisor: i64) -> i64 {
        self.div_euclid(divisor)
    }

    #[inline(always)]
    fn root(self) -> i64 {
        // The root of a double is exact to its last bit everywhere, and too near the next integer for no square of 52 bits.
        (self as f64).sqrt() as i64
    }
}

const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1_023 + exponent) as u64) << 52)
}

/// The largest integer that is not above a number below 2^51.
#[inline(always)]
fn floor(number: f64) -> f64 {
    // Beside this number a double has no room for a fraction.
    const ROUNDER: f64 = 1.5 * power_of_two(52);
    let nearest = (number + ROUNDER) - ROUNDER;
    nearest - if nearest > number { 1.0 } else { 0.0 }
}

/// Without a condition that anything waits for, and without a zero that has a sign.
impl Whole for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = power_of_two(BITS);
    const SQUARE: f64 = power_of_two(2 * BITS);
    const CHORD_MIN: f64 = i64::CHORD_MIN as f64;

    #[inline(always)]
    fn new(number: i32) -> f64 {
        number.into()
    }

    #[inline(always)]
    fn fixed(word: i32) -> f64 {
        let value = f64::from(f32::from_bits(word as u32)) * f64::ONE;
        floor(value.abs().within(0.0, FIXED_MAX as f64)).negated_if(value < 0.0)
    }

    #[inline(always)]
    fn single(self) -> f32 {
        self as f32 / f64::ONE as f32
    }

    #[inline(always)]
    fn shifted(self, bits: i32) -> f64 {
        floor(self * power_of_two(-bits))
    }

    #[inline(always)]
    fn over(self, divisor: f64) -> f64 {
        let near = floor(self / divisor);
        // The division of doubles was rounded, maybe to an integer.
        let rest = self - near * divisor;
        near + if rest < divisor { 0.0 } else { 1.0 } - if rest < 0.0 { 1.0 } else { 0.0 }
    }

    #[inline(always)]
    fn root(self) -> f64 {
        floor(self.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn doubles_compute_what_integers_do(
            number in -(1i64 << 52)..1 << 52, divisor in 1i64..1 << 27, quotient_max in 1i64..1 << 26, bits in 1..=26,
        ) {
            let number = number.clamp(-divisor * quotient_max, divisor * quotient_max);
            for number in [number, number / divisor * divisor, number / divisor * divisor - 1] {
                let double = number as f64;
                prop_assert_eq!(double.over(divisor as f64), number.over(divisor) as f64);
                prop_assert_eq!(double.shifted(bits), number.shifted(bits) as f64);
                prop_assert_eq!(double.size(), number.size() as f64);
                prop_assert_eq!(double.single().to_bits(), number.single().to_bits());
            }
        }

        #[test]
        fn roots_are_those_of_integers(square in 0i64..=1 << 52) {
            let whole = square.isqrt() * square.isqrt();
            for square in [square, whole, (whole - 1).max(0)] {
                prop_assert_eq!(square.root(), square.isqrt());
                prop_assert_eq!((square as f64).root(), square.isqrt() as f64);
            }
        }

        #[test]
        fn any_bits_are_fixed_to_the_same_number(word in any::<i32>()) {
            let value = f32::from_bits(word as u32);
            prop_assert!(value.is_nan() || f64::fixed(word) == i64::fixed(word) as f64);
            prop_assert!(f64::fixed(word).size() <= FIXED_MAX as f64 && i64::fixed(word).size() <= FIXED_MAX);
        }
    }

    #[test]
    fn no_zero_has_a_sign() {
        for zero in
            [f64::fixed(i32::MIN), (-0.0).shifted(26), (0.0).negated_if(true), f64::fixed(-0x7000_0000)]
        {
            assert_eq!(zero.to_bits(), 0);
        }
    }
}
