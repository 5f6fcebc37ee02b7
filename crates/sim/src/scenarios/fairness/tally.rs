//! What the server made of one shooter.

use netloom_replica::server::rewind::{Adjustment, PastView};
use netloom_wire::{Micros, Tick};

/// Steps over which the speed of a view is looked at.
const SPEED_STEPS: usize = 6;

/// What was counted of one shooter, after everybody had settled.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Shots that were judged.
    pub shots: u64,
    /// Those that hit what they were aimed at.
    pub hits: u64,
    /// Those that would have hit without lag compensation.
    pub hits_in_the_present: u64,
    /// Claims of a view that were judged: one with each input.
    pub claims: u64,
    /// Claims that were moved, other than by the clamp.
    pub moved: u64,
    /// Claims that were moved by the clamp.
    pub clamped: u64,
    /// The sum over all claims of how far they were rewound.
    pub rewound_sum: Micros,
    /// The farthest that a claim was rewound.
    pub rewound_max: Micros,
    /// The same without those that were set back to what was acknowledged, for acknowledgements get lost.
    pub rewound_believed_max: Micros,
    /// The least that a claim was rewound; `None` before the first.
    pub rewound_min: Option<Micros>,
    /// Over six steps, the least and the most that the view advanced, in microseconds beside the time of those steps.
    pub pace_us: (i64, i64),
    /// The sum over all shots of how far the target was judged beside where it was shown, in metres.
    pub beside_sum: f64,
    /// Steps that the server simulated for it.
    pub steps: u64,
    /// Of those, with an input of its own.
    pub real: u64,
    /// The way that it walked, in metres.
    pub way_metres: f64,
    /// In a game that runs a step per input: the most steps that it was ahead of time.
    pub ahead_steps_max: i64,
    recent: Vec<(Tick, Micros)>,
}

impl Tally {
    /// A claim was judged in a step.
    pub fn handle_view(&mut self, step: Tick, now: Micros, view: &PastView) {
        self.claims += 1;
        match view.adjusted() {
            None => {}
            Some(Adjustment::Clamped) => self.clamped += 1,
            Some(_) => self.moved += 1,
        }
        self.rewound_sum += view.rewound();
        self.rewound_max = self.rewound_max.max(view.rewound());
        if !matches!(view.adjusted(), Some(Adjustment::NotSeenYet | Adjustment::Clamped)) {
            self.rewound_believed_max = self.rewound_believed_max.max(view.rewound());
        }
        self.rewound_min = Some(self.rewound_min.map_or(view.rewound(), |least| least.min(view.rewound())));
        // Seen from the present, a view that keeps pace stays where it is.
        self.recent.push((step, now - view.at()));
        if self.recent.len() > SPEED_STEPS {
            let (before, behind) = self.recent.remove(0);
            if step.distance(before) as usize == SPEED_STEPS {
                let gained_us = behind.0 as i64 - (now - view.at()).0 as i64;
                self.pace_us = (self.pace_us.0.min(gained_us), self.pace_us.1.max(gained_us));
            }
        }
    }

    /// The share of shots that hit, in percent.
    pub fn hit_percent(&self) -> f64 {
        percent(self.hits, self.shots)
    }

    /// The same without lag compensation.
    pub fn hit_percent_in_the_present(&self) -> f64 {
        percent(self.hits_in_the_present, self.shots)
    }

    /// The share of claims that were moved, other than by the clamp, in percent.
    pub fn moved_percent(&self) -> f64 {
        percent(self.moved, self.claims)
    }

    /// The share of claims that the clamp moved, in percent.
    pub fn clamped_percent(&self) -> f64 {
        percent(self.clamped, self.claims)
    }

    /// How far a claim was rewound in the middle, in milliseconds.
    pub fn rewound_ms(&self) -> f64 {
        self.rewound_sum.as_millis_f64() / self.claims.max(1) as f64
    }

    /// How far targets were judged beside where they were shown in the middle, in centimetres.
    pub fn beside_cm(&self) -> f64 {
        100.0 * self.beside_sum / self.shots.max(1) as f64
    }
}

fn percent(part: u64, of: u64) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}
