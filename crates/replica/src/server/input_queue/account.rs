//! An account of steps: earned by time, spent on inputs.

use netloom_wire::Micros;

/// A step in the unit of the account: a microsecond earns as many of them as a second has steps, so nothing is rounded.
const STEP: u64 = 1_000_000;

/// How many steps a client may still have simulated.
#[derive(Debug)]
pub(super) struct StepAccount {
    steps_per_second: u64,
    credit_max: u64,
    credit: u64,
    elapsed: Micros,
    /// `None` before the first look at the clock.
    now: Option<Micros>,
}

impl StepAccount {
    /// An account with a burst to begin with, and never more.
    pub fn new(steps_per_second: u32, burst_steps: u32) -> StepAccount {
        let credit_max = u64::from(burst_steps) * STEP;
        StepAccount {
            steps_per_second: steps_per_second.into(),
            credit_max,
            credit: credit_max,
            elapsed: Micros::ZERO,
            now: None,
        }
    }

    /// Whether anybody looked at the clock: nobody does in a game that runs a step per tick.
    pub fn has_begun(&self) -> bool {
        self.now.is_some()
    }

    /// Earns what has passed. A clock that goes back earns nothing.
    pub fn handle_time(&mut self, now: Micros) {
        let elapsed = now.since(self.now.unwrap_or(now));
        self.now = Some(self.now.map_or(now, |before| before.max(now)));
        self.elapsed += elapsed;
        let earned = elapsed.0.saturating_mul(self.steps_per_second);
        self.credit = self.credit.saturating_add(earned).min(self.credit_max);
    }

    /// How many steps time has had since the first look at the clock, wrapping like their numbers.
    pub fn elapsed_steps(&self) -> u32 {
        (self.elapsed.0.saturating_mul(self.steps_per_second) / STEP) as u32
    }

    /// Pays for some steps if there is enough. What takes more than the account can ever hold, after a pause of the
    /// client, takes all of it when it is full.
    pub fn spend(&mut self, steps: u32) -> bool {
        let cost = (u64::from(steps) * STEP).min(self.credit_max);
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::StepsUnpaid) {
            return true;
        }
        let is_enough = self.credit >= cost;
        if is_enough {
            self.credit -= cost;
        }
        is_enough
    }
}
