//! Which step of the simulation a client is at: so far ahead of the server that its inputs arrive in time.
//!
//! The input for step T must be at the server before the server simulates T. Too late and it is not used; too early and
//! the player feels a delay that nobody needed. How early the newest input came, its *slack*, is known to the server
//! only, and it says so in its snapshots:
//!
//! ```text
//!   client   T ─┐  T+1   T+2   T+3   T+4           lead = time of the newest step − now
//!               └────── input T ──────┐
//!   server                            ▼ slack ▶│ T
//!                                                └── snapshot: the slack of T was … ──▶ client
//! ```
//!
//! **Start.** One round trip, two steps and the jitter ahead of the server's time as it arrives.
//!
//! **Steering.** What a slack tells is about the lead that a step had when the client made it, a round trip ago. So the
//! lead of every step is remembered, smoothed as the server smooths slacks, and `slack − lead` is smoothed in turn: that
//! is a property of the route alone, and does not move while the client corrects itself. The correction can therefore be
//! quick without overshooting. It makes steps up to 5 % longer or shorter, until the expected slack is one step and the jitter;
//! if that changes, the steps follow at once. Without feedback the lead follows the clock and the round trip.
//!
//! **Frames.** Steps are made in frames, and a step that is due just after a frame waits for the next one:
//!
//! ```text
//!   position   ────────────────────────────────▶│ here at this frame
//!   steps        │    ▲ oldest      ▲ newest    │
//!   frames       │◀─────────── gap ────────────▶│          oldest ≥ position − gap,   newest > position − step
//! ```
//!
//! The oldest step of a frame is in time if the position is ahead of the server, as inputs reach it, by a gap. The newest, of which
//! slacks tell, lies behind the position by half of a step or of a gap on average, whichever is shorter: a slack of s keeps the
//! position ahead by s and that half. So with a slack of a step, or of a gap less three eighths of a step if that is more, at
//! least an eighth of a step is to spare, wherever steps and frames happen to meet. That is what rounding in the feedback
//! can take. More would make inputs wait, and shots over a long route older than they may be.
//!
//! **Loss.** Every message has the inputs of the ones before it, too, so one that is lost is made up for by the next, a step later: that
//! is what the step of slack is for. Where packets get lost, so do two in a row, and with one in twenty that is several times a
//! minute. So inputs come up to a step earlier there: then it takes three in a row.
//!
//! **Breaks.** An error beyond a bound skips steps, or waits if the client is too far ahead. No step is given twice, unless
//! the server's clock itself broke: then the count starts anew. When the server has been past the newest step for a quarter
//! of a second, its slacks are about steps that were never made and tell nothing: the client goes by the clock, at once.

use netloom_wire::{Micros, Tick};

use super::clock::{ServerClock, signed, unsigned};
use crate::rate::Rate;
use crate::setting::SettingError;
use crate::snapshot::{Feedback, nearest_tick};

/// How much longer or shorter a step may be.
const DILATION_MAX: f64 = 0.05;
/// An error is gone in about this time, if the limit of the dilation allows.
const SETTLE_US: f64 = 300_000.0;
/// Slacks are smoothed over about so many.
const SMOOTHING: f64 = 12.0;
/// One slack moves the estimate no more than if it were off by this.
const SURPRISE_US_MAX: f64 = 100_000.0;
const SLACK_US_MAX: i64 = 5_000_000;
/// How long leads are remembered: longer than any round trip that can be played with.
const LEADS_MEMORY: Micros = Micros(2_000_000);
/// The farthest that the position or its lead can be, either way: sums of a few such cannot overflow.
const POSITION_US_MAX: i64 = i64::MAX / 8;
/// Jitter beyond this is not waited for: the delay would be worse than the losses.
const JITTER_MAX: Micros = Micros(150_000);
/// The jitter that counts follows the measured one in about this time.
const JITTER_SETTLE_US: f64 = 2_000_000.0;

/// Loss in thousandths from which on inputs come earlier, and from which on by a whole step.
const LOSS_PER_MILLE: std::ops::RangeInclusive<f64> = 10.0..=30.0;
/// What is lost now and then counts soon, and is forgotten slowly: the next is lost as suddenly as the last.
const LOSS_UP_US: f64 = 1_000_000.0;
const LOSS_DOWN_US: f64 = 10_000_000.0;

/// A server that has been past the newest step for so long will not be caught up with by its slacks: they are about steps that
/// this client never made.
const BEHIND_MAX: Micros = Micros(250_000);

