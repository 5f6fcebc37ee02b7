//! How long before their step inputs arrive.

use netloom_wire::{Micros, Tick};

use crate::snapshot::Slack;

/// One arrival counts for an eighth: at 60 messages a second a change has arrived after a quarter of a second.
const WEIGHT: f64 = 1.0 / 8.0;

/// A sample counts as no more than so many steps, as in the feedback.
const STEPS_MAX: f64 = 31.75;

/// Who is so many steps behind where they were has not been overtaken on the way: the count was begun anew, as clients do whose
/// server stood still.
const RESTART_STEPS: i32 = 16;

/// Measures the slack of the newest inputs.
#[derive(Debug)]
pub(super) struct SlackMeter {
    steps_per_second: f64,
    /// The step that was simulated last, and when.
    step: Option<(Tick, Micros)>,
    /// The newest step of which an input came, and when.
    newest: Option<(Tick, Micros)>,
    mean: f64,
    deviation: f64,
}

impl SlackMeter {
    pub fn new(steps_per_second: u32) -> SlackMeter {
        let steps_per_second = steps_per_second.into();
        SlackMeter { steps_per_second, step: None, newest: None, mean: 0.0, deviation: 0.0 }
    }

    /// A step is simulated.
    pub fn handle_step(&mut self, step: Tick, now: Micros) {
        self.step = Some((step, now));
    }

    /// A message arrived. Copies of what came before say nothing about the way here.
    pub fn handle_arrival(&mut self, newest: Tick, now: Micros) {
        let Some((step, at)) = self.step else { return };
        let ahead = self.newest.map_or(1, |(before, _)| newest.distance(before));
        let known = self.steps().filter(|_| ahead > -RESTART_STEPS);
        if known.is_some() && ahead <= 0 {
            return;
        }
        let passed = now.since(at).as_secs_f64() * self.steps_per_second;
        // A server that stumbles makes nobody late whose step it has not come to.
        let least = if newest.is_newer_than(step) { 0.0 } else { -STEPS_MAX };
        let sample = (f64::from(newest.distance(step)) - passed).clamp(least, STEPS_MAX);
        match known {
            Some(_) => {
                let off = sample - self.mean;
                self.mean += off * WEIGHT;
                self.deviation += (off.abs() - self.deviation) * WEIGHT;
            }
            None => (self.mean, self.deviation) = (sample, 0.0),
        }
        self.newest = Some((newest, now));
    }

    /// The mean in steps; nothing that is older than a second.
    pub fn steps(&self) -> Option<f64> {
        let ((_, now), (_, came)) = (self.step?, self.newest?);
        (now.since(came) < Micros::from_secs(1)).then_some(self.mean)
    }

    /// As it is told.
    pub fn slack(&self) -> Option<Slack> {
        self.steps().map(Slack::from_steps)
    }

    /// The mean distance from the mean, in steps.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }
}
