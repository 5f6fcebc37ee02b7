//! Sixty times a second, in real time.

use netloom_wire::Micros;
use std::time::{Duration, Instant};

/// Ticks a second.
pub const HERTZ: u64 = 60;

const INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / HERTZ);

/// Wakes a thread at every tick. After an overrun it goes on from there: what was missed is not made up for in a burst.
pub struct Pace {
    start: Instant,
    next: Instant,
}

impl Pace {
    /// The first tick is now.
    pub fn start() -> Pace {
        let now = Instant::now();
        Pace { start: now, next: now }
    }

    /// Since the start.
    pub fn elapsed(&self) -> Micros {
        Micros(self.start.elapsed().as_micros() as u64)
    }

    /// Sleeps until the next tick.
    pub fn wait(&mut self) {
        self.next += INTERVAL;
        let now = Instant::now();
        match self.next.checked_duration_since(now) {
            Some(rest) => std::thread::sleep(rest),
            None => self.next = now,
        }
    }
}

/// When a tick is, by a clock that knows no overruns: every tick of a server is one step of its room, never none and never
/// two, whatever the machine does.
pub fn time_of(tick: u64) -> Micros {
    Micros((tick * 1_000_000).div_ceil(HERTZ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_one_step() {
        let mut clock = netloom_session::clock::StepClock::new(Micros::ZERO, HERTZ as u32, 8);
        for tick in 1..10_000 {
            clock.handle_time(time_of(tick));
            assert!(clock.poll_step().is_some() && clock.poll_step().is_none(), "tick {tick}");
        }
    }
}
