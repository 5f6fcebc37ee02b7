//! How many instructions the hot paths take, and whether that is as many as they took.
//!
//! A change that makes something a tenth slower is not seen in a time: hosts differ and have moods. Instructions are counted
//! exactly, by callgrind, and come out the same today and tomorrow. So small programs without sockets, clocks and chance run the
//! paths that matter; `bench/instructions.toml` says how many instructions each took, and `check` compares:
//!
//! ```text
//!   check ──▶ valgrind ──▶ this program, `run NAME`:  prepare │ counted │ …          only what is within `counted` counts
//!     └── bench/instructions.toml ──▶ more than 5 % above: slower, say why or mend it
//!                                     more than 5 % below: faster, write it down
//! ```
//!
//! Instructions are not time: a cache miss costs as much as many of them. What is slower by waiting is for `netloom-bench`.

#![forbid(unsafe_code)]

mod callgrind;
mod counts;
mod profile;
mod programs;
#[cfg(netloom_mutations)]
mod trial;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use counts::{Counts, Verdict};
use programs::PROGRAMS;

const AFTER_HELP: &str = "\
Examples:
  cargo run --release -p netloom-instructions -- check    what ./test does
  cargo run --release -p netloom-instructions -- write    after a change that is meant: commit bench/instructions.toml with it
  cargo run --release -p netloom-instructions -- list     the programs
  cargo run --release -p netloom-instructions -- where    where a server's instructions and waiting for memory are

Where the instructions of any of them go, line by line:
  valgrind --tool=callgrind --collect-atstart=no --toggle-collect='*programs::counted*' target/release/netloom-instructions run encode
  callgrind_annotate callgrind.out.*

Needs valgrind: apt-get install valgrind.";

/// Counts the instructions of hot paths and compares them with those that are written down.
#[derive(Debug, Parser)]
#[command(name = "netloom-instructions", version, after_help = AFTER_HELP, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// The file with the counts
    #[arg(long, global = true, value_name = "FILE", default_value = "bench/instructions.toml")]
    counts: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Count, and fail if any program takes more than 5 % more or less than is written down
    Check,
    /// Count, and write down
    Write,
    /// Show the programs
    List,
    /// Tell where a program spends its instructions, and which lines of memory it has to fetch
    Where {
        /// The program: watch or messages
        #[arg(default_value = "watch")]
        program: String,
        /// Function by function instead of module by module
        #[arg(long)]
        functions: bool,
        /// How many, the dearest first
        #[arg(long, default_value_t = 40)]
        count: usize,
    },
    /// Run a program, for valgrind to count
    Run {
        /// Its name
        name: String,
        /// With a bug that slows it down
        #[cfg(netloom_mutations)]
        #[arg(long)]
        slowed: bool,
    },
    /// Slow a program down on purpose, and fail if that is not noticed
    #[cfg(netloom_mutations)]
    Trial,
}

fn main() -> ExitCode {
    let Arguments { command, counts } = Arguments::parse();
    let result = match command {
        Command::Check => check(&counts),
        Command::Write => write(&counts),
        Command::List => {
            PROGRAMS.iter().for_each(|program| println!("{:8} {}", program.name, program.about));
            Ok(ExitCode::SUCCESS)
        }
        Command::Where { program, functions, count } => {
            profile::run(&program, functions, count).map(|told| {
                print!("{told}");
                ExitCode::SUCCESS
            })
        }
        #[cfg(not(netloom_mutations))]
        Command::Run { name } => run(&name),
        #[cfg(netloom_mutations)]
        Command::Run { name, slowed } => {
            use netloom_replica::mutation::{self, Mutation};
            mutation::set(if slowed { Mutation::WrittenTwice } else { Mutation::None });
            run(&name)
        }
        #[cfg(netloom_mutations)]
        Command::Trial => trial::run(),
    };
    result.unwrap_or_else(|message| {
        eprintln!("netloom-instructions: {message}");
        ExitCode::from(2)
    })
}

fn check(path: &Path) -> Result<ExitCode, String> {
    let before = Counts::read(path)?;
    let now = count_all()?;
    let mut is_good = true;
    for (name, verdict) in before.compare(&now) {
        println!("{name:8} {verdict}");
        is_good &= verdict.is_good();
    }
    if is_good {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!(
        "\nIf the change is meant, write the new counts down and commit them with it:\n  \
         cargo run --release -p netloom-instructions -- write"
    );
    if before.compiler != now.compiler {
        eprintln!("They were counted with {}; this is {}.", before.compiler, now.compiler);
    }
    Ok(ExitCode::FAILURE)
}

fn write(path: &Path) -> Result<ExitCode, String> {
    let before = Counts::read(path).unwrap_or_default();
    let now = count_all()?;
    for (name, verdict) in before.compare(&now).filter(|(_, verdict)| !matches!(verdict, Verdict::Unknown)) {
        println!("{name:8} {verdict}");
    }
    now.write(path)?;
    println!("wrote {}", path.display());
    Ok(ExitCode::SUCCESS)
}

fn run(name: &str) -> Result<ExitCode, String> {
    programs::find(name)?.run();
    Ok(ExitCode::SUCCESS)
}

/// The counts of all programs. Two run at a time, one per core of a small machine.
fn count_all() -> Result<Counts, String> {
    if cfg!(debug_assertions) {
        return Err(String::from("this is a debug build, of which nothing follows: add --release"));
    }
    let mut counts = Counts::of_this_compiler();
    for pair in PROGRAMS.chunks(2) {
        let running: Vec<_> = pair.iter().map(|program| (program, callgrind::start(program.name))).collect();
        for (program, started) in running {
            counts.instructions.insert(program.name.to_owned(), started?.finish()?);
        }
    }
    Ok(counts)
}
