//! What the owner of a lobby decides about it.

use netloom_wire::Micros;

use super::{
    PLAYERS_MAX, SETTING_KEY_BYTES_MAX, SETTING_VALUE_BYTES_MAX, SETTINGS_MAX, SPECTATORS_MAX, TEAMS_MAX,
};
use crate::names::DuplicateNames;
use crate::text::{bytes_max, clean_line, clean_name};
use crate::validate::RateRule;
use netloom_replica::SettingError;

/// Who may change settings, start and kick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostRule {
    /// The player who came first; when that one leaves, the next.
    #[default]
    FirstPlayer,
    /// Nobody but the server.
    Server,
}

/// When a game begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartRule {
    /// As soon as enough players are there and each of them is ready.
    #[default]
    AllReady,
    /// When the host says so, and enough players are there.
    Host,
}

/// What somebody gets who comes during a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LateJoin {
    /// A place to watch from, and a seat when the game is over.
    #[default]
    Spectate,
    /// A seat, if one is free.
    Play,
    /// Nothing.
    Refuse,
}

/// Something about the game that the host chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingRule {
    /// Its name: 1 to 32 bytes.
    pub key: String,
    /// Its value before anybody changes it: at most 64 bytes.
    pub value: String,
    /// The values that it can have; if there are none, any of at most 64 bytes.
    pub allowed: Vec<String>,
}

impl SettingRule {
    /// Whether it can have this value.
    pub fn allows(&self, value: &str) -> bool {
        value.len() <= SETTING_VALUE_BYTES_MAX
            && clean_line(value) == value
            && (self.allowed.is_empty() || self.allowed.iter().any(|allowed| allowed == value))
    }
}

/// What the owner of a lobby decides about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LobbyConfig {
    /// Seats: 1 to 64.
    pub players_max: usize,
    /// Places to watch from: 0 to 64.
    pub spectators_max: usize,
    /// Players that a game needs: 1 to `players_max`.
    pub players_min: usize,
    /// Teams: 0 for none, to 16. Whoever takes a seat gets into the smallest.
    pub teams: usize,
    /// Players of one team: 1 to 64, and all teams together have a place for everybody.
    pub team_players_max: usize,
    /// Who may change settings, start and kick.
    pub host: HostRule,
    /// When a game begins.
    pub start: StartRule,
    /// How long everybody is warned of that, 0 for not at all, to 600 s.
    pub countdown: Micros,
    /// What somebody gets who comes during a game.
    pub late_join: LateJoin,
    /// What somebody gets whose name another one has.
    pub duplicate_names: DuplicateNames,
    /// What the host chooses: at most 32, each key once.
    pub settings: Vec<SettingRule>,
    /// Lines of chat of one player.
    pub chat: RateRule,
    /// Commands of one player, chat included.
    pub commands: RateRule,
}

impl Default for LobbyConfig {
    /// Four seats, two players at least.
    fn default() -> LobbyConfig {
        LobbyConfig {
            players_max: 4,
            spectators_max: 4,
            players_min: 2,
            teams: 0,
            team_players_max: PLAYERS_MAX,
            host: HostRule::FirstPlayer,
            start: StartRule::AllReady,
            countdown: Micros::ZERO,
            late_join: LateJoin::Spectate,
            duplicate_names: DuplicateNames::Number,
            settings: Vec::new(),
            chat: RateRule { per_second: 1, burst: 5 },
            commands: RateRule { per_second: 10, burst: 30 },
        }
    }
}

impl LobbyConfig {
    /// One player, who begins when ready.
    pub fn solo() -> LobbyConfig {
        LobbyConfig { players_max: 1, players_min: 1, spectators_max: 0, ..LobbyConfig::default() }
    }

