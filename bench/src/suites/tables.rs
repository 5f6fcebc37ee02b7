//! What code tables cost and save on scenes that nobody has seen: each table against the generic ones, seed by seed.
//! docs/TABLES.md has the figures.

use super::{Options, Suite};
use crate::error::BenchError;
use crate::table::{Cell, Report, Series};
use netloom_replica::codec::{Codes, Tally};
use netloom_scene::train::{self, Counted};
use netloom_scene::{Limited, Recording, Source, generate, record};
use std::collections::BTreeMap;
use std::path::Path;

/// Registered in `suites`.
pub const SUITE: Suite = Suite {
    name: "tables",
    about: "Bits of each code table against the generic ones, on scenes with seeds that nothing was trained or tuned on",
    files: Some("recordings (.scene), those of one game together"),
    run,
};

/// Of the generators. No table, guard or constant was ever looked at with these.
const SEEDS: [u64; 5] = [70_001, 70_002, 70_003, 70_004, 70_005];

/// How much of each is played: the dear ones less.
const SECONDS: [(&str, usize); 5] =
    [("rigid", 24), ("crowd", 16), ("shooter", 60), ("planet", 40), ("walk", 40)];

const NOTES: [&str; 5] = [
    "Percent of the bits of updates and gaps that the table takes more than the generic ones; below zero it saves.",
    "Mean and worst of the seeds. Every scene is replayed with round trips of 20, 60, 120 and 250 ms and 2 % loss, as in training.",
    "Generated scenes have five seeds each that no table was trained on and no guard was chosen by.",
    "Recordings that are given count by the name of their game, each as a seed.",
    "Everything repeats exactly.",
];

fn run(options: &Options) -> Result<Report, BenchError> {
    let generic = Codes::generic();
    let tables = super::scenes::tables(&options.tables)?;
    let tables: Vec<&Codes> = tables.iter().filter(|codes| **codes != generic).collect();
    let mut scenes: BTreeMap<String, Vec<Tally>> = BTreeMap::new();
    for (name, seconds) in SECONDS {
        for seed in SEEDS {
            super::progress(SUITE.name, &format!("{name}:{seed}"));
            scenes.entry(name.to_owned()).or_default().push(generated(name, seed, seconds, &generic)?);
        }
    }
    for file in &options.files {
        super::progress(SUITE.name, &file.display().to_string());
        let (name, tally) = recorded(file, &generic)?;
        scenes.entry(name).or_default().push(tally);
    }
    Ok(Report {
        title: String::from("Netloom code tables on scenes they have not seen"),
        columns: vec!["netloom"],
        rows: Vec::new(),
        series: tables.into_iter().map(|codes| against_generic(codes, &generic, &scenes)).collect(),
        notes: NOTES.map(String::from).to_vec(),
    })
}

fn against_generic(codes: &Codes, generic: &Codes, scenes: &BTreeMap<String, Vec<Tally>>) -> Series {
    let mut lines = Vec::new();
    for (scene, tallies) in scenes {
        let worse =
            |tally: &Tally| 100.0 * (tally.bits(codes) as f64 / tally.bits(generic).max(1) as f64 - 1.0);
        let all: Vec<f64> = tallies.iter().map(worse).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let worst = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let cell = |what: &str, value| Cell {
            key: Some(format!("{}_on_{scene}_{what}_percent", codes.name())),
            value,
        };
        let count = Cell { key: None, value: all.len() as f64 };
        lines.push(vec![cell("mean", mean), cell("worst", worst), count]);
    }
    Series {
        title: format!("{} ({:08x}), percent more than generic", codes.name(), codes.id()),
        names: Some(("scene", scenes.keys().cloned().collect())),
        columns: vec![("mean", 2), ("worst", 2), ("scenes", 0)],
        lines,
    }
}

/// What a generated scene needs. It is written down first: some take longer to compute than to replay.
fn generated(name: &str, seed: u64, seconds: usize, codes: &Codes) -> Result<Tally, BenchError> {
    let failed = |error: &dyn std::fmt::Display| BenchError::NoScene(format!("{name}:{seed}: {error}"));
    let source = generate::by_name(name, seed).ok_or_else(|| failed(&"there is no such generator"))?;
    let ticks = seconds * source.ticks_per_second() as usize;
    let mut bytes = Vec::new();
    record(Limited::new(source, ticks), &mut bytes, || {}).map_err(|error| failed(&error))?;
    let open = || Recording::new(&bytes[..]).map_err(|error| failed(&error));
    tallied(open, codes).map_err(|error| failed(&error))
}

/// What a recording needs, and of which game it is.
fn recorded(file: &Path, codes: &Codes) -> Result<(String, Tally), BenchError> {
    let failed = |error: &dyn std::fmt::Display| BenchError::NoScene(error.to_string());
    let open = || Ok(train::open(&file.display().to_string()).map_err(|error| failed(&error))?.0);
    Ok((open()?.name().to_owned(), tallied(open, codes)?))
}

fn tallied<S: Source>(
    mut open: impl FnMut() -> Result<S, BenchError>,
    codes: &Codes,
) -> Result<Tally, BenchError> {
    let mut counted = Counted::new(codes);
    for ack_ticks in train::ack_ticks(open()?.ticks_per_second()) {
        train::count(open()?, ack_ticks, codes, &mut counted, || {})
            .map_err(|error| BenchError::NoScene(error.to_string()))?;
    }
    Ok(counted.all())
}
