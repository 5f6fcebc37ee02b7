//! The four profiles of a transform.
//!
//! | profile  | position                   | rotation | scale  | velocity            | relative to the origin |
//! |----------|----------------------------|----------|--------|---------------------|------------------------|
//! | STANDARD | i16, 1 cm, ±327.67 m       | 10 bits  | 1/32   | i16, 1 cm/s         | yes                    |
//! | HIGH     | i32, 0.1 mm, ±214,748 m    | 15 bits  | 1/32   | i32, 0.1 mm/s       | yes                    |
//! | WORLD    | i16, 1 m, ±32,767 m        | 10 bits  | 1/32   | i16, 1 cm/s         | no                     |
//! | NONE     | f32                        | f32      | f32    | f32                 | no                     |
//!
//! The functions of a profile stand in a table ([`Profile::codec`]), one entry per profile: the hot path makes one
//! indirect call per field instead of a decision per axis.

use super::rotation::smallest_three;
use super::{QuantizeCounters, Rotation, RotationWidth, SectorOrigin, round_fitting, to_finite_f32, to_word};

/// Steps of a quantized scale per unit.
pub const SCALE_PER_UNIT: u32 = 32;

const SCALE_WORD_MAX: i32 = 255;
const VELOCITY_PER_UNIT: u32 = 100;
const I16_LIMIT: i32 = i16::MAX as i32;
const I32_LIMIT: i32 = i32::MAX;

/// How the transform of an object is quantized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Centimetres within ±327.67 m of the origin.
    #[default]
    Standard = 0,
    /// Tenths of a millimetre within ±214,748 m of the origin.
    High = 1,
    /// Metres within ±32,767 m of the world's zero.
    World = 2,
    /// Single-precision floats as they are.
    None = 3,
}

impl Profile {
    /// All profiles in the order of their wire values.
    pub const ALL: [Profile; 4] = [Profile::Standard, Profile::High, Profile::World, Profile::None];

    /// The profile of a wire value; only the low two bits count.
    pub const fn from_bits(bits: u8) -> Profile {
        Profile::ALL[(bits & 3) as usize]
    }

    /// The functions of this profile.
    #[inline]
    pub fn codec(self) -> &'static ProfileCodec {
        &CODECS[self as usize]
    }

    /// Whether positions are relative to the sector origin.
    pub const fn uses_origin(self) -> bool {
        matches!(self, Profile::Standard | Profile::High)
    }

    /// How finely rotations are quantized; `None` if they are raw.
    pub const fn rotation_width(self) -> Option<RotationWidth> {
        match self {
            Profile::Standard | Profile::World => Some(RotationWidth::Ten),
            Profile::High => Some(RotationWidth::Fifteen),
            Profile::None => Option::None,
        }
    }

    /// How this profile makes words, for whoever makes those of many objects at once; `None` if it makes none.
    pub fn quantizer(self) -> Option<Quantizer> {
        let codec = self.codec();
        let width = self.rotation_width()?;
        let position_bound = codec.position_bound;
        Some(Quantizer {
            per_unit: codec.position_per_unit,
            position_bound,
            rotation_half: width.half().into(),
        })
    }

    /// What positions are measured from, in metres: the origin, or the world's zero.
    #[inline]
    pub fn zero(self, origin: &SectorOrigin) -> [f64; 3] {
        if self.uses_origin() { origin.metres() } else { [0.0; 3] }
    }

    /// The words of a position in the world.
    #[inline]
    pub fn quantize_position(
        self,
        world: [f64; 3],
        origin: &SectorOrigin,
        counters: &mut QuantizeCounters,
    ) -> Words3 {
        self.quantize_local(world, self.zero(origin), counters)
    }

    /// The words of a position in the world, measured from [`Profile::zero`].
    #[inline]
    pub fn quantize_local(self, world: [f64; 3], zero: [f64; 3], counters: &mut QuantizeCounters) -> Words3 {
        (self.codec().position)([world[0] - zero[0], world[1] - zero[1], world[2] - zero[2]], counters)
    }

    /// Metres from one word of a position to the next; of NONE, which has floats instead of words, one.
    pub fn position_step_metres(self) -> f64 {
        self.codec().position_step
    }

    /// The position relative to the origin (STANDARD, HIGH) or to the world's zero.
    #[inline]
    pub fn dequantize_position(self, words: Words3) -> [f32; 3] {
        words.values(self.codec().position_step)
    }

    /// The position in the world.
    pub fn world_position(self, words: Words3, origin: &SectorOrigin) -> [f64; 3] {
        self.position_from(words, self.zero(origin))
    }

    /// The position in the world, measured from [`Profile::zero`].
    pub fn position_from(self, words: Words3, zero: [f64; 3]) -> [f64; 3] {
        let local = match words.raw {
            true => words.raw_values().map(f64::from),
            false => words.words.map(|word| f64::from(word) / self.codec().position_per_unit),
        };
        [local[0] + zero[0], local[1] + zero[1], local[2] + zero[2]]
    }

    /// The rotation of a quaternion x y z w.
    #[inline]
    pub fn quantize_rotation(self, quaternion: [f32; 4], counters: &mut QuantizeCounters) -> Rotation {
        (self.codec().rotation)(quaternion, counters)
    }

    /// The quaternion x y z w of a rotation.
    #[inline]
    pub fn dequantize_rotation(self, rotation: Rotation) -> [f32; 4] {
        rotation.dequantize(self.rotation_width().unwrap_or(RotationWidth::Ten))
    }

    /// The words of a scale.
    #[inline]
    pub fn quantize_scale(self, scale: [f32; 3], counters: &mut QuantizeCounters) -> Words3 {
        (self.codec().scale)(scale, counters)
    }

    /// The scale of words.
    #[inline]
    pub fn dequantize_scale(self, words: Words3) -> [f32; 3] {
        words.values(1.0 / f64::from(SCALE_PER_UNIT))
    }

    /// The words of a velocity.
    #[inline]
    pub fn quantize_velocity(self, velocity: [f32; 3], counters: &mut QuantizeCounters) -> Words3 {
        (self.codec().velocity)(velocity, counters)
    }

    /// The velocity of words.
    #[inline]
    pub fn dequantize_velocity(self, words: Words3) -> [f32; 3] {
        words.values(self.codec().velocity_step)
    }
}

