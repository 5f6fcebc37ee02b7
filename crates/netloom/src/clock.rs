//! The one clock of a process: microseconds that never go back.

use std::time::Instant;

use netloom_wire::Micros;

/// Time since it was made.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// A clock that begins now.
    pub fn new() -> Clock {
        Clock(Instant::now())
    }

    /// What it is now.
    pub fn now(&self) -> Micros {
        Micros(self.0.elapsed().as_micros() as u64)
    }
}

impl Default for Clock {
    fn default() -> Clock {
        Clock::new()
    }
}
