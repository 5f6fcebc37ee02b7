//! What a tick took, in parts.
//!
//! Ticks are not alike. Only every fourth becomes a baseline, so the ages of baselines, and the number of different codes
//! that they ask for, go up and down with a period of four. The 5th percentile of the ticks lies among the cheapest of
//! the four; that of means over whole periods is what a tick costs in the long run on an undisturbed machine.

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
    /// Making the codes that were chosen, each once.
    Encode,
    /// Writing the snapshots of all peers.
    Append,
}

const PHASES: usize = Phase::Append as usize + 1;

/// Ticks until the ages of baselines repeat, with the server's default of baselines.
const CYCLE_TICKS: usize = 4;

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
    /// The 5th percentile of the means of four ticks in a row.
    pub cycle_us: f64,
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
        let mean = |cycle: &[f64]| cycle.iter().sum::<f64>() / cycle.len() as f64;
        let mut cycles: Vec<f64> = sums.chunks_exact(CYCLE_TICKS).map(mean).collect();
        let at = |samples: &mut [f64], percent| percentile(samples, percent).unwrap_or(f64::NAN);
        Spread { fast_us: at(&mut sums, 5.0), cycle_us: at(&mut cycles, 5.0), median_us: at(&mut sums, 50.0) }
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
        // Ticks 5 to 8 are the second of 25 cycles.
        assert_eq!(acks, Spread { fast_us: 5.0, cycle_us: 6.5, median_us: 50.0 });
        let both = samples.spread(&[Phase::Acks, Phase::Append]);
        assert_eq!(both, Spread { fast_us: 100.0, cycle_us: 100.0, median_us: 100.0 });
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
