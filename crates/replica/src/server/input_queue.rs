//! One client's inputs on the server: exactly one for every step.
//!
//! Messages come late, twice, out of order or not at all, and a client may lie about everything in them. The simulation
//! needs none of that: in step 41 it asks for the input of step 41 and gets one. Inputs that came before their step wait
//! for it in a ring; what came after it is counted and dropped, for the past is not simulated twice:
//!
//! ```text
//!        late, dropped        next            window: kept until needed          refused
//!   ───────────────────────────┤ 41 │ 42 │ 43 │    │ 45 │ …                  │───────────▶ steps
//!                                           └ missing: repeated or neutral when its step comes
//! ```
//!
//! Since the server counts the steps and takes one input in each, more inputs buy no more motion: not sending them in
//! a flood, not holding them back and sending them at once, not numbering them into the future or the past. For a game
//! that runs a step per input instead of a step per tick, [`InputQueue::poll_input`] keeps the same promise with an
//! account of steps: it earns one whenever the time of one has passed, and holds a few.
//!
//! How early inputs come, the *slack*, goes back to the client in the [`Feedback`] of snapshots, and the client runs its
//! steps a little faster or slower to keep it small:
//!
//! ```text
//!   arrival of input 43 ────────── slack ──────────▶ step 43        negative if the arrival is after the step
//! ```

mod account;
mod slack;

use netloom_wire::{Micros, ReadError, Tick};

use crate::input::{INPUTS_PER_MESSAGE_MAX, Input, InputMessage, ViewTime};
use crate::setting::SettingError;
use crate::snapshot::Feedback;
use account::StepAccount;
use slack::SlackMeter;

/// Steps that inputs may be ahead of the simulation, at most.
const WINDOW_STEPS_MAX: u32 = 256;

/// What a step is simulated with when its input has not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starvation {
    /// The last one again ([`Input::repeated`]), for so many steps, 0 to 1,000; then the neutral one.
    Repeat {
        /// The steps.
        steps_max: u32,
    },
    /// The neutral one at once.
    Neutral,
}

/// How a client's inputs are queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputQueueConfig {
    /// Steps of the simulation in a second, 1 to 1,000.
    pub steps_per_second: u32,
    /// How many steps ahead of the simulation an input is kept, 1 to 256.
    pub window_steps: u32,
    /// What a step is simulated with when its input has not come.
    pub starvation: Starvation,
    /// Steps that [`poll_input`](InputQueue::poll_input) may catch up on at once, 1 to 64.
    pub burst_steps: u32,
}

impl Default for InputQueueConfig {
    fn default() -> InputQueueConfig {
        InputQueueConfig {
            steps_per_second: 60,
            window_steps: 64,
            starvation: Starvation::Repeat { steps_max: 15 },
            burst_steps: 8,
        }
    }
}

impl InputQueueConfig {
    fn check(&self) -> Result<(), SettingError> {
        SettingError::check("steps_per_second", self.steps_per_second, 1..=1_000, "1 to 1,000")?;
        SettingError::check("window_steps", self.window_steps, 1..=WINDOW_STEPS_MAX, "1 to 256")?;
        SettingError::check("burst_steps", self.burst_steps, 1..=64, "1 to 64")?;
        match self.starvation {
            Starvation::Repeat { steps_max } => {
                SettingError::check("starvation.steps_max", steps_max, 0..=1_000, "0 to 1,000")
            }
            Starvation::Neutral => Ok(()),
        }
    }
}

/// Where the input of a step came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputSource {
    /// The client sent it.
    Client,
    /// It did not come: the last one again.
    Repeated,
    /// It did not come: nothing is done.
    Neutral,
}

/// The input of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken<I> {
    /// The step.
    pub step: Tick,
    /// What to simulate it with.
    pub input: I,
    /// Where that came from.
    pub source: InputSource,
    /// What the player saw, as the client claims: to be verified before use.
    pub view: Option<ViewTime>,
}

/// What became of a client's inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputCounters {
    /// Messages that could be read.
    pub messages: u64,
    /// Messages that could not.
    pub malformed: u64,
    /// Steps simulated with what the client sent.
    pub real: u64,
    /// Steps simulated with the last input again.
    pub repeated: u64,
    /// Steps simulated with the neutral input.
    pub neutral: u64,
    /// Inputs that came again, which redundancy does all the time.
    pub duplicates: u64,
    /// Inputs that came again with another content: the first one holds. No honest client does this.
    pub changed: u64,
    /// Inputs that came first after their step: dropped.
    pub late: u64,
    /// Inputs beyond the window: dropped.
    pub early: u64,
    /// Times that [`InputQueue::poll_input`] held back an input for which no time had passed.
    pub held_back: u64,
}

/// An input that waits, or has been taken and is kept for comparison.
#[derive(Clone, Debug)]
struct Kept<I> {
    step: Tick,
    input: I,
    view: Option<ViewTime>,
}

