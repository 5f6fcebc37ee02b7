//! `netloom connect`: a player in a terminal, who sees the world as a map and the connection as a graph.

mod keys;
mod plain;
mod screen;
mod seen;

use std::io::{IsTerminal, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use netloom::client::ClientBuilder;
use netloom::prelude::*;
use netloom::transport::preset;

use crate::config::Config;
use crate::games::{self, Playable, Steering};
use crate::signals::Signals;
use seen::Seen;

/// How long a goodbye may take.
const GOODBYE: Micros = Micros::from_millis(500);

const AFTER_HELP: &str = "\
Examples:
  netloom connect 127.0.0.1:7777
  netloom connect 127.0.0.1:7777 --line 4G --name Ada
  netloom connect 127.0.0.1:7777 --plain --frames 300    lines of text instead of a screen

Arrow keys or WASD steer, space fires (in cubes: dashes), x fires the beam, q leaves.";

/// Where to connect, and as whom.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ConnectArgs {
    /// The server, as 127.0.0.1:7777, tcp://game.example:7777, ws://127.0.0.1:7778 or https://127.0.0.1:7778
    address: String,
    /// The name to be known by
    #[arg(long)]
    name: Option<String>,
    /// The game
    #[arg(long, value_name = "NAME", default_value = games::DEFAULT)]
    game: String,
    /// The room, by name [default: the first with a free seat]
    #[arg(long, value_name = "NAME")]
    room: Option<String>,
    /// Watch only
    #[arg(long)]
    watch: bool,
    /// A bad line on purpose: "home wifi", "4G", "transatlantic", "awful"
    #[arg(long, value_name = "NAME")]
    line: Option<String>,
    /// Leave after so many frames, a sixtieth of a second each
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    frames: Option<u64>,
    /// Print lines of text instead of a screen, and walk in circles
    #[arg(long)]
    plain: bool,
    /// The hash of the server's certificate for https://, as the server prints it
    #[arg(long, value_name = "HASH")]
    certificate_hash: Option<String>,
    /// The server's code tables, if they are not those of the game: a file, or generic
    #[arg(long, value_name = "FILE")]
    table: Option<String>,
    /// A file with settings, for its sections connection, replication and client
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ConnectArgs {
    fn builder(&self, config: &Config) -> Result<ClientBuilder, String> {
        let name = self.name.as_deref().unwrap_or(&config.client.name);
        let mut client = config.client_config(name);
        client.room = self.room.clone().unwrap_or_default();
        client.is_spectator = self.watch;
        // A server that does not answer in one attempt is not there.
        client.connection.connect_retries = 0;
        let builder = config.client_builder(client);
        Ok(match &self.line {
            Some(line) => builder.bad_line(preset(line).map_err(|error| error.to_string())?),
            None => builder,
        })
    }
}

/// Runs the command.
pub fn run(args: &ConnectArgs) -> Result<ExitCode, String> {
    (games::find(&args.game)?.connect)(args)
}

/// Plays a game in the terminal.
pub fn play<P: Playable>(args: &ConnectArgs) -> Result<ExitCode, String> {
    let config =
        Config::load(args.config.as_deref())?.with_certificate_hash(args.certificate_hash.as_deref())?;
    let config = config.with_table(args.table.as_deref());
    let client = args.builder(&config)?.connect(config.protocol(P::protocol())?, &args.address);
    let client = client.map_err(|error| error.to_string())?;
    let mut player = Player::<P> {
        client,
        own: Prediction::with_config(P::Move::default(), config.predict_config()),
        seen: Seen::new(&args.address),
        was_asked: false,
        ending: None,
    };
    let signals = Signals::watch()?;
    let outcome = match args.plain || !stdout().is_terminal() {
        true => plain::run(&mut player, args.frames, &signals),
        false => screen::run(&mut player, args.frames, &signals),
    };
    let was_welcomed = player.seen.room.is_some();
    let ending = player.ending.take();
    outcome?;
    match ending {
        Some(ending) if !was_welcomed => {
            Err(format!("cannot join {}: {ending}. {}", args.address, games::knocked_for(P::NAME)))
        }
        Some(ending) => {
            crate::out::line(format_args!("{ending}"));
            Ok(ExitCode::SUCCESS)
        }
        None => player.client.leave(GOODBYE).map(|()| ExitCode::SUCCESS).map_err(|error| error.to_string()),
    }
}

/// The client, its own object, and what is shown of them.
struct Player<P: Playable> {
    client: Client<P::Act>,
    own: Prediction<P::Move>,
    seen: Seen,
    /// Whether the lobby asked if it is ready.
    was_asked: bool,
    /// Why it is over.
    ending: Option<Ending>,
}

impl<P: Playable> Player<P> {
    /// A frame: takes in what arrived, and acts.
    fn frame(&mut self, steering: Steering) -> Result<(), String> {
        let Player { client, own, seen, was_asked, ending } = self;
        let elapsed = client.tick().map_err(|error| error.to_string())?;
        while let Some(event) = client.poll_event() {
            if let ClientEvent::Ended(end) = &event {
                *ending = Some(end.clone());
            }
            seen.handle_event(&event);
        }
        games::get_ready(client, was_asked);
        own.update(client, elapsed).map_err(|error| error.to_string())?;
        while let Some(step) = client.poll_step() {
            let act = P::act(steering);
            client.push_input(step, act.clone()).map_err(|error| error.to_string())?;
            own.apply(step, act);
        }
        client.send().map_err(|error| error.to_string())?;
        seen.own = own.state().map(P::place);
        seen.handle_frame(client);
        Ok(())
    }
}
