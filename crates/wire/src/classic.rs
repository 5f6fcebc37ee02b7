//! The classic shooter protocol, byte for byte.
//!
//! Its datagrams are a three-byte header and a payload. The format predates Netloom and is kept exactly, so that old
//! clients still play; its state updates are full states, 21 bytes an entity, and a datagram carries at most 56 of them.
//!
//! ```text
//!   ├─ opcode ─┼─ payload size ─┼─ payload ─┤       PLAYER_INPUT  10 01 00 19   up, right, shoot
//!      u8         u16 LE
//! ```
//!
//! The size must match the datagram exactly: no bytes missing, none left over.

use crate::bytes::{ByteReader, ByteSink, ByteWriter};
use crate::error::{ReadError, WriteError};

/// Opcode and payload size.
pub const HEADER_BYTES: usize = 3;

/// Entities in one ENTITY_POSITIONS datagram: 3 + 4 + 56 × 21 = 1183 bytes, one more would exceed 1200.
pub const ENTITIES_PER_DATAGRAM_MAX: usize = 56;

/// Bytes of one entity.
pub const ENTITY_BYTES: usize = 21;

/// The opcodes whose payloads are defined here.
pub mod opcode {
    /// Client to server: asks for a place in the lobby. No payload.
    pub const JOIN_LOBBY: u8 = 0x01;
    /// Client to server: the buttons held.
    pub const PLAYER_INPUT: u8 = 0x10;
    /// Server to clients: every entity's place and velocity.
    pub const ENTITY_POSITIONS: u8 = 0x11;
    /// Server to clients: a power-up appeared.
    pub const POWERUP_SPAWNED: u8 = 0x30;
}

/// One datagram, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// What the payload is.
    pub opcode: u8,
    /// The bytes after the header.
    pub payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Takes a datagram apart; its size field must match it exactly.
    pub fn decode(datagram: &'a [u8]) -> Result<Packet<'a>, ReadError> {
        let mut reader = ByteReader::new(datagram);
        let opcode = reader.read_u8()?;
        let payload_size = reader.read_u16()?;
        let payload = reader.read_bytes(usize::from(payload_size))?;
        reader.finish()?;
        Ok(Packet { opcode, payload })
    }

    /// Writes the datagram at the start of `out` and returns its length.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, WriteError> {
        let payload_size = u16::try_from(self.payload.len()).map_err(|_| WriteError::TooLong)?;
        let mut writer = ByteWriter::new(out);
        write_header(self.opcode, payload_size, &mut writer);
        writer.write_bytes(self.payload);
        writer.finish()
    }
}

fn write_header(opcode: u8, payload_size: u16, writer: &mut ByteWriter<'_>) {
    writer.write_u8(opcode);
    writer.write_u16(payload_size);
}

/// The buttons that a player holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerInput(u8);

impl PlayerInput {
    /// Up is held.
    pub const UP: PlayerInput = PlayerInput(0x01);
    /// Down is held.
    pub const DOWN: PlayerInput = PlayerInput(0x02);
    /// Left is held.
    pub const LEFT: PlayerInput = PlayerInput(0x04);
    /// Right is held.
    pub const RIGHT: PlayerInput = PlayerInput(0x08);
    /// Shoot is held.
    pub const SHOOT: PlayerInput = PlayerInput(0x10);
    const VALID: u8 = 0x1f;

    /// Both sets of buttons.
    #[must_use]
    pub const fn with(self, other: PlayerInput) -> PlayerInput {
        PlayerInput(self.0 | other.0)
    }

    /// Whether all buttons of `other` are held.
    pub const fn contains(self, other: PlayerInput) -> bool {
        self.0 & other.0 == other.0
    }

    /// The mask byte.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Reads the payload: one byte whose upper three bits are zero.
    pub fn decode(payload: &[u8]) -> Result<PlayerInput, ReadError> {
        let mut reader = ByteReader::new(payload);
        let mask = reader.read_u8()?;
        reader.finish()?;
        if mask & !Self::VALID != 0 {
            return Err(ReadError::ReservedBits);
        }
        Ok(PlayerInput(mask))
    }

    /// Writes the whole datagram.
    pub fn encode(self, out: &mut [u8]) -> Result<usize, WriteError> {
        Packet { opcode: opcode::PLAYER_INPUT, payload: &[self.0] }.encode(out)
    }
}

