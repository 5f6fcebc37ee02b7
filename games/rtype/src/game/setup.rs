//! What a game of R-TYPE is set up with, and what its room is like.

use netloom::prelude::*;
use netloom::replica::server::RewindConfig;
use netloom::session::lobby::{LateJoin, LobbyConfig, LobbyState, SettingRule};

use crate::rules::{
    CAPSULES_MAX, DEBRIS_MAX, ENEMIES_MAX, ENEMY_SHOTS_MAX, Levels, SEATS, SHIP_SHOTS_MAX, STEPS_PER_SECOND,
};

/// The lobby's setting for the level to begin with.
pub const LEVEL: &str = "level";
/// The lobby's setting for the seats that the server fills.
pub const BOTS: &str = "bots";
/// Seats that the server fills at most: somebody must have one.
pub const BOTS_MAX: u8 = SEATS as u8 - 1;

/// Snapshots a second. Views are 100 ms behind and shots fly straight: twice as many would cost twice as much and show the same.
const SENDS_PER_SECOND: u32 = 30;
/// Everything that flies at once, and how the game stands.
const OBJECTS_MAX: usize =
    SEATS + ENEMIES_MAX + ENEMY_SHOTS_MAX + SEATS * SHIP_SHOTS_MAX + CAPSULES_MAX + DEBRIS_MAX + 1;
/// How far back beams are judged. Nobody is hit behind cover by it, for all play against the server: so it is more than most games
/// allow, and enough for the longest delay that a view takes to hide jitter and losses, and a round trip besides.
const REWIND_MS_MAX: u32 = 500;
/// How far round trips of such lines are off.
const REWIND_TOLERANCE_MS: u32 = 100;
/// How long everybody is warned that a game begins.
const COUNTDOWN: Micros = Micros::from_millis(1_500);

/// What a game is set up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The level that the lobby suggests, from 1 on.
    pub level: u8,
    /// The seats that it suggests to leave to the server: 0 to 3.
    pub bots: u8,
    /// Players that a game needs: 1 to 4.
    pub players_min: usize,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { level: 1, bots: 0, players_min: 1 }
    }
}

/// Why a game cannot be set up so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// There is no such level.
    #[error("there is no level {level}: choose 1 to {levels}")]
    Level {
        /// The one that was asked for.
        level: u8,
        /// How many there are.
        levels: u8,
    },
    /// Too many bots.
    #[error("{0} bots leave no seat for a player: choose 0 to {BOTS_MAX}")]
    Bots(u8),
    /// No number of players.
    #[error("{0} players cannot be needed: choose 1 to {SEATS}")]
    Players(usize),
}

impl Setup {
    pub(super) fn check(&self, levels: &Levels) -> Result<(), SetupError> {
        if !(1..=levels.len()).contains(&self.level) {
            return Err(SetupError::Level { level: self.level, levels: levels.len() });
        }
        if self.bots > BOTS_MAX {
            return Err(SetupError::Bots(self.bots));
        }
        if !(1..=SEATS).contains(&self.players_min) {
            return Err(SetupError::Players(self.players_min));
        }
        Ok(())
    }

    /// What the game needs of its room. The rest is the room's own: its name, its players, its seed.
    pub(super) fn furnish(&self, levels: &Levels, room: &mut RoomConfig) {
        room.players_max = SEATS;
        room.steps_per_second = STEPS_PER_SECOND;
        room.sends_per_second = SENDS_PER_SECOND;
        room.objects_max = OBJECTS_MAX;
        room.rewind = Some(RewindConfig {
            steps_per_second: STEPS_PER_SECOND,
            objects_max: ENEMIES_MAX + DEBRIS_MAX,
            peers_max: PEERS_MAX,
            rewind_ms_max: REWIND_MS_MAX,
            tolerance_ms: REWIND_TOLERANCE_MS,
            ..RewindConfig::default()
        });
        room.lobby = Some(LobbyConfig {
            players_max: SEATS,
            spectators_max: room.spectators_max.min(netloom::session::lobby::SPECTATORS_MAX),
            players_min: self.players_min,
            countdown: COUNTDOWN,
            late_join: LateJoin::Play,
            settings: vec![rule(LEVEL, self.level, 1..=levels.len()), rule(BOTS, self.bots, 0..=BOTS_MAX)],
            ..LobbyConfig::default()
        });
    }
}

/// Peers whose views are followed: everybody with a seat, and those who watch.
const PEERS_MAX: usize = SEATS + netloom::session::lobby::SPECTATORS_MAX;

fn rule(key: &str, value: u8, allowed: std::ops::RangeInclusive<u8>) -> SettingRule {
    let allowed = allowed.map(|value| value.to_string()).collect();
    SettingRule { key: key.to_owned(), value: value.to_string(), allowed }
}

/// What the host of a lobby chose.
pub(super) fn chosen(lobby: &LobbyState, key: &str) -> Option<u8> {
    lobby.setting(key)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused_and_says_what_could() {
        let levels = Levels::embedded();
        assert_eq!(Setup::default().check(&levels), Ok(()));
        for (setup, said) in [
            (Setup { level: 0, ..Setup::default() }, "there is no level 0: choose 1 to"),
            (Setup { level: 200, ..Setup::default() }, "there is no level 200"),
            (Setup { bots: 4, ..Setup::default() }, "4 bots leave no seat for a player: choose 0 to 3"),
            (Setup { players_min: 0, ..Setup::default() }, "choose 1 to 4"),
            (Setup { players_min: 5, ..Setup::default() }, "choose 1 to 4"),
        ] {
            let message = setup.check(&levels).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
    }

    #[test]
    fn the_host_chooses_among_the_levels_that_there_are() {
        let levels = Levels::embedded();
        let mut room = RoomConfig::for_profile("field", Profile::Lobby4);
        Setup { level: 2, bots: 1, players_min: 1 }.furnish(&levels, &mut room);
        let settings = room.lobby.unwrap().settings;
        assert_eq!(settings.iter().map(|rule| &*rule.value).collect::<Vec<_>>(), ["2", "1"]);
        assert_eq!(settings[0].allowed.len(), usize::from(levels.len()));
        assert!(settings[1].allows("3") && !settings[1].allows("4"));
    }
}
