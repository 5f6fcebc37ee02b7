//! `netloom sim`: scenarios over seeds, a summary, and for every failure the command that replays it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use netloom_sim::runner::{self, FailedRun, Outcome, RUNS_MAX, Scenario};
use netloom_sim::scenarios;
use netloom_sim::scenarios::feel::FeelConfig;
use netloom_sim::scenarios::replication::TraceConfig;
use netloom_wire::Micros;

use crate::feel_picture;
use crate::out;
use crate::replication_picture;
use crate::table::{Table, figure};

/// Failures that are shown in full; a broken build fails every seed in the same way.
const FAILURES_SHOWN_MAX: usize = 10;

/// The longest round trip that can be asked for: beyond, no game is playable.
const RTT_MS_MAX: u64 = 2_000;

const AFTER_HELP: &str = "\
Examples:
  netloom sim --list
  netloom sim --scenario all --runs 100
  netloom sim --scenario replication --seed 17
      one run again: equal seeds give equal runs, on any machine and any number of threads
  netloom sim --scenario fairness --runs 100
      shooters near and far, and cheats with time: a table of who hit how often, and how far each was rewound
  netloom sim --scenario replication --plot out.svg --loss 0.05 --rtt-ms 120
      a crowd over such a network: bytes per tick, how old what clients see is, and how many codes are made
  netloom sim --scenario feel --plot out.svg --loss 0.05 --rtt-ms 120
      one player over such a network: where things are, where they are shown, and what happened meanwhile

A scenario runs once per seed, in virtual time, and checks every promise on the way. A run that breaks one is printed
with its seed and the command that replays it, and the command ends with status 1.";

/// What to run.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct SimArgs {
    /// The scenario, or "all"
    #[arg(long, value_name = "NAME", required_unless_present = "list")]
    scenario: Option<String>,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How many seeds to run, counting up from the first
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=RUNS_MAX))]
    runs: u64,
    /// Threads to use; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Draw one evening of the scenario "replication" or "feel" as SVG into this file, instead of running many
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "runs", "threads"])]
    plot: Option<PathBuf>,
    /// With --plot: the share of datagrams that are lost each way, 0 to 0.9 [default: 0.02]
    #[arg(long, value_name = "SHARE", requires = "plot", value_parser = parse_loss)]
    loss: Option<f64>,
    /// With --plot: the round trip in milliseconds, 0 to 2000 [default: 80]
    #[arg(long, value_name = "MS", requires = "plot", value_parser = clap::value_parser!(u64).range(0..=RTT_MS_MAX))]
    rtt_ms: Option<u64>,
    /// Show the scenarios and stop
    #[arg(long)]
    list: bool,
}

/// Runs the command.
pub fn run(args: &SimArgs) -> Result<ExitCode, String> {
    if args.list {
        let mut table = Table::new(&["scenario", "what happens"]);
        for scenario in scenarios::ALL {
            table.row([scenario.name().to_owned(), scenario.about().to_owned()]);
        }
        out::print(format_args!("{table}"));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &args.plot {
        return plot(args, path);
    }
    let last_seed = args.seed.checked_add(args.runs);
    let last_seed = last_seed.ok_or(format!("--seed {} leaves no room for {} runs", args.seed, args.runs))?;
    let threads = args.threads.map_or_else(all_cores, usize::from);
    let mut failed = Vec::new();
    for scenario in select(args.scenario.as_deref().unwrap_or_default())? {
        let outcome = run_with_progress(scenario, args.seed..last_seed, threads);
        print_summary(scenario, &outcome);
        failed.extend(outcome.failed);
    }
    print_failures(&failed);
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn plot(args: &SimArgs, path: &Path) -> Result<ExitCode, String> {
    let name = args.scenario.as_deref().unwrap_or_default();
    let (seed, loss) = (args.seed, args.loss.unwrap_or(0.02));
    let rtt = Micros::from_millis(args.rtt_ms.unwrap_or(80));
    let picture = match name {
        "replication" => replication_picture::draw(TraceConfig { seed, loss, rtt })?,
        "feel" => feel_picture::draw(FeelConfig { seed, loss, rtt })?,
        _ => {
            return Err(format!("--plot draws the scenarios replication and feel, not \"{name}\""));
        }
    };
    std::fs::write(path, picture).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    out::line(format_args!("wrote {}", path.display()));
    Ok(ExitCode::SUCCESS)
}

fn parse_loss(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=0.9).contains(share));
    share.ok_or_else(|| "a share from 0 (nothing is lost) to 0.9 (nine of ten are), such as 0.05".to_owned())
}

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn select(name: &str) -> Result<Vec<&'static dyn Scenario>, String> {
    if name == "all" {
        return Ok(scenarios::ALL.to_vec());
    }
    let found = scenarios::find(name);
    found.map(|scenario| vec![scenario]).ok_or_else(|| {
        let known: Vec<_> = scenarios::ALL.iter().map(|scenario| scenario.name()).collect();
        format!("there is no scenario \"{name}\"; known are {} and all", known.join(", "))
    })
}