const NO_LEAD: (Tick, f64) = (Tick(0), f64::NAN);
/// A longer gap is a hitch, and not the rate of frames.
const GAP_US_MAX: f64 = 100_000.0;
/// How much of a longer gap counts at once, and how much of a shorter one.
const GAP_UP: f64 = 0.5;
const GAP_DOWN: f64 = 0.003;
/// How much earlier than needed the oldest step of a slow frame comes: feedback is rounded to quarters.
const SPARE_STEPS: f64 = 0.125;
/// How much of a new lead counts: as much as of a slack on the server.
const LEAD_WEIGHT: f64 = 1.0 / 8.0;
/// After so long without inputs the server begins anew, too.
const LEAD_FORGOTTEN_US: f64 = 1_000_000.0;

/// How a client counts its steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputClockConfig {
    /// Steps of the simulation a second, as the server has them: 1 to 1,000.
    pub steps_per_second: u32,
    /// The most steps that one call gives, 1 to 64: a slow frame must not make the next one slower.
    pub steps_per_poll_max: u32,
    /// An error of the lead beyond this skips or waits: 50 ms to 5 s.
    pub resync: Micros,
}

impl Default for InputClockConfig {
    fn default() -> InputClockConfig {
        InputClockConfig { steps_per_second: 60, steps_per_poll_max: 8, resync: Micros::from_millis(400) }
    }
}

/// The steps that are to be simulated now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The first of them; meaningless if there is none.
    pub first: Tick,
    /// How many.
    pub count: u32,
    /// Steps before the first that were never given and never will be.
    pub skipped: u32,
}

impl Steps {
    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Tick> {
        (0..self.count).map(move |number| self.first.plus(number))
    }
}

/// The client's count of steps. See the [module](self).
///
/// ```
/// use netloom_replica::client::{InputClock, InputClockConfig, ServerClock};
/// use netloom_wire::Micros;
///
/// let mut server = ServerClock::new();
/// server.handle_snapshot(Micros(0), Micros::from_secs(10));
/// server.handle_rtt(Micros::from_millis(100));
/// let mut input = InputClock::new(InputClockConfig::default())?;
///
/// let mut simulated = 0;
/// for frame in 0..60 {
///     let now = Micros(frame * 16_667);
///     server.advance(now);
///     for step in input.poll_steps(now, &server).iter() {
///         simulated += 1; // simulate it, and send its input
///     }
///     // When a snapshot brings it: input.handle_feedback(&feedback)
/// }
/// assert!((58..=62).contains(&simulated));
/// # Ok::<(), netloom_replica::SettingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct InputClock {
    config: InputClockConfig,
    rate: Rate,
    step_us: f64,
    position: Option<Position>,
    seen: Micros,
    /// By the low bits of the step, of which there is a power of two.
    leads: Box<[(Tick, f64)]>,
    /// The newest, smoothed.
    lead_us: Option<f64>,
    /// Slack less lead, of the route.
    route_us: Option<f64>,
    newest_slack: Option<Tick>,
    /// Since when the server is past the newest step, and whether that has been too long.
    behind_since: Option<Micros>,
    is_left_behind: bool,
    jitter_us: f64,
    loss_per_mille: f64,
    /// How much earlier inputs come for it, in steps.
    loss_steps: f64,
    /// From one frame to the next, at most.
    gap_us: f64,
    /// The target of the frame before.
    target_us: f64,
    /// The breaks of the server's clock so far.
    resyncs: u32,
}

#[derive(Clone, Copy, Debug)]
struct Position {
    /// In the server's time: the step that is due is this divided by the length of a step.
    us: i64,
    fraction: f64,
    /// The newest step that was given.
    given: u64,
    /// What leads are counted from, so that they are small numbers.
    lead_base_us: i64,
}

impl Position {
    fn lead_us(&self, now: Micros) -> f64 {
        (self.us - signed(now) - self.lead_base_us) as f64 + self.fraction
    }

    fn move_by(&mut self, us: f64) {
        let moved = self.fraction + us;
        let whole = moved.floor();
        self.us = self.us.saturating_add(whole as i64).clamp(-POSITION_US_MAX, POSITION_US_MAX);
        self.fraction = moved - whole;
    }
}

