//! The players of a room, as a game sees them.

use netloom_proto::PeerId;
use netloom_replica::server::{PeerConfig, ReplicaPeer};
use netloom_replica::world::{ObjectIndex, TeamId};
use netloom_wire::{Alias, Micros};

use super::{Room, Seat};
use crate::channel::{CONTROL, ORDERED};
use crate::game::{Candidate, PlayerId};
use crate::message::{CHAT_BYTES_MAX, Refusal, ToClient, Welcome};
use crate::names::{NameRefused, unique_name};
use crate::text::{CHAT_CHARS_MAX, clean_line};
use netloom_replica::SettingError;

/// So many players more, and baselines are one tick further apart.
const PLAYERS_PER_BASELINE_TICK: usize = 4;

/// Outcomes of a player's snapshots that come at once, with room for those after a stall.
const OUTCOMES_PER_PLAYER: usize = 16;

/// Somebody in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Player<'a> {
    /// Who.
    pub id: PlayerId,
    /// The name they are known by.
    pub name: &'a str,
    /// Whether they only watch.
    pub is_spectator: bool,
    /// Their connection; `None` while it is lost, and may come back.
    pub peer: Option<PeerId>,
    /// What the replication calls them.
    pub replica: ReplicaPeer,
}

impl Player<'_> {
    /// Whether their connection is lost.
    pub fn is_away(&self) -> bool {
        self.peer.is_none()
    }
}

