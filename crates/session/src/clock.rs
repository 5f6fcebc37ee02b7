//! When a room steps: at a fixed rate, whatever the driver does.
//!
//! A driver calls when it can. Sleeping for the length of a step runs slower than the rate by the work done, and a clock
//! in floating-point seconds runs out of digits after a few weeks. So steps are counted, and each has its time:
//!
//! ```text
//!   origin      1        2        3        4   …      step n is due at origin + n / rate, in whole microseconds
//!     ├─────────┼────────┼────────┼────────┼─▶
//! ```
//!
//! After a hitch a few steps are made up for at once. The rest of the lost time is not: the origin moves instead, for a
//! server that catches up on a second of steps is late for the next second, too.

use netloom_wire::{Micros, Tick};

/// Counts the steps of a room.
#[derive(Clone, Debug)]
pub struct StepClock {
    origin: Micros,
    steps_per_second: u64,
    /// Steps so far.
    count: u64,
    /// When the newest was due, and when the next one is.
    time: Micros,
    next_due: Micros,
    /// Steps that are to be made now.
    due: u64,
    catch_up_max: u64,
    skipped: u64,
}

impl StepClock {
    /// A clock whose first step is due one step after `now`.
    pub fn new(now: Micros, steps_per_second: u32, catch_up_steps: u32) -> StepClock {
        let mut clock = StepClock {
            origin: now,
            steps_per_second: steps_per_second.max(1).into(),
            count: 0,
            time: now,
            next_due: now,
            due: 0,
            catch_up_max: catch_up_steps.max(1).into(),
            skipped: 0,
        };
        clock.next_due = clock.time_of(1);
        clock
    }

    /// The newest step.
    pub fn step(&self) -> Tick {
        Tick(self.count as u32)
    }

    /// Steps since the beginning.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// When the newest step was due.
    pub fn time(&self) -> Micros {
        self.time
    }

    /// When the next step is due.
    pub fn next_due(&self) -> Micros {
        self.next_due
    }

    /// Steps whose time passed without them being made.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Looks at the time: steps are due up to it, and time beyond what is made up for is forgotten. To be called once before
    /// the steps of a tick.
    pub fn handle_time(&mut self, now: Micros) {
        // Wide enough for ten thousand years of steps.
        let passed = now.since(self.origin).0.saturating_mul(self.steps_per_second) / 1_000_000;
        let late = passed.saturating_sub(self.count);
        self.due = late.min(self.catch_up_max);
        let lost = late - self.due;
        if lost > 0 {
            self.skipped += lost;
            self.origin += Micros(lost.saturating_mul(1_000_000) / self.steps_per_second);
            (self.time, self.next_due) = (self.time_of(self.count), self.time_of(self.count + 1));
        }
    }

    /// Makes the next step if it is due.
    pub fn poll_step(&mut self) -> Option<Tick> {
        self.due = self.due.checked_sub(1)?;
        self.count += 1;
        (self.time, self.next_due) = (self.next_due, self.time_of(self.count + 1));
        Some(self.step())
    }

    fn time_of(&self, count: u64) -> Micros {
        self.origin + Micros(count.saturating_mul(1_000_000) / self.steps_per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(clock: &mut StepClock, now: Micros) -> u32 {
        clock.handle_time(now);
        std::iter::from_fn(|| clock.poll_step()).count() as u32
    }

    #[test]
    fn sixty_steps_a_second_for_a_day_whatever_the_frames() {
        let mut clock = StepClock::new(Micros(12_345), 60, 8);
        let mut steps = 0u64;
        let mut now = Micros(12_345);
        for frame in 0..8_640_000u64 {
            // Frames between 1 and 19 ms.
            now += Micros(1_000 + frame * 7_919 % 18_000);
            steps += u64::from(run(&mut clock, now));
        }
        let passed = u128::from(now.0 - 12_345) * 60 / 1_000_000;
        assert_eq!(u128::from(steps), passed);
        assert_eq!(clock.skipped(), 0);
    }

    #[test]
    fn a_hitch_is_made_up_for_in_part_and_does_not_echo() {
        let mut clock = StepClock::new(Micros::ZERO, 60, 8);
        let after = Micros::from_secs(5);
        assert_eq!(run(&mut clock, after), 8);
        assert_eq!(clock.skipped(), 300 - 8);
        let later: u32 = (1..=60).map(|frame| run(&mut clock, after + Micros(frame * 16_667))).sum();
        assert!((59..=61).contains(&later), "{later} steps in the second after");
    }

    #[test]
    fn a_clock_that_goes_back_makes_no_step_and_no_panic() {
        let mut clock = StepClock::new(Micros::from_secs(100), 60, 8);
        assert_eq!(run(&mut clock, Micros::ZERO), 0);
        assert_eq!(run(&mut clock, Micros::from_secs(101)), 8);
        assert_eq!(run(&mut clock, Micros::MAX), 8);
    }
}
