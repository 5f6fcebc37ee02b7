//! The state machine of a lobby.

use std::collections::{BTreeMap, VecDeque};

use netloom_replica::world::{OwnerId, TeamId};
use netloom_wire::Micros;

use super::command::LobbyCommand;
use super::config::{LateJoin, LobbyConfig, StartRule};
use super::event::{LobbyEvent, Recipient};
use super::refused::LobbyRefused;
use super::state::{LobbyState, Member, Phase, Role};
use crate::names::unique_name;
use crate::text::{CHAT_CHARS_MAX, REASON_CHARS_MAX, clean_line};
use crate::validate::ActionRate;
use netloom_replica::SettingError;

/// Events that wait to be polled, beyond which nothing is accepted that makes more of them.
pub const EVENTS_WAITING_MAX: usize = 512;

/// What is kept of somebody and not shown to others.
#[derive(Debug)]
struct Book {
    commands: ActionRate,
    chat: ActionRate,
    /// Watches only because there was no seat.
    waits_for_seat: bool,
}

/// The players of a room before, during and after a game. See the [module](super).
///
/// ```
/// use netloom_replica::world::OwnerId;
/// use netloom_session::lobby::{Lobby, LobbyCommand, LobbyConfig, LobbyEvent, Recipient};
/// use netloom_wire::Micros;
///
/// let (anna, bert, now) = (OwnerId(1), OwnerId(2), Micros::ZERO);
/// let mut lobby = Lobby::new(LobbyConfig::default())?;
/// lobby.join(anna, "Anna", now)?;
/// lobby.join(bert, "Bert", now)?;
/// lobby.handle(anna, LobbyCommand::Ready(true), now)?;
/// assert_eq!(lobby.poll_event(), None);
/// lobby.handle(bert, LobbyCommand::Ready(true), now)?;
/// for player in [anna, bert] {
///     let started = LobbyEvent::Started { your_id: player };
///     assert_eq!(lobby.poll_event(), Some((Recipient::Player(player), started)));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Lobby {
    config: LobbyConfig,
    state: LobbyState,
    books: BTreeMap<OwnerId, Book>,
    events: VecDeque<(Recipient, LobbyEvent)>,
    countdown: Option<Countdown>,
    /// Whether the state is another one than was polled last.
    is_changed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Countdown {
    ends_at: Micros,
    /// Somebody said so: it goes on even if not everybody is ready.
    is_ordered: bool,
}

impl Lobby {
    /// An empty lobby.
    pub fn new(config: LobbyConfig) -> Result<Lobby, SettingError> {
        config.check()?;
        Ok(Lobby {
            state: LobbyState::empty(&config),
            config,
            books: BTreeMap::new(),
            events: VecDeque::new(),
            countdown: None,
            is_changed: false,
        })
    }

    /// What everybody sees.
    pub fn state(&self) -> &LobbyState {
        &self.state
    }

    /// The state, if it changed since it was polled last. Ask once per tick.
    pub fn poll_state(&mut self, now: Micros) -> Option<&LobbyState> {
        if !std::mem::take(&mut self.is_changed) {
            return None;
        }
        if let Some(countdown) = self.countdown {
            self.state.phase = Phase::Countdown { left: countdown.ends_at - now };
        }
        Some(&self.state)
    }

    /// What is to be told, and to whom.
    pub fn poll_event(&mut self) -> Option<(Recipient, LobbyEvent)> {
        self.events.pop_front()
    }

    /// Begins the game when its countdown is over. Call once per tick.
    pub fn update(&mut self, now: Micros) {
        let is_over = self.countdown.is_some_and(|countdown| countdown.ends_at <= now);
        if is_over && self.has_room_for_events().is_ok() {
            self.begin_game();
        }
    }

