//! What a game implements to run in a room.
//!
//! ```text
//!   join ──▶ every step:  input, for each player ──▶ step ──▶ judge ──▶ … ──▶ leave
//!                         validate, move             the rest   shots, at what the shooters saw
//! ```
//!
//! Clients say what their players do, never what comes of it. [`Game::input`] looks at each input before it has any effect and
//! may refuse it; the client is told why. All state that others see is in the room's world, which the room replicates.
//!
//! What fits into no step is a call: [`Game::rpc`] handles those of players as they arrive, before the step.
//!
//! A callback that panics ends its room with a report. Other rooms, and the server, go on.

use std::borrow::Cow;

use netloom_replica::input::Input;
use netloom_replica::server::input_queue::InputSource;
use netloom_replica::server::rewind::PastView;
use netloom_replica::world::ObjectIndex;
use netloom_wire::Tick;
use netloom_wire::schema::Value;

pub use netloom_replica::world::OwnerId as PlayerId;

use crate::message::REASON_BYTES_MAX;
use crate::room::{CallTarget, Room};
use crate::rpc::{Call, CallRefused};
use crate::validate::{REASON_TEXT_BYTES_MAX, Reason};

/// Anything that goes wrong in a game.
pub type GameError = Box<dyn std::error::Error + Send + Sync>;

/// A game, as a room runs it. Only `join`, `input` and `leave` are asked of every game.
pub trait Game: Send + 'static {
    /// What a player does in one step; the default is to do nothing.
    type Input: Input + Default + Send;

    /// The room begins: the place to fill the world.
    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        let _ = room;
        Ok(())
    }

    /// Somebody wants in. Whoever is refused is told why.
    fn admit(&mut self, room: &Room, candidate: &Candidate<'_>) -> Result<(), Denied> {
        let _ = (room, candidate);
        Ok(())
    }

    /// A player is here.
    fn join(&mut self, room: &mut Room, player: PlayerId);

    /// What a player does in this step, exactly once for each step. Whatever cannot be is refused, and has no effect.
    fn input(
        &mut self,
        room: &mut Room,
        player: PlayerId,
        command: &Command<Self::Input>,
    ) -> Result<(), Rejected>;

    /// A step of everything else, after the inputs of all players.
    fn step(&mut self, room: &mut Room) {
        let _ = room;
    }

    /// After everything has moved: shots are judged here, at the time that their shooters saw ([`Room::rewind`]).
    fn judge(&mut self, room: &mut Room) {
        let _ = room;
    }

    /// The world as it is now was told to everybody: what [`World::changed`](netloom_replica::world::World::changed) and
    /// the others say is of this send tick. For recorders and other witnesses.
    fn told(&mut self, room: &Room) {
        let _ = room;
    }

    /// The lobby begins the game. Without a lobby the game goes on from the start, and this is never called.
    fn begin(&mut self, room: &mut Room) {
        let _ = room;
    }

    /// The game is over, and everybody is back in the lobby.
    fn finish(&mut self, room: &mut Room) {
        let _ = room;
    }

    /// A player left the seat to watch, or the other way round, in the lobby.
    fn change_role(&mut self, room: &mut Room, player: PlayerId) {
        let _ = (room, player);
    }

    /// A player's connection is lost, and may come back; or it is back. Its objects are as they were.
    fn away(&mut self, room: &mut Room, player: PlayerId, is_away: bool) {
        let _ = (room, player, is_away);
    }

    /// A player asks to own an object, or to give it back. Without this, nobody may.
    fn claim(&mut self, room: &mut Room, player: PlayerId, object: ObjectIndex, is_wanted: bool) -> bool {
        let _ = (room, player, object, is_wanted);
        false
    }

    /// A player sets a field that clients may write: whether that is to be. What the flags of the field forbid never gets here.
    fn write(
        &mut self,
        room: &mut Room,
        player: PlayerId,
        object: ObjectIndex,
        field: usize,
        value: Value<'_>,
    ) -> bool {
        let _ = (room, player, object, field, value);
        true
    }

    /// A player says something: whether others get to hear it.
    fn chat(&mut self, room: &mut Room, player: PlayerId, text: &str) -> bool {
        let _ = (room, player, text);
        true
    }

    /// A player calls something. Whatever has no effect is refused, and the caller is told why. Without this, nothing is
    /// handled. Wrong arguments are refused by `call.args()?`.
    fn rpc(&mut self, room: &mut Room, from: PlayerId, call: &Call<'_>) -> Result<(), CallRefused> {
        let _ = (room, from, call);
        Err(CallRefused::UNHANDLED)
    }

    /// A player calls something on other players, which the options of the call allow: whether it is passed on to them. They
    /// get it from the server, with the caller's id.
    fn forward(&mut self, room: &mut Room, from: PlayerId, call: &Call<'_>, target: CallTarget) -> bool {
        let _ = (room, from, call, target);
        true
    }

    /// A player is gone for good.
    fn leave(&mut self, room: &mut Room, player: PlayerId);
}

/// Somebody who wants in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The name that they want.
    pub name: &'a str,
    /// Whether they only want to watch.
    pub is_spectator: bool,
    /// What the client shows to be let in: the game knows what that is.
    pub ticket: &'a [u8],
}

/// Why somebody is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied(pub String);

/// What a player does in one step.
#[derive(Clone, Debug)]
pub struct Command<I> {
    /// The step.
    pub step: Tick,
    /// What to do.
    pub input: I,
    /// Whether the player sent it, or it was made up because nothing came.
    pub source: InputSource,
    /// What the player saw, verified: for shots. `None` without [`RoomConfig::rewind`](crate::config::RoomConfig::rewind)
    /// or if the client did not say.
    pub view: Option<PastView>,
}

/// An input that has no effect, and why. Its sender is told. The checks of [`validate`](crate::validate) give one by `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Why, for programs.
    pub reason: Reason,
    /// Why, for people, if the reason is the game's own; cut at 120 bytes.
    pub text: Cow<'static, str>,
}

impl Rejected {
    /// A reason of the game's own, 0 to 127 (larger numbers count as 127), with words that are known beforehand.
    pub const fn new(code: u8, text: &'static str) -> Rejected {
        Rejected { reason: Reason::Game(if code < 128 { code } else { 127 }), text: Cow::Borrowed(text) }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text[..self.text.floor_char_boundary(REASON_TEXT_BYTES_MAX)]
    }
}

impl From<crate::validate::Rejected> for Rejected {
    fn from(rejected: crate::validate::Rejected) -> Rejected {
        Rejected::from(rejected.reason)
    }
}

impl From<Reason> for Rejected {
    fn from(reason: Reason) -> Rejected {
        Rejected { reason, text: Cow::Borrowed("") }
    }
}

/// As much of a text as a reason may have.
pub(crate) fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(REASON_BYTES_MAX)]
}
