//! What time it is on the server, as far as its snapshots tell.
//!
//! The two clocks started at different times, run at different speeds, and everything that is known of the other one
//! arrives late by an unknown and changing amount. But nothing arrives early. The snapshots that were least delayed
//! therefore lie on a line, and every other one lies below it:
//!
//! ```text
//!   server time − now
//!     ▲
//!     │  ●──────────●───────────────●──────────●──   the least delayed: where server times arrive
//!     │     ·    ·      ·    ·   ·      ·  ·         │ lateness of the others: jitter
//!     │        ·           ·                 ·       ▼
//!     └───────────────────────────────────────────▶ now        slope: how much faster the other clock runs
//! ```
//!
//! **Offset.** The best sample of every two seconds is kept. The line goes through the second best of the last four, so
//! that no single sample can move it, and a route that became slower is followed after eight seconds.
//!
//! **Drift.** The slope is the median over pairs of such samples that lie about half a minute apart. A pair that is
//! steeper than any real clock is a change of route and does not count.
//!
//! **Reading.** What is read runs at 1 ± 2 % towards the line, and never backwards. Only a real break moves it at once,
//! and that is reported: five snapshots over at least 200 ms that agree with each other and lie more than half a second
//! off, as after a suspended client or a restarted server.

mod buckets;
mod lateness;

use netloom_wire::Micros;

use buckets::Buckets;
use lateness::Lateness;

/// How much faster or slower than the line the reading may run.
const SLEW_MAX: f64 = 0.02;
/// The reading reaches the line in about this time, if the limit of its speed allows.
const SETTLE_US: f64 = 500_000.0;
/// Beyond this, samples that agree are a break and not weather.
const BREAK_US: i64 = 500_000;
/// Samples of a break agree to this.
const AGREEMENT_US: i64 = 150_000;
const BREAK_SAMPLES: u32 = 5;
const BREAK_SPAN: Micros = Micros(200_000);
/// Who looks this seldom delays what arrived in between, and not the network.
const PAUSE: Micros = Micros(100_000);
/// After a pause, reading what has piled up takes no longer.
const CATCHING_UP: Micros = Micros(10_000);
/// Nine thousand years: sums and differences of a few times cannot overflow.
const READING_US_MAX: i64 = i64::MAX / 32;
const RTT_MAX: Micros = Micros(10_000_000);

/// The reading was moved at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resync {
    /// By how much, in microseconds; negative if it went back.
    pub jump_us: i64,
}

/// The server's time as it arrives. See the [module](self).
///
/// ```
/// use netloom_replica::client::ServerClock;
/// use netloom_wire::Micros;
///
/// let mut clock = ServerClock::new();
/// for tick in 0..40 {
///     let server_time = Micros::from_millis(9_000 + 50 * tick);
///     let now = Micros::from_millis(50 * tick + if tick % 3 == 0 { 20 } else { 45 });
///     clock.handle_snapshot(now, server_time);
/// }
/// // The least delayed snapshot took 20 ms from where the clocks agree.
/// let reading = clock.advance(Micros::from_millis(2_020)).unwrap();
/// assert!(reading.0.abs_diff(11_000_000) < 5_000);
/// assert_eq!(clock.send_interval(), Micros::from_millis(50));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ServerClock {
    buckets: Buckets,
    lateness: Lateness,
    candidate: Option<Candidate>,
    reading: Option<Reading>,
    /// When the clock was last asked or told something.
    seen: Micros,
    /// When somebody looked again after not having looked for so long.
    pause: (Micros, Micros),
    rtt_us: Option<f64>,
    /// Since when the reading is a break off the line.
    off_since: Option<Micros>,
    resync: Option<Resync>,
    resyncs: u32,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    us: i64,
    fraction: f64,
}

/// Samples far from the line that agree with each other.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    lowest: i64,
    highest: i64,
    since: Micros,
    count: u32,
}

impl ServerClock {
    /// A clock that knows nothing yet.
    pub fn new() -> ServerClock {
        ServerClock::default()
    }

    /// A snapshot of `server_time` arrived: late, twice, out of order, as it pleases.
    pub fn handle_snapshot(&mut self, now: Micros, server_time: Micros) {
        self.advance(now);
        let offset = signed(server_time) - signed(now);
        let waited = if now.since(self.pause.0) <= CATCHING_UP { self.pause.1 } else { Micros::ZERO };
        match self.buckets.offset_at(now) {
            Some(line) if (offset - line).abs() > BREAK_US => self.suspect(now, offset, waited),
            _ => self.candidate = None,
        }
        if self.candidate.is_some() {
            return;
        }
        self.buckets.insert(now, offset);
        let line = self.buckets.offset_at(now).unwrap_or(offset);
        self.lateness.insert(server_time, offset, waited, line);
        let target_us = signed(now) + line;
        let Some(reading) = self.reading else {
            self.reading = Some(Reading { us: target_us, fraction: 0.0 });
            return;
        };
        // After two breaks in a row the line has moved on by itself, and nothing lies far from it.
        if (target_us - reading.us).abs() <= BREAK_US {
            self.off_since = None;
        } else if waited == Micros::ZERO && now.since(*self.off_since.get_or_insert(now)) >= BREAK_SPAN {
            self.jump_to(target_us);
        }
    }

