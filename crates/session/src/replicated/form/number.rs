//! Numbers of a range: integers, and floats in steps.

use netloom_replica::step::Fields;
use netloom_replica::world::{ObjectIndex, ValueError, World, WorldError};
use netloom_wire::quantize::{PER_UNIT_MAX, WordRange};
use netloom_wire::schema::{ElementKind, FieldKind, Value};

use super::{ElementForm, Form, Source, refused};

/// A range in a constant.
pub(super) const fn words(min: i32, max: i32) -> WordRange {
    let result = WordRange::new(min, max);
    let range = match &result {
        Ok(range) => *range,
        Err(_) => panic!("a range ends before it begins"),
    };
    // Nothing is lost: a range owns nothing. Constants have no destructors.
    core::mem::forget(result);
    range
}

/// Integers of a range.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    range: WordRange,
}

impl Whole {
    /// The integers of `min..=max`, all of which `T` has.
    pub const fn new<T: Integer>(min: i128, max: i128) -> Whole {
        assert!(min < max, "a range has more than one value: its second end is the larger one");
        assert!(T::LOWEST <= min && max <= T::HIGHEST, "the range does not fit the type of the field");
        assert!(i32::MIN as i128 <= min && max <= i32::MAX as i128, "a range lies within that of an i32");
        Whole { range: words(min as i32, max as i32) }
    }

    /// The bits of one.
    pub const fn bits(self) -> u32 {
        self.range.bit_width()
    }
}

impl<T: Integer> Form<T> for Whole {
    fn kind(&self) -> FieldKind {
        FieldKind::Int(self.range)
    }

    fn write(
        &self,
        value: &T,
        world: &mut World,
        object: ObjectIndex,
        field: usize,
    ) -> Result<(), WorldError> {
        let value = self.element_value(value).map_err(|source| refused(field, source))?;
        world.set(object, field, value)
    }

    fn read(&self, source: &Source<'_>, field: usize) -> Option<T> {
        self.element_from(source.value(field)?)
    }

    fn describe(&self, name: &'static str, value: &T, fields: &mut Fields) {
        fields.whole(name, value.to_i64());
    }
}

impl<T: Integer> ElementForm<T> for Whole {
    fn element(&self) -> ElementKind {
        ElementKind::Int(self.range)
    }

    fn element_value(&self, value: &T) -> Result<Value<'static>, ValueError> {
        let word = i32::try_from(value.to_i64()).ok().filter(|word| self.range.contains(*word));
        word.map(Value::Word).ok_or(ValueError::OutOfRange)
    }

    fn element_from(&self, value: Value<'_>) -> Option<T> {
        if let Value::Word(word) = value { T::from_word(word) } else { None }
    }

    fn step(&self) -> Option<f64> {
        None
    }
}

/// Floats of a range, in steps.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    min: f64,
    max: f64,
    per_unit: u32,
    words: WordRange,
}

impl Steps {
    /// The floats of `min..=max` in steps of `step`, which is one over a whole number.
    pub const fn new(min: f64, max: f64, step: f64) -> Steps {
        assert!(step > 0.0 && step <= 1.0, "a step is above 0 and at most 1");
        let per_unit = (1.0 / step).round();
        assert!(per_unit <= PER_UNIT_MAX as f64, "a step is at least one millionth");
        let error = per_unit * step - 1.0;
        assert!(
            -1e-6 < error && error < 1e-6,
            "a step is one over a whole number: 1, 0.5, 0.1, 0.01, 0.0625"
        );
        assert!(min.is_finite() && max.is_finite(), "the ends of a range are finite");
        let (first, last) = ((min * per_unit).round(), (max * per_unit).round());
        assert!(first < last, "a range has more than one step: its second end is the larger one");
        assert!(
            i32::MIN as f64 <= first && last <= i32::MAX as f64,
            "a range has at most 2^32 steps around 0"
        );
        Steps { min, max, per_unit: per_unit as u32, words: words(first as i32, last as i32) }
    }

    /// The bits of one.
    pub const fn bits(self) -> u32 {
        self.words.bit_width()
    }

    fn per_unit(self) -> f64 {
        f64::from(self.per_unit)
    }

    /// The nearest word, or `None` for what the wire cannot carry: beyond the range, or not finite.
    fn word(self, value: f64) -> Option<i32> {
        let scaled = (value * self.per_unit()).round();
        let range = f64::from(self.words.min())..=f64::from(self.words.max());
        range.contains(&scaled).then_some(scaled as i32)
    }

