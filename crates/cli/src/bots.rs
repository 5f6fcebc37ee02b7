//! `netloom bots`: many players at once, and what they saw.
//!
//! ```text
//!   joining ──▶ measuring, for --duration ──▶ settling ──▶ comparing ──▶ leaving ──▶ report
//!   50 a second  round trips, ages, bytes     all are back  world hashes
//! ```
//!
//! Bots are real clients with a socket each. A few threads drive many of them, 40 frames a second.

mod behaviour;
mod bot;
mod report;
mod stage;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use netloom::Address;
use netloom::transport::preset;

use crate::config::Config;
use crate::games::{self, Playable};
use crate::out;
pub use behaviour::{Behaviour, Will};
use bot::{Bot, BotReport, Recipe};
use report::Report;
use stage::{Phase, Stage};

/// Bots that begin to connect in a second: servers answer 64 requests a second from one address.
const STARTS_PER_SECOND: u32 = 50;
/// How long the last of them may take besides.
const JOIN_MAX: Duration = Duration::from_secs(30);
/// How long comparing and leaving may take.
const COMPARE_MAX: Duration = Duration::from_secs(6);
const SETTLE: Duration = Duration::from_secs(1);
const LEAVE_MAX: Duration = Duration::from_secs(4);
/// The frames of every bot. Two hundred bots are on one machine with the server that they try: more frames would cost it more than
/// they would tell.
const FRAME: Duration = Duration::from_millis(25);
/// Bots for which one thread is enough.
const BOTS_PER_THREAD: usize = 50;
/// How often the progress is looked at.
const LOOK: Duration = Duration::from_millis(50);

const AFTER_HELP: &str = "\
Examples:
  netloom bots 127.0.0.1:7777 --count 200 --duration 20
  netloom bots 127.0.0.1:7777 --count 50 --behaviour churn --json
  netloom bots 127.0.0.1:7777 --count 20 --line 4G

Behaviours: wander (walk about), idle (stand), spam (chat, and acts that the game refuses), churn (join, stay some seconds, leave).

At the end every bot's world is compared with the server's: the hash of all objects at ticks that both remember, while everything
moves. The status is 0 if nobody was disconnected and every hash was equal, else 1.";

/// Whom to send where.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct BotsArgs {
    /// The server, as 127.0.0.1:7777, tcp://game.example:7777, ws://127.0.0.1:7778 or https://127.0.0.1:7778
    address: String,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// For how long, in seconds, after all have joined
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    duration: u64,
    /// What they do
    #[arg(long, value_enum, default_value_t = Behaviour::Wander)]
    behaviour: Behaviour,
    /// The game
    #[arg(long, value_name = "NAME", default_value = games::DEFAULT)]
    game: String,
    /// A bad line on purpose: "home wifi", "4G", "transatlantic", "awful"
    #[arg(long, value_name = "NAME")]
    line: Option<String>,
    /// The hash of the server's certificate for https://, as the server prints it
    #[arg(long, value_name = "HASH")]
    certificate_hash: Option<String>,
    /// The server's code tables, if they are not those of the game: a file, or generic
    #[arg(long, value_name = "FILE")]
    table: Option<String>,
    /// A file with settings, for its sections connection, replication and client
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &BotsArgs) -> Result<ExitCode, String> {
    (games::find(&args.game)?.bots)(args)
}

