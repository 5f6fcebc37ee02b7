//! A client that says anything about what its player does, to a server that keeps its own pace.

use std::collections::BTreeMap;

use netloom_replica::input::{
    INPUT_MESSAGE_BYTES_MAX, INPUTS_PER_MESSAGE_MAX, InputBytes, InputMessage, ViewTime, write_inputs,
};
use netloom_replica::server::input_queue::{InputQueue, InputQueueConfig, InputSource, Starvation};
use netloom_wire::{Micros, Tick};

use crate::input::Input;

/// Operations per input.
const OPERATIONS_MAX: usize = 400;
const STEPS_PER_SECOND: u32 = 100;
const STEP_MICROS: u64 = 10_000;
const BURST_STEPS: u32 = 4;
const NEUTRAL: [u8; 2] = [0xff; 2];

/// What a server simulated, and what it might have.
struct Witness {
    queue: InputQueue<[u8; 2]>,
    config: InputQueueConfig,
    first: Tick,
    /// The next step, as numbers that do not wrap.
    next: u64,
    /// What came first for each step that was still to come.
    said: BTreeMap<u64, [u8; 2]>,
    now: Micros,
    messages: u64,
    simulated: u64,
}

/// Takes in messages, valid, damaged and made up, between steps per tick or per input.
pub fn replica_input(data: &[u8]) {
    let mut input = Input::new(data);
    let setting = input.u8();
    let config = InputQueueConfig {
        steps_per_second: STEPS_PER_SECOND,
        window_steps: 1 + u32::from(input.u8()),
        starvation: match setting & 1 {
            0 => Starvation::Neutral,
            _ => Starvation::Repeat { steps_max: u32::from(setting >> 2) },
        },
        burst_steps: BURST_STEPS,
    };
    let first = Tick(input.u32());
    let queue = InputQueue::new(NEUTRAL, first, config).expect("settings within their ranges");
    let (said, now) = (BTreeMap::new(), Micros(1_000_000));
    let mut witness = Witness { queue, config, first, next: 0, said, now, messages: 0, simulated: 0 };
    let steps_per_input = setting & 2 != 0;
    for _ in 0..OPERATIONS_MAX {
        if input.is_empty() {
            break;
        }
        let operation = input.u8();
        match operation & 3 {
            0 => witness.hear(&mut input),
            1 => {
                let length = usize::from(input.u16()) % (INPUT_MESSAGE_BYTES_MAX + 2);
                witness.read(input.bytes(length));
            }
            _ if steps_per_input => witness.poll(operation >> 2),
            _ => (0..=operation >> 2).for_each(|_| witness.step()),
        }
    }
    witness.check();
}

impl Witness {
    /// A message with a run of inputs around the present.
    fn hear(&mut self, input: &mut Input<'_>) {
        let newest = (self.next + u64::from(input.u16() & 0x1ff)).saturating_sub(0x80);
        let count = 1 + input.choice(INPUTS_PER_MESSAGE_MAX);
        let view = (input.u8() & 1 != 0).then(|| ViewTime { step: Tick(input.u32()), fraction: input.u8() });
        let inputs: Vec<[u8; 2]> = (0..count).map(|_| [input.u8() & 1, 0]).collect();
        let mut out = [0; INPUT_MESSAGE_BYTES_MAX];
        let step = self.first.plus(newest as u32);
        let length = write_inputs(step, view, inputs.iter(), &mut out).expect("room for inputs of two bytes");
        self.read(&out[..length]);
    }

    /// Any bytes.
    fn read(&mut self, bytes: &[u8]) {
        check_bytes(bytes);
        let message = InputMessage::<[u8; 2]>::read(bytes);
        assert_eq!(
            self.queue.handle_message(bytes, self.now),
            message.as_ref().map(|_| ()).map_err(|error| *error)
        );
        let Ok(message) = message else { return };
        self.messages += 1;
        let present = self.first.plus(self.next as u32);
        let newest = message.newest(present);
        for (age, content) in message.inputs().enumerate() {
            let ahead = i64::from(Tick(newest.0.wrapping_sub(age as u32)).distance(present));
            if (0..i64::from(self.config.window_steps)).contains(&ahead) {
                self.said.entry(self.next + ahead as u64).or_insert(content);
            }
        }
    }

    /// A step of a game that steps by its own clock: the input is what came first.
    fn step(&mut self) {
        let step = self.first.plus(self.next as u32);
        let taken = self.queue.take(step, self.now).expect("a step that was not simulated");
        assert_eq!(self.queue.take(step, self.now), None, "one input for each step");
        match self.said.remove(&self.next) {
            Some(said) => assert_eq!((taken.input, taken.source), (said, InputSource::Client)),
            None => assert_ne!(taken.source, InputSource::Client),
        }
        assert_eq!(self.queue.feedback().map(|feedback| feedback.step), Some(step));
        self.now += Micros(STEP_MICROS);
        self.next += 1;
        self.simulated += 1;
    }

    /// Some time in a game that steps per input: no more of them than the time has steps.
    fn poll(&mut self, quarters: u8) {
        self.now += Micros(u64::from(quarters) * STEP_MICROS / 4);
        while let Some(taken) = self.queue.poll_input(self.now) {
            assert_eq!(taken.source, InputSource::Client);
            self.simulated += 1;
        }
        let elapsed = (self.now.0 - 1_000_000) / STEP_MICROS;
        assert!(self.simulated <= elapsed + u64::from(BURST_STEPS), "faster than time");
    }

    fn check(&self) {
        let counters = self.queue.counters();
        assert_eq!(counters.messages, self.messages);
        assert_eq!(counters.real + counters.repeated + counters.neutral, self.simulated);
        assert!(self.queue.len() <= self.config.window_steps as usize);
    }
}

/// What is read says the same when it is written again.
fn check_bytes(bytes: &[u8]) {
    let Ok(message) = InputMessage::<InputBytes>::read(bytes) else { return };
    let near = Tick(7);
    let inputs: Vec<InputBytes> = message.inputs().collect();
    assert_eq!(inputs.len(), message.count());
    let mut out = [0; INPUT_MESSAGE_BYTES_MAX];
    let length =
        write_inputs(message.newest(near), message.view(near), inputs.iter(), &mut out).expect("it fitted");
    let again = InputMessage::<InputBytes>::read(&out[..length]).expect("what is written can be read");
    assert_eq!((again.newest(near), again.view(near)), (message.newest(near), message.view(near)));
    // An input that is said twice in full may have left less room than the writer reserves.
    assert!(again.inputs().zip(&inputs).all(|(again, input)| again == *input));
}
