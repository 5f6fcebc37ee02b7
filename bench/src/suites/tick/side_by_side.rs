//! Netloom's server and one over plain sockets, in turns, at 60 Hz, each with sixteen clients of its own.
//!
//! ```text
//!   this thread     │ ours │ raw │ sleep …         │ raw │ ours │ sleep …      one tick of both every 16.7 ms; the order
//!   their thread    │   32 clients: receive, compare, answer   │ sleep …      changes, so that caches favour nobody
//! ```
//!
//! The time of a server is what this thread uses of the processor in its tick: receiving, stepping, writing, sending, and
//! the kernel's part of it. On loopback that includes carrying each datagram up to the receiver's socket. Netloom's driver
//! here has one thread, so that is all its threads.

use super::crowd::{self, CLIENTS, Servers, Signals, Verdict};
use super::film::{Film, OBJECTS};
use super::ours::{Manner, OurServer, STEPS_PER_SEND};
use super::pace::{HERTZ, Pace, time_of};
use super::raw::RawServer;
use super::refused;
use crate::cpu;
use crate::error::BenchError;
use crate::measure::percentile;
use netloom_count::allocations;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Until everybody is connected and has everything.
const CONNECT_TICKS: u64 = 3 * HERTZ;
const WARM_UP_TICKS: u64 = 4 * HERTZ;
/// After the end of the film, until everybody must hold what is there.
const CALM_TICKS: u64 = 2 * HERTZ;

/// What one server used, tick by tick.
#[derive(Default)]
pub struct Cost {
    cpu_us: Vec<f64>,
    wall_us: Vec<f64>,
}

impl Cost {
    fn with_capacity(ticks: u64) -> Cost {
        Cost { cpu_us: Vec::with_capacity(ticks as usize), wall_us: Vec::with_capacity(ticks as usize) }
    }

    fn time<R>(&mut self, tick: impl FnOnce() -> R) -> R {
        let started = Instant::now();
        let (result, cpu_us) = cpu::microseconds(tick);
        self.wall_us.push(started.elapsed().as_nanos() as f64 / 1e3);
        self.cpu_us.push(cpu_us);
        result
    }

    /// Between two snapshots, on average.
    pub fn us_per_period(&self) -> f64 {
        let ticks = self.cpu_us.len().max(1) as f64;
        self.cpu_us.iter().sum::<f64>() / ticks * STEPS_PER_SEND as f64
    }

    /// The 99th percentile of the ticks: of processor time, and of the time that passed.
    pub fn p99_us(&mut self) -> (f64, f64) {
        let p99 = |samples: &mut [f64]| percentile(samples, 99.0).unwrap_or(f64::NAN);
        (p99(&mut self.cpu_us), p99(&mut self.wall_us))
    }
}

/// What came of it.
pub struct Outcome {
    /// Netloom's server.
    pub ours: Cost,
    /// The one over plain sockets.
    pub raw: Cost,
    /// Processor time of the game's writes in all measured ticks.
    written_us: f64,
    /// And of reading the clock, once in each: of the two readings around the writes, half of each is outside of them.
    read_us: f64,
    /// Heap allocations of Netloom's server in all measured ticks.
    pub allocations: u64,
    /// Bytes of datagrams, without IP and UDP headers: from Netloom's server, to it, from the other.
    pub bytes: [u64; 3],
    /// Datagrams from Netloom's server, and to it.
    pub datagrams: [u64; 2],
    /// States that arrived in the measured time, of Netloom's and the other's.
    pub updates: [u64; 2],
    /// Measured ticks.
    pub ticks: u64,
    /// What clients saw.
    pub verdict: Verdict,
}

impl Outcome {
    /// What Netloom's server used between two snapshots, without what the game's writes into the world took, and timing them.
    pub fn us_per_period(&self) -> f64 {
        let read_us = self.read_us / self.ticks as f64 * STEPS_PER_SEND as f64;
        self.ours.us_per_period() - self.writes_us_per_period() - read_us
    }

    /// What the game's writes took, between two snapshots.
    pub fn writes_us_per_period(&self) -> f64 {
        self.written_us / self.ticks as f64 * STEPS_PER_SEND as f64
    }

    /// So much between two snapshots.
    pub fn per_period(&self, total: u64) -> f64 {
        total as f64 / self.ticks as f64 * STEPS_PER_SEND as f64
    }

    /// So much for each client and second.
    pub fn per_client_second(&self, total: u64) -> f64 {
        total as f64 * HERTZ as f64 / self.ticks as f64 / CLIENTS as f64
    }

    /// States of an object that arrived at a client in a second.
    pub fn updates_per_second(&self, total: u64) -> f64 {
        self.per_client_second(total) / OBJECTS as f64
    }
}

struct Both {
    ours: OurServer,
    raw: RawServer,
    film: Arc<Film>,
    tick: u64,
    pace: Pace,
}

