//! Arrays: as many values of one kind as there are just now, up to a limit.
//!
//! An inventory, the hits of a volley or the cells that a player has uncovered have no fixed length. Memory for them must
//! not be promised by a number from the wire, and a list of a few small integers must not cost a byte or more each. So
//! an array stays in its encoded form, borrowed from whoever holds it; its elements are read out of it one by one.
//!
//! ```text
//!   content:  ├─ count ─┼─ element 0 ─┼─ element 1 ─┼ ... ┼─ zeros ─┤
//!               varint    each as wide as its kind needs,    to the byte border
//!                         bits in the order of `bits`
//!
//!   true, false, true       03 05           a count and one byte
//!   7, 0, 9 of 0..=9        03 07 09        four bits each
//! ```
//!
//! Every element has the same width, so that the count gives the length and any element is found at once. There is one
//! content for each array: the shortest count, zeros after the last element. [`Array`] is only made of content that was
//! checked whole, so what it yields is always in range.
//!
//! ```
//! use netloom_wire::schema::{ArrayWriter, ElementKind, Value};
//!
//! let digits = ElementKind::int(0, 9)?;
//! let mut buffer = [0; 16];
//! let mut writer = ArrayWriter::new(digits, 20, &mut buffer);
//! [7, 0, 9].map(|digit| writer.push(Value::Word(digit)));
//! let array = writer.finish()?;
//! assert_eq!(array.content(), [3, 0x07, 0x09]);
//! assert!(array.iter().eq([7, 0, 9].map(Value::Word)));
//! assert_eq!(array.get(2), Some(Value::Word(9)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::kind::{FieldKind, Value};
use crate::bits::{BitReader, BitWriter};
use crate::bytes::ByteReader;
use crate::error::{ReadError, WriteError};
use crate::quantize::{QuantizedRange, RangeError, WordRange};
use crate::varint;

/// What values the elements of an array take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementKind {
    /// True or false, a bit each.
    Bool,
    /// Integers of a range.
    Int(WordRange),
    /// Floats of a range, in steps.
    Quantized(QuantizedRange),
    /// Finite singles as they are.
    F32,
    /// Opaque 64-bit numbers.
    U64,
    /// Hashed strings, as hashes always.
    Name,
}

impl ElementKind {
    /// Integers from `min` to `max`.
    pub fn int(min: i32, max: i32) -> Result<ElementKind, RangeError> {
        WordRange::new(min, max).map(ElementKind::Int)
    }

    /// Floats from `min` to `max` in steps of `1/per_unit`.
    pub fn quantized(min: f64, max: f64, per_unit: u32) -> Result<ElementKind, RangeError> {
        QuantizedRange::new(min, max, per_unit).map(ElementKind::Quantized)
    }

    /// The kind of a field that holds one such element.
    pub const fn field_kind(self) -> FieldKind {
        match self {
            ElementKind::Bool => FieldKind::Bool,
            ElementKind::Int(range) => FieldKind::Int(range),
            ElementKind::Quantized(range) => FieldKind::Quantized(range),
            ElementKind::F32 => FieldKind::F32,
            ElementKind::U64 => FieldKind::U64,
            ElementKind::Name => FieldKind::Name,
        }
    }

    /// How many bits an element takes.
    pub fn bit_width(self) -> u32 {
        self.field_kind().bit_width().max()
    }

    /// The longest content of an array of at most `count_max` elements.
    pub fn content_bytes_max(self, count_max: u16) -> usize {
        count_bytes(count_max) + self.packed_bytes(count_max)
    }

    fn packed_bytes(self, count: u16) -> usize {
        (usize::from(count) * self.bit_width() as usize).div_ceil(8)
    }

    /// Whether every pattern of bits is an element, so that none needs a look.
    fn takes_any_bits(self) -> bool {
        let is_full = |range: WordRange| u64::from(range.span()) + 1 == 1 << range.bit_width();
        match self {
            ElementKind::Bool | ElementKind::U64 | ElementKind::Name => true,
            ElementKind::Int(range) => is_full(range),
            ElementKind::Quantized(range) => is_full(range.words()),
            ElementKind::F32 => false,
        }
    }

    pub(super) fn read(self, reader: &mut BitReader<'_>) -> Result<Value<'static>, ReadError> {
        self.field_kind().read_bits(reader, &mut [])
    }
}

fn count_bytes(count: u16) -> usize {
    varint::len(u64::from(count))
}

/// An array in its encoded form: a varint count, then the elements in their bit form up to a byte border. Only content
/// that was checked whole becomes one, so what [`Array::iter`] yields is in range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array<'a> {
    element: ElementKind,
    count: u16,
    content: &'a [u8],
}

