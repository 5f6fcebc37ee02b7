//! How fast things move, from where they were.
//!
//! Netloom's clients are told places and see motion in between. The classic format has a velocity beside each place, so it is found from
//! two of them and the time between.

use std::collections::BTreeMap;

use netloom::wire::Micros;

/// Units per second beyond which nothing flies: it was put elsewhere.
const SPEED_MAX: f32 = 3_600.0;

#[derive(Clone, Copy, Debug)]
struct Track {
    at: [f32; 2],
    time: Micros,
    velocity: [f32; 2],
    is_seen: bool,
}

/// Everything that is in sight.
#[derive(Clone, Debug, Default)]
pub struct Tracks {
    tracks: BTreeMap<u32, Track>,
}

impl Tracks {
    /// Where something is at a time of the server's; its velocity, in whole units per second.
    pub fn follow(&mut self, id: u32, at: [f32; 2], time: Micros) -> [f32; 2] {
        let fresh = Track { at, time, velocity: [0.0; 2], is_seen: true };
        let track = self.tracks.entry(id).or_insert(fresh);
        track.is_seen = true;
        if time > track.time {
            let seconds = (time - track.time).as_secs_f64() as f32;
            let velocity = [0, 1].map(|axis: usize| ((at[axis] - track.at[axis]) / seconds).round());
            let has_jumped = velocity.iter().any(|units| units.abs() > SPEED_MAX);
            track.velocity = if has_jumped { [0.0; 2] } else { velocity };
            (track.at, track.time) = (at, time);
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
        let mut follow = |x: f32, y: f32, tick: u64| tracks.follow(1, [x, y], Micros(tick * 1_000_000 / 30));
        assert_eq!(follow(100.0, 200.0, 10), [0.0, 0.0]);
        assert_eq!(follow(104.0, 198.0, 11), [120.0, -60.0]);
        assert_eq!(follow(104.0, 198.0, 11), [120.0, -60.0], "nothing new is told");
        assert_eq!(follow(104.0, 198.0, 12), [0.0, 0.0], "it stopped");
        assert_eq!(follow(900.0, 198.0, 13), [0.0, 0.0], "it was put elsewhere");
        tracks.prune();
        tracks.prune();
        assert_eq!(tracks.follow(1, [910.0, 198.0], Micros::from_secs(9)), [0.0, 0.0], "it was forgotten");
    }
}
