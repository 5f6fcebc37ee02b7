//! What a player may ask of a lobby.

use netloom_replica::world::{OwnerId, TeamId};
use netloom_wire::{ByteReader, ByteSink, ByteWriter, ReadError, WriteError};

use super::config::TYPED_BYTES_MAX;
use super::{SETTING_KEY_BYTES_MAX, SETTING_VALUE_BYTES_MAX};

/// Bytes of a command at most: a kind, a player, and a text with its length.
pub const LOBBY_COMMAND_BYTES_MAX: usize = 1 + 4 + 2 + TYPED_BYTES_MAX;

/// What a player asks of a lobby. Texts are as they were typed; the lobby cleans them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LobbyCommand<'a> {
    /// Ready, or not any more.
    Ready(bool),
    /// To another team.
    Team(TeamId),
    /// Leave the seat and watch, or the other way round.
    Spectate(bool),
    /// Another name.
    Rename(&'a str),
    /// The host changes a setting.
    Set {
        /// Which.
        key: &'a str,
        /// To what.
        value: &'a str,
    },
    /// The host begins.
    Start,
    /// The host ends the countdown.
    Cancel,
    /// The host ends the game, and everybody is back in the lobby.
    Restart,
    /// The host removes somebody.
    Kick {
        /// Whom.
        player: OwnerId,
        /// And why.
        reason: &'a str,
    },
    /// To everybody.
    Chat(&'a str),
    /// To the own team.
    TeamChat(&'a str),
}

impl<'a> LobbyCommand<'a> {
    /// Writes it.
    pub fn write(&self, buffer: &mut [u8]) -> Result<usize, WriteError> {
        let mut writer = ByteWriter::new(buffer);
        match *self {
            LobbyCommand::Ready(is_ready) => {
                writer.write_u8(0);
                writer.write_bool(is_ready);
            }
            LobbyCommand::Team(team) => {
                writer.write_u8(1);
                writer.write_u16(team.0);
            }
            LobbyCommand::Spectate(spectates) => {
                writer.write_u8(2);
                writer.write_bool(spectates);
            }
            LobbyCommand::Rename(name) => {
                writer.write_u8(3);
                writer.write_str(name, TYPED_BYTES_MAX);
            }
            LobbyCommand::Set { key, value } => {
                writer.write_u8(4);
                writer.write_str(key, SETTING_KEY_BYTES_MAX);
                writer.write_str(value, SETTING_VALUE_BYTES_MAX);
            }
            LobbyCommand::Start => writer.write_u8(5),
            LobbyCommand::Cancel => writer.write_u8(6),
            LobbyCommand::Restart => writer.write_u8(7),
            LobbyCommand::Kick { player, reason } => {
                writer.write_u8(8);
                writer.write_u32(player.0);
                writer.write_str(reason, TYPED_BYTES_MAX);
            }
            LobbyCommand::Chat(text) => {
                writer.write_u8(9);
                writer.write_str(text, TYPED_BYTES_MAX);
            }
            LobbyCommand::TeamChat(text) => {
                writer.write_u8(10);
                writer.write_str(text, TYPED_BYTES_MAX);
            }
        }
        writer.finish()
    }

    /// Reads one, to the last byte.
    pub fn read(bytes: &'a [u8]) -> Result<LobbyCommand<'a>, ReadError> {
        let mut reader = ByteReader::new(bytes);
        let command = match reader.read_u8()? {
            0 => LobbyCommand::Ready(reader.read_bool()?),
            1 => LobbyCommand::Team(TeamId(reader.read_u16()?)),
            2 => LobbyCommand::Spectate(reader.read_bool()?),
            3 => LobbyCommand::Rename(reader.read_str(TYPED_BYTES_MAX)?),
            4 => {
                let key = reader.read_str(SETTING_KEY_BYTES_MAX)?;
                LobbyCommand::Set { key, value: reader.read_str(SETTING_VALUE_BYTES_MAX)? }
            }
            5 => LobbyCommand::Start,
            6 => LobbyCommand::Cancel,
            7 => LobbyCommand::Restart,
            8 => {
                let player = OwnerId(reader.read_u32()?);
                LobbyCommand::Kick { player, reason: reader.read_str(TYPED_BYTES_MAX)? }
            }
            9 => LobbyCommand::Chat(reader.read_str(TYPED_BYTES_MAX)?),
            10 => LobbyCommand::TeamChat(reader.read_str(TYPED_BYTES_MAX)?),
            _ => return Err(ReadError::OutOfRange),
        };
        reader.finish()?;
        Ok(command)
    }
}
