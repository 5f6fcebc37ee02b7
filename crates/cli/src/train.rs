//! `netloom train`: code tables for a game, from recordings of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use netloom::replica::codec::{Codes, NAME_BYTES_MAX, Saving, Tally};
use netloom_scene::train::{self, Counted, Guard};
use serde_json::{Value, json};

use crate::table::Table;
use crate::{code_table, out};

const AFTER_HELP: &str = "\
Both sides of a connection hold tables of codes: what is frequent is short. The generic ones suit no game in particular. Tables
that were trained on recordings of your game say the same in fewer bytes:

  netloom serve --record-scene monday.scene       play, or let bots play: netloom bots 127.0.0.1:7777 --count 4 --duration 120
  netloom serve --record-scene tuesday.scene      more than one match, so that no single one is taken for the rule
  netloom train monday.scene tuesday.scene --out my-game.table
  netloom serve --table my-game.table             pages get it from the server; others need it, too:
  netloom connect 127.0.0.1:7777 --table my-game.table

A game in Rust ships it: Protocol::builder(\"my-game\").table(include_bytes!(\"my-game.table\")). In JavaScript a page that connects to
the server's web side has nothing to do, and others say connect(address, { protocol, table }).

Scenes are recordings (.scene), recorded cubes (.bin, .bin.xz), or a generator and a seed: rigid:7, crowd:7, shooter:7, planet:7, walk:7,
wander:7.
Each is replayed as a server would send it, to players with round trips of 20, 60, 120 and 250 ms who lose 2 % of what is sent. The last
two of every eight seconds are held out: what the tables save there is what to expect. The same scenes give the same bytes.

A game changes, so that tables which know it alone would be bad tomorrow: a few seconds of every generator stand guard, and the tables take
at most 2 % more there than those they start from. --guard adds a scene of your own, --only-these does without, for the last few percent.

What comes with Netloom was made by crates/replica/tables/make (docs/TABLES.md), the generic tables with --prior untrained --even.";

/// What to train on, and where the tables go.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct TrainArgs {
    /// Scenes: .scene, .bin or .bin.xz files, or generators such as rigid:7
    #[arg(required = true, value_name = "SCENE")]
    scenes: Vec<String>,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// What the tables are called: a-z, 0-9, - and _ [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The tables to start from, a file or a name, "untrained" for none: what was not seen stays as it is there
    #[arg(long, value_name = "TABLE", default_value = "generic")]
    prior: String,
    /// Let every scene count the same, however much happens in it: for tables that are for all of them
    #[arg(long)]
    even: bool,
    /// A scene that stands guard besides, as another mode of your game: not trained on, and not made worse; may be repeated
    #[arg(long, value_name = "SCENE", conflicts_with = "only_these")]
    guard: Vec<String>,
    /// Care for nothing but these scenes: smaller there, but much larger for any other motion
    #[arg(long)]
    only_these: bool,
    /// Print what came of it as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &TrainArgs) -> Result<ExitCode, String> {
    let name = args.name()?;
    let prior = match &*args.prior {
        "untrained" => Codes::untrained(),
        prior => code_table::find(prior)?,
    };
    // Before an hour of work, not after it.
    check_writable(&args.out)?;
    let scenes = count_all(&args.scenes, &prior)?;
    let seen = train::seen(scenes.iter().map(|(_, counted)| counted), &prior, args.even);
    if seen.updates() == 0 {
        return Err(String::from("nothing moves in these scenes: record longer ones, with players in them"));
    }
    let guards = match args.only_these {
        true => Vec::new(),
        false => guards(&args.guard, &prior)?,
    };
    let codes = train::train(&seen, &prior, &guards, &name).map_err(|error| error.to_string())?;
    let bytes = codes.serialize();
    std::fs::write(&args.out, &bytes)
        .map_err(|error| format!("{} cannot be written: {error}", args.out.display()))?;
    let report = Report {
        out: &args.out,
        bytes: bytes.len(),
        prior: &prior,
        codes: &codes,
        seen: &seen,
        scenes: &scenes,
        guards: &guards,
    };
    match args.json {
        true => out::line(format_args!("{:#}", report.to_json())),
        false => report.print(),
    }
    Ok(ExitCode::SUCCESS)
}

