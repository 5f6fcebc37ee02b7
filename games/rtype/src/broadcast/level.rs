//! Where the game stands: an object that everybody has, and a call when a level begins.

use netloom::prelude::*;

use super::{Scene, Sink};
use crate::protocol::{Stage, tells};
use crate::rules::{Event, Levels, State};

/// Tells it.
#[derive(Debug, Default)]
pub struct LevelBroadcaster {
    shown: Option<(ObjectIndex, Stage)>,
}

impl LevelBroadcaster {
    /// Tells everybody that a level begins.
    pub fn broadcast_event(&self, event: &Event, levels: &Levels, sink: &mut impl Sink) {
        if let Event::LevelBegan { level } = *event {
            sink.tell_all(tells::LEVEL_INFO, &(level, 0, &levels.get(level).name));
        }
    }

    /// Tells somebody who comes later.
    pub fn greet(&self, player: PlayerId, state: &State, levels: &Levels, sink: &mut impl Sink) {
        let Stage { level, seconds, .. } = stage_of(state);
        sink.tell(player, tells::LEVEL_INFO, &(level, seconds, &levels.get(level).name));
    }

    /// Shows how a state stands.
    pub fn broadcast(&mut self, state: &State, scene: &mut impl Scene) {
        let stage = stage_of(state);
        match &mut self.shown {
            Some((_, shown)) if *shown == stage => {}
            Some((object, shown)) => {
                *shown = stage;
                // It was spawned here, and nobody else removes it.
                let _written = scene.write(*object, shown);
            }
            // In a room that is full, it appears when there is a place.
            None => self.shown = scene.spawn(&stage, None).ok().map(|object| (object, stage)),
        }
    }

    /// There is no game any more.
    pub fn clear(&mut self, scene: &mut impl Scene) {
        if let Some((object, _)) = self.shown.take() {
            let _despawned = scene.despawn(object);
        }
    }
}

fn stage_of(state: &State) -> Stage {
    let seconds = state.level_seconds();
    Stage { level: state.level, wave: state.wave, phase: state.phase, seconds: seconds.min(65_535) as u16 }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Heard, Objects, Told};
    use super::*;
    use crate::rules::SEATS;

    #[test]
    fn a_level_is_told_when_it_begins_and_to_whoever_comes_later() {
        let (levels, mut sink, ada) = (Levels::embedded(), Told::default(), PlayerId(1));
        let mut state = State::new(&levels, 1, 7);
        let broadcaster = LevelBroadcaster::default();
        broadcaster.broadcast_event(&Event::LevelBegan { level: 2 }, &levels, &mut sink);
        broadcaster.broadcast_event(&Event::WaveBegan { wave: 1 }, &levels, &mut sink);
        state.add_ship(0);
        (0..150).for_each(|_| state.step(&levels, &[0; SEATS]));
        broadcaster.greet(ada, &state, &levels, &mut sink);
        let [first, second] = [1, 2].map(|level| levels.get(level).name.clone());
        let told = Heard::all(tells::LEVEL_INFO, &(2, 0, second));
        assert_eq!(sink.heard, [told, Heard::one(ada, tells::LEVEL_INFO, &(1, 2, first))]);
    }

    #[test]
    fn there_is_one_object_that_says_how_the_game_stands() {
        let (levels, mut objects) = (Levels::embedded(), Objects::new(10));
        let mut state = State::new(&levels, 1, 7);
        state.add_ship(0);
        let mut broadcaster = LevelBroadcaster::default();
        for _ in 0..200 {
            state.step(&levels, &[0; SEATS]);
            broadcaster.broadcast(&state, &mut objects);
        }
        let stage = Stage { level: 1, wave: state.wave, phase: state.phase, seconds: 3 };
        assert_eq!(objects.all::<Stage>(), [stage]);
        assert!(state.wave > 0, "it moved on");
        broadcaster.clear(&mut objects);
        assert!(objects.world.is_empty());
    }
}
