//! `netloom serve`: a game over real sockets, with its figures over HTTP, until it is told to stop.

mod metrics;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use netloom::Address;
use netloom::prelude::*;

use crate::config::Config;
use crate::games::{self, Entry};
use crate::signals::Signals;
use crate::{log, out};
use metrics::Metrics;

const AFTER_HELP: &str = "\
Examples:
  netloom serve
  netloom serve --bind udp://0.0.0.0:7777 --bind ws://127.0.0.1:7778 --driver dual
  netloom serve --config netloom.toml --rooms 4 --json

The file's settings, and their defaults: netloom config --default. Flags go before the environment, that before the file.
SIGINT or SIGTERM stop the server: players are told, then it ends with status 0. A second signal ends it at once.";

/// What to serve.
#[derive(Debug, Default, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ServeArgs {
    /// The game [default: cubes]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    /// A file with settings
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// An address to listen at, as udp://0.0.0.0:7777, tcp://localhost:7777 or ws://127.0.0.1:7778; may be given several times
    #[arg(long, value_name = "ADDRESS")]
    bind: Vec<String>,
    /// How many rooms
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_000))]
    rooms: Option<i64>,
    /// Whether one thread does everything, or transports have threads of their own
    #[arg(long)]
    driver: Option<DriverArg>,
    /// Where /metrics and /healthz are; "" for nowhere
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<String>,
    /// How much is logged
    #[arg(long, value_name = "LEVEL", value_parser = ["off", "error", "warn", "info", "debug", "trace"])]
    log: Option<String>,
    /// Log lines of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DriverArg {
    Polling,
    Dual,
}

impl ServeArgs {
    /// The settings, with these flags instead.
    fn settings(&self) -> Result<Config, String> {
        let mut config = Config::load(self.config.as_deref())?;
        let (server, log) = (&mut config.server, &mut config.log);
        server.game = self.game.clone().unwrap_or(std::mem::take(&mut server.game));
        server.rooms = self.rooms.unwrap_or(server.rooms);
        server.metrics = self.metrics.clone().unwrap_or(std::mem::take(&mut server.metrics));
        log.level = self.log.clone().unwrap_or(std::mem::take(&mut log.level));
        log.json |= self.json;
        if !self.bind.is_empty() {
            server.bind.clone_from(&self.bind);
        }
        match self.driver {
            Some(DriverArg::Polling) => server.driver = String::from("polling"),
            Some(DriverArg::Dual) => server.driver = String::from("dual"),
            None => {}
        }
        Ok(config)
    }
}

/// Runs the command.
pub fn run(args: &ServeArgs) -> Result<ExitCode, String> {
    let config = args.settings()?;
    let game = games::find(&config.server.game)?;
    log::start(config.log_level(), config.log.json);
    let signals = Signals::watch()?;
    let mut server = build(&config, game)?;
    let metrics = match &*config.server.metrics {
        "" => None,
        address => Some(Metrics::start(address, server.stats())?),
    };
    greet(&config, game, &server, metrics.as_ref());
    server
        .run(|server| {
            while let Some(event) = server.poll_event() {
                note(&event);
            }
            if signals.take() {
                tracing::info!("stopping: players are told");
                server.stop("the server is going down");
            }
        })
        .map_err(|error| error.to_string())?;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

fn build(config: &Config, game: Entry) -> Result<Server, String> {
    let builder = Server::builder((game.protocol)())
        .config(config.server_config())
        .websocket(config.websocket())
        .driver(config.driver());
    let builder = (0..config.server.rooms)
        .fold(builder, |builder, number| (game.add_room)(builder, config.room_config(number)));
    let builder = config.addresses().iter().fold(builder, |builder, address| builder.listen(address));
    builder.bind().map_err(|error| match error {
        // The library's advice is a method of its own.
        Error::Transport(netloom::transport::TransportError::PlainOnNetwork { address }) => format!(
            "ws://{address} would be readable by everybody on the way: use a loopback address behind a proxy with TLS, or set \
             connection.plain_websocket = true"
        ),
        error => error.to_string(),
    })
}

/// Says where it is and what to do next.
fn greet(config: &Config, game: Entry, server: &Server, metrics: Option<&Metrics>) {
    let rooms = match config.server.rooms {
        1 => String::from("1 room"),
        rooms => format!("{rooms} rooms"),
    };
    out::line(format_args!(
        "Netloom serves {}: {}.\n{rooms} for {} players each, {} steps and {} snapshots a second.\n",
        game.name, game.about, config.room.max_clients, config.room.tick_rate, config.room.send_rate
    ));
    for address in server.local_addresses() {
        out::line(format_args!("  listening   {address}"));
    }
    if let Some(metrics) = metrics {
        out::line(format_args!("  metrics     http://{0}/metrics, http://{0}/healthz", metrics.address()));
    }
    if let Some(near) = server.local_addresses().iter().map(reachable).next() {
        out::line(format_args!("\nIn another terminal:\n\n  netloom connect {near}"));
        out::line(format_args!("  netloom bots {near} --count 200 --duration 20"));
    }
    if let Some(metrics) = metrics {
        out::line(format_args!("  netloom top {}", metrics.address()));
    }
    out::line(format_args!("\nCtrl-C stops it."));
}

/// An address by which this machine reaches it.
fn reachable(address: &Address) -> String {
    let host = match &*address.host {
        "0.0.0.0" | "::" => String::from("127.0.0.1"),
        host => host.to_owned(),
    };
    let address = Address { host, ..address.clone() }.to_string();
    address.strip_prefix("udp://").map(str::to_owned).unwrap_or(address)
}

/// Something that whoever runs the server may want to read.
fn note(event: &ServerEvent) {
    match event {
        ServerEvent::Joined { room, player, name, is_resumed } => {
            tracing::info!(room = room.0, player = player.0, name, is_resumed, "joined");
        }
        ServerEvent::Away { room, player, reason } => {
            tracing::info!(room = room.0, player = player.0, %reason, "connection lost, the seat is kept");
        }
        ServerEvent::Left { room, player, reason } => {
            tracing::info!(room = room.0, player = player.0, %reason, "left");
        }
        ServerEvent::Refused { address, reason, text } => {
            tracing::info!(address = address.map(tracing::field::display), ?reason, text, "refused");
        }
        ServerEvent::RoomEnded { room, name, reason, by_panic } => {
            tracing::warn!(room = room.0, name, reason, by_panic, "a room ended");
        }
    }
}