/// Positions and rotations to words without a decision, so that a loop over many objects becomes vector instructions. The words are
/// those of [`Profile::quantize_position`] and [`Profile::quantize_rotation`], unless there is something to count: then they are
/// nothing, and those are to be asked.
#[derive(Clone, Copy, Debug)]
pub struct Quantizer {
    per_unit: f64,
    position_bound: f64,
    rotation_half: f64,
}

impl Quantizer {
    /// The words of a position relative to its [zero](Profile::zero), and whether they are any good.
    #[inline(always)]
    pub fn position(&self, local: [f64; 3]) -> ([i32; 3], bool) {
        fitting(local, self.per_unit, self.position_bound)
    }

    /// Which component of a quaternion x y z w is dropped, the steps of the other three, and whether they are any good.
    #[inline(always)]
    pub fn rotation(&self, quaternion: [f32; 4]) -> ([i32; 4], bool) {
        smallest_three(quaternion, self.rotation_half)
    }
}

/// Three components: words, or the bits of three singles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Words3 {
    /// The components x y z.
    pub words: [i32; 3],
    /// Whether they are the bits of singles rather than words.
    pub raw: bool,
}

impl Words3 {
    /// Quantized components.
    pub const fn quantized(words: [i32; 3]) -> Words3 {
        Words3 { words, raw: false }
    }

    /// Singles as they are.
    pub fn raw(values: [f32; 3]) -> Words3 {
        Words3 { words: values.map(|value| value.to_bits() as i32), raw: true }
    }

    /// The singles of raw components.
    pub fn raw_values(self) -> [f32; 3] {
        self.words.map(|word| f32::from_bits(word as u32))
    }

    /// Multiplies by a step where the standard divides by the steps per unit. The product may differ from the quotient in
    /// the last of its 53 bits; none of the 2^32 words with 100 or 10,000 steps per unit becomes another single by that,
    /// and a power of two divides exactly.
    #[inline]
    fn values(self, step: f64) -> [f32; 3] {
        if self.raw { self.raw_values() } else { self.words.map(|word| (f64::from(word) * step) as f32) }
    }
}

/// The quantizing functions of one profile.
#[derive(Debug)]
pub struct ProfileCodec {
    /// A position relative to what the profile asks for; raw if a component saturated.
    pub position: fn([f64; 3], &mut QuantizeCounters) -> Words3,
    /// A quaternion x y z w.
    pub rotation: fn([f32; 4], &mut QuantizeCounters) -> Rotation,
    /// A scale; raw if a component is below half a step, negative, or above 255 steps.
    pub scale: fn([f32; 3], &mut QuantizeCounters) -> Words3,
    /// A velocity; saturates.
    pub velocity: fn([f32; 3], &mut QuantizeCounters) -> Words3,
    position_per_unit: f64,
    position_bound: f64,
    position_step: f64,
    velocity_step: f64,
}

