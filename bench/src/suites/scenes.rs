//! What scenes weigh: bytes per update, by scene and by table of codes. docs/BENCH-SCENES.md has the method.

use super::{Options, Suite};
use crate::error::BenchError;
use crate::table::{Cell, Figure, Report, Row, Series, Target};
use netloom_proto::packet::TAG_BYTES;
use netloom_replica::codec::{Codes, SHIPPED};
use netloom_replica::server::ServerConfig;
use netloom_scene::replay::{Figures, Replay, ReplayConfig};
use netloom_scene::train;
use netloom_scene::{Source, generate};
use std::collections::BTreeSet;
use std::path::PathBuf;

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

/// Round trips that are measured: a player of the same city, of the same country, and of another one.
const ROUND_TRIPS_MS: [u32; 3] = [30, 60, 100];

/// What a sealed datagram to a client has besides a snapshot, by sections 18, 19, 23 and 51 of the standard: the first
/// byte and a packet number; an ack of what the client sends, with its delay and the least bits; the number of frames, a frame
/// of an unreliable message with two bytes of length, and the byte that says that it is a snapshot; the tag.
const DATAGRAM_OVERHEAD_BYTES: usize = (1 + 2) + (2 + 1 + 2) + 1 + (1 + 2) + 1 + TAG_BYTES;

/// The scenes and tables that have a target: bytes per update and kB/s at most.
const RIGID_BYTES_MAX: f64 = 4.0;
const RIGID_KB_MAX: f64 = 18.0;
const WALK_BYTES_MAX: f64 = 4.7;

const NOTES: [&str; 14] = [
    "One client that sees everything, nothing lost. An ack comes with the first tick after a round trip of 30, 60 or 100 ms: at 30",
    "  ticks a second after 1, 2 or 3 ticks, at 20 after 1, 2 or 2, at 60 after 2, 4 or 6; so old are the states that updates",
    "  build on. Position and rotation STANDARD: 1 cm, 10 bits a component.",
    "Bytes: everything but IP and UDP headers, so snapshots with their headers, and the header, frame and tag (29 bytes) of",
    "  each datagram; for each update, without entries and leaves. Per changed: with them, for each object that changed (30 ms).",
    "Every tick is a baseline. Snapped: only every fourth, as in rooms of more than 12 players, so that they share codes (60 ms).",
    "Alone: only the bytes of snapshots, as `netloom-bench replica` counts them (60 ms).",
    "kB/s: thousands of bytes a second, entries and leaves included (30 ms; snapped 60 ms).",
    "Changed: the share of the objects that change in a tick. Error: the largest distance between what the client shows and",
    "  the scene before quantization, over all ticks; a .scene is quantized already.",
    "Generators have a seed that no table was trained on. The tables are those that come with Netloom, and those given.",
    "The rows on top are measured with the best of the tables. `walk` is alone, at 60 ms: two ticks, as in `replica`.",
    "The client decodes every snapshot and is compared word by word after each tick, or there is no figure.",
    "Everything repeats exactly.",
];

/// Everything that was measured of a scene with a table.
struct Measured {
    scene: String,
    table: String,
    /// By [`ROUND_TRIPS_MS`].
    figures: [Figures; 3],
    snapped: Figures,
}

/// Places in [`ROUND_TRIPS_MS`].
const NEAR: usize = 0;
const USUAL: usize = 1;
const FAR: usize = 2;

