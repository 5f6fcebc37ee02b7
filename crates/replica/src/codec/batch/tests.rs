use netloom_wire::Profile;
use netloom_wire::schema::{FieldKind, Schema, SyncFlags};
use proptest::prelude::*;

use super::super::Pair;
use super::*;

/// The codes of objects that are encoded side by side; zeros if those of the class are not.
fn encode_many(pair: &Pair, class: &Class, visible: u64, updates: &[Update<'_>], codes: &Codes) -> Vec<u64> {
    let mut out = vec![0; updates.len()];
    let Some(beside) = pair.beside(class, visible) else { return out };
    let mut batch = Batch::default();
    for (updates, out) in updates.chunks(LANES).zip(out.chunks_mut(LANES)) {
        updates.iter().enumerate().for_each(|(lane, update)| beside.load(&mut batch, lane, update));
        beside.encode(&mut batch, codes, out);
    }
    out
}

fn class(position: Profile, rotation: Profile) -> Class {
    let schema = Schema::builder("thing")
        .field("rotation", FieldKind::Rotation(rotation), SyncFlags::PUBLIC_SYNC, 9)
        .field("health", FieldKind::int(0, 100).unwrap(), SyncFlags::PUBLIC_SYNC, 8)
        .field("position", FieldKind::Position(position), SyncFlags::PUBLIC_SYNC, 7);
    Class::new(schema.build().unwrap()).unwrap()
}

/// Words of the class: mostly valid, sometimes not.
fn any_words() -> impl Strategy<Value = [i32; 9]> {
    let step = || prop_oneof![9 => -290i32..=290, 1 => -512i32..=512];
    let place = || prop_oneof![9 => -900i32..900, 1 => any::<i16>().prop_map(i32::from), 1 => any::<i32>()];
    let rotation = (prop_oneof![19 => 0i32..4, 1 => any::<i32>()], step(), step(), step());
    let position = (place(), place(), place(), prop_oneof![19 => Just(0), 1 => Just(1)]);
    (rotation, 0..=100, position)
        .prop_map(|((d, a, b, c), health, (x, y, z, raw))| [d, a, b, c, health, x, y, z, raw])
}

/// An object that mostly moves by little, and sometimes not at all.
fn any_rows() -> impl Strategy<Value = ([[i32; 9]; 3], Option<u32>)> {
    let offset = || prop_oneof![Just(0), -1i32..=1, -30i32..30];
    let offsets = || prop::array::uniform9(offset());
    let near = (any_words(), offsets(), offsets()).prop_map(|(words, first, second)| {
        let moved = |words: [i32; 9], offsets: [i32; 9]| {
            core::array::from_fn(|word| match word {
                0 | 4 | 8 => words[word],
                _ => words[word].wrapping_add(offsets[word]),
            })
        };
        let newer = moved(words, first);
        [words, newer, moved(newer, second)]
    });
    let far = prop::array::uniform3(any_words());
    (prop_oneof![4 => near, 1 => far], prop::option::weighted(0.05, 0u32..20))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn many_codes_are_those_of_each_object_alone(
        objects in prop::collection::vec(any_rows(), 0..50),
        ages in (0u32..20, 0u32..30),
        position in prop::sample::select(vec![Profile::Standard, Profile::High]),
    ) {
        let class = class(position, Profile::Standard);
        let codes = Codes::generic();
        let pair = Pair::new(ages.0, Some(ages.1));
        let updates = objects.iter().map(|([current, newer, older], jump_age)| {
            Update { current, newer, older, jumped: jump_age.is_some() }
        });
        let out = encode_many(&pair, &class, 0b111, &updates.collect::<Vec<_>>(), &codes);
        for (&code, ([current, newer, older], jump_age)) in out.iter().zip(&objects) {
            let alone = pair.encode_small(&class, 0b111, current, newer, Some(older), *jump_age, &codes);
            prop_assert!(code == 0 || Some(SmallCode(code)) == alone, "{:x} and {:x?}", code, alone);
        }
    }
}

#[test]
fn what_moves_usually_is_encoded_with_the_others() {
    let class = class(Profile::Standard, Profile::Standard);
    let older = [3, 10, 20, 30, 50, 100, 200, 300, 0];
    let newer = [3, 15, 18, 33, 50, 110, 190, 300, 0];
    let current = [3, 21, 15, 36, 50, 122, 181, 300, 0];
    let updates = [Update { current: &current, newer: &newer, older: &older, jumped: false }; 40];
    let out = encode_many(&Pair::new(4, Some(8)), &class, 0b111, &updates, &Codes::generic());
    assert!(out.iter().all(|&code| code != 0 && code == out[0]));
}

#[test]
fn what_has_no_columns_is_left_to_be_encoded_alone() {
    let cases = [
        (class(Profile::Standard, Profile::High), 0b111, Pair::new(4, Some(8))),
        (class(Profile::None, Profile::Standard), 0b111, Pair::new(4, Some(8))),
        (class(Profile::Standard, Profile::Standard), 0b011, Pair::new(4, Some(8))),
        (class(Profile::Standard, Profile::Standard), 0b111, Pair::new(4, None)),
    ];
    for (class, visible, pair) in cases {
        assert!(pair.beside(&class, visible).is_none());
    }
}

/// Something that turned half way round: with all signs changed its steps are the same, but it is not.
#[test]
fn a_rotation_with_all_signs_changed_is_another_one() {
    let class = class(Profile::Standard, Profile::Standard);
    let (codes, pair) = (Codes::generic(), Pair::new(13, Some(21)));
    let current = [3, 367, 115, -406, 7, -777, 3489, -3592, 0];
    let newer = [3, -367, -115, 406, 7, -778, 3518, -3589, 0];
    let older = [3, -13, -4, 15, 7, -757, 3476, -3550, 0];
    for current in [current, newer] {
        let update = Update { current: &current, newer: &newer, older: &older, jumped: false };
        let visible = class.visible(netloom_wire::schema::Audience::Public);
        let many = encode_many(&pair, &class, visible, &[update], &codes);
        let alone = pair.encode_small(&class, visible, &current, &newer, Some(&older), None, &codes);
        assert_eq!(alone.map(|code| code.0), Some(many[0]));
        let bytes = SmallCode(many[0]).bits().to_le_bytes();
        let (mut reader, mut words) = (netloom_wire::BitReader::new(&bytes), [0; 9]);
        pair.decode(&class, visible, &newer, Some(&older), &codes, &mut reader, &mut words, &mut |_, _| {})
            .unwrap();
        assert_eq!(words, current);
    }
}
