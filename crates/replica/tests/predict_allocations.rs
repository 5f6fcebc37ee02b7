//! Prediction and its server side do not touch the heap in steady state, corrections included.

use netloom_count::allocations;
use netloom_replica::client::predict::{PredictConfig, PredictedSpawns, Predictor, SpawnKey};
use netloom_replica::input::{INPUT_MESSAGE_BYTES_MAX, ViewTime};
use netloom_replica::server::input_queue::{InputQueue, InputQueueConfig};
use netloom_replica::step::{Describe, Fields, Step};
use netloom_replica::world::OwnerId;
use netloom_wire::{Micros, Profile, Tick};

struct Fly;

impl Step for Fly {
    type State = ([f32; 3], u32);
    type Input = [u8; 4];

    fn step(&self, (position, fuel): &mut ([f32; 3], u32), input: &[u8; 4]) {
        position.iter_mut().zip(input).for_each(|(place, input)| *place += f32::from(*input) * 0.001);
        *fuel = fuel.wrapping_sub(input[3].into());
    }
}

impl Describe for Fly {
    fn describe(&self, (position, fuel): &([f32; 3], u32), fields: &mut Fields) {
        fields.position("position", Profile::High, *position);
        fields.whole("fuel", *fuel);
    }
}

#[test]
fn a_predicted_object_and_its_queue_allocate_nothing_after_construction() {
    let start = ([0.0; 3], 0);
    let mut own = Predictor::new(Fly, Tick(0), start, PredictConfig::default()).unwrap();
    let mut queue = InputQueue::new([0; 4], Tick(1), InputQueueConfig::default()).unwrap();
    let mut spawns = PredictedSpawns::new(8, 10).unwrap();
    let mut truth = start;
    let mut message = [0; INPUT_MESSAGE_BYTES_MAX];
    let before = allocations();
    for step in 1..2_000u32 {
        let now = Micros(u64::from(step) * 16_667);
        own.apply_local(Tick(step + 40), [step as u8, 1, 2, 3]).unwrap();
        let view = ViewTime::at(now, 60);
        let length = own.write_inputs(Some(view), &mut message).unwrap();
        queue.handle_message(&message[..length], now).unwrap();
        let taken = queue.take(Tick(step), now).unwrap();
        Fly.step(&mut truth, &taken.input);
        // Something that the client could not know, every third step.
        if step % 3 == 0 {
            truth.0[2] += 0.01;
        }
        own.handle_state(queue.feedback().unwrap().step, &truth);
        own.advance_view(Micros(16_667));
        spawns.spawn(OwnerId(1), Tick(step), 0, step).unwrap();
        if step % 2 == 0 {
            assert!(spawns.match_spawn(SpawnKey::new(OwnerId(1), Tick(step), 0).to_bits()).is_some());
        }
        spawns.handle_acked(Tick(step));
        while spawns.poll_withdrawn().is_some() {}
    }
    assert_eq!(allocations() - before, 0);
    assert!(own.report().corrections() > 600, "{}", own.report().corrections());
    assert!(queue.counters().real > 1_900);
}
