//! Floats become integers before they are compared, stored or sent.
//!
//! A float on the wire is large, never equal to itself after a lossy trip, and differs between languages as soon as
//! anything is computed with it. So every quantized value is a *word*: an integer multiple of a step of `1/per_unit`,
//! rounded to the nearest multiple, ties away from zero. Zero is word 0 and 1.0 is word `per_unit`, so both return
//! exactly; a symmetric range has a symmetric set of words. Sender and receiver then compare and predict words only.
//!
//! ```text
//!   word  = round_half_away(value × per_unit)        computed in f64
//!   value = f32(word / per_unit)                     one f64 division, one conversion: the same bits everywhere
//!
//!   STANDARD, 100 per metre:   -327.67 … -0.01  0  0.01 … 327.67
//!                         word  -32767 …   -1   0    1  …  32767
//! ```
//!
//! What cannot be represented is never silently bent: a value beyond its range saturates (or is sent raw, where the
//! format has room for it), one that is not finite becomes zero, and [`QuantizeCounters`] counts each.

mod origin;
mod profile;
mod range;
mod rotation;

pub use origin::{ORIGIN_METRES_MAX, OriginError, OriginVersion, SectorOrigin};
pub use profile::{Profile, ProfileCodec, Quantizer, SCALE_PER_UNIT, Words3};
pub use range::{PER_UNIT_MAX, QuantizedRange, RangeError, WordRange};
pub use rotation::{Rotation, RotationWidth};

/// How often a value could not be quantized faithfully. A caller keeps one per world and shows it to the operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuantizeCounters {
    /// Components beyond the range of their profile.
    pub saturated: u64,
    /// Components that were infinite or not a number.
    pub non_finite: u64,
    /// Rotations that were not unit quaternions: rescaled if they had a direction, else replaced by the identity.
    pub unnormalized_rotations: u64,
    /// Scales that had to be sent raw: zero, negative, or 8 and above.
    pub raw_scales: u64,
}

/// The largest float below one half. Adding it and cutting off the fraction rounds half away from zero; adding one
/// half itself would round 0.49999999999999994 up.
const ALMOST_HALF: f64 = 0.499_999_999_999_999_94;

/// Rounds to the nearest integer, ties away from zero; NaN becomes zero and huge values saturate.
#[inline]
fn round_half_away(value: f64) -> i64 {
    (value + ALMOST_HALF.copysign(value)) as i64
}

/// [`round_half_away`] for values that fit an i32.
#[inline(always)]
fn round_small(value: f64) -> i32 {
    (value + ALMOST_HALF.copysign(value)) as i32
}

/// [`round_small`] in operations that processors have for vectors; of a value that does not fit an i32 comes anything.
#[inline(always)]
fn round_fitting(value: f64) -> i32 {
    // So large that its last bit is one: what is added to it is rounded, ties to even.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    let nearest = (value + WHOLE) - WHOLE;
    let half = 0.5f64.copysign(value);
    // A tie that went towards zero.
    let missing = if value - nearest == half { 2.0 * half } else { 0.0 };
    ((nearest + missing) + WHOLE).to_bits() as i32
}

/// The word of `value` within `min..=max`.
fn to_word(value: f64, per_unit: f64, min: i32, max: i32, counters: &mut QuantizeCounters) -> i32 {
    let finite = value.is_finite();
    let scaled = if finite { value * per_unit } else { 0.0 };
    let (min, max) = (f64::from(min), f64::from(max));
    counters.non_finite += u64::from(!finite);
    counters.saturated += u64::from((scaled <= min - 0.5) | (scaled >= max + 0.5));
    round_small(scaled.clamp(min, max))
}

/// The value of a word.
#[inline]
fn to_value(word: i32, per_unit: f64) -> f32 {
    (f64::from(word) / per_unit) as f32
}

/// A single as close as possible to `value`, never infinite or NaN.
#[inline]
fn to_finite_f32(value: f64, counters: &mut QuantizeCounters) -> f32 {
    let finite = value.is_finite();
    let limit = f64::from(f32::MAX);
    counters.non_finite += u64::from(!finite);
    counters.saturated += u64::from(finite && value.abs() > limit);
    if finite { value.clamp(-limit, limit) as f32 } else { 0.0 }
}

#[cfg(test)]
mod tests;
