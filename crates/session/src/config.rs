//! What a session is built from. Everything has a default; a wrong value is an error that names field, value and range.
//!
//! These are fixed for the life of a server, room or client. What may change while it runs is a method of those.

use netloom_proto::{ConfigError, ListenConfig, Security};
use netloom_replica::client::{DelayConfig, InputClockConfig};
use netloom_replica::server::input_queue::Starvation;
use netloom_replica::server::interest::{GridConfig, Policy};
use netloom_replica::server::priority::Cadence;
use netloom_replica::server::{self as replica, Heartbeat, RewindConfig};
use netloom_wire::Micros;

use crate::adapt::AdaptConfig;
use crate::channel::channels;
use crate::health::HealthConfig;
use crate::lobby::{DuplicateNames, LobbyConfig};
use crate::message::{PLAYER_NAME_BYTES_MAX, ROOM_NAME_BYTES_MAX};
use crate::protocol::Protocol;
use crate::rpc::Rate;
use crate::validate::{RateRule, SuspicionRule};

/// What kind of game a room is for: a name for a set of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// 2 to 16 players, up to 500 objects that everybody sees, 60 steps and 20 snapshots a second, not encrypted.
    #[default]
    Small,
    /// Four players who meet in a lobby, 60 steps and 60 snapshots a second.
    Lobby4,
    /// Sixteen clients that trust each other, 30 steps and 15 snapshots a second.
    Relay16,
    /// Many players, each of whom sees what is near: 20 steps and snapshots a second, at 30, 10 and 3 Hz by importance.
    Mmo,
}

impl Profile {
    /// All of them.
    pub const ALL: [Profile; 4] = [Profile::Small, Profile::Lobby4, Profile::Relay16, Profile::Mmo];

    /// Its name in configuration files.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Small => "small",
            Profile::Lobby4 => "lobby4",
            Profile::Relay16 => "relay16",
            Profile::Mmo => "mmo",
        }
    }

    /// The profile with this name.
    pub fn from_name(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// What a server is built from.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The connections.
    pub connection: netloom_proto::Config,
    /// Who is let in.
    pub listen: ListenConfig,
    /// How long a connection may take for its greeting: 0.1 to 60 s.
    pub greeting_timeout: Micros,
    /// Bytes per second to all players together; 0 is no limit.
    pub bytes_per_second_total: u64,
    /// Messages that make no sense, in a row of ten seconds, before who sends them is disconnected: 1 to 10,000.
    pub nonsense_max: u32,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig::for_profile(Profile::Small)
    }
}

impl ServerConfig {
    /// The values of a profile.
    pub fn for_profile(profile: Profile) -> ServerConfig {
        let mut connection =
            netloom_proto::Config { channels: channels(), ..netloom_proto::Config::default() };
        // A snapshot leaves at once, not in the rhythm of the pacing.
        connection.rate.burst = Micros::from_millis(100);
        let mut listen = ListenConfig::default();
        match profile {
            Profile::Small => {
                connection.security = Security::Optional;
                listen.peers_max = 16;
            }
            Profile::Lobby4 => {
                connection.peer_timeout = Micros::from_secs(5);
                listen.peers_max = 64;
            }
            Profile::Relay16 => listen.peers_max = 64,
            Profile::Mmo => {
                connection.rate.bytes_per_second_max = 50 * 1_024;
                connection.rate.bytes_per_second_initial = 25 * 1_024;
                listen.peers_max = 1_000;
            }
        }
        ServerConfig {
            connection,
            listen,
            greeting_timeout: Micros::from_secs(5),
            bytes_per_second_total: 0,
            nonsense_max: 100,
        }
    }