    /// Takes somebody in, under a name as it was typed: with a seat, or to watch.
    pub fn join(&mut self, player: OwnerId, name: &str, now: Micros) -> Result<Role, LobbyRefused> {
        if self.state.member(player).is_some() {
            return Err(LobbyRefused::AlreadyHere);
        }
        self.has_room_for_events()?;
        let is_late = self.state.phase == Phase::Playing;
        if is_late && self.config.late_join == LateJoin::Refuse {
            return Err(LobbyRefused::InGame);
        }
        let may_play = !is_late || self.config.late_join == LateJoin::Play;
        let role = if may_play && self.state.has_place(Role::Player) {
            Role::Player
        } else if self.state.has_place(Role::Spectator) {
            Role::Spectator
        } else {
            return Err(LobbyRefused::Full);
        };
        let name = unique_name(name, names(self.state.members.iter()), self.config.duplicate_names)?;
        let rate = |rule| ActionRate::new(rule, now).map_err(|_| LobbyRefused::Busy);
        let book = Book {
            commands: rate(self.config.commands)?,
            chat: rate(self.config.chat)?,
            waits_for_seat: role == Role::Spectator,
        };
        self.books.insert(player, book);
        self.state.members.push(Member { player, name, role: Role::Spectator, team: None, is_ready: false });
        self.state.assign(player, role);
        if is_late {
            self.tell(Recipient::Player(player), LobbyEvent::Started { your_id: player });
        }
        self.changed(now);
        Ok(role)
    }

    /// Lets somebody out who left or was lost.
    pub fn leave(&mut self, player: OwnerId, now: Micros) -> Result<(), LobbyRefused> {
        self.member(player)?;
        self.state.members.retain(|member| member.player != player);
        self.books.remove(&player);
        if self.state.members.is_empty() {
            // Whoever comes next finds a new lobby, not somebody else's settings or the end of a game.
            (self.state, self.countdown) = (LobbyState::empty(&self.config), None);
        }
        self.changed(now);
        Ok(())
    }

    /// Does what a player asks for. A refusal goes back to that player as [`LobbyEvent::Refused`], which is the caller's to send.
    pub fn handle(
        &mut self,
        player: OwnerId,
        command: LobbyCommand<'_>,
        now: Micros,
    ) -> Result<(), LobbyRefused> {
        let book = self.books.get_mut(&player).ok_or(LobbyRefused::UnknownPlayer)?;
        book.commands.take(now).map_err(|_| LobbyRefused::TooOften)?;
        self.has_room_for_events()?;
        match command {
            LobbyCommand::Ready(is_ready) => self.ready(player, is_ready, now),
            LobbyCommand::Team(team) => self.join_team(player, team, now),
            LobbyCommand::Spectate(spectates) => self.spectate(player, spectates, now),
            LobbyCommand::Rename(name) => self.rename(player, name, now),
            LobbyCommand::Set { key, value } => {
                self.as_host(player)?;
                self.set(key, value, now)
            }
            LobbyCommand::Start => {
                self.as_host(player)?;
                self.start_by_host(now)
            }
            LobbyCommand::Cancel => {
                self.as_host(player)?;
                self.cancel(player, now)
            }
            LobbyCommand::Restart => {
                self.as_host(player)?;
                self.restart(now)
            }
            LobbyCommand::Kick { player: other, reason } => {
                self.as_host(player)?;
                if other == player {
                    return Err(LobbyRefused::KickSelf);
                }
                self.kick(other, reason, now)
            }
            LobbyCommand::Chat(text) => self.chat(player, None, text, now),
            LobbyCommand::TeamChat(text) => {
                let team = self.member(player)?.team.ok_or(LobbyRefused::NoTeam)?;
                self.chat(player, Some(team), text, now)
            }
        }
    }

    /// Removes somebody, and tells that one and the others why. The connection is the caller's to end.
    pub fn kick(&mut self, player: OwnerId, reason: &str, now: Micros) -> Result<(), LobbyRefused> {
        self.member(player)?;
        self.has_room_for_events()?;
        let reason = clean_line(reason);
        if reason.chars().count() > REASON_CHARS_MAX {
            return Err(LobbyRefused::TextTooLong);
        }
        let kicked = LobbyEvent::Kicked { player, reason };
        self.tell(Recipient::Player(player), kicked.clone());
        self.leave(player, now)?;
        self.tell(Recipient::Everybody, kicked);
        Ok(())
    }

    /// Begins, ready or not, if enough players are there: for a server that decides.
    pub fn start(&mut self, now: Micros) -> Result<(), LobbyRefused> {
        self.outside_of_games()?;
        self.with_enough_players()?;
        self.begin_countdown(now, true);
        Ok(())
    }

