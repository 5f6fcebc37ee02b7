//! What bots do.

use std::time::Duration;

use clap::ValueEnum;
use netloom::session::random::Random;
use serde::Serialize;

use crate::games::Steering;

/// Steps between two acts of a bot that keeps to the rules, whatever the game's act is.
const ACT_STEPS: u64 = 240;

/// What a bot does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Behaviour {
    /// Walks about
    Wander,
    /// Says things, and does what the game refuses
    Spam,
    /// Stands
    Idle,
    /// Joins, walks about for some seconds, leaves, and joins again
    Churn,
}

/// A bot's will.
#[derive(Debug)]
pub struct Will {
    behaviour: Behaviour,
    random: Random,
    steering: Steering,
    steps: u64,
}

impl Will {
    pub fn new(behaviour: Behaviour, seed: u64) -> Will {
        let mut random = Random::new(seed);
        // Not all of them act in the same step.
        let steps = random.below(ACT_STEPS);
        Will { behaviour, random, steering: Steering::default(), steps }
    }

    /// What to do in the next step.
    pub fn step(&mut self) -> Steering {
        self.steps += 1;
        if self.behaviour == Behaviour::Idle {
            return Steering::default();
        }
        if self.random.below(60) == 0 {
            let mut way = || self.random.below(3) as i8 - 1;
            self.steering = Steering { right: way(), up: way(), ..Steering::default() };
        }
        let acts = self.behaviour == Behaviour::Spam || self.steps.is_multiple_of(ACT_STEPS);
        Steering { acts, ..self.steering }
    }

    /// Whether to say something now; asked in every frame.
    pub fn says(&mut self) -> bool {
        self.behaviour == Behaviour::Spam && self.random.below(120) == 0
    }

    /// How long to stay; `None` to the end.
    pub fn stay(&mut self) -> Option<Duration> {
        (self.behaviour == Behaviour::Churn).then(|| Duration::from_millis(500 + self.random.below(4_000)))
    }

    /// How long to stay away.
    pub fn pause(&mut self) -> Duration {
        Duration::from_millis(200 + self.random.below(800))
    }
}
