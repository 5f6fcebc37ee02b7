mod motion;
pub(super) mod objects;

use netloom_wire::Profile;
use netloom_wire::delta::run::RUN_MAX;
use netloom_wire::quantize::WordRange;
use netloom_wire::schema::{Audience, FieldKind, Schema, SyncFlags};
use proptest::prelude::*;

use super::run::Run;
use super::symbol::{Change, Opening, Past, Place, Turn, Usual};
use super::*;
use netloom_wire::WriteError;
use objects::{Content, Object, Scene, any_scene};

/// More than any object of [`objects`] takes.
const BUFFER_BYTES: usize = 8192;

/// The bits of the scene's object, and how many.
fn encoded(scene: &Scene, codes: &Codes) -> (Vec<u8>, usize) {
    let mut bytes = vec![0; BUFFER_BYTES];
    let mut writer = BitWriter::new(&mut bytes);
    let Scene { class, visible, current, newer, older, jump_age } = scene;
    let content = Content(current.contents.clone());
    encode(
        class,
        *visible,
        &current.words,
        newer.baseline(),
        older.as_ref().map(Object::baseline),
        *jump_age,
        &content,
        codes,
        &mut writer,
    );
    let bits = writer.bit_len();
    writer.finish().unwrap();
    (bytes, bits)
}

/// A class of a position and a rotation.
pub(super) fn transform_class(profile: Profile) -> Class {
    let schema = Schema::builder("thing")
        .field("position", FieldKind::Position(profile), SyncFlags::PUBLIC_SYNC, 2)
        .field("rotation", FieldKind::Rotation(profile), SyncFlags::PUBLIC_SYNC, 1);
    Class::new(schema.build().unwrap()).unwrap()
}

