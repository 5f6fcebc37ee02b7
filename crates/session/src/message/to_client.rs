//! What servers say.

use netloom_wire::{Alias, ByteReader, ByteSink, MessageBuffer, ReadError, Tick};

use super::{
    CHAT_BYTES_MAX, CallRefusal, LobbyNews, MessageError, NoticeKind, PLAYER_NAME_BYTES_MAX,
    REASON_BYTES_MAX, ROOM_NAME_BYTES_MAX, Refusal, kind, prefixed, read_alias, read_code, write_alias,
};
use crate::validate::RejectedMessage;

/// A message that a client takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ToClient<'a> {
    /// A seat.
    Welcome(Welcome<'a>),
    /// No seat.
    Refused {
        /// Why, for programs.
        reason: Refusal,
        /// Why, for people.
        text: &'a str,
    },
    /// The world: see `netloom_replica::snapshot`.
    Snapshot(&'a [u8]),
    /// A snapshot that was made smaller: see [`packed`](crate::packed).
    Packed(&'a [u8]),
    /// A value of which every one counts.
    Property(&'a [u8]),
    /// Somebody is here.
    Joined {
        /// Who.
        player: u32,
        /// Whether they only watch.
        is_spectator: bool,
        /// Their name.
        name: &'a str,
    },
    /// Somebody is gone.
    Left {
        /// Who.
        player: u32,
    },
    /// A remote call.
    Call(&'a [u8]),
    /// A call of this client was not made.
    CallRefused {
        /// Which, as the server numbers them.
        id: u16,
        /// Why.
        reason: CallRefusal,
        /// What the game says about it; may be empty.
        text: &'a str,
    },
    /// News of the lobby: see `netloom_session::lobby`.
    Lobby(LobbyNews, &'a [u8]),
    /// The answer to a claim.
    Claimed {
        /// Of which object.
        object: Alias,
        /// Whether it is granted.
        is_granted: bool,
    },
    /// An input was refused.
    Rejected(RejectedMessage<'a>),
    /// The server's calls, by hash of their names.
    Names(&'a [u8]),
    /// Something that people should read.
    Notice {
        /// What it is about.
        kind: NoticeKind,
        /// The text.
        text: &'a str,
    },
    /// Somebody says something.
    Said {
        /// Who; 0 is the server.
        player: u32,
        /// To the team only.
        to_team: bool,
        /// What.
        text: &'a str,
    },
}

/// The seat of a player, and the clock of the room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Welcome<'a> {
    /// Who this client is.
    pub player: u32,
    /// Whether the seat is one that was left: the game goes on.
    pub is_resumed: bool,
    /// Whether the tables of calls are the same.
    pub has_same_calls: bool,
    /// Whether this client only watches.
    pub is_spectator: bool,
    /// The newest tick of snapshots.
    pub tick: Tick,
    /// The newest step of the simulation.
    pub step: Tick,
    /// Steps a second.
    pub steps_per_second: u16,
    /// Snapshots a second.
    pub sends_per_second: u16,
    /// Objects in the room, for showing progress.
    pub objects: u32,
    /// The room.
    pub room: &'a str,
}

impl<'a> ToClient<'a> {
    /// Reads a message.
    pub fn read(bytes: &'a [u8]) -> Result<ToClient<'a>, MessageError> {
        let mut reader = ByteReader::new(bytes);
        let message = match reader.read_u8()? {
            kind::WELCOME => ToClient::Welcome(read_welcome(&mut reader)?),
            kind::REFUSED => ToClient::Refused {
                reason: read_code(&mut reader, Refusal::from_code)?,
                text: reader.read_str(REASON_BYTES_MAX)?,
            },
            kind::SNAPSHOT => return Ok(ToClient::Snapshot(reader.rest())),
            kind::PACKED => return Ok(ToClient::Packed(reader.rest())),
            kind::PROPERTY => return Ok(ToClient::Property(reader.rest())),
            kind::JOINED => ToClient::Joined {
                player: reader.read_u32()?,
                is_spectator: reader.read_bool()?,
                name: reader.read_str(PLAYER_NAME_BYTES_MAX)?,
            },
            kind::LEFT => ToClient::Left { player: reader.read_u32()? },
            kind::CALLED => return Ok(ToClient::Call(reader.rest())),
            kind::CALL_REFUSED => ToClient::CallRefused {
                id: reader.read_u16()?,
                reason: read_code(&mut reader, CallRefusal::from_code)?,
                text: reader.read_str(REASON_BYTES_MAX)?,
            },
            kind::LOBBY_NEWS => {
                let news = read_code(&mut reader, LobbyNews::from_code)?;
                return Ok(ToClient::Lobby(news, reader.rest()));
            }
            kind::CLAIMED => {
                ToClient::Claimed { object: read_alias(&mut reader)?, is_granted: reader.read_bool()? }
            }
            kind::REJECTED => return Ok(ToClient::Rejected(RejectedMessage::read(reader.rest())?)),
            kind::NAMES => return Ok(ToClient::Names(reader.rest())),
            kind::NOTICE => ToClient::Notice {
                kind: read_code(&mut reader, NoticeKind::from_code)?,
                text: reader.read_str(REASON_BYTES_MAX)?,
            },
            kind::SAID => ToClient::Said {
                player: reader.read_u32()?,
                to_team: reader.read_bool()?,
                text: reader.read_str(CHAT_BYTES_MAX)?,
            },
            unknown => return Err(MessageError::UnknownKind(unknown)),
        };
        reader.finish()?;
        Ok(message)
    }

    /// Writes it; the buffer is cleared first.
    pub fn write<'b>(&self, out: &'b mut MessageBuffer) -> &'b [u8] {
        out.clear();
        match *self {
            ToClient::Welcome(ref welcome) => write_welcome(out, welcome),
            ToClient::Refused { reason, text } => {
                out.write_u8(kind::REFUSED);
                out.write_u8(reason.code());
                out.write_str(text, REASON_BYTES_MAX);
            }
            ToClient::Snapshot(snapshot) => prefixed(out, kind::SNAPSHOT, snapshot),
            ToClient::Packed(packed) => prefixed(out, kind::PACKED, packed),
            ToClient::Property(property) => prefixed(out, kind::PROPERTY, property),
            ToClient::Joined { player, is_spectator, name } => {
                out.write_u8(kind::JOINED);
                out.write_u32(player);
                out.write_bool(is_spectator);
                out.write_str(name, PLAYER_NAME_BYTES_MAX);
            }
            ToClient::Left { player } => {
                out.write_u8(kind::LEFT);
                out.write_u32(player);
            }
            ToClient::Call(frame) => prefixed(out, kind::CALLED, frame),
            ToClient::CallRefused { id, reason, text } => {
                out.write_u8(kind::CALL_REFUSED);
                out.write_u16(id);
                out.write_u8(reason.code());
                out.write_str(text, REASON_BYTES_MAX);
            }
            ToClient::Lobby(news, content) => {
                out.write_u8(kind::LOBBY_NEWS);
                out.write_u8(news.code());
                out.write_bytes(content);
            }
            ToClient::Claimed { object, is_granted } => {
                out.write_u8(kind::CLAIMED);
                write_alias(out, object);
                out.write_bool(is_granted);
            }
            ToClient::Rejected(message) => {
                out.write_u8(kind::REJECTED);
                message.write(out);
            }
            ToClient::Names(names) => prefixed(out, kind::NAMES, names),
            ToClient::Notice { kind, text } => {
                out.write_u8(kind::NOTICE);
                out.write_u8(kind.code());
                out.write_str(text, REASON_BYTES_MAX);
            }
            ToClient::Said { player, to_team, text } => {
                out.write_u8(kind::SAID);
                out.write_u32(player);
                out.write_bool(to_team);
                out.write_str(text, CHAT_BYTES_MAX);
            }
        }
        out.as_bytes()
    }
}

mod flag {
    pub const RESUMED: u8 = 1;
    pub const SAME_CALLS: u8 = 2;
    pub const SPECTATOR: u8 = 4;
    pub const ALL: u8 = 7;
}

fn write_welcome(out: &mut MessageBuffer, welcome: &Welcome<'_>) {
    let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    out.write_u8(kind::WELCOME);
    out.write_u8(
        bit(welcome.is_resumed, flag::RESUMED)
            | bit(welcome.has_same_calls, flag::SAME_CALLS)
            | bit(welcome.is_spectator, flag::SPECTATOR),
    );
    out.write_u32(welcome.player);
    out.write_u32(welcome.tick.0);
    out.write_u32(welcome.step.0);
    out.write_u16(welcome.steps_per_second);
    out.write_u16(welcome.sends_per_second);
    out.write_u32(welcome.objects);
    out.write_str(welcome.room, ROOM_NAME_BYTES_MAX);
}

fn read_welcome<'a>(reader: &mut ByteReader<'a>) -> Result<Welcome<'a>, ReadError> {
    let flags = reader.read_u8()?;
    if flags & !flag::ALL != 0 {
        return Err(ReadError::ReservedBits);
    }
    Ok(Welcome {
        is_resumed: flags & flag::RESUMED != 0,
        has_same_calls: flags & flag::SAME_CALLS != 0,
        is_spectator: flags & flag::SPECTATOR != 0,
        player: reader.read_u32()?,
        tick: Tick(reader.read_u32()?),
        step: Tick(reader.read_u32()?),
        steps_per_second: reader.read_u16()?,
        sends_per_second: reader.read_u16()?,
        objects: reader.read_u32()?,
        room: reader.read_str(ROOM_NAME_BYTES_MAX)?,
    })
}
