//! Types that need no attribute: each has one natural form.

use netloom_replica::step::Fields;
use netloom_replica::world::{ObjectIndex, ValueError, World, WorldError};
use netloom_wire::Name;
use netloom_wire::schema::{ElementKind, FieldKind, Value};

use super::number::words;
use super::{ElementForm, Form, Source};
use crate::replicated::Choice;

/// A type that says by itself how it is sent: `bool`, integers of 8 and 16 bits, `u64` and [`Name`] whole, `f32` as it is,
/// and choices (enums with [`#[derive(Choice)]`](derive@crate::replicated::Choice)).
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` needs an attribute that says how it is sent",
    label = "how is `{Self}` sent?",
    note = "without an attribute: bool, u8, i8, u16, i16, u64, f32, Name, and enums with #[derive(Choice)]",
    note = "see the table of attributes at the derive, or leave the field out with #[replicated(skip)]"
)]
pub trait PlainField: Copy {
    /// Its kind.
    const ELEMENT: ElementKind;

    /// As a value of that kind.
    fn to_value(self) -> Value<'static>;

    /// From a value of that kind; `None` for any other.
    fn from_value(value: Value<'_>) -> Option<Self>;

    /// Lists it for comparison.
    fn describe(self, name: &'static str, fields: &mut Fields) {
        match self.to_value() {
            Value::Bool(value) => fields.whole(name, value),
            Value::Word(word) => fields.whole(name, word),
            Value::F32(value) => fields.number(name, 0.0, value),
            Value::U64(value) | Value::Name(Name(value)) => fields.whole(name, value as i64),
            _ => {}
        }
    }
}

/// The bits of an element, as [`ElementKind::bit_width`] has them, for constants.
pub const fn element_bits(element: ElementKind) -> u32 {
    match element {
        ElementKind::Bool => 1,
        ElementKind::Int(range) => range.bit_width(),
        ElementKind::Quantized(range) => range.words().bit_width(),
        ElementKind::F32 => 32,
        ElementKind::U64 | ElementKind::Name => 64,
    }
}

/// Whatever the type says.
#[derive(Clone, Copy, Debug)]
pub struct PlainForm;

impl<T: PlainField> Form<T> for PlainForm {
    fn kind(&self) -> FieldKind {
        T::ELEMENT.field_kind()
    }

    fn write(
        &self,
        value: &T,
        world: &mut World,
        object: ObjectIndex,
        field: usize,
    ) -> Result<(), WorldError> {
        world.set(object, field, value.to_value())
    }

    fn read(&self, source: &Source<'_>, field: usize) -> Option<T> {
        T::from_value(source.value(field)?)
    }

    fn describe(&self, name: &'static str, value: &T, fields: &mut Fields) {
        value.describe(name, fields);
    }
}

impl<T: PlainField> ElementForm<T> for PlainForm {
    fn element(&self) -> ElementKind {
        T::ELEMENT
    }

    fn element_value(&self, value: &T) -> Result<Value<'static>, ValueError> {
        match value.to_value() {
            Value::F32(value) if !value.is_finite() => Err(ValueError::NonFinite),
            value => Ok(value),
        }
    }

    fn element_from(&self, value: Value<'_>) -> Option<T> {
        T::from_value(value)
    }

    fn step(&self) -> Option<f64> {
        None
    }
}

macro_rules! plain {
    ($($type:ty => $kind:expr, $variant:ident;)+) => {$(
        impl PlainField for $type {
            const ELEMENT: ElementKind = $kind;

            fn to_value(self) -> Value<'static> {
                Value::$variant(self)
            }

            fn from_value(value: Value<'_>) -> Option<$type> {
                if let Value::$variant(value) = value { Some(value) } else { None }
            }
        }
    )+};
}

plain! {
    bool => ElementKind::Bool, Bool;
    f32 => ElementKind::F32, F32;
    u64 => ElementKind::U64, U64;
    Name => ElementKind::Name, Name;
}

macro_rules! plain_integers {
    ($($type:ty),+) => {$(
        impl PlainField for $type {
            const ELEMENT: ElementKind = ElementKind::Int(words(<$type>::MIN as i32, <$type>::MAX as i32));

            fn to_value(self) -> Value<'static> {
                Value::Word(self.into())
            }

            fn from_value(value: Value<'_>) -> Option<$type> {
                if let Value::Word(word) = value { word.try_into().ok() } else { None }
            }
        }
    )+};
}

plain_integers!(u8, i8, u16, i16);

/// The kind of a choice among so many.
pub const fn choice_kind(count: u32) -> ElementKind {
    assert!(count >= 2 && count <= 1 << 16, "a choice is one of 2 to 65536");
    ElementKind::Int(words(0, count as i32 - 1))
}

/// A choice as a value.
pub fn choice_value(choice: impl Choice) -> Value<'static> {
    Value::Word(choice.index() as i32)
}

/// The choice of a value.
pub fn choice_from<C: Choice>(value: Value<'_>) -> Option<C> {
    if let Value::Word(word) = value { C::from_index(word.try_into().ok()?) } else { None }
}

#[cfg(test)]
mod tests {
    use netloom_wire::quantize::QuantizedRange;

    use super::*;

    #[test]
    fn constant_widths_are_those_of_the_wire() {
        let quantized = ElementKind::Quantized(QuantizedRange::new(-3.0, 9.0, 7).unwrap());
        for element in
            [bool::ELEMENT, f32::ELEMENT, u64::ELEMENT, Name::ELEMENT, u8::ELEMENT, i16::ELEMENT, quantized]
        {
            assert_eq!(element_bits(element), element.bit_width(), "{element:?}");
        }
    }
}
