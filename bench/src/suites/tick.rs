//! A server's tick: sixteen players, two hundred objects, real sockets. docs/BENCH-TICK.md has the method.

mod components;
mod crowd;
mod film;
mod floor;
mod game;
mod lockstep;
mod ours;
mod pace;
mod raw;
mod seen;
mod side_by_side;
mod small;

use self::ours::Manner;
use self::side_by_side::Outcome;
use super::{Options, Suite};
use crate::error::BenchError;
use crate::table::{Cell, Figure, Report, Row, Series, Target};
use netloom_wire::Micros;

/// Registered in `suites`.
pub const SUITE: Suite = Suite {
    name: "tick",
    about: "A server's tick over UDP sockets beside plain sockets, and its parts beside U's budgets",
    files: None,
    run,
};

/// Ten seconds.
const TICKS_MIN: u64 = 600;
const SENDS_PER_SECOND: f64 = 20.0;
/// Five seconds.
const FLOOR_PERIODS: usize = 100;

/// How clients of the lines of the series are; the first is judged.
const MANNERS: [(&str, Manner); 4] = [
    ("watch", Manner::PLAIN),
    ("play", Manner { plays: true, ..Manner::PLAIN }),
    ("sealed", Manner { plays: true, is_sealed: true, ..Manner::PLAIN }),
    ("rtt100", Manner { plays: true, is_sealed: true, rtt: Micros::from_millis(100) }),
];

const NOTES: [&str; 19] = [
    "World: 200 walkers of which every coordinate and the rotation change at 60 Hz; 20 snapshots a second to 16 clients. Over",
    "  plain sockets 30 bytes a walker, 39 in a datagram, one system call each. Netloom: position and rotation STANDARD.",
    "CPU: processor time of the server's thread, the only one that it has, system calls included, between two snapshots (three",
    "  ticks). Both servers run in the same thread, tick by tick in turns, and have 16 clients each in another thread. On",
    "  loopback, sending includes carrying a datagram up to its receiver's socket. As in the comparison programs, moving the",
    "  walkers is not in it, and writing them into the library's world is a row of its own, and timing that is in neither.",
    "System calls alone: one datagram as long to each of 16 clients in one call, four short ones received, three looks at the socket,",
    "  at the same pace and with nothing else to do.",
    "Judged: clients as those of plain sockets are, silent but for what the connection needs (acknowledgements), and not",
    "  encrypted. The series has others: players who act in every step, encrypted, and at a round trip of 100 ms.",
    "Missing: walkers that a client did not hold in the end. Wrong: states more than 0.51 cm or 0.25 degrees off what the server",
    "  had at their tick, of all that arrived, and in the end. STANDARD rounds by up to 0.5 cm and 0.23 degrees.",
    "p99: of processor time of a whole tick, the game's writes included; wall: of the time that passed, where neighbours count.",
    "Allocations: of the server in all measured ticks.",
    "Whole ticks and the first parts below: server and clients in one thread, real sockets; an event is a reliable message in",
    "  a datagram of its own that reaches the game. 99th percentiles of whole ticks, medians of parts.",
    "Small parts: 5th percentile of batches, in memory. Replication: medians, in memory. The budgets of selection and",
    "  serialization are for one peer and for one object: ours are for all peers at once, 16 times 2 us, and 0.8 us per object.",
    "Not built yet and so not here: bricks. Calls of scripts are read and handed over; no interpreter runs.",
];

fn run(options: &Options) -> Result<Report, BenchError> {
    let ticks = u64::from(options.batches).max(TICKS_MIN);
    let mut outcomes = Vec::new();
    for (name, manner) in MANNERS {
        progress(name);
        outcomes.push((name, manner, side_by_side::measure(name, manner, ticks)?));
    }
    let mut rows = Vec::new();
    if let Some((_, _, judged)) = outcomes.first_mut() {
        let datagram_bytes = judged.per_client_second(judged.bytes[0]) / SENDS_PER_SECOND;
        progress("the system calls alone");
        let floor_us = floor::us_per_period(datagram_bytes as usize, FLOOR_PERIODS)?;
        rows.extend(judged_rows(judged, floor_us));
    }
    rows.extend(check_rows(&outcomes));
    let series = series(&mut outcomes);
    rows.extend(components::rows(options)?);
    Ok(Report {
        title: "Netloom tick: 16 peers x 200 objects, 60 Hz ticks, 20 Hz snapshots, UDP over loopback".into(),
        columns: vec!["netloom", "raw UDP", "U's budget"],
        rows,
        series: vec![series],
        notes: NOTES.map(String::from).to_vec(),
    })
}

