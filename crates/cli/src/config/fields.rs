//! What every setting is, and what it may be: the comments of the default file, and the check.

use std::fmt;

use toml::{Table, Value};

use super::{Config, VERSION};
use crate::games;

/// What a setting may be.
enum Allowed {
    /// A whole number.
    Whole(i64, i64),
    /// A number.
    Number(f64, f64),
    /// One of some words.
    Words(&'static [&'static str]),
    /// A text of so many bytes.
    Bytes(usize, usize),
    /// An address.
    Address,
    /// Addresses.
    Addresses,
    /// An address, or nothing.
    AddressOrNothing,
    /// A hash of 32 bytes in base64, or nothing.
    HashOrNothing,
    /// The name of a game.
    Game,
    /// Yes or no.
    Bool,
    /// No, for now.
    False,
}

use Allowed::*;

/// A setting.
struct Field {
    section: &'static str,
    name: &'static str,
    allowed: Allowed,
    about: &'static str,
}

const fn field(section: &'static str, name: &'static str, allowed: Allowed, about: &'static str) -> Field {
    Field { section, name, allowed, about }
}

/// What each section is about.
const SECTIONS: [(&str, &str); 7] = [
    ("server", "What runs, and where."),
    ("room", "What every room is like."),
    ("connection", "What connections are like."),
    ("replication", "How the world is told to clients."),
    ("rtype", "What the game `rtype` is like."),
    ("client", "What `netloom connect` and `netloom bots` are like."),
    ("log", "What is logged, to standard error."),
];