/// Sends bots to play a game.
pub fn send<P: Playable>(args: &BotsArgs) -> Result<ExitCode, String> {
    let config =
        Config::load(args.config.as_deref())?.with_certificate_hash(args.certificate_hash.as_deref())?;
    let config = config.with_table(args.table.as_deref());
    let address: Address = args.address.parse().map_err(|error: netloom::AddressError| error.to_string())?;
    address.resolve().map_err(|error| error.to_string())?;
    let recipe = Recipe {
        server: address.to_string(),
        protocol: config.protocol(P::protocol())?,
        config,
        line: args.line.as_deref().map(preset).transpose().map_err(|error| error.to_string())?,
        behaviour: args.behaviour,
    };
    let stage = Stage::new();
    let (bots, seconds) = std::thread::scope(|scope| {
        let threads: Vec<_> = shares(args.count)
            .map(|numbers| scope.spawn(|| drive::<P>(numbers.collect(), &recipe, &stage)))
            .collect();
        let seconds = direct(args, &stage);
        let bots: Vec<BotReport> =
            threads.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect();
        (bots, seconds)
    });
    let report = Report::new(args, seconds, &bots, &stage);
    if report.joined == 0 {
        let reason = report.disconnects.keys().next().map_or("nothing came back", |reason| reason);
        let game = games::knocked_for(P::NAME);
        return Err(format!("no bot got into {}: {reason}. {game}", recipe.server));
    }
    match args.json {
        true => out::line(format_args!(
            "{}",
            serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?
        )),
        false => out::print(format_args!("{report}")),
    }
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Which bots each thread has: neighbours go to different ones, so that all join at the same pace.
fn shares(count: u32) -> impl Iterator<Item = std::iter::StepBy<std::ops::Range<u32>>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (count as usize).div_ceil(BOTS_PER_THREAD).min(cores) as u32;
    (0..threads).map(move |first| (first..count).step_by(threads as usize))
}

/// Lets the phases follow each other; how long was measured, in seconds.
fn direct(args: &BotsArgs, stage: &Stage) -> f64 {
    let bar = ProgressBar::new(100).with_style(style());
    let joining = JOIN_MAX + Duration::from_secs_f64(f64::from(args.count) / f64::from(STARTS_PER_SECOND));
    let count = args.count;
    let is_joined = || {
        bar.set_message(format!("{} of {count} have joined", stage.joined()));
        stage.joined() + stage.failed() >= count
    };
    until(joining, &bar, is_joined);
    if stage.joined() == 0 {
        stage.set_phase(Phase::Leaving);
        return 0.0;
    }
    stage.set_phase(Phase::Measuring);
    let began = Instant::now();
    until(Duration::from_secs(args.duration), &bar, || {
        bar.set_message(format!("{} of {count} playing", stage.joined()));
        stage.joined() == 0
    });
    let seconds = began.elapsed().as_secs_f64();
    stage.set_phase(Phase::Settling);
    bar.set_message("comparing worlds");
    until(COMPARE_MAX, &bar, || stage.joined() + stage.failed() >= count);
    // Whoever came last needs the world.
    until(SETTLE, &bar, || false);
    stage.set_phase(Phase::Comparing);
    until(COMPARE_MAX, &bar, || stage.compared() >= stage.joined() && stage.is_answered());
    stage.set_phase(Phase::Leaving);
    bar.finish_and_clear();
    seconds
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:30} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Waits for something, but no longer than so.
fn until(longest: Duration, bar: &ProgressBar, mut is_over: impl FnMut() -> bool) {
    let began = Instant::now();
    while began.elapsed() < longest && !is_over() {
        bar.set_position((100.0 * began.elapsed().as_secs_f64() / longest.as_secs_f64()) as u64);
        std::thread::sleep(LOOK);
    }
}

/// Drives some bots until they have left.
fn drive<P: Playable>(numbers: Vec<u32>, recipe: &Recipe, stage: &Stage) -> Vec<BotReport> {
    let began = Instant::now();
    let start = |number| began + Duration::from_secs(1) * number / STARTS_PER_SECOND;
    let mut bots: Vec<Bot<'_, P>> =
        numbers.into_iter().map(|number| Bot::new(number, start(number), recipe, stage)).collect();
    let mut next = began;
    let mut leaving_since: Option<Instant> = None;
    loop {
        let phase = stage.phase();
        let now = Instant::now();
        for bot in &mut bots {
            bot.frame(now, phase);
        }
        if phase == Phase::Leaving {
            let since = *leaving_since.get_or_insert(now);
            if bots.iter().all(Bot::is_gone) || now.duration_since(since) > LEAVE_MAX {
                return bots.into_iter().map(Bot::into_report).collect();
            }
        }
        // Frames that are late are not made up for: a slow machine should not become slower.
        next = (next + FRAME).max(Instant::now());
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}
