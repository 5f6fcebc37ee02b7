//! The own character, ahead of the server.
//!
//! The server's word on what a player did arrives a round trip later. A client that waits for it feels sluggish at 50 ms
//! and unplayable at 200. So it runs the same step as the server, at once, and keeps what it did and what came of it.
//! When the server's word arrives, it is about the past: about the state after step 41, while the client is at 46.
//!
//! ```text
//!   log          │ 41 │ 42 │ 43 │ 44 │ 45 │ 46 │       input and predicted state of each step
//!                   ▲                        ▲ present: what the player feels
//!   server says: after step 41 it was so
//!
//!   the same     drop 41, nothing else happens
//!   different    the server's state, then step 42, 43, 44, 45, 46 again with the same inputs
//! ```
//!
//! So the state is always exactly what follows from the server's newest word. What the player *sees* must not jump,
//! though: the difference between the old present and the new one becomes an offset of the view, which decays:
//!
//! ```text
//!   distance     0 ───── small ──────────── large ─────▶
//!                 ignored  │  offset × e^(−k·t)  │ jump, reported
//! ```
//!
//! The offset is relative to the present, so the view never moves towards a place that is out of date, and it decays with
//! time and not with frames: as fast at 30 frames a second as at 144.
//!
//! Prediction is chosen per object: one [`Predictor`] each. Who makes none pays nothing. What follows an input besides
//! the object's own motion, such as a bullet, is in [`PredictedSpawns`].

mod config;
mod offset;
mod report;
mod spawn;

pub use config::{PredictConfig, PredictError};
pub use report::{FieldErrors, Misprediction, PredictReport};
pub use spawn::{PredictedSpawns, SpawnError, SpawnKey};

use std::collections::VecDeque;

use netloom_wire::{Alias, Micros, Tick};

use super::ReplicaClient;
use crate::input::{Input, ViewTime, write_inputs};
use crate::pose::Pose;
use crate::rate::parts_at;
use crate::snapshot::nearest_tick;
use crate::space::normalized;
use crate::step::{Describe, Fields};
use offset::Offset;
use report::Ledger;

/// One step that the server has not confirmed.
#[derive(Clone, Debug)]
struct Logged<State, Input> {
    step: Tick,
    input: Input,
    /// After the step.
    state: State,
}

/// How much a correction changes of what the player sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Too little to be seen: the view follows at once.
    Small,
    /// The view follows smoothly.
    Medium,
    /// The view jumps.
    Large,
}

/// The present is another one than the client thought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    /// The step of which the server spoke.
    pub step: Tick,
    /// How many steps were run again from there.
    pub replayed: usize,
    /// How much of it is seen.
    pub severity: Severity,
    /// How far the present moved, in metres.
    pub metres: f64,
    /// How far it turned, in radians.
    pub radians: f32,
}

/// What came of the server's word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reconciled {
    /// It is not newer than what was known.
    Stale,
    /// It is as predicted.
    Confirmed,
    /// It is not, and the present follows from it now.
    Corrected(Correction),
}

/// Why an input was not simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPredicted {
    /// The server has confirmed nothing for longer than the log holds.
    #[error("prediction pauses: the server has confirmed nothing for as long as the log of inputs reaches")]
    Paused,
    /// A step comes after the one before it.
    #[error("step {step:?} is not newer than step {newest:?}, which was simulated already")]
    NotNewer {
        /// The step that was asked for.
        step: Tick,
        /// The newest so far.
        newest: Tick,
    },
}