/// All settings, in the order of the file.
const FIELDS: [Field; 60] = [
    field(
        "server",
        "role",
        Words(&["none", "server", "client", "host"]),
        "What an engine with Netloom in it starts as. `netloom serve` is a server whatever this says.",
    ),
    field(
        "server",
        "auto_start",
        Bool,
        "Whether such an engine starts by itself. `netloom serve` always does.",
    ),
    field("server", "game", Game, "The game."),
    field(
        "server",
        "address",
        Bytes(1, 63),
        "The address to listen at for UDP: 0.0.0.0 is every IPv4 address of this machine, :: of both families.",
    ),
    field("server", "port", Whole(0, 65_535), "The port for UDP; 0 lets the system choose."),
    field(
        "server",
        "bind",
        Addresses,
        "Addresses to listen at instead, with their transports: [\"udp://0.0.0.0:7777\", \"tcp://[::]:7777\"]. Browsers have http and webtransport.",
    ),
    field("server", "rooms", Whole(1, 1_000), "How many rooms."),
    field(
        "server",
        "driver",
        Words(&["polling", "dual"]),
        "polling: one thread does everything. dual: every transport has a thread of its own beside the game's.",
    ),
    field(
        "server",
        "workers",
        Whole(1, 16),
        "Threads that make the snapshots of rooms with 64 players and more. With 1 the game's thread does it alone.",
    ),
    field(
        "server",
        "http",
        AddressOrNothing,
        "Where the page and its WebSocket are; empty for nowhere. Other than loopback addresses need connection.plain_websocket.",
    ),
    field(
        "server",
        "webtransport",
        AddressOrNothing,
        "Where WebTransport is, over UDP; empty for nowhere. [::] is every address of both families.",
    ),
    field(
        "server",
        "certificate",
        Bytes(0, 4_096),
        "The file with the certificate of WebTransport, in PEM; empty to make one that pages know by its hash.",
    ),
    field("server", "key", Bytes(0, 4_096), "The file with its key, in PEM."),
    field(
        "server",
        "metrics",
        AddressOrNothing,
        "Where /metrics, /healthz and /dashboard are served over HTTP; empty for nowhere.",
    ),
    field(
        "server",
        "dashboard",
        Bool,
        "Whether there is /dashboard, where whoever is on this machine sees rooms and players live and can remove players.",
    ),
    field(
        "server",
        "record_scene",
        Bytes(0, 4_096),
        "The file into which the first room is recorded, to train code tables on and to measure; empty for none.",
    ),
    field(
        "room",
        "profile",
        Words(&["", "small", "lobby4", "relay16", "mmo"]),
        "What is no setting here (interest, rates by importance, lobby) is as this profile has it; empty for the game's own.",
    ),
    field("room", "name", Bytes(1, 56), "The name. With several rooms it gets a number behind it."),
    field(
        "room",
        "max_clients",
        Whole(0, 65_535),
        "Players in a room at once; 0 for as many as the game is made for.",
    ),
    field("room", "max_spectators", Whole(0, 65_535), "Watchers in a room at once."),
    field("room", "tick_rate", Whole(1, 240), "Steps of the simulation a second."),
    field(
        "room",
        "send_rate",
        Whole(0, 240),
        "Snapshots a second: a divisor of tick_rate; 0 for as many as the game is made for.",
    ),
    field("room", "catch_up_ticks", Whole(1, 60), "Steps that are made up for after a hitch."),
    field("room", "max_objects", Whole(1, 1_048_576), "Objects in a room at once."),
    field("room", "things", Whole(0, 65_535), "Things in a room that nobody steers: in `cubes`, the cubes."),
    field(
        "room",
        "duplicate_names",
        Words(&["number", "refuse"]),
        "What happens to a player whose name is taken.",
    ),
    field("room", "seed", Whole(0, i64::MAX), "What the game's randomness follows from."),
    field(
        "connection",
        "encryption",
        Words(&["off", "optional", "required"]),
        "optional: with every client that can.",
    ),
    field("connection", "mtu", Whole(1_000, 1_200), "The longest datagram, in bytes."),
    field(
        "connection",
        "bandwidth_budget_kbps",
        Whole(2, 9_000_000),
        "What one client is sent at most, in KiB a second. It is less on a connection that cannot carry it.",
    ),
    field(
        "connection",
        "bandwidth_total_kbps",
        Whole(0, 9_000_000),
        "What all are sent together, in KiB a second; 0 is no limit.",
    ),
    field(
        "connection",
        "connect_timeout",
        Number(0.25, 60.0),
        "How long one attempt to connect lasts, in seconds.",
    ),
    field("connection", "max_retries", Whole(0, 255), "Attempts after the first."),
    field(
        "connection",
        "peer_timeout",
        Number(2.0, 600.0),
        "Silence after which a connection is lost, in seconds.",
    ),
    field(
        "connection",
        "max_peer_rtt",
        Number(10.0, 60_000.0),
        "The longest round trip that a player may have for 5 s, in milliseconds.",
    ),
    field(
        "connection",
        "max_peer_queue_depth",
        Whole(1, 1_000_000),
        "Packets that may wait for a player for 5 s.",
    ),
    field("connection", "max_events_per_tick", Whole(1, 65_536), "Events of one connection in one tick."),
    field(
        "connection",
        "max_events_initial_sync",
        Whole(1, 65_536),
        "The same in the first moments; at least max_events_per_tick.",
    ),
    field("connection", "initial_sync_window", Number(0.0, 60.0), "How long those moments last, in seconds."),
    field(
        "connection",
        "resume_window",
        Number(0.0, 3_600.0),
        "How long the seat of a lost player is kept, in seconds.",
    ),
    field(
        "connection",
        "connects_per_address",
        Whole(1, 10_000_000),
        "Requests to connect that are answered a second, from one address.",
    ),
    field(
        "connection",
        "plain_websocket",
        Bool,
        "Whether ws:// may be at an address that others reach: everybody on the way can read it.",
    ),
    field("connection", "compress_packets", False, "Reserved: snapshots are coded tightly already."),
    field(
        "replication",
        "full_sync_interval",
        Whole(1, 65_535),
        "Snapshots in which every object is told, or compared, once even if it rests.",
    ),
    field(
        "replication",
        "min_distant_objects_per_tick",
        Whole(0, 64),
        "Distant objects that a snapshot has room for, whatever is near.",
    ),
    field("replication", "arena_size", Whole(65_536, 262_144), "Memory for the codes of one tick, in bytes."),
    field(
        "replication",
        "table",
        Bytes(0, 4_096),
        "Code tables: a file of `netloom train`, or the name of one that comes with Netloom; empty for those of the game. Server and clients need the same.",
    ),
    field(
        "rtype",
        "levels",
        Bytes(0, 4_096),
        "The folder with the levels, as files of JSON; empty for those of this program.",
    ),
    field("rtype", "level", Whole(1, 255), "The level that a lobby suggests; its host may choose another."),
    field("rtype", "bots", Whole(0, 3), "Seats that a lobby suggests to leave to the server's own players."),
    field("rtype", "min_players", Whole(1, 4), "Players that a game needs."),
    field(
        "rtype",
        "classic",
        AddressOrNothing,
        "Where the game is played over the classic protocol, over UDP; empty for nowhere. docs/CLASSIC.md has its bytes.",
    ),
    field(
        "rtype",
        "classic_trust_loopback",
        Bool,
        "Whether the classic JOIN of three bytes is enough from this machine. Elsewhere there is a challenge first.",
    ),
    field("client", "name", Bytes(1, 64), "The name to be known by."),
    field(
        "client",
        "certificate_hash",
        HashOrNothing,
        "The hash of the server's certificate for https:// addresses, as the server prints it; empty if an authority vouches for it.",
    ),
    field(
        "client",
        "interp_delay",
        Number(0.05, 0.5),
        "How far behind the view of others is, in seconds; it grows on a bad connection.",
    ),
    field(
        "client",
        "prediction_threshold",
        Number(0.0, 1.0),
        "Up to this distance a wrong prediction is corrected at once, in metres.",
    ),
    field(
        "client",
        "correction_blend",
        Number(0.01, 0.9),
        "The part of a larger correction that a sixtieth of a second takes away.",
    ),
    field("log", "level", Words(&["off", "error", "warn", "info", "debug", "trace"]), "How much."),
    field("log", "json", Bool, "Whether every line is a JSON object."),
];