impl TrainArgs {
    /// What the tables are called.
    fn name(&self) -> Result<String, String> {
        let stem = self.out.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
        let name = self.name.clone().or(stem).unwrap_or_default();
        let is_allowed = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-' | '_');
        match (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(is_allowed) {
            true => Ok(name),
            false => Err(format!(
                "{name:?} cannot be the name of a table: use 1 to {NAME_BYTES_MAX} characters of a-z, 0-9, - and _ in --name"
            )),
        }
    }
}

fn check_writable(path: &Path) -> Result<(), String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(format!("{}: there is no such folder", folder.display())),
        _ if path.is_dir() => Err(format!("{} is a folder: name a file", path.display())),
        _ => Ok(()),
    }
}

/// What every scene needed.
fn count_all(scenes: &[String], prior: &Codes) -> Result<Vec<(String, Counted)>, String> {
    let bar = ProgressBar::new(0).with_style(style());
    let counted = scenes.iter().map(|scene| {
        let mut counted = Counted::new(prior);
        let (source, ticks) = train::open(scene).map_err(|error| error.to_string())?;
        let replays = train::ack_ticks(source.ticks_per_second());
        bar.set_position(0);
        bar.set_length(ticks.unwrap_or(0) * replays.len() as u64);
        for (number, &ack_ticks) in replays.iter().enumerate() {
            bar.set_message(format!("{scene}, replay {} of {}", number + 1, replays.len()));
            let (source, _) = train::open(scene).map_err(|error| error.to_string())?;
            train::count(source, ack_ticks, prior, &mut counted, || bar.inc(1))
                .map_err(|error| format!("{scene}: {error}"))?;
            // How long a recording is, is known at its end.
            bar.set_length(counted.ticks * replays.len() as u64);
        }
        Ok((scene.clone(), counted))
    });
    let counted = counted.collect();
    bar.finish_and_clear();
    counted
}

/// What stands guard, with these tables: all generators, and these scenes.
fn guards(scenes: &[String], prior: &Codes) -> Result<Vec<Guard>, String> {
    let more = count_all(scenes, prior)?;
    let spinner = ProgressBar::new_spinner();
    let guards = train::guards(prior, |name| {
        spinner.set_message(format!("{name} stands guard"));
        spinner.tick();
    });
    spinner.finish_and_clear();
    let mut guards = guards.map_err(|error| error.to_string())?;
    guards.extend(more.into_iter().map(|(name, counted)| Guard { name, tally: counted.all() }));
    Ok(guards)
}

fn style() -> ProgressStyle {
    let template = ProgressStyle::with_template("{bar:30} {pos}/{len} ticks  {msg}");
    template.unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// What came of it.
struct Report<'a> {
    out: &'a Path,
    bytes: usize,
    prior: &'a Codes,
    codes: &'a Codes,
    seen: &'a Tally,
    scenes: &'a [(String, Counted)],
    guards: &'a [Guard],
}

/// The bits of a group of tables.
#[derive(Clone, Copy, Debug, Default)]
struct Bits {
    symbols: u64,
    before: u64,
    after: u64,
}

