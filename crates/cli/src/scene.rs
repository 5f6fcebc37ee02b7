//! `netloom scene`: a scene as a file, from a name and a seed.
//!
//! What a table was trained on must be there again when it is asked for, and a recording of people is not. So everything that
//! can be computed from a seed can be written down as one: what the generators make, and matches that bots play.

mod bout;

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use netloom_scene::{Limited, Recorder, Source, generate, record};

use crate::config::Config;
use crate::{games, out};

pub use bout::{Bout, See, play};

const AFTER_HELP: &str = "\
Examples:
  netloom scene rigid:7 --out rigid.scene                       a minute of 250 boxes that fall, tumble and stack
  netloom scene rtype:7 --seconds 75 --out match.scene          a match of R-TYPE, played by bots
  NETLOOM_RTYPE_LEVEL=2 NETLOOM_RTYPE_BOTS=2 netloom scene rtype:8 --players 2 --out match.scene
                                                                level 2, and two of the ships flown by the server
  netloom scene cubes:7 --players 30 --out yard.scene           thirty who wander about
  netloom train match.scene --out my.table                      what to do with it
  netloom-bench scenes match.scene --table my.table             and what that saves

The generators are rigid, crowd, shooter, planet, walk and wander; the games are rtype and cubes. The same name, seed, length and settings give
the same file, byte by byte: matches are played in virtual time, by clients that have no sockets.
What people play is recorded with netloom serve --record-scene.";

/// Seconds that can be asked for: an hour.
const SECONDS_MAX: u64 = 3_600;

/// What to write down.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct SceneArgs {
    /// A generator or a game, and a seed: rigid:7, rtype:7
    #[arg(value_name = "NAME:SEED")]
    scene: String,
    /// The file to write; one that is there is overwritten
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How long it is
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
    seconds: u64,
    /// How many bots play, if it is a game [default: as many as a room of it has places]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    players: Option<u64>,
    /// A file with settings, if it is a game
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &SceneArgs) -> Result<ExitCode, String> {
    let (name, seed) = parse(&args.scene)?;
    if generate::NAMES.contains(&name) {
        if args.players.is_some() || args.config.is_some() {
            return Err(format!("{name} is no game: --players and --config are for {}", game_names()));
        }
        generated(args, name, seed)?;
    } else {
        played(args, name, seed)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(scene: &str) -> Result<(&str, u64), String> {
    let known = || format!("{}, {}", generate::NAMES.join(", "), game_names());
    let (name, seed) = scene.split_once(':').ok_or_else(|| {
        format!("{scene:?}: a name and a seed belong here, as in rigid:7; names are {}", known())
    })?;
    if !generate::NAMES.contains(&name) && games::find(name).is_err() {
        return Err(format!("there is no scene called {name:?}: choose {}", known()));
    }
    let seed = seed.parse().map_err(|_| {
        format!("{scene}: behind the colon belongs a seed, a whole number from 0 on, as in {name}:7")
    })?;
    Ok((name, seed))
}

fn game_names() -> String {
    games::ALL.map(|game| game.name).join(", ")
}

/// Writes down what a generator makes.
fn generated(args: &SceneArgs, name: &str, seed: u64) -> Result<(), String> {
    let source = generate::by_name(name, seed).ok_or("the names of generators were looked at")?;
    let ticks = args.seconds * u64::from(source.ticks_per_second());
    let bar = progress(ticks, "ticks");
    let source = Limited::new(source, ticks as usize);
    record(source, create(args)?, || bar.inc(1)).map_err(|error| unwritten(args, &error))?;
    bar.finish_and_clear();
    tell(args, ticks);
    Ok(())
}

/// Writes down what bots play.
fn played(args: &SceneArgs, name: &str, seed: u64) -> Result<(), String> {
    let game = games::find(name)?;
    let mut config = Config::load(args.config.as_deref())?;
    name.clone_into(&mut config.server.game);
    config.check_game()?;
    let mut file = Some(create(args)?);
    let mut recorder = None;
    let bar = progress(args.seconds, "seconds");
    let mut ticks = 0;
    let bout = Bout { config: &config, seed, seconds: args.seconds, players: args.players };
    (game.bout)(&bout, &mut |room| {
        if let Some(file) = file.take() {
            let classes = room.world().classes().declared();
            let opened = Recorder::new(file, name, room.config().sends_per_second, classes);
            recorder = Some(opened.map_err(|error| unwritten(args, &error))?);
        }
        ticks += 1;
        bar.set_position(ticks / u64::from(room.config().sends_per_second));
        match &mut recorder {
            Some(recorder) => recorder.tick(room.world()).map_err(|error| unwritten(args, &error)),
            None => Ok(()),
        }
    })?;
    bar.finish_and_clear();
    let mut recorder = recorder.ok_or("the game told nothing: ask for more seconds")?;
    recorder.finish().map_err(|error| unwritten(args, &error))?;
    tell(args, ticks);
    Ok(())
}

fn progress(length: u64, unit: &str) -> ProgressBar {
    let template = ProgressStyle::with_template(&format!("{{bar:30}} {{pos}}/{{len}} {unit}"));
    ProgressBar::new(length).with_style(template.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn create(args: &SceneArgs) -> Result<BufWriter<File>, String> {
    File::create(&args.out).map(BufWriter::new).map_err(|error| unwritten(args, &error))
}

fn unwritten(args: &SceneArgs, error: &dyn std::fmt::Display) -> String {
    format!("{} cannot be written: {error}: name a file in a folder that exists", args.out.display())
}

fn tell(args: &SceneArgs, ticks: u64) {
    out::line(format_args!(
        "{}: {ticks} ticks of {}. Train on it: netloom train {0} --out my.table",
        args.out.display(),
        args.scene
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_is_a_known_name_and_a_seed_and_what_is_not_says_what_would_be() {
        assert_eq!(parse("rigid:7"), Ok(("rigid", 7)));
        assert_eq!(parse("rtype:0"), Ok(("rtype", 0)));
        for wrong in ["rigid", "chess:7", "rigid:x", "rigid:-1", "rigid:", ""] {
            let said = parse(wrong).unwrap_err();
            assert!(said.contains(":7") || said.contains("choose rigid, crowd"), "{said}");
        }
    }
}
