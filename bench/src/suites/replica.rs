//! Replication: what a send tick costs, what an update weighs, and how both grow. docs/BENCH-REPLICA.md has the method.

mod bytes;
mod crowd;
mod scale;
mod sheaf;
pub(super) mod stage;
mod steady;
mod tally;
pub(super) mod ticks;
pub(super) mod times;
mod witness;
mod workers;

use self::times::Spread;
use super::{Options, Suite};
use crate::error::BenchError;
use crate::table::{Figure, Report, Row, Target};

/// Registered in `suites`.
pub const SUITE: Suite = Suite {
    name: "replica",
    about: "Replication: CPU per send tick, bytes per update, scaling, allocations",
    files: None,
    run,
};

const NOTES: [&str; 22] = [
    "Times: the 5th percentile of the ticks, which is judged; that of means of four ticks, after which the ages of baselines",
    "  repeat; and the median of the ticks. One core, no sockets. The game's writes and the clients' decoding are not in",
    "  them. A row of a part is the percentile of that part; parts need not add up.",
    "World: walkers of which every coordinate and the rotation change at 60 Hz, sent at 20 Hz; position and rotation",
    "  STANDARD (1 cm, 10 bits a component). The quantization error stands below the bytes; it holds for all byte rows.",
    "  Exact: the same walkers not quantized (NONE), every bit of seven f32 arrives; as raw structures they take 28 bytes.",
    "Acks: 200 x 16, 100 x 100 and static: peer i's come 1 + i mod 4 ticks after the snapshot. Crowd, sharing and scaling:",
    "  round trips of 20 to 250 ms, mixed, rounded up to ticks of 50 ms.",
    "Static: digests of 64 slots at rest go out in turn, as servers do by default; the row below is without them.",
    "One more peer: 32 peers less 16, a sixteenth of it, two servers in turns.",
    "Crowd: 1,000 peers, each looks from a walker of its own; 300 bytes a tick each. Acks and the moving of viewers are not",
    "  in its first row.",
    "Sharing: the crowd with 100 bytes a tick and 5 % loss. Codes made per changed object and tick, and bytes per update",
    "  compared with the same run where every peer builds on the newest baseline that it has (baseline_ticks = 1). The two",
    "  runs do not send the same updates: see how many each sent, and how many of its 100 bytes it used.",
    "Bytes per update: whole snapshots without entries and leaves, divided by updates. Baseline age 2: acks come after two",
    "  ticks and every tick is a baseline. Snapped: only every fourth is, as servers do by default.",
    "Scaling: as many walkers per square metre everywhere. Per visible: the tick divided by the objects that all peers see",
    "  together; without begin: the same less begin_tick, which looks at every object that moved, seen or not.",
    "Two threads: time that passes in select, encode and append, one thread and two in turns of eight ticks; each peer sees about",
    "  100 of 1,024 walkers. 1.7 times as fast is asked.",
    "Every run ends with clients that decode all they were sent and hold exactly what the server has, or there is no figure.",
];

fn run(options: &Options) -> Result<Report, BenchError> {
    let mut rows = ticks::rows(options)?;
    rows.extend(crowd::rows(options)?);
    rows.extend(bytes::rows(options)?);
    rows.push(steady::row(options)?);
    rows.extend(workers::rows(options)?);
    Ok(Report {
        title: "Netloom replication".into(),
        columns: vec!["netloom", "cycle", "median"],
        rows,
        series: scale::series(options)?,
        notes: NOTES.map(String::from).to_vec(),
    })
}

fn progress(what: &str) {
    super::progress(SUITE.name, what);
}

fn ticks(options: &Options) -> usize {
    options.batches as usize
}

/// The keys of a time: the judged one, the mean of a cycle, and the median.
macro_rules! time_keys {
    ($name:expr) => {
        [concat!($name, "_us"), concat!($name, "_cycle_us"), concat!($name, "_median_us")]
    };
}
use time_keys;

/// A row for each part of a tick, with keys that begin with the name of the whole.
macro_rules! part_rows {
    ($name:literal, $samples:expr) => {
        [
            ("  acks", time_keys!(concat!($name, "_acks")), Phase::Acks),
            ("  begin_tick: commit, interest", time_keys!(concat!($name, "_begin")), Phase::Begin),
            ("  select", time_keys!(concat!($name, "_select")), Phase::Select),
            ("  encode", time_keys!(concat!($name, "_encode")), Phase::Encode),
            ("  append", time_keys!(concat!($name, "_append")), Phase::Append),
        ]
        .map(|(label, keys, phase)| time_row(label, Target::None, keys, $samples.spread(&[phase])))
    };
}
use part_rows;

/// A time in microseconds.
fn time_row(label: &'static str, target: Target, keys: [&'static str; 3], spread: Spread) -> Row {
    let values = [spread.fast_us, spread.cycle_us, spread.median_us];
    let figures = keys.into_iter().zip(values).map(|(key, value)| Figure::new(key, value)).collect();
    Row { label, unit: "us", decimals: 2, target, figures }
}

/// Anything that is not a time.
fn count_row(label: &'static str, unit: &'static str, target: Target, key: &'static str, value: f64) -> Row {
    let decimals = if unit == "allocations" { 0 } else { 2 };
    Row { label, unit, decimals, target, figures: vec![Figure::new(key, value)] }
}
