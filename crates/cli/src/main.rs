//! The `netloom` command.
//!
//! Without arguments it shows in a second, on any machine, what the stack does: a simulated session over a bad network,
//! with its figures. `netloom sim` runs the scenarios that must always hold.
#![forbid(unsafe_code)]

mod demo;
mod feel_picture;
mod out;
mod plot;
mod replication_picture;
mod sim;
mod table;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

const AFTER_HELP: &str = "\
Examples:
  netloom                                       a short simulated session and what happened in it
  netloom sim --list                            the scenarios
  netloom sim --scenario lossy --runs 1000      a thousand seeds of one scenario
  netloom sim --scenario lossy --seed 42        replay one run
  netloom sim --scenario replication --plot out.svg --loss 0.05 --rtt-ms 120
  netloom sim --scenario feel --plot out.svg    what a player sees while the network misbehaves

Simulated time costs nothing: ten seconds of a session take a few milliseconds.";

/// Netloom: multiplayer networking for games.
#[derive(Debug, Parser)]
#[command(name = "netloom", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run seeded scenarios over a simulated network and check that every promise holds
    Sim(sim::SimArgs),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        None => demo::run(),
        Some(Command::Sim(args)) => sim::run(&args),
    };
    result.unwrap_or_else(|message| {
        eprintln!("netloom: {message}");
        ExitCode::from(2)
    })
}
