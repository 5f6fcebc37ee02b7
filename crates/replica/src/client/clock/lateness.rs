//! How late snapshots come, how often, and how long a view must wait for them.
//!
//! Three questions, one window of recent snapshots. *Jitter* is lateness against the line of the least delayed. The
//! *interval* is the time between two server times; losses double some of them, so a low percentile is taken. The
//! *needed delay* of a snapshot is how far behind the line a view must be to reach the end of the previous snapshot only
//! when this one is there:
//!
//! ```text
//!   server times     40        45 (lost)     50
//!   arrive at line   40·                        ·55       needed: 55 − 40 = lateness 5 + gap 10
//! ```

use netloom_wire::Micros;

use super::signed;

const WINDOW: usize = 128;
const INTERVAL_WINDOW: usize = 32;
/// A gap this long is rest: no game sends so seldom while something moves.
const GAP_US_MAX: i64 = 1_000_000;
/// A longer gap than so many intervals is rest or an outage, and waiting helps against neither.
const GAP_INTERVALS_MAX: i64 = 3;
/// Server times that tell a snapshot from its copy, or from another part of it.
const COPIES_WINDOW: usize = 32;

#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    server_us: i64,
    offset: i64,
    /// How long it lay around here before anybody looked.
    waited_us: i64,
    /// Since the newest before; zero if it was older than that.
    gap_us: i64,
}

#[derive(Clone, Debug)]
pub(super) struct Lateness {
    ring: [Sample; WINDOW],
    count: usize,
    newest: usize,
    newest_server_us: i64,
    high_us: i64,
    middle_us: i64,
    interval_us: i64,
    needed_us: i64,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness {
            ring: [Sample::default(); WINDOW],
            count: 0,
            newest: 0,
            newest_server_us: 0,
            high_us: 0,
            middle_us: 0,
            interval_us: 0,
            needed_us: 0,
        }
    }
}

impl Lateness {
    pub fn insert(&mut self, server_time: Micros, offset: i64, waited: Micros, line: i64) {
        let server_us = signed(server_time);
        let mut recent = (0..self.count.min(COPIES_WINDOW)).map(|back| self.before_newest(back));
        if recent.any(|sample| sample.server_us == server_us) {
            return;
        }
        let gap_us = if self.count == 0 { 0 } else { server_us - self.newest_server_us };
        let gap_us = if (0..=GAP_US_MAX).contains(&gap_us) { gap_us } else { 0 };
        self.newest_server_us =
            if self.count == 0 { server_us } else { server_us.max(self.newest_server_us) };
        self.newest = if self.count == 0 { 0 } else { (self.newest + 1) % WINDOW };
        self.count = (self.count + 1).min(WINDOW);
        self.ring[self.newest] = Sample { server_us, offset, waited_us: signed(waited), gap_us };
        self.measure(line);
    }

    pub fn restart(&mut self) {
        *self = Lateness { interval_us: self.interval_us, ..Lateness::default() };
    }

    pub fn high(&self) -> Micros {
        Micros(self.high_us as u64)
    }

    pub fn middle(&self) -> Micros {
        Micros(self.middle_us as u64)
    }

    pub fn interval(&self) -> Micros {
        Micros(self.interval_us as u64)
    }

    pub fn needed(&self) -> Micros {
        Micros(self.needed_us as u64)
    }

    fn measure(&mut self, line: i64) {
        let mut figures = [0; WINDOW];
        let mut found = 0;
        for sample in (0..self.count.min(INTERVAL_WINDOW)).map(|back| self.before_newest(back)) {
            if sample.gap_us > 0 {
                figures[found] = sample.gap_us;
                found += 1;
            }
        }
        self.interval_us = percentile(&mut figures[..found], 25).unwrap_or(self.interval_us);

        let late_us = |sample: &Sample| (line - sample.offset - sample.waited_us).max(0);
        for (figure, sample) in figures.iter_mut().zip(&self.ring[..self.count]) {
            *figure = late_us(sample);
        }
        self.high_us = percentile(&mut figures[..self.count], 95).unwrap_or(0);
        self.middle_us = percentile(&mut figures[..self.count], 50).unwrap_or(0);

        let mut found = 0;
        for sample in self.ring[..self.count].iter().filter(|sample| sample.gap_us > 0) {
            let longest = GAP_INTERVALS_MAX * self.interval_us;
            let gap_us = if sample.gap_us > longest { self.interval_us } else { sample.gap_us };
            figures[found] = late_us(sample) + gap_us;
            found += 1;
        }
        self.needed_us = percentile(&mut figures[..found], 98).unwrap_or(0);
    }

    fn before_newest(&self, back: usize) -> &Sample {
        &self.ring[(self.newest + WINDOW - back) % WINDOW]
    }
}

/// By nearest rank; `None` of nothing.
fn percentile(figures: &mut [i64], percent: usize) -> Option<i64> {
    let rank = (figures.len() * percent).div_ceil(100).max(1) - 1;
    if figures.is_empty() {
        return None;
    }
    Some(*figures.select_nth_unstable(rank).1)
}
