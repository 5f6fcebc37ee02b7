//! How many bits motion takes: what the tables promise.

use netloom_wire::quantize::{QuantizeCounters, Rotation};
use netloom_wire::{Profile, SectorOrigin};

use super::super::*;
use super::transform_class;

const OBJECTS: usize = 100;
const SEND_TICKS: usize = 60;

/// Numbers in -1..1 from a seed.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

struct Body {
    position: [f64; 3],
    velocity: [f64; 3],
    axis: [f64; 3],
    angle: f64,
}

impl Body {
    fn new(noise: &mut Noise) -> Body {
        let axis = [noise.next(), noise.next(), noise.next() + 1.5];
        let length = axis.iter().map(|part| part * part).sum::<f64>().sqrt();
        Body {
            position: [0; 3].map(|_| noise.next() * 250.0),
            velocity: [0; 3].map(|_| noise.next() * 0.1),
            axis: axis.map(|part| part / length),
            angle: 0.0,
        }
    }

    fn words(&self) -> [i32; 8] {
        let mut counters = QuantizeCounters::default();
        let profile = Profile::Standard;
        let [x, y, z] =
            profile.quantize_position(self.position, &SectorOrigin::default(), &mut counters).words;
        let (sine, cosine) = (self.angle / 2.0).sin_cos();
        let [a, b, c] = self.axis.map(|part| (part * sine) as f32);
        let rotation = profile.quantize_rotation([a, b, c, cosine as f32], &mut counters);
        assert_eq!(counters, QuantizeCounters::default());
        let Rotation::SmallestThree { largest, steps } = rotation else {
            unreachable!("STANDARD is quantized")
        };
        let [d, e, f] = steps.map(i32::from);
        [x, y, z, 0, i32::from(largest), d, e, f]
    }
}

/// Bits an update, with its gap, of bodies that take `step` 60 times a second and are sent 20 times.
fn bits_per_update(ages: (u32, Option<u32>), step: impl Fn(&mut Body, &mut Noise)) -> f64 {
    let mut noise = Noise(0x0123_4567_89ab_cdef);
    let mut bodies: Vec<Body> = (0..OBJECTS).map(|_| Body::new(&mut noise)).collect();
    let frames: Vec<Vec<[i32; 8]>> = (0..SEND_TICKS)
        .map(|_| {
            for body in &mut bodies {
                (0..3).for_each(|_| step(body, &mut noise));
            }
            bodies.iter().map(Body::words).collect()
        })
        .collect();
    let class = transform_class(Profile::Standard);
    let codes = Codes::generic();
    let (mut bits, mut updates) = (0, 0);
    for tick in 8..SEND_TICKS {
        let mut next_slot = 0;
        for (slot, current) in frames[tick].iter().enumerate() {
            let at = |age: u32| Baseline { words: &frames[tick - age as usize][slot], age };
            let (newer, older) = (at(ages.0), ages.1.map(at));
            if current == newer.words {
                continue;
            }
            let mut buffer = [0; 32];
            let mut writer = BitWriter::new(&mut buffer);
            encode(&class, 3, current, newer, older, None, &(), &codes, &mut writer);
            bits += writer.bit_len() as u32 + gap_code(&codes, (slot - next_slot) as u32, true).1;
            next_slot = slot + 1;
            updates += 1;
        }
    }
    f64::from(bits) / f64::from(updates.max(1))
}

fn walk(body: &mut Body, noise: &mut Noise) {
    body.position = body.position.map(|axis| axis + noise.next() * 0.1);
    body.angle += 0.07 + 0.035 * noise.next();
}

fn fly(body: &mut Body, _: &mut Noise) {
    for (axis, speed) in body.position.iter_mut().zip(body.velocity) {
        *axis += speed;
    }
    body.angle += 0.02;
}

#[test]
fn a_random_walk_takes_less_than_four_and_a_half_bytes() {
    let bits = bits_per_update((2, Some(4)), walk);
    assert!(bits < 4.5 * 8.0, "{bits} bits an update");
}

#[test]
fn even_flight_takes_less_than_two_and_a_half_bytes() {
    let bits = bits_per_update((2, Some(4)), fly);
    assert!(bits < 2.5 * 8.0, "{bits} bits an update");
}

#[test]
fn ages_that_are_no_multiple_of_each_other_predict_as_well() {
    let bits = bits_per_update((2, Some(5)), fly);
    assert!(bits < 2.5 * 8.0, "{bits} bits an update");
}

#[test]
fn a_second_baseline_pays() {
    for step in [walk, fly] {
        let (one, two) = (bits_per_update((2, None), step), bits_per_update((2, Some(4)), step));
        assert!(two < 0.8 * one, "{two} bits with two baselines, {one} with one");
    }
}

#[test]
fn what_moved_along_one_line_and_stopped_takes_two_bytes() {
    let class = transform_class(Profile::Standard);
    let codes = Codes::generic();
    let older = [100, 0, 0, 0, 3, 0, 0, 0];
    let newer = [130, 0, 0, 0, 3, 0, 0, 0];
    let code = encode_small(
        &class,
        3,
        &[133, 0, 0, 0, 3, 0, 0, 0],
        Baseline { words: &newer, age: 2 },
        Some(Baseline { words: &older, age: 4 }),
        None,
        &codes,
    );
    let bits = code.unwrap().length();
    assert!(bits <= 16, "{bits} bits");
}
