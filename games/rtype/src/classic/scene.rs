//! What a player sees at a moment, in the terms of the classic protocol.

use super::codec::{
    BossSpawned, EntityPosition, GameInfo, GameOver, GameStart, LevelInfo, LobbyPhase, LobbyStatus,
    PowerupSpawned, PowerupStatus, WeaponConfirm, WeaponOffer,
};

/// What a player sees. Everything is a state: the [broadcasters](super::broadcast) find out what is new.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// The lobby, once it is known.
    pub lobby: Option<LobbyStatus>,
    /// While a game runs in which the player has a seat.
    pub start: Option<GameStart>,
    /// How the player's ship is, while there is one.
    pub info: Option<GameInfo>,
    /// The level.
    pub level: Option<LevelInfo>,
    /// The boss that is here.
    pub boss: Option<BossSpawned>,
    /// How the game ended, until the lobby is back.
    pub over: Option<GameOver>,
    /// Capsules.
    pub capsules: Vec<PowerupSpawned>,
    /// What is offered and was taken, once there was something.
    pub powers: Option<PowerupStatus>,
    /// Weapons that are offered.
    pub weapons: Option<WeaponOffer>,
    /// What was chosen last.
    pub armed: Option<WeaponConfirm>,
    /// Everything that has a place.
    pub entities: Vec<EntityPosition>,
}

impl Scene {
    /// Whether a game runs, with a seat for the player or without.
    pub fn is_playing(&self) -> bool {
        self.lobby.is_some_and(|lobby| lobby.phase == LobbyPhase::Playing)
    }

    /// The game is over: nothing of it is left.
    pub fn clear_game(&mut self) {
        let lobby = self.lobby.take();
        self.capsules.clear();
        self.entities.clear();
        let (capsules, entities) = (std::mem::take(&mut self.capsules), std::mem::take(&mut self.entities));
        *self = Scene { lobby, capsules, entities, ..Scene::default() };
    }
}