/// The inputs of one client.
///
/// ```
/// use netloom_replica::input::write_inputs;
/// use netloom_replica::server::input_queue::{InputQueue, InputQueueConfig, InputSource};
/// use netloom_wire::{Micros, Tick};
///
/// let mut queue = InputQueue::new([0u8], Tick(100), InputQueueConfig::default())?;
///
/// // A message with the inputs of the steps 101 and 100.
/// let mut message = [0; 64];
/// let length = write_inputs(Tick(101), None, [[7], [6]].iter(), &mut message).unwrap();
/// queue.handle_message(&message[..length], Micros(0))?;
///
/// // The simulation asks once a step, and tells the client in the snapshot what it used.
/// let taken = queue.take(Tick(100), Micros(10_000)).unwrap();
/// assert_eq!((taken.input, taken.source), ([6], InputSource::Client));
/// assert_eq!(queue.take(Tick(100), Micros(10_000)), None, "once");
/// assert_eq!(queue.feedback().unwrap().step, Tick(100));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct InputQueue<I> {
    config: InputQueueConfig,
    neutral: I,
    /// The step that is simulated next.
    next: Tick,
    /// The step that time has come to; later than `next` if a game that runs a step per input waits for one.
    clock: Tick,
    first: Tick,
    has_begun: bool,
    /// By the low bits of their step; long enough that what was taken is still known when it comes again.
    ring: Vec<Option<Kept<I>>>,
    /// Of the last 64 steps before `next`, a bit each, the last one lowest: whether its input has come, in time or not.
    came: u64,
    last: Option<I>,
    repeats: u32,
    slack: SlackMeter,
    account: StepAccount,
    counters: InputCounters,
}

impl<I: Input> InputQueue<I> {
    /// A queue that begins with a step, and the input of somebody who does nothing.
    pub fn new(neutral: I, first: Tick, config: InputQueueConfig) -> Result<InputQueue<I>, SettingError> {
        config.check()?;
        // A power of two, so that steps find their place also where their number wraps.
        let places = (config.window_steps as usize + INPUTS_PER_MESSAGE_MAX).next_power_of_two();
        Ok(InputQueue {
            config,
            neutral,
            next: first,
            clock: first,
            first,
            has_begun: false,
            ring: (0..places).map(|_| None).collect(),
            came: 0,
            last: None,
            repeats: 0,
            slack: SlackMeter::new(config.steps_per_second),
            account: StepAccount::new(config.steps_per_second, config.burst_steps),
            counters: InputCounters::default(),
        })
    }

    /// Takes in a message that arrived at `now`. One that cannot be read changes nothing.
    pub fn handle_message(&mut self, payload: &[u8], now: Micros) -> Result<(), ReadError> {
        let message = InputMessage::<I>::read(payload).inspect_err(|_| self.counters.malformed += 1)?;
        self.counters.messages += 1;
        if self.account.has_begun() {
            self.handle_time(now);
        }
        let newest = message.newest(self.clock);
        let view = message.view(self.clock);
        self.slack.handle_arrival(newest, now);
        for (age, input) in (0..).zip(message.inputs()) {
            let step = Tick(newest.0.wrapping_sub(age));
            self.insert(Kept { step, input, view: view.map(|view| view.earlier(age)) });
        }
        // Of older inputs a message tells the view only as far as all steps see a step later than those before them. The
        // message that an input was the newest of knows better, also if it comes second.
        let place = self.place(newest);
        if let Some(kept) = self.ring[place].as_mut().filter(|kept| kept.step == newest)
            && message.inputs().next().is_some_and(|input| input == kept.input)
        {
            kept.view = view.or(kept.view);
        }
        Ok(())
    }

    /// The input of a step: once for each, in order. `None` for a step that was simulated before; steps that are left
    /// out are never simulated.
    pub fn take(&mut self, step: Tick, now: Micros) -> Option<Taken<I>> {
        #[cfg(netloom_mutations)]
        let step = match crate::mutation::is(crate::mutation::Mutation::InputTakenAgain) {
            true if self.kept(self.next).is_some() => self.next,
            _ => step,
        };
        if self.next.is_newer_than(step) {
            return None;
        }
        let of = step;
        #[cfg(netloom_mutations)]
        let of =
            if crate::mutation::is(crate::mutation::Mutation::InputOfAnotherStep) { of.next() } else { of };
        let kept = self.kept(of).map(|kept| (kept.input.clone(), kept.view));
        self.advance(step, kept.is_some(), now);
        if let Some((input, view)) = kept {
            return Some(self.real(step, input, view));
        }
        let repeats_max = match self.config.starvation {
            Starvation::Repeat { steps_max } => steps_max,
            Starvation::Neutral => 0,
        };
        let (input, source) = match self.last.take().filter(|_| self.repeats < repeats_max) {
            Some(last) => {
                self.repeats += 1;
                self.counters.repeated += 1;
                let repeated = last.repeated();
                self.last = Some(repeated.clone());
                (repeated, InputSource::Repeated)
            }
            None => {
                self.counters.neutral += 1;
                (self.neutral.clone(), InputSource::Neutral)
            }
        };
        Some(Taken { step, input, source, view: None })
    }

