use netloom_wire::schema::{Audience, FieldKind, Schema, SyncFlags};
use netloom_wire::{BitReader, BitWriter, Profile};
use proptest::prelude::*;

use super::super::{Batch, Codes, Pair, States, Update};
use super::*;
use crate::class::Class;

type Words = [i32; 8];

fn class() -> Class {
    let schema = Schema::builder("thing")
        .field("rotation", FieldKind::Rotation(Profile::None), SyncFlags::PUBLIC_SYNC, 9)
        .field("position", FieldKind::Position(Profile::None), SyncFlags::PUBLIC_SYNC, 7);
    Class::new(schema.build().unwrap()).unwrap()
}

fn bits(value: f64) -> i32 {
    (value as f32).to_bits() as i32
}

/// Something at a place, turned by an angle about an axis.
fn words(place: [f64; 3], axis: [f64; 3], angle: f64) -> Words {
    let length = axis.into_iter().map(|part| part * part).sum::<f64>().sqrt();
    let [x, y, z] = axis.map(|part| bits(part / length * (angle / 2.0).sin()));
    let [a, b, c] = place.map(bits);
    [x, y, z, bits((angle / 2.0).cos()), a, b, c, 1]
}

/// An object at three ticks: of most positions and rotations go on as they did, more or less.
fn any_states() -> impl Strategy<Value = [Words; 3]> {
    let size = || prop_oneof![4 => -1.0f64..1.0, 1 => Just(0.0)];
    let three = || prop::array::uniform3(size());
    let moving = (three(), three(), three(), three(), 0.0f64..6.0, size(), size(), -6i32..3).prop_map(
        |(place, way, change, axis, angle, turn, surprise, scale)| {
            let axis = if axis == [0.0; 3] { [0.0, 0.0, 1.0] } else { axis };
            let scale = 10f64.powi(scale);
            let at = |ticks: f64, change: [f64; 3], turned: f64| {
                let place = core::array::from_fn(|part| {
                    300.0 * place[part] + scale * (way[part] * ticks + change[part])
                });
                words(place, axis, angle + 0.1 * turn * ticks + turned)
            };
            [
                at(6.0, change.map(|part| 0.1 * part), 0.01 * surprise),
                at(4.0, [0.0; 3], 0.0),
                at(0.0, [0.0; 3], 0.0),
            ]
        },
    );
    // Some signs are changed, some words are the same as before, and some are anything.
    let spoilt =
        (0usize..3, 0usize..8, prop_oneof![Just(None), Just(Some(i32::MIN)), any::<i32>().prop_map(Some)]);
    (moving, prop::option::weighted(0.3, spoilt), prop::bool::weighted(0.05)).prop_map(
        |(mut states, spoilt, flips)| {
            if let Some((state, word, by)) = spoilt {
                states[state][word] = by.map_or(states[(state + 1) % 3][word], |by| states[state][word] ^ by);
            }
            if flips {
                states[0][..4].iter_mut().for_each(|word| *word ^= i32::MIN);
            }
            states
        },
    )
}

/// What the object takes alone.
fn alone(pair: &Pair, class: &Class, [current, newer, older]: &[Words; 3]) -> Option<LongCode> {
    let mut bytes = [0; 64];
    let mut writer = BitWriter::new(&mut bytes);
    let states = States { newer, older: Some(older), oldest: None, is_carried: false };
    let visible = class.visible(Audience::Public);
    pair.encode_from(class, visible, current, &states, None, &(), &Codes::generic(), &mut writer);
    let length = writer.bit_len() as u32;
    writer.finish().ok()?;
    Some(LongCode { bits: u128::from_le_bytes(*bytes.first_chunk()?), length })
}

fn many(pair: &Pair, class: &Class, objects: &[[Words; 3]]) -> Vec<LongCode> {
    let mut out = vec![LongCode::default(); objects.len()];
    let Some(beside) = pair.beside(class, class.visible(Audience::Public)) else { return out };
    let mut batch = Batch::default();
    for (objects, out) in objects.chunks(LANES).zip(out.chunks_mut(LANES)) {
        for (lane, [current, newer, older]) in objects.iter().enumerate() {
            beside.load(&mut batch, lane, &Update { current, newer, older, jumped: false });
        }
        beside.encode_exact(&mut batch, out);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn many_codes_are_those_of_each_object_alone(
        objects in prop::collection::vec(any_states(), 1..40), ages in (0u32..20, 1u32..12),
    ) {
        let (class, pair) = (class(), Pair::new(ages.0, Some(ages.0 + ages.1)));
        for (object, code) in objects.iter().zip(many(&pair, &class, &objects)) {
            prop_assert!(code.length == 0 || Some(code) == alone(&pair, &class, object), "{:x?}: {:x?}", object, code);
        }
    }
}

/// Even where nothing is said but what rounding left: such a code is short.
#[test]
fn what_moves_and_turns_is_encoded_with_the_others_and_returns() {
    let (class, pair) = (class(), Pair::new(2, Some(6)));
    let objects: Vec<[Words; 3]> = (1..=50)
        .map(|number| {
            let at = |ticks: f64| {
                let place = [3.0, -20.0, 400.0].map(|part| part + 0.01 * ticks * f64::from(number));
                words(place, [0.3, -0.8, 0.2], 0.02 * f64::from(number) + 0.03 * ticks)
            };
            [at(6.0), at(4.0), at(0.0)]
        })
        .collect();
    for (object, code) in objects.iter().zip(many(&pair, &class, &objects)) {
        assert_eq!(Some(code), alone(&pair, &class, object));
        let [current, newer, older] = object;
        let bytes = code.bits.to_le_bytes();
        let mut reader = BitReader::with_bit_len(&bytes, code.length as usize).unwrap();
        let (mut words, visible) = ([0; 8], class.visible(Audience::Public));
        let codes = Codes::generic();
        pair.decode(&class, visible, newer, Some(older), &codes, &mut reader, &mut words, &mut |_, _| {})
            .unwrap();
        assert_eq!(words, *current);
    }
}

#[test]
fn what_is_unusual_is_left_to_be_encoded_alone() {
    let (class, pair) = (class(), Pair::new(2, Some(6)));
    let axis = [0.0, 1.0, 0.3];
    let states = |turns: [f64; 3], places: [f64; 3]| {
        core::array::from_fn(|state| words([places[state], 1.0, 2.0], axis, turns[state]))
    };
    let (turns, places) = ([1.6, 1.4, 1.0], [5.6, 5.4, 5.0]);
    let mut not_finite = states(turns, places);
    not_finite[0][4] = f32::INFINITY.to_bits() as i32;
    let mut no_rotation = states(turns, places);
    no_rotation[0][0] = bits(0.9);
    let unusual = [
        states(turns, [5.4, 5.4, 5.0]),
        states(turns, [5.6, 5.0, 5.0]),
        states([1.4, 1.4, 1.0], places),
        states([1.6, 1.0, 1.0], places),
        states([1.400_002, 1.4, 1.0], places),
        not_finite,
        no_rotation,
    ];
    assert!(many(&pair, &class, &[states(turns, places)])[0].length > 0);
    for (number, object) in unusual.iter().enumerate() {
        assert_eq!(many(&pair, &class, &[*object])[0], LongCode::default(), "{number}");
    }
}
