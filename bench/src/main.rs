//! Netloom's benchmarks. Every figure that can be compared is measured against the field's libraries in the same run.
//!
//! A suite is a file in `suites/` and a line in its registry; it hands back a [`table::Report`], and printing, JSON and
//! the command line are the same for all.

#![forbid(unsafe_code)]

mod cpu;
mod error;
mod latency;
mod link;
mod measure;
mod peers;
mod suites;
mod table;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

const AFTER_HELP: &str = "\
Examples:
  cargo run --release -p netloom-bench -- core           a table for people
  cargo run --release -p netloom-bench -- core --json    one JSON object on one line, for programs
  cargo run --release -p netloom-bench -- replica        CPU and bytes of replication (docs/BENCH-REPLICA.md)
  cargo run --release -p netloom-bench -- scenes         bytes by scene and code table (docs/BENCH-SCENES.md)
  cargo run --release -p netloom-bench -- scenes my.scene --table my.table    of a game of your own, too
  cargo run --release -p netloom-bench -- tables         tables against generic, on scenes they have not seen (docs/TABLES.md)
  cargo run --release -p netloom-bench -- cubes FILE     a recording of cubes, .bin or .bin.xz (docs/COMPRESSION.md)
  cargo run --release -p netloom-bench -- cubes FILE --train A.bin.xz B.bin.xz    the same with tables of its own
  cargo run --release -p netloom-bench -- time           interpolation, prediction, rewinding (docs/BENCH-TIME.md)
  cargo run --release -p netloom-bench -- tick           a server over UDP beside plain sockets (docs/BENCH-TICK.md)

How to read the figures:
  Nanoseconds are the 5th percentile of all batches, so that a busy or slow host does not show. Compare a figure with
  the others of the same run only: the contenders take turns within it, and two runs may differ by a factor of two.
  Latencies are measured in virtual time and repeat exactly.";

/// Measures Netloom, and the libraries it is compared with, in one run.
#[derive(Parser)]
#[command(name = "netloom-bench", version, after_help = AFTER_HELP, arg_required_else_help = true)]
struct Arguments {
    /// What to measure.
    #[arg(value_parser = PossibleValuesParser::new(suites::possible_values()))]
    suite: String,

    /// Recordings: the one to measure for `cubes` (.bin or .bin.xz), those to measure besides for `scenes`
    /// and `tables` (.scene, too).
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// A file of code tables to measure with besides, for `scenes` and `tables`; may be given several times.
    #[arg(long, value_name = "FILE")]
    table: Vec<PathBuf>,

    /// Recordings to train tables on instead of taking the shipped ones, for `cubes`.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    train: Vec<PathBuf>,

    /// Print one flat JSON object on one line instead of the table.
    #[arg(long)]
    json: bool,

    /// Timed batches, or ticks, per time; more take longer and find a quiet moment more surely.
    #[arg(long, default_value_t = measure::BATCHES_MIN, value_parser = clap::value_parser!(u32).range(500..=100_000))]
    batches: u32,

    /// Leave out the largest points of scaling tables.
    #[arg(long)]
    quick: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let json = arguments.json;
    let Some(suite) = suites::SUITES.iter().find(|suite| suite.name == arguments.suite) else {
        unreachable!("the command line accepts registered suites only");
    };
    if cfg!(debug_assertions) {
        eprintln!("warning: this is a debug build; its times mean nothing. Use `cargo run --release`.");
    }
    let Arguments { batches, quick, files, table: tables, train, .. } = arguments;
    match suite.measure(&suites::Options { batches, quick, files, tables, train }) {
        Ok(report) if json => print(&format!("{}\n", report.json_line())),
        Ok(report) => print(&report.table().to_string()),
        Err(error) => {
            eprintln!("error: suite {} has no result: {error}", suite.name);
            ExitCode::FAILURE
        }
    }
}

/// Prints. A reader that has seen enough, as `head` has, is no failure.
fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn an_unknown_suite_is_refused_with_the_known_ones() {
        let message = Arguments::try_parse_from(["netloom-bench", "cor"]).err().expect("refused").to_string();
        assert!(suites::SUITES.iter().all(|suite| message.contains(suite.name)), "{message}");
    }

    #[test]
    fn files_are_refused_by_suites_that_take_none() {
        let suite = suites::SUITES.iter().find(|suite| suite.name == "core").expect("a suite");
        let files = vec![PathBuf::from("my.scene")];
        let options =
            suites::Options { batches: 500, quick: true, files, tables: Vec::new(), train: Vec::new() };
        let message = suite.measure(&options).expect_err("refused").to_string();
        assert!(message.contains("my.scene") && message.contains("`scenes`"), "{message}");
    }

    #[test]
    fn too_few_batches_are_refused_with_the_allowed_range() {
        let refused = Arguments::try_parse_from(["netloom-bench", "core", "--batches", "499"]).err();
        let message = refused.expect("refused").to_string();
        assert!(message.contains("499") && message.contains("500..=100000"), "{message}");
    }
}