impl InputClock {
    /// A clock that waits for the server's.
    pub fn new(config: InputClockConfig) -> Result<InputClock, SettingError> {
        let rate = Rate::new("steps_per_second", config.steps_per_second)?;
        SettingError::check("steps_per_poll_max", config.steps_per_poll_max, 1..=64, "1 to 64")?;
        SettingError::check("resync", config.resync.0, 50_000..=5_000_000, "50,000 to 5,000,000 µs")?;
        let leads = (rate.step_at(LEADS_MEMORY) as usize).next_power_of_two();
        Ok(InputClock {
            config,
            rate,
            step_us: rate.step_us(),
            position: None,
            seen: Micros::ZERO,
            leads: vec![NO_LEAD; leads].into(),
            lead_us: None,
            route_us: None,
            newest_slack: None,
            behind_since: None,
            is_left_behind: false,
            jitter_us: 0.0,
            loss_per_mille: 0.0,
            loss_steps: 0.0,
            gap_us: 0.0,
            target_us: 0.0,
            resyncs: 0,
        })
    }

    /// The input for `step` was at the server so many microseconds before it was needed; negative if it came late.
    /// Old, repeated and unknown steps are ignored. Of the step only the low 16 bits count, which is what crosses the wire.
    pub fn handle_slack(&mut self, step: Tick, slack_us: i64) {
        let given = self.position.map_or(step, |position| Tick(position.given as u32));
        let step = nearest_tick(step.0 as u16, given);
        #[cfg(netloom_mutations)]
        let is_turned = crate::mutation::is(crate::mutation::Mutation::SlackSignTurned);
        #[cfg(netloom_mutations)]
        let slack_us = if is_turned { -slack_us } else { slack_us };
        if self.newest_slack.is_some_and(|newest| !step.is_newer_than(newest)) {
            return;
        }
        let (known, lead_us) = self.leads[self.place(step)];
        if known != step || lead_us.is_nan() {
            return;
        }
        self.newest_slack = Some(step);
        let sample_us = slack_us.clamp(-SLACK_US_MAX, SLACK_US_MAX) as f64 - lead_us;
        self.route_us = Some(self.route_us.map_or(sample_us, |route_us| {
            route_us + (sample_us - route_us).clamp(-SURPRISE_US_MAX, SURPRISE_US_MAX) / SMOOTHING
        }));
    }

    /// What a snapshot said about this client's inputs: see [`ReplicaClient::feedback`](super::ReplicaClient::feedback).
    pub fn handle_feedback(&mut self, feedback: &Feedback) {
        let newest = self.position.map(|position| Tick(position.given as u32));
        let is_behind =
            newest.is_some_and(|newest| nearest_tick(feedback.step.0 as u16, newest).is_newer_than(newest));
        if !is_behind {
            self.behind_since = None;
        } else if self.seen.since(*self.behind_since.get_or_insert(self.seen)) >= BEHIND_MAX {
            self.forget_route();
            self.is_left_behind = true;
        }
        if let Some(slack) = feedback.slack {
            self.handle_slack(feedback.step, (slack.steps() * self.step_us) as i64);
        }
    }

    /// So many of a thousand of this client's packets get lost.
    pub fn handle_loss(&mut self, per_mille: u32) {
        self.loss_per_mille = per_mille.min(1_000).into();
    }

    /// The steps that are due. `clock` has been advanced to `now`.
    pub fn poll_steps(&mut self, now: Micros, clock: &ServerClock) -> Steps {
        let passed_us = now.since(self.seen).0 as f64;
        if let Some(position) = &mut self.position {
            // A clock of ours that went back did not change how far ahead we are.
            let base_us = position.lead_base_us + signed(self.seen.since(now));
            position.lead_base_us = base_us.min(POSITION_US_MAX);
        }
        self.seen = now;
        let Some(reading) = clock.reading() else { return Steps::default() };
        self.follow_jitter(clock, passed_us);
        self.follow_loss(passed_us);
        self.follow_frames(passed_us);
        // An input is made in the first frame of its step at best, in the next one at worst: that takes another step.
        let ahead_us = clock.rtt().map_or(0, signed) + (self.target_slack().0 as f64 + self.step_us) as i64;
        let by_clock_us = signed(reading) + ahead_us;
        if clock.resyncs() != self.resyncs {
            (self.resyncs, self.position) = (clock.resyncs(), None);
            self.forget_route();
        }
        let (rate, is_new) = (self.rate, self.position.is_none());
        let position = self.position.get_or_insert_with(|| Position {
            us: by_clock_us,
            fraction: 0.0,
            given: rate.step_at(unsigned(by_clock_us)).saturating_sub(1),
            lead_base_us: by_clock_us - signed(now),
        });
        if !is_new {
            position.move_by(passed_us);
        }
        self.steer(now, by_clock_us, passed_us);
        self.give(now)
    }

    /// Until the next feedback only the server's clock counts, as at the beginning.
    fn forget_route(&mut self) {
        (self.lead_us, self.route_us, self.newest_slack, self.behind_since) = (None, None, None, None);
        self.leads.fill(NO_LEAD);
    }