/// One object of which the client is ahead of the server.
///
/// ```
/// # use netloom_replica::step::{Describe, Fields, Step};
/// # use netloom_wire::{Micros, Profile};
/// use netloom_replica::client::predict::{PredictConfig, Predictor, Reconciled};
/// use netloom_wire::Tick;
///
/// # struct Walk;
/// # impl Step for Walk {
/// #     type State = [f32; 3];
/// #     type Input = [u8; 1];
/// #     fn step(&self, place: &mut [f32; 3], input: &[u8; 1]) { place[0] += f32::from(input[0]) * 0.1; }
/// # }
/// # impl Describe for Walk {
/// #     fn describe(&self, place: &[f32; 3], fields: &mut Fields) {
/// #         fields.position("place", Profile::Standard, *place);
/// #     }
/// # }
/// let mut own = Predictor::new(Walk, Tick(40), [0.0; 3], PredictConfig::default())?;
///
/// // Every step: react at once, and send what the server has not confirmed.
/// own.apply_local(Tick(41), [1])?;
/// assert_eq!(own.state()[0], 0.1);
/// let mut message = [0; 128];
/// let length = own.write_inputs(None, &mut message);
/// assert_eq!(length, Some(4));
///
/// // When the server speaks: it was so after step 41.
/// assert_eq!(own.handle_state(Tick(41), &[0.1, 0.0, 0.0]), Reconciled::Confirmed);
///
/// // Every frame: what to show.
/// own.advance_view(Micros::from_millis(7));
/// assert_eq!(own.view().position[0], f64::from(0.1f32));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Predictor<S: Describe> {
    step: S,
    config: PredictConfig,
    log: VecDeque<Logged<S::State, S::Input>>,
    capacity: usize,
    silence_steps: u64,
    /// The newest step that is settled, and the state after it.
    confirmed: (Tick, S::State),
    /// The newest step whose state the server has told, and that state.
    told: (Tick, S::State),
    /// Since which step the server is silent about an object that is not as it was told.
    silent_since: Option<Tick>,
    /// The newest step of the log that is settled, and its input.
    settled: Option<(Tick, S::Input)>,
    /// Whether an input was refused since the log became full.
    has_refused: bool,
    /// Where the present is, and the state before it.
    present: Option<Pose>,
    before: Option<Pose>,
    offset: Offset,
    ledger: Ledger<S::Input>,
    /// Scratch: the fields of the two states that are compared.
    own: Fields,
    servers: Fields,
}

impl<S: Describe<Input: Clone>> Predictor<S> {
    /// Predicts from a state that the server has told, after `step`.
    pub fn new(
        step: S,
        at: Tick,
        state: S::State,
        config: PredictConfig,
    ) -> Result<Predictor<S>, PredictError> {
        let capacity = config.capacity()?;
        let mut own = Fields::new();
        step.describe(&state, &mut own);
        PredictError::check_fields(&own)?;
        Ok(Predictor {
            ledger: Ledger::new(&own),
            present: pose_in(&own, None),
            before: pose_in(&own, None),
            step,
            config,
            log: VecDeque::with_capacity(capacity),
            capacity,
            silence_steps: parts_at(config.silence, config.steps_per_second, 1).max(1),
            told: (at, state.clone()),
            silent_since: None,
            confirmed: (at, state),
            settled: None,
            has_refused: false,
            offset: Offset::default(),
            own,
            servers: Fields::new(),
        })
    }

    /// As [`new`](Predictor::new), for an object that a client must have in sight and own: without replication there is
    /// nothing to be confirmed. When the object leaves or is told anew, ask [`PredictError::check_own`] whether that still
    /// holds, and drop the predictor if not: [`ReplicaClient::confirmed`] has nothing more for it.
    pub fn of_object(
        client: &ReplicaClient,
        alias: Alias,
        step: S,
        at: Tick,
        state: S::State,
        config: PredictConfig,
    ) -> Result<Predictor<S>, PredictError> {
        PredictError::check_own(client, alias)?;
        Predictor::new(step, at, state, config)
    }

