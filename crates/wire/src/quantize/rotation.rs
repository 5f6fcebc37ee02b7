//! Rotations as the three smallest components of a unit quaternion.
//!
//! A unit quaternion has three degrees of freedom, and q and −q are the same rotation. So the component of largest
//! magnitude is dropped, after negating the whole quaternion if that one was negative; the receiver restores it as the
//! positive root. What remains lies within ±1/√2 and is rounded to steps of 1/(half·√2), with zero a step of its own,
//! so that the identity is exact.
//!
//! ```text
//!   index of the dropped one (x y z w = 0 1 2 3)      half = 511: 4 bytes, error ≤ 0.28°
//!   │   the other three in the order x y z w,         half = 16383: 6 bytes, error ≤ 0.009°
//!   │   each as its step + half
//!   2 | 10 | 10 | 10      or      2 | 15 | 15 | 15 | 0
//!   bit 0 ───────────►
//! ```

use core::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use super::{QuantizeCounters, round_fitting};
use crate::error::ReadError;

/// Below this squared length a quaternion has no direction worth keeping.
const LENGTH_SQUARED_MIN: f64 = 1e-12;
/// A squared length this far from one is rounding, not a mistake.
const LENGTH_SQUARED_TOLERANCE: f64 = 1e-3;
/// A raw rotation on the wire must be a unit quaternion up to this difference of its squared length.
const RAW_LENGTH_SQUARED_TOLERANCE: f64 = 1e-2;

/// How finely a rotation is quantized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RotationWidth {
    /// Ten bits a component, 32 in all; at most 0.28° off.
    Ten,
    /// Fifteen bits a component, 47 in all; at most 0.009° off.
    Fifteen,
}

impl RotationWidth {
    /// Bits of one component.
    pub const fn component_bits(self) -> u32 {
        match self {
            RotationWidth::Ten => 10,
            RotationWidth::Fifteen => 15,
        }
    }

    /// Bits of the whole rotation.
    pub const fn bit_width(self) -> u32 {
        2 + 3 * self.component_bits()
    }

    /// The largest step of a component, and the code of zero.
    pub const fn half(self) -> i16 {
        match self {
            RotationWidth::Ten => 511,
            RotationWidth::Fifteen => 16_383,
        }
    }

    /// The sum of squared steps that stands for one.
    const fn unit_squared(self) -> u32 {
        2 * (self.half() as u32) * (self.half() as u32)
    }

    /// The component of one step, and the part of one that a squared step is. With these factors instead of divisions
    /// no step and no rest comes out as another single; the tests look at them one by one.
    const fn factors(self) -> (f64, f64) {
        const TEN: f64 = RotationWidth::Ten.half() as f64;
        const FIFTEEN: f64 = RotationWidth::Fifteen.half() as f64;
        match self {
            RotationWidth::Ten => const { (FRAC_1_SQRT_2 / TEN, 1.0 / (2.0 * TEN * TEN)) },
            RotationWidth::Fifteen => const { (FRAC_1_SQRT_2 / FIFTEEN, 1.0 / (2.0 * FIFTEEN * FIFTEEN)) },
        }
    }
}

/// A rotation ready for the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rotation {
    /// The index of the dropped component and the steps of the other three.
    SmallestThree {
        /// Which component was dropped: x, y, z, w are 0 to 3.
        largest: u8,
        /// The steps of the others in the order x, y, z, w, each within ± the width's half.
        steps: [i16; 3],
    },
    /// Four singles, x y z w.
    Raw([f32; 4]),
}

impl Rotation {
    /// No rotation.
    pub const IDENTITY: Rotation = Rotation::SmallestThree { largest: 3, steps: [0; 3] };

    /// Quantizes the quaternion x y z w.
    #[inline]
    pub fn quantize(quaternion: [f32; 4], width: RotationWidth, counters: &mut QuantizeCounters) -> Rotation {
        let [largest, steps @ ..] = drop_largest(normalize(quaternion, counters), width.half().into());
        Rotation::SmallestThree { largest: largest as u8, steps: steps.map(|step| step as i16) }
    }

    /// The quaternion as four singles of unit length.
    #[inline]
    pub fn raw(quaternion: [f32; 4], counters: &mut QuantizeCounters) -> Rotation {
        Rotation::Raw(normalize(quaternion, counters).map(|component| component as f32))
    }

    /// The quaternion x y z w. Of a quantized rotation the dropped component is positive.
    #[inline]
    pub fn dequantize(self, width: RotationWidth) -> [f32; 4] {
        let (largest, steps) = match self {
            Rotation::Raw(quaternion) => return quaternion,
            Rotation::SmallestThree { largest, steps } => (usize::from(largest & 3), steps),
        };
        let root = root_of_rest(width.unit_squared().saturating_sub(sum_of_squares(steps)), width).to_bits();
        let [a, b, c] = steps.map(|step| ((f64::from(step) * width.factors().0) as f32).to_bits());
        // Which one was dropped is as good as random: chosen among bits, without a branch to predict.
        let choose = |is_first: bool, first: u32, second: u32| if is_first { first } else { second };
        [
            choose(largest == 0, root, a),
            choose(largest == 0, a, choose(largest == 1, root, b)),
            choose(largest == 3, c, choose(largest == 2, root, b)),
            choose(largest == 3, root, c),
        ]
        .map(f32::from_bits)
    }

