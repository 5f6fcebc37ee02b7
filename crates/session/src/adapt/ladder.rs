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

/// What a measure is held against: worse above the one, better below the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    worse: u64,
    better: u64,
}

impl Threshold {
    /// One that is left behind below `recover_percent` of it.
    pub fn new(worse: u64, recover_percent: u32) -> Threshold {
        Threshold { worse, better: worse.saturating_mul(recover_percent.into()) / 100 }
    }

    /// Above this it is exceeded.
    pub fn worse(&self) -> u64 {
        self.worse
    }

    fn is_exceeded(&self, value: u64) -> bool {
        value > self.worse
    }
}

/// How `value` stands to rising thresholds.
pub(super) fn heights(value: u64, thresholds: &[Threshold]) -> Heights {
    Heights {
        demanded: thresholds.iter().filter(|threshold| threshold.is_exceeded(value)).count(),
        tolerated: thresholds.iter().filter(|threshold| value >= threshold.better).count(),
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

    /// Whether it is at its best, and nothing is about to change.
    pub fn is_at_rest(&self) -> bool {
        self.height == 0 && self.pending.is_none()
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
