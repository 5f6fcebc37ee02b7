//! A level that does not flutter: it rises at one threshold, falls at a smaller one, and does neither at once.

use netloom_wire::Micros;

/// Where a measure stands between the thresholds of both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heights {
    /// How many thresholds are exceeded: at least this high the level should be.
    demanded: usize,
    /// How many are exceeded by what is not yet good enough to come down: this high the level may stay.
    tolerated: usize,
}

impl Heights {
    /// What two measures of the same level demand and tolerate together.
    pub fn worst(self, other: Heights) -> Heights {
        Heights {
            demanded: self.demanded.max(other.demanded),
            tolerated: self.tolerated.max(other.tolerated),
        }
    }
}

/// How `value` stands to rising thresholds, each of which is left behind below `recover_percent` of it.
pub(super) fn heights(value: u64, thresholds: &[u64], recover_percent: u32) -> Heights {
    let good_enough = |threshold: u64| threshold.saturating_mul(recover_percent.into()) / 100;
    Heights {
        demanded: thresholds.iter().filter(|threshold| value > **threshold).count(),
        tolerated: thresholds.iter().filter(|threshold| value >= good_enough(**threshold)).count(),
    }
}

/// A change that has been asked for and not yet made.
#[derive(Clone, Copy, Debug)]
enum Pending {
    /// Up, to the least that was demanded since.
    Worse {
        since: Micros,
        least: usize,
    },
    Better {
        since: Micros,
    },
}

/// A level from 0, the best.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ladder {
    height: usize,
    pending: Option<Pending>,
}

impl Ladder {
    pub fn height(&self) -> usize {
        self.height
    }

    pub fn update(&mut self, now: Micros, heights: Heights, worsen_hold: Micros, recover_hold: Micros) {
        let Heights { demanded, tolerated } = heights;
        self.pending = if demanded > self.height {
            let (since, least) = match self.pending {
                Some(Pending::Worse { since, least }) => (since, least.min(demanded)),
                _ => (now, demanded),
            };
            if now - since >= worsen_hold {
                self.height = least;
                None
            } else {
                Some(Pending::Worse { since, least })
            }
        } else if tolerated < self.height {
            let since = match self.pending {
                Some(Pending::Better { since }) => since,
                _ => now,
            };
            if now - since >= recover_hold {
                // One level, and the next one has to be earned: whether the better rate is bearable shows only then.
                self.height -= 1;
                None
            } else {
                Some(Pending::Better { since })
            }
        } else {
            None
        };
    }
}
