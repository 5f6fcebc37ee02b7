//! The whole way round: a client that counts steps ahead, a queue that takes one input for each, and the slack that comes
//! back in quarters of a step, at every rate and across the end of the counter.

use std::collections::BTreeMap;

use netloom_replica::client::{InputClock, InputClockConfig, ServerClock};
use netloom_replica::input::write_inputs;
use netloom_replica::server::input_queue::{InputQueue, InputQueueConfig};
use netloom_replica::snapshot::Feedback;
use netloom_wire::{Micros, Tick};

const FRAME_US: u64 = 7_000;
const SNAPSHOT_US: u64 = 50_000;
const ONE_WAY_US: u64 = 45_000;
/// Inputs that a message repeats.
const REPEATED: u32 = 8;

/// A client and a server that are 90 ms apart, in the client's time.
struct Game {
    steps_per_second: u32,
    /// What the server's clock shows when the client's shows zero.
    server_start_us: u64,
    now_us: u64,
    next_step: u64,
    next_snapshot_us: u64,
    clock: ServerClock,
    input: InputClock,
    queue: InputQueue<[u8; 1]>,
    up: BTreeMap<(u64, u64), Vec<u8>>,
    down: BTreeMap<u64, (Micros, Option<Feedback>)>,
    sent: u64,
}

impl Game {
    fn new(steps_per_second: u32, first_step: u64) -> Game {
        let config = InputClockConfig { steps_per_second, ..InputClockConfig::default() };
        let queue_config = InputQueueConfig { steps_per_second, ..InputQueueConfig::default() };
        Game {
            steps_per_second,
            server_start_us: (first_step * 1_000_000).div_ceil(u64::from(steps_per_second)),
            now_us: 0,
            next_step: first_step,
            next_snapshot_us: 0,
            clock: ServerClock::new(),
            input: InputClock::new(config).unwrap(),
            queue: InputQueue::new([0], Tick(first_step as u32), queue_config).unwrap(),
            up: BTreeMap::new(),
            down: BTreeMap::new(),
            sent: 0,
        }
    }

    fn frame(&mut self) {
        self.now_us += FRAME_US;
        let now = Micros(self.now_us);
        self.serve(now);
        while let Some(entry) = self.down.first_entry().filter(|entry| *entry.key() <= now.0) {
            let (server_time, feedback) = entry.remove();
            self.clock.handle_snapshot(now, server_time);
            self.clock.handle_rtt(Micros(2 * ONE_WAY_US));
            feedback.iter().for_each(|feedback| self.input.handle_feedback(feedback));
        }
        self.clock.advance(now);
        for step in self.input.poll_steps(now, &self.clock).iter() {
            let inputs: Vec<[u8; 1]> = (0..REPEATED).map(|age| [step.0.wrapping_sub(age) as u8]).collect();
            let mut message = [0; 64];
            let length = write_inputs(step, None, inputs.iter(), &mut message).unwrap();
            // Every third message comes a little later.
            self.sent += 1;
            let late_us = if self.sent.is_multiple_of(3) { 4_000 } else { 0 };
            self.up.insert((now.0 + ONE_WAY_US + late_us, self.sent), message[..length].to_vec());
        }
    }

    fn serve(&mut self, now: Micros) {
        while let Some(entry) = self.up.first_entry().filter(|entry| entry.key().0 <= now.0) {
            let arrived = Micros(self.server_start_us + entry.key().0);
            self.queue.handle_message(&entry.remove(), arrived).unwrap();
        }
        let server_us = self.server_start_us + now.0;
        loop {
            let due_us = (self.next_step * 1_000_000).div_ceil(u64::from(self.steps_per_second));
            if due_us > server_us {
                break;
            }
            let step = Tick(self.next_step as u32);
            let taken = self.queue.take(step, Micros(due_us)).unwrap();
            let is_its_own = taken.input == [step.0 as u8];
            assert!(is_its_own || self.now_us < 3_000_000, "another input than that of {step:?}");
            self.next_step += 1;
        }
        if now.0 >= self.next_snapshot_us {
            self.next_snapshot_us += SNAPSHOT_US;
            self.down.insert(now.0 + ONE_WAY_US, (Micros(server_us), self.queue.feedback()));
        }
    }
}

#[test]
fn every_step_has_its_input_in_time_at_every_rate_and_across_the_end_of_the_counter() {
    for steps_per_second in [10, 30, 60, 128, 240] {
        for first_step in [0, 70_000, (1 << 32) - 100, (7 << 32) + 5] {
            let mut game = Game::new(steps_per_second, first_step);
            (0..5_000_000 / FRAME_US).for_each(|_| game.frame());
            let before = game.queue.counters();
            (0..15_000_000 / FRAME_US).for_each(|_| game.frame());
            let after = game.queue.counters();
            let what = format!("{steps_per_second} steps a second from {first_step}");
            let simulated = u64::from(steps_per_second) * 15;
            assert!((after.real - before.real).abs_diff(simulated) <= 1, "{what}: {after:?}");
            assert_eq!((after.late, after.early), (before.late, before.early), "{what}");
            // One step, the jitter, and a frame that has to come round.
            let slack_us = game.queue.slack_steps().unwrap() * 1e6 / f64::from(steps_per_second);
            let most_us = 1.5e6 / f64::from(steps_per_second) + 20_000.0;
            assert!((0.0..most_us).contains(&slack_us), "{what}: {slack_us} µs early");
        }
    }
}