    /// How early the inputs should come.
    pub fn target_slack(&self) -> Micros {
        let for_frames_us = self.gap_us + self.step_us * (SPARE_STEPS - 0.5);
        let for_loss_us = self.loss_steps * self.step_us;
        Micros((self.step_us.max(for_frames_us) + self.jitter_us + for_loss_us) as u64)
    }

    /// How early inputs are expected to come, in microseconds; `None` without feedback.
    pub fn expected_slack_us(&self) -> Option<i64> {
        Some((self.route_us? + self.lead_us?) as i64)
    }

    /// The newest step that was given, and how far into it the client is, 0 to 1: for drawing between two steps.
    pub fn phase(&self) -> Option<(Tick, f32)> {
        let position = self.position.as_ref()?;
        let since_us = position.us as f64 + position.fraction - position.given as f64 * self.step_us;
        Some((Tick(position.given as u32), (since_us / self.step_us).clamp(0.0, 1.0) as f32))
    }

    fn follow_jitter(&mut self, clock: &ServerClock, passed_us: f64) {
        let measured_us = clock.jitter().since(clock.typical_lateness()).min(JITTER_MAX).0 as f64;
        let is_new = self.position.is_none();
        let share = if is_new { 1.0 } else { (passed_us / JITTER_SETTLE_US).min(1.0) };
        self.jitter_us += (measured_us - self.jitter_us) * share;
    }

    fn follow_loss(&mut self, passed_us: f64) {
        let (none, whole) = (LOSS_PER_MILLE.start(), LOSS_PER_MILLE.end());
        let wanted_steps = ((self.loss_per_mille - none) / (whole - none)).clamp(0.0, 1.0);
        let settle_us = if wanted_steps > self.loss_steps { LOSS_UP_US } else { LOSS_DOWN_US };
        self.loss_steps += (wanted_steps - self.loss_steps) * (passed_us / settle_us).min(1.0);
    }

    fn follow_frames(&mut self, passed_us: f64) {
        if passed_us < GAP_US_MAX {
            let share = if passed_us > self.gap_us { GAP_UP } else { GAP_DOWN };
            self.gap_us += (passed_us - self.gap_us) * share;
        }
        self.lead_us = self.lead_us.filter(|_| passed_us < LEAD_FORGOTTEN_US);
    }

    fn steer(&mut self, now: Micros, by_clock_us: i64, passed_us: f64) {
        let target_us = self.target_slack().0 as f64;
        let moved_us = target_us - std::mem::replace(&mut self.target_us, target_us);
        let newest_us = self.gap_us.min(self.step_us) / 2.0;
        let Some(position) = &mut self.position else { return };
        let error_us = match self.route_us {
            Some(route_us) => target_us + newest_us - (route_us + position.lead_us(now)),
            None => (by_clock_us - position.us) as f64,
        };
        let is_left_behind = std::mem::take(&mut self.is_left_behind);
        if is_left_behind || error_us.abs() > self.config.resync.0 as f64 {
            return position.move_by(error_us);
        }
        let limit_us = DILATION_MAX * passed_us;
        let wanted_us = error_us * (passed_us / SETTLE_US).min(1.0) + moved_us;
        position.move_by(wanted_us.clamp(-limit_us, limit_us));
    }

    fn place(&self, step: Tick) -> usize {
        step.0 as usize & (self.leads.len() - 1)
    }

    fn give(&mut self, now: Micros) -> Steps {
        let (step_us, count_max) = (self.step_us, u64::from(self.config.steps_per_poll_max));
        let Some(position) = &mut self.position else { return Steps::default() };
        let due = self.rate.step_at(unsigned(position.us)).saturating_sub(position.given);
        let is_behind = due > count_max && due as f64 * step_us > self.config.resync.0 as f64;
        let skipped = if is_behind { due - count_max } else { 0 };
        let count = (due - skipped).min(count_max);
        let first = position.given + skipped + 1;
        position.given += skipped + count;
        let behind_us = position.us as f64 + position.fraction - position.given as f64 * step_us;
        let newest_us = position.lead_us(now) - behind_us;
        let lead_us = self.lead_us.map_or(newest_us, |lead_us| lead_us + (newest_us - lead_us) * LEAD_WEIGHT);
        if count > 0 {
            self.lead_us = Some(lead_us);
        }
        let first = Tick(first as u32);
        let steps = Steps { first, count: count as u32, skipped: skipped.min(u32::MAX.into()) as u32 };
        for step in steps.iter() {
            let place = self.place(step);
            self.leads[place] = (step, lead_us);
        }
        steps
    }
}

#[cfg(test)]
mod tests;
