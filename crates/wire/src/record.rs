//! The full record of one object: who it is, what is included, and the values.
//!
//! An object that enters a peer's view has no baseline, so it is sent whole. The layout is fixed and byte-aligned: a
//! tool can read it in a capture, and encoding is a handful of stores. Flags come before the values, so that a receiver
//! always knows what follows; the two `raw` flags say that quantizing would have bent the value.
//!
//! ```text
//!   0        2     3      4      5      6
//!   ├─ slot ─┼─gen─┼─mask─┼─prof─┼─seq──┼─ position ─┼─ rotation ─┼─ scale ─┼─ properties ─┼─ velocity ─┤
//!      u16     u8    u8     u8     u8      6 or 12     4, 6 or 16    3 or 12   varint + n     6 or 12
//!
//!   mask  bit 0 position   1 rotation   2 scale   3 custom properties   4 velocity
//!             5 teleport: do not interpolate towards this position
//!             6 scale is three f32        7 position is three f32
//!   prof  bits 0-1 profile, bits 2-7 version of the sector origin
//! ```
//!
//! Position and rotation in the STANDARD profile take 6 + 6 + 4 = 16 bytes, against 34 unquantized.

use crate::bytes::{ByteReader, ByteSink, ByteWriter};
use crate::error::{ReadError, WriteError};
use crate::layout::{self, Fine, Layout, Raw, Small, read_raw, write_raw};
use crate::quantize::{OriginVersion, Profile, Rotation, Words3};
use crate::sequence::{Alias, Sequence8};

/// Bytes before the first value.
pub const RECORD_HEADER_BYTES: usize = 6;

/// The longest property block in a record, so that a record always fits a datagram.
pub const RECORD_PROPERTIES_BYTES_MAX: usize = 1024;

/// The longest record: header, raw transform with velocity, and the longest property block with its length.
pub const RECORD_BYTES_MAX: usize = RECORD_HEADER_BYTES + 12 + 16 + 12 + 2 + RECORD_PROPERTIES_BYTES_MAX + 12;

const HAS_POSITION: u8 = 1 << 0;
const HAS_ROTATION: u8 = 1 << 1;
const HAS_SCALE: u8 = 1 << 2;
const HAS_PROPERTIES: u8 = 1 << 3;
const HAS_VELOCITY: u8 = 1 << 4;
const TELEPORT: u8 = 1 << 5;
const RAW_SCALE: u8 = 1 << 6;
const RAW_POSITION: u8 = 1 << 7;

/// One object's state, quantized. Fields that are `None` are not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Record<'a> {
    /// The object on this connection.
    pub alias: Alias,
    /// How the transform is quantized.
    pub profile: Profile,
    /// Which sector origin the position is relative to; zero in profiles that use none.
    pub origin_version: OriginVersion,
    /// Counts the records of this object.
    pub sequence: Sequence8,
    /// Whether the receiver must jump to the position rather than move there.
    pub teleport: bool,
    /// Where it is.
    pub position: Option<Words3>,
    /// How it is turned.
    pub rotation: Option<Rotation>,
    /// How large it is.
    pub scale: Option<Words3>,
    /// A property block as [`write_properties`](crate::schema::write_properties) makes it; opaque here.
    pub properties: Option<&'a [u8]>,
    /// How it moves.
    pub velocity: Option<Words3>,
}

/// What the first six bytes say.
struct Header {
    alias: Alias,
    mask: u8,
    profile: Profile,
    origin_version: OriginVersion,
    sequence: Sequence8,
}

impl<'a> Record<'a> {
    /// Writes the record at the start of `out` and returns its length.
    ///
    /// Errors: `out` is too short, a value is out of its profile's range or raw where the profile has no raw form, or
    /// the record is one that [`Record::decode`] would refuse.
    #[inline]
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, WriteError> {
        (CODECS[self.profile as usize].encode)(self, out)
    }

    /// Reads one record from the start of `bytes`: the record and its length. Every value is checked.
    #[inline]
    pub fn decode(bytes: &'a [u8]) -> Result<(Record<'a>, usize), ReadError> {
        let header = bytes.first_chunk::<RECORD_HEADER_BYTES>().ok_or(ReadError::UnexpectedEnd)?;
        let [slot_low, slot_high, generation, mask, profile_byte, sequence] = *header;
        let header = Header {
            alias: Alias { slot: u16::from_le_bytes([slot_low, slot_high]), generation },
            mask,
            profile: Profile::from_bits(profile_byte),
            origin_version: OriginVersion::new(profile_byte >> 2),
            sequence: Sequence8(sequence),
        };
        if !flags_are_consistent(mask, header.profile, header.origin_version) {
            return Err(ReadError::InvalidFlags);
        }
        (CODECS[header.profile as usize].decode)(bytes, header)
    }