fn run_with_progress(scenario: &dyn Scenario, seeds: std::ops::Range<u64>, threads: usize) -> Outcome {
    // indicatif draws to stderr, and nothing at all where that is no terminal.
    let bar = ProgressBar::new(seeds.end - seeds.start);
    if let Ok(style) = ProgressStyle::with_template("{prefix:12} {bar:40} {pos}/{len} runs, {eta} left") {
        bar.set_style(style);
    }
    bar.set_prefix(scenario.name());
    let outcome = runner::run_many(scenario, seeds, threads, &|| bar.inc(1));
    bar.finish_and_clear();
    outcome
}

fn print_summary(scenario: &dyn Scenario, outcome: &Outcome) {
    let failed = outcome.failed.len();
    out::line(format_args!("{}: {} runs, {failed} failed", scenario.name(), outcome.runs));
    let rows = outcome.summary.rows();
    if rows.is_empty() {
        return;
    }
    if outcome.runs == 1 {
        let mut table = Table::new(&["measure", "value", "unit"]);
        for row in rows {
            table.row([row.name.to_owned(), figure(row.quantile(0.5)), row.unit.to_owned()]);
        }
        out::line(format_args!("{table}"));
        print_table(outcome);
        return;
    }
    let mut table = Table::new(&["measure", "min", "median", "p95", "max", "unit"]);
    for row in rows {
        let quantiles = [0.0, 0.5, 0.95, 1.0].map(|share| figure(row.quantile(share)));
        table.row(std::iter::once(row.name.to_owned()).chain(quantiles).chain([row.unit.to_owned()]));
    }
    out::line(format_args!("{table}"));
    print_table(outcome);
}

/// What is compared within the scenario, if anything is.
fn print_table(outcome: &Outcome) {
    let rows = outcome.summary.table();
    if rows.is_empty() {
        return;
    }
    let header: Vec<_> = [""].into_iter().chain(outcome.summary.columns()).collect();
    let mut table = Table::new(&header);
    for (name, values) in rows {
        let values = values.into_iter().map(|value| value.map(figure).unwrap_or_default());
        table.row(std::iter::once(name.to_owned()).chain(values));
    }
    out::line(format_args!("{table}"));
}

fn print_failures(failed: &[FailedRun]) {
    if failed.is_empty() {
        return;
    }
    let commit = runner::commit();
    for run in failed.iter().take(FAILURES_SHOWN_MAX) {
        eprintln!("FAILED {} with seed {} at commit {commit}: {}", run.scenario, run.seed, run.failure);
        eprintln!("  replay: {}", run.replay_command());
    }
    if let Some(more) = failed.len().checked_sub(FAILURES_SHOWN_MAX).filter(|more| *more > 0) {
        eprintln!("and {more} more failures");
    }
}
