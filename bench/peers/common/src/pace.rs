//! Ticks at their time.

use crate::clock::monotonic_ns;
use std::time::Duration;

/// Ticks of servers, and polls of clients.
pub const TICKS_PER_SECOND: u64 = 60;

/// Length of a tick.
pub const TICK: Duration = Duration::from_nanos(1_000_000_000 / TICKS_PER_SECOND);

/// Waits for the next of evenly spaced moments.
///
/// Both processes count them on the same clock, the clients' half an interval after the server's. Whenever the two were started,
/// neither works while the other does, which would make both dearer, and a client looks once for each time that a server sends.
pub struct Pace {
    next_ns: u64,
    interval_ns: u64,
}

impl Pace {
    /// The moments of the server's process.
    pub fn of_server(interval: Duration) -> Pace {
        Pace::new(interval, 0)
    }

    /// The moments of the clients' process.
    pub fn of_clients(interval: Duration) -> Pace {
        Pace::new(interval, interval.as_nanos() as u64 / 2)
    }

    fn new(interval: Duration, offset_ns: u64) -> Pace {
        let interval_ns = interval.as_nanos() as u64;
        Pace { next_ns: monotonic_ns().next_multiple_of(interval_ns) + offset_ns, interval_ns }
    }

    /// A moment that has passed already is left out: a server that is too slow slips behind and never bursts, as a game's would.
    pub fn wait(&mut self) {
        self.next_ns += self.interval_ns;
        let now_ns = monotonic_ns();
        if self.next_ns > now_ns {
            std::thread::sleep(Duration::from_nanos(self.next_ns - now_ns));
        } else {
            self.next_ns = now_ns;
        }
    }
}
