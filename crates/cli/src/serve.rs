//! `netloom serve`: a game over real sockets, with its figures over HTTP, until it is told to stop.

mod classic;
mod dashboard;
mod metrics;
mod pages;
mod scene;
mod truth;
mod web;
pub mod witness;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use netloom::prelude::*;
use netloom::proto::RejectReason;
use netloom::transport::MemoryTransport;
use netloom::{Address, Scheme};
use netloom_rtype::classic::Service;

use crate::config::Config;
use crate::games::{self, Entry};
use crate::signals::Signals;
use crate::{log, out};
use classic::Door;
use dashboard::Dashboard;
use metrics::Metrics;
use scene::SceneFile;
use truth::Truth;
use web::Web;
use witness::Witnesses;

const AFTER_HELP: &str = "\
Examples:
  netloom serve
  netloom serve --bind udp://0.0.0.0:7777 --bind tcp://0.0.0.0:7777 --driver dual
  netloom serve --http \"\" --no-webtransport                             no browsers
  netloom serve --certificate fullchain.pem --key privkey.pem           a certificate that browsers know
  netloom serve --config netloom.toml --rooms 4 --json
  netloom serve --levels my-levels --level 2                            levels of your own
  netloom serve --classic 0.0.0.0:12345                                 clients of the classic protocol, too
  netloom serve --table my-game.table                                   smaller snapshots: netloom train --help
  netloom serve --game cubes                                            another game
  netloom serve --record-scene mine.scene                               how the game moves, to train tables on

The file's settings, and their defaults: netloom config --default. Flags go before the environment, that before the file.
--truth FILE writes a line of JSON for every step of the first room, for tests and tools that compare what was shown with what was:
  {\"step\":1200,\"ms\":20003.25,\"objects\":[{\"id\":7,\"class\":\"Ship\",\"owner\":1,\"seat\":0,\"x\":312,\"y\":450}, …]}
ms is the server's time, x and y are in hundredths of a metre, owner is the player and null for nobody; seat only where there is one.

--record-scene FILE records the first room at every send tick, until the server stops: play for a few minutes, or let `netloom bots`
play, then train a table on it (`netloom train --help`) and measure both with `netloom-bench scenes FILE --table TABLE`. A recording of a server that was killed is good up to its last two seconds.

SIGINT or SIGTERM stop the server: players are told, then it ends with status 0. A second signal ends it at once.";

/// What to serve.
#[derive(Debug, Default, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ServeArgs {
    /// The game: rtype or cubes [default: rtype]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    /// The folder with the levels of rtype, files of JSON [default: those of this program]
    #[arg(long, value_name = "DIR")]
    levels: Option<String>,
    /// The level that the lobby of rtype suggests [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=255))]
    level: Option<i64>,
    /// Where rtype is played over the classic protocol, as 0.0.0.0:12345; "" for nowhere
    #[arg(long, value_name = "ADDRESS")]
    classic: Option<String>,
    /// Let in who sends the bare classic JOIN from this machine, without the challenge that others have to answer
    #[arg(long)]
    classic_trust_loopback: bool,
    /// A file with settings
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// An address to listen at instead of udp://0.0.0.0:7777, as tcp://localhost:7777; may be given several times
    #[arg(long, value_name = "ADDRESS")]
    bind: Vec<String>,
    /// Where the page and its WebSocket are; "" for nowhere [default: 127.0.0.1:7778]
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,
    /// Where WebTransport is [default: [::]:7778, which is UDP and every address]
    #[arg(long, value_name = "ADDRESS")]
    webtransport: Option<String>,
    /// No WebTransport: browsers get the WebSocket only
    #[arg(long, conflicts_with_all = ["webtransport", "certificate", "key"])]
    no_webtransport: bool,
    /// The certificate of WebTransport, in PEM, with those that vouch for it; made here if not given
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<String>,
    /// The key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<String>,
    /// Code tables that `netloom train` made, or the name of one that comes with Netloom [default: those of the game]
    #[arg(long, value_name = "FILE")]
    table: Option<String>,
    /// How many rooms
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_000))]
    rooms: Option<i64>,
    /// Whether one thread does everything, or transports have threads of their own
    #[arg(long)]
    driver: Option<DriverArg>,
    /// Threads that make the snapshots of rooms with 64 players and more [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=16))]
    workers: Option<i64>,
    /// Where /metrics, /healthz and /dashboard are; "" for nowhere [default: 127.0.0.1:7779]
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<String>,
    /// No /dashboard, which shows rooms and players live and can remove players, to whoever is on this machine
    #[arg(long)]
    no_dashboard: bool,
    /// How much is logged
    #[arg(long, value_name = "LEVEL", value_parser = ["off", "error", "warn", "info", "debug", "trace"])]
    log: Option<String>,
    /// Log lines of JSON
    #[arg(long)]
    json: bool,
    /// Write what happens in the first room to a file, step by step
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Record how everything moves in the first room, for training code tables and for measuring
    #[arg(long, value_name = "FILE")]
    record_scene: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DriverArg {
    Polling,
    Dual,
}