/// One entity of an ENTITY_POSITIONS datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EntityPosition {
    /// Which entity.
    pub id: u32,
    /// Where it is, in pixels to the right.
    pub x: f32,
    /// Where it is, in pixels down.
    pub y: f32,
    /// Its velocity to the right.
    pub vx: f32,
    /// Its velocity down.
    pub vy: f32,
    /// What it is: a player is 1, an enemy 2; the game defines the rest.
    pub kind: u8,
}

impl EntityPosition {
    /// What a player's `kind` is.
    pub const PLAYER: u8 = 0x01;
    /// What an enemy's `kind` is.
    pub const ENEMY: u8 = 0x02;

    fn read(reader: &mut ByteReader<'_>) -> Result<EntityPosition, ReadError> {
        Ok(EntityPosition {
            id: reader.read_u32()?,
            x: reader.read_finite_f32()?,
            y: reader.read_finite_f32()?,
            vx: reader.read_finite_f32()?,
            vy: reader.read_finite_f32()?,
            kind: reader.read_u8()?,
        })
    }
}

/// Writes one datagram of at most [`ENTITIES_PER_DATAGRAM_MAX`] entities; split longer lists with `chunks`.
pub fn encode_entity_positions(entities: &[EntityPosition], out: &mut [u8]) -> Result<usize, WriteError> {
    if entities.len() > ENTITIES_PER_DATAGRAM_MAX {
        return Err(WriteError::TooLong);
    }
    let mut writer = ByteWriter::new(out);
    write_header(opcode::ENTITY_POSITIONS, (4 + ENTITY_BYTES * entities.len()) as u16, &mut writer);
    writer.write_u32(entities.len() as u32);
    for entity in entities {
        writer.write_u32(entity.id);
        write_finite(&[entity.x, entity.y, entity.vx, entity.vy], &mut writer);
        writer.write_u8(entity.kind);
    }
    writer.finish()
}

/// The entities of an ENTITY_POSITIONS payload. The count must match the payload and not exceed
/// [`ENTITIES_PER_DATAGRAM_MAX`]; that is checked before the first entity, its floats as it is reached.
pub fn decode_entity_positions(
    payload: &[u8],
) -> Result<impl Iterator<Item = Result<EntityPosition, ReadError>> + '_, ReadError> {
    let mut reader = ByteReader::new(payload);
    let count = reader.read_u32()? as usize;
    if count > ENTITIES_PER_DATAGRAM_MAX {
        return Err(ReadError::TooLong);
    }
    match reader.remaining().cmp(&(count * ENTITY_BYTES)) {
        core::cmp::Ordering::Less => Err(ReadError::UnexpectedEnd),
        core::cmp::Ordering::Greater => Err(ReadError::TrailingData),
        core::cmp::Ordering::Equal => Ok(reader
            .rest()
            .chunks_exact(ENTITY_BYTES)
            .map(|bytes| EntityPosition::read(&mut ByteReader::new(bytes)))),
    }
}

/// A power-up that appeared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PowerupSpawned {
    /// Which power-up.
    pub id: u32,
    /// Where it is, in pixels to the right.
    pub x: f32,
    /// Where it is, in pixels down.
    pub y: f32,
    /// What it is: a shield is 2; the game defines the rest.
    pub kind: u8,
}

impl PowerupSpawned {
    /// What a shield's `kind` is.
    pub const SHIELD: u8 = 0x02;

    /// Reads the payload of 13 bytes.
    pub fn decode(payload: &[u8]) -> Result<PowerupSpawned, ReadError> {
        let mut reader = ByteReader::new(payload);
        let powerup = PowerupSpawned {
            id: reader.read_u32()?,
            x: reader.read_finite_f32()?,
            y: reader.read_finite_f32()?,
            kind: reader.read_u8()?,
        };
        reader.finish()?;
        Ok(powerup)
    }

    /// Writes the whole datagram.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, WriteError> {
        let mut writer = ByteWriter::new(out);
        write_header(opcode::POWERUP_SPAWNED, 13, &mut writer);
        writer.write_u32(self.id);
        write_finite(&[self.x, self.y], &mut writer);
        writer.write_u8(self.kind);
        writer.finish()
    }
}

fn write_finite(values: &[f32], writer: &mut ByteWriter<'_>) {
    for &value in values {
        match value.is_finite() {
            true => writer.write_f32(value),
            false => writer.fail(WriteError::NonFinite),
        }
    }
}

#[cfg(test)]
mod tests;
