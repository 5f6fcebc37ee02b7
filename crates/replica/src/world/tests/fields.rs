use netloom_wire::Name;
use netloom_wire::quantize::{Rotation, Words3};
use netloom_wire::schema::{Audience, ElementKind, Writer};

use super::*;
use crate::world::{OwnerId, TeamId, ValueError, WorldError, WriteCounters, WriteRefused};

fn one_field(kind: FieldKind, flags: SyncFlags) -> (World, ObjectIndex) {
    let schema = Schema::builder("one").field("field", kind, flags, 1).build().unwrap();
    let mut world = World::new(vec![Class::new(schema).unwrap()], WorldConfig::default()).unwrap();
    let index = world.spawn(Spawn::new(ObjectId(1), ClassId(0))).unwrap();
    (world, index)
}

/// An array field of at most four digits, and its value with this content.
fn digits(content: &'static [u8]) -> (FieldKind, Value<'static>) {
    let kind = FieldKind::Array { element: ElementKind::int(0, 9).unwrap(), count_max: 4 };
    (kind, kind.read_content(content).unwrap())
}

#[test]
fn every_kind_of_field_returns_what_was_set() {
    let turn = Profile::High.quantize_rotation([0.6, 0.0, 0.0, 0.8], &mut Default::default());
    let cases = [
        (FieldKind::Bool, Value::Bool(true)),
        (FieldKind::int(-3, 900).unwrap(), Value::Word(-3)),
        (FieldKind::quantized(0.0, 1.0, 10).unwrap(), Value::Word(7)),
        (FieldKind::F32, Value::F32(-0.5)),
        (FieldKind::U64, Value::U64(u64::MAX - 5)),
        (FieldKind::Name, Value::Name(Name(0x8000_0000_0000_0001))),
        (FieldKind::Position(Profile::Standard), Value::Triple(Words3::quantized([1, -2, 32_767]))),
        (FieldKind::Position(Profile::High), Value::Triple(Words3::raw([1.0, 2.0, 3e9]))),
        (FieldKind::Rotation(Profile::High), Value::Rotation(turn)),
        (FieldKind::Rotation(Profile::None), Value::Rotation(Rotation::Raw([0.0, 0.6, 0.0, 0.8]))),
        (FieldKind::Scale(Profile::Standard), Value::Triple(Words3::quantized([1, 32, 255]))),
        (FieldKind::Velocity(Profile::None), Value::Triple(Words3::raw([1.0, 0.0, -1.0]))),
        (FieldKind::Text { bytes_max: 7 }, Value::Text("größe")),
        (FieldKind::Bytes { bytes_max: 3 }, Value::Bytes(&[0, 255, 7])),
        digits(&[3, 0x07, 0x09]),
    ];
    for (kind, value) in cases {
        let (mut world, index) = one_field(kind, SyncFlags::PUBLIC_SYNC);
        let (fresh, same) = one_field(kind, SyncFlags::PUBLIC_SYNC);
        let default = fresh.get(same, 0).unwrap();
        assert_ne!(default, value);
        world.set(index, 0, default).expect("a new object holds what its fields can hold");
        world.set(index, 0, value).unwrap();
        assert_eq!(world.get(index, 0), Some(value), "{kind:?}");
        assert_eq!(world.get(index, 1), None);
    }
}