impl Report<'_> {
    /// By group, in the order of a set, with what its symbols say.
    fn groups(&self) -> Vec<(&'static str, &'static str, Bits)> {
        let mut groups: Vec<(&'static str, &'static str, Bits)> = Vec::new();
        for Saving { group, symbols, bits_before, bits_after, .. } in self.seen.savings(self.codes) {
            if groups.last().is_none_or(|(name, ..)| *name != group.name) {
                groups.push((group.name, group.about, Bits::default()));
            }
            if let Some((.., bits)) = groups.last_mut() {
                bits.symbols += symbols;
                bits.before += bits_before;
                bits.after += bits_after;
            }
        }
        groups
    }

    fn print(&self) {
        let all = self.seen.bits(self.prior);
        let mut table = Table::new(&[
            "codes of",
            "bits before",
            "bits after",
            "saves %",
            "share of all %",
            "what they say",
        ]);
        for (name, about, bits) in self.groups() {
            table.row([
                name.to_owned(),
                bits.before.to_string(),
                bits.after.to_string(),
                format!("{:.1}", saved_percent(bits.before, bits.after)),
                format!("{:.1}", 100.0 * bits.before as f64 / all as f64),
                about.to_owned(),
            ]);
        }
        out::line(format_args!("{table}"));
        let mut table = Table::new(&[
            "held out of",
            "updates",
            "bytes before",
            "bytes after",
            "bytes an update",
            "saves %",
        ]);
        for (scene, counted) in self.scenes {
            let (before, after) = self.held_out(counted);
            table.row([
                scene.clone(),
                counted.held_out.updates().to_string(),
                (before / 8).to_string(),
                (after / 8).to_string(),
                format!("{:.2}", after as f64 / 8.0 / counted.held_out.updates().max(1) as f64),
                format!("{:.1}", saved_percent(before, after)),
            ]);
        }
        out::line(format_args!("{table}"));
        if !self.guards.is_empty() {
            let each =
                self.guards.iter().map(|guard| format!("{} {:+.1} %", guard.name, self.worse_percent(guard)));
            out::line(format_args!(
                "On guard, against {}: {}\n",
                self.prior.name(),
                each.collect::<Vec<_>>().join(", ")
            ));
        }
        out::line(format_args!(
            "{}: the tables \"{}\", id {:08x}, {} bytes. Use them: netloom serve --table {}",
            self.out.display(),
            self.codes.name(),
            self.codes.id(),
            self.bytes,
            self.out.display()
        ));
    }

    /// How much more a guard takes than before, in percent; less is below zero.
    fn worse_percent(&self, guard: &Guard) -> f64 {
        -saved_percent(guard.tally.bits(self.prior), guard.tally.bits(self.codes))
    }

    /// The bits of what a scene held out, before and after.
    fn held_out(&self, counted: &Counted) -> (u64, u64) {
        (counted.held_out.bits(self.prior), counted.held_out.bits(self.codes))
    }

    fn to_json(&self) -> Value {
        let groups: BTreeMap<&str, Value> = self
            .groups()
            .into_iter()
            .map(|(name, about, bits)| {
                let Bits { symbols, before, after } = bits;
                (
                    name,
                    json!({ "about": about, "symbols": symbols, "bits_before": before, "bits_after": after }),
                )
            })
            .collect();
        let contexts = self.seen.savings(self.codes);
        let contexts: Vec<Value> = contexts
            .iter()
            .map(|saving| {
                let Saving { group, table, symbols, bits_before, bits_after } = saving;
                json!({
                    "group": group.name, "table": table, "symbols": symbols,
                    "bits_before": bits_before, "bits_after": bits_after,
                })
            })
            .collect();
        let guards: BTreeMap<&str, f64> =
            self.guards.iter().map(|guard| (&*guard.name, self.worse_percent(guard))).collect();
        let held_out = self.scenes.iter().map(|(scene, counted)| {
            let (before, after) = self.held_out(counted);
            json!({
                "scene": scene, "ticks": counted.ticks, "updates": counted.held_out.updates(),
                "bytes_before": before / 8, "bytes_after": after / 8,
                "saved_percent": saved_percent(before, after),
            })
        });
        json!({
            "file": self.out, "name": self.codes.name(), "id": self.codes.id(), "bytes": self.bytes,
            "prior": { "name": self.prior.name(), "id": self.prior.id() },
            "bits_before": self.seen.bits(self.prior), "bits_after": self.seen.bits(self.codes),
            "guards_worse_percent": guards, "groups": groups, "contexts": contexts, "held_out": held_out.collect::<Vec<Value>>(),
        })
    }
}

fn saved_percent(before: u64, after: u64) -> f64 {
    100.0 * (1.0 - after as f64 / before.max(1) as f64)
}