static CODECS: [ProfileCodec; 4] = [
    ProfileCodec {
        position: fixed_position::<100, I16_LIMIT>,
        rotation: |quaternion, counters| Rotation::quantize(quaternion, RotationWidth::Ten, counters),
        scale: fixed_scale,
        velocity: fixed_velocity::<VELOCITY_PER_UNIT, I16_LIMIT>,
        position_per_unit: 100.0,
        position_bound: bound(I16_LIMIT),
        position_step: 1.0 / 100.0,
        velocity_step: 1.0 / 100.0,
    },
    ProfileCodec {
        position: fixed_position::<10_000, I32_LIMIT>,
        rotation: |quaternion, counters| Rotation::quantize(quaternion, RotationWidth::Fifteen, counters),
        scale: fixed_scale,
        velocity: fixed_velocity::<10_000, I32_LIMIT>,
        position_per_unit: 10_000.0,
        position_bound: bound(I32_LIMIT),
        position_step: 1.0 / 10_000.0,
        velocity_step: 1.0 / 10_000.0,
    },
    ProfileCodec {
        position: fixed_position::<1, I16_LIMIT>,
        rotation: |quaternion, counters| Rotation::quantize(quaternion, RotationWidth::Ten, counters),
        scale: fixed_scale,
        velocity: fixed_velocity::<VELOCITY_PER_UNIT, I16_LIMIT>,
        position_per_unit: 1.0,
        position_bound: bound(I16_LIMIT),
        position_step: 1.0,
        velocity_step: 1.0 / 100.0,
    },
    ProfileCodec {
        position: raw_position,
        rotation: Rotation::raw,
        scale: raw_scale,
        velocity: |velocity, counters| raw_position(velocity.map(f64::from), counters),
        position_per_unit: 1.0,
        position_bound: f64::INFINITY,
        position_step: 1.0,
        velocity_step: 1.0,
    },
];

/// The words of three components, and whether all fit, with one decision for the three.
#[inline(always)]
fn fitting(values: [f64; 3], per_unit: f64, bound: f64) -> ([i32; 3], bool) {
    let scaled = values.map(|value| value * per_unit);
    let fits = (scaled[0].abs() < bound) & (scaled[1].abs() < bound) & (scaled[2].abs() < bound);
    (scaled.map(round_fitting), fits)
}

/// What no component may reach that has a word.
const fn bound(limit: i32) -> f64 {
    limit as f64 + 0.5
}

#[cold]
fn saturated<const PER_UNIT: u32, const LIMIT: i32>(
    values: [f64; 3],
    counters: &mut QuantizeCounters,
) -> [i32; 3] {
    values.map(|value| to_word(value, f64::from(PER_UNIT), -LIMIT, LIMIT, counters))
}

fn fixed_position<const PER_UNIT: u32, const LIMIT: i32>(
    local: [f64; 3],
    counters: &mut QuantizeCounters,
) -> Words3 {
    if let (words, true) = fitting(local, f64::from(PER_UNIT), bound(LIMIT)) {
        return Words3::quantized(words);
    }
    let saturated_before = counters.saturated;
    let words = saturated::<PER_UNIT, LIMIT>(local, counters);
    if counters.saturated == saturated_before {
        Words3::quantized(words)
    } else {
        // The components that are not finite were counted above.
        Words3::raw(local.map(|axis| to_finite_f32(axis, &mut QuantizeCounters::default())))
    }
}

fn fixed_velocity<const PER_UNIT: u32, const LIMIT: i32>(
    velocity: [f32; 3],
    counters: &mut QuantizeCounters,
) -> Words3 {
    let velocity = velocity.map(f64::from);
    Words3::quantized(match fitting(velocity, f64::from(PER_UNIT), bound(LIMIT)) {
        (words, true) => words,
        (_, false) => saturated::<PER_UNIT, LIMIT>(velocity, counters),
    })
}

fn raw_position(local: [f64; 3], counters: &mut QuantizeCounters) -> Words3 {
    Words3::raw(local.map(|axis| to_finite_f32(axis, counters)))
}

/// A scale that is not a number becomes 1, which leaves the object visible.
fn finite_scale(scale: [f32; 3], counters: &mut QuantizeCounters) -> [f32; 3] {
    scale.map(|axis| {
        counters.non_finite += u64::from(!axis.is_finite());
        if axis.is_finite() { axis } else { 1.0 }
    })
}

fn raw_scale(scale: [f32; 3], counters: &mut QuantizeCounters) -> Words3 {
    Words3::raw(finite_scale(scale, counters))
}

fn fixed_scale(scale: [f32; 3], counters: &mut QuantizeCounters) -> Words3 {
    let scale = finite_scale(scale, counters);
    let mut outside = QuantizeCounters::default();
    let words = scale
        .map(|axis| to_word(f64::from(axis), f64::from(SCALE_PER_UNIT), 1, SCALE_WORD_MAX, &mut outside));
    if outside.saturated == 0 {
        Words3::quantized(words)
    } else {
        counters.raw_scales += 1;
        Words3::raw(scale)
    }
}