    fn value<T: Float>(self, word: i32) -> T {
        T::from_f64(f64::from(word) / self.per_unit())
    }

    /// What the wire makes of a value beyond the range.
    fn saturated(self, value: f64) -> f64 {
        value.clamp(
            f64::from(self.words.min()) / self.per_unit(),
            f64::from(self.words.max()) / self.per_unit(),
        )
    }
}

impl<T: Float> Form<T> for Steps {
    fn kind(&self) -> FieldKind {
        FieldKind::quantized(self.min, self.max, self.per_unit).expect("`new` checked the same")
    }

    fn write(
        &self,
        value: &T,
        world: &mut World,
        object: ObjectIndex,
        field: usize,
    ) -> Result<(), WorldError> {
        let value = value.to_f64();
        // What does not fit goes to the world as it is, which saturates and counts it.
        let single = value.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
        world.set(object, field, self.word(value).map_or(Value::F32(single), Value::Word))
    }

    fn read(&self, source: &Source<'_>, field: usize) -> Option<T> {
        self.element_from(source.value(field)?)
    }

    fn describe(&self, name: &'static str, value: &T, fields: &mut Fields) {
        fields.number(name, 1.0 / self.per_unit(), self.saturated(value.to_f64()));
    }
}

impl<T: Float> ElementForm<T> for Steps {
    fn element(&self) -> ElementKind {
        ElementKind::quantized(self.min, self.max, self.per_unit).expect("`new` checked the same")
    }

    fn element_value(&self, value: &T) -> Result<Value<'static>, ValueError> {
        let value = value.to_f64();
        if value.is_nan() {
            return Err(ValueError::NonFinite);
        }
        self.word(self.saturated(value)).map(Value::Word).ok_or(ValueError::OutOfRange)
    }

    fn element_from(&self, value: Value<'_>) -> Option<T> {
        if let Value::Word(word) = value { Some(self.value(word)) } else { None }
    }

    fn step(&self) -> Option<f64> {
        Some(1.0 / self.per_unit())
    }
}

/// Floats in steps that are angles in radians: a turn apart is the same.
#[derive(Clone, Copy, Debug)]
pub struct Angle(pub Steps);

impl<T: Float> Form<T> for Angle {
    fn kind(&self) -> FieldKind {
        Form::<T>::kind(&self.0)
    }

    fn write(
        &self,
        value: &T,
        world: &mut World,
        object: ObjectIndex,
        field: usize,
    ) -> Result<(), WorldError> {
        self.0.write(value, world, object, field)
    }

    fn read(&self, source: &Source<'_>, field: usize) -> Option<T> {
        self.0.read(source, field)
    }

    fn describe(&self, name: &'static str, value: &T, fields: &mut Fields) {
        fields.angle(name, 1.0 / self.0.per_unit(), self.0.saturated(value.to_f64()));
    }
}

/// The integers of Rust up to 64 bits.
#[diagnostic::on_unimplemented(
    message = "`range` without `step` is for integers, and `{Self}` is none",
    label = "`{Self}` is no integer",
    note = "a range of floats needs a step: `range = -1.0..=1.0, step = 0.01`"
)]
pub trait Integer: Copy + sealed::Sealed {
    /// The smallest.
    const LOWEST: i128;
    /// The largest.
    const HIGHEST: i128;

    /// The same number, or the nearest there is.
    fn to_i64(self) -> i64;

    /// The number of a word; `None` if the type does not have it.
    fn from_word(word: i32) -> Option<Self>;
}

/// The floats of Rust.
#[diagnostic::on_unimplemented(
    message = "`range` with `step` is for f32 and f64, and `{Self}` is neither",
    label = "`{Self}` is no float"
)]
pub trait Float: Copy + sealed::Sealed {
    /// The same number.
    fn to_f64(self) -> f64;

    /// The nearest number.
    fn from_f64(value: f64) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl sealed::Sealed for $type {}

        impl Integer for $type {
            const LOWEST: i128 = <$type>::MIN as i128;
            const HIGHEST: i128 = <$type>::MAX as i128;

            fn to_i64(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }

            fn from_word(word: i32) -> Option<$type> {
                word.try_into().ok()
            }
        }
    )+};
}

integers!(u8, i8, u16, i16, u32, i32, u64, i64, usize, isize);

macro_rules! floats {
    ($($type:ty),+) => {$(
        impl sealed::Sealed for $type {}

        impl Float for $type {
            fn to_f64(self) -> f64 {
                self.into()
            }

            fn from_f64(value: f64) -> $type {
                value as $type
            }
        }
    )+};
}

floats!(f32, f64);
