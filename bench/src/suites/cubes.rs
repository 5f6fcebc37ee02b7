//! Recorded cubes: what the codec makes of the stream by which published coders are compared. docs/COMPRESSION.md has the
//! method and the ladder.

mod coder;
mod parts;

use std::path::{Path, PathBuf};
use std::time::Instant;

use netloom_replica::codec::{BLEND_UNIT, Blend, Codes, Tally};
use netloom_scene::cubes::{CUBES, Frames};
use netloom_wire::{BitReader, BitWriter};

use self::coder::{AGES, Coder, Film, SKIPPED, Writing};
use super::{Options, Suite};
use crate::error::BenchError;
use crate::table::{Figure, Report, Row, Target};

/// Registered in `suites`.
pub const SUITE: Suite = Suite {
    name: "cubes",
    about: "Recorded cubes: kbit/s of a physics recording at baseline t-6, and ns per cube (docs/COMPRESSION.md)",
    files: Some("one recording (.bin, .bin.xz)"),
    run,
};

/// More than any frame takes.
const FRAME_BYTES_MAX: usize = 1 << 16;

/// How often a table is trained anew from what it was: the counts depend a little on the tables in use.
const ROUNDS: usize = 3;

/// Passes over a frame, of which the fastest counts: frames differ in what they hold, so a percentile over them would be
/// that of frames in which little moves.
const PASSES: usize = 5;

/// What a mean frame takes.
struct Measured {
    kbit_per_s: f64,
    encode_ns: f64,
    decode_ns: f64,
}

fn run(options: &Options) -> Result<Report, BenchError> {
    let Some((file, others)) = options.files.split_first() else {
        return Err(wrong("name a recording: netloom-bench cubes FILE.bin.xz [--train FILE…]".into()));
    };
    if !others.is_empty() {
        return Err(wrong("one recording at a time; those to train on follow --train".into()));
    }
    let film = read(file)?;
    let codes = match options.train.as_slice() {
        [] => shipped()?,
        files => trained(files)?,
    };
    super::progress(SUITE.name, "coding every frame, and decoding it");
    let alone = measure(&film, &Coder::new(false), &codes)?;
    let attached = measure(&film, &Coder::new(true), &codes)?;
    let row = |label, unit, decimals, target, key, value| Row {
        label,
        unit,
        decimals,
        target: Target::AtMost(target),
        figures: vec![Figure::new(key, value)],
    };
    let mut rows = vec![
        row("901 cubes, baseline t-6", "kbit/s", 2, 204.0, "kbit_per_s", alone.kbit_per_s),
        row("... with attachments", "kbit/s", 2, 163.0, "attached_kbit_per_s", attached.kbit_per_s),
        row("encoding, per cube of all 901", "ns", 1, 22.0, "encode_ns_per_cube", alone.encode_ns),
        row("decoding, per cube of all 901", "ns", 1, 22.0, "decode_ns_per_cube", alone.decode_ns),
    ];
    rows.extend(parts::rows(&film, &codes));
    Ok(Report {
        title: format!("Netloom codec on {}", file.display()),
        columns: vec!["netloom"],
        rows,
        series: Vec::new(),
        notes: notes(film.len(), &codes, options.train.len()),
    })
}

fn notes(frames: usize, codes: &Codes, trained_on: usize) -> Vec<String> {
    let [newer, older, oldest] = AGES;
    let tables = match trained_on {
        0 => format!("the shipped tables {} ({:08x})", codes.name(), codes.id()),
        files => format!("trained on {files} recordings in this run ({:08x})", codes.id()),
    };
    vec![
        format!(
            "{} frames, the first {SKIPPED} only as baselines. Each cube is told against its states in the frames t-{newer}, \
             t-{older} and t-{oldest}:",
            frames
        ),
        "  the newest one that was acknowledged, and two acknowledged before it. Nothing else is carried from frame to frame."
            .into(),
        "kbit/s: mean bytes of a frame, rounded up to whole ones, x 8 x 60 / 1000. Payload only.".into(),
        format!("Tables: {tables}. Static prefix codes; an object's bits depend on its own states and its carrier's only."),
        "Attachments: a cube whose interacting flag was set at t-6 and that went with the player's cube from".into(),
        format!("  t-{oldest} to t-{newer} is told against its states at t-{newer} and t-{oldest} as that cube carried them."),
        format!("Times: the mean over all frames of the fastest of {PASSES} passes over each, divided by 901; one core."),
        "Every frame was decoded from its bits and compared, or there would be no figure.".into(),
    ]
}

