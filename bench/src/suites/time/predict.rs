//! Prediction: a walker 64 steps ahead of its server, corrected in every one of them.

use super::{Measured, microseconds, progress};
use crate::error::BenchError;
use crate::measure::interleaved;
use crate::suites::Options;
use crate::table::Target;
use netloom_count::allocations;
use netloom_replica::client::predict::{PredictConfig, Predictor, Reconciled};
use netloom_replica::input::INPUT_MESSAGE_BYTES_MAX;
use netloom_replica::server::input_queue::{InputQueue, InputQueueConfig, InputSource};
use netloom_replica::step::{Describe, Fields, Step};
use netloom_wire::{Micros, Profile, Tick};
use std::hint::black_box;

const WORKLOAD: &str = "predict";
/// Steps that the server is behind, all of which are run again in a correction.
const AHEAD: u32 = 64;
const STEP_SECONDS: f32 = 1.0 / 60.0;
/// More than the wire rounds away, and less than anybody would see jump.
const PUSH_METRES: f32 = 0.05;
/// Steps in which nothing may be allocated: a minute.
const STEADY_STEPS: u32 = 3_600;

const NOTES: &[&str] = &[
    "Predict: a walker with velocity, friction and ground, 64 steps ahead. In every step its player does something, and the",
    "  server's state of 64 steps before arrives. Corrected: the server has pushed it, so 64 steps are run again and the",
    "  view is offset. Confirmed: the server agrees. Every answer must be the one that the row says, or there is no figure.",
    "  Message: 64 inputs are written, read on the server and queued, and one is taken.",
];

/// The rows of this file.
pub fn measure(options: &Options) -> Result<Measured, BenchError> {
    progress(WORKLOAD);
    let (mut pushed, mut agreed, mut sending) = (Walk::new()?, Walk::new()?, Sending::new()?);
    let ns = interleaved(
        options.batches,
        &mut [&mut |n| pushed.run(n, PUSH_METRES), &mut |n| agreed.run(n, 0.0), &mut |n| sending.run(n)],
    );
    pushed.verdict()?;
    agreed.verdict()?;
    sending.verdict()?;
    let rows = vec![
        microseconds("predicted object, 64 steps run again", "predict_us", Target::AtMost(5.0), ns[0]),
        microseconds("  as the server says", "predict_confirmed_us", Target::None, ns[1]),
        microseconds("  a message of 64 inputs, both sides", "predict_message_us", Target::None, ns[2]),
    ];
    Ok(Measured { rows, allocations: allocated()?, notes: NOTES })
}

/// Allocations in a minute of all of the above.
fn allocated() -> Result<u64, BenchError> {
    let (mut pushed, mut agreed, mut sending) = (Walk::new()?, Walk::new()?, Sending::new()?);
    let before = allocations();
    pushed.run(STEADY_STEPS, PUSH_METRES);
    agreed.run(STEADY_STEPS, 0.0);
    sending.run(STEADY_STEPS);
    let allocated = allocations() - before;
    pushed.verdict()?;
    agreed.verdict()?;
    sending.verdict()?;
    Ok(allocated)
}

/// Speeds up towards where its player wants to go, falls, and stands on the ground.
struct Walking;

#[derive(Clone, Copy)]
struct Walker {
    position: [f32; 3],
    velocity: [f32; 3],
}

impl Step for Walking {
    type State = Walker;
    /// The way to go in two directions, and whether to jump.
    type Input = [u8; 3];

    fn step(&self, walker: &mut Walker, [x, z, jump]: &[u8; 3]) {
        let wanted = |byte: u8| (f32::from(byte) - 127.5) * (5.0 / 127.5);
        walker.velocity[0] += (wanted(*x) - walker.velocity[0]) * 0.2;
        walker.velocity[2] += (wanted(*z) - walker.velocity[2]) * 0.2;
        walker.velocity[1] -= 9.81 * STEP_SECONDS;
        for axis in 0..3 {
            walker.position[axis] += walker.velocity[axis] * STEP_SECONDS;
        }
        if walker.position[1] <= 0.0 {
            walker.position[1] = 0.0;
            walker.velocity[1] = if *jump > 0 { 4.0 } else { 0.0 };
        }
    }
}