/// The words of something now and at three earlier times: mostly near each other, sometimes not.
fn any_track() -> impl Strategy<Value = [[i32; 8]; 4]> {
    let offset = || prop_oneof![Just(0), -3i32..=3, -40i32..40];
    // So small that three are never more than a rotation has, with offsets and in nine bits too.
    let row = || (prop::array::uniform3(-20_000i32..20_000), 0i32..4, prop::array::uniform3(-160i32..=160));
    let words = |([x, y, z], dropped, [a, b, c]): ([i32; 3], i32, [i32; 3])| [x, y, z, 0, dropped, a, b, c];
    let near =
        (row(), prop::array::uniform4(prop::array::uniform6(offset()))).prop_map(move |(start, offsets)| {
            offsets.map(|[p, q, r, d, e, f]| {
                let ([x, y, z], dropped, [a, b, c]) = start;
                words(([x + p, y + q, z + r], dropped, [a + d, b + e, c + f]))
            })
        });
    prop_oneof![3 => near, 1 => prop::array::uniform4(row().prop_map(words))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_object_returns_through_any_baselines(scene in any_scene()) {
        let codes = Codes::generic();
        let (bytes, bits) = encoded(&scene, &codes);
        let mut reader = BitReader::with_bit_len(&bytes, bits).unwrap();
        let mut words = vec![-1; scene.class.word_count()];
        let mut received = Vec::new();
        let older = scene.older.as_ref().map(Object::baseline);
        let decoded = decode(
            &scene.class, scene.visible, scene.newer.baseline(), older, &codes, &mut reader, &mut words,
            &mut |field, bytes: &[u8]| received.push((field, bytes.to_vec())),
        ).unwrap();
        prop_assert_eq!(reader.remaining_bits(), 0);
        let mut changed = 0;
        let mut sent = Vec::new();
        let mut expected = scene.newer.words.clone();
        for (index, field) in scene.class.fields().iter().enumerate().filter(|(index, _)| scene.visible >> index & 1 == 1) {
            let place = field.first..field.first + field.count;
            if scene.current.words[place.clone()] == scene.newer.words[place.clone()] {
                continue;
            }
            changed |= 1 << index;
            expected[place.clone()].copy_from_slice(&scene.current.words[place]);
            if field.kind.content_bytes_max().is_some() {
                sent.push((index, scene.current.contents[index].clone()));
            }
        }
        prop_assert_eq!(words, expected, "hidden fields stay, visible ones arrive");
        prop_assert_eq!(decoded.changed, changed);
        prop_assert_eq!(received, sent);
        let transform = scene.class.fields().iter().enumerate().any(|(index, field)| {
            matches!(field.kind, FieldKind::Position(_) | FieldKind::Rotation(_)) && scene.visible >> index & 1 == 1
        });
        prop_assert_eq!(decoded.jump_age, scene.jump_age.filter(|_| transform));
    }

    #[test]
    fn the_small_code_agrees_bit_for_bit(scene in any_scene()) {
        let codes = Codes::generic();
        let small = encode_small(
            &scene.class, scene.visible, &scene.current.words, scene.newer.baseline(),
            scene.older.as_ref().map(Object::baseline), scene.jump_age, &codes,
        );
        let (bytes, bits) = encoded(&scene, &codes);
        match small {
            Some(small) => {
                let expected = BitReader::new(&bytes).read_bits(bits as u32).unwrap();
                prop_assert_eq!((small.bits(), small.length() as usize), (expected, bits));
            }
            None => {
                let others = scene.class.fields().iter().enumerate().any(|(index, field)| {
                    let place = field.first..field.first + field.count;
                    !matches!(field.kind, FieldKind::Position(_) | FieldKind::Rotation(_))
                        && scene.visible >> index & 1 == 1
                        && scene.current.words[place.clone()] != scene.newer.words[place]
                });
                let transform = scene.class.fields().iter().enumerate().any(|(index, field)| {
                    matches!(field.kind, FieldKind::Position(_) | FieldKind::Rotation(_))
                        && scene.visible >> index & 1 == 1
                });
                let is_exact = Shape::of(&scene.class, scene.visible).is_exact(&scene.newer.words);
                prop_assert!(others || !transform || is_exact || bits > 56, "{} bits would have fitted", bits);
            }
        }
    }

    #[test]
    fn any_bits_give_words_in_range_or_an_error(scene in any_scene(), noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let codes = Codes::generic();
        // Baselines on a receiver are words that it decoded before, so they are in range.
        let mut scene = Scene { older: None, newer: scene.current.clone(), jump_age: None, ..scene };
        scene.newer.age = 2;
        let mut received = scene.newer.clone();
        let result = decode(
            &scene.class, scene.visible, scene.newer.baseline(), None, &codes, &mut BitReader::new(&noise),
            &mut received.words, &mut |field, bytes: &[u8]| received.contents[field] = bytes.to_vec(),
        );
        if result.is_ok() {
            scene.current = received;
            encoded(&scene, &codes);
        }
    }

    #[test]
    fn any_motion_returns_through_three_baselines_and_as_a_load(
        rows in any_track(), ages in (1u32..20, 1u32..20, 1u32..20), is_carried: bool, is_nine: bool,
        profile in prop::sample::select(vec![Profile::Standard, Profile::High]),
    ) {
        let codes = Codes::generic();
        let class = transform_class(profile);
        let class = if is_nine { class.with_nine_bit_rotation() } else { class };
        let [current, newer, older, oldest] = &rows;
        let states = States { newer, older: Some(older), oldest: Some(oldest), is_carried };
        let pair = Pair::of_three(ages.0, ages.0 + ages.1, ages.0 + ages.1 + ages.2);
        let mut bytes = [0; 64];
        let mut writer = BitWriter::new(&mut bytes);
        pair.encode_from(&class, 3, current, &states, None, &(), &codes, &mut writer);
        let bits = writer.bit_len();
        prop_assert!(writer.finish().is_ok());
        if let Some(small) = pair.encode_small_from(&class, 3, current, &states, None, &codes) {
            let expected = BitReader::new(&bytes).read_bits(bits as u32).unwrap();
            prop_assert_eq!((small.bits(), small.length() as usize), (expected, bits));
        }
        let mut words = [0; 8];
        let mut reader = BitReader::with_bit_len(&bytes, bits).unwrap();
        pair.decode_from(&class, 3, &states, &codes, &mut reader, &mut words, &mut |_, _| {}).unwrap();
        prop_assert_eq!(&words, current);
        prop_assert_eq!(reader.remaining_bits(), 0);
    }

    #[test]
    fn gaps_return(gap in 0..=RUN_MAX, is_common: bool) {
        let codes = Codes::generic();
        let (bits, length) = gap_code(&codes, gap, is_common);
        prop_assert!(length <= GAP_BITS_MAX);
        let bytes = bits.to_le_bytes();
        let mut reader = BitReader::with_bit_len(&bytes, length as usize).unwrap();
        prop_assert_eq!(read_gap(&codes, &mut reader, gap), Ok((gap, is_common)));
        prop_assert_eq!(reader.remaining_bits(), 0);
        if gap > 0 {
            let mut reader = BitReader::with_bit_len(&bytes, length as usize).unwrap();
            prop_assert_eq!(read_gap(&codes, &mut reader, gap - 1), Err(ReadError::OutOfRange));
        }
    }
}

#[test]
fn the_generic_set_has_a_fixed_name() {
    assert_eq!(Codes::generic().id(), 0x47ca_4d2f, "another set needs another name on both sides");
}

#[test]
fn a_jump_costs_the_bits_of_its_age_and_one_from_before_the_baseline_cannot_be_said() {
    let class = transform_class(Profile::Standard);
    let codes = Codes::generic();
    let words = [1, 2, 3, 0, 3, 10, 20, 30];
    let bits = |age: u32, jump_age: Option<u32>| {
        let newer = Baseline { words: &words, age };
        let mut bytes = [0; 64];
        let mut writer = BitWriter::new(&mut bytes);
        encode(&class, 3, &words, newer, None, jump_age, &(), &codes, &mut writer);
        let length = writer.bit_len();
        writer.finish().map(|_| length)
    };
    let jumped = bits(1, Some(0)).unwrap();
    assert!(jumped > bits(1, None).unwrap());
    for (age, more) in [(2, 1), (3, 2), (4, 2), (5, 3), (255, 8)] {
        for jump_age in [0, age - 1] {
            assert_eq!(bits(age, Some(jump_age)), Ok(jumped + more), "{jump_age} of {age}");
        }
        assert_eq!(bits(age, Some(age)), Err(WriteError::OutOfRange));
    }
    assert_eq!(bits(0, Some(0)), Err(WriteError::OutOfRange));
}

#[test]
fn words_out_of_range_fail_the_writer_and_have_no_small_code() {
    let class = transform_class(Profile::Standard);
    let codes = Codes::generic();
    let good = [1, 2, 3, 0, 3, 10, 20, 30];
    let limit = WordRange::symmetric(32_767).max();
    let bad = [
        [limit + 1, 2, 3, 0, 3, 10, 20, 30],
        [1, 2, 3, 0, 4, 10, 20, 30],
        [1, 2, 3, 0, 3, 512, 20, 30],
        [1, 2, 3, 0, 3, 500, 500, 500],
        [f32::NAN.to_bits() as i32, 2, 3, 1, 3, 10, 20, 30],
    ];
    for words in bad {
        let newer = Baseline { words: &good, age: 1 };
        let mut bytes = [0; 64];
        let mut writer = BitWriter::new(&mut bytes);
        encode(&class, 3, &words, newer, None, None, &(), &codes, &mut writer);
        assert_eq!(writer.finish(), Err(WriteError::OutOfRange), "{words:?}");
        assert_eq!(encode_small(&class, 3, &words, newer, None, None, &codes), None, "{words:?}");
    }
}

#[test]
fn a_full_buffer_is_the_writers_failure() {
    let class = transform_class(Profile::Standard);
    let newer = Baseline { words: &[0, 0, 0, 0, 3, 0, 0, 0], age: 1 };
    let mut bytes = [0; 2];
    let mut writer = BitWriter::new(&mut bytes);
    encode(
        &class,
        3,
        &[900, 800, 700, 0, 3, 9, 99, 200],
        newer,
        None,
        None,
        &(),
        &Codes::generic(),
        &mut writer,
    );
    assert_eq!(writer.finish(), Err(WriteError::BufferFull));
}

#[test]
fn codes_that_the_class_or_the_baselines_do_not_allow_are_refused() {
    let codes = Codes::generic();
    let class = transform_class(Profile::Standard);
    let rest = [0, 0, 0, 0, 3, 0, 0, 0];
    let raw = [0, 0, 0, 1, 3, 0, 0, 0];
    let from_newer =
        |turn: Turn| Usual { place: Place::FromNewer, turn, opening: Opening::Head(chain::Expected::ALONE) };
    let write_beside = |usual: Option<Usual>, change: Change| {
        let mut run = LongRun::default();
        change.write(&codes, Past::UNKNOWN, usual.as_ref(), 3, &mut run);
        run.put(0, 60);
        run.bits.to_le_bytes()
    };
    let write = |change: Change| write_beside(Some(from_newer(Turn::FromNewer)), change);
    let read = |bytes: [u8; 16], visible: u64, newer: &[i32]| {
        let newer = Baseline { words: newer, age: 1 };
        let mut words = [0; 8];
        decode(
            &class,
            visible,
            newer,
            None,
            &codes,
            &mut BitReader::new(&bytes),
            &mut words,
            &mut |_, _: &[u8]| {},
        )
    };
    let change = Change { jump_age: None, place: Place::Same, turn: Turn::Same, others: false };
    assert!(read(write(change), 3, &rest).is_ok());
    let needs_line = [
        Change { place: Place::Predicted, ..change },
        Change { place: Place::FromLine, ..change },
        Change { turn: Turn::Predicted, ..change },
        Change { turn: Turn::FromLineDropping, ..change },
        Change { others: true, ..change },
    ];
    for change in needs_line {
        assert_eq!(read(write(change), 3, &rest), Err(ReadError::InvalidCode), "{change:?}");
    }
    let moved = Change { place: Place::FromNewer, ..change };
    let turned = Change { turn: Turn::FromNewer, ..change };
    assert!(read(write(moved), 3, &rest).is_ok());
    let plain = |change: Change| write_beside(None, change);
    let [far, turning] = [Turn::Same, Turn::FromNewer].map(|turn| {
        let usual = Usual { opening: Opening::Bit, ..from_newer(turn) };
        write_beside(Some(usual), Change { place: Place::FromLine, ..change })
    });
    assert_eq!(read(far, 1, &raw), Err(ReadError::InvalidCode), "singles have no words of a line");
    assert_eq!(read(turning, 3, &raw), Err(ReadError::InvalidCode), "singles have no words of a line");
    assert_eq!(read(plain(moved), 2, &rest), Err(ReadError::InvalidCode), "the position is hidden");
    let alone = write_beside(Some(from_newer(Turn::Same)), turned);
    assert_eq!(read(alone, 1, &rest), Err(ReadError::InvalidCode), "the rotation is hidden");
    let mut twice = LongRun::default();
    twice.put_code(codes.head().code(0, chain::FROM_NEWER));
    let twice = twice.bits.to_le_bytes();
    assert_eq!(read(twice, 3, &rest), Err(ReadError::InvalidCode), "that is the usual form here");
}

#[test]
fn a_class_is_seen_by_each_audience_in_its_own_bits() {
    let schema = Schema::builder("soldier")
        .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 9)
        .field("ammo", FieldKind::int(0, 999).unwrap(), SyncFlags::OWNER_SYNC, 5);
    let class = Class::new(schema.build().unwrap()).unwrap();
    let codes = Codes::generic();
    let length = |ammo: i32, audience: Audience| {
        let mut bytes = [0; 32];
        let mut writer = BitWriter::new(&mut bytes);
        let newer = Baseline { words: &[5, 5, 5, 0, 10], age: 1 };
        let visible = class.visible(audience);
        encode(&class, visible, &[6, 5, 5, 0, ammo], newer, None, None, &(), &codes, &mut writer);
        (writer.bit_len(), bytes)
    };
    assert_eq!(
        length(10, Audience::Public),
        length(900, Audience::Public),
        "the public learns nothing of ammo"
    );
    assert_ne!(length(10, Audience::Owner).1, length(900, Audience::Owner).1);
}
