//! A game in its room: inputs find their steps, and a panic ends no more than the room.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use netloom_replica::SettingError;
use netloom_replica::server::input_queue::{InputQueue, InputQueueConfig, InputSource};
use netloom_replica::world::ObjectIndex;
use netloom_wire::{Micros, ReadError};

use crate::game::{Candidate, Command, Denied, Game, GameError, PlayerId};
use crate::room::{CallTarget, FieldWrite, Room};
use crate::rpc::{Call, CallRefused};

/// A game whose kind of input is forgotten, so that a server can host several games.
pub(crate) trait Host: Send {
    fn start(&mut self, room: &mut Room) -> Result<(), GameError>;
    fn admit(&mut self, room: &Room, candidate: &Candidate<'_>) -> Result<(), Denied>;
    fn join(&mut self, room: &mut Room, player: PlayerId);
    fn away(&mut self, room: &mut Room, player: PlayerId, is_away: bool);
    fn leave(&mut self, room: &mut Room, player: PlayerId);
    fn claim(&mut self, room: &mut Room, player: PlayerId, object: ObjectIndex, is_wanted: bool) -> bool;
    fn chat(&mut self, room: &mut Room, player: PlayerId, text: &str) -> bool;
    fn rpc(&mut self, room: &mut Room, from: PlayerId, call: &Call<'_>) -> Result<(), CallRefused>;
    fn forward(&mut self, room: &mut Room, from: PlayerId, call: &Call<'_>, target: CallTarget) -> bool;
    fn write(&mut self, room: &mut Room, player: PlayerId, set: &FieldWrite<'_>) -> bool;
    fn step(&mut self, room: &mut Room);
    fn told(&mut self, room: &Room);
    fn begin(&mut self, room: &mut Room);
    fn finish(&mut self, room: &mut Room);
    fn change_role(&mut self, room: &mut Room, player: PlayerId);

    /// A place for the inputs of a player, from the next step on. Watchers need none.
    fn open_inputs(&mut self, room: &Room, player: PlayerId) -> Result<(), SettingError>;
    /// The player is gone, or watches.
    fn close_inputs(&mut self, player: PlayerId);
    fn handle_inputs(&mut self, player: PlayerId, payload: &[u8], now: Micros) -> Result<(), ReadError>;
    /// Hands what became of everybody's inputs to the snapshots.
    fn give_feedback(&self, room: &mut Room);
    /// How long the inputs of a player wait for their steps, in microseconds.
    fn input_wait(&self, player: PlayerId, step: Micros) -> Micros;
}

/// A game, and the inputs of its players.
pub(crate) struct Hosted<G: Game> {
    pub game: G,
    queues: BTreeMap<PlayerId, InputQueue<G::Input>>,
}

impl<G: Game> Hosted<G> {
    pub fn new(game: G) -> Hosted<G> {
        Hosted { game, queues: BTreeMap::new() }
    }
}

impl<G: Game> Host for Hosted<G> {
    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        self.game.start(room)
    }

    fn admit(&mut self, room: &Room, candidate: &Candidate<'_>) -> Result<(), Denied> {
        self.game.admit(room, candidate)
    }

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        self.game.join(room, player);
    }

    fn away(&mut self, room: &mut Room, player: PlayerId, is_away: bool) {
        self.game.away(room, player, is_away);
    }

    fn leave(&mut self, room: &mut Room, player: PlayerId) {
        self.game.leave(room, player);
    }

    fn claim(&mut self, room: &mut Room, player: PlayerId, object: ObjectIndex, is_wanted: bool) -> bool {
        self.game.claim(room, player, object, is_wanted)
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

    fn write(&mut self, room: &mut Room, player: PlayerId, set: &FieldWrite<'_>) -> bool {
        self.game.write(room, player, set.object, set.field, set.value)
    }

    fn told(&mut self, room: &Room) {
        self.game.told(room);
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

    fn step(&mut self, room: &mut Room) {
        let (step, now) = (room.step(), room.now());
        let is_playing = room.is_playing();
        for (&player, queue) in &mut self.queues {
            let Some(taken) = queue.take(step, now) else { continue };
            if !is_playing {
                continue;
            }
            let view = taken.view.and_then(|claimed| room.verify_view(player, claimed));
            let command = Command { step, input: taken.input, source: taken.source, view };
            if let Err(rejected) = self.game.input(room, player, &command) {
                room.reject(player, step, &rejected);
            } else if command.source != InputSource::Client {
                room.touch_owned(player);
            }
        }
        if !is_playing {
            return;
        }
        self.game.step(room);
        room.record();
        self.game.judge(room);
    }

    fn open_inputs(&mut self, room: &Room, player: PlayerId) -> Result<(), SettingError> {
        let config = InputQueueConfig {
            steps_per_second: room.config().steps_per_second,
            window_steps: room.config().input_window_steps,
            starvation: room.config().starvation,
            ..InputQueueConfig::default()
        };
        let queue = InputQueue::new(G::Input::default(), room.step().next(), config)?;
        self.queues.insert(player, queue);
        Ok(())
    }

    fn close_inputs(&mut self, player: PlayerId) {
        self.queues.remove(&player);
    }

    fn handle_inputs(&mut self, player: PlayerId, payload: &[u8], now: Micros) -> Result<(), ReadError> {
        self.queues.get_mut(&player).map_or(Ok(()), |queue| queue.handle_message(payload, now))
    }

    fn give_feedback(&self, room: &mut Room) {
        for (&player, queue) in &self.queues {
            if let Some(feedback) = queue.feedback() {
                room.set_feedback(player, feedback);
            }
        }
    }

    fn input_wait(&self, player: PlayerId, step: Micros) -> Micros {
        let slack = self.queues.get(&player).and_then(InputQueue::slack_steps).unwrap_or(0.0);
        Micros((slack.max(0.0) * step.0 as f64) as u64)
    }
}

/// What a game said when it panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panicked(pub String);

/// Runs a callback of a game. After a panic the game is not called again, so what it left half done is never seen.
pub(crate) fn guarded<R>(callback: impl FnOnce() -> R) -> Result<R, Panicked> {
    catch_unwind(AssertUnwindSafe(callback)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Panicked(text.unwrap_or_else(|| String::from("a panic without words")))
    })
}

/// How long a step is.
pub(crate) fn step_length(steps_per_second: u32) -> Micros {
    Micros(1_000_000 / u64::from(steps_per_second.max(1)))
}
