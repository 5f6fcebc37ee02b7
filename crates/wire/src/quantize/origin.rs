//! The sector origin: a point near the object, so that its position is a small number.
//!
//! Centimetres in 16 bits reach 327 m. A larger world is cut into sectors, and a position is sent relative to its
//! sector's origin. When an object crosses into another sector its origin changes, and a receiver that missed the change
//! would place it kilometres away; so the origin has a version, every record names the version that it was made with, and
//! a receiver without that version waits.
//!
//! ```text
//!   0         8         16        24        25
//!   ├─ x f64 ─┼─ y f64 ─┼─ z f64 ─┼─ version ┤
//! ```

use crate::bytes::{ByteReader, ByteSink};
use crate::error::ReadError;

/// No origin lies further out than this on any axis.
pub const ORIGIN_METRES_MAX: f64 = 1e12;

/// Counts the changes of an object's sector origin, modulo 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OriginVersion(u8);

impl OriginVersion {
    /// The version of this number; only the low six bits count.
    pub const fn new(number: u8) -> OriginVersion {
        OriginVersion(number & 63)
    }

    /// The number, 0 to 63.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The version after this one.
    #[must_use]
    pub const fn next(self) -> OriginVersion {
        OriginVersion::new(self.0.wrapping_add(1))
    }
}

/// The point that STANDARD and HIGH positions are relative to, and how often it changed.
///
/// It is given in metres as f64: exact in every language, and good to a tenth of a millimetre at the limit of
/// [`ORIGIN_METRES_MAX`]. A receiver learns it with the object and at each change; a record whose version it does not
/// hold is not decoded to a place in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SectorOrigin {
    metres: [f64; 3],
    version: OriginVersion,
}

impl SectorOrigin {
    /// An origin at `metres` (x y z).
    pub fn new(metres: [f64; 3], version: OriginVersion) -> Result<SectorOrigin, OriginError> {
        match metres.iter().find(|axis| axis.is_nan() || axis.abs() > ORIGIN_METRES_MAX) {
            Some(axis) => Err(OriginError { value: axis.to_string() }),
            None => Ok(SectorOrigin { metres, version }),
        }
    }

    /// Where it is, x y z.
    pub const fn metres(&self) -> [f64; 3] {
        self.metres
    }

    /// Which change it is.
    pub const fn version(&self) -> OriginVersion {
        self.version
    }

    /// Writes the 25 bytes of the origin.
    pub fn write(&self, sink: &mut impl ByteSink) {
        self.metres.into_iter().for_each(|axis| sink.write_f64(axis));
        sink.write_u8(self.version.get());
    }

    /// Reads an origin; refuses coordinates beyond the limit or not finite, and versions above 63.
    pub fn read(reader: &mut ByteReader<'_>) -> Result<SectorOrigin, ReadError> {
        let metres = [reader.read_f64()?, reader.read_f64()?, reader.read_f64()?];
        let version = reader.read_u8()?;
        if version != OriginVersion::new(version).get() {
            return Err(ReadError::ReservedBits);
        }
        SectorOrigin::new(metres, OriginVersion(version)).map_err(|_| ReadError::OutOfRange)
    }

    /// The origin after a move to `metres`.
    pub fn moved_to(&self, metres: [f64; 3]) -> Result<SectorOrigin, OriginError> {
        SectorOrigin::new(metres, self.version.next())
    }
}

/// An origin with an impossible coordinate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("metres has a component of {value}, allowed are -1e12 to 1e12")]
pub struct OriginError {
    /// The first offending component.
    pub value: String,
}
