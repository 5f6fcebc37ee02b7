//! What scenes weigh: bytes per update, by scene and by table of codes. docs/BENCH-SCENES.md has the method.

use super::{Options, Suite};
use crate::error::BenchError;
use crate::table::{Cell, Figure, Report, Row, Series, Target};
use netloom_proto::packet::TAG_BYTES;
use netloom_replica::codec::{Codes, SHIPPED};
use netloom_replica::server::ServerConfig;
use netloom_scene::cubes::Cubes;
use netloom_scene::replay::{Figures, Replay, ReplayConfig};
use netloom_scene::{Recording, SceneError, Source, generate};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Registered in `suites`.
pub const SUITE: Suite = Suite {
    name: "scenes",
    about: "Bytes per update and kB/s of scenes, by table of codes, with the quantization error",
    files: Some("recordings (.scene, .bin, .bin.xz)"),
    run,
};

/// Of the generators; tables are trained on others.
const SEED: u64 = 1_000;

/// Until everything has entered and is known to have arrived, and the boxes have fallen.
const WARM_UP_TICKS: usize = 100;

/// Acks come so many ticks after the snapshot.
const ACK_TICKS: usize = 2;

/// What a sealed datagram to a client has besides a snapshot, by sections 18, 19, 23 and 51 of the standard: the first
/// byte and a packet number; an ack of what the client sends, with its delay and the least bits; the number of frames, a frame
/// of an unreliable message with two bytes of length, and the byte that says that it is a snapshot; the tag.
const DATAGRAM_OVERHEAD_BYTES: usize = (1 + 2) + (2 + 1 + 2) + 1 + (1 + 2) + 1 + TAG_BYTES;

/// The scenes and tables that have a target: bytes per update and kB/s at most.
const RIGID_BYTES_MAX: f64 = 4.0;
const RIGID_KB_MAX: f64 = 18.0;
const WALK_BYTES_MAX: f64 = 4.7;

const NOTES: [&str; 12] = [
    "One client that sees everything, nothing lost. Acks come two ticks after the snapshot: a round trip of up to 67 ms at",
    "  30 ticks a second, of 100 ms at 20 and of 33 ms at 60. Position and rotation STANDARD: 1 cm, 10 bits a component.",
    "Bytes: everything but IP and UDP headers, so snapshots with their headers, and the header, frame and tag (29 bytes) of",
    "  each datagram. Per update: without entries and leaves. Per changed: with them, for each object that changed.",
    "Every tick is a baseline. Snapped: only every fourth, as servers do by default, so that many clients share codes.",
    "Alone: only the bytes of snapshots, as `netloom-bench replica` counts them.",
    "kB/s: thousands of bytes a second, entries and leaves included.",
    "Changed: the share of the objects that change in a tick. Error: the largest distance between what the client shows and",
    "  the scene before quantization, over all ticks; a recording is quantized already.",
    "Generators have a seed that no table was trained on. The tables are those that come with Netloom, and those given.",
    "The rows with a target are measured with the best of the tables.",
    "The client decodes every snapshot and is compared word by word after each tick, or there is no figure.",
];

/// Everything that was measured of a scene with a table.
struct Measured {
    scene: String,
    table: String,
    figures: Figures,
    snapped: Figures,
}

fn run(options: &Options) -> Result<Report, BenchError> {
    let tables = tables(&options.tables)?;
    let mut measured: Vec<Measured> = Vec::new();
    let mut names = BTreeSet::new();
    let scenes = generate::NAMES.iter().map(|name| Origin::Generator(name));
    for origin in scenes.chain(options.files.iter().map(|file| Origin::File(file))) {
        let scene = unique(&mut names, origin.open()?.name());
        for codes in &tables {
            super::progress(SUITE.name, &format!("{scene}, table {}", codes.name()));
            let ticks = options.batches as usize;
            let figures = measure(&origin, codes, 1, ticks)?;
            let snapped = measure(&origin, codes, ServerConfig::default().baseline_ticks, ticks)?;
            measured.push(Measured {
                scene: scene.clone(),
                table: codes.name().to_owned(),
                figures,
                snapped,
            });
        }
    }
    Ok(Report {
        title: String::from("Netloom scenes"),
        columns: vec!["netloom"],
        rows: rows(&measured),
        series: vec![by_table(&measured), by_scene(&measured)],
        notes: NOTES.map(String::from).to_vec(),
    })
}

