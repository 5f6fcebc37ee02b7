//! What clients say.

use netloom_wire::{Alias, ByteReader, ByteSink, MessageBuffer, Tick};

use super::{
    CHAT_BYTES_MAX, MessageError, PLAYER_NAME_BYTES_MAX, ROOM_NAME_BYTES_MAX, TICKET_BYTES_MAX, kind,
    prefixed, read_alias, write_alias,
};

/// A message that a server takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ToServer<'a> {
    /// The first message of every connection.
    Hello(Hello<'a>),
    /// What the player does: see `netloom_replica::input`.
    Input(&'a [u8]),
    /// The snapshot of this tick (low 16 bits count) could not be read to its end.
    Unread(Tick),
    /// What rests in these 64 slots is something else here.
    Mismatch(u16),
    /// A remote call.
    Call(&'a [u8]),
    /// A wish in the lobby.
    Lobby(&'a [u8]),
    /// May I have this object (or give it back)?
    Claim {
        /// Which.
        object: Alias,
        /// To have it, or to give it back.
        is_wanted: bool,
    },
    /// A field that this client may write.
    Write {
        /// Of which object.
        object: Alias,
        /// The index of the field.
        field: u8,
        /// The value as a property block has it.
        value: &'a [u8],
    },
    /// How far behind the view of this client is, in milliseconds.
    Viewing(u16),
    /// Something to say.
    Chat {
        /// To the own team only.
        to_team: bool,
        /// What.
        text: &'a str,
    },
}

/// Who somebody is, and where to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hello<'a> {
    /// The name to be known by.
    pub name: &'a str,
    /// The room, by name or code; empty for the server's choice.
    pub room: &'a str,
    /// To watch only.
    pub is_spectator: bool,
    /// The hash of the client's table of calls.
    pub calls_hash: u64,
    /// What the game asks for to let somebody in.
    pub ticket: &'a [u8],
}

impl<'a> ToServer<'a> {
    /// Reads a message.
    pub fn read(bytes: &'a [u8]) -> Result<ToServer<'a>, MessageError> {
        let mut reader = ByteReader::new(bytes);
        let message = match reader.read_u8()? {
            kind::HELLO => ToServer::Hello(Hello {
                name: reader.read_str(PLAYER_NAME_BYTES_MAX)?,
                room: reader.read_str(ROOM_NAME_BYTES_MAX)?,
                is_spectator: reader.read_bool()?,
                calls_hash: reader.read_u64()?,
                ticket: reader.read_blob(TICKET_BYTES_MAX)?,
            }),
            kind::INPUT => return Ok(ToServer::Input(reader.rest())),
            kind::UNREAD => ToServer::Unread(Tick(reader.read_u16()?.into())),
            kind::MISMATCH => ToServer::Mismatch(reader.read_u16()?),
            kind::CALL => return Ok(ToServer::Call(reader.rest())),
            kind::LOBBY => return Ok(ToServer::Lobby(reader.rest())),
            kind::CLAIM => {
                ToServer::Claim { object: read_alias(&mut reader)?, is_wanted: reader.read_bool()? }
            }
            kind::WRITE => {
                let (object, field) = (read_alias(&mut reader)?, reader.read_u8()?);
                return Ok(ToServer::Write { object, field, value: reader.rest() });
            }
            kind::VIEWING => ToServer::Viewing(reader.read_u16()?),
            kind::CHAT => {
                ToServer::Chat { to_team: reader.read_bool()?, text: reader.read_str(CHAT_BYTES_MAX)? }
            }
            unknown => return Err(MessageError::UnknownKind(unknown)),
        };
        reader.finish()?;
        Ok(message)
    }

    /// Writes it; the buffer is cleared first.
    pub fn write<'b>(&self, out: &'b mut MessageBuffer) -> &'b [u8] {
        out.clear();
        match *self {
            ToServer::Hello(hello) => {
                out.write_u8(kind::HELLO);
                out.write_str(hello.name, PLAYER_NAME_BYTES_MAX);
                out.write_str(hello.room, ROOM_NAME_BYTES_MAX);
                out.write_bool(hello.is_spectator);
                out.write_u64(hello.calls_hash);
                out.write_blob(hello.ticket, TICKET_BYTES_MAX);
            }
            ToServer::Input(inputs) => prefixed(out, kind::INPUT, inputs),
            ToServer::Unread(tick) => {
                out.write_u8(kind::UNREAD);
                out.write_u16(tick.0 as u16);
            }
            ToServer::Mismatch(region) => {
                out.write_u8(kind::MISMATCH);
                out.write_u16(region);
            }
            ToServer::Call(frame) => prefixed(out, kind::CALL, frame),
            ToServer::Lobby(command) => prefixed(out, kind::LOBBY, command),
            ToServer::Claim { object, is_wanted } => {
                out.write_u8(kind::CLAIM);
                write_alias(out, object);
                out.write_bool(is_wanted);
            }
            ToServer::Write { object, field, value } => {
                out.write_u8(kind::WRITE);
                write_alias(out, object);
                out.write_u8(field);
                out.write_bytes(value);
            }
            ToServer::Viewing(ms) => {
                out.write_u8(kind::VIEWING);
                out.write_u16(ms);
            }
            ToServer::Chat { to_team, text } => {
                out.write_u8(kind::CHAT);
                out.write_bool(to_team);
                out.write_str(text, CHAT_BYTES_MAX);
            }
        }
        out.as_bytes()
    }
}