    /// The configuration of the endpoint: these values, and what the protocol is.
    pub(crate) fn endpoint(&self, protocol: &Protocol) -> netloom_proto::Config {
        netloom_proto::Config {
            protocol_id: protocol.id(),
            schema_hash: protocol.schema_hash(),
            table_id: protocol.codes().id(),
            channels: channels(),
            ..self.connection.clone()
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        within("greeting_timeout", self.greeting_timeout.0, 100_000..=60_000_000, "0.1 to 60 s")?;
        within("nonsense_max", self.nonsense_max.into(), 1..=10_000, "1 to 10,000")
    }
}

/// What a room is built from.
#[derive(Clone, Debug)]
pub struct RoomConfig {
    /// Its name, by which clients ask for it: 1 to 64 bytes.
    pub name: String,
    /// A code by which clients can ask for it, too, up to 64 bytes; empty for none. See [`discovery`](crate::discovery).
    pub code: String,
    /// Players at once, 1 to 65,535.
    pub players_max: usize,
    /// Those who only watch, 0 to 65,535.
    pub spectators_max: usize,
    /// Steps of the simulation a second, 1 to 240.
    pub steps_per_second: u32,
    /// Snapshots a second: a divisor of `steps_per_second`.
    pub sends_per_second: u32,
    /// Steps that may be made up for after a hitch; the rest of the lost time is never simulated: 1 to 60.
    pub catch_up_steps: u32,
    /// Objects at once, 1 to 1,048,576.
    pub objects_max: usize,
    /// How the world is told.
    pub replication: replica::ServerConfig,
    /// What a step is simulated with when a player's input has not come.
    pub starvation: Starvation,
    /// How many steps ahead inputs are kept, 1 to 256.
    pub input_window_steps: u32,
    /// How far the past is kept for shots to be judged in; `None` keeps none.
    pub rewind: Option<RewindConfig>,
    /// What a player gets when the connection gets worse.
    pub adapt: AdaptConfig,
    /// Who cannot be kept.
    pub health: HealthConfig,
    /// What refused inputs weigh, and what follows.
    pub suspicion: SuspicionRule,
    /// The lobby in which players meet; `None` for a room that plays from the start.
    pub lobby: Option<LobbyConfig>,
    /// What somebody gets whose name another one has.
    pub duplicate_names: DuplicateNames,
    /// Lines of chat of one player.
    pub chat: RateRule,
    /// What all calls of one client together may come to; each call has a rate of its own below it.
    pub call_rate: Rate,
    /// A seed for [`Room::random`](crate::room::Room::random).
    pub seed: u64,
}

impl RoomConfig {
    /// A room for the profile `small`.
    pub fn new(name: &str) -> RoomConfig {
        RoomConfig::for_profile(name, Profile::Small)
    }

    /// The values of a profile.
    pub fn for_profile(name: &str, profile: Profile) -> RoomConfig {
        let base = RoomConfig {
            name: name.to_owned(),
            code: String::new(),
            players_max: 16,
            spectators_max: 16,
            steps_per_second: 60,
            sends_per_second: 20,
            catch_up_steps: 8,
            objects_max: 4_096,
            replication: replica::ServerConfig::default(),
            starvation: Starvation::Repeat { steps_max: 15 },
            input_window_steps: 64,
            rewind: None,
            adapt: AdaptConfig::default(),
            health: HealthConfig::default(),
            suspicion: SuspicionRule::default(),
            lobby: None,
            duplicate_names: DuplicateNames::Number,
            chat: RateRule { per_second: 1, burst: 5 },
            call_rate: Rate::default(),
            seed: 0,
        };
        match profile {
            Profile::Small => RoomConfig {
                replication: replica::ServerConfig {
                    heartbeat: Heartbeat::Resend { ticks: 100 },
                    ..base.replication
                },
                ..base
            },
            Profile::Lobby4 => RoomConfig {
                players_max: 4,
                sends_per_second: 60,
                lobby: Some(LobbyConfig { players_max: 4, ..LobbyConfig::default() }),
                ..base
            },
            Profile::Relay16 => RoomConfig { steps_per_second: 30, sends_per_second: 15, ..base },
            Profile::Mmo => RoomConfig {
                players_max: 1_000,
                spectators_max: 0,
                steps_per_second: 20,
                sends_per_second: 20,
                objects_max: 65_536,
                replication: replica::ServerConfig {
                    policy: Policy::Grid(GridConfig::default()),
                    cadence: Cadence::hertz([30, 10, 3], 20).unwrap_or(Cadence::EVERY_TICK),
                    ..base.replication
                },
                ..base
            },
        }
    }

    /// Steps from one snapshot to the next.
    pub(crate) fn steps_per_send(&self) -> u32 {
        self.steps_per_second / self.sends_per_second.max(1)
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let names = 1..=ROOM_NAME_BYTES_MAX as u64;
        within("room.name", self.name.len() as u64, names, "1 to 64 bytes")?;
        let codes = 0..=ROOM_NAME_BYTES_MAX as u64;
        within("room.code", self.code.len() as u64, codes, "up to 64 bytes")?;
        within("room.players_max", self.players_max as u64, 1..=65_535, "1 to 65,535")?;
        within("room.spectators_max", self.spectators_max as u64, 0..=65_535, "0 to 65,535")?;
        within("room.steps_per_second", self.steps_per_second.into(), 1..=240, "1 to 240")?;
        let sends = self.sends_per_second;
        let divides = sends >= 1 && self.steps_per_second.is_multiple_of(sends);
        within("room.sends_per_second", sends.into(), 1..=240, "a divisor of steps_per_second")?;
        if !divides {
            return Err(error("room.sends_per_second", sends, "a divisor of steps_per_second"));
        }
        within("room.catch_up_steps", self.catch_up_steps.into(), 1..=60, "1 to 60")?;
        within("room.input_window_steps", self.input_window_steps.into(), 1..=256, "1 to 256")
    }
}

/// What a client is built from.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The connection.
    pub connection: netloom_proto::Config,
    /// The name to be known by, up to 64 bytes.
    pub name: String,
    /// The room, by name or code; empty for the server's choice.
    pub room: String,
    /// To watch only.
    pub is_spectator: bool,
    /// What the game asks for to let somebody in, up to 1,024 bytes.
    pub ticket: Vec<u8>,
    /// How far behind the view is.
    pub delay: DelayConfig,
    /// Objects for which there is memory from the start, 1 to 65,535.
    pub objects: usize,
    /// Steps that one frame makes at most, 1 to 64.
    pub steps_per_frame_max: u32,
    /// Whether to take up a lost connection again by itself, for as long as the server keeps the seat.
    pub reconnects: bool,
}

