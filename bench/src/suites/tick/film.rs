//! The world's motion, made before anything is timed.
//!
//! Moving the walkers is the game's work and no server's: both servers take step after step from the same film, and clients
//! look up in it what the server had at a tick. After its end everything rests where it was.

use netloom_scene::generate::walk::{EXTENT_METRES, Walk};

/// Objects in every workload of this suite.
pub const OBJECTS: usize = 200;

/// Where everything was after one step.
pub struct Frame {
    /// In metres, y up.
    pub positions: Vec<[f32; 3]>,
    /// Unit quaternions x y z w.
    pub rotations: Vec<[f32; 4]>,
}

/// All steps.
pub struct Film(Vec<Frame>);

impl Film {
    /// A film of so many steps, in which the first `moving` walkers move.
    pub fn new(steps: usize, moving: usize) -> Film {
        let mut walk = Walk::new(OBJECTS, EXTENT_METRES);
        let mut frames = Vec::with_capacity(steps + 1);
        for step in 0..=steps {
            if step > 0 {
                walk.step(moving);
            }
            frames.push(Frame { positions: walk.positions().to_vec(), rotations: walk.rotations().to_vec() });
        }
        Film(frames)
    }

    /// What there is after a step.
    pub fn frame(&self, step: u64) -> &Frame {
        let last = self.0.len() - 1;
        &self.0[usize::try_from(step).map_or(last, |step| step.min(last))]
    }

    /// The last step in which something moves.
    pub fn end(&self) -> u64 {
        self.0.len() as u64 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_rests_after_the_end_and_moves_before() {
        let film = Film::new(3, OBJECTS);
        assert_eq!(film.end(), 3);
        assert_ne!(film.frame(2).positions, film.frame(3).positions);
        assert_eq!(film.frame(3).positions, film.frame(u64::MAX).positions);
    }
}