impl Describe for Walking {
    fn describe(&self, walker: &Walker, fields: &mut Fields) {
        fields.position("position", Profile::Standard, walker.position);
        for (name, speed) in ["velocity x", "velocity y", "velocity z"].into_iter().zip(walker.velocity) {
            fields.number(name, 0.01, speed);
        }
    }
}

const START: Walker = Walker { position: [0.0; 3], velocity: [0.0; 3] };

/// What the player does in a step: something else every few steps, in all directions equally often.
fn input(step: u32) -> [u8; 3] {
    let [x, z] = [[0, 128], [128, 0], [255, 127], [127, 255]][(step / 8 % 4) as usize];
    [x, z, u8::from(step.is_multiple_of(50))]
}

struct Walk {
    own: Predictor<Walking>,
    server: Walker,
    step: u32,
    /// Answers that were not those of the row.
    wrong: u64,
}

impl Walk {
    fn new() -> Result<Walk, BenchError> {
        // Messages are measured without states: the server never says anything else than which inputs are done with.
        let config = PredictConfig { silence: Micros::from_secs(60), ..PredictConfig::default() };
        let own = Predictor::new(Walking, Tick(0), START, config);
        let own = own.map_err(|error| BenchError::refused("netloom", error))?;
        let mut walk = Walk { own, server: START, step: 0, wrong: 0 };
        (0..AHEAD).for_each(|_| walk.act());
        Ok(walk)
    }

    fn act(&mut self) {
        self.step += 1;
        self.wrong += u64::from(self.own.apply_local(Tick(self.step), input(self.step)).is_err());
    }

    fn run(&mut self, steps: u32, push_metres: f32) {
        for _ in 0..steps {
            self.act();
            let past = self.step - AHEAD;
            Walking.step(&mut self.server, &input(past));
            self.server.position[0] += if past.is_multiple_of(2) { push_metres } else { -push_metres };
            let answer = self.own.handle_state(Tick(past), black_box(&self.server));
            self.own.advance_view(Micros(16_667));
            black_box(self.own.view());
            self.wrong += u64::from(match answer {
                Reconciled::Corrected(correction) => {
                    push_metres == 0.0 || correction.replayed != AHEAD as usize
                }
                Reconciled::Confirmed => push_metres != 0.0,
                Reconciled::Stale => true,
            });
        }
    }

    fn verdict(&self) -> Result<(), BenchError> {
        verdict(self.wrong, "answers were not those of the row")
    }
}

struct Sending {
    walk: Walk,
    queue: InputQueue<[u8; 3]>,
    wrong: u64,
}

impl Sending {
    fn new() -> Result<Sending, BenchError> {
        let queue = InputQueue::new([127; 3], Tick(1), InputQueueConfig::default());
        let queue = queue.map_err(|error| BenchError::refused("netloom", error))?;
        Ok(Sending { walk: Walk::new()?, queue, wrong: 0 })
    }

    fn run(&mut self, steps: u32) {
        let mut message = [0; INPUT_MESSAGE_BYTES_MAX];
        for _ in 0..steps {
            let past = self.walk.step + 1 - AHEAD;
            let now = Micros(u64::from(past) * 16_667);
            let length = self.walk.own.write_inputs(None, &mut message).unwrap_or(0);
            let read = self.queue.handle_message(black_box(&message[..length]), now);
            let taken = self.queue.take(Tick(past), now);
            let is_real =
                taken.is_some_and(|taken| (taken.input, taken.source) == (input(past), InputSource::Client));
            self.wrong += u64::from(read.is_err() || !is_real);
            self.walk.own.handle_acked(Tick(past));
            self.walk.act();
        }
    }

    fn verdict(&self) -> Result<(), BenchError> {
        self.walk.verdict()?;
        verdict(self.wrong, "inputs were not simulated as they were sent")
    }
}

fn verdict(wrong: u64, what: &str) -> Result<(), BenchError> {
    match wrong {
        0 => Ok(()),
        wrong => Err(BenchError::WrongWorkload { workload: WORKLOAD, what: format!("{wrong} {what}") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_push_is_corrected_nothing_else_is_and_a_minute_allocates_nothing() {
        assert_eq!(allocated(), Ok(0));
    }

    #[test]
    fn an_answer_that_is_not_the_row_s_has_no_figure() {
        let mut walk = Walk::new().expect("a walk");
        walk.server.position[2] += 1.0;
        walk.run(1, 0.0);
        assert!(walk.verdict().is_err(), "corrected where the server should have agreed");
    }
}
