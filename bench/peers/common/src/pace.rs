//! Ticks at their time.

use std::time::{Duration, Instant};

/// Ticks of servers, and polls of clients.
pub const TICKS_PER_SECOND: u64 = 60;

/// Length of a tick.
pub const TICK: Duration = Duration::from_nanos(1_000_000_000 / TICKS_PER_SECOND);

/// Waits for the next of evenly spaced moments.
pub struct Pace {
    next: Instant,
    interval: Duration,
}

impl Pace {
    pub fn new(interval: Duration) -> Pace {
        Pace { next: Instant::now(), interval }
    }

    /// A moment that has passed already is left out: a server that is too slow slips behind and never bursts, as a game's would.
    pub fn wait(&mut self) {
        self.next += self.interval;
        let now = Instant::now();
        if self.next > now {
            std::thread::sleep(self.next - now);
        } else {
            self.next = now;
        }
    }
}