impl ServeArgs {
    /// The settings, with these flags instead.
    fn settings(&self) -> Result<Config, String> {
        let mut config = Config::load(self.config.as_deref())?.with_table(self.table.as_deref());
        let Config { server, log, rtype, .. } = &mut config;
        rtype.levels = self.levels.clone().unwrap_or(std::mem::take(&mut rtype.levels));
        rtype.level = self.level.unwrap_or(rtype.level);
        rtype.classic = self.classic.clone().unwrap_or(std::mem::take(&mut rtype.classic));
        rtype.classic_trust_loopback |= self.classic_trust_loopback;
        server.game = self.game.clone().unwrap_or(std::mem::take(&mut server.game));
        server.rooms = self.rooms.unwrap_or(server.rooms);
        server.workers = self.workers.unwrap_or(server.workers);
        server.metrics = self.metrics.clone().unwrap_or(std::mem::take(&mut server.metrics));
        server.http = self.http.clone().unwrap_or(std::mem::take(&mut server.http));
        server.webtransport = self.webtransport.clone().unwrap_or(std::mem::take(&mut server.webtransport));
        server.certificate = self.certificate.clone().unwrap_or(std::mem::take(&mut server.certificate));
        server.record_scene = self.record_scene.clone().unwrap_or(std::mem::take(&mut server.record_scene));
        server.key = self.key.clone().unwrap_or(std::mem::take(&mut server.key));
        if self.no_webtransport {
            server.webtransport.clear();
        }
        server.dashboard &= !self.no_dashboard;
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
        games::find(&config.server.game)?;
        config.check_game()?;
        Ok(config)
    }
}

