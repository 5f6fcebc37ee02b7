//! Games with somebody who writes down what happens.
//!
//! A game with witnesses is the same game: every call goes on to it, and what the witnesses do comes after.

use netloom::prelude::*;
use netloom::wire::schema::Value;

use super::scene::SceneFile;
use super::truth::Truth;

/// Who watches a room.
#[derive(Debug, Default)]
pub struct Witnesses {
    pub truth: Option<Truth>,
    pub scene: Option<SceneFile>,
}

impl Witnesses {
    /// Whether anybody does.
    pub fn are_there(&self) -> bool {
        self.truth.is_some() || self.scene.is_some()
    }
}

/// A game that is watched.
pub struct Witnessed<G> {
    game: G,
    witnesses: Witnesses,
}

impl<G> Witnessed<G> {
    /// The same game with witnesses.
    pub fn new(game: G, witnesses: Witnesses) -> Witnessed<G> {
        Witnessed { game, witnesses }
    }
}

impl<G: Game> Game for Witnessed<G> {
    type Input = G::Input;

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        self.game.start(room)
    }

    fn admit(&mut self, room: &Room, candidate: &Candidate<'_>) -> Result<(), Denied> {
        self.game.admit(room, candidate)
    }

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        self.game.join(room, player);
    }

    fn input(
        &mut self,
        room: &mut Room,
        player: PlayerId,
        command: &Command<G::Input>,
    ) -> Result<(), Rejected> {
        self.game.input(room, player, command)
    }

    fn step(&mut self, room: &mut Room) {
        self.game.step(room);
    }

    fn judge(&mut self, room: &mut Room) {
        self.game.judge(room);
        if let Some(truth) = &mut self.witnesses.truth {
            truth.write(room);
        }
    }

    fn told(&mut self, room: &Room) {
        self.game.told(room);
        if let Some(scene) = &mut self.witnesses.scene {
            scene.record(room);
        }
    }

    fn begin(&mut self, room: &mut Room) {
        self.game.begin(room);
    }

    fn finish(&mut self, room: &mut Room) {
        self.game.finish(room);
    }

    fn change_role(&mut self, room: &mut Room, player: PlayerId) {
        self.game.change_role(room, player);
    }

    fn away(&mut self, room: &mut Room, player: PlayerId, is_away: bool) {
        self.game.away(room, player, is_away);
    }

    fn claim(&mut self, room: &mut Room, player: PlayerId, object: ObjectIndex, is_wanted: bool) -> bool {
        self.game.claim(room, player, object, is_wanted)
    }

    fn write(
        &mut self,
        room: &mut Room,
        player: PlayerId,
        object: ObjectIndex,
        field: usize,
        value: Value<'_>,
    ) -> bool {
        self.game.write(room, player, object, field, value)
    }

    fn chat(&mut self, room: &mut Room, player: PlayerId, text: &str) -> bool {
        self.game.chat(room, player, text)
    }

    fn rpc(&mut self, room: &mut Room, from: PlayerId, call: &Call<'_>) -> Result<(), CallRefused> {
        self.game.rpc(room, from, call)
    }

    fn forward(&mut self, room: &mut Room, from: PlayerId, call: &Call<'_>, target: CallTarget) -> bool {
        self.game.forward(room, from, call, target)
    }

    fn leave(&mut self, room: &mut Room, player: PlayerId) {
        self.game.leave(room, player);
    }
}
