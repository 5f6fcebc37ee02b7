//! What is said to a client, and how often.
//!
//! There is no acknowledgement in the classic protocol: a message that is lost is lost, and nobody knows. So nothing that matters is an
//! event here. It is a state, said at once when it changes and again four times a second for as long as it holds, or until something that
//! the client does shows that it knows: a steering client has heard that the game began. Whoever receives the same thing twice has learned
//! nothing new, and whoever misses it hears it a quarter of a second later.
//!
//! | broadcaster | opcodes | until |
//! |---|---|---|
//! | [`EntityBroadcaster`] | ENTITY_POSITIONS | each frame: ships and bosses always, the rest every second, debris every fifth |
//! | [`LobbyBroadcaster`] | LOBBY_STATUS | for ever |
//! | [`GameBroadcaster`] | GAME_START, GAME_INFO, GAME_OVER | the first input; each frame; the lobby is back |
//! | [`LevelBroadcaster`] | LEVEL_INFO, BOSS_SPAWNED | the game is over; the boss is gone |
//! | [`PowerupBroadcaster`] | POWERUP_SPAWNED, POWERUP_STATUS | the capsule is gone; the choice is made, then eight times |
//! | [`WeaponBroadcaster`] | WEAPON_UPGRADE_AVAILABLE, WEAPON_UPGRADE_CONFIRM | the choice is made; eight times |
//!
//! Each knows what it said to its client and nothing else: not the game, not the others, not the network.

mod entity;
mod game;
mod level;
mod lobby;
mod powerup;
mod repeat;
mod weapon;

pub use entity::{EntityBroadcaster, kind};
pub use game::GameBroadcaster;
pub use level::LevelBroadcaster;
pub use lobby::LobbyBroadcaster;
pub use powerup::PowerupBroadcaster;
pub use repeat::{REPEAT_FRAMES, Repeat};
pub use weapon::WeaponBroadcaster;

use super::codec::{EntityPosition, ToClient};
use super::scene::Scene;

/// Where what is said goes: one client, or a test.
pub trait Sink {
    /// A message.
    fn send(&mut self, message: ToClient);
    /// Where things are; any number of them.
    fn send_entities(&mut self, entities: &[EntityPosition]);
}

/// All broadcasters of one client.
#[derive(Clone, Debug, Default)]
pub struct Broadcasters {
    entity: EntityBroadcaster,
    lobby: LobbyBroadcaster,
    game: GameBroadcaster,
    level: LevelBroadcaster,
    powerup: PowerupBroadcaster,
    weapon: WeaponBroadcaster,
}

impl Broadcasters {
    /// Says what there is to say in a frame.
    pub fn broadcast(&mut self, frame: u64, scene: &Scene, sink: &mut dyn Sink) {
        self.lobby.broadcast_status(frame, scene.lobby, sink);
        self.game.broadcast_start(frame, scene.start, sink);
        self.game.broadcast_game_over(frame, scene.over, sink);
        if !scene.is_playing() {
            *self = Broadcasters {
                lobby: std::mem::take(&mut self.lobby),
                game: std::mem::take(&mut self.game),
                ..Broadcasters::default()
            };
            return;
        }
        self.game.broadcast_game_info(scene.info, sink);
        self.level.broadcast_level_info(frame, scene.level, sink);
        self.level.broadcast_boss(frame, scene.boss, sink);
        self.powerup.broadcast_spawned(frame, &scene.capsules, sink);
        self.powerup.broadcast_status(frame, scene.powers, sink);
        self.weapon.broadcast_available(frame, scene.weapons, sink);
        self.weapon.broadcast_confirm(frame, scene.armed, sink);
        self.entity.broadcast_positions(frame, &scene.entities, sink);
    }

    /// The client steers: it knows that the game runs.
    pub fn handle_input(&mut self) {
        self.game.handle_input();
    }

    /// The client asks how things are: it is told in the next frame.
    pub fn handle_asked(&mut self) {
        self.lobby.handle_asked();
    }
}

/// A sink that remembers.
#[cfg(test)]
#[derive(Debug, Default)]
pub struct Heard {
    /// Messages.
    pub messages: Vec<ToClient>,
    /// Ids of the entities of each call.
    pub entities: Vec<Vec<u32>>,
}

#[cfg(test)]
impl Sink for Heard {
    fn send(&mut self, message: ToClient) {
        self.messages.push(message);
    }

    fn send_entities(&mut self, entities: &[EntityPosition]) {
        self.entities.push(entities.iter().map(|entity| entity.id).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classic::codec::{GameStart, LevelInfo, LobbyPhase, LobbyStatus, opcode};

    #[test]
    fn nothing_of_a_game_is_said_before_it_and_all_of_it_again_in_the_next() {
        let mut broadcasters = Broadcasters::default();
        let lobby = LobbyStatus {
            players: 1,
            ready: 0,
            capacity: 4,
            minimum: 1,
            phase: LobbyPhase::Waiting,
            your_id: 7,
            your_ready: false,
        };
        let level = Some(LevelInfo { level: 1, elapsed_ms: 0 });
        let waiting = Scene { lobby: Some(lobby), level, ..Scene::default() };
        let watching =
            Scene { lobby: Some(LobbyStatus { phase: LobbyPhase::Playing, ..lobby }), ..waiting.clone() };
        let playing = Scene { start: Some(GameStart { your_id: 7 }), ..watching.clone() };
        let mut told = |frame, scene: &Scene| {
            let mut heard = Heard::default();
            broadcasters.broadcast(frame, scene, &mut heard);
            heard.messages.iter().map(ToClient::opcode).collect::<Vec<_>>()
        };
        assert_eq!(told(0, &waiting), [opcode::LOBBY_STATUS]);
        assert_eq!(told(1, &playing), [opcode::LOBBY_STATUS, opcode::GAME_START, opcode::LEVEL_INFO]);
        assert!(told(2, &playing).is_empty());
        assert_eq!(told(3, &waiting), [opcode::LOBBY_STATUS]);
        assert_eq!(told(4, &playing), [opcode::LOBBY_STATUS, opcode::GAME_START, opcode::LEVEL_INFO]);
        assert_eq!(told(5, &waiting), [opcode::LOBBY_STATUS]);
        assert_eq!(
            told(6, &watching),
            [opcode::LOBBY_STATUS, opcode::LEVEL_INFO],
            "who has no seat sees it, too"
        );
    }
}
