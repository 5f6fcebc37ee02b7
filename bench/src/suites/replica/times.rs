//! What a tick took, in parts.

use crate::measure::percentile;
use std::time::Instant;

/// A part of the work of one tick.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// Telling the server where its peers look from.
    Viewers,
    /// Taking in what became of earlier snapshots.
    Acks,
    /// Committing what the game wrote, and bringing interest up to date.
    Begin,
    /// Choosing what goes out, for all peers.
    Select,
    /// Encoding what nobody has encoded yet, and writing all snapshots.
    Append,
}

const PHASES: usize = Phase::Append as usize + 1;

/// The times of one tick.
#[derive(Clone, Debug)]
pub struct Laps {
    us: [f64; PHASES],
    lap: Instant,
}

impl Laps {
    /// The first part begins.
    pub fn start() -> Laps {
        Laps { us: [0.0; PHASES], lap: Instant::now() }
    }

    /// A part ends, and the next one begins.
    pub fn end(&mut self, phase: Phase) {
        let now = Instant::now();
        self.us[phase as usize] = (now - self.lap).as_nanos() as f64 / 1e3;
        self.lap = now;
    }
}

/// The times of many ticks.
#[derive(Clone, Debug)]
pub struct Samples {
    ticks: Vec<[f64; PHASES]>,
}

/// Where the times of many ticks lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The 5th percentile: what the code takes when nothing disturbs it. The figure that is judged.
    pub fast_us: f64,
    /// Half of the ticks took no longer.
    pub median_us: f64,
}

impl Samples {
    /// None yet.
    pub fn with_capacity(ticks: usize) -> Samples {
        Samples { ticks: Vec::with_capacity(ticks) }
    }

    /// One more tick.
    pub fn push(&mut self, laps: Laps) {
        self.ticks.push(laps.us);
    }

    /// Some parts of each tick together.
    pub fn spread(&self, phases: &[Phase]) -> Spread {
        let together = |us: &[f64; PHASES]| phases.iter().map(|phase| us[*phase as usize]).sum();
        let mut sums: Vec<f64> = self.ticks.iter().map(together).collect();
        let mut at = |percent| percentile(&mut sums, percent).unwrap_or(f64::NAN);
        Spread { fast_us: at(5.0), median_us: at(50.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_added_tick_by_tick_before_the_percentile_is_taken() {
        let mut samples = Samples::with_capacity(100);
        for tick in 1..=100 {
            let mut us = [0.0; PHASES];
            us[Phase::Acks as usize] = f64::from(tick);
            us[Phase::Append as usize] = f64::from(100 - tick);
            samples.push(Laps { us, lap: Instant::now() });
        }
        let acks = samples.spread(&[Phase::Acks]);
        assert_eq!(acks, Spread { fast_us: 5.0, median_us: 50.0 });
        let both = samples.spread(&[Phase::Acks, Phase::Append]);
        assert_eq!(both, Spread { fast_us: 100.0, median_us: 100.0 });
        assert!(Samples::with_capacity(0).spread(&[Phase::Acks]).fast_us.is_nan());
    }

    #[test]
    fn each_part_gets_the_time_since_the_one_before() {
        let mut laps = Laps::start();
        laps.end(Phase::Acks);
        let (start, acks) = (laps.lap, laps.us[Phase::Acks as usize]);
        laps.end(Phase::Begin);
        let begin = laps.us[Phase::Begin as usize];
        assert_eq!(begin, (laps.lap - start).as_nanos() as f64 / 1e3);
        assert_eq!(laps.us[Phase::Acks as usize], acks, "a part that ended keeps its time");
    }
}
