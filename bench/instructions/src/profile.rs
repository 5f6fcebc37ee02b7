//! Where the instructions go, and which lines of memory have to be fetched for them.
//!
//! Between two ticks a server sleeps, and others use its caches. So a tick finds little of its code and data there, and waiting for
//! them takes about as long as the instructions do. Some programs drive everything out of their caches before each tick, and
//! callgrind counts what has to be fetched again: lines of 64 bytes, of code and of data.
//!
//! ```text
//!   valgrind ──▶ run NAME ──▶ a file: function, line, instructions, misses … ──▶ parse ──▶ by module or function, dearest first
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::programs::COLD_PROGRAMS;

/// What an instruction and a fetched line take, about, in nanoseconds: only to have the dearest first.
const INSTRUCTION_NS: f64 = 0.18;
const LINE_NS: f64 = 20.0;

/// The caches that callgrind pretends to have: those of a core, and no larger one behind them.
const CACHES: [&str; 4] = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"];

/// What one place takes in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    pub instructions: f64,
    pub code_lines: f64,
    pub read_lines: f64,
    pub written_lines: f64,
}

impl Cost {
    fn add(&mut self, other: &Cost) {
        self.instructions += other.instructions;
        self.code_lines += other.code_lines;
        self.read_lines += other.read_lines;
        self.written_lines += other.written_lines;
    }

    fn ns(&self) -> f64 {
        self.instructions * INSTRUCTION_NS
            + (self.code_lines + self.read_lines + self.written_lines) * LINE_NS
    }
}

/// Profiles a program and tells of the `count` dearest modules, or functions, in one of its periods.
pub fn run(program: &str, functions: bool, count: usize) -> Result<String, String> {
    let &(_, period, periods) =
        COLD_PROGRAMS.iter().find(|(name, ..)| *name == program).ok_or_else(|| {
            let names = COLD_PROGRAMS.map(|(name, ..)| name).join(", ");
            format!("the caches of {program:?} do not go cold: choose {names}")
        })?;
    let this = std::env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    let file = std::env::temp_dir().join(format!("netloom-profile-{}", std::process::id()));
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", file.display()))
        .args(CACHES)
        .args(["--collect-atstart=no", "--toggle-collect=*programs::counted*"])
        .arg(this)
        .args(["run", program])
        .stdout(Stdio::null())
        .output()
        .map_err(|error| format!("valgrind cannot be run: {error}. Install it: apt-get install valgrind"))?;
    let told = match output.status.success() {
        true => read(&file, periods)
            .map(|costs| format!("in {period}:\n{}", table(by_name(costs, functions), count))),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    };
    // Nobody misses a file of the system's folder for such.
    let _ = fs::remove_file(&file);
    told
}

fn read(file: &Path, periods: u64) -> Result<Vec<(String, Cost)>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    parse(&text, periods as f64)
}

/// The functions of a file of callgrind's and what each takes itself. In such a file `fn=(7) name` begins a function, from then on
/// `fn=(7)`, a line of numbers is a place in it and its costs, and the line after `calls=` is what was called and does not count.
fn parse(text: &str, periods: f64) -> Result<Vec<(String, Cost)>, String> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut events: Vec<&str> = Vec::new();
    let mut costs: BTreeMap<&str, Cost> = BTreeMap::new();
    let (mut function, mut is_call) = ("", false);
    for line in text.lines() {
        if let Some(names) = line.strip_prefix("events: ") {
            events = names.split_whitespace().collect();
        } else if let Some(name) = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn=")) {
            let (number, name) = name.split_once(' ').unwrap_or((name, ""));
            if !name.is_empty() {
                names.insert(number, name);
            }
            if line.starts_with("fn=") {
                function = names.get(number).copied().unwrap_or("?");
            }
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            if std::mem::take(&mut is_call) {
                continue;
            }
            let mut counts =
                events.iter().zip(line.split_whitespace().skip(1).map(|count| count.parse::<f64>()));
            let cost = costs.entry(function).or_default();
            counts.try_for_each(|(event, count)| {
                let count = count.map_err(|_| format!("{line:?} is no line of callgrind's"))? / periods;
                match *event {
                    "Ir" => cost.instructions += count,
                    "ILmr" => cost.code_lines += count,
                    "DLmr" => cost.read_lines += count,
                    "DLmw" => cost.written_lines += count,
                    _ => {}
                }
                Ok::<(), String>(())
            })?;
        }
    }
    Ok(costs.into_iter().map(|(name, cost)| (name.to_owned(), cost)).collect())
}

