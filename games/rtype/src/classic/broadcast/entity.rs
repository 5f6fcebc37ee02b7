//! Where everything is.

use super::Sink;
use crate::classic::codec::EntityPosition;

/// What an entity is. The first two are the format's own.
pub mod kind {
    use crate::classic::codec::EntityPosition;

    /// A ship.
    pub const PLAYER: u8 = EntityPosition::PLAYER;
    /// What the level sends.
    pub const ENEMY: u8 = EntityPosition::ENEMY;
    /// A boss.
    pub const BOSS: u8 = 3;
    /// A shot of a ship.
    pub const SHOT: u8 = 4;
    /// A shot of an enemy.
    pub const ENEMY_SHOT: u8 = 5;
    /// A capsule.
    pub const CAPSULE: u8 = 6;
    /// Something in the way.
    pub const DEBRIS: u8 = 7;
}

/// Every how many frames an entity is sent.
fn frames_between(kind: u8) -> u64 {
    match kind {
        kind::PLAYER | kind::BOSS => 1,
        kind::DEBRIS => 5,
        _ => 2,
    }
}

/// Says where things are: what players look at most, most often. Things of a kind take turns, so that frames are about equally long.
#[derive(Clone, Debug, Default)]
pub struct EntityBroadcaster {
    due: Vec<EntityPosition>,
}

impl EntityBroadcaster {
    /// Says where those are whose turn it is.
    pub fn broadcast_positions(&mut self, frame: u64, entities: &[EntityPosition], sink: &mut dyn Sink) {
        let is_due = |entity: &&EntityPosition| {
            (frame + u64::from(entity.id)).is_multiple_of(frames_between(entity.kind))
        };
        self.due.clear();
        self.due.extend(entities.iter().filter(is_due));
        if !self.due.is_empty() {
            sink.send_entities(&self.due);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Heard;
    use super::*;

    #[test]
    fn ships_and_bosses_go_every_frame_enemies_every_second_debris_every_fifth() {
        let entity = |id, kind| EntityPosition { id, kind, ..EntityPosition::default() };
        let all = [
            entity(1, kind::PLAYER),
            entity(2, kind::ENEMY),
            entity(3, kind::BOSS),
            entity(4, kind::SHOT),
            entity(5, kind::DEBRIS),
            entity(6, kind::CAPSULE),
        ];
        let (mut broadcaster, mut heard) = (EntityBroadcaster::default(), Heard::default());
        for frame in 0..30 {
            broadcaster.broadcast_positions(frame, &all, &mut heard);
        }
        let times = |id| heard.entities.iter().flatten().filter(|sent| **sent == id).count();
        assert_eq!([1, 2, 3, 4, 5, 6].map(times), [30, 15, 30, 15, 6, 15]);
        let gaps = heard.entities.windows(2).filter(|pair| pair.iter().all(|sent| sent.contains(&2)));
        assert_eq!(gaps.count(), 0, "an enemy is in every second frame, not in two and then in none");
    }

    #[test]
    fn a_frame_without_entities_says_nothing() {
        let mut heard = Heard::default();
        EntityBroadcaster::default().broadcast_positions(0, &[], &mut heard);
        assert!(heard.entities.is_empty());
    }
}