    /// Ends the game: everybody stays, nobody is ready, and who waited for a seat gets one.
    pub fn restart(&mut self, now: Micros) -> Result<(), LobbyRefused> {
        if self.state.phase != Phase::Playing {
            return Err(LobbyRefused::NotInGame);
        }
        self.has_room_for_events()?;
        self.state.phase = Phase::Waiting;
        self.state.members.iter_mut().for_each(|member| member.is_ready = false);
        self.tell(Recipient::Everybody, LobbyEvent::Stopped);
        // In the order in which they came.
        for place in 0..self.state.members.len() {
            let player = self.state.members[place].player;
            if self.state.has_place(Role::Player)
                && self.books.get(&player).is_some_and(|book| book.waits_for_seat)
            {
                self.give_role(player, Role::Player);
            }
        }
        self.changed(now);
        Ok(())
    }

    /// Changes a setting, for a server that decides.
    pub fn set(&mut self, key: &str, value: &str, now: Micros) -> Result<(), LobbyRefused> {
        self.outside_of_games()?;
        let rule = self.config.settings.iter().find(|rule| rule.key == key);
        if !rule.ok_or(LobbyRefused::UnknownSetting)?.allows(value) {
            return Err(LobbyRefused::SettingValue);
        }
        let setting = self.state.settings.iter_mut().find(|(known, _)| known == key);
        let (_, known) = setting.ok_or(LobbyRefused::UnknownSetting)?;
        value.clone_into(known);
        self.changed(now);
        Ok(())
    }

    /// Says something to everybody, as the server.
    pub fn say(&mut self, text: &str) -> Result<(), LobbyRefused> {
        self.has_room_for_events()?;
        let text = fit_line(text)?;
        self.tell(Recipient::Everybody, LobbyEvent::Chat { from: None, team: None, text });
        Ok(())
    }

    fn ready(&mut self, player: OwnerId, is_ready: bool, now: Micros) -> Result<(), LobbyRefused> {
        self.outside_of_games()?;
        let member = self.seated(player)?;
        if member.is_ready != is_ready {
            member.is_ready = is_ready;
            self.changed(now);
        }
        Ok(())
    }

    fn join_team(&mut self, player: OwnerId, team: TeamId, now: Micros) -> Result<(), LobbyRefused> {
        self.outside_of_games()?;
        if usize::from(team.0) >= self.config.teams {
            return Err(LobbyRefused::UnknownTeam);
        }
        let is_full = self.state.team_count(team) >= self.config.team_players_max;
        let member = self.seated(player)?;
        if member.team == Some(team) {
            return Ok(());
        }
        if is_full {
            return Err(LobbyRefused::TeamFull);
        }
        member.team = Some(team);
        self.changed(now);
        Ok(())
    }

    fn spectate(&mut self, player: OwnerId, spectates: bool, now: Micros) -> Result<(), LobbyRefused> {
        self.outside_of_games()?;
        let role = if spectates { Role::Spectator } else { Role::Player };
        if self.member(player)?.role == role {
            return Ok(());
        }
        if !self.state.has_place(role) {
            return Err(if spectates { LobbyRefused::NoSpectators } else { LobbyRefused::Full });
        }
        self.give_role(player, role);
        self.changed(now);
        Ok(())
    }

    fn rename(&mut self, player: OwnerId, name: &str, now: Micros) -> Result<(), LobbyRefused> {
        self.outside_of_games()?;
        let others = self.state.members.iter().filter(|member| member.player != player);
        let name = unique_name(name, names(others), self.config.duplicate_names)?;
        let members = &mut self.state.members;
        let member = members.iter_mut().find(|member| member.player == player);
        member.ok_or(LobbyRefused::UnknownPlayer)?.name = name;
        self.changed(now);
        Ok(())
    }

    fn chat(
        &mut self,
        player: OwnerId,
        team: Option<TeamId>,
        text: &str,
        now: Micros,
    ) -> Result<(), LobbyRefused> {
        let text = fit_line(text)?;
        let book = self.books.get_mut(&player).ok_or(LobbyRefused::UnknownPlayer)?;
        book.chat.take(now).map_err(|_| LobbyRefused::ChatTooOften)?;
        let to = team.map_or(Recipient::Everybody, Recipient::Team);
        self.tell(to, LobbyEvent::Chat { from: Some(player), team, text });
        Ok(())
    }

