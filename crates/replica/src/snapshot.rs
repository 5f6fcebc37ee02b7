//! The frame of a snapshot, shared by both halves.
//!
//! ```text
//!   tick u16 │ flags u8 │ [age1 u8] │ [age2 u8] │ [digest] │ [leaves] │ [enters] │ [updates]
//!
//!   digest    region u16 │ u32                                    see `digest`
//!   leaves    count │ slot u16, generation u8, age …
//!   enters    count │ entry …                                     see `entry`
//!   updates   count │ bits: gap, baselines, what changed …        see `codec`
//! ```
//!
//! Counts and ages of leaves are varints. Most objects of a snapshot build on the same two baselines, so those are
//! named once, and an update says with one bit that it uses them.

use netloom_wire::{BitReader, BitWriter, ByteReader, ReadError};

/// What a snapshot holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// A default baseline is named.
    pub const AGE: Flags = Flags(1);
    /// And a second one.
    pub const SECOND_AGE: Flags = Flags(2);
    /// Something left.
    pub const LEAVES: Flags = Flags(4);
    /// Something entered.
    pub const ENTERS: Flags = Flags(8);
    /// Something changed.
    pub const UPDATES: Flags = Flags(16);

    /// A digest of what rests.
    pub const DIGEST: Flags = Flags(32);

    /// Whether a flag is set.
    pub const fn contains(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    /// With another flag set.
    pub const fn with(self, flag: Flags) -> Flags {
        Flags(self.0 | flag.0)
    }
}

/// The baselines of an update: ages in ticks, the newer first.
pub type Ages = (u32, Option<u32>);

/// The start of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it holds.
    pub flags: Flags,
    /// The baselines that most updates use.
    pub ages: Option<Ages>,
    /// The digest of a region.
    pub digest: Option<(u16, u32)>,
}

/// Reads the start of a snapshot.
pub fn read_header(payload: &[u8]) -> Result<(Header, ByteReader<'_>), ReadError> {
    let mut reader = ByteReader::new(payload);
    reader.read_u16()?;
    let flags = Flags(reader.read_u8()?);
    if flags.0 >= 64 || (flags.contains(Flags::SECOND_AGE) && !flags.contains(Flags::AGE)) {
        return Err(ReadError::ReservedBits);
    }
    let mut age = |flag| match flags.contains(flag) {
        true => reader.read_u8().map(|age| Some(u32::from(age))),
        false => Ok(None),
    };
    let ages = match (age(Flags::AGE)?, age(Flags::SECOND_AGE)?) {
        (None, _) => None,
        (Some(newer), older) if newer > 0 && older.is_none_or(|older| older > newer) => Some((newer, older)),
        _ => return Err(ReadError::OutOfRange),
    };
    let digest = match flags.contains(Flags::DIGEST) {
        true => Some((reader.read_u16()?, reader.read_u32()?)),
        false => None,
    };
    Ok((Header { flags, ages, digest }, reader))
}

impl Header {
    /// Reads which baselines an update uses.
    pub fn baselines(&self, reader: &mut BitReader<'_>) -> Result<Ages, ReadError> {
        if reader.read_bool()? {
            return self.ages.ok_or(ReadError::InvalidFlags);
        }
        let has_second = reader.read_bool()?;
        let newer = reader.read_bits(8)? as u32;
        let older = if has_second { Some(newer + reader.read_bits(8)? as u32) } else { None };
        match newer > 0 && older.is_none_or(|older| older > newer) {
            true => Ok((newer, older)),
            false => Err(ReadError::OutOfRange),
        }
    }

    /// Writes which baselines an update uses.
    pub fn write_baselines(&self, ages: Ages, writer: &mut BitWriter<'_>) {
        if self.ages == Some(ages) {
            return writer.write_bool(true);
        }
        writer.write_bool(false);
        writer.write_bool(ages.1.is_some());
        writer.write_bits(ages.0.into(), 8);
        if let Some(older) = ages.1 {
            writer.write_bits((older - ages.0).into(), 8);
        }
    }
}
