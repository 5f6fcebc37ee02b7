//! The `netloom` command.
//!
//! Without arguments it serves a game. `netloom connect` plays it in a terminal, `netloom bots` fills it with players, `netloom top`
//! shows what the server does; `netloom sim` runs the scenarios that must always hold.
#![forbid(unsafe_code)]

mod bots;
mod code_table;
mod config;
mod connect;
mod demo;
mod feel_picture;
mod games;
mod log;
mod out;
mod plot;
mod replication_picture;
mod scene;
mod serve;
mod signals;
mod sim;
mod table;
mod top;
mod train;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

const AFTER_HELP: &str = "\
Examples:
  netloom                                       serve a game, here and now
  netloom connect 127.0.0.1:7777                walk about in it
  netloom bots 127.0.0.1:7777 --count 200       with two hundred others
  netloom top 127.0.0.1:7779                    what the server does
  netloom config --default > netloom.toml       every setting
  netloom scene rtype:7 --out match.scene       a match of bots, the same every time
  netloom train match.scene --out game.table    smaller snapshots, from recordings of a game
  netloom sim --scenario lossy --runs 1000      a thousand seeds of one scenario in virtual time
  netloom sim --scenario feel --plot out.svg    what a player sees while the network misbehaves";

/// Netloom: multiplayer networking for games.
#[derive(Debug, Parser)]
#[command(name = "netloom", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve a game over real sockets; without any command, this with its defaults
    Serve(serve::ServeArgs),
    /// Play in a terminal
    Connect(connect::ConnectArgs),
    /// Send bots to a server, and report what they saw
    Bots(bots::BotsArgs),
    /// Show what a server does
    Top(top::TopArgs),
    /// Print or check settings
    Config(config::ConfigArgs),
    /// Write down a scene from a seed, to train tables on and to measure: a generated one, or a match of bots
    Scene(scene::SceneArgs),
    /// Make code tables for a game from recordings of it, so that its snapshots become smaller
    Train(train::TrainArgs),
    /// Run seeded scenarios over a simulated network and check that every promise holds
    Sim(sim::SimArgs),
    /// Ten seconds of a game over a bad network, in virtual time
    Demo,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        None => serve::run(&serve::ServeArgs::default()),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Connect(args)) => connect::run(&args),
        Some(Command::Bots(args)) => bots::run(&args),
        Some(Command::Top(args)) => top::run(&args),
        Some(Command::Config(args)) => config::run(&args),
        Some(Command::Scene(args)) => scene::run(&args),
        Some(Command::Train(args)) => train::run(&args),
        Some(Command::Sim(args)) => sim::run(&args),
        Some(Command::Demo) => demo::run(),
    };
    result.unwrap_or_else(|message| {
        eprintln!("netloom: {message}");
        ExitCode::from(2)
    })
}