    /// The bits of a quantized rotation, lowest first; a raw one has none.
    #[inline]
    pub fn pack(self, width: RotationWidth) -> Option<u64> {
        let Rotation::SmallestThree { largest, steps } = self else {
            return None;
        };
        let (bits, half) = (width.component_bits(), width.half());
        if largest > 3 || steps.iter().any(|step| !(-half..=half).contains(step)) {
            return None;
        }
        let code = |step: i16| (step + half) as u64;
        Some(
            u64::from(largest)
                | code(steps[0]) << 2
                | code(steps[1]) << (2 + bits)
                | code(steps[2]) << (2 + 2 * bits),
        )
    }

    /// The inverse of [`Rotation::pack`]. Refuses set bits above the rotation's width, the one code too many of each
    /// component, and components whose squares add up to more than one.
    #[inline]
    pub fn unpack(packed: u64, width: RotationWidth) -> Result<Rotation, ReadError> {
        let (bits, half) = (width.component_bits(), width.half());
        if packed >> width.bit_width() != 0 {
            return Err(ReadError::ReservedBits);
        }
        let code_mask = (1 << bits) - 1;
        let codes = [2, 2 + bits, 2 + 2 * bits].map(|shift| ((packed >> shift) & code_mask) as i16);
        if codes.contains(&(2 * half + 1)) {
            return Err(ReadError::OutOfRange);
        }
        let steps = codes.map(|code| code - half);
        if sum_of_squares(steps) > width.unit_squared() {
            return Err(ReadError::InvalidRotation);
        }
        Ok(Rotation::SmallestThree { largest: (packed & 3) as u8, steps })
    }

    /// A raw rotation from the wire: finite, and of unit length up to 1 % of its square.
    pub fn from_raw(quaternion: [f32; 4]) -> Result<Rotation, ReadError> {
        if quaternion.iter().any(|component| !component.is_finite()) {
            return Err(ReadError::NonFinite);
        }
        match Rotation::is_raw(quaternion) {
            true => Ok(Rotation::Raw(quaternion)),
            false => Err(ReadError::InvalidRotation),
        }
    }

    /// Whether [`from_raw`](Self::from_raw) accepts this.
    #[inline(always)]
    pub fn is_raw(quaternion: [f32; 4]) -> bool {
        // Of what is not finite it is infinite or no number.
        let distance = (length_squared(quaternion.map(f64::from)) - 1.0).abs();
        distance <= RAW_LENGTH_SQUARED_TOLERANCE
    }
}

/// The index of the largest component of a unit quaternion and the steps of the others. Which one is the largest is as good as random, so
/// nothing here branches or is looked up.
#[inline(always)]
fn drop_largest([x, y, z, w]: [f64; 4], half: f64) -> [i32; 4] {
    let (mut largest, mut component) = (0, x);
    for (index, other) in [(1, y), (2, z), (3, w)] {
        let is_larger = other.abs() > component.abs();
        largest = if is_larger { index } else { largest };
        component = if is_larger { other } else { component };
    }
    let factor = half * SQRT_2.copysign(component);
    let first = if largest == 0 { y } else { x };
    let second = if largest <= 1 { z } else { y };
    let third = if largest == 3 { z } else { w };
    // A remaining component is at most 1/√2, so that rounding cannot leave ±half.
    let [a, b, c] = [first, second, third].map(|component| round_fitting(component * factor));
    [largest, a, b, c]
}

/// The same of a quaternion that is as good as unit; whether it is.
#[inline(always)]
pub(super) fn smallest_three(quaternion: [f32; 4], half: f64) -> ([i32; 4], bool) {
    let q = quaternion.map(f64::from);
    let squared = length_squared(q);
    let factor = 1.0 / squared.sqrt();
    let is_unit = (squared - 1.0).abs() <= LENGTH_SQUARED_TOLERANCE;
    (drop_largest(q.map(|component| component * factor), half), is_unit)
}

/// The component whose square is what the others leave of one, in squared steps.
#[inline]
pub(super) fn root_of_rest(rest: u32, width: RotationWidth) -> f32 {
    (f64::from(rest) * width.factors().1).sqrt() as f32
}

fn sum_of_squares(steps: [i16; 3]) -> u32 {
    steps.iter().map(|&step| i32::from(step).pow(2) as u32).sum()
}

#[inline(always)]
fn length_squared(q: [f64; 4]) -> f64 {
    q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
}

/// The unit quaternion in the direction of `quaternion`, or the identity if it has none.
#[inline]
fn normalize(quaternion: [f32; 4], counters: &mut QuantizeCounters) -> [f64; 4] {
    let q = quaternion.map(f64::from);
    let squared = length_squared(q);
    let off = (squared - 1.0).abs();
    counters.unnormalized_rotations += u64::from(off.is_nan() | (off > LENGTH_SQUARED_TOLERANCE));
    if squared.is_finite() && squared >= LENGTH_SQUARED_MIN {
        let factor = 1.0 / squared.sqrt();
        q.map(|component| component * factor)
    } else {
        [0.0, 0.0, 0.0, 1.0]
    }
}
