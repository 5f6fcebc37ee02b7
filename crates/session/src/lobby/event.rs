//! What a lobby tells, and to whom.

use netloom_replica::world::{OwnerId, TeamId};
use netloom_wire::{ByteReader, ByteSink, ByteWriter, ReadError, WriteError};

use super::refused::LobbyRefused;
use crate::text::{CHAT_CHARS_MAX, REASON_CHARS_MAX, bytes_max};

/// Bytes of an event at most: a kind, a player, a team or none, and a line of chat with its length.
pub const LOBBY_EVENT_BYTES_MAX: usize = 1 + 4 + 3 + 2 + bytes_max(CHAT_CHARS_MAX);

/// Who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// Everybody who is in the lobby.
    Everybody,
    /// All of one team.
    Team(TeamId),
    /// One player, even if that one has just left.
    Player(OwnerId),
}

/// What a lobby tells its players once, beside its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LobbyEvent {
    /// The game begins, or has begun before this one came.
    Started {
        /// Who the receiver is in the game.
        your_id: OwnerId,
    },
    /// The game is over, and everybody is back in the lobby.
    Stopped,
    /// Somebody was removed.
    Kicked {
        /// Who.
        player: OwnerId,
        /// And why.
        reason: String,
    },
    /// Somebody said something.
    Chat {
        /// Who; `None` for the server.
        from: Option<OwnerId>,
        /// The team to which it was said, if not to everybody.
        team: Option<TeamId>,
        /// What.
        text: String,
    },
    /// What the receiver asked for was not done.
    Refused(LobbyRefused),
}

const FROM_SERVER: u8 = 1;
const TO_TEAM: u8 = 2;

impl LobbyEvent {
    /// Writes it.
    pub fn write(&self, buffer: &mut [u8]) -> Result<usize, WriteError> {
        let mut writer = ByteWriter::new(buffer);
        match self {
            LobbyEvent::Started { your_id } => {
                writer.write_u8(0);
                writer.write_u32(your_id.0);
            }
            LobbyEvent::Stopped => writer.write_u8(1),
            LobbyEvent::Kicked { player, reason } => {
                writer.write_u8(2);
                writer.write_u32(player.0);
                writer.write_str(reason, bytes_max(REASON_CHARS_MAX));
            }
            LobbyEvent::Chat { from, team, text } => {
                writer.write_u8(3);
                let is_server = if from.is_none() { FROM_SERVER } else { 0 };
                writer.write_u8(is_server | if team.is_some() { TO_TEAM } else { 0 });
                from.iter().for_each(|player| writer.write_u32(player.0));
                team.iter().for_each(|team| writer.write_u16(team.0));
                writer.write_str(text, bytes_max(CHAT_CHARS_MAX));
            }
            LobbyEvent::Refused(refused) => {
                writer.write_u8(4);
                writer.write_u8(refused.code());
            }
        }
        writer.finish()
    }

    /// Reads one, to the last byte.
    pub fn read(bytes: &[u8]) -> Result<LobbyEvent, ReadError> {
        let mut reader = ByteReader::new(bytes);
        let event = match reader.read_u8()? {
            0 => LobbyEvent::Started { your_id: OwnerId(reader.read_u32()?) },
            1 => LobbyEvent::Stopped,
            2 => {
                let player = OwnerId(reader.read_u32()?);
                let reason = reader.read_str(bytes_max(REASON_CHARS_MAX))?.to_owned();
                LobbyEvent::Kicked { player, reason }
            }
            3 => {
                let flags = reader.read_u8()?;
                if flags & !(FROM_SERVER | TO_TEAM) != 0 {
                    return Err(ReadError::ReservedBits);
                }
                let from = if flags & FROM_SERVER == 0 { Some(OwnerId(reader.read_u32()?)) } else { None };
                let team = if flags & TO_TEAM != 0 { Some(TeamId(reader.read_u16()?)) } else { None };
                let text = reader.read_str(bytes_max(CHAT_CHARS_MAX))?.to_owned();
                LobbyEvent::Chat { from, team, text }
            }
            4 => {
                let refused = LobbyRefused::from_code(reader.read_u8()?).ok_or(ReadError::OutOfRange)?;
                LobbyEvent::Refused(refused)
            }
            _ => return Err(ReadError::OutOfRange),
        };
        reader.finish()?;
        Ok(event)
    }
}