impl Both {
    /// One tick of both servers, and the sleep after it.
    fn tick(&mut self, ours: &mut Cost, raw: &mut Cost, counts: &mut Counts) -> Result<(), BenchError> {
        self.tick += 1;
        let (tick, now) = (self.tick, time_of(self.tick));
        let is_told = tick.is_multiple_of(STEPS_PER_SEND);
        let mut run_raw =
            |server: &mut RawServer| raw.time(|| server.tick(tick, self.film.frame(tick), is_told));
        let is_raw_first = (tick / STEPS_PER_SEND).is_multiple_of(2);
        if is_raw_first {
            run_raw(&mut self.raw);
        }
        let before = allocations();
        ours.time(|| self.ours.tick(now))?;
        counts.allocations += allocations() - before;
        if !is_raw_first {
            run_raw(&mut self.raw);
        }
        counts.read_us += cpu::microseconds(|| ()).1;
        self.pace.wait();
        Ok(())
    }

    /// Ticks whose time nobody asks for.
    fn untimed(&mut self) -> Result<(), BenchError> {
        self.tick(&mut Cost::default(), &mut Cost::default(), &mut Counts::default())
    }
}

/// Measures so many ticks with clients of this manner.
pub fn measure(workload: &'static str, manner: Manner, ticks: u64) -> Result<Outcome, BenchError> {
    let film = Arc::new(Film::new((CONNECT_TICKS + WARM_UP_TICKS + ticks) as usize, OBJECTS));
    let (ours, raw) = (OurServer::bind(film.clone(), OBJECTS)?, RawServer::bind().map_err(refused)?);
    let servers = Servers { ours: ours.address(), raw: raw.address().map_err(refused)? };
    let signals = Arc::new(Signals::default());
    let clients = crowd::spawn(servers, manner, film.clone(), signals.clone());
    let mut both = Both { ours, raw, film, tick: 0, pace: Pace::start() };
    let measured = run(workload, &mut both, &signals, ticks);
    signals.is_over.store(true, Ordering::Release);
    let verdict = clients.join().map_err(|_| refused("the thread of the clients panicked"))?;
    // What went wrong at the clients explains what went wrong here.
    let verdict = verdict?;
    let (cost, counts) = measured?;
    let [ours, raw] = cost;
    let Counts { allocations, written_us, read_us, bytes, datagrams, updates } = counts;
    Ok(Outcome { ours, raw, written_us, read_us, allocations, bytes, datagrams, updates, ticks, verdict })
}

#[derive(Default)]
struct Counts {
    allocations: u64,
    written_us: f64,
    read_us: f64,
    bytes: [u64; 3],
    datagrams: [u64; 2],
    updates: [u64; 2],
}

fn run(
    workload: &'static str,
    both: &mut Both,
    signals: &Signals,
    ticks: u64,
) -> Result<([Cost; 2], Counts), BenchError> {
    let failed = |what: &str| Err(BenchError::WrongWorkload { workload, what: what.into() });
    while signals.complete.load(Ordering::Relaxed) < CLIENTS as u64 || both.raw.client_count() < CLIENTS {
        if both.tick == CONNECT_TICKS || signals.has_ended.load(Ordering::Acquire) {
            return failed("not every client was connected and had everything in time");
        }
        both.untimed()?;
    }
    for _ in 0..WARM_UP_TICKS {
        both.untimed()?;
    }
    while !both.tick.is_multiple_of(STEPS_PER_SEND) {
        both.untimed()?;
    }
    let (mut ours, mut raw) = (Cost::with_capacity(ticks), Cost::with_capacity(ticks));
    let mut counts = Counts::default();
    let before = totals(both, signals);
    for _ in 0..ticks {
        both.tick(&mut ours, &mut raw, &mut counts)?;
    }
    let after = totals(both, signals);
    counts.written_us = after.written_us - before.written_us;
    counts.bytes = std::array::from_fn(|at| after.bytes[at] - before.bytes[at]);
    counts.datagrams = std::array::from_fn(|at| after.datagrams[at] - before.datagrams[at]);
    counts.updates = std::array::from_fn(|at| after.updates[at] - before.updates[at]);
    while both.tick < both.film.end() + CALM_TICKS {
        if signals.has_ended.load(Ordering::Acquire) {
            return failed("the clients ended early");
        }
        both.untimed()?;
    }
    match both.ours.steps() == both.tick {
        true => Ok(([ours, raw], counts)),
        false => failed("a tick was not a step"),
    }
}

fn totals(both: &Both, signals: &Signals) -> Counts {
    let counters = both.ours.counters();
    Counts {
        written_us: both.ours.written_us(),
        bytes: [counters.sent_bytes, counters.received_bytes, both.raw.sent_bytes],
        datagrams: [counters.sent_datagrams, counters.received_datagrams],
        updates: [0, 1].map(|at: usize| signals.updates[at].load(Ordering::Relaxed)),
        ..Counts::default()
    }
}
