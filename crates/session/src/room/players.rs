//! The players of a room, as a game sees them.

use netloom_proto::PeerId;
use netloom_replica::server::{PeerConfig, ReplicaPeer};
use netloom_replica::world::{ObjectIndex, TeamId};
use netloom_wire::{Alias, Micros};

use super::incoming::CallAccount;
use super::{Room, Seat};
use crate::channel::{CONTROL, ORDERED};
use crate::game::{Candidate, PlayerId};
use crate::message::{CHAT_BYTES_MAX, Refusal, ToClient};

/// Somebody in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Player<'a> {
    /// Who.
    pub id: PlayerId,
    /// The name they are known by.
    pub name: &'a str,
    /// Whether they only watch.
    pub is_spectator: bool,
    /// Whether their connection is lost, and may come back.
    pub is_away: bool,
    /// What the replication calls them.
    pub replica: ReplicaPeer,
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

    /// Whether there is a seat for somebody, as far as the room is concerned.
    pub(crate) fn check_seat(&self, candidate: &Candidate<'_>) -> Result<(), Refusal> {
        let seats = self.seats.values();
        let taken = seats.clone().filter(|seat| seat.is_spectator == candidate.is_spectator).count();
        let config = &self.config;
        let max = if candidate.is_spectator { config.spectators_max } else { config.players_max };
        if taken >= max {
            return Err(Refusal::RoomFull);
        }
        if !config.same_names && self.seats.values().any(|seat| &*seat.name == candidate.name) {
            return Err(Refusal::NameTaken);
        }
        Ok(())
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
    pub(crate) fn sit(&mut self, player: PlayerId, name: &str, is_spectator: bool, peer: PeerId) {
        let config = PeerConfig::new(player);
        let replica = self.replica.add_peer(config);
        let seat = Seat {
            name: name.into(),
            is_spectator,
            peer: Some(peer),
            replica,
            config,
            follows: None,
            viewpoint: [0.0; 3],
            team: None,
            view_delay: Micros::from_millis(100),
            acked: None,
            is_viewing: false,
            is_held: false,
            account: CallAccount::new(self.protocol.rpcs(), self.config.call_rate, self.clock.time()),
        };
        self.tell_joined(player, peer, name, is_spectator);
        self.seats.insert(player, seat);
    }

    /// A player who was away has a new connection: everything is told anew.
    pub(crate) fn sit_again(&mut self, player: PlayerId, peer: PeerId) -> Option<ReplicaPeer> {
        let seat = self.seats.get_mut(&player)?;
        let before = seat.replica;
        self.replica.remove_peer(before);
        seat.replica = self.replica.add_peer(seat.config);
        (seat.peer, seat.acked, seat.is_viewing) = (Some(peer), None, false);
        if let Some(rewind) = &mut self.rewind {
            rewind.remove_peer(before);
        }
        let others: Vec<(PlayerId, Box<str>, bool)> = self
            .seats
            .iter()
            .filter(|(id, _)| **id != player)
            .map(|(id, seat)| (*id, seat.name.clone(), seat.is_spectator))
            .collect();
        for (id, name, is_spectator) in others {
            self.outbox.push([peer], CONTROL, &ToClient::Joined { player: id.0, is_spectator, name: &name });
        }
        Some(before)
    }

    fn tell_joined(&mut self, player: PlayerId, peer: PeerId, name: &str, is_spectator: bool) {
        let Room { seats, outbox, .. } = self;
        let others = seats.values().filter_map(|seat| seat.peer);
        outbox.push(others, CONTROL, &ToClient::Joined { player: player.0, is_spectator, name });
        for (id, seat) in seats.iter() {
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
    pub(crate) fn stand_up(&mut self, player: PlayerId) {
        let Some(seat) = self.seats.remove(&player) else { return };
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
            is_away: self.peer.is_none(),
            replica: self.replica,
        }
    }
}
