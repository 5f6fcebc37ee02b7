//! The bytes of a `.scene` file.
//!
//! A recording of a game is read by programs that do not know the game, may be gigabytes long, and may end in the middle
//! because the server was killed. So the header has the schemas of all classes, what follows are blocks that are packed
//! and checked one by one, and whoever reads holds one block and the newest state of every object.
//!
//! ```text
//!   "NLSCENE\n" │ version u8 │ header: length u32, check u32, bytes │ block │ block │ … │ the end: twelve zeros
//!
//!   header   name │ ticks a second │ count of classes │ per class: its canonical form (STANDARD, section 9)
//!   block    packed length u32 │ length u32 │ check u32 │ packed bytes: DEFLATE (RFC 1951)
//!   inside   record, record, …; a tick ends with a record of its own, and a block after a tick, unless a tick is longer
//!            than a block can be
//! ```
//!
//! Numbers are little-endian, varints as everywhere, checks are FNV-1a 32 over the bytes that follow. A file without an
//! end was cut; it is good up to its last whole block.

mod block;
pub(crate) mod record;

pub(crate) use block::{BlockReader, BlockWriter, Next};

use netloom_replica::Class;
use netloom_replica::limits::CLASSES_MAX;
use netloom_wire::delta::mask::FIELDS_MAX;
use netloom_wire::schema::FIELD_NAME_BYTES_MAX;
use netloom_wire::{ByteReader, ByteSink, MessageBuffer, Schema};

use crate::SceneError;
use crate::error::Damage;

pub(crate) const MAGIC: [u8; 8] = *b"NLSCENE\n";
pub(crate) const VERSION: u8 = 1;

/// The longest name of a scene in bytes of UTF-8.
pub const NAME_BYTES_MAX: usize = 64;
/// The most ticks a second, as of a world.
pub const TICKS_PER_SECOND_MAX: u32 = 1_000;
/// Of a schema in its canonical form: every field with its name and the longest kind, an array of quantized floats.
const SCHEMA_BYTES_MAX: usize = (FIELDS_MAX as usize + 1) * (FIELD_NAME_BYTES_MAX + 24);
/// Of a header with as many classes as there may be.
pub(crate) const HEADER_BYTES_MAX: u32 = (CLASSES_MAX * SCHEMA_BYTES_MAX) as u32;

/// What a file says about itself.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub name: String,
    pub ticks_per_second: u32,
    pub classes: Vec<Class>,
}

impl Header {
    /// Checked, so that what is written can be read.
    pub fn new(name: &str, ticks_per_second: u32, classes: &[Class]) -> Result<Header, SceneError> {
        if !(1..=NAME_BYTES_MAX).contains(&name.len()) {
            let (field, value) = ("the name of a scene", format!("{name:?}"));
            return Err(SceneError::OutOfRange { field, value, allowed: "1 to 64 bytes" });
        }
        if !(1..=TICKS_PER_SECOND_MAX).contains(&ticks_per_second) {
            let (field, value) = ("ticks_per_second", ticks_per_second.to_string());
            return Err(SceneError::OutOfRange { field, value, allowed: "1 to 1000" });
        }
        Ok(Header { name: name.to_owned(), ticks_per_second, classes: classes.to_vec() })
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut buffer = MessageBuffer::new(HEADER_BYTES_MAX as usize);
        buffer.write_str(&self.name, NAME_BYTES_MAX);
        buffer.write_varint(self.ticks_per_second.into());
        buffer.write_varint(self.classes.len() as u64);
        for class in &self.classes {
            buffer.write_blob(&class.schema().canonical_bytes(), SCHEMA_BYTES_MAX);
        }
        buffer.as_bytes().to_vec()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Header, Damage> {
        let mut reader = ByteReader::new(bytes);
        let name = reader.read_str(NAME_BYTES_MAX)?.to_owned();
        let ticks_per_second = reader.read_varint_up_to(TICKS_PER_SECOND_MAX.into())? as u32;
        let count = reader.read_varint_up_to(CLASSES_MAX as u64)?;
        if name.is_empty() || ticks_per_second == 0 {
            return Err(netloom_wire::ReadError::OutOfRange.into());
        }
        let mut classes = Vec::new();
        for _ in 0..count {
            classes.push(Class::new(Schema::from_canonical(reader.read_blob(SCHEMA_BYTES_MAX)?)?)?);
        }
        reader.finish()?;
        Ok(Header { name, ticks_per_second, classes })
    }
}