impl<'a> Array<'a> {
    /// An array without elements.
    pub const fn empty(element: ElementKind) -> Array<'static> {
        Array { element, count: 0, content: &[0] }
    }

    /// Takes an array of at most `count_max` elements from the front of `reader`.
    pub fn read(
        element: ElementKind,
        count_max: u16,
        reader: &mut ByteReader<'a>,
    ) -> Result<Array<'a>, ReadError> {
        let mut ahead = reader.clone();
        let count = ahead.read_varint_up_to(u64::from(count_max))? as u16;
        let packed = ahead.read_bytes(element.packed_bytes(count))?;
        let mut bits = BitReader::new(packed);
        if element.takes_any_bits() {
            bits.skip_bits(usize::from(count) * element.bit_width() as usize)?;
        } else {
            for _ in 0..count {
                element.read(&mut bits)?;
            }
        }
        bits.finish()?;
        let content = reader.read_bytes(ahead.position() - reader.position())?;
        Ok(Array { element, count, content })
    }

    /// What its elements are.
    pub fn element(&self) -> ElementKind {
        self.element
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Its encoded form.
    pub fn content(&self) -> &'a [u8] {
        self.content
    }

    /// One of its elements.
    pub fn get(&self, index: usize) -> Option<Value<'static>> {
        let mut bits = self.bits();
        bits.skip_bits(index.checked_mul(self.element.bit_width() as usize)?).ok()?;
        if index < self.len() { self.element.read(&mut bits).ok() } else { None }
    }

    /// Its elements in turn.
    pub fn iter(&self) -> ArrayReader<'a> {
        ArrayReader { element: self.element, left: self.count, bits: self.bits() }
    }

    /// The elements without their count.
    pub(super) fn packed(&self) -> &'a [u8] {
        self.content.get(count_bytes(self.count)..).unwrap_or_default()
    }

    fn bits(&self) -> BitReader<'a> {
        BitReader::new(self.packed())
    }
}

impl<'a> IntoIterator for Array<'a> {
    type Item = Value<'static>;
    type IntoIter = ArrayReader<'a>;

    fn into_iter(self) -> ArrayReader<'a> {
        self.iter()
    }
}

/// Reads the elements of an [`Array`], each as the value that a field of its kind would have.
#[derive(Clone, Debug)]
pub struct ArrayReader<'a> {
    element: ElementKind,
    left: u16,
    bits: BitReader<'a>,
}

impl Iterator for ArrayReader<'_> {
    type Item = Value<'static>;

    fn next(&mut self) -> Option<Value<'static>> {
        self.left = self.left.checked_sub(1)?;
        self.element.read(&mut self.bits).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

impl ExactSizeIterator for ArrayReader<'_> {}

/// Puts an array together in storage that the caller owns.
///
/// The first failure sticks: later elements do nothing, and [`ArrayWriter::finish`] reports it.
#[derive(Debug)]
pub struct ArrayWriter<'b> {
    element: ElementKind,
    count: u16,
    count_max: u16,
    bits: BitWriter<'b>,
}

impl<'b> ArrayWriter<'b> {
    /// An array of at most `count_max` elements. [`ElementKind::content_bytes_max`] says how long `buffer` must be to
    /// hold any of them.
    pub fn new(element: ElementKind, count_max: u16, buffer: &'b mut [u8]) -> ArrayWriter<'b> {
        let mut bits = BitWriter::new(buffer);
        // The count is known at the end; this is the room for the largest.
        bits.write_bits(0, 8 * count_bytes(count_max) as u32);
        ArrayWriter { element, count: 0, count_max, bits }
    }

    /// Adds an element; one too many, of another kind or out of range is an error.
    pub fn push(&mut self, value: Value<'_>) {
        if self.count == self.count_max {
            return self.bits.fail(WriteError::TooLong);
        }
        self.count += 1;
        self.element.field_kind().write_bits(value, &mut self.bits);
    }

    /// The array, or the first failure.
    pub fn finish(self) -> Result<Array<'b>, WriteError> {
        let ArrayWriter { element, count, count_max, bits } = self;
        let bytes = bits.into_bytes()?;
        let content = bytes.get_mut(count_bytes(count_max) - count_bytes(count)..).unwrap_or_default();
        varint::write(u64::from(count), content).ok_or(WriteError::BufferFull)?;
        Ok(Array { element, count, content })
    }
}

impl<'v> Extend<Value<'v>> for ArrayWriter<'_> {
    fn extend<I: IntoIterator<Item = Value<'v>>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

#[cfg(test)]
mod tests;
