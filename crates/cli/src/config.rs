//! Settings: a file, then the environment, then flags; each overrides the one before.
//!
//! ```text
//!   defaults ─▶ netloom.toml ─▶ NETLOOM_ROOM_SEND_RATE=20 ─▶ --bind udp://… ─▶ checked ─▶ what server and clients are built from
//! ```
//!
//! Every setting is a field of a section here and has a line in [`fields`] that says what it is and what it may be. A mistake names
//! the file, the line, the field and what would be allowed.

mod fields;
mod mapping;
mod source;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::{games, out};

/// The version of the file's layout.
pub const VERSION: i64 = 1;

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub version: i64,
    pub server: ServerSection,
    pub room: RoomSection,
    pub connection: ConnectionSection,
    pub replication: ReplicationSection,
    pub rtype: RtypeSection,
    pub client: ClientSection,
    pub log: LogSection,
}

/// What runs, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSection {
    pub role: String,
    pub auto_start: bool,
    pub game: String,
    pub address: String,
    pub port: i64,
    pub bind: Vec<String>,
    pub rooms: i64,
    pub driver: String,
    pub workers: i64,
    pub http: String,
    pub webtransport: String,
    pub certificate: String,
    pub key: String,
    pub metrics: String,
    pub dashboard: bool,
    pub record_scene: String,
}

/// What every room is like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoomSection {
    pub profile: String,
    pub name: String,
    pub max_clients: i64,
    pub max_spectators: i64,
    pub tick_rate: i64,
    pub send_rate: i64,
    pub catch_up_ticks: i64,
    pub max_objects: i64,
    pub things: i64,
    pub duplicate_names: String,
    pub seed: i64,
}

/// What connections are like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConnectionSection {
    pub encryption: String,
    pub mtu: i64,
    pub bandwidth_budget_kbps: i64,
    pub bandwidth_total_kbps: i64,
    pub connect_timeout: f64,
    pub max_retries: i64,
    pub peer_timeout: f64,
    pub max_peer_rtt: f64,
    pub max_peer_queue_depth: i64,
    pub max_events_per_tick: i64,
    pub max_events_initial_sync: i64,
    pub initial_sync_window: f64,
    pub resume_window: f64,
    pub connects_per_address: i64,
    pub plain_websocket: bool,
    pub compress_packets: bool,
}

/// How the world is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReplicationSection {
    pub full_sync_interval: i64,
    pub min_distant_objects_per_tick: i64,
    pub arena_size: i64,
    pub table: String,
}

/// What the game `rtype` is like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RtypeSection {
    pub levels: String,
    pub level: i64,
    pub bots: i64,
    pub min_players: i64,
    pub classic: String,
    pub classic_trust_loopback: bool,
}

/// What `netloom connect` and `netloom bots` are like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClientSection {
    pub name: String,
    pub certificate_hash: String,
    pub interp_delay: f64,
    pub prediction_threshold: f64,
    pub correction_blend: f64,
}

/// What is logged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogSection {
    pub level: String,
    pub json: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            version: VERSION,
            server: ServerSection::default(),
            room: RoomSection::default(),
            connection: ConnectionSection::default(),
            replication: ReplicationSection::default(),
            rtype: RtypeSection::default(),
            client: ClientSection::default(),
            log: LogSection::default(),
        }
    }
}

impl Default for ServerSection {
    fn default() -> ServerSection {
        ServerSection {
            role: String::from("none"),
            auto_start: false,
            game: String::from(games::DEFAULT),
            address: String::from("0.0.0.0"),
            port: netloom::address::DEFAULT_PORT.into(),
            bind: Vec::new(),
            rooms: 1,
            driver: String::from("polling"),
            workers: 1,
            http: String::from("127.0.0.1:7778"),
            webtransport: String::from(if cfg!(feature = "webtransport") { "[::]:7778" } else { "" }),
            certificate: String::new(),
            key: String::new(),
            metrics: String::from("127.0.0.1:7779"),
            dashboard: true,
            record_scene: String::new(),
        }
    }
}

impl Default for RoomSection {
    fn default() -> RoomSection {
        RoomSection {
            profile: String::new(),
            name: String::from("yard"),
            max_clients: 0,
            max_spectators: 16,
            tick_rate: 60,
            send_rate: 0,
            catch_up_ticks: 8,
            max_objects: 4_096,
            things: 256,
            duplicate_names: String::from("number"),
            seed: 0,
        }
    }
}

impl Default for ConnectionSection {
    fn default() -> ConnectionSection {
        ConnectionSection {
            encryption: String::from("optional"),
            mtu: 1_200,
            bandwidth_budget_kbps: 256,
            bandwidth_total_kbps: 0,
            connect_timeout: 5.0,
            max_retries: 3,
            peer_timeout: 10.0,
            max_peer_rtt: 500.0,
            max_peer_queue_depth: 256,
            max_events_per_tick: 64,
            max_events_initial_sync: 512,
            initial_sync_window: 2.0,
            resume_window: 60.0,
            connects_per_address: 64,
            plain_websocket: false,
            compress_packets: false,
        }
    }
}

impl Default for ReplicationSection {
    fn default() -> ReplicationSection {
        ReplicationSection {
            full_sync_interval: 100,
            min_distant_objects_per_tick: 2,
            arena_size: 64 << 10,
            table: String::new(),
        }
    }
}

impl Default for RtypeSection {
    fn default() -> RtypeSection {
        RtypeSection {
            levels: String::new(),
            level: 1,
            bots: 0,
            min_players: 1,
            classic: String::new(),
            classic_trust_loopback: false,
        }
    }
}

