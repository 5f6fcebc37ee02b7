//! What the player did and the server has not confirmed.

use std::collections::VecDeque;

use netloom_replica::client::Steps;
use netloom_replica::input::{
    INPUT_MESSAGE_BYTES_MAX, INPUTS_PER_MESSAGE_MAX, Input, ViewTime, write_inputs,
};
use netloom_wire::Tick;

use crate::message::kind;

/// Inputs on their way.
#[derive(Debug)]
pub(super) struct Inputs<I> {
    /// The newest last, without a gap.
    log: VecDeque<(Tick, I)>,
    /// Steps that wait for their input.
    first: Tick,
    count: u32,
    /// The step that was handed out, and waits for its input.
    asked: Option<Tick>,
    is_unsent: bool,
    message: [u8; INPUT_MESSAGE_BYTES_MAX + 1],
}

impl<I: Input> Inputs<I> {
    pub fn new() -> Inputs<I> {
        Inputs {
            log: VecDeque::with_capacity(INPUTS_PER_MESSAGE_MAX),
            first: Tick(0),
            count: 0,
            asked: None,
            is_unsent: false,
            message: [0; INPUT_MESSAGE_BYTES_MAX + 1],
        }
    }

    pub fn clear(&mut self) {
        self.log.clear();
        (self.count, self.asked, self.is_unsent) = (0, None, false);
    }

    /// These steps are due. Steps of before that nobody gave an input for are over.
    pub fn set_steps(&mut self, steps: Steps) {
        if steps.count > 0 {
            (self.first, self.count) = (steps.first, steps.count);
        }
    }

    /// The server has simulated a step.
    pub fn confirm(&mut self, step: Tick) {
        while self.log.front().is_some_and(|(oldest, _)| !oldest.is_newer_than(step)) {
            self.log.pop_front();
        }
    }

    pub fn poll_step(&mut self) -> Option<Tick> {
        let step = (self.count > 0).then_some(self.first)?;
        (self.first, self.count, self.asked) = (step.next(), self.count - 1, Some(step));
        Some(step)
    }

    /// Whether this step was asked for.
    pub fn push(&mut self, step: Tick, input: I) -> bool {
        if self.asked != Some(step) {
            return false;
        }
        self.asked = None;
        // A message has no gaps: what is before one is too late anyway.
        if self.log.back().is_some_and(|(newest, _)| newest.next() != step) {
            self.log.clear();
        }
        if self.log.len() == INPUTS_PER_MESSAGE_MAX {
            self.log.pop_front();
        }
        self.log.push_back((step, input));
        self.is_unsent = true;
        true
    }

    /// The message with everything that is not confirmed, if something is new.
    pub fn poll_message(&mut self, view: Option<ViewTime>) -> Option<&[u8]> {
        if !std::mem::take(&mut self.is_unsent) {
            return None;
        }
        let (newest, _) = self.log.back()?;
        let inputs = self.log.iter().rev().map(|(_, input)| input);
        self.message[0] = kind::INPUT;
        let length = write_inputs(*newest, view, inputs, &mut self.message[1..])?;
        Some(&self.message[..=length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_replica::input::InputMessage;

    fn steps(first: u32, count: u32) -> Steps {
        Steps { first: Tick(first), count, skipped: 0 }
    }

    fn pushed(inputs: &mut Inputs<[u8; 1]>) {
        while let Some(step) = inputs.poll_step() {
            assert!(inputs.push(step, [step.0 as u8]));
        }
    }

    #[test]
    fn a_message_carries_what_is_not_confirmed_and_goes_out_once() {
        let mut inputs = Inputs::new();
        inputs.set_steps(steps(5, 3));
        pushed(&mut inputs);
        inputs.confirm(Tick(5));
        let message = inputs.poll_message(None).unwrap().to_vec();
        assert_eq!(message[0], kind::INPUT);
        let read = InputMessage::<[u8; 1]>::read(&message[1..]).unwrap();
        assert_eq!(read.newest(Tick(7)), Tick(7));
        assert_eq!(read.inputs().collect::<Vec<_>>(), [[7], [6]]);
        assert_eq!(inputs.poll_message(None), None, "nothing is new");
    }

    #[test]
    fn a_gap_starts_anew_and_steps_that_were_not_asked_for_are_refused() {
        let mut inputs = Inputs::new();
        inputs.set_steps(steps(5, 2));
        pushed(&mut inputs);
        inputs.set_steps(steps(20, 1));
        assert!(!inputs.push(Tick(20), [0]), "not asked yet");
        pushed(&mut inputs);
        assert!(!inputs.push(Tick(20), [0]), "given already");
        let message = inputs.poll_message(None).unwrap();
        let read = InputMessage::<[u8; 1]>::read(&message[1..]).unwrap();
        assert_eq!(read.inputs().collect::<Vec<_>>(), [[20]]);
    }
}