fn run(options: &Options) -> Result<Report, BenchError> {
    let tables = tables(&options.tables)?;
    let mut measured: Vec<Measured> = Vec::new();
    let mut names = BTreeSet::new();
    let scenes = generate::NAMES.iter().map(|name| format!("{name}:{SEED}"));
    for file in scenes.chain(options.files.iter().map(|file| file.display().to_string())) {
        let scene = unique(&mut names, open(&file)?.name());
        for codes in &tables {
            super::progress(SUITE.name, &format!("{scene}, table {}", codes.name()));
            let ticks = options.batches as usize;
            let of = |round_trip, baseline_ticks| {
                measure(&file, codes, ROUND_TRIPS_MS[round_trip], baseline_ticks, ticks)
            };
            let figures = [of(NEAR, 1)?, of(USUAL, 1)?, of(FAR, 1)?];
            let snapped = of(USUAL, ServerConfig::default().baseline_ticks)?;
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

/// A recording, or a generator with its seed.
fn open(name: &str) -> Result<Box<dyn Source>, BenchError> {
    let opened = train::open(name).map_err(|error| BenchError::NoScene(error.to_string()))?;
    Ok(opened.0)
}

/// The tables that come with Netloom, and those in files.
pub fn tables(files: &[PathBuf]) -> Result<Vec<Codes>, BenchError> {
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
    scene: &str,
    codes: &Codes,
    round_trip_ms: u32,
    baseline_ticks: u32,
    ticks: usize,
) -> Result<Figures, BenchError> {
    let failed =
        |what: String| BenchError::Scene { scene: scene.to_owned(), table: codes.name().to_owned(), what };
    let source = open(scene)?;
    let config = ReplayConfig {
        server: ServerConfig { baseline_ticks, ..ServerConfig::default() },
        ack_ticks: (round_trip_ms * source.ticks_per_second()).div_ceil(1_000) as usize,
        datagram_overhead_bytes: DATAGRAM_OVERHEAD_BYTES,
        ..ReplayConfig::new(codes.clone())
    };
    let mut replay = Replay::new(source, config).map_err(|error| failed(error.to_string()))?;
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

/// What has a target, and what stands beside it.
fn rows(measured: &[Measured]) -> Vec<Row> {
    let best = |scene: &str, value: &dyn Fn(&Measured) -> f64| {
        let of_scene = measured.iter().filter(|measured| measured.scene == scene);
        of_scene.map(value).fold(f64::INFINITY, f64::min)
    };
    let row = |label, unit, target, key, value| Row {
        label,
        unit,
        decimals: 2,
        target,
        figures: vec![Figure::new(key, value)],
    };
    let update = |label, target, key, round_trip: usize| {
        let bytes = best("rigid", &|measured| measured.figures[round_trip].bytes_per_update());
        row(label, "bytes", target, key, bytes)
    };
    let near = Target::AtMost(RIGID_BYTES_MAX);
    vec![
        update("rigid: update of a body, round trip 30 ms", near, "rigid_bytes_per_update", NEAR),
        update("  round trip 60 ms", Target::None, "rigid_rtt60_bytes_per_update", USUAL),
        update("  round trip 100 ms", Target::None, "rigid_rtt100_bytes_per_update", FAR),
        row(
            "rigid: 250 bodies, round trip 30 ms",
            "kB/s",
            Target::AtMost(RIGID_KB_MAX),
            "rigid_kb_per_s",
            best("rigid", &|measured| measured.figures[NEAR].kb_per_second()),
        ),
        row(
            "walk: update of a walker, age 2, alone",
            "bytes",
            Target::AtMost(WALK_BYTES_MAX),
            "walk_bytes_per_update",
            best("walk", &|measured| measured.figures[USUAL].traffic.bytes_per_update()),
        ),
    ]
}

fn by_table(measured: &[Measured]) -> Series {
    let lines = measured.iter().map(|Measured { scene, table, figures, snapped }| {
        let cell = |key: &str, value| Cell { key: Some(format!("{scene}_{}_{key}", keyed(table))), value };
        vec![
            cell("bytes_per_update", figures[NEAR].bytes_per_update()),
            cell("rtt60_bytes_per_update", figures[USUAL].bytes_per_update()),
            cell("rtt100_bytes_per_update", figures[FAR].bytes_per_update()),
            cell("snapped_bytes_per_update", snapped.bytes_per_update()),
            cell("alone_bytes_per_update", figures[USUAL].traffic.bytes_per_update()),
            cell("bytes_per_changed", figures[NEAR].bytes_per_changed()),
            cell("kb_per_s", figures[NEAR].kb_per_second()),
            cell("snapped_kb_per_s", snapped.kb_per_second()),
        ]
    });
    let name = |measured: &Measured| format!("{} / {}", measured.scene, measured.table);
    Series {
        title: String::from("Bytes per update, by scene and table"),
        names: Some(("scene / table", measured.iter().map(name).collect())),
        columns: vec![
            ("30 ms", 3),
            ("60 ms", 3),
            ("100 ms", 3),
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
        let figures = &figures[NEAR];
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
        let figures = measure("walk:1", &Codes::generic(), 60, 1, 20).expect("a figure");
        let of = |scene: &str| Measured {
            scene: scene.into(),
            table: "my-own".into(),
            figures: [figures; 3],
            snapped: figures,
        };
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
        let missing = tables(&[PathBuf::from("no-such.table")]).expect_err("not there").to_string();
        assert!(missing.contains("no-such.table"), "{missing}");
        let refused = |name: &str| open(name).err().expect("no scene").to_string();
        assert!(refused("Cargo.toml").contains("recording (.scene)"), "{}", refused("Cargo.toml"));
        assert!(refused("no-such.bin.xz").contains("no-such.bin.xz"));
    }

    #[test]
    fn a_scene_in_which_nothing_moves_has_no_figure() {
        let path = std::env::temp_dir().join(format!("netloom-bench-still-{}.scene", std::process::id()));
        let mut recorder = netloom_scene::Recorder::create(&path, "still", 20, &[]).expect("a file");
        recorder.finish().expect("written");
        let message = measure(&path.display().to_string(), &Codes::generic(), 60, 1, 10)
            .expect_err("nothing")
            .to_string();
        std::fs::remove_file(&path).expect("it was there");
        assert!(message.contains("record more"), "{message}");
    }
}
