//! A room with its game, as the server runs it.

use netloom_proto::{Endpoint, PeerId};
use netloom_wire::{Alias, Micros};

use crate::game::{Candidate, Denied, PlayerId};
use crate::host::{Host, Panicked, guarded, step_length};
use crate::lobby::LobbyRefused;
use crate::message::{CallRefusal, Refusal};
use crate::room::{CallTarget, LobbyTurn, Room, RoomError, Stopped, Telling};
use crate::rpc::CallRefused;

/// A room and its game.
pub(crate) struct Hall {
    pub room: Room,
    host: Box<dyn Host>,
    /// Why it ended, if it did.
    ended: Option<Ended>,
    /// Scratch: what the lobby decided.
    turns: Vec<LobbyTurn>,
}

/// How a room ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub reason: String,
    pub by_panic: bool,
}

impl std::fmt::Debug for Hall {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Hall").field("room", &self.room).field("ended", &self.ended).finish()
    }
}

impl Hall {
    /// Opens a room: the game fills its world.
    pub fn open(mut room: Room, mut host: Box<dyn Host>) -> Result<Hall, RoomError> {
        match guarded(|| host.start(&mut room)) {
            Ok(started) => started.map_err(RoomError::Game)?,
            Err(Panicked(text)) => return Err(RoomError::Game(text.into())),
        }
        Ok(Hall { room, host, ended: None, turns: Vec::new() })
    }

    /// How it ended, if it did.
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// Calls the game, unless the room has ended.
    fn call<R>(&mut self, callback: impl FnOnce(&mut dyn Host, &mut Room) -> R) -> Option<R> {
        if self.ended.is_some() {
            return None;
        }
        let Hall { room, host, ended, .. } = self;
        let result = match guarded(|| callback(&mut **host, room)) {
            Ok(result) => Some(result),
            Err(Panicked(text)) => {
                tracing::error!(
                    room = room.name(),
                    step = room.step().0,
                    panic = text,
                    "the game panicked: its room ends"
                );
                *ended = Some(Ended { reason: format!("the game failed: {text}"), by_panic: true });
                None
            }
        };
        if let (None, Some(reason)) = (&self.ended, self.room.take_ending()) {
            self.ended = Some(Ended { reason, by_panic: false });
        }
        result
    }

    /// Whether somebody may have a seat.
    pub fn admit(&mut self, candidate: &Candidate<'_>) -> Result<String, (Refusal, String)> {
        if let Some(ended) = &self.ended {
            return Err((Refusal::RoomClosed, ended.reason.clone()));
        }
        let name = self.room.check_seat(candidate).map_err(|refusal| (refusal, refusal.to_string()))?;
        let named = Candidate { name: &name, ..*candidate };
        match self.call(|host, room| host.admit(room, &named)) {
            Some(Ok(())) => Ok(name),
            Some(Err(Denied(text))) => Err((Refusal::Denied, text)),
            None => Err((Refusal::RoomClosed, Refusal::RoomClosed.to_string())),
        }
    }

    /// Gives somebody a seat.
    pub fn sit(
        &mut self,
        now: Micros,
        player: PlayerId,
        name: &str,
        is_spectator: bool,
        peer: PeerId,
    ) -> Result<(), (Refusal, String)> {
        let joined = self.room.join_lobby(now, player, name, is_spectator).map_err(|refused| {
            let refusal = match refused {
                LobbyRefused::Full => Refusal::RoomFull,
                LobbyRefused::NameTaken => Refusal::NameTaken,
                LobbyRefused::NameEmpty | LobbyRefused::NameTooLong => Refusal::BadName,
                _ => Refusal::Denied,
            };
            (refusal, refused.to_string())
        })?;
        let (is_spectator, name) = joined.unwrap_or_else(|| (is_spectator, name.to_owned()));
        let sat = self.room.sit(now, player, &name, is_spectator, peer);
        sat.map_err(|error| (Refusal::RoomClosed, error.to_string()))
    }

    /// Somebody has a seat.
    pub fn join(&mut self, player: PlayerId) {
        self.open_inputs(player);
        self.call(|host, room| host.join(room, player));
    }

    /// Somebody has a new connection.
    pub fn come_back(&mut self, player: PlayerId) {
        self.open_inputs(player);
        self.call(|host, room| host.away(room, player, false));
    }

    fn open_inputs(&mut self, player: PlayerId) {
        if self.room.player(player).is_some_and(|player| !player.is_spectator) {
            // The settings were checked when the room was opened.
            let _checked = self.host.open_inputs(&self.room, player);
        }
    }

    /// Somebody's connection is lost.
    pub fn lose(&mut self, player: PlayerId) {
        self.room.set_away(player);
        self.call(|host, room| host.away(room, player, true));
    }

    /// Somebody is gone for good.
    pub fn leave(&mut self, now: Micros, player: PlayerId) {
        self.host.close_inputs(player);
        self.room.stand_up(now, player);
        self.call(|host, room| host.leave(room, player));
    }