fn read(path: &Path) -> Result<Film, BenchError> {
    super::progress(SUITE.name, &format!("reading {}", path.display()));
    let frames = Frames::open(path).and_then(Frames::read_all);
    let frames = frames.map_err(|error| wrong(format!("{}: {error}", path.display())))?;
    match frames.len() {
        count if count > SKIPPED => Ok(Film::new(&frames)),
        count => Err(wrong(format!(
            "{}: {count} frames, more than {SKIPPED} are needed: is it a recording of cubes?",
            path.display()
        ))),
    }
}

/// Tables for cubes, made from recordings of cubes.
fn trained(files: &[PathBuf]) -> Result<Codes, BenchError> {
    let films: Vec<Film> = files.iter().map(|file| read(file)).collect::<Result<_, _>>()?;
    let mut codes = Codes::generic();
    for round in 1..=ROUNDS {
        super::progress(SUITE.name, &format!("training, round {round} of {ROUNDS}"));
        let mut tally = Tally::new(&codes);
        for film in &films {
            for is_attached in [false, true] {
                parts::count(film, &Coder::new(is_attached), &mut tally);
            }
        }
        let blend = Blend { prior: BLEND_UNIT / 32, ..Blend::default() };
        codes = tally.train("cubes", &blend).map_err(|error| wrong(error.to_string()))?;
    }
    Ok(codes)
}

fn shipped() -> Result<Codes, BenchError> {
    Codes::parse(include_bytes!("../../tables/cubes.table")).map_err(|error| wrong(error.to_string()))
}

fn measure(film: &Film, coder: &Coder, codes: &Codes) -> Result<Measured, BenchError> {
    let mut bytes = vec![0; FRAME_BYTES_MAX];
    let (mut rest, mut late) = (Vec::with_capacity(CUBES), Vec::with_capacity(CUBES));
    let mut decoded = film.frame(0).to_vec();
    let (mut total_bytes, mut encode_ns, mut decode_ns) = (0, 0, 0);
    for at in SKIPPED..film.len() {
        let (mut length, mut fastest_encode_ns, mut fastest_decode_ns) = (0, u128::MAX, u128::MAX);
        for _ in 0..PASSES {
            bytes[..length].fill(0);
            let started = Instant::now();
            let mut writer = BitWriter::new(&mut bytes);
            coder.code(film, at, &mut late, &mut Writing { codes, writer: &mut writer });
            length = writer.finish().map_err(|error| wrong(format!("frame {at}: {error}")))?;
            fastest_encode_ns = fastest_encode_ns.min(started.elapsed().as_nanos());
            let started = Instant::now();
            let mut reader = BitReader::new(&bytes[..length]);
            let result = coder.decode(film, at, codes, &mut reader, &mut rest, &mut decoded);
            fastest_decode_ns = fastest_decode_ns.min(started.elapsed().as_nanos());
            result.map_err(|error| wrong(format!("frame {at} cannot be read: {error}")))?;
        }
        if decoded != film.frame(at) {
            return Err(wrong(format!("frame {at} is not what was written")));
        }
        bytes[..length].fill(0);
        total_bytes += length;
        encode_ns += fastest_encode_ns;
        decode_ns += fastest_decode_ns;
    }
    let frames = (film.len() - SKIPPED) as f64;
    let per_cube = |total_ns: u128| total_ns as f64 / frames / CUBES as f64;
    Ok(Measured {
        kbit_per_s: total_bytes as f64 / frames * parts::KBIT_PER_S_OF_A_BYTE,
        encode_ns: per_cube(encode_ns),
        decode_ns: per_cube(decode_ns),
    })
}

fn wrong(what: String) -> BenchError {
    BenchError::WrongWorkload { workload: SUITE.name, what }
}

#[cfg(test)]
mod tests;