/// Runs the command.
pub fn run(args: &ServeArgs) -> Result<ExitCode, String> {
    let config = args.settings()?;
    let game = games::find(&config.server.game)?;
    log::start(config.log_level(), config.log.json);
    let signals = Signals::watch()?;
    let witnesses = Witnesses {
        truth: args.truth.as_deref().map(Truth::create).transpose()?,
        scene: match &*config.server.record_scene {
            "" => None,
            path => Some(SceneFile::create(path.as_ref(), game.name)?),
        },
    };
    let protocol = config.protocol((game.protocol)())?;
    let (door, hallway) = Door::new(&config, &protocol)?.unzip();
    let web = Web::new(protocol);
    let mut server = build(&config, game, &web, witnesses, hallway)?;
    let classic = door.map(Door::open).transpose()?;
    let (kick, kicks) = dashboard::kicks();
    let metrics = match &*config.server.metrics {
        "" => None,
        address => {
            let dashboard = config.server.dashboard.then(|| Dashboard::new(server.stats(), kick));
            Some(Metrics::start(address, server.stats(), dashboard)?)
        }
    };
    if let Some(address) = metrics.as_ref().and_then(Metrics::dashboard) {
        web.set_dashboard(address);
    }
    greet(&config, game, &server, &web, metrics.as_ref(), classic.as_ref());
    let mut others = OtherTables::default();
    server
        .run(|server| {
            others.note(server, &web);
            while let Some(event) = server.poll_event() {
                note(&event);
            }
            kicks.fulfil(server);
            if signals.take() {
                tracing::info!("stopping: players are told");
                server.stop("the server is going down");
            }
        })
        .map_err(|error| error.to_string())?;
    if let Some(classic) = classic {
        classic.stop();
    }
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

fn build(
    config: &Config,
    game: Entry,
    web: &Web,
    mut witnesses: Witnesses,
    hallway: Option<MemoryTransport>,
) -> Result<Server, String> {
    let builder = Server::builder(web.protocol().clone())
        .config(config.server_config())
        .websocket(config.websocket())
        .driver(config.driver())
        .workers(config.server.workers as usize);
    let builder = (0..config.server.rooms).try_fold(builder, |builder, number| {
        (game.add_room)(builder, config, number, std::mem::take(&mut witnesses))
    })?;
    let answers = web.clone();
    let builder = builder.http(move |request| answers.answer(request));
    #[cfg(feature = "webtransport")]
    let (builder, certificates) = {
        let certificates = config.certificates()?;
        (builder.certificates(certificates.clone()), certificates)
    };
    let builder = match hallway {
        Some(hallway) => builder.transport(hallway),
        None => builder,
    };
    let addresses = config.addresses()?;
    let builder = addresses.iter().fold(builder, |builder, address| builder.listen(&address.to_string()));
    let server = builder.bind().map_err(|error| match error {
        // The library's advice is a method of its own.
        Error::Transport(netloom::transport::TransportError::PlainOnNetwork { address }) => format!(
            "ws://{address} would be readable by everybody on the way: use a loopback address behind a proxy with TLS, or set \
             connection.plain_websocket = true"
        ),
        error => error.to_string(),
    })?;
    #[cfg(feature = "webtransport")]
    if let Some(address) = server.local_addresses().iter().find(|at| at.scheme == Scheme::WebTransport) {
        web.set_listener(web::Listener { port: address.port, certificates });
    }
    Ok(server)
}

/// Says where it is and what to do next.
fn greet(
    config: &Config,
    game: Entry,
    server: &Server,
    web: &Web,
    metrics: Option<&Metrics>,
    classic: Option<&Service>,
) {
    let rooms = match config.server.rooms {
        1 => String::from("1 room"),
        rooms => format!("{rooms} rooms"),
    };
    out::line(format_args!("Netloom serves {}: {}.", game.name, game.about));
    if let Some(room) = server.session().rooms().next().map(|room| room.config()) {
        out::line(format_args!(
            "{rooms} for {} players each, {} steps and {} snapshots a second.\n",
            room.players_max, room.steps_per_second, room.sends_per_second
        ));
    }
    for address in server.local_addresses() {
        out::line(format_args!("  listening   {address}"));
    }
    if let Some(classic) = classic {
        out::line(format_args!("  classic     {}", classic.address()));
    }
    let codes = web.protocol().codes();
    out::line(format_args!("  code tables {}, id {:08x}", codes.name(), codes.id()));
    #[cfg(feature = "webtransport")]
    if let (Some(hash), true) = (server.certificate_hashes().first(), has(server, Scheme::WebTransport)) {
        out::line(format_args!("  certificate {hash}"));
    }
    if let Some(metrics) = metrics {
        out::line(format_args!("  metrics     http://{0}/metrics, http://{0}/healthz", metrics.address()));
    }
    if let Some(dashboard) = metrics.and_then(Metrics::dashboard) {
        out::line(format_args!("  dashboard   {dashboard}"));
    }
    if let Some(page) = server.local_addresses().iter().find(|at| at.scheme == Scheme::WebSocket) {
        let page = reachable(page);
        let page = page.trim_start_matches("ws://");
        out::line(format_args!("\nTo play, open this in a browser:\n\n  http://{page}/"));
    }
    if let Some(near) = server.local_addresses().iter().map(reachable).next() {
        let (game, bots) = match game.name {
            games::DEFAULT => (String::new(), game.limits.players_max),
            other => (format!(" --game {other}"), 200),
        };
        let table = match &*config.replication.table {
            "" => String::new(),
            table => format!(" --table {table}"),
        };
        out::line(format_args!("\nOr in another terminal:\n\n  netloom connect {near}{game}{table}"));
        out::line(format_args!("  netloom bots {near}{game}{table} --count {bots} --duration 20"));
    }
    if let Some(metrics) = metrics {
        out::line(format_args!("  netloom top {}", metrics.address()));
    }
    out::line(format_args!("\nCtrl-C stops it."));
}

/// Whether it listens over a transport.
#[cfg(feature = "webtransport")]
fn has(server: &Server, scheme: Scheme) -> bool {
    server.local_addresses().iter().any(|at| at.scheme == scheme)
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

/// Tells when somebody came with other code tables.
#[derive(Default)]
struct OtherTables {
    refused: u64,
}

impl OtherTables {
    fn note(&mut self, server: &Server, web: &Web) {
        let mut refusals = server.session().refusals();
        let refused =
            refusals.find(|(reason, _)| *reason == RejectReason::Tables).map_or(0, |(_, count)| count);
        if refused > self.refused {
            self.refused = refused;
            let codes = web.protocol().codes();
            let id = format_args!("{:08x}", codes.id());
            tracing::warn!(
                refused,
                "a client has other code tables than {}, id {id}: give it the same file, as with --table",
                codes.name()
            );
        }
    }
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
