//! The bytes of one call.
//!
//! A client asks the server: to do something itself, or to pass it on. What it may not do is say who it is, because then
//! anybody could speak for anybody. So the two directions have different frames. The client's has a target, and the caller
//! is whoever the connection belongs to; the server's has the caller, which only the server writes.
//!
//! ```text
//!  client → server   id u16 │ flags u8 │ [target 0, 4 or 8 bytes] │ [object 3 bytes] │ [tick u32] │ arguments
//!                             bits 0-2 target, 3 object, 4 tick
//!  server → client   id u16 │ flags u8 │ caller u32 │ [object 3 bytes] │ [tick u32] │ arguments
//!                             bits 3 object, 4 tick
//! ```
//!
//! Ids are those of the server's table in both directions. The arguments are all the rest; that they are a well-formed
//! list is found out after the limits, which are cheaper to check ([`Args::read`](super::Args::read)).

use netloom_replica::world::OwnerId;
use netloom_wire::{Alias, ByteReader, ByteSink, Name, ReadError, Tick, WriteError};

use super::{ARGS_BYTES_MAX, RpcId};

const TARGET_MASK: u8 = 0b111;
const HAS_OBJECT: u8 = 1 << 3;
const HAS_TICK: u8 = 1 << 4;

/// The most bytes of a frame besides its arguments.
pub const HEADER_BYTES_MAX: usize = 3 + 8 + 3 + 4;

/// Whom a client's call is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The server.
    #[default]
    Server,
    /// Every player of the room, the caller too.
    All,
    /// Every player of the room but the caller.
    Others,
    /// The owner of the object that the call is about.
    Owner,
    /// One player.
    Player(OwnerId),
    /// The members of a group, by the group's name.
    Group(Name),
    /// Everybody who sees the object that the call is about.
    Interested,
}

impl Target {
    /// Its number in the flags of a frame; scripts use the same.
    pub const fn code(self) -> u8 {
        match self {
            Target::Server => 0,
            Target::All => 1,
            Target::Others => 2,
            Target::Owner => 3,
            Target::Player(_) => 4,
            Target::Group(_) => 5,
            Target::Interested => 6,
        }
    }

    /// Whether the call makes sense only if it is about an object.
    pub const fn needs_object(self) -> bool {
        matches!(self, Target::Owner | Target::Interested)
    }

    /// Whether others than the server receive it.
    pub const fn is_for_others(self) -> bool {
        !matches!(self, Target::Server)
    }

    fn read(code: u8, reader: &mut ByteReader<'_>) -> Result<Target, ReadError> {
        Ok(match code {
            0 => Target::Server,
            1 => Target::All,
            2 => Target::Others,
            3 => Target::Owner,
            4 => Target::Player(player(reader.read_u32()?).ok_or(ReadError::OutOfRange)?),
            5 => Target::Group(Name(reader.read_u64()?)),
            6 => Target::Interested,
            _ => return Err(ReadError::OutOfRange),
        })
    }
}

/// Who made a call, by the word of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The server itself.
    Server,
    /// A player, whose id is not 0.
    Player(OwnerId),
}

/// Players' ids on the wire leave 0 to the server.
fn player(id: u32) -> Option<OwnerId> {
    (id != 0).then_some(OwnerId(id))
}

/// What a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientCall<'a> {
    /// What is called, in the server's table.
    pub id: RpcId,
    /// Whom it is for.
    pub target: Target,
    /// The object that it is about, by the alias of this connection.
    pub object: Option<Alias>,
    /// The tick that the client saw when it called.
    pub tick: Option<Tick>,
    /// The arguments, not yet checked.
    pub args: &'a [u8],
}

impl<'a> ClientCall<'a> {
    /// Writes the frame.
    pub fn write(&self, out: &mut impl ByteSink) {
        if self.target.needs_object() && self.object.is_none() {
            out.fail(WriteError::FieldMismatch);
        }
        out.write_u16(self.id.0);
        out.write_u8(self.target.code() | about_flags(self.object, self.tick));
        match self.target {
            Target::Player(OwnerId(0)) => out.fail(WriteError::OutOfRange),
            Target::Player(OwnerId(id)) => out.write_u32(id),
            Target::Group(Name(hash)) => out.write_u64(hash),
            _ => {}
        }
        write_about(self.object, self.tick, self.args, out);
    }