/// Where a scene comes from.
enum Origin<'a> {
    Generator(&'static str),
    File(&'a Path),
}

impl Origin<'_> {
    fn open(&self) -> Result<Box<dyn Source>, BenchError> {
        match *self {
            Origin::Generator(name) => generate::by_name(name, SEED)
                .ok_or_else(|| BenchError::refused("netloom", format!("no scene {name}"))),
            Origin::File(path) => {
                let unusable = |error: SceneError| BenchError::File {
                    file: path.display().to_string(),
                    what: error.to_string(),
                };
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                if name.ends_with(".bin") || name.ends_with(".bin.xz") {
                    return Ok(Box::new(Cubes::open(path).map_err(unusable)?));
                }
                Ok(Box::new(Recording::open(path).map_err(unusable)?))
            }
        }
    }

    fn name(&self) -> String {
        match self {
            Origin::Generator(name) => String::from(*name),
            Origin::File(path) => path.display().to_string(),
        }
    }
}

/// The tables that come with Netloom, and those in files.
fn tables(files: &[PathBuf]) -> Result<Vec<Codes>, BenchError> {
    let unusable = |file: String, what: String| BenchError::File { file, what };
    let mut tables: Vec<Codes> = SHIPPED.iter().filter_map(|(name, _)| Codes::shipped(name)).collect();
    for path in files {
        let file = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| unusable(file.clone(), error.to_string()))?;
        tables.push(Codes::parse(&bytes).map_err(|error| unusable(file, error.to_string()))?);
    }
    Ok(tables)
}

fn measure(
    origin: &Origin<'_>,
    codes: &Codes,
    baseline_ticks: u32,
    ticks: usize,
) -> Result<Figures, BenchError> {
    let failed =
        |what: String| BenchError::Scene { scene: origin.name(), table: codes.name().to_owned(), what };
    let config = ReplayConfig {
        server: ServerConfig { baseline_ticks, ..ServerConfig::default() },
        ack_ticks: ACK_TICKS,
        datagram_overhead_bytes: DATAGRAM_OVERHEAD_BYTES,
        ..ReplayConfig::new(codes.clone())
    };
    let mut replay = Replay::new(origin.open()?, config).map_err(|error| failed(error.to_string()))?;
    replay.run(WARM_UP_TICKS).map_err(|error| failed(error.to_string()))?;
    replay.forget_figures();
    let played = replay.run(ticks).map_err(|error| failed(error.to_string()))?;
    if played == 0 || replay.figures().traffic.updates == 0 {
        return Err(failed(format!(
            "nothing moves after the first {WARM_UP_TICKS} ticks, which are not measured: record more"
        )));
    }
    let figures = *replay.figures();
    replay.settle().map_err(|error| failed(error.to_string()))?;
    Ok(figures)
}

/// What has a target.
fn rows(measured: &[Measured]) -> Vec<Row> {
    let best = |scene: &str, value: fn(&Figures) -> f64| {
        let of_scene = measured.iter().filter(|measured| measured.scene == scene);
        of_scene.map(|measured| value(&measured.figures)).fold(f64::INFINITY, f64::min)
    };
    let row = |label, unit, target, key, value| Row {
        label,
        unit,
        decimals: 2,
        target: Target::AtMost(target),
        figures: vec![Figure::new(key, value)],
    };
    vec![
        row(
            "rigid: update of a body, everything",
            "bytes",
            RIGID_BYTES_MAX,
            "rigid_bytes_per_update",
            best("rigid", Figures::bytes_per_update),
        ),
        row(
            "rigid: 250 bodies",
            "kB/s",
            RIGID_KB_MAX,
            "rigid_kb_per_s",
            best("rigid", Figures::kb_per_second),
        ),
        row(
            "walk: update of a walker, snapshots alone",
            "bytes",
            WALK_BYTES_MAX,
            "walk_bytes_per_update",
            best("walk", |figures| figures.traffic.bytes_per_update()),
        ),
    ]
}

fn by_table(measured: &[Measured]) -> Series {
    let lines = measured.iter().map(|Measured { scene, table, figures, snapped }| {
        let cell = |key: &str, value| Cell { key: Some(format!("{scene}_{}_{key}", keyed(table))), value };
        vec![
            cell("bytes_per_update", figures.bytes_per_update()),
            cell("snapped_bytes_per_update", snapped.bytes_per_update()),
            cell("alone_bytes_per_update", figures.traffic.bytes_per_update()),
            cell("bytes_per_changed", figures.bytes_per_changed()),
            cell("kb_per_s", figures.kb_per_second()),
            cell("snapped_kb_per_s", snapped.kb_per_second()),
        ]
    });
    let name = |measured: &Measured| format!("{} / {}", measured.scene, measured.table);
    Series {
        title: String::from("Bytes, by scene and table"),
        names: Some(("scene / table", measured.iter().map(name).collect())),
        columns: vec![
            ("per update", 3),
            ("snapped", 3),
            ("alone", 3),
            ("per changed", 3),
            ("kB/s", 2),
            ("kB/s snapped", 2),
        ],
        lines: lines.collect(),
    }
}

