//! What sticks to something that moves.
//!
//! A crate on a truck goes where the truck goes. From its own past that looks like a curve with every turn of the wheel a
//! surprise; seen from the truck it rests. So its baselines are moved along with the carrier, from where that was then to
//! where it is now, and the object is told against these as if it had been there:
//!
//! ```text
//!        ┌──┐                                  turn     = now · then⁻¹
//!    ▪   │  │ then            now ┌──┐         position = now + turn · (position − then)
//!   baseline ─┘    ─────────►     │  │  ▫      rotation = turn · rotation
//!                                 └──┘ carried baseline
//! ```
//!
//! Whether an object sticks is not said. The past tells: if a carrier brings the older baseline close to the newer one, it
//! did so then, and will do so again.
//!
//! Everything is integers. Quaternions are computed in sixteenths of a step, a turn in 2^-14.

use super::arc::{Unit, unit_of};
use super::number::Number;
use super::{four, position};
use crate::class::Class;

/// Sixteenths of a step: the root of a dropped component is not exact, and an error of half a step would be one of a
/// thousandth of the distance from the carrier.
const FINE: i64 = 16;
/// Bits of the fraction of a turn, and those that are cut off a product of two fine quaternions to get there.
const TURN_BITS: i32 = 14;
const PRODUCT_BITS: i32 = 13;
/// How many more of them there are of fifteen bits, whose steps are 32 times as fine.
const FIFTEEN_BITS: i32 = 10;
/// Objects at a larger distance from the carrier, in words, are not its load.
const DISTANCE_MAX: i32 = 1 << 17;
/// √2 in 2^-6 of steps of ten bits: 511 · √2 · 64.
const LENGTH_TEN: i64 = 46_250;
/// The same for fifteen bits.
const LENGTH_FIFTEEN: i64 = 1_482_825;
const LENGTH_BITS: i32 = 6;

/// How an object that carries others moved between two of its states.
#[derive(Clone, Copy, Debug)]
pub struct Carrier {
    position: u8,
    rotation: u8,
    unit: &'static Unit,
    then: [i32; 3],
    now: [i32; 3],
    /// A quaternion of about 2^14.
    turn: [i64; 4],
    /// The same as a matrix.
    matrix: [[i64; 3]; 3],
}

impl Carrier {
    /// From one state to another of objects of this class; `None` if it has no position and rotation, or if their words
    /// are bits of singles or no rotation.
    ///
    /// # Panics
    /// If any words are fewer than the class has.
    pub fn new(class: &Class, then: &[i32], now: &[i32]) -> Option<Carrier> {
        let transform = class.transform();
        let (position, rotation) = (transform.position?, transform.rotation?);
        let (unit, _) = (unit_of(rotation.quantized?), position.quantized?);
        let [[x, y, z, raw], [p, q, r, raw_now]] = [then, now].map(|words| *four(words, position.first));
        let are_rotations = [then, now].iter().all(|words| is_rotation(four(words, rotation.first), unit));
        if raw | raw_now != 0 || !are_rotations {
            return None;
        }
        let [before, after] = [then, now].map(|words| fine(*four(words, rotation.first), unit));
        let cut_bits = PRODUCT_BITS + if unit.half == Unit::FIFTEEN.half { FIFTEEN_BITS } else { 0 };
        let turn = product(after, conjugate(before)).map(|part| part.over_two_to(cut_bits));
        Some(Carrier {
            position: position.first,
            rotation: rotation.first,
            unit,
            then: [x, y, z],
            now: [p, q, r],
            turn,
            matrix: matrix(turn),
        })
    }

    /// Writes to `carried` where it brings a state of something of the same class. Other fields stay as they are; what is
    /// too far away stays wholly.
    ///
    /// # Panics
    /// If any words are fewer than the class has.
    pub fn carry(&self, words: &[i32], carried: &mut [i32]) {
        carried[..words.len()].copy_from_slice(words);
        let [x, y, z, raw] = *four(words, self.position);
        let away = position::subtract([x, y, z], self.then);
        let rotation = four(words, self.rotation);
        if raw != 0
            || !is_rotation(rotation, self.unit)
            || away.iter().any(|&part| !(-DISTANCE_MAX..=DISTANCE_MAX).contains(&part))
        {
            return;
        }
        let away = away.map(i64::from);
        for (axis, row) in self.matrix.iter().enumerate() {
            let sum = row[0] * away[0] + row[1] * away[1] + row[2] * away[2];
            let turned = sum.over_two_to(TURN_BITS) as i32;
            carried[usize::from(self.position) + axis] = self.now[axis].wrapping_add(turned);
        }
        let turned = product(self.turn, fine(*rotation, self.unit));
        let at = usize::from(self.rotation);
        carried[at..at + 4].copy_from_slice(&quantized(turned, self.unit));
    }

