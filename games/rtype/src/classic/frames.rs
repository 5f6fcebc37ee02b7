//! Sixty frames a second, for as long as it takes.
//!
//! Sleeping for 16 ms between frames makes 62.5 of them a second at best, 150 seconds an hour too fast, and fewer by whatever the work
//! takes. Here a frame has its time, counted from the beginning in whole microseconds: what rounding takes from one frame the next
//! gets back. Whoever is late catches up a little; the rest of a long pause is never made up for.

use netloom::wire::Micros;

/// Frames a second.
pub const FRAMES_PER_SECOND: u64 = 60;

/// Frames that are made up for at most.
const CATCH_UP_FRAMES: u64 = 4;

/// When frames are.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    origin: Micros,
    /// Frames since then.
    count: u64,
    /// The number of the next frame, which goes on when the origin moves.
    number: u64,
}

impl Frames {
    /// The first frame is now.
    pub fn new(now: Micros) -> Frames {
        Frames { origin: now, count: 0, number: 0 }
    }

    /// When the next one is.
    pub fn due(&self) -> Micros {
        self.origin + Micros(self.count * 1_000_000 / FRAMES_PER_SECOND)
    }

    /// The number of the next frame, if it is due. Ask until `None`.
    pub fn poll(&mut self, now: Micros) -> Option<u64> {
        if now < self.due() {
            return None;
        }
        let late = now.since(self.due()).0 * FRAMES_PER_SECOND / 1_000_000;
        if late > CATCH_UP_FRAMES {
            (self.origin, self.count) = (now, 0);
        }
        let number = self.number;
        self.count += 1;
        self.number += 1;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames until a time, by a clock that is looked at so often.
    fn count(frames: &mut Frames, from: Micros, until: Micros, step: Micros) -> u64 {
        let (mut now, mut count) = (from, 0);
        while now < until {
            count += std::iter::from_fn(|| frames.poll(now)).count() as u64;
            now += step;
        }
        count
    }

    #[test]
    fn an_hour_has_216_000_frames_where_sleeping_16_ms_makes_225_000() {
        let hour = Micros::from_secs(3_600);
        let mut frames = Frames::new(Micros::ZERO);
        assert_eq!(count(&mut frames, Micros::ZERO, hour, Micros(997)), 216_000);
        assert_eq!(hour.0 / 16_000, 225_000);
    }

    #[test]
    fn a_pause_is_not_made_up_for_and_frames_go_on_in_time() {
        let mut frames = Frames::new(Micros::ZERO);
        assert_eq!(frames.poll(Micros::ZERO), Some(0));
        let after = Micros::from_secs(10);
        assert_eq!(std::iter::from_fn(|| frames.poll(after)).collect::<Vec<_>>(), [1]);
        assert_eq!(frames.due(), after + Micros(16_666));
        let hitch = after + Micros(60_000);
        assert_eq!(std::iter::from_fn(|| frames.poll(hitch)).collect::<Vec<_>>(), [2, 3, 4]);
    }
}