#[test]
fn values_that_could_not_be_sent_are_refused_and_change_nothing() {
    let small = Profile::Standard;
    let impossible = Rotation::SmallestThree { largest: 0, steps: [511; 3] };
    let cases = [
        (FieldKind::Bool, Value::Word(1), ValueError::WrongKind),
        (FieldKind::int(0, 9).unwrap(), Value::Word(10), ValueError::OutOfRange),
        (FieldKind::quantized(0.0, 1.0, 10).unwrap(), Value::Word(11), ValueError::OutOfRange),
        (FieldKind::F32, Value::F32(f32::NAN), ValueError::NonFinite),
        (FieldKind::U64, Value::Word(1), ValueError::WrongKind),
        (
            FieldKind::Position(small),
            Value::Triple(Words3::quantized([32_768, 0, 0])),
            ValueError::OutOfRange,
        ),
        (
            FieldKind::Position(small),
            Value::Triple(Words3::raw([f32::INFINITY, 0.0, 0.0])),
            ValueError::NonFinite,
        ),
        (FieldKind::Velocity(small), Value::Triple(Words3::raw([1.0; 3])), ValueError::WrongKind),
        (FieldKind::Rotation(small), Value::Rotation(impossible), ValueError::OutOfRange),
        (FieldKind::Rotation(Profile::None), Value::Rotation(Rotation::IDENTITY), ValueError::OutOfRange),
        (
            FieldKind::Text { bytes_max: 2 },
            Value::Text("abc"),
            ValueError::TooLong { bytes: 3, bytes_max: 2 },
        ),
        (FieldKind::Text { bytes_max: 2 }, Value::Bytes(b"a"), ValueError::WrongKind),
        (FieldKind::Bytes { bytes_max: 2 }, Value::Bool(true), ValueError::WrongKind),
        (digits(&[0]).0, Value::Bytes(&[0]), ValueError::WrongKind),
        (
            FieldKind::Array { element: ElementKind::int(0, 8).unwrap(), count_max: 4 },
            digits(&[1, 1]).1,
            ValueError::WrongKind,
        ),
        (
            FieldKind::Array { element: ElementKind::int(0, 9).unwrap(), count_max: 2 },
            digits(&[3, 0x07, 0x09]).1,
            ValueError::TooMany { count: 3, count_max: 2 },
        ),
    ];
    for (kind, value, source) in cases {
        let (mut world, index) = one_field(kind, SyncFlags::PUBLIC_SYNC);
        let before = format!("{:?}", world.get(index, 0));
        assert_eq!(world.set(index, 0, value), Err(WorldError::Value { field: 0, source }), "{kind:?}");
        assert_eq!(format!("{:?}", world.get(index, 0)), before);
    }
    let (mut world, index) = one_field(FieldKind::Bool, SyncFlags::PUBLIC_SYNC);
    let missing = WorldError::NoField { class: 0, field: "field of this number" };
    assert_eq!(world.set(index, 1, Value::Bool(true)), Err(missing));
}

#[test]
fn floats_of_a_quantized_field_saturate_and_are_counted() {
    let (mut world, index) = one_field(FieldKind::quantized(0.0, 100.0, 10).unwrap(), SyncFlags::PUBLIC_SYNC);
    world.set(index, 0, Value::F32(12.34)).unwrap();
    assert_eq!(world.get(index, 0), Some(Value::Word(123)));
    world.set(index, 0, Value::F32(101.0)).unwrap();
    assert_eq!(world.get(index, 0), Some(Value::Word(1_000)));
    assert_eq!(world.quantize_counters().saturated, 1);
}

#[test]
fn the_word_of_a_text_moves_with_every_change_of_its_content() {
    let (mut world, ship) = world_with_ship();
    let word = |world: &World| world.object(ship).unwrap().words()[9];
    let mut seen = vec![word(&world)];
    for (tick, name, changes) in [(1, "Ada", true), (2, "Ada", false), (3, "Bob", true), (4, "", true)] {
        world.set(ship, NAME, Value::Text(name)).unwrap();
        world.commit(Tick(tick)).unwrap();
        assert_eq!(!world.changed().is_empty(), changes);
        assert_eq!(world.object(ship).unwrap().content(NAME), name.as_bytes());
        seen.push(word(&world));
    }
    assert_eq!(seen, [0, 1, 1, 2, 3]);
    assert!(world.object(ship).unwrap().content(HEALTH).is_empty());
}

#[test]
fn a_slot_does_not_pass_on_the_contents_of_its_last_object() {
    let (mut world, ship) = world_with_ship();
    world.set(ship, NAME, Value::Text("secret")).unwrap();
    world.despawn(ship).unwrap();
    world.commit(Tick(1)).unwrap();
    let next = world.spawn(Spawn::new(ObjectId(2), SHIP)).unwrap();
    assert_eq!(next.slot(), ship.slot());
    assert_eq!(world.get(next, NAME), Some(Value::Text("")));
    assert_eq!(world.get(next, HEALTH), Some(Value::Word(0)));
}

#[test]
fn words_of_a_place_move_the_object() {
    let (mut world, ship) = world_with_ship();
    world.set(ship, POSITION, Value::Triple(Words3::quantized([150, 0, -25]))).unwrap();
    world.commit(Tick(1)).unwrap();
    assert_eq!(world.object(ship).unwrap().position(), [1.5, 0.0, -0.25]);
    world.set_profile(ship, Profile::High).unwrap();
    world.commit(Tick(2)).unwrap();
    assert_eq!(world.object(ship).unwrap().words()[..4], [15_000, 0, -2_500, 0]);
}