    /// Reads a frame.
    pub fn read(bytes: &'a [u8]) -> Result<ClientCall<'a>, ReadError> {
        let mut reader = ByteReader::new(bytes);
        let id = RpcId(reader.read_u16()?);
        let flags = read_flags(&mut reader, TARGET_MASK | HAS_OBJECT | HAS_TICK)?;
        let target = Target::read(flags & TARGET_MASK, &mut reader)?;
        if target.needs_object() && flags & HAS_OBJECT == 0 {
            return Err(ReadError::InvalidFlags);
        }
        let (object, tick, args) = read_about(flags, reader)?;
        Ok(ClientCall { id, target, object, tick, args })
    }
}

/// What a server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerCall<'a> {
    /// What is called, in the server's table.
    pub id: RpcId,
    /// Who calls.
    pub caller: Caller,
    /// The object that it is about, by the alias of this connection.
    pub object: Option<Alias>,
    /// The tick that it belongs to, if a client is to receive it when its view gets there.
    pub tick: Option<Tick>,
    /// The arguments, not yet checked.
    pub args: &'a [u8],
}

impl<'a> ServerCall<'a> {
    /// Writes the frame.
    pub fn write(&self, out: &mut impl ByteSink) {
        out.write_u16(self.id.0);
        out.write_u8(about_flags(self.object, self.tick));
        match self.caller {
            Caller::Server => out.write_u32(0),
            Caller::Player(OwnerId(0)) => out.fail(WriteError::OutOfRange),
            Caller::Player(OwnerId(id)) => out.write_u32(id),
        }
        write_about(self.object, self.tick, self.args, out);
    }

    /// Reads a frame.
    pub fn read(bytes: &'a [u8]) -> Result<ServerCall<'a>, ReadError> {
        let mut reader = ByteReader::new(bytes);
        let id = RpcId(reader.read_u16()?);
        let flags = read_flags(&mut reader, HAS_OBJECT | HAS_TICK)?;
        let caller = player(reader.read_u32()?).map_or(Caller::Server, Caller::Player);
        let (object, tick, args) = read_about(flags, reader)?;
        Ok(ServerCall { id, caller, object, tick, args })
    }
}

fn read_flags(reader: &mut ByteReader<'_>, used: u8) -> Result<u8, ReadError> {
    let flags = reader.read_u8()?;
    if flags & !used == 0 { Ok(flags) } else { Err(ReadError::ReservedBits) }
}

fn about_flags(object: Option<Alias>, tick: Option<Tick>) -> u8 {
    (if object.is_some() { HAS_OBJECT } else { 0 }) | (if tick.is_some() { HAS_TICK } else { 0 })
}

/// Writes what both directions end with.
fn write_about(object: Option<Alias>, tick: Option<Tick>, args: &[u8], out: &mut impl ByteSink) {
    if let Some(Alias { slot, generation }) = object {
        out.write_u16(slot);
        out.write_u8(generation);
    }
    if let Some(Tick(tick)) = tick {
        out.write_u32(tick);
    }
    if args.len() > ARGS_BYTES_MAX {
        out.fail(WriteError::TooLong);
    }
    out.write_bytes(args);
}

type About<'a> = (Option<Alias>, Option<Tick>, &'a [u8]);

fn read_about<'a>(flags: u8, mut reader: ByteReader<'a>) -> Result<About<'a>, ReadError> {
    let mut object = None;
    if flags & HAS_OBJECT != 0 {
        object = Some(Alias { slot: reader.read_u16()?, generation: reader.read_u8()? });
    }
    let mut tick = None;
    if flags & HAS_TICK != 0 {
        tick = Some(Tick(reader.read_u32()?));
    }
    let args = reader.rest();
    if args.len() > ARGS_BYTES_MAX {
        return Err(ReadError::TooLong);
    }
    Ok((object, tick, args))
}

#[cfg(test)]
mod tests;
