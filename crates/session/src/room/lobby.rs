//! The lobby of a room: who plays, and when.
//!
//! Until its lobby begins the game a room stands still: its world is told, but nothing steps. What the lobby says of a player
//! (a seat or a place to watch from, the name, the team) is so in the room as well.

use netloom_proto::PeerId;
use netloom_wire::Micros;

use super::Room;
use crate::channel::CONTROL;
use crate::game::PlayerId;
use crate::lobby::{
    LOBBY_EVENT_BYTES_MAX, LOBBY_STATE_BYTES_MAX, Lobby, LobbyCommand, LobbyEvent, LobbyRefused, LobbyState,
    Phase, Recipient, Role,
};
use crate::message::{LobbyNews, ToClient};

/// What the lobby decided, for the game to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LobbyTurn {
    /// The game begins.
    Started,
    /// The game is over, and everybody is back.
    Stopped,
    /// A player watches now, or plays.
    Role(PlayerId),
}

impl Room {
    /// Who is in the lobby and what it is doing; `None` for a room without one.
    pub fn lobby(&self) -> Option<&LobbyState> {
        self.lobby.as_ref().map(Lobby::state)
    }

    /// Whether the game goes on: always, unless a lobby has not begun it.
    pub fn is_playing(&self) -> bool {
        self.lobby().is_none_or(|lobby| lobby.phase == Phase::Playing)
    }

    /// Begins the game, ready or not, if enough players are there.
    pub fn start_game(&mut self) -> Result<(), LobbyRefused> {
        let now = self.now();
        self.lobby.as_mut().map_or(Err(LobbyRefused::InGame), |lobby| lobby.start(now))
    }

    /// Ends the game: everybody is back in the lobby.
    pub fn end_game(&mut self) -> Result<(), LobbyRefused> {
        let now = self.now();
        self.lobby.as_mut().map_or(Err(LobbyRefused::NotInGame), |lobby| lobby.restart(now))
    }

    /// Somebody comes into the lobby, if there is one: with which role, and under which name.
    pub(crate) fn join_lobby(
        &mut self,
        now: Micros,
        player: PlayerId,
        name: &str,
        is_spectator: bool,
    ) -> Result<Option<(bool, String)>, LobbyRefused> {
        let Some(lobby) = &mut self.lobby else { return Ok(None) };
        lobby.join(player, name, now)?;
        if is_spectator {
            lobby.handle(player, LobbyCommand::Spectate(true), now)?;
        }
        let member = lobby.state().member(player).ok_or(LobbyRefused::UnknownPlayer)?;
        Ok(Some((member.role == Role::Spectator, member.name.clone())))
    }

    pub(super) fn leave_lobby(&mut self, now: Micros, player: PlayerId) {
        if let Some(lobby) = &mut self.lobby {
            // Whoever was kicked by it has left it already.
            let _left = lobby.leave(player, now);
        }
    }

    /// Tells somebody with a new connection how things stand.
    pub(super) fn tell_lobby(&mut self, peer: PeerId) {
        let Some(lobby) = &self.lobby else { return };
        let mut bytes = [0; LOBBY_STATE_BYTES_MAX];
        if let Ok(length) = lobby.state().write(&mut bytes) {
            self.outbox.push([peer], CONTROL, &ToClient::Lobby(LobbyNews::State, &bytes[..length]));
        }
    }

    /// Does what a player asks of the lobby; whether that made sense.
    pub(crate) fn handle_lobby(&mut self, now: Micros, player: PlayerId, command: &[u8]) -> bool {
        let Ok(command) = LobbyCommand::read(command) else { return false };
        let Some(lobby) = &mut self.lobby else { return false };
        if let Err(refused) = lobby.handle(player, command, now) {
            self.tell_event(Recipient::Player(player), &LobbyEvent::Refused(refused));
        }
        true
    }

    /// A line of chat goes through the lobby, where there is one.
    pub(crate) fn chat_in_lobby(&mut self, now: Micros, player: PlayerId, to_team: bool, text: &str) -> bool {
        let Some(lobby) = &mut self.lobby else { return false };
        let command = if to_team { LobbyCommand::TeamChat(text) } else { LobbyCommand::Chat(text) };
        if let Err(refused) = lobby.handle(player, command, now) {
            self.tell_event(Recipient::Player(player), &LobbyEvent::Refused(refused));
        }
        true
    }

    /// Moves the lobby on, tells what happened there, and what of it concerns the game.
    pub(crate) fn update_lobby(&mut self, now: Micros, turns: &mut Vec<LobbyTurn>) {
        let Some(lobby) = &mut self.lobby else { return };
        lobby.update(now);
        let was_playing = self.is_playing;
        while let Some((recipient, event)) = self.lobby.as_mut().and_then(Lobby::poll_event) {
            if let (Recipient::Player(player), LobbyEvent::Kicked { player: kicked, reason }) =
                (recipient, &event)
                && player == *kicked
            {
                self.kicked.push((player, reason.clone()));
            }
            match event {
                LobbyEvent::Chat { from, team, text } => self.say(from, team.is_some(), &text),
                event => self.tell_event(recipient, &event),
            }
        }
        self.is_playing = self.is_playing();
        match (was_playing, self.is_playing) {
            (false, true) => turns.push(LobbyTurn::Started),
            (true, false) => turns.push(LobbyTurn::Stopped),
            _ => {}
        }
        self.tell_state(now, turns);
    }

    fn tell_state(&mut self, now: Micros, turns: &mut Vec<LobbyTurn>) {
        let Room { lobby: Some(lobby), seats, outbox, .. } = self else { return };
        let Some(state) = lobby.poll_state(now) else { return };
        for member in &state.members {
            let Some(seat) = seats.get_mut(&member.player) else { continue };
            let is_spectator = member.role == Role::Spectator;
            if seat.is_spectator != is_spectator {
                turns.push(LobbyTurn::Role(member.player));
            }
            (seat.is_spectator, seat.team) = (is_spectator, member.team);
            if *seat.name != *member.name {
                seat.name = member.name.as_str().into();
            }
        }
        let mut bytes = [0; LOBBY_STATE_BYTES_MAX];
        if let Ok(length) = state.write(&mut bytes) {
            let peers = seats.values().filter_map(|seat| seat.peer);
            outbox.push(peers, CONTROL, &ToClient::Lobby(LobbyNews::State, &bytes[..length]));
        }
    }

    fn tell_event(&mut self, recipient: Recipient, event: &LobbyEvent) {
        let mut bytes = [0; LOBBY_EVENT_BYTES_MAX];
        let Ok(length) = event.write(&mut bytes) else { return };
        let concerns = |player: PlayerId, team| match recipient {
            Recipient::Everybody => true,
            Recipient::Team(of) => team == Some(of),
            Recipient::Player(of) => player == of,
        };
        let seats = self.seats.iter().filter(|(player, seat)| concerns(**player, seat.team));
        let peers = seats.filter_map(|(_, seat)| seat.peer);
        self.outbox.push(peers, CONTROL, &ToClient::Lobby(LobbyNews::Event, &bytes[..length]));
    }
}