    /// Whether it brings one state of an object about to where another one is: at least twice as near as it was.
    ///
    /// # Panics
    /// If any words are fewer than the class has.
    pub fn explains(&self, older: &[i32], newer: &[i32], scratch: &mut [i32]) -> bool {
        self.carry(older, scratch);
        let distance = |words: &[i32]| {
            let (a, b) = (four(words, self.position), four(newer, self.position));
            (0..3).map(|axis| i64::from(a[axis].wrapping_sub(b[axis])).abs()).sum::<i64>()
        };
        distance(scratch) <= distance(older) / 2 + 8
    }
}

fn is_rotation(&[dropped, a, b, c]: &[i32; 4], unit: &Unit) -> bool {
    unit.contains::<i64>(dropped, [a, b, c])
}

/// The quaternion of words in sixteenths of a step.
fn fine(words: [i32; 4], unit: &Unit) -> [i64; 4] {
    let (steps, rest) = super::arc::whole::<i64>(words, unit);
    let mut fine = steps.map(|step| step * FINE);
    fine[words[0] as usize & 3] = (rest.max(0) * FINE * FINE).root();
    fine
}

fn conjugate([x, y, z, w]: [i64; 4]) -> [i64; 4] {
    [-x, -y, -z, w]
}

fn product([x, y, z, w]: [i64; 4], [p, q, r, s]: [i64; 4]) -> [i64; 4] {
    [
        w * p + x * s + y * r - z * q,
        w * q - x * r + y * s + z * p,
        w * r + x * q - y * p + z * s,
        w * s - x * p - y * q - z * r,
    ]
}

/// The matrix of a quaternion of any length, in 2^-14.
fn matrix([x, y, z, w]: [i64; 4]) -> [[i64; 3]; 3] {
    let square = (x * x + y * y + z * z + w * w).max(1);
    let part = |product: i64| ((product << (TURN_BITS + 2)) + square).div_euclid(2 * square);
    let one = 1 << TURN_BITS;
    [
        [one - part(y * y + z * z), part(x * y - w * z), part(x * z + w * y)],
        [part(x * y + w * z), one - part(x * x + z * z), part(y * z - w * x)],
        [part(x * z - w * y), part(y * z + w * x), one - part(x * x + y * y)],
    ]
}