    /// Reports the first field that is out of its range.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::check("players_max", self.players_max, 1..=PLAYERS_MAX, "1 to 64")?;
        SettingError::check("spectators_max", self.spectators_max, 0..=SPECTATORS_MAX, "0 to 64")?;
        SettingError::check("players_min", self.players_min, 1..=self.players_max, "1 to players_max")?;
        SettingError::check("teams", self.teams, 0..=TEAMS_MAX, "0 to 16")?;
        SettingError::check("team_players_max", self.team_players_max, 1..=PLAYERS_MAX, "1 to 64")?;
        if self.teams > 0 {
            let seats = self.teams * self.team_players_max;
            SettingError::check(
                "players_max",
                self.players_max,
                1..=seats,
                "at most teams × team_players_max",
            )?;
        }
        SettingError::check("countdown", self.countdown.0, 0..=600_000_000, "0 to 600,000,000 microseconds")?;
        self.chat.check()?;
        self.commands.check()?;
        self.check_settings()
    }

    fn check_settings(&self) -> Result<(), SettingError> {
        SettingError::check("settings.len()", self.settings.len(), 0..=SETTINGS_MAX, "at most 32")?;
        for (place, rule) in self.settings.iter().enumerate() {
            let error =
                |field, value: &str, allowed| SettingError { field, value: value.to_owned(), allowed };
            let is_fit =
                (1..=SETTING_KEY_BYTES_MAX).contains(&rule.key.len()) && clean_name(&rule.key) == rule.key;
            let is_new = self.settings.iter().take(place).all(|before| before.key != rule.key);
            if !is_fit || !is_new {
                let allowed = "1 to 32 bytes that can be shown, each key once";
                return Err(error("settings[].key", &rule.key, allowed));
            }
            let unfit = rule.allowed.iter().find(|value| !rule.allows(value));
            if let Some(value) = unfit {
                return Err(error("settings[].allowed", value, "at most 64 bytes that can be shown"));
            }
            if !rule.allows(&rule.value) {
                let allowed =
                    "at most 64 bytes that can be shown, and one of settings[].allowed if there are any";
                return Err(error("settings[].value", &rule.value, allowed));
            }
        }
        Ok(())
    }
}

/// Bytes that the text of a command may have: cleaning makes it shorter, so more than fits afterwards is accepted.
pub(super) const TYPED_BYTES_MAX: usize = bytes_max(crate::text::CHAT_CHARS_MAX);

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(key: &str, value: &str, allowed: &[&str]) -> SettingRule {
        let allowed = allowed.iter().map(|value| (*value).to_owned()).collect();
        SettingRule { key: key.to_owned(), value: value.to_owned(), allowed }
    }

    #[test]
    fn defaults_are_valid() {
        assert_eq!(LobbyConfig::default().check(), Ok(()));
        assert_eq!(LobbyConfig::solo().check(), Ok(()));
        assert_eq!((LobbyConfig::default().players_min, LobbyConfig::solo().players_min), (2, 1));
    }

    #[test]
    fn each_setting_out_of_its_range_is_named() {
        let valid = LobbyConfig::default;
        let settings = |rules: &[SettingRule]| LobbyConfig { settings: rules.to_vec(), ..valid() };
        let many: Vec<SettingRule> = (0..33).map(|number| rule(&number.to_string(), "", &[])).collect();
        let long = "x".repeat(65);
        let wrong = [
            ("players_max", LobbyConfig { players_max: 65, ..valid() }),
            ("players_max", LobbyConfig { teams: 2, team_players_max: 1, ..valid() }),
            ("spectators_max", LobbyConfig { spectators_max: 65, ..valid() }),
            ("players_min", LobbyConfig { players_min: 5, ..valid() }),
            ("players_min", LobbyConfig { players_min: 0, ..valid() }),
            ("teams", LobbyConfig { teams: 17, ..valid() }),
            ("team_players_max", LobbyConfig { team_players_max: 0, ..valid() }),
            ("countdown", LobbyConfig { countdown: Micros::MAX, ..valid() }),
            ("rate.burst", LobbyConfig { chat: RateRule { per_second: 1, burst: 0 }, ..valid() }),
            ("settings.len()", settings(&many)),
            ("settings[].key", settings(&[rule("", "", &[])])),
            ("settings[].key", settings(&[rule("a\u{202e}b", "", &[])])),
            ("settings[].key", settings(&[rule("map", "", &[]), rule("map", "", &[])])),
            ("settings[].value", settings(&[rule("map", "moon", &["earth"])])),
            ("settings[].value", settings(&[rule("map", &long, &[])])),
            ("settings[].allowed", settings(&[rule("map", "moon", &["moon", &long])])),
        ];
        for (field, config) in wrong {
            assert_eq!(config.check().unwrap_err().field, field);
        }
    }
}