    /// For a game that runs a step per input: the next input that came, if the time for it has passed. Call it until it
    /// has nothing more. Inputs that are missing are passed over, and the time of their steps with them.
    pub fn poll_input(&mut self, now: Micros) -> Option<Taken<I>> {
        self.handle_time(now);
        let mut steps = (0..self.config.window_steps).map(|ahead| self.next.plus(ahead));
        let step = steps.find(|step| self.kept(*step).is_some())?;
        let cost = step.distance(self.next).unsigned_abs() + 1;
        if !self.account.spend(cost) {
            self.counters.held_back += 1;
            return None;
        }
        let kept = self.kept(step)?;
        let (input, view) = (kept.input.clone(), kept.view);
        self.advance(step, true, now);
        Some(self.real(step, input, view))
    }

    /// What the client is to be told, for [`ReplicaServer::set_feedback`](super::ReplicaServer::set_feedback); `None`
    /// before the first step.
    pub fn feedback(&self) -> Option<Feedback> {
        let step = Tick(self.next.0.wrapping_sub(1));
        self.has_begun.then(|| Feedback { step, slack: self.slack.slack() })
    }

    /// How early inputs come, in steps, smoothed; `None` if none came for a second.
    pub fn slack_steps(&self) -> Option<f64> {
        self.slack.steps()
    }

    /// By how much that varies, in steps: the mean distance from the mean.
    pub fn slack_deviation_steps(&self) -> f64 {
        self.slack.deviation()
    }

    /// How many inputs wait.
    pub fn len(&self) -> usize {
        (0..self.config.window_steps).filter(|ahead| self.kept(self.next.plus(*ahead)).is_some()).count()
    }

    /// Whether no input waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What became of all inputs.
    pub fn counters(&self) -> InputCounters {
        self.counters
    }

    fn insert(&mut self, kept: Kept<I>) {
        let window = self.config.window_steps as i32;
        if kept.step.distance(self.clock) >= window {
            self.counters.early += 1;
            return;
        }
        // After a pause of the client the window is where time is now.
        let beyond = kept.step.distance(self.next) - (window - 1);
        if beyond > 0 {
            self.next = self.next.plus(beyond.unsigned_abs());
            self.came = 0;
        }
        #[cfg(netloom_mutations)]
        let kept = match crate::mutation::is(crate::mutation::Mutation::LateInputTaken) {
            true if self.next.is_newer_than(kept.step) => self.postponed(kept),
            _ => kept,
        };
        let ahead = kept.step.distance(self.next);
        let known = self.kept(kept.step).map(|known| known.input == kept.input);
        match known {
            Some(true) => self.counters.duplicates += 1,
            Some(false) => self.counters.changed += 1,
            None if ahead >= 0 => {
                let place = self.place(kept.step);
                self.ring[place] = Some(kept);
            }
            None => {
                let bit = 1u64.checked_shl(ahead.unsigned_abs() - 1).unwrap_or(0);
                if self.came & bit == bit {
                    self.counters.duplicates += 1;
                } else {
                    self.came |= bit;
                    self.counters.late += 1;
                }
            }
        }
    }

    fn real(&mut self, step: Tick, input: I, view: Option<ViewTime>) -> Taken<I> {
        self.counters.real += 1;
        self.repeats = 0;
        self.last = Some(input.clone());
        Taken { step, input, source: InputSource::Client, view }
    }

    /// A step is simulated, or those before it are left out.
    fn advance(&mut self, step: Tick, has_come: bool, now: Micros) {
        let passed = step.distance(self.next).unsigned_abs() + 1;
        self.came = self.came.checked_shl(passed).unwrap_or(0) | u64::from(has_come);
        self.next = step.next();
        self.move_clock(self.next);
        self.has_begun = true;
        self.slack.handle_step(step, now);
    }

    /// Of a game that runs a step per input.
    fn handle_time(&mut self, now: Micros) {
        self.account.handle_time(now);
        self.move_clock(self.first.plus(self.account.elapsed_steps()));
    }

    fn move_clock(&mut self, step: Tick) {
        if step.is_newer_than(self.clock) {
            self.clock = step;
        }
    }

    /// For a deliberate bug: an input that came too late, for the first step that has none.
    #[cfg(netloom_mutations)]
    fn postponed(&self, kept: Kept<I>) -> Kept<I> {
        let is_known = self.kept(kept.step).is_some();
        let mut steps = (0..self.config.window_steps).map(|ahead| self.next.plus(ahead));
        let free = steps.find(|step| self.kept(*step).is_none()).filter(|_| !is_known);
        Kept { step: free.unwrap_or(kept.step), ..kept }
    }

    fn kept(&self, step: Tick) -> Option<&Kept<I>> {
        self.ring[self.place(step)].as_ref().filter(|kept| kept.step == step)
    }

    fn place(&self, step: Tick) -> usize {
        step.0 as usize & (self.ring.len() - 1)
    }
}

#[cfg(test)]
mod tests;