    /// Simulates a step with what the player does, at once. Steps may be left out, never repeated.
    pub fn apply_local(&mut self, step: Tick, input: S::Input) -> Result<&S::State, NotPredicted> {
        let newest = self.newest();
        if !step.is_newer_than(newest) {
            return Err(NotPredicted::NotNewer { step, newest });
        }
        if self.is_paused() {
            self.ledger.report.pauses += u64::from(!self.has_refused);
            self.has_refused = true;
            return Err(NotPredicted::Paused);
        }
        self.has_refused = false;
        let mut state = self.state().clone();
        self.step.step(&mut state, &input);
        self.before = self.present;
        self.present = pose_of(&self.step, &state, &mut self.own, self.present);
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::ReactionLate) {
            self.present = self.before;
        }
        self.log.push_back(Logged { step, input, state });
        Ok(self.state())
    }

    /// The server says how the object was after a step. Of the step only the low 16 bits count, which is what crosses the
    /// wire: the one nearest to the newest here is meant.
    pub fn handle_state(&mut self, step: Tick, server: &S::State) -> Reconciled {
        self.reconcile(step, server, false)
    }

    /// As [`handle_state`](Predictor::handle_state), for an object that the server has moved somewhere else: if that was
    /// not predicted, the view jumps there.
    pub fn handle_jump(&mut self, step: Tick, server: &S::State) -> Reconciled {
        self.reconcile(step, server, true)
    }

    /// The server has simulated a step and said nothing of the object: inputs up to it are done with. If it is silent for
    /// longer than [`PredictConfig::silence`] while the object has moved here, its last word holds.
    pub fn handle_acked(&mut self, step: Tick) {
        let step = nearest_tick(step.0 as u16, self.newest());
        if !step.is_newer_than(self.confirmed.0) {
            return;
        }
        self.settle(step);
        describe(&self.step, &self.confirmed.1, &mut self.own);
        describe(&self.step, &self.told.1, &mut self.servers);
        if self.own.is_same(&self.servers) {
            self.silent_since = None;
            return;
        }
        let since = *self.silent_since.get_or_insert(step);
        if u64::from(step.distance(since).unsigned_abs()) >= self.silence_steps {
            self.ledger.compare(step, &self.own, &self.servers);
            self.correct(step, self.told.0, false);
        }
    }

    /// The present: exactly what follows from the server's newest word and the inputs since.
    pub fn state(&self) -> &S::State {
        self.log.back().map_or(&self.confirmed.1, |logged| &logged.state)
    }

    /// The newest step that was simulated here or settled.
    pub fn newest(&self) -> Tick {
        self.log.back().map_or(self.confirmed.0, |logged| logged.step)
    }

    /// Where the object is to be shown: the present and what is left of the offset.
    pub fn view(&self) -> Pose {
        self.offset.applied_to(self.present.unwrap_or_default())
    }

    /// As [`view`](Predictor::view), for frames between two steps: the part of the way from the state before the present
    /// one, 0 to 1.
    pub fn view_between(&self, fraction: f32) -> Pose {
        let (before, present) = (self.before.unwrap_or_default(), self.present.unwrap_or_default());
        self.offset.applied_to(before.towards(present, fraction))
    }

    /// Time passes for the view.
    pub fn advance_view(&mut self, elapsed: Micros) {
        #[cfg(netloom_mutations)]
        let is_by_frame = crate::mutation::is(crate::mutation::Mutation::OffsetDecaysByFrame);
        #[cfg(netloom_mutations)]
        let elapsed = if is_by_frame { Micros(16_667) } else { elapsed };
        self.offset.decay(elapsed, self.config.decay_per_second);
    }

    /// Whether the view is still on its way to the present.
    pub fn is_correcting(&self) -> bool {
        !self.offset.is_zero()
    }

    /// Whether prediction waits for the server, which has confirmed nothing for as long as the log reaches.
    pub fn is_paused(&self) -> bool {
        self.log.len() == self.capacity
    }

    /// How many inputs the server has not confirmed.
    pub fn pending(&self) -> usize {
        self.log.len()
    }

    /// Writes the message with the inputs that the server has not confirmed, for its
    /// [`InputQueue`](crate::server::input_queue::InputQueue); `None` if there are none, or no room.
    pub fn write_inputs(&self, view: Option<ViewTime>, out: &mut [u8]) -> Option<usize>
    where
        S::Input: Input,
    {
        let newest = self.log.back()?.step;
        // A message has no gaps; what lies before one was for steps that the client has skipped, being too late for them.
        let without_gap =
            self.log.iter().rev().zip(0..).take_while(|(logged, age)| logged.step.plus(*age) == newest);
        write_inputs(newest, view, without_gap.map(|(logged, _)| &logged.input), out)
    }

    /// How good the predictions were.
    pub fn report(&self) -> &PredictReport<S::Input> {
        &self.ledger.report
    }

    fn reconcile(&mut self, step: Tick, server: &S::State, has_jumped: bool) -> Reconciled {
        let step = nearest_tick(step.0 as u16, self.newest());
        // The state of a step may come after the news that the step was simulated.
        if !step.is_newer_than(self.told.0) || self.confirmed.0.is_newer_than(step) {
            self.ledger.report.stale += 1;
            return Reconciled::Stale;
        }
        let since = std::mem::replace(&mut self.told.0, step);
        self.told.1.clone_from(server);
        self.silent_since = None;
        self.settle(step);
        describe(&self.step, &self.confirmed.1, &mut self.own);
        describe(&self.step, server, &mut self.servers);
        let is_same = self.ledger.compare(step, &self.own, &self.servers);
        #[cfg(netloom_mutations)]
        let is_same = is_same || crate::mutation::is(crate::mutation::Mutation::CorrectionIgnored);
        if is_same {
            self.ledger.report.confirmed += 1;
            return Reconciled::Confirmed;
        }
        Reconciled::Corrected(self.correct(step, since, has_jumped))
    }

    /// After `step`, the object was as the server has told last.
    fn correct(&mut self, step: Tick, since: Tick, has_jumped: bool) -> Correction {
        self.silent_since = None;
        let input = self.settled.take().filter(|(of, _)| *of == step).map(|(_, input)| input);
        self.ledger.report.last = Some(Misprediction { step, since, input });
        self.confirmed.1.clone_from(&self.told.1);
        let replayed = self.replay();
        let shown = self.present;
        let server = &self.told.1;
        let newest = self.log.back().map_or(server, |logged| &logged.state);
        self.present = pose_of(&self.step, newest, &mut self.own, shown);
        let before = self.log.len().checked_sub(2).map_or(server, |at| &self.log[at].state);
        self.before = pose_of(&self.step, before, &mut self.own, shown);
        let (severity, metres, radians) = self.shift_view(shown, has_jumped);
        self.ledger.count(severity);
        Correction { step, replayed, severity, metres, radians }
    }

    /// Runs the steps of the log again, from the confirmed state.
    fn replay(&mut self) -> usize {
        let mut before = &self.confirmed.1;
        for logged in &mut self.log {
            logged.state.clone_from(before);
            self.step.step(&mut logged.state, &logged.input);
            before = &logged.state;
        }
        self.log.len()
    }

    /// What was predicted up to a step is done with.
    fn settle(&mut self, step: Tick) {
        let count = self.log.partition_point(|logged| !logged.step.is_newer_than(step));
        #[cfg(netloom_mutations)]
        let is_kept = crate::mutation::is(crate::mutation::Mutation::AckedInputReplayed);
        #[cfg(netloom_mutations)]
        let count = if is_kept { count.saturating_sub(1) } else { count };
        if let Some(last) = self.log.drain(..count).next_back() {
            self.confirmed.1 = last.state;
            self.settled = Some((last.step, last.input));
        }
        self.confirmed.0 = step;
    }

    /// The present has moved under the view.
    fn shift_view(&mut self, before: Option<Pose>, has_jumped: bool) -> (Severity, f64, f32) {
        let (Some(before), Some(after)) = (before, self.present) else { return (Severity::Small, 0.0, 0.0) };
        let (metres, radians) = before.apart(after);
        let config = &self.config;
        let is_small = metres <= config.small_metres && radians <= config.small_radians;
        // Also what is not a number is not within.
        let is_within = metres <= config.large_metres && radians <= config.large_radians;
        let severity = match (has_jumped || !is_within, is_small) {
            (true, _) => Severity::Large,
            (false, true) => Severity::Small,
            (false, false) => Severity::Medium,
        };
        match severity {
            Severity::Small => {}
            Severity::Medium => {
                self.offset.add(before, after);
                // Many corrections in the same direction add up to one that is too large to be smoothed.
                if !self.offset.is_within(config.large_metres, config.large_radians) {
                    self.offset = Offset::default();
                    return (Severity::Large, metres, radians);
                }
            }
            Severity::Large => self.offset = Offset::default(),
        }
        (severity, metres, radians)
    }
}

fn describe<S: Describe>(step: &S, state: &S::State, fields: &mut Fields) {
    fields.clear();
    step.describe(state, fields);
}

/// Where a state is seen, if it has a place or a direction. What is no number is not shown: the object stays where it was
/// seen `last`.
fn pose_of<S: Describe>(step: &S, state: &S::State, fields: &mut Fields, last: Option<Pose>) -> Option<Pose> {
    describe(step, state, fields);
    pose_in(fields, last)
}

fn pose_in(fields: &Fields, last: Option<Pose>) -> Option<Pose> {
    let last = last.unwrap_or_default();
    let (position, rotation) = fields.place();
    if position.is_none() && rotation.is_none() {
        return None;
    }
    let is_finite = |position: &[f64; 3]| position.iter().all(|axis| axis.is_finite());
    Some(Pose {
        position: position.filter(is_finite).unwrap_or(last.position),
        rotation: rotation.and_then(normalized).unwrap_or(last.rotation),
    })
}

#[cfg(test)]
mod tests;