/// A setting that cannot be.
#[derive(Debug)]
pub struct Wrong {
    /// The section; empty above all sections.
    pub section: &'static str,
    /// The field.
    pub field: &'static str,
    value: String,
    allowed: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wrong { section, field, value, allowed } = self;
        let dot = if section.is_empty() { "" } else { "." };
        write!(formatter, "{section}{dot}{field} = {value} is not allowed: use {allowed}")
    }
}

impl Allowed {
    fn permits(&self, value: &Value) -> bool {
        let is_address = |text: &str| text.parse::<netloom::Address>().is_ok();
        match (self, value) {
            (Whole(from, to), Value::Integer(number)) => (from..=to).contains(&number),
            (Number(from, to), Value::Float(number)) => (from..=to).contains(&number),
            (Words(words), Value::String(text)) => words.contains(&&**text),
            (Bytes(from, to), Value::String(text)) => (*from..=*to).contains(&text.len()),
            (Address, Value::String(text)) => is_address(text),
            (AddressOrNothing, Value::String(text)) => text.is_empty() || is_address(text),
            (Addresses, Value::Array(list)) => list.iter().all(|address| Address.permits(address)),
            (HashOrNothing, Value::String(text)) => text.is_empty() || is_hash(text),
            (Game, Value::String(text)) => games::find(text).is_ok(),
            (Bool, Value::Boolean(_)) | (False, Value::Boolean(false)) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Whole(from, i64::MAX) => write!(formatter, "{from} or more"),
            Whole(from, to) => write!(formatter, "{from} to {to}"),
            Number(from, to) => write!(formatter, "{from} to {to}"),
            Words(words) => write!(formatter, "{}", quoted(words)),
            Bytes(from, to) => write!(formatter, "a text of {from} to {to} bytes"),
            Address => formatter.write_str("an address such as 127.0.0.1:7779"),
            AddressOrNothing => formatter.write_str("an address such as 127.0.0.1:7779, or \"\""),
            Addresses => formatter.write_str("addresses such as udp://0.0.0.0:7777"),
            HashOrNothing => formatter.write_str("44 letters of base64, or \"\""),
            Game => write!(formatter, "{}", quoted(&games::ALL.map(|entry| entry.name))),
            Bool => formatter.write_str("true or false"),
            False => formatter.write_str("false"),
        }
    }
}

/// Whether a text is 32 bytes in base64.
fn is_hash(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    text.len() == 44 && text.strip_suffix('=').is_some_and(|rest| rest.bytes().all(is_letter))
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
}

/// What a setting may be, for a mistake in its type.
pub fn allowed(section: &str, name: &str) -> Option<String> {
    let found = FIELDS.iter().find(|field| field.section == section && field.name == name)?;
    Some(found.allowed.to_string())
}

/// Whether everything is as it may be.
pub fn check(config: &Config) -> Result<(), Wrong> {
    let wrong = |section, field, value: &dyn fmt::Display, allowed: String| {
        Err(Wrong { section, field, value: value.to_string(), allowed })
    };
    if config.version != VERSION {
        return wrong("", "version", &config.version, format!("{VERSION}, the version of this program"));
    }
    let table = table(config);
    for Field { section, name, allowed, .. } in &FIELDS {
        match table.get(*section).and_then(|section| section.get(*name)) {
            Some(value) if !allowed.permits(value) => {
                return wrong(section, name, value, allowed.to_string());
            }
            _ => {}
        }
    }
    let (room, connection, server) = (&config.room, &config.connection, &config.server);
    if server.certificate.is_empty() != server.key.is_empty() {
        let (missing, given) =
            if server.key.is_empty() { ("key", "certificate") } else { ("certificate", "key") };
        return wrong("server", missing, &"\"\"", format!("a file, since there is server.{given}"));
    }
    if room.send_rate != 0 && room.tick_rate % room.send_rate != 0 {
        let divisors = (1..=room.tick_rate).filter(|rate| room.tick_rate % rate == 0);
        let divisors: Vec<String> = divisors.map(|rate| rate.to_string()).collect();
        let allowed = format!("a divisor of tick_rate: {}", divisors.join(", "));
        return wrong("room", "send_rate", &room.send_rate, allowed);
    }
    let (initial, steady) = (connection.max_events_initial_sync, connection.max_events_per_tick);
    if initial < steady {
        let allowed = format!("{steady} (max_events_per_tick) to 65536");
        return wrong("connection", "max_events_initial_sync", &initial, allowed);
    }
    Ok(())
}