impl Room {
    /// Everybody here.
    pub fn players(&self) -> impl Iterator<Item = Player<'_>> {
        self.seats.iter().map(|(id, seat)| seat.player(*id))
    }

    /// One of them.
    pub fn player(&self, player: PlayerId) -> Option<Player<'_>> {
        self.seats.get(&player).map(|seat| seat.player(player))
    }

    /// How many there are.
    pub fn player_count(&self) -> usize {
        self.seats.len()
    }

    /// A player looks from where an object is, wherever it goes. What is near is told first, and under a grid only that.
    pub fn follow(&mut self, player: PlayerId, object: ObjectIndex) {
        if let Some(seat) = self.seats.get_mut(&player) {
            seat.follows = Some(object);
        }
    }

    /// A player looks from a place.
    pub fn set_viewpoint(&mut self, player: PlayerId, place: [f32; 3]) {
        if let Some(seat) = self.seats.get_mut(&player) {
            (seat.follows, seat.viewpoint) = (None, place);
        }
    }

    /// Puts a player into a team, or into none.
    pub fn set_team(&mut self, player: PlayerId, team: Option<TeamId>) {
        if let Some(seat) = self.seats.get_mut(&player) {
            seat.team = team;
        }
    }

    /// Says something as a player, or as nobody: to all, or to the team of the player.
    pub fn say(&mut self, from: Option<PlayerId>, to_team: bool, text: &str) {
        let team = from.and_then(|from| self.seats.get(&from)).and_then(|seat| seat.team);
        let hears = |seat: &&Seat| !to_team || (team.is_some() && seat.team == team);
        let peers = self.seats.values().filter(hears).filter_map(|seat| seat.peer);
        let text = &text[..text.floor_char_boundary(CHAT_BYTES_MAX)];
        let message = ToClient::Said { player: from.map_or(0, |from| from.0), to_team, text };
        self.outbox.push(peers, ORDERED, &message);
    }

    /// Whether there is a seat for somebody, as far as the room is concerned, and under which name.
    pub(crate) fn check_seat(&self, candidate: &Candidate<'_>) -> Result<String, Refusal> {
        let taken = self.seats.values().filter(|seat| seat.is_spectator == candidate.is_spectator).count();
        let config = &self.config;
        let max = if candidate.is_spectator { config.spectators_max } else { config.players_max };
        // A lobby has seats of its own, and may have another one for whoever finds none.
        if taken >= max && config.lobby.is_none() {
            return Err(Refusal::RoomFull);
        }
        let names = self.seats.values().map(|seat| &*seat.name);
        unique_name(candidate.name, names, config.duplicate_names).map_err(|refused| match refused {
            NameRefused::Empty | NameRefused::TooLong => Refusal::BadName,
            NameRefused::Taken => Refusal::NameTaken,
        })
    }

    /// What a player said, fit to be heard by others; `None` if it is nothing, or too much.
    pub(crate) fn heard(&mut self, now: Micros, player: PlayerId, text: &str) -> Option<String> {
        let seat = self.seats.get_mut(&player)?;
        seat.chat.take(now).ok()?;
        let line = clean_line(text);
        (1..=CHAT_CHARS_MAX).contains(&line.chars().count()).then_some(line)
    }

    /// Whether another message with inputs may come from a player now.
    pub(crate) fn may_act(&mut self, now: Micros, player: PlayerId) -> bool {
        self.seats.get_mut(&player).is_some_and(|seat| seat.inputs.take(now).is_ok())
    }

    /// The object that a player calls by an alias.
    pub(crate) fn object_called(&self, player: PlayerId, alias: Alias) -> Option<ObjectIndex> {
        self.replica.object_of(self.seats.get(&player)?.replica, alias)
    }

    /// Gives an object to a player, or takes it back from them.
    pub(crate) fn hand_over(&mut self, player: PlayerId, object: ObjectIndex, is_wanted: bool) -> bool {
        let owner = self.world().object(object).and_then(|object| object.owner());
        if !is_wanted && owner != Some(player) {
            return false;
        }
        self.world_mut().set_owner(object, is_wanted.then_some(player)).is_ok()
    }

    /// Tells a player what became of a claim.
    pub(crate) fn answer_claim(&mut self, player: PlayerId, object: Alias, is_granted: bool) {
        let peer = self.seats.get(&player).and_then(|seat| seat.peer);
        self.outbox.push(peer, CONTROL, &ToClient::Claimed { object, is_granted });
    }

    /// The seat that somebody gets; everybody else is told, and they of everybody.
    pub(crate) fn sit(
        &mut self,
        now: Micros,
        player: PlayerId,
        name: &str,
        is_spectator: bool,
        peer: PeerId,
    ) -> Result<(), SettingError> {
        let config = PeerConfig::new(player);
        let replica = self.replica.add_peer(config);
        let seat =
            Seat::new(now, &self.config, self.protocol.rpcs(), name, is_spectator, peer, (replica, config))?;
        self.tell_joined(player, peer, name, is_spectator);
        self.seats.insert(player, seat);
        self.outcomes.reserve(OUTCOMES_PER_PLAYER * self.seats.len());
        self.share_baselines();
        Ok(())
    }

    /// Says where a seat is, before everything else that was said to its connection; the name that it is known by.
    pub(crate) fn welcome(
        &mut self,
        player: PlayerId,
        peer: PeerId,
        calls_hash: u64,
        is_resumed: bool,
    ) -> Option<String> {
        let has_same_calls = self.protocol.rpcs().hash() == calls_hash;
        let seat = self.seats.get(&player)?;
        let message = ToClient::Welcome(Welcome {
            player: player.0,
            is_resumed,
            has_same_calls,
            is_spectator: seat.is_spectator,
            tick: self.replica.tick(),
            step: self.clock.step(),
            steps_per_second: self.config.steps_per_second as u16,
            sends_per_second: self.config.sends_per_second as u16,
            objects: self.replica.world().len() as u32,
            room: &self.config.name,
        });
        self.outbox.push_first(peer, CONTROL, &message);
        let name = seat.name.to_string();
        if !has_same_calls {
            self.tell_calls(peer);
        }
        Some(name)
    }

    /// A player who was away has a new connection: everything is told anew.
    pub(crate) fn sit_again(
        &mut self,
        now: Micros,
        player: PlayerId,
        peer: PeerId,
    ) -> Result<(), SettingError> {
        let Some(seat) = self.seats.get_mut(&player) else { return Ok(()) };
        let before = seat.replica;
        self.replica.remove_peer(before);
        let replica = self.replica.add_peer(seat.config);
        seat.renew(now, &self.config, peer, replica)?;
        if let Some(rewind) = &mut self.rewind {
            rewind.remove_peer(before);
        }
        self.tell_of_others(player, peer);
        self.tell_lobby(peer);
        Ok(())
    }

    /// Baselines that are shared are fewer codes to make, and older ones larger updates: where only every fourth tick
    /// is one, those of tumbling boxes take a quarter more. So few players build on the newest, and many share.
    fn share_baselines(&mut self) {
        let ticks = self.seats.len().div_ceil(PLAYERS_PER_BASELINE_TICK) as u32;
        self.replica.set_baseline_ticks(ticks.clamp(1, self.config.replication.baseline_ticks));
    }

    fn tell_joined(&mut self, player: PlayerId, peer: PeerId, name: &str, is_spectator: bool) {
        let others = self.seats.values().filter_map(|seat| seat.peer);
        self.outbox.push(others, CONTROL, &ToClient::Joined { player: player.0, is_spectator, name });
        self.tell_of_others(player, peer);
    }

    /// Tells somebody who else is here.
    fn tell_of_others(&mut self, player: PlayerId, peer: PeerId) {
        let Room { seats, outbox, .. } = self;
        for (id, seat) in seats.iter().filter(|(id, _)| **id != player) {
            let Seat { is_spectator, .. } = *seat;
            let message = ToClient::Joined { player: id.0, is_spectator, name: &seat.name };
            outbox.push([peer], CONTROL, &message);
        }
    }

    /// Whether snapshots to a player wait.
    pub(crate) fn set_held(&mut self, player: PlayerId, is_held: bool) {
        if let Some(seat) = self.seats.get_mut(&player) {
            seat.is_held = is_held;
        }
    }

    /// The connection of a player is lost.
    pub(crate) fn set_away(&mut self, player: PlayerId) {
        if let Some(seat) = self.seats.get_mut(&player) {
            seat.peer = None;
        }
    }

    /// A player is gone for good.
    pub(crate) fn stand_up(&mut self, now: Micros, player: PlayerId) {
        let Some(seat) = self.seats.remove(&player) else { return };
        self.share_baselines();
        self.leave_lobby(now, player);
        self.replica.remove_peer(seat.replica);
        self.groups.forget(player);
        if let Some(rewind) = &mut self.rewind {
            rewind.remove_peer(seat.replica);
        }
        let others = self.seats.values().filter_map(|seat| seat.peer);
        self.outbox.push(others, CONTROL, &ToClient::Left { player: player.0 });
    }
}

impl Seat {
    fn player(&self, id: PlayerId) -> Player<'_> {
        Player {
            id,
            name: &self.name,
            is_spectator: self.is_spectator,
            peer: self.peer,
            replica: self.replica,
        }
    }
}
