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