/// Who receives a field and who may ask to write it, for every consistent set of flags.
#[test]
fn flags_decide_who_sees_and_who_writes() {
    let (owner, public, none) = (SyncFlags::OWNER_SYNC, SyncFlags::PUBLIC_SYNC, SyncFlags::NO_SYNC);
    let (mine, any) = (SyncFlags::MODIFIABLE_BY_CLIENT, SyncFlags::MODIFIABLE_BY_ANY_CLIENT);
    // flags, [seen by owner, team, public], [written by server, owner, another client]
    let table = [
        (none, [false, false, false], [true, false, false]),
        (owner, [true, false, false], [true, false, false]),
        (public, [true, true, true], [true, false, false]),
        (owner.with(public), [true, true, true], [true, false, false]),
        (owner.with(mine), [true, false, false], [true, true, false]),
        (public.with(mine), [true, true, true], [true, true, false]),
        (public.with(any), [true, true, true], [true, true, true]),
        (public.with(mine).with(any), [true, true, true], [true, true, true]),
        (SyncFlags::SYNCED.with(owner), [true, false, false], [true, false, false]),
    ];
    for (flags, seen, written) in table {
        let (mut world, index) = one_field(FieldKind::Bool, flags);
        let class = world.object(index).unwrap().class().clone();
        let audiences = [Audience::Owner, Audience::Team, Audience::Public];
        assert_eq!(audiences.map(|audience| class.visible(audience) == 1), seen, "{flags:?}");
        for (writer, allowed) in [Writer::Server, Writer::Owner, Writer::OtherClient].into_iter().zip(written)
        {
            world.set(index, 0, Value::Bool(false)).unwrap();
            let mut asked = false;
            let result = world.client_write(index, 0, Value::Bool(true), writer, |_, _| {
                asked = true;
                true
            });
            assert_eq!(
                result,
                if allowed { Ok(()) } else { Err(WriteRefused::Forbidden) },
                "{flags:?} {writer:?}"
            );
            assert_eq!(world.get(index, 0), Some(Value::Bool(allowed)));
            assert_eq!(asked, allowed, "the check is asked about permitted writes only");
        }
    }
}

#[test]
fn every_refusal_of_a_write_is_typed_and_counted() {
    let flags = SyncFlags::PUBLIC_SYNC.with(SyncFlags::MODIFIABLE_BY_CLIENT);
    let (mut world, index) = one_field(FieldKind::int(0, 100).unwrap(), flags);
    world.set(index, 0, Value::Word(50)).unwrap();
    let mut write = |field, value, writer| {
        // At most ten more than before.
        world.client_write(index, field, value, writer, |object, value| {
            matches!((object.get(0), value), (Some(Value::Word(old)), Value::Word(new)) if new <= old + 10)
        })
    };
    assert_eq!(write(0, Value::Word(60), Writer::Owner), Ok(()));
    assert_eq!(write(0, Value::Word(71), Writer::Owner), Err(WriteRefused::Rejected));
    assert_eq!(write(0, Value::Word(65), Writer::OtherClient), Err(WriteRefused::Forbidden));
    assert_eq!(write(0, Value::Word(101), Writer::Owner), Err(WriteRefused::Invalid(ValueError::OutOfRange)));
    assert_eq!(write(0, Value::Bool(true), Writer::Owner), Err(WriteRefused::Invalid(ValueError::WrongKind)));
    assert_eq!(write(7, Value::Word(1), Writer::Owner), Err(WriteRefused::NoField));
    assert_eq!(world.get(index, 0), Some(Value::Word(60)));
    world.despawn(index).unwrap();
    let late = world.client_write(index, 0, Value::Word(1), Writer::Owner, |_, _| true);
    assert_eq!(late, Err(WriteRefused::Gone));
    let expected = WriteCounters { accepted: 1, gone: 1, no_field: 1, forbidden: 1, invalid: 2, rejected: 1 };
    assert_eq!(world.write_counters(), expected);
}

#[test]
fn ownership_decides_what_somebody_is_to_an_object() {
    let (mut world, ship) = world_with_ship();
    let (ann, bob, red) = (OwnerId(1), OwnerId(2), TeamId(7));
    let object = world.object(ship).unwrap();
    assert_eq!(object.audience(ann, None), Audience::Public, "no team is not the same team");
    world.set_owner(ship, Some(ann)).unwrap();
    world.set_team(ship, Some(red)).unwrap();
    world.commit(Tick(1)).unwrap();
    assert_eq!((world.reassigned(), world.changed()), (&[ship][..], &[][..]));
    let object = world.object(ship).unwrap();
    assert_eq!(object.audience(ann, None), Audience::Owner);
    assert_eq!(object.audience(bob, Some(red)), Audience::Team);
    assert_eq!(object.audience(bob, Some(TeamId(8))), Audience::Public);
    assert_eq!((object.writer(ann), object.writer(bob)), (Writer::Owner, Writer::OtherClient));
    world.set_owner(ship, Some(ann)).unwrap();
    world.commit(Tick(2)).unwrap();
    assert!(world.reassigned().is_empty());
}