    /// The round trip was measured.
    pub fn handle_rtt(&mut self, rtt: Micros) {
        let rtt_us = rtt.min(RTT_MAX).0 as f64;
        self.rtt_us = Some(self.rtt_us.map_or(rtt_us, |smooth| smooth + (rtt_us - smooth) / 8.0));
    }

    /// Moves the reading on to `now`; `None` before the first snapshot. A `now` that stands still or goes back
    /// leaves it where it is.
    pub fn advance(&mut self, now: Micros) -> Option<Micros> {
        let passed = now.since(self.seen);
        if passed > PAUSE {
            self.pause = (now, passed);
        }
        self.seen = now;
        let line = self.buckets.offset_at(now)?;
        let reading = self.reading.as_mut()?;
        let passed_us = passed.0 as f64;
        let error_us = (signed(now) + line - reading.us) as f64 - passed_us;
        let limit_us = SLEW_MAX * passed_us;
        let towards_us = (error_us * (passed_us / SETTLE_US).min(1.0)).clamp(-limit_us, limit_us);
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::ReadingJumps) {
            reading.us = signed(now) + line;
            return self.reading();
        }
        let step = reading.fraction + passed_us * (1.0 + self.buckets.drift()) + towards_us;
        let whole = step.floor().max(0.0);
        reading.us = reading.us.saturating_add(whole as i64).min(READING_US_MAX);
        reading.fraction = (step - whole).clamp(0.0, 1.0);
        self.reading()
    }

    /// The server's time as it arrives, when [`advance`](ServerClock::advance) was last called: the time that a
    /// snapshot without avoidable delay would carry if it arrived now.
    pub fn reading(&self) -> Option<Micros> {
        self.reading.map(|reading| unsigned(reading.us))
    }

    /// How late snapshots come: 95 % of the recent ones came no later than this after the least delayed.
    pub fn jitter(&self) -> Micros {
        self.lateness.high()
    }

    /// How late the middle one of the recent snapshots came.
    pub fn typical_lateness(&self) -> Micros {
        self.lateness.middle()
    }

    /// The time between two snapshots as the server makes them; zero until there are two.
    pub fn send_interval(&self) -> Micros {
        self.lateness.interval()
    }

    /// The delay with which 98 % of the recent snapshots would have come before the view reached the end of what was
    /// there: interval, jitter and loss together.
    pub fn needed_delay(&self) -> Micros {
        self.lateness.needed()
    }

    /// The round trip as it was told, smoothed.
    pub fn rtt(&self) -> Option<Micros> {
        self.rtt_us.map(|us| Micros(us as u64))
    }

    /// How much faster the server's clock runs, in parts per million.
    pub fn drift_ppm(&self) -> f64 {
        self.buckets.drift() * 1e6
    }

    /// Whether the reading was moved at once since the last call.
    pub fn poll_resync(&mut self) -> Option<Resync> {
        self.resync.take()
    }

    /// How often the reading was moved at once.
    pub fn resyncs(&self) -> u32 {
        self.resyncs
    }

    /// A sample far from the line: one alone is ignored.
    fn suspect(&mut self, now: Micros, offset: i64, waited: Micros) {
        let mut candidate = Candidate { lowest: offset, highest: offset, since: now, count: 1 };
        if let Some(known) = self.candidate {
            let (lowest, highest) = (known.lowest.min(offset), known.highest.max(offset));
            // What waited for its reader may lie below the line by as much; who looks seldom has nothing else to go by.
            if highest - lowest <= AGREEMENT_US + signed(waited) {
                candidate = Candidate { lowest, highest, since: known.since, count: known.count + 1 };
            }
        }
        self.candidate = Some(candidate);
        if candidate.count < BREAK_SAMPLES || now.since(candidate.since) < BREAK_SPAN {
            return;
        }
        self.candidate = None;
        self.buckets.restart();
        self.lateness.restart();
        self.buckets.insert(now, candidate.highest);
        let target_us = signed(now) + candidate.highest;
        // A clock of ours that went back moves the line, and the reading has been right all the time.
        if self.reading.is_some_and(|reading| (target_us - reading.us).abs() > BREAK_US) {
            self.jump_to(target_us);
        }
    }

    fn jump_to(&mut self, target_us: i64) {
        let before_us = self.reading.map_or(target_us, |reading| reading.us);
        // One that nobody has asked about yet is part of this one.
        let earlier_us = self.resync.map_or(0, |resync| resync.jump_us);
        self.reading = Some(Reading { us: target_us, fraction: 0.0 });
        self.off_since = None;
        self.resync = Some(Resync { jump_us: earlier_us + target_us - before_us });
        self.resyncs = self.resyncs.saturating_add(1);
    }
}

/// As a signed number, small enough to compute with.
pub(super) fn signed(time: Micros) -> i64 {
    time.0.min(READING_US_MAX as u64) as i64
}

/// And back; what lies before the server began is its beginning.
pub(super) fn unsigned(time_us: i64) -> Micros {
    Micros(time_us.max(0) as u64)
}

#[cfg(test)]
mod tests;
