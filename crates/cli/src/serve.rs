//! `netloom serve`: a game over real sockets, with its figures over HTTP, until it is told to stop.

mod dashboard;
mod metrics;
mod pages;
mod web;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use netloom::prelude::*;
use netloom::{Address, Scheme};

use crate::config::Config;
use crate::games::{self, Entry};
use crate::signals::Signals;
use crate::{log, out};
use dashboard::Dashboard;
use metrics::Metrics;
use web::Web;

const AFTER_HELP: &str = "\
Examples:
  netloom serve
  netloom serve --bind udp://0.0.0.0:7777 --bind tcp://0.0.0.0:7777 --driver dual
  netloom serve --http \"\" --no-webtransport                             no browsers
  netloom serve --certificate fullchain.pem --key privkey.pem           a certificate that browsers know
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
    /// How many rooms
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_000))]
    rooms: Option<i64>,
    /// Whether one thread does everything, or transports have threads of their own
    #[arg(long)]
    driver: Option<DriverArg>,
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
        server.http = self.http.clone().unwrap_or(std::mem::take(&mut server.http));
        server.webtransport = self.webtransport.clone().unwrap_or(std::mem::take(&mut server.webtransport));
        server.certificate = self.certificate.clone().unwrap_or(std::mem::take(&mut server.certificate));
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
        Ok(config)
    }
}

/// Runs the command.
pub fn run(args: &ServeArgs) -> Result<ExitCode, String> {
    let config = args.settings()?;
    let game = games::find(&config.server.game)?;
    log::start(config.log_level(), config.log.json);
    let signals = Signals::watch()?;
    let web = Web::new((game.protocol)());
    let mut server = build(&config, game, &web)?;
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
    greet(&config, game, &server, metrics.as_ref());
    server
        .run(|server| {
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
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

fn build(config: &Config, game: Entry, web: &Web) -> Result<Server, String> {
    let builder = Server::builder((game.protocol)())
        .config(config.server_config())
        .websocket(config.websocket())
        .driver(config.driver());
    let builder = (0..config.server.rooms).fold(builder, |builder, number| {
        (game.add_room)(builder, config.room_config(number), config.room.things as u16)
    });
    let answers = web.clone();
    let builder = builder.http(move |request| answers.answer(request));
    #[cfg(feature = "webtransport")]
    let (builder, certificates) = {
        let certificates = config.certificates()?;
        (builder.certificates(certificates.clone()), certificates)
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
        out::line(format_args!("\nIn a browser:\n\n  http://{}/", page.trim_start_matches("ws://")));
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