impl Default for ClientSection {
    fn default() -> ClientSection {
        ClientSection {
            name: String::from("player"),
            certificate_hash: String::new(),
            interp_delay: 0.1,
            prediction_threshold: 0.02,
            correction_blend: 0.1,
        }
    }
}

impl Default for LogSection {
    fn default() -> LogSection {
        LogSection { level: String::from("info"), json: false }
    }
}

impl Config {
    /// The settings of a file, if one is named, and of the environment.
    pub fn load(file: Option<&Path>) -> Result<Config, String> {
        let config = match file {
            Some(file) => source::read_file(file)?,
            None => Config::default(),
        };
        let environment = std::env::vars_os();
        let readable = environment.filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let config = source::with_environment(&config, readable)?;
        fields::check(&config).map_err(|wrong| wrong.to_string())?;
        Ok(config)
    }
}

impl Config {
    /// Whether the game can be as these settings have it.
    pub fn check_game(&self) -> Result<(), String> {
        fields::check_game(self).map_err(|wrong| wrong.to_string())
    }

    /// The settings with the hash of a server's certificate from a flag.
    pub fn with_certificate_hash(mut self, hash: Option<&str>) -> Result<Config, String> {
        if let Some(hash) = hash {
            self.client.certificate_hash = hash.to_owned();
            fields::check(&self).map_err(|wrong| wrong.to_string())?;
        }
        Ok(self)
    }
}

const AFTER_HELP: &str = "\
Examples:
  netloom config --default > netloom.toml     every setting with its default, and what it means
  netloom config --check netloom.toml         whether a file can be used
  NETLOOM_ROOM_SEND_RATE=20 netloom serve     one setting from the environment: NETLOOM_<SECTION>_<FIELD>";

/// What to do with settings.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[group(required = true, multiple = false)]
pub struct ConfigArgs {
    /// Print a file with every setting, its default and what it means
    #[arg(long)]
    default: bool,
    /// Say whether a file can be used
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &ConfigArgs) -> Result<ExitCode, String> {
    match &args.check {
        Some(file) => {
            source::read_file(file)?;
            out::line(format_args!("{}: every setting is valid", file.display()));
        }
        None => out::print(format_args!("{}", fields::default_file())),
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use netloom::prelude::RoomConfig;

    use super::*;

    impl Config {
        fn of_game(game: &str) -> Config {
            let mut config = Config::default();
            config.server.game = game.to_owned();
            config
        }
    }

    #[test]
    fn the_default_file_says_what_the_defaults_are() {
        let read: Config = toml::from_str(&fields::default_file()).unwrap();
        assert_eq!(read, Config::default());
        fields::check(&read).unwrap();
    }

    #[test]
    fn the_defaults_are_those_of_the_design() {
        let cubes = Config::of_game("cubes").room_config(0, |_| {});
        assert_eq!((cubes.steps_per_second, cubes.sends_per_second), (60, 20));
        let Config { server, connection, replication, client, .. } = Config::default();
        assert_eq!((&*server.role, server.auto_start, server.port), ("none", false, 7777));
        assert_eq!((connection.bandwidth_budget_kbps, connection.compress_packets), (256, false));
        assert_eq!((connection.max_events_per_tick, connection.max_events_initial_sync), (64, 512));
        assert_eq!((connection.initial_sync_window, connection.peer_timeout), (2.0, 10.0));
        assert_eq!((connection.max_peer_rtt, connection.max_peer_queue_depth), (500.0, 256));
        assert_eq!((connection.connect_timeout, connection.max_retries), (5.0, 3));
        assert_eq!((replication.full_sync_interval, replication.min_distant_objects_per_tick), (100, 2));
        assert_eq!(
            (replication.arena_size, client.interp_delay, client.correction_blend),
            (64 << 10, 0.1, 0.1)
        );
        for (length, is_valid) in [(63, true), (64, false)] {
            let mut config = Config::default();
            config.server.address = "a".repeat(length);
            assert_eq!(fields::check(&config).is_ok(), is_valid);
        }
        for (port, is_valid) in [(65_535, true), (65_536, false), (-1, false)] {
            let mut config = Config::default();
            config.server.port = port;
            assert_eq!(fields::check(&config).is_ok(), is_valid);
        }
    }

    #[test]
    fn a_game_furnishes_its_rooms_and_settings_go_before_it() {
        let furnish = |room: &mut RoomConfig| room.sends_per_second = 20;
        let mut config = Config::of_game("rtype");
        let room = config.room_config(0, furnish);
        assert_eq!((room.players_max, room.sends_per_second), (4, 20));
        assert_eq!(room.lobby.map(|lobby| (lobby.players_max, lobby.spectators_max)), Some((4, 16)));
        (config.room.max_clients, config.room.send_rate) = (3, 15);
        let room = config.room_config(0, furnish);
        assert_eq!((room.players_max, room.sends_per_second), (3, 15));
        (config.room.send_rate, config.room.tick_rate) = (0, 25);
        assert_eq!(config.room_config(0, furnish).sends_per_second, 5, "20 is no divisor of 25");
        config.room.profile = String::from("small");
        assert!(config.room_config(0, furnish).lobby.is_none());
    }

    #[test]
    fn every_default_can_be_built_from() {
        let config = Config::default();
        config.server_config().connection.check().unwrap();
        config.client_config("x").connection.check().unwrap();
        assert_eq!(config.room_config(0, |_| {}).name, "yard");
        let three = Config { server: ServerSection { rooms: 3, ..config.server }, ..config };
        assert_eq!(three.room_config(2, |_| {}).name, "yard-3");
    }
}
