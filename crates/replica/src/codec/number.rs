//! The numbers that rotations are predicted with.
//!
//! All of them are integers. One object is computed with words of 64 bits. Many at once are computed with singles, which
//! hold every integer of 24 bits exactly: a vector of them is multiplied, rooted and compared with one instruction each,
//! where integers would take ten. As long as nothing exceeds what they hold, and of ten-bit rotations nothing does,
//! every result is the same to the bit.

/// An integer.
pub(super) trait Number: Copy + PartialOrd {
    /// A word.
    fn new(word: i32) -> Self;
    /// The word.
    fn word(self) -> i32;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Divided by 2^`bits`, from 1 to 22, and rounded to nearest, ties up.
    fn over_two_to(self, bits: i32) -> Self;
    /// The integer nearest to the root; of a negative number anything.
    fn root(self) -> Self;
    /// The integer nearest to 2^`bits` divided by `self`, which is positive and below 2^`bits`.
    fn reciprocal(self, bits: i32) -> Self;

    /// With the other sign if `condition`.
    fn negated_if(self, condition: bool) -> Self;
    /// Without sign.
    fn size(self) -> Self;
}

/// Wraps where even that is too small, which it is only for words that are no rotations.
impl Number for i64 {
    #[inline(always)]
    fn new(word: i32) -> i64 {
        i64::from(word)
    }

    #[inline(always)]
    fn word(self) -> i32 {
        self as i32
    }

    #[inline(always)]
    fn plus(self, other: i64) -> i64 {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn minus(self, other: i64) -> i64 {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn times(self, other: i64) -> i64 {
        self.wrapping_mul(other)
    }

    #[inline(always)]
    fn over_two_to(self, bits: i32) -> i64 {
        self.wrapping_add(1 << (bits - 1)) >> bits
    }

    #[inline(always)]
    fn root(self) -> i64 {
        // The root of a double is exact to its last bit everywhere, and no integer's root lies near a half.
        rounded((self as f64).sqrt())
    }

    #[inline(always)]
    fn reciprocal(self, bits: i32) -> i64 {
        rounded((1u64 << bits) as f64 / self as f64)
    }

    #[inline(always)]
    fn negated_if(self, condition: bool) -> i64 {
        if condition { self.wrapping_neg() } else { self }
    }

    #[inline(always)]
    fn size(self) -> i64 {
        self.wrapping_abs()
    }
}

/// The integer nearest to a double below 2^31.
#[inline(always)]
fn rounded(value: f64) -> i64 {
    // Beside this number a double has no room for a fraction, and the integer stands in its low bits.
    i64::from((value + (1u64 << 52) as f64).to_bits() as u32)
}

/// Beside this number a single has no room for a fraction, and an integer of 22 bits and sign stands in its low bits.
const ROUNDER: f32 = 12_582_912.0;

#[inline(always)]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((127 + exponent) as u32) << 23)
}

/// Exact up to 2^24; what is divided, up to 2^23.
impl Number for f32 {
    #[inline(always)]
    fn new(word: i32) -> f32 {
        word as f32
    }

    #[inline(always)]
    fn word(self) -> i32 {
        (self + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits()) as i32
    }

    #[inline(always)]
    fn plus(self, other: f32) -> f32 {
        self + other
    }

    #[inline(always)]
    fn minus(self, other: f32) -> f32 {
        self - other
    }

    #[inline(always)]
    fn times(self, other: f32) -> f32 {
        self * other
    }

    #[inline(always)]
    fn over_two_to(self, bits: i32) -> f32 {
        // A little more is no tie, and goes up where a tie would.
        let (unit, little) = (power_of_two(-bits), power_of_two(-bits - 1));
        (self * unit + little + ROUNDER) - ROUNDER
    }

    #[inline(always)]
    fn root(self) -> f32 {
        (self.sqrt() + ROUNDER) - ROUNDER
    }

    #[inline(always)]
    fn reciprocal(self, bits: i32) -> f32 {
        (power_of_two(bits) / self + ROUNDER) - ROUNDER
    }

    #[inline(always)]
    fn negated_if(self, condition: bool) -> f32 {
        f32::from_bits(self.to_bits() ^ if condition { 1 << 31 } else { 0 })
    }

    #[inline(always)]
    fn size(self) -> f32 {
        self.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn single(word: i64) -> f32 {
        <f32 as Number>::new(word as i32)
    }

    proptest! {
        #[test]
        fn singles_carry_integers(a in -(1i64 << 22)..1 << 22, b in -(1i64 << 22)..1 << 22, bits in 1i32..=22) {
            let (x, y) = (single(a), single(b));
            prop_assert_eq!((x.word(), i64::from(a.word())), (a as i32, a));
            prop_assert_eq!(x.plus(y).over_two_to(bits).word(), a.plus(b).over_two_to(bits).word());
            prop_assert_eq!(x.minus(y).over_two_to(bits).word(), a.minus(b).over_two_to(bits).word());
            let (c, d) = (a >> 11, b >> 11);
            prop_assert_eq!(single(c).times(single(d)).word(), c.times(d).word());
            prop_assert_eq!(x.negated_if(b < 0).word(), a.negated_if(b < 0).word());
            prop_assert_eq!(Number::size(x).word(), Number::size(a).word());
        }

        #[test]
        fn dividing_rounds_to_nearest_and_ties_up(a in -(1i64 << 50)..1 << 50, bits in 1i32..=22) {
            prop_assert_eq!(a.over_two_to(bits), (2 * a + (1 << bits)).div_euclid(1 << (bits + 1)));
        }

        #[test]
        fn roots_are_those_of_integers(square in 0i64..=536_805_378) {
            let floor = square.isqrt();
            prop_assert_eq!(Number::root(square), floor + i64::from(square - floor * floor > floor));
        }

        #[test]
        fn roots_of_singles_are_those_of_integers(square in 0i64..=522_242) {
            prop_assert_eq!(Number::root(single(square)).word(), Number::root(square).word());
        }

        #[test]
        fn reciprocals_are_nearest(divisor in 1i64..1 << 17, is_wide in any::<bool>()) {
            let bits = if is_wide { 30 } else { 22 };
            prop_assert_eq!(divisor.reciprocal(bits), ((1i64 << (bits + 1)) + divisor) / (2 * divisor));
            // The largest is one more than what a single gives back as a word.
            if !is_wide && divisor > 1 {
                prop_assert_eq!(single(divisor).reciprocal(bits).word(), divisor.reciprocal(bits).word());
            }
        }
    }
}