fn by_scene(measured: &[Measured]) -> Series {
    let firsts: Vec<&Measured> = measured
        .chunk_by(|one, two| one.scene == two.scene)
        .filter_map(|of_scene| of_scene.first())
        .collect();
    let lines = firsts.iter().map(|Measured { scene, figures, .. }| {
        let cell = |key: &str, value| Cell { key: Some(format!("{scene}_{key}")), value };
        let per_tick = |count: u64| count as f64 / figures.ticks as f64;
        vec![
            cell("ticks_per_second", f64::from(figures.ticks_per_second)),
            cell("objects", per_tick(figures.objects)),
            cell("changed_share", figures.changed_share()),
            cell("updates_per_tick", per_tick(figures.traffic.updates)),
            cell("enters_per_tick", per_tick(figures.traffic.enters)),
            cell("leaves_per_tick", per_tick(figures.traffic.leaves)),
            cell("position_error_cm", figures.loss.position_cm),
            cell("rotation_error_degrees", figures.loss.rotation_degrees),
        ]
    });
    Series {
        title: String::from("The scenes"),
        names: Some(("scene", firsts.iter().map(|measured| measured.scene.clone()).collect())),
        columns: vec![
            ("ticks/s", 0),
            ("objects", 0),
            ("changed", 3),
            ("updates/tick", 1),
            ("enters/tick", 2),
            ("leaves/tick", 2),
            ("error cm", 3),
            ("error degrees", 3),
        ],
        lines: lines.collect(),
    }
}

/// A name as it stands in keys.
fn keyed(name: &str) -> String {
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
}

/// The same, with a number if another scene has it already.
fn unique(names: &mut BTreeSet<String>, name: &str) -> String {
    let name = keyed(name);
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !names.contains(name));
    let free = free.unwrap_or(name);
    names.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_name_scene_and_table_and_are_never_the_same() {
        let mut names = BTreeSet::new();
        let found: Vec<String> =
            ["rigid", "R-TYPE", "rigid", "rigid"].map(|name| unique(&mut names, name)).into();
        assert_eq!(found, ["rigid", "R_TYPE", "rigid_2", "rigid_3"]);
        let figures = measure(&Origin::Generator("walk"), &Codes::generic(), 1, 20).expect("a figure");
        let of =
            |scene: &str| Measured { scene: scene.into(), table: "my-own".into(), figures, snapped: figures };
        let line = Report {
            title: String::new(),
            columns: vec!["netloom"],
            rows: rows(&[of("rigid"), of("walk")]),
            series: vec![by_table(&[of("rigid"), of("walk")]), by_scene(&[of("rigid"), of("walk")])],
            notes: Vec::new(),
        };
        let line = line.json_line();
        let object: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(object.as_object().expect("an object").len(), line.matches("\":").count(), "no key twice");
        for key in ["rigid_my_own_bytes_per_update", "walk_my_own_kb_per_s", "rigid_changed_share"] {
            assert!(object[key].is_number(), "{key} in {line}");
        }
        assert_eq!(object["rigid_kb_per_s"], object["rigid_my_own_kb_per_s"], "the best of one table");
    }

    #[test]
    fn what_cannot_be_measured_says_which_file_and_why() {
        let message = |files: &[&str], given: &[&str]| {
            let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
            let options = Options {
                batches: 500,
                quick: true,
                files: paths(files),
                tables: paths(given),
                train: Vec::new(),
            };
            match tables(&options.tables) {
                Err(error) => error.to_string(),
                Ok(_) => Origin::File(&options.files[0]).open().err().expect("refused").to_string(),
            }
        };
        let missing = message(&[], &["no-such.table"]);
        assert!(missing.contains("no-such.table"), "{missing}");
        let other = message(&["Cargo.toml"], &[]);
        assert!(other.contains("Cargo.toml") && other.contains("no scene"), "{other}");
        let cubes = message(&["no-such.bin.xz"], &[]);
        assert!(cubes.contains("no-such.bin.xz"), "{cubes}");
    }

    #[test]
    fn a_scene_in_which_nothing_moves_has_no_figure() {
        let path = std::env::temp_dir().join(format!("netloom-bench-still-{}.scene", std::process::id()));
        let mut recorder = netloom_scene::Recorder::create(&path, "still", 20, &[]).expect("a file");
        recorder.finish().expect("written");
        let message =
            measure(&Origin::File(&path), &Codes::generic(), 1, 10).expect_err("nothing").to_string();
        std::fs::remove_file(&path).expect("it was there");
        assert!(message.contains("record more"), "{message}");
    }
}