impl Default for ClientConfig {
    fn default() -> ClientConfig {
        let mut connection = netloom_proto::Config {
            channels: channels(),
            security: Security::Optional,
            ..netloom_proto::Config::default()
        };
        connection.rate.burst = Micros::from_millis(100);
        ClientConfig {
            connection,
            name: String::from("player"),
            room: String::new(),
            is_spectator: false,
            ticket: Vec::new(),
            delay: DelayConfig::default(),
            objects: 256,
            steps_per_frame_max: InputClockConfig::default().steps_per_poll_max,
            reconnects: true,
        }
    }
}

impl ClientConfig {
    pub(crate) fn endpoint(&self, protocol: &Protocol) -> netloom_proto::Config {
        netloom_proto::Config {
            protocol_id: protocol.id(),
            schema_hash: protocol.schema_hash(),
            table_id: protocol.codes().id(),
            channels: channels(),
            ..self.connection.clone()
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let names = 0..=PLAYER_NAME_BYTES_MAX as u64;
        within("name", self.name.len() as u64, names, "up to 64 bytes")?;
        within("room", self.room.len() as u64, 0..=ROOM_NAME_BYTES_MAX as u64, "up to 64 bytes")?;
        within("ticket", self.ticket.len() as u64, 0..=1_024, "up to 1,024 bytes")?;
        within("objects", self.objects as u64, 1..=65_535, "1 to 65,535")?;
        within("steps_per_frame_max", self.steps_per_frame_max.into(), 1..=64, "1 to 64")
    }
}

fn within(
    field: &'static str,
    value: u64,
    range: std::ops::RangeInclusive<u64>,
    allowed: &'static str,
) -> Result<(), ConfigError> {
    if range.contains(&value) { Ok(()) } else { Err(error(field, value, allowed)) }
}

fn error(field: &'static str, value: impl ToString, allowed: &'static str) -> ConfigError {
    ConfigError { field, value: value.to_string(), allowed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_have_the_values_of_their_games() {
        for profile in Profile::ALL {
            assert_eq!(Profile::from_name(profile.name()), Some(profile));
            RoomConfig::for_profile("room", profile).check().unwrap();
            let server = ServerConfig::for_profile(profile);
            server.check().unwrap();
            server.connection.check().unwrap();
            server.listen.check().unwrap();
        }
        let small = RoomConfig::new("room");
        assert_eq!((small.players_max, small.steps_per_second, small.sends_per_second), (16, 60, 20));
        assert_eq!(ServerConfig::default().listen.peers_max, 16);
        let lobby = RoomConfig::for_profile("room", Profile::Lobby4);
        assert_eq!((lobby.players_max, lobby.sends_per_second), (4, 60));
        let mmo = RoomConfig::for_profile("room", Profile::Mmo);
        assert!(
            (10..=30).contains(&mmo.steps_per_second) && matches!(mmo.replication.policy, Policy::Grid(_))
        );
        assert_eq!(ServerConfig::for_profile(Profile::Mmo).connection.security, Security::Required);
    }

    #[test]
    fn what_cannot_be_names_field_value_and_range() {
        let wrong = RoomConfig { sends_per_second: 7, ..RoomConfig::new("room") };
        let error = wrong.check().unwrap_err().to_string();
        assert_eq!(error, "room.sends_per_second = 7 is not allowed: use a divisor of steps_per_second");
        assert_eq!(RoomConfig::new("").check().unwrap_err().field, "room.name");
        let wrong = ClientConfig { name: "x".repeat(65), ..ClientConfig::default() };
        assert_eq!(wrong.check().unwrap_err().field, "name");
        let wrong = ServerConfig { nonsense_max: 0, ..ServerConfig::default() };
        assert_eq!(wrong.check().unwrap_err().field, "nonsense_max");
    }
}
