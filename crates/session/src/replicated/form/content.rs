//! Contents of any length: texts, bytes and arrays.
//!
//! A content is compared whole, by its hash: it is there or it is not. Arrays of floats in steps are the exception, for two
//! of them that the wire makes no difference between may still differ in their words.

use netloom_replica::step::Fields;
use netloom_replica::world::{ObjectIndex, ValueError, World, WorldError};
use netloom_wire::WriteError;
use netloom_wire::hash::{Fnv64, fnv1a_64};
use netloom_wire::schema::{ArrayWriter, Delivery, FieldKind, Value};
use netloom_wire::varint;

use super::{ElementForm, Form, Source, refused};

/// A string of at most so many bytes.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    bytes_max: u16,
}

/// At most so many bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    bytes_max: u16,
}

impl Text {
    /// A text of 1 to as many bytes as the delivery allows.
    pub const fn new(bytes_max: i128, delivery: Delivery) -> Text {
        Text { bytes_max: checked(bytes_max, delivery) }
    }
}

impl Bytes {
    /// 1 to as many bytes as the delivery allows.
    pub const fn new(bytes_max: i128, delivery: Delivery) -> Bytes {
        Bytes { bytes_max: checked(bytes_max, delivery) }
    }
}

const fn checked(bytes_max: i128, delivery: Delivery) -> u16 {
    assert!(bytes_max >= 1, "a content has at least one byte");
    let fits = bytes_max <= delivery.content_bytes_max() as i128;
    assert!(
        fits || matches!(delivery, Delivery::Reliable),
        "a content that rides in snapshots has at most 1000 bytes: shorten it or add `reliable`"
    );
    assert!(fits, "a content that is delivered reliably has at most 65532 bytes");
    bytes_max as u16
}

fn describe_content(name: &'static str, content: &[u8], fields: &mut Fields) {
    fields.whole(name, fnv1a_64(content) as i64);
}

impl Form<String> for Text {
    fn kind(&self) -> FieldKind {
        FieldKind::Text { bytes_max: self.bytes_max }
    }

    fn write(
        &self,
        value: &String,
        world: &mut World,
        object: ObjectIndex,
        field: usize,
    ) -> Result<(), WorldError> {
        world.set(object, field, Value::Text(value))
    }

    fn read(&self, source: &Source<'_>, field: usize) -> Option<String> {
        if let Value::Text(text) = source.value(field)? { Some(text.to_owned()) } else { None }
    }

    fn describe(&self, name: &'static str, value: &String, fields: &mut Fields) {
        describe_content(name, value.as_bytes(), fields);
    }
}

impl Form<Vec<u8>> for Bytes {
    fn kind(&self) -> FieldKind {
        FieldKind::Bytes { bytes_max: self.bytes_max }
    }

    fn write(
        &self,
        value: &Vec<u8>,
        world: &mut World,
        object: ObjectIndex,
        field: usize,
    ) -> Result<(), WorldError> {
        world.set(object, field, Value::Bytes(value))
    }

    fn read(&self, source: &Source<'_>, field: usize) -> Option<Vec<u8>> {
        if let Value::Bytes(bytes) = source.value(field)? { Some(bytes.to_vec()) } else { None }
    }

    fn describe(&self, name: &'static str, value: &Vec<u8>, fields: &mut Fields) {
        describe_content(name, value, fields);
    }
}

/// At most so many elements of one form, which take at most `BYTES` encoded.
#[derive(Clone, Copy, Debug)]
pub struct Array<E, const BYTES: usize> {
    element: E,
    count_max: u16,
}

/// The most bytes of an array of at most `count_max` elements of so many bits.
pub const fn array_bytes(count_max: i128, element_bits: u32, delivery: Delivery) -> usize {
    assert!(count_max >= 1, "an array has room for at least one element");
    assert!(count_max <= u16::MAX as i128, "an array has at most 65535 elements");
    let bytes = varint::len(count_max as u64) + (count_max as usize * element_bits as usize).div_ceil(8);
    checked(bytes as i128, delivery) as usize
}

impl<E, const BYTES: usize> Array<E, BYTES> {
    /// An array for which [`array_bytes`] gave `BYTES`.
    pub const fn new(element: E, count_max: i128) -> Array<E, BYTES> {
        Array { element, count_max: count_max as u16 }
    }
}

impl<T, E: ElementForm<T>, const BYTES: usize> Form<Vec<T>> for Array<E, BYTES> {
    fn kind(&self) -> FieldKind {
        FieldKind::Array { element: self.element.element(), count_max: self.count_max }
    }

    fn write(
        &self,
        value: &Vec<T>,
        world: &mut World,
        object: ObjectIndex,
        field: usize,
    ) -> Result<(), WorldError> {
        let too_many = ValueError::TooMany { count: value.len(), count_max: self.count_max };
        if value.len() > usize::from(self.count_max) {
            return Err(refused(field, too_many));
        }
        let mut buffer = [0; BYTES];
        let mut writer = ArrayWriter::new(self.element.element(), self.count_max, &mut buffer);
        for element in value {
            writer.push(self.element.element_value(element).map_err(|source| refused(field, source))?);
        }
        let array = writer.finish().map_err(|error| match error {
            WriteError::NonFinite => refused(field, ValueError::NonFinite),
            _ => refused(field, ValueError::OutOfRange),
        })?;
        world.set(object, field, Value::Array(array))
    }

    fn read(&self, source: &Source<'_>, field: usize) -> Option<Vec<T>> {
        let Value::Array(array) = source.value(field)? else { return None };
        array.iter().map(|element| self.element.element_from(element)).collect()
    }

    fn describe(&self, name: &'static str, value: &Vec<T>, fields: &mut Fields) {
        let step = self.element.step();
        let mut hash = Fnv64::new().with(&(value.len() as u64).to_le_bytes());
        let values = value.iter().filter_map(|element| self.element.element_value(element).ok());
        if step.is_none() {
            hash = values.clone().fold(hash, |hash, value| hash.with(&bits(value).to_le_bytes()));
        }
        fields.whole(name, hash.value() as i64);
        if let Some(step) = step {
            for value in values {
                let word = if let Value::Word(word) = value { word } else { 0 };
                fields.number(name, step, f64::from(word) * step);
            }
        }
    }
}

/// Everything of an element.
fn bits(value: Value<'_>) -> u64 {
    match value {
        Value::Bool(value) => value.into(),
        Value::Word(word) => word as u64,
        Value::F32(value) => value.to_bits().into(),
        Value::U64(value) => value,
        Value::Name(name) => name.0,
        _ => 0,
    }
}