    /// What a player does; whether that could be read. Too much at once is dropped and no offence: a network that held it
    /// back, or a server that stood still, lets hundreds arrive together, and the next message says the last of it again.
    pub fn handle_inputs(&mut self, player: PlayerId, payload: &[u8], now: Micros) -> bool {
        !self.room.may_act(now, player) || self.host.handle_inputs(player, payload, now).is_ok()
    }

    /// A player says something.
    pub fn chat(&mut self, now: Micros, player: PlayerId, to_team: bool, text: &str) {
        let Some(text) = self.room.heard(now, player, text) else { return };
        let is_heard = self.call(|host, room| host.chat(room, player, &text)) == Some(true);
        if is_heard && !self.room.chat_in_lobby(now, player, to_team, &text) {
            self.room.say(Some(player), to_team, &text);
        }
    }

    /// The lobby moves on, and the game hears what concerns it.
    #[inline(never)] // what it writes lies on the stack, in every tick of rooms without a lobby too if this were part of `run`
    fn update_lobby(&mut self, now: Micros) {
        let mut turns = std::mem::take(&mut self.turns);
        self.room.update_lobby(now, &mut turns);
        for turn in turns.drain(..) {
            match turn {
                LobbyTurn::Started => drop(self.call(|host, room| host.begin(room))),
                LobbyTurn::Stopped => drop(self.call(|host, room| host.finish(room))),
                LobbyTurn::Role(player) => {
                    self.host.close_inputs(player);
                    self.open_inputs(player);
                    self.call(|host, room| host.change_role(room, player));
                }
            }
        }
        self.turns = turns;
    }

    /// A player sets a field; whether the message made sense.
    pub fn write(&mut self, player: PlayerId, alias: Alias, field: u8, value: &[u8]) -> bool {
        let Ok(wish) = self.room.read_write(player, alias, field, value) else { return false };
        let Some(set) = wish else { return true };
        let is_agreed = self.call(|host, room| host.write(room, player, &set)) == Some(true);
        if let Err(refused) = self.room.write_for(player, &set, is_agreed) {
            tracing::debug!(player = player.0, %refused, "a client's write has no effect");
        }
        true
    }

    /// A player asks for an object.
    pub fn claim(&mut self, player: PlayerId, alias: Alias, is_wanted: bool) {
        let granted = self.room.object_called(player, alias).is_some_and(|object| {
            self.call(|host, room| host.claim(room, player, object, is_wanted)) == Some(true)
                && self.room.hand_over(player, object, is_wanted)
        });
        self.room.answer_claim(player, alias, granted);
    }

    /// A player calls something; whether that made sense.
    pub fn handle_call(&mut self, now: Micros, from: PlayerId, channel: u8, frame: &[u8]) -> bool {
        let protocol = self.room.protocol().clone();
        let (call, target) = match self.room.admit_call(now, from, channel, &protocol, frame) {
            Ok(admitted) => admitted,
            Err(Stopped::Nonsense) => return false,
            Err(Stopped::Refused { id, refused, made_sense }) => {
                self.room.refuse_call(now, from, id, &refused);
                return made_sense;
            }
        };
        let target = CallTarget::of_client(target, from, call.object());
        // What nobody owns is the server's.
        let is_ours = |object| self.room.owner_here(object).is_none();
        let target =
            target.filter(|target| !matches!(target, CallTarget::OwnerOf(object) if is_ours(*object)));
        let refused = match target {
            None => self.call(|host, room| host.rpc(room, from, &call)).and_then(Result::err),
            Some(target) => match self.call(|host, room| host.forward(room, from, &call, target)) {
                Some(true) => self.room.pass_on(from, target, &call).err().map(|error| {
                    tracing::warn!(room = self.room.name(), %error, "a call is not passed on");
                    CallRefused::of(CallRefusal::NotPassedOn)
                }),
                Some(false) => Some(CallRefused::of(CallRefusal::NotPassedOn)),
                None => None,
            },
        };
        if let Some(refused) = refused {
            self.room.refuse_call(now, from, call.id(), &refused);
        }
        true
    }

    /// Makes the steps that are due, and tells of them.
    pub fn run(&mut self, now: Micros, telling: &mut Telling<'_>) {
        if self.room.lobby().is_some() {
            self.update_lobby(now);
        }
        self.room.handle_time(now);
        while self.ended.is_none() && self.room.poll_step() {
            self.set_timings(telling.endpoint);
            self.call(|host, room| host.step(room));
            if self.room.is_told() && self.ended.is_none() {
                self.host.give_feedback(&mut self.room);
                if let Err(error) = self.room.tell(telling) {
                    tracing::error!(room = self.room.name(), %error, "the world could not be told");
                    self.ended = Some(Ended { reason: error.to_string(), by_panic: false });
                } else {
                    self.call(|host, room| host.told(room));
                }
            }
        }
        // Before anybody is let go of: a last call is for them too.
        self.room.send_calls(false);
    }

    /// What shots are judged by.
    fn set_timings(&mut self, endpoint: &Endpoint) {
        if self.room.rewind().is_none() {
            return;
        }
        let step = step_length(self.room.config().steps_per_second);
        let Hall { room, host, .. } = self;
        room.update_timings(|player, peer| {
            let rtt = endpoint.rtt(peer)?;
            Some((rtt, host.input_wait(player, step)))
        });
    }
}