/// Whether the game can be as the settings have it: once it is clear which game that is.
pub fn check_game(config: &Config) -> Result<(), Wrong> {
    let Ok(game) = games::find(&config.server.game) else { return Ok(()) };
    let (room, name, limits) = (&config.room, game.name, game.limits);
    let wrong = |field, value: i64, allowed: String| {
        Err(Wrong { section: "room", field, value: value.to_string(), allowed })
    };
    if room.max_clients > limits.players_max as i64 {
        let allowed = format!("0 to {} with the game {name}", limits.players_max);
        return wrong("max_clients", room.max_clients, allowed);
    }
    match limits.steps_per_second {
        Some(steps) if i64::from(steps) != room.tick_rate => {
            let allowed = format!("{steps} with the game {name}, whose rules are counted in steps");
            wrong("tick_rate", room.tick_rate, allowed)
        }
        _ => Ok(()),
    }
}

/// The settings as a table of sections.
pub fn table(config: &Config) -> Table {
    // A struct of structs of plain values always becomes one.
    Table::try_from(config).unwrap_or_default()
}

/// A file with every setting.
pub fn default_file() -> String {
    let table = table(&Config::default());
    let mut file = String::from(
        "# Settings of Netloom: `netloom serve --config netloom.toml`. What is left out is as it is here.\n\
         # Each can come from the environment, too (NETLOOM_<SECTION>_<FIELD>, as NETLOOM_ROOM_SEND_RATE=20), and flags go before both.\n\n",
    );
    file += &format!("# The version of this file's layout.\nversion = {VERSION}\n");
    for (section, about) in SECTIONS {
        file += &format!("\n# {about}\n[{section}]\n");
        for field in FIELDS.iter().filter(|field| field.section == section) {
            let value = table.get(section).and_then(|section| section.get(field.name));
            let value = value.map(Value::to_string).unwrap_or_default();
            file += &format!("# {} ({})\n{} = {value}\n", field.about, field.allowed, field.name);
        }
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_a_line_and_every_line_a_setting() {
        let table = table(&Config::default());
        let set = table.iter().filter_map(|(name, value)| Some((name, value.as_table()?)));
        let mut set: Vec<(String, String)> = set
            .flat_map(|(section, fields)| fields.keys().map(move |name| (section.clone(), name.clone())))
            .collect();
        let mut described: Vec<(String, String)> =
            FIELDS.iter().map(|field| (field.section.to_owned(), field.name.to_owned())).collect();
        set.sort();
        described.sort();
        assert_eq!(set, described);
        assert!(FIELDS.iter().all(|field| SECTIONS.iter().any(|(section, _)| *section == field.section)));
    }

    #[test]
    fn what_cannot_be_names_the_field_the_value_and_what_could_be() {
        let mut config = Config::default();
        config.room.send_rate = 7;
        assert!(
            check(&config)
                .unwrap_err()
                .to_string()
                .starts_with("room.send_rate = 7 is not allowed: use a divisor")
        );
        config.room.send_rate = 500;
        assert_eq!(
            check(&config).unwrap_err().to_string(),
            "room.send_rate = 500 is not allowed: use 0 to 240"
        );
        let mut config = Config::default();
        config.server.game = String::from("chess");
        assert_eq!(
            check(&config).unwrap_err().to_string(),
            "server.game = \"chess\" is not allowed: use \"rtype\", \"cubes\""
        );
        let config = Config { version: 2, ..Config::default() };
        assert!(check(&config).unwrap_err().to_string().starts_with("version = 2"));
        let mut config = Config::default();
        config.connection.connect_timeout = f64::NAN;
        assert!(check(&config).is_err());
    }

    #[test]
    fn a_game_has_limits_that_no_setting_changes() {
        for (clients, steps, said) in [(5, 60, "room.max_clients = 5"), (4, 30, "room.tick_rate = 30")] {
            let mut config = Config::default();
            (config.room.max_clients, config.room.tick_rate) = (clients, steps);
            let message = check_game(&config).unwrap_err().to_string();
            assert!(message.starts_with(said) && message.contains("rtype"), "{message}");
            config.server.game = String::from("cubes");
            check_game(&config).unwrap();
        }
    }
}
