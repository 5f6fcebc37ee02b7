//! How fast things move, from where they were.
//!
//! Netloom's clients are told places and see motion in between. The classic format has a velocity beside each place, so it is found from
//! two of them and the steps between.

use std::collections::BTreeMap;

use netloom::wire::Tick;

/// Units in a step beyond which nothing flies: it was put elsewhere.
const UNITS_PER_STEP_MAX: f32 = 60.0;

#[derive(Clone, Copy, Debug)]
struct Track {
    at: [f32; 2],
    step: Tick,
    velocity: [f32; 2],
    is_seen: bool,
}

/// Everything that is in sight.
#[derive(Clone, Debug, Default)]
pub struct Tracks {
    tracks: BTreeMap<u32, Track>,
}

impl Tracks {
    /// Where something is after a step; its velocity, in units per second.
    pub fn follow(&mut self, id: u32, at: [f32; 2], step: Tick, steps_per_second: u32) -> [f32; 2] {
        let fresh = Track { at, step, velocity: [0.0; 2], is_seen: true };
        let track = self.tracks.entry(id).or_insert(fresh);
        track.is_seen = true;
        let steps = step.distance(track.step);
        if steps > 0 {
            let moved = [0, 1].map(|axis: usize| (at[axis] - track.at[axis]) / steps as f32);
            let has_jumped = moved.iter().any(|units| units.abs() > UNITS_PER_STEP_MAX);
            track.velocity =
                moved.map(|units| if has_jumped { 0.0 } else { units * steps_per_second as f32 });
            (track.at, track.step) = (at, step);
        }
        track.velocity
    }

    /// Forgets what was not followed since the last time.
    pub fn prune(&mut self) {
        self.tracks.retain(|_, track| std::mem::take(&mut track.is_seen));
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.tracks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_velocity_is_the_way_between_two_places_and_a_jump_has_none() {
        let mut tracks = Tracks::default();
        assert_eq!(tracks.follow(1, [100.0, 200.0], Tick(10), 60), [0.0, 0.0]);
        assert_eq!(tracks.follow(1, [104.0, 198.0], Tick(12), 60), [120.0, -60.0]);
        assert_eq!(tracks.follow(1, [104.0, 198.0], Tick(12), 60), [120.0, -60.0], "nothing new is told");
        assert_eq!(tracks.follow(1, [104.0, 198.0], Tick(14), 60), [0.0, 0.0], "it stopped");
        assert_eq!(tracks.follow(1, [900.0, 198.0], Tick(15), 60), [0.0, 0.0], "it was put elsewhere");
        tracks.prune();
        tracks.prune();
        assert_eq!(tracks.follow(1, [910.0, 198.0], Tick(16), 60), [0.0, 0.0], "it was forgotten");
    }
}