/// The words of a quaternion of any length.
fn quantized(quaternion: [i64; 4], unit: &Unit) -> [i32; 4] {
    let quaternion = quaternion.map(|part| part.over_two_to(PRODUCT_BITS));
    let length = quaternion.iter().map(|part| part * part).sum::<i64>().root().max(1);
    let mut dropped = 0;
    for place in 1..4 {
        if quaternion[place].abs() > quaternion[dropped].abs() {
            dropped = place;
        }
    }
    let factor = if unit.half == Unit::FIFTEEN.half { LENGTH_FIFTEEN } else { LENGTH_TEN };
    let flips = quaternion[dropped] < 0;
    let mut words = [dropped as i32, 0, 0, 0];
    let kept = (0..4).filter(|&place| place != dropped);
    for (word, place) in words[1..].iter_mut().zip(kept) {
        let scaled = quaternion[place].negated_if(flips) * factor;
        *word = unit.word_of(scaled, length << LENGTH_BITS);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::{Codes, Pair, States};
    use super::*;
    use netloom_wire::quantize::{QuantizeCounters, Rotation};
    use netloom_wire::schema::{FieldKind, Schema, SyncFlags};
    use netloom_wire::{BitReader, Profile};

    fn class(profile: Profile) -> Class {
        let schema = Schema::builder("thing")
            .field("position", FieldKind::Position(Profile::High), SyncFlags::PUBLIC_SYNC, 9)
            .field("rotation", FieldKind::Rotation(profile), SyncFlags::PUBLIC_SYNC, 8);
        Class::new(schema.build().unwrap()).unwrap()
    }

    /// Something at a place, turned by so many degrees about z.
    fn state(profile: Profile, [x, y, z]: [i32; 3], degrees: f64) -> [i32; 8] {
        let (sine, cosine) = (degrees / 2.0).to_radians().sin_cos();
        let quaternion = [0.0, 0.0, sine as f32, cosine as f32];
        let rotation = profile.quantize_rotation(quaternion, &mut QuantizeCounters::default());
        let Rotation::SmallestThree { largest, steps: [a, b, c] } = rotation else {
            unreachable!("quantized")
        };
        [x, y, z, 0, largest.into(), a.into(), b.into(), c.into()]
    }

    #[test]
    fn a_load_goes_where_its_carrier_goes_and_turns_with_it() {
        for (profile, places_off, steps_off) in [(Profile::Standard, 3, 2), (Profile::High, 1, 24)] {
            let class = class(profile);
            for degrees in [0.0, 90.0, 130.0, 180.0, 270.0] {
                let then = state(profile, [1_000, 2_000, 0], 0.0);
                let now = state(profile, [1_500, 1_900, 40], degrees);
                let carrier = Carrier::new(&class, &then, &now).unwrap();
                let mut carried = [0; 8];
                carrier.carry(&state(profile, [1_400, 2_100, 7], 30.0), &mut carried);
                let (sine, cosine) = degrees.to_radians().sin_cos();
                let (x, y) = (400.0 * cosine - 100.0 * sine, 400.0 * sine + 100.0 * cosine);
                let place = [1_500 + x.round() as i32, 1_900 + y.round() as i32, 47];
                let expected = state(profile, place, degrees + 30.0);
                for (word, (got, want)) in carried.iter().zip(expected).enumerate() {
                    let off = if word < 4 { places_off } else { steps_off };
                    assert!((got - want).abs() <= off, "{degrees}: {carried:?}, not {expected:?}");
                }
            }
        }
    }

    #[test]
    fn a_carrier_explains_what_went_with_it_and_nothing_else() {
        let profile = Profile::Standard;
        let class = class(profile);
        let then = state(profile, [0, 0, 0], 0.0);
        let carrier = Carrier::new(&class, &then, &state(profile, [300, 0, 0], 20.0)).unwrap();
        let (load, mut gone, mut scratch) = (state(profile, [500, 0, 0], 0.0), [0; 8], [0; 8]);
        carrier.carry(&load, &mut gone);
        gone[1] += 9;
        assert!(carrier.explains(&load, &gone, &mut scratch));
        assert!(!carrier.explains(&load, &load, &mut scratch), "it stayed where it was");
        let far = state(profile, [i32::MIN, i32::MAX, 0], 0.0);
        carrier.carry(&far, &mut scratch);
        assert_eq!(scratch, far, "nothing is carried from the end of the world");
    }

    #[test]
    fn words_that_are_singles_are_carried_nowhere() {
        let raw = [0, 0, 0, 1, 3, 0, 0, 0];
        assert!(Carrier::new(&class(Profile::Standard), &raw, &raw).is_none());
        assert!(Carrier::new(&class(Profile::None), &[0; 8], &[0; 8]).is_none());
    }

    #[test]
    fn a_load_takes_few_bits_where_its_own_past_would_take_many() {
        let profile = Profile::Standard;
        let class = class(profile);
        let codes = Codes::generic();
        // The carrier turns faster and faster.
        let carrier = |tick: i32| state(profile, [tick * 20, 0, 0], f64::from(tick * tick));
        let mut load = [0; 8];
        let start = state(profile, [900, 300, 50], 0.0);
        let mut at = |tick: i32| {
            Carrier::new(&class, &carrier(0), &carrier(tick)).unwrap().carry(&start, &mut load);
            load
        };
        let [older, newer, current] = [2, 6, 10].map(&mut at);
        let brought = |then: i32, words: &[i32; 8]| {
            let mut carried = [0; 8];
            Carrier::new(&class, &carrier(then), &carrier(10)).unwrap().carry(words, &mut carried);
            carried
        };
        let (brought_newer, brought_older) = (brought(6, &newer), brought(2, &older));
        let pair = Pair::new(4, Some(8));
        let alone = States { newer: &newer, older: Some(&older), oldest: None, is_carried: false };
        let loaded =
            States { newer: &brought_newer, older: Some(&brought_older), oldest: None, is_carried: true };
        let code = |states: &States<'_>| pair.encode_small_from(&class, 3, &current, states, None, &codes);
        let carried = code(&loaded).expect("a small difference");
        assert!(code(&alone).is_none_or(|alone| alone.length() > carried.length() + 10));
        let (bytes, mut words) = (carried.bits().to_le_bytes(), [0; 8]);
        let mut reader = BitReader::with_bit_len(&bytes, carried.length() as usize).unwrap();
        pair.decode_from(&class, 3, &loaded, &codes, &mut reader, &mut words, &mut |_, _| {}).unwrap();
        assert_eq!(words, current);
    }
}
