//! Saying something until it is known, or no longer true.

/// Frames from one time to the next: four times a second.
pub const REPEAT_FRAMES: u64 = 15;

/// Something that is said when it changes, and again and again after that.
#[derive(Clone, Copy, Debug)]
pub struct Repeat<T> {
    said: Option<T>,
    due: u64,
    left: u32,
}

impl<T> Default for Repeat<T> {
    fn default() -> Repeat<T> {
        Repeat { said: None, due: 0, left: 0 }
    }
}

impl<T: Copy + PartialEq> Repeat<T> {
    /// What to say in this frame, for as long as there is something.
    pub fn poll(&mut self, frame: u64, state: Option<T>) -> Option<T> {
        self.poll_times(frame, state, u32::MAX)
    }

    /// The same, but at most so many times after each change.
    pub fn poll_times(&mut self, frame: u64, state: Option<T>, times: u32) -> Option<T> {
        if state != self.said {
            *self = Repeat { said: state, due: frame, left: times };
        }
        let is_due = frame >= self.due && self.left > 0;
        if !is_due || state.is_none() {
            return None;
        }
        self.due = frame + REPEAT_FRAMES;
        self.left -= 1;
        state
    }

    /// It is known: it is not said again before it changes.
    pub fn stop(&mut self) {
        self.left = 0;
    }

    /// Somebody asks: it is said in the next frame.
    pub fn hurry(&mut self) {
        self.due = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(repeat: &mut Repeat<u8>, frames: std::ops::Range<u64>, state: Option<u8>) -> Vec<u64> {
        frames.filter(|frame| repeat.poll(*frame, state).is_some()).collect()
    }

    #[test]
    fn a_change_is_said_at_once_and_repeated_four_times_a_second() {
        let mut repeat = Repeat::default();
        assert_eq!(said(&mut repeat, 0..40, Some(1)), [0, 15, 30]);
        assert_eq!(said(&mut repeat, 40..60, Some(2)), [40, 55]);
        assert!(said(&mut repeat, 60..100, None).is_empty());
        assert_eq!(said(&mut repeat, 100..110, Some(2)), [100]);
    }

    #[test]
    fn what_is_known_is_not_repeated_and_what_is_asked_for_comes_at_once() {
        let mut repeat = Repeat::default();
        assert_eq!(said(&mut repeat, 0..1, Some(1)), [0]);
        repeat.hurry();
        assert_eq!(said(&mut repeat, 1..3, Some(1)), [1]);
        repeat.stop();
        assert!(said(&mut repeat, 3..100, Some(1)).is_empty());
        assert_eq!(said(&mut repeat, 100..101, Some(2)), [100]);
    }

    #[test]
    fn what_is_said_so_many_times_ends() {
        let mut repeat = Repeat::default();
        let times = (0..1_000).filter(|frame| repeat.poll_times(*frame, Some(5), 8).is_some()).count();
        assert_eq!(times, 8);
    }
}