    fn encode_as<L: Layout>(&self, out: &mut [u8]) -> Result<usize, WriteError> {
        let mask = self.mask();
        if !flags_are_consistent(mask, self.profile, self.origin_version) || !self.forms_fit_the_profile() {
            return Err(WriteError::OutOfRange);
        }
        let mut writer = ByteWriter::new(out);
        let [slot_low, slot_high] = self.alias.slot.to_le_bytes();
        let profile = self.profile as u8 | self.origin_version.get() << 2;
        writer.write_bytes(&[slot_low, slot_high, self.alias.generation, mask, profile, self.sequence.0]);
        if let Some(position) = self.position {
            if position.raw {
                write_raw(position.words, &mut writer)
            } else {
                L::write_triple(position.words, &mut writer)
            }
        }
        if let Some(rotation) = self.rotation {
            L::write_rotation(rotation, &mut writer);
        }
        if let Some(scale) = self.scale {
            if scale.raw {
                write_raw(scale.words, &mut writer)
            } else {
                layout::write_scale(scale.words, &mut writer)
            }
        }
        if let Some(properties) = self.properties {
            writer.write_blob(properties, RECORD_PROPERTIES_BYTES_MAX);
        }
        if let Some(velocity) = self.velocity {
            L::write_triple(velocity.words, &mut writer);
        }
        writer.finish()
    }

    fn decode_as<L: Layout>(bytes: &'a [u8], header: Header) -> Result<(Record<'a>, usize), ReadError> {
        let Header { alias, mask, profile, origin_version, sequence } = header;
        let mut reader = ByteReader::new(bytes);
        reader.read_bytes(RECORD_HEADER_BYTES)?;
        let has = |flag: u8| mask & flag != 0;
        let position = match has(HAS_POSITION) {
            true if has(RAW_POSITION) => Some(read_raw(&mut reader)?),
            true => Some(L::read_triple(&mut reader)?),
            false => None,
        };
        let rotation = if has(HAS_ROTATION) { Some(L::read_rotation(&mut reader)?) } else { None };
        let scale = match has(HAS_SCALE) {
            true if has(RAW_SCALE) || profile == Profile::None => Some(read_raw(&mut reader)?),
            true => Some(layout::read_scale(&mut reader)?),
            false => None,
        };
        let properties =
            if has(HAS_PROPERTIES) { Some(reader.read_blob(RECORD_PROPERTIES_BYTES_MAX)?) } else { None };
        let velocity = if has(HAS_VELOCITY) { Some(L::read_triple(&mut reader)?) } else { None };
        let record = Record {
            alias,
            profile,
            origin_version,
            sequence,
            teleport: has(TELEPORT),
            position,
            rotation,
            scale,
            properties,
            velocity,
        };
        Ok((record, reader.position()))
    }

    /// Profile NONE sends everything raw; the others may fall back to raw for position and scale only.
    fn forms_fit_the_profile(&self) -> bool {
        let none_is_raw = self.profile == Profile::None;
        self.velocity.is_none_or(|velocity| velocity.raw == none_is_raw)
            && (!none_is_raw
                || (self.position.is_none_or(|position| position.raw)
                    && self.scale.is_none_or(|scale| scale.raw)))
    }

    fn mask(&self) -> u8 {
        let quantizes = self.profile != Profile::None;
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        bit(self.position.is_some(), HAS_POSITION)
            | bit(self.rotation.is_some(), HAS_ROTATION)
            | bit(self.scale.is_some(), HAS_SCALE)
            | bit(self.properties.is_some(), HAS_PROPERTIES)
            | bit(self.velocity.is_some(), HAS_VELOCITY)
            | bit(self.teleport, TELEPORT)
            | bit(quantizes && self.scale.is_some_and(|scale| scale.raw), RAW_SCALE)
            | bit(quantizes && self.position.is_some_and(|position| position.raw), RAW_POSITION)
    }
}

/// A flag that qualifies a value needs the value; what is raw anyway is not flagged; no origin, no version.
fn flags_are_consistent(mask: u8, profile: Profile, origin_version: OriginVersion) -> bool {
    let qualified = |flag: u8, value: u8| mask & flag == 0 || mask & value != 0;
    qualified(TELEPORT, HAS_POSITION)
        && qualified(RAW_SCALE, HAS_SCALE)
        && qualified(RAW_POSITION, HAS_POSITION)
        && (profile != Profile::None || mask & (RAW_SCALE | RAW_POSITION) == 0)
        && (profile.uses_origin() || origin_version.get() == 0)
}

type Decoded<'a> = Result<(Record<'a>, usize), ReadError>;

/// The codec of one profile, chosen once per record.
struct RecordCodec {
    encode: fn(&Record<'_>, &mut [u8]) -> Result<usize, WriteError>,
    decode: for<'a> fn(&'a [u8], Header) -> Decoded<'a>,
}

/// In the order of the profiles' wire values.
static CODECS: [RecordCodec; 4] = [
    RecordCodec::of::<Small>(),
    RecordCodec::of::<Fine>(),
    RecordCodec::of::<Small>(),
    RecordCodec::of::<Raw>(),
];

impl RecordCodec {
    const fn of<L: Layout>() -> RecordCodec {
        RecordCodec {
            encode: |record, out| record.encode_as::<L>(out),
            decode: |bytes, header| Record::decode_as::<L>(bytes, header),
        }
    }
}

#[cfg(test)]
mod tests;
