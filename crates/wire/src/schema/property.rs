//! Property blocks: some fields of an object and their values, in bytes.
//!
//! ```text
//!   ├─ count ─┼─ index ─┼─ value ─┼─ index ─┼─ value ─┤ ...
//!     varint    varint    by the schema's kind
//! ```
//!
//! Indexes ascend strictly, so that no field comes twice and there is one encoding of a set of values.

use super::{Schema, Value};
use crate::bytes::{ByteReader, ByteSink};
use crate::error::{ReadError, WriteError};
use crate::name::Resolve;

/// Writes the given fields, which must ascend by index.
pub fn write_properties(
    schema: &Schema,
    properties: &[(usize, Value<'_>)],
    names: &dyn Resolve,
    sink: &mut impl ByteSink,
) {
    if properties.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        return sink.fail(WriteError::FieldOrder);
    }
    sink.write_varint(properties.len() as u64);
    for &(index, value) in properties {
        let Some(field) = schema.field(index) else {
            return sink.fail(WriteError::FieldMismatch);
        };
        sink.write_varint(index as u64);
        field.kind().write(value, names, sink);
    }
}

/// Reads a property block field by field.
#[derive(Clone, Debug)]
pub struct PropertyReader<'s, 'a> {
    schema: &'s Schema,
    reader: ByteReader<'a>,
    left: u64,
    /// The smallest index that may come next.
    next_index: u64,
}

impl<'s, 'a> PropertyReader<'s, 'a> {
    /// Begins a block; one of more fields than the schema has is refused.
    pub fn new(schema: &'s Schema, mut reader: ByteReader<'a>) -> Result<PropertyReader<'s, 'a>, ReadError> {
        let left = reader.read_varint_up_to(u64::from(schema.field_count()))?;
        Ok(PropertyReader { schema, reader, left, next_index: 0 })
    }

    /// The next field's index and value, `None` after the last. An error ends the block.
    pub fn poll_property(&mut self) -> Result<Option<(usize, Value<'a>)>, ReadError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let index = self.reader.read_varint()?;
        let field = usize::try_from(index).ok().and_then(|index| self.schema.field(index));
        let field = field.filter(|_| index >= self.next_index).ok_or(ReadError::InvalidField)?;
        let value = field.kind().read(&mut self.reader)?;
        self.next_index = index + 1;
        Ok(Some((index as usize, value)))
    }

    /// The reader behind the fields read so far, to go on with what follows the block.
    pub fn into_reader(self) -> ByteReader<'a> {
        self.reader
    }
}
