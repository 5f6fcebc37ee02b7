//! Seats, teams, and who is the host.

use netloom_replica::world::{OwnerId, TeamId};

use super::config::{HostRule, LobbyConfig};
use super::state::{LobbyState, Phase, Role};

impl LobbyState {
    /// A lobby with nobody in it.
    pub(super) fn empty(config: &LobbyConfig) -> LobbyState {
        let setting = |rule: &super::SettingRule| (rule.key.clone(), rule.value.clone());
        LobbyState {
            phase: Phase::Waiting,
            host: None,
            players_max: config.players_max,
            players_min: config.players_min,
            teams: config.teams,
            spectators_max: config.spectators_max,
            settings: config.settings.iter().map(setting).collect(),
            members: Vec::new(),
        }
    }

    pub(super) fn count(&self, role: Role) -> usize {
        self.members.iter().filter(|member| member.role == role).count()
    }

    pub(super) fn has_place(&self, role: Role) -> bool {
        let places = match role {
            Role::Player => self.players_max,
            Role::Spectator => self.spectators_max,
        };
        self.count(role) < places
    }

    pub(super) fn team_count(&self, team: TeamId) -> usize {
        self.players().filter(|member| member.team == Some(team)).count()
    }

    /// The team with the fewest players, if there are teams.
    pub(super) fn smallest_team(&self) -> Option<TeamId> {
        (0..self.teams as u16).map(TeamId).min_by_key(|team| self.team_count(*team))
    }

    /// Gives somebody another role, with what goes along with it.
    pub(super) fn assign(&mut self, player: OwnerId, role: Role) {
        let team = if role == Role::Player { self.smallest_team() } else { None };
        if let Some(member) = self.members.iter_mut().find(|member| member.player == player) {
            (member.role, member.team, member.is_ready) = (role, team, false);
        }
    }

    /// Keeps the host, if that one still plays, or passes on to whoever came next.
    pub(super) fn choose_host(&mut self, rule: HostRule) {
        let first = self.players().map(|member| member.player).next();
        let is_host = |host: &OwnerId| self.players().any(|member| member.player == *host);
        self.host = match rule {
            HostRule::FirstPlayer => self.host.filter(is_host).or(first),
            HostRule::Server => None,
        };
    }
}