fn judged_rows(outcome: &mut Outcome, floor_us: f64) -> Vec<Row> {
    let (ours_us, raw_us) = (outcome.us_per_period(), outcome.raw.us_per_period());
    let ((p99_us, wall_us), (raw_p99_us, raw_wall_us)) = (outcome.ours.p99_us(), outcome.raw.p99_us());
    let row = |label, unit, decimals, target, figures| Row { label, unit, decimals, target, figures };
    let both =
        |ours, ours_value, raw, raw_value| vec![Figure::new(ours, ours_value), Figure::new(raw, raw_value)];
    let one = |key, value| vec![Figure::new(key, value)];
    let per_second = |total| outcome.per_client_second(total);
    vec![
        row(
            "CPU of all threads per 50 ms",
            "us",
            1,
            Target::AtMost((0.6 * raw_us * 10.0).round() / 10.0),
            both("all_threads_us_per_period", ours_us, "raw_us_per_period", raw_us),
        ),
        row(
            "  of that of plain sockets",
            "ratio",
            3,
            Target::AtMost(0.6),
            one("ratio_to_raw", ours_us / raw_us),
        ),
        row("  its system calls alone", "us", 1, Target::None, one("floor_us_per_period", floor_us)),
        row(
            "  and the game's writes into the world",
            "us",
            1,
            Target::None,
            one("writes_us_per_period", outcome.writes_us_per_period()),
        ),
        row(
            "tick, p99",
            "us",
            1,
            Target::AtMost(455.0),
            both("tick_p99_us", p99_us, "raw_tick_p99_us", raw_p99_us),
        ),
        row(
            "  wall, p99",
            "us",
            1,
            Target::None,
            both("tick_wall_p99_us", wall_us, "raw_wall_p99_us", raw_wall_us),
        ),
        row(
            "bytes per client and s",
            "bytes",
            0,
            Target::None,
            both(
                "bytes_per_client_per_s",
                per_second(outcome.bytes[0]),
                "raw_bytes_per_client_per_s",
                per_second(outcome.bytes[2]),
            ),
        ),
    ]
}

/// What clients saw and the server allocated, over all runs: at every round trip the same is asked.
fn check_rows(outcomes: &[(&str, Manner, Outcome)]) -> Vec<Row> {
    let sum =
        |what: fn(&Outcome) -> u64| outcomes.iter().map(|(_, _, outcome)| what(outcome)).sum::<u64>() as f64;
    let both = |ours_key, ours: fn(&Outcome) -> u64, raw_key, raw: fn(&Outcome) -> u64| {
        vec![Figure::new(ours_key, sum(ours)), Figure::new(raw_key, sum(raw))]
    };
    let none =
        |label, figures| Row { label, unit: "count", decimals: 0, target: Target::AtMost(0.0), figures };
    vec![
        none(
            "missing, all runs",
            both("missing", |o| o.verdict.ours.missing, "raw_missing", |o| o.verdict.raw.missing),
        ),
        none(
            "wrong, all runs",
            both("wrong", |o| o.verdict.ours.wrong, "raw_wrong", |o| o.verdict.raw.wrong),
        ),
        none(
            "allocations in steady ticks, all runs",
            vec![Figure::new("steady_allocations", sum(|o| o.allocations))],
        ),
    ]
}

fn series(outcomes: &mut [(&str, Manner, Outcome)]) -> Series {
    let columns = vec![
        ("rtt ms", 0),
        ("play", 0),
        ("sealed", 0),
        ("CPU us", 1),
        ("writes us", 1),
        ("raw us", 1),
        ("ratio", 3),
        ("p99 us", 1),
        ("bytes/s", 0),
        ("up bytes/s", 0),
        ("down", 1),
        ("up", 1),
        ("updates/s", 2),
        ("off cm", 2),
        ("off deg", 2),
    ];
    let line = |(name, manner, outcome): &mut (&str, Manner, Outcome)| {
        let (ours_us, raw_us) = (outcome.us_per_period(), outcome.raw.us_per_period());
        let seen = outcome.verdict.ours;
        let place = [manner.rtt.0 as f64 / 1e3, f64::from(manner.plays), f64::from(manner.is_sealed)];
        let values = [
            ("us_per_period", ours_us),
            ("writes_us_per_period", outcome.writes_us_per_period()),
            ("raw_us_per_period", raw_us),
            ("ratio_to_raw", ours_us / raw_us),
            ("tick_p99_us", outcome.ours.p99_us().0),
            ("bytes_per_client_per_s", outcome.per_client_second(outcome.bytes[0])),
            ("up_bytes_per_client_per_s", outcome.per_client_second(outcome.bytes[1])),
            ("datagrams_per_period", outcome.per_period(outcome.datagrams[0])),
            ("up_datagrams_per_period", outcome.per_period(outcome.datagrams[1])),
            ("updates_per_s", outcome.updates_per_second(outcome.updates[0])),
            ("position_error_cm", f64::from(seen.position_error_metres) * 100.0),
            ("rotation_error_degrees", seen.rotation_error_degrees.into()),
        ];
        let place = place.map(|value| Cell { key: None, value });
        let cells = values.map(|(key, value)| Cell { key: Some(format!("{name}_{key}")), value });
        place.into_iter().chain(cells).collect()
    };
    let title = "Other clients: all that is different from the judged run is in the first columns".into();
    Series { title, names: None, columns, lines: outcomes.iter_mut().map(line).collect() }
}

fn progress(what: &str) {
    super::progress(SUITE.name, what);
}

/// Netloom, or the system, refused a call.
fn refused(what: impl std::fmt::Debug) -> BenchError {
    BenchError::refused("netloom", what)
}
