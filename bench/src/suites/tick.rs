//! A server's tick: sixteen players, two hundred objects, real sockets. docs/BENCH-TICK.md has the method.

mod crowd;
mod film;
mod game;
mod ours;
mod pace;
mod raw;
mod seen;
mod side_by_side;

use super::{Options, Suite};
use crate::error::BenchError;
use crate::table::{Figure, Report, Row, Target};
use netloom_wire::Micros;
use self::ours::Manner;

/// Registered in `suites`.
pub const SUITE: Suite = Suite {
    name: "tick",
    about: "A server's tick over UDP sockets beside plain sockets, and its parts beside their budgets",
    run,
};

/// Ten seconds.
const TICKS_MIN: u64 = 600;

fn run(options: &Options) -> Result<Report, BenchError> {
    let ticks = u64::from(options.batches).max(TICKS_MIN);
    let mut rows = Vec::new();
    for (w, manner) in [("watch", Manner { rtt: Micros::ZERO, plays: false }), ("play", Manner { rtt: Micros::ZERO, plays: true }), ("rtt", Manner { rtt: Micros::from_millis(100), plays: true })] {
        let mut o = side_by_side::measure(w, manner, ticks)?;
        eprintln!("{w}: ours {:.1} raw {:.1} ratio {:.3} p99 {:?} raw p99 {:?} alloc {} B/client/s {:.0} up {:.0} raw {:.0} dg/period {:.1} {:.1} updates {:.2} {:.2} verdict {:?} {:?}",
            o.ours.us_per_period(), o.raw.us_per_period(), o.ours.us_per_period()/o.raw.us_per_period(), o.ours.p99_us(), o.raw.p99_us(), o.allocations,
            o.per_client_second(o.bytes[0]), o.per_client_second(o.bytes[1]), o.per_client_second(o.bytes[2]),
            o.datagrams[0] as f64*3.0/ticks as f64, o.datagrams[1] as f64*3.0/ticks as f64,
            o.updates_per_second(o.updates[0]), o.updates_per_second(o.updates[1]), o.verdict.ours, o.verdict.raw);
        rows.push(Row { label: "x", unit: "us", decimals: 1, target: Target::None, figures: vec![Figure::new("x", 0.0)] });
    }
    Ok(Report { title: "Netloom tick".into(), columns: vec!["netloom", "raw UDP", "U's budget"], rows, series: Vec::new(), notes: Vec::new() })
}

/// Netloom, or the system, refused a call.
fn refused(what: impl std::fmt::Debug) -> BenchError {
    BenchError::refused("netloom", what)
}
