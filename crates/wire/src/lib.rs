//! Netloom's wire encodings.
#![forbid(unsafe_code)]

pub mod bits;
pub mod bytes;
pub mod classic;
pub mod delta;
pub mod entropy;
pub mod error;
pub mod hash;
mod layout;
pub mod message;
pub mod name;
pub mod quantize;
pub mod record;
pub mod sequence;
pub mod time;
pub mod varint;

pub use bits::{BitReader, BitWriter};
pub use bytes::{ByteReader, ByteSink, ByteWriter, MessageBuffer};
pub use error::{ReadError, WriteError};
pub use name::{Name, NameMode, NameRegistry, Resolve};
pub use quantize::{Profile, QuantizeCounters, SectorOrigin};
pub use record::Record;
pub use sequence::{Alias, AliasPool, ObjectId, PacketNumber, Sequence8, Sequence16, Sequence32, Tick};
pub use time::Micros;