/// The same by function, or by the module that it is in.
fn by_name(costs: Vec<(String, Cost)>, functions: bool) -> BTreeMap<String, Cost> {
    let mut all: BTreeMap<String, Cost> = BTreeMap::new();
    for (name, cost) in costs {
        all.entry(if functions { name } else { module(&name) }).or_default().add(&cost);
    }
    all
}

/// The module of a function, two levels deep: `netloom_proto::connection::outgoing::…` is `netloom_proto::connection`.
fn module(function: &str) -> String {
    let Some(start) = function.find("netloom_") else { return String::from("system and dependencies") };
    let path: Vec<&str> = function[start..].split("::").take(3).collect();
    let is_module = |part: &&&str| part.starts_with(|first: char| first.is_ascii_lowercase());
    path.iter()
        .take(path.len().saturating_sub(1).max(1))
        .take_while(is_module)
        .copied()
        .collect::<Vec<_>>()
        .join("::")
}

fn table(costs: BTreeMap<String, Cost>, count: usize) -> String {
    let mut total = Cost::default();
    costs.values().for_each(|cost| total.add(cost));
    let mut rows: Vec<(String, Cost)> = costs.into_iter().collect();
    rows.sort_by(|(_, a), (_, b)| b.ns().total_cmp(&a.ns()));
    let mut text = String::from("instructions  code lines  lines read  lines written\n");
    for (name, cost) in rows.iter().take(count).chain([&(String::from("all together"), total)]) {
        let Cost { instructions, code_lines, read_lines, written_lines } = cost;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{instructions:>12.0} {code_lines:>11.0} {read_lines:>11.0} {written_lines:>14.0}  {name}"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
events: Ir Dr ILmr DLmr DLmw
fl=(1) a.rs
fn=(1) netloom_proto::connection::outgoing::send
10 100 5 2 1 3
+1 20
calls=1 0
* 999 9 9 9 9
fn=(2) memcpy
5 50 1 0 0 7
cfn=(3) netloom_wire::bits::put
calls=1 0
7 888
fn=(3)
9 40
fn=(1)
12 4
";

    #[test]
    fn what_a_function_calls_is_not_its_own() {
        let costs = parse(FILE, 2.0).unwrap();
        let cost = |wanted: &str| costs.iter().find(|(name, _)| name == wanted).unwrap().1;
        let send = cost("netloom_proto::connection::outgoing::send");
        assert_eq!((send.instructions, send.code_lines, send.written_lines), (62.0, 1.0, 1.5));
        assert_eq!((cost("memcpy").instructions, cost("netloom_wire::bits::put").instructions), (25.0, 20.0));
        assert!(parse("events: Ir\nfn=(1) f\n1 much\n", 1.0).unwrap_err().contains("much"));
    }

    #[test]
    fn functions_are_found_in_their_modules() {
        for (function, expected) in [
            (
                "netloom_proto::connection::outgoing::<impl netloom_proto::Connection>::send",
                "netloom_proto::connection",
            ),
            (
                "<netloom_session::host::Hosted<G> as netloom_session::host::Host>::step",
                "netloom_session::host",
            ),
            ("netloom_wire::hash", "netloom_wire"),
            ("memcpy", "system and dependencies"),
        ] {
            assert_eq!(module(function), expected, "{function}");
        }
    }

    #[test]
    fn the_dearest_comes_first_and_the_sum_last() {
        let told = table(by_name(parse(FILE, 1.0).unwrap(), true), 2);
        let names: Vec<&str> = told.lines().map(|line| line.split("  ").last().unwrap()).collect();
        assert_eq!(names[1..], ["memcpy", "netloom_proto::connection::outgoing::send", "all together"]);
    }
}
