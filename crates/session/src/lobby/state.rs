//! What everybody sees of a lobby, whole.
//!
//! ```text
//!   phase u8 │ countdown u32 ms, if phase is 1 │ host: 0, or 1 and u32 │ seats u8 │ needed u8 │ teams u8 │ places to watch u8
//!   settings: count u8, each  key, value
//!   members:  count u8, each  id u32 │ flags u8 │ team u16 if it has one │ name
//! ```

use netloom_replica::world::{OwnerId, TeamId};
use netloom_wire::{ByteReader, ByteSink, ByteWriter, Micros, ReadError, WriteError};

use super::{
    PLAYERS_MAX, SETTING_KEY_BYTES_MAX, SETTING_VALUE_BYTES_MAX, SETTINGS_MAX, SPECTATORS_MAX, TEAMS_MAX,
};
use crate::text::{NAME_CHARS_MAX, bytes_max};

const MEMBERS_MAX: usize = PLAYERS_MAX + SPECTATORS_MAX;
const NAME_BYTES_MAX: usize = bytes_max(NAME_CHARS_MAX);
const MEMBER_BYTES_MAX: usize = 4 + 1 + 2 + 2 + NAME_BYTES_MAX;
const SETTING_BYTES_MAX: usize = 1 + SETTING_KEY_BYTES_MAX + 1 + SETTING_VALUE_BYTES_MAX;

/// Bytes of a state at most; one of four players takes fewer than 100.
pub const LOBBY_STATE_BYTES_MAX: usize =
    1 + 4 + 5 + 4 + 1 + SETTINGS_MAX * SETTING_BYTES_MAX + 1 + MEMBERS_MAX * MEMBER_BYTES_MAX;

/// What a lobby is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Waiting for players.
    Waiting,
    /// About to begin.
    Countdown {
        /// In so long, when this was said.
        left: Micros,
    },
    /// In a game.
    Playing,
}

/// What a member is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Has a seat.
    Player,
    /// Watches.
    Spectator,
}

/// Somebody in a lobby.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Who this is in the game.
    pub player: OwnerId,
    /// Unlike anybody else's.
    pub name: String,
    /// What for.
    pub role: Role,
    /// Only players are in teams.
    pub team: Option<TeamId>,
    /// Whether this player wants to begin.
    pub is_ready: bool,
}

/// What everybody sees of a lobby.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LobbyState {
    /// What it is doing.
    pub phase: Phase,
    /// Who may change settings, start and kick; `None` if only the server may.
    pub host: Option<OwnerId>,
    /// Seats.
    pub players_max: usize,
    /// Players that a game needs.
    pub players_min: usize,
    /// Teams, 0 for none.
    pub teams: usize,
    /// Places to watch from.
    pub spectators_max: usize,
    /// What the host chose, in the order of the configuration.
    pub settings: Vec<(String, String)>,
    /// Everybody, in the order in which they came.
    pub members: Vec<Member>,
}

const SPECTATES: u8 = 1;
const READY: u8 = 2;
const HAS_TEAM: u8 = 4;

impl LobbyState {
    /// Somebody who is there.
    pub fn member(&self, player: OwnerId) -> Option<&Member> {
        self.members.iter().find(|member| member.player == player)
    }

