//! Netloom's wire encodings: how values become bits and bytes, and back.
//!
//! Everything here is a pure function of its input: no sockets, no clock, no threads, no allocation on the paths that run
//! every tick. Readers answer any bytes with a value or a typed error; writers remember their first failure and report it
//! at the end. `docs/STANDARD.md` (Part I) describes every format to the bit.
//!
//! | module | what it does |
//! |---|---|
//! | [`bits`] | bit-granular writing and reading, 0 to 64 bits at a time |
//! | [`bytes`] | typed little-endian writing and reading, bounded strings, names |
//! | [`varint`] | integers of variable length |
//! | [`quantize`] | floats to integer words and back: profiles, rotations, custom ranges, sector origin |
//! | [`record`] | the full record of one object |
//! | [`schema`] | the field table of a kind of object, its flags and hash; property blocks |
//! | [`delta`] | changed masks, residuals, runs, prediction from two baselines |
//! | [`entropy`] | static prefix codes |
//! | [`message`] | framing on streams |
//! | [`classic`] | the byte-exact datagrams of the classic shooter |
//! | [`name`], [`hash`] | hashed strings and the hash |
//! | [`sequence`] | wrapping counters, packet numbers, object aliases |
//! | [`time`] | time as an argument |
//!
//! A record goes out and comes back:
//!
//! ```
//! use netloom_wire::{Alias, Profile, QuantizeCounters, Record, SectorOrigin};
//!
//! let origin = SectorOrigin::default();
//! let mut counters = QuantizeCounters::default();
//! let profile = Profile::Standard;
//! let record = Record {
//!     alias: Alias { slot: 12, generation: 1 },
//!     profile,
//!     position: Some(profile.quantize_position([1.5, -20.0, 0.0], &origin, &mut counters)),
//!     rotation: Some(profile.quantize_rotation([0.0, 0.0, 0.0, 1.0], &mut counters)),
//!     ..Record::default()
//! };
//!
//! let mut datagram = [0; 64];
//! let length = record.encode(&mut datagram)?;
//! assert_eq!(length, 16);
//!
//! let (received, _) = Record::decode(&datagram[..length])?;
//! let position = received.position.map(|words| profile.dequantize_position(words));
//! assert_eq!(position, Some([1.5, -20.0, 0.0]));
//! assert_eq!(counters, QuantizeCounters::default(), "nothing saturated");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod bits;
pub mod bytes;
pub mod classic;
pub mod codes;
pub mod delta;
pub mod entropy;
pub mod error;
pub mod hash;
mod layout;
pub mod message;
pub mod name;
pub mod quantize;
pub mod record;
pub mod schema;
pub mod sequence;
pub mod time;
pub mod varint;

pub use bits::{BitReader, BitWriter};
pub use bytes::{ByteReader, ByteSink, ByteWriter, MessageBuffer};
pub use error::{ReadError, WriteError};
pub use name::{Name, NameMode, NameRegistry, Resolve};
pub use quantize::{Profile, QuantizeCounters, SectorOrigin};
pub use record::Record;
pub use schema::Schema;
pub use sequence::{Alias, AliasPool, ObjectId, PacketNumber, Sequence8, Sequence16, Sequence32, Tick};
pub use time::Micros;