    fn start_by_host(&mut self, now: Micros) -> Result<(), LobbyRefused> {
        if self.config.start == StartRule::AllReady {
            self.outside_of_games()?;
            self.with_enough_players()?;
            // Were they all ready, it would have begun.
            return if self.countdown.is_some() { Ok(()) } else { Err(LobbyRefused::NotReady) };
        }
        self.start(now)
    }

    fn cancel(&mut self, host: OwnerId, now: Micros) -> Result<(), LobbyRefused> {
        if self.countdown.take().is_none() {
            return Err(LobbyRefused::NoCountdown);
        }
        self.state.phase = Phase::Waiting;
        // Else everybody would still be ready, and it would begin again.
        self.seated(host)?.is_ready = false;
        self.changed(now);
        Ok(())
    }

    /// After each change: who is the host now, and does the game begin, or does it not any more?
    fn changed(&mut self, now: Micros) {
        self.is_changed = true;
        self.state.choose_host(self.config.host);
        if self.state.phase == Phase::Playing {
            return;
        }
        let is_enough = self.with_enough_players().is_ok();
        let is_ready = is_enough && self.state.players().all(|member| member.is_ready);
        let is_ordered = self.countdown.is_some_and(|countdown| countdown.is_ordered);
        let begins_by_itself = is_ready && self.config.start == StartRule::AllReady;
        if begins_by_itself {
            self.begin_countdown(now, is_ordered);
        } else if !(is_enough && is_ordered) {
            self.countdown = None;
            self.state.phase = Phase::Waiting;
        }
    }

    fn begin_countdown(&mut self, now: Micros, is_ordered: bool) {
        let ends_at = self.countdown.map_or(now + self.config.countdown, |running| running.ends_at);
        self.countdown = Some(Countdown { ends_at, is_ordered });
        self.state.phase = Phase::Countdown { left: ends_at - now };
        self.is_changed = true;
        self.update(now);
    }

    fn begin_game(&mut self) {
        self.countdown = None;
        self.state.phase = Phase::Playing;
        self.is_changed = true;
        for member in &self.state.members {
            let started = LobbyEvent::Started { your_id: member.player };
            self.events.push_back((Recipient::Player(member.player), started));
        }
    }

    fn give_role(&mut self, player: OwnerId, role: Role) {
        self.state.assign(player, role);
        if let Some(book) = self.books.get_mut(&player) {
            book.waits_for_seat = false;
        }
    }

    fn tell(&mut self, to: Recipient, event: LobbyEvent) {
        self.events.push_back((to, event));
    }

    fn has_room_for_events(&self) -> Result<(), LobbyRefused> {
        if self.events.len() < EVENTS_WAITING_MAX { Ok(()) } else { Err(LobbyRefused::Busy) }
    }

    fn outside_of_games(&self) -> Result<(), LobbyRefused> {
        if self.state.phase == Phase::Playing { Err(LobbyRefused::InGame) } else { Ok(()) }
    }

    fn with_enough_players(&self) -> Result<(), LobbyRefused> {
        let is_enough = self.state.count(Role::Player) >= self.config.players_min;
        if is_enough { Ok(()) } else { Err(LobbyRefused::TooFew) }
    }

    fn as_host(&self, player: OwnerId) -> Result<(), LobbyRefused> {
        if self.state.host == Some(player) { Ok(()) } else { Err(LobbyRefused::NotHost) }
    }

    fn member(&self, player: OwnerId) -> Result<&Member, LobbyRefused> {
        self.state.member(player).ok_or(LobbyRefused::UnknownPlayer)
    }

    fn seated(&mut self, player: OwnerId) -> Result<&mut Member, LobbyRefused> {
        let members = &mut self.state.members;
        let member = members.iter_mut().find(|member| member.player == player);
        let member = member.ok_or(LobbyRefused::UnknownPlayer)?;
        if member.role == Role::Player { Ok(member) } else { Err(LobbyRefused::Spectator) }
    }
}

fn fit_line(text: &str) -> Result<String, LobbyRefused> {
    let line = clean_line(text);
    match line.chars().count() {
        0 => Err(LobbyRefused::TextEmpty),
        1..=CHAT_CHARS_MAX => Ok(line),
        _ => Err(LobbyRefused::TextTooLong),
    }
}

/// What they are called.
fn names<'a>(members: impl Iterator<Item = &'a Member> + Clone) -> impl Iterator<Item = &'a str> + Clone {
    members.map(|member| member.name.as_str())
}