    /// Those who have a seat.
    pub fn players(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.role == Role::Player)
    }

    /// How many players are ready.
    pub fn ready_count(&self) -> usize {
        self.players().filter(|member| member.is_ready).count()
    }

    /// The value of a setting.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Writes it.
    pub fn write(&self, buffer: &mut [u8]) -> Result<usize, WriteError> {
        let mut writer = ByteWriter::new(buffer);
        match self.phase {
            Phase::Waiting => writer.write_u8(0),
            Phase::Countdown { left } => {
                writer.write_u8(1);
                writer.write_u32(u32::try_from(left.0 / 1_000).unwrap_or(u32::MAX));
            }
            Phase::Playing => writer.write_u8(2),
        }
        writer.write_bool(self.host.is_some());
        self.host.iter().for_each(|host| writer.write_u32(host.0));
        write_count(&mut writer, self.players_max, PLAYERS_MAX);
        write_count(&mut writer, self.players_min, PLAYERS_MAX);
        write_count(&mut writer, self.teams, TEAMS_MAX);
        write_count(&mut writer, self.spectators_max, SPECTATORS_MAX);
        write_count(&mut writer, self.settings.len(), SETTINGS_MAX);
        for (key, value) in &self.settings {
            writer.write_str(key, SETTING_KEY_BYTES_MAX);
            writer.write_str(value, SETTING_VALUE_BYTES_MAX);
        }
        write_count(&mut writer, self.members.len(), MEMBERS_MAX);
        for member in &self.members {
            let spectates = if member.role == Role::Spectator { SPECTATES } else { 0 };
            let ready = if member.is_ready { READY } else { 0 };
            let has_team = if member.team.is_some() { HAS_TEAM } else { 0 };
            writer.write_u32(member.player.0);
            writer.write_u8(spectates | ready | has_team);
            member.team.iter().for_each(|team| writer.write_u16(team.0));
            writer.write_str(&member.name, NAME_BYTES_MAX);
        }
        writer.finish()
    }

    /// Reads one, to the last byte.
    pub fn read(bytes: &[u8]) -> Result<LobbyState, ReadError> {
        let mut reader = ByteReader::new(bytes);
        let phase = match reader.read_u8()? {
            0 => Phase::Waiting,
            1 => Phase::Countdown { left: Micros::from_millis(reader.read_u32()?.into()) },
            2 => Phase::Playing,
            _ => return Err(ReadError::OutOfRange),
        };
        let host = if reader.read_bool()? { Some(OwnerId(reader.read_u32()?)) } else { None };
        let players_max = read_count(&mut reader, PLAYERS_MAX)?;
        let players_min = read_count(&mut reader, PLAYERS_MAX)?;
        let teams = read_count(&mut reader, TEAMS_MAX)?;
        let spectators_max = read_count(&mut reader, SPECTATORS_MAX)?;
        // Collecting reserves nothing for a count that lies: the bytes of every element must be there first.
        let settings = (0..read_count(&mut reader, SETTINGS_MAX)?)
            .map(|_| {
                let key = reader.read_str(SETTING_KEY_BYTES_MAX)?.to_owned();
                Ok((key, reader.read_str(SETTING_VALUE_BYTES_MAX)?.to_owned()))
            })
            .collect::<Result<_, ReadError>>()?;
        let members = (0..read_count(&mut reader, MEMBERS_MAX)?)
            .map(|_| read_member(&mut reader, teams))
            .collect::<Result<_, ReadError>>()?;
        reader.finish()?;
        Ok(LobbyState { phase, host, players_max, players_min, teams, spectators_max, settings, members })
    }
}

fn write_count(writer: &mut ByteWriter<'_>, count: usize, max: usize) {
    match u8::try_from(count) {
        Ok(byte) if count <= max => writer.write_u8(byte),
        _ => writer.fail(WriteError::OutOfRange),
    }
}

fn read_count(reader: &mut ByteReader<'_>, max: usize) -> Result<usize, ReadError> {
    let count = usize::from(reader.read_u8()?);
    if count <= max { Ok(count) } else { Err(ReadError::TooLong) }
}

fn read_member(reader: &mut ByteReader<'_>, teams: usize) -> Result<Member, ReadError> {
    let player = OwnerId(reader.read_u32()?);
    let flags = reader.read_u8()?;
    if flags & !(SPECTATES | READY | HAS_TEAM) != 0 {
        return Err(ReadError::ReservedBits);
    }
    let team = if flags & HAS_TEAM != 0 { Some(TeamId(reader.read_u16()?)) } else { None };
    if team.is_some_and(|team| usize::from(team.0) >= teams) {
        return Err(ReadError::OutOfRange);
    }
    Ok(Member {
        player,
        role: if flags & SPECTATES != 0 { Role::Spectator } else { Role::Player },
        team,
        is_ready: flags & READY != 0,
        name: reader.read_str(NAME_BYTES_MAX)?.to_owned(),
    })
}
