//! What is recorded is played again, whatever a game does, and whatever is done to the file.

use netloom_replica::world::{ObjectIndex, OwnerId, Spawn, TeamId, World, WorldConfig};
use netloom_replica::{Class, ClassId};
use netloom_scene::{Damage, Ending, Recorder, Recording, SceneError, Source};
use netloom_wire::schema::{ArrayWriter, Delivery, ElementKind, Field, FieldKind, SyncFlags, Value};
use netloom_wire::{ObjectId, Profile, Schema, SectorOrigin, Tick};
use proptest::prelude::*;

const NUMBERS: ElementKind = ElementKind::U64;

fn classes() -> Vec<Class> {
    let ship = Schema::builder("ship")
        .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255)
        .field("rotation", FieldKind::Rotation(Profile::High), SyncFlags::PUBLIC_SYNC, 254)
        .field("speed", FieldKind::Velocity(Profile::Standard), SyncFlags::PUBLIC_SYNC, 200)
        .field("health", FieldKind::int(1, 100).unwrap(), SyncFlags::PUBLIC_SYNC, 100)
        .field("seed", FieldKind::U64, SyncFlags::OWNER_SYNC, 50)
        .field("name", FieldKind::Text { bytes_max: 20 }, SyncFlags::PUBLIC_SYNC, 10)
        .build()
        .unwrap();
    let log = Field::new("log", FieldKind::Text { bytes_max: 5_000 }, SyncFlags::PUBLIC_SYNC, 3);
    let crate_of = Schema::builder("crate")
        .field("position", FieldKind::Position(Profile::None), SyncFlags::PUBLIC_SYNC, 255)
        .field("open", FieldKind::Bool, SyncFlags::PUBLIC_SYNC, 100)
        .field("items", FieldKind::Array { element: NUMBERS, count_max: 8 }, SyncFlags::PUBLIC_SYNC, 5)
        .with(log.delivered(Delivery::Reliable))
        .build()
        .unwrap();
    [ship, crate_of].map(|schema| Class::new(schema).unwrap()).into()
}

/// Something that a game does; objects are chosen among those that there are.
#[derive(Clone, Debug)]
enum Deed {
    Spawn { id: u8, class: u8 },
    Despawn(usize),
    Move(usize, [i16; 3]),
    Turn(usize, [i8; 4]),
    Health(usize, i32),
    Say(usize, u16),
    Attach(usize, Option<usize>),
    Give(usize, Option<u8>),
    Rebase(usize, i8),
    Reprofile(usize, u8),
    Jump(usize),
    Touch(usize),
    Tune(usize, u8),
    Commit,
}

fn deed() -> impl Strategy<Value = Deed> {
    let who = || 0usize..12;
    prop_oneof![
        3 => (any::<u8>(), 0u8..2).prop_map(|(id, class)| Deed::Spawn { id, class }),
        1 => who().prop_map(Deed::Despawn),
        4 => (who(), any::<[i16; 3]>()).prop_map(|(who, at)| Deed::Move(who, at)),
        3 => (who(), any::<[i8; 4]>()).prop_map(|(who, turn)| Deed::Turn(who, turn)),
        1 => (who(), 1..=100i32).prop_map(|(who, health)| Deed::Health(who, health)),
        2 => (who(), any::<u16>()).prop_map(|(who, text)| Deed::Say(who, text)),
        2 => (who(), prop::option::of(who())).prop_map(|(who, to)| Deed::Attach(who, to)),
        1 => (who(), any::<Option<u8>>()).prop_map(|(who, to)| Deed::Give(who, to)),
        1 => (who(), any::<i8>()).prop_map(|(who, sector)| Deed::Rebase(who, sector)),
        1 => (who(), 0u8..4).prop_map(|(who, profile)| Deed::Reprofile(who, profile)),
        1 => who().prop_map(Deed::Jump),
        1 => who().prop_map(Deed::Touch),
        1 => (who(), any::<u8>()).prop_map(|(who, priority)| Deed::Tune(who, priority)),
        6 => Just(Deed::Commit),
    ]
}

fn chosen(world: &World, who: usize) -> Option<ObjectIndex> {
    let objects: Vec<ObjectIndex> = world.iter().map(|object| object.index()).collect();
    objects.get(who % objects.len().max(1)).copied()
}

/// Whether a tick was committed. What the world refuses is no deed.
fn act(world: &mut World, deed: &Deed, tick: &mut Tick) -> bool {
    let on = |world: &mut World, who: usize, act: &dyn Fn(&mut World, ObjectIndex)| {
        if let Some(index) = chosen(world, who) {
            act(world, index);
        }
    };
    match *deed {
        Deed::Spawn { id, class } => {
            let _ = world.spawn(Spawn::new(ObjectId(id.into()), ClassId(class)));
        }
        Deed::Despawn(who) => on(world, who, &|world, index| world.despawn(index).unwrap()),
        Deed::Move(who, at) => on(world, who, &|world, index| {
            world.set_position(index, at.map(|axis| f64::from(axis) / 60.0)).unwrap();
        }),
        Deed::Turn(who, turn) => on(world, who, &|world, index| {
            let _ = world.set_rotation(index, turn.map(|part| f32::from(part) / 127.0));
            let _ = world.set_velocity(index, [0, 1, 2].map(|axis| f32::from(turn[axis])));
        }),
        Deed::Health(who, health) => on(world, who, &|world, index| {
            let _ = world.set(index, 3, Value::Word(health));
            let _ = world.set(index, 4, Value::U64(health as u64 * 0x1_0000_0001));
        }),
        Deed::Say(who, number) => on(world, who, &|world, index| {
            let text = number.to_string();
            let _ = world.set(index, 5, Value::Text(&text));
            let _ = world.set(index, 3, Value::Text(&text.repeat(9)));
            let mut bytes = [0; 100];
            let mut array = ArrayWriter::new(NUMBERS, 8, &mut bytes);
            (0..number % 8).for_each(|item| array.push(Value::U64(item.into())));
            let _ = world.set(index, 2, Value::Array(array.finish().unwrap()));
        }),
        Deed::Attach(who, to) => on(world, who, &|world, index| {
            let parent = to.and_then(|to| chosen(world, to));
            let _ = world.attach(index, parent);
        }),
        Deed::Give(who, to) => on(world, who, &|world, index| {
            world.set_owner(index, to.map(|to| OwnerId(to.into()))).unwrap();
            world.set_team(index, to.map(|to| TeamId(u16::from(to) * 3))).unwrap();
        }),
        Deed::Rebase(who, sector) => on(world, who, &|world, index| {
            let present: SectorOrigin = world.object(index).unwrap().origin();
            let _ = world.rebase(index, present.moved_to([f64::from(sector) * 256.0, 0.0, 0.0]).unwrap());
        }),
        Deed::Reprofile(who, profile) => on(world, who, &|world, index| {
            world.set_profile(index, Profile::from_bits(profile)).unwrap();
        }),
        Deed::Jump(who) => on(world, who, &|world, index| world.teleport(index).unwrap()),
        Deed::Touch(who) => on(world, who, &|world, index| world.touch(index).unwrap()),
        Deed::Tune(who, priority) => on(world, who, &|world, index| {
            world.set_priority(index, f32::from(priority)).unwrap();
            world.set_relevance_radius(index, f32::from(priority) * 2.0).unwrap();
        }),
        Deed::Commit => {
            *tick = tick.next();
            world.commit(*tick).unwrap();
            return true;
        }
    }
    false
}

/// All that can be seen of a world, by identity.
fn likeness(world: &World) -> Vec<String> {
    let mut lines: Vec<String> = world
        .iter()
        .map(|object| {
            let mut words = object.words().to_vec();
            let fields = object.class().fields();
            for field in fields.iter().filter(|field| field.kind.content_bytes_max().is_some()) {
                words[field.first..field.first + field.count].fill(0);
            }
            let contents: Vec<&[u8]> = (0..fields.len()).map(|field| object.content(field)).collect();
            let parent = object.parent().map(|parent| world.object(parent).unwrap().id());
            let jumped = object.jumped_since(Tick(world.tick().unwrap().0 - 1));
            format!(
                "{:05} {:?} {words:?} {contents:?} {parent:?} {jumped:?} {:?} {:?} {:?} {:?} {} {} {:?}",
                object.id().0,
                object.class_id(),
                object.owner(),
                object.team(),
                object.profile(),
                object.origin(),
                object.priority(),
                object.relevance_radius(),
                object.version(),
            )
        })
        .collect();
    lines.sort();
    lines
}

/// Records a game, and what it was like after each tick.
fn recorded(deeds: &[Deed]) -> (Vec<u8>, Vec<Vec<String>>) {
    let mut world = World::new(classes(), WorldConfig::default()).unwrap();
    let mut file = Vec::new();
    let mut recorder = Recorder::new(&mut file, "deeds", 30, world.classes().declared()).unwrap();
    let mut tick = Tick(0);
    let mut likenesses = Vec::new();
    for deed in deeds {
        if act(&mut world, deed, &mut tick) {
            recorder.tick(&world).unwrap();
            likenesses.push(likeness(&world));
        }
    }
    recorder.finish().unwrap();
    drop(recorder);
    (file, likenesses)
}

proptest! {
    #[test]
    fn playing_shows_what_was_recorded(deeds in prop::collection::vec(deed(), 1..120)) {
        let (file, likenesses) = recorded(&deeds);
        let mut scene = Recording::new(&file[..]).unwrap();
        let mut world = scene.world().unwrap();
        for (tick, expected) in likenesses.iter().enumerate() {
            prop_assert!(scene.play(&mut world).unwrap(), "ends before tick {}", tick);
            world.commit(Tick(tick as u32 + 1)).unwrap();
            prop_assert_eq!(&likeness(&world), expected, "tick {}", tick);
        }
        prop_assert!(!scene.play(&mut world).unwrap());
        prop_assert_eq!(scene.ending(), Some(Ending::Finished));
    }

    #[test]
    fn a_file_that_was_changed_is_refused_or_played_to_an_end(
        deeds in prop::collection::vec(deed(), 1..60),
        place in any::<prop::sample::Index>(),
        value in any::<u8>(),
    ) {
        let (mut file, _) = recorded(&deeds);
        let place = place.index(file.len());
        file[place] = value;
        if let Ok(mut scene) = Recording::new(&file[..]) {
            let mut world = scene.world().unwrap();
            let mut tick = Tick(0);
            while let Ok(true) = scene.play(&mut world) {
                tick = tick.next();
                world.commit(tick).unwrap();
            }
        }
    }
}

/// Ticks of a world in which one object moves, and the file's length after each whole block.
fn moving(ticks: u32) -> (Vec<u8>, World) {
    let mut world = World::new(classes(), WorldConfig::default()).unwrap();
    let ship = world.spawn(Spawn::new(ObjectId(1), ClassId(0))).unwrap();
    let mut file = Vec::new();
    let mut recorder = Recorder::new(&mut file, "moving", 1, world.classes().declared()).unwrap();
    for tick in 1..=ticks {
        world.set_position(ship, [f64::from(tick), 0.0, 0.0]).unwrap();
        world.commit(Tick(tick)).unwrap();
        recorder.tick(&world).unwrap();
    }
    recorder.finish().unwrap();
    drop(recorder);
    (file, world)
}

fn played(file: &[u8]) -> Result<(u32, Option<Ending>), SceneError> {
    let mut scene = Recording::new(file)?;
    let mut world = scene.world()?;
    let mut tick = Tick(0);
    while scene.play(&mut world)? {
        tick = tick.next();
        world.commit(tick)?;
    }
    assert!(!scene.play(&mut world)?, "over is over");
    Ok((tick.0, scene.ending()))
}

#[test]
fn a_file_that_was_cut_is_played_up_to_its_last_whole_block() {
    let (file, _) = moving(10);
    assert_eq!(played(&file).unwrap(), (10, Some(Ending::Finished)));
    let mut ticks_before = 0;
    for length in 0..file.len() {
        match played(&file[..length]) {
            Ok((ticks, ending)) => {
                assert_eq!(ending, Some(Ending::Cut), "{length} bytes");
                assert!(ticks >= ticks_before && ticks % 2 == 0, "a block has two ticks: {ticks}");
                ticks_before = ticks;
            }
            Err(error) => assert!(
                matches!(error, SceneError::NotAScene | SceneError::Damaged { what: Damage::HeaderEnds, .. }),
                "{length} bytes: {error}"
            ),
        }
    }
    assert_eq!(ticks_before, 10, "all are there before the end is");
}

#[test]
fn errors_name_the_place_and_what_to_do() {
    let (file, _) = moving(4);
    assert!(played(b"GIF89a..........").unwrap_err().to_string().contains("no scene"));
    let mut newer = file.clone();
    newer[8] = 9;
    assert!(played(&newer).unwrap_err().to_string().contains("version 9"));
    let mut damaged = file.clone();
    *damaged.iter_mut().rev().nth(20).unwrap() ^= 1;
    let error = played(&damaged).unwrap_err();
    let SceneError::Damaged { offset, what: Damage::Checksum } = error else { panic!("{error}") };
    assert!(offset > 100 && offset < file.len() as u64, "{offset}");
    let mut scene = Recording::new(&file[..]).unwrap();
    let mut other = World::new(vec![classes().remove(0)], WorldConfig::default()).unwrap();
    assert!(matches!(scene.play(&mut other), Err(SceneError::OtherClasses)));
}

#[test]
fn more_objects_than_allowed_are_refused() {
    let (file, _) = moving(2);
    let mut scene = Recording::new(&file[..]).unwrap().with_objects_max(0);
    let mut world = scene.world().unwrap();
    let error = scene.play(&mut world).unwrap_err();
    assert!(matches!(error, SceneError::Damaged { what: Damage::Object(0), .. }), "{error}");
}

#[test]
fn a_tick_that_is_longer_than_a_block_is_played_whole() {
    let mut world = World::new(classes(), WorldConfig::default()).unwrap();
    let text = "x".repeat(5_000);
    for id in 0..1_500 {
        let index = world.spawn(Spawn::new(ObjectId(id), ClassId(1))).unwrap();
        world.set(index, 3, Value::Text(&text)).unwrap();
    }
    let mut file = Vec::new();
    let mut recorder = Recorder::new(&mut file, "large", 1, world.classes().declared()).unwrap();
    world.commit(Tick(1)).unwrap();
    recorder.tick(&world).unwrap();
    recorder.finish().unwrap();
    drop(recorder);
    assert_eq!(played(&file).unwrap(), (1, Some(Ending::Finished)));
    let cut = played(&file[..file.len() - 13]).unwrap_err();
    assert!(matches!(cut, SceneError::Damaged { what: Damage::TickEnds, .. }), "{cut}");
}

#[test]
fn a_recording_can_begin_and_pause_in_the_middle_of_a_game() {
    let mut world = World::new(classes(), WorldConfig::default()).unwrap();
    let [first, second] = [1, 2].map(|id| world.spawn(Spawn::new(ObjectId(id), ClassId(0))).unwrap());
    world.commit(Tick(1)).unwrap();
    world.set_position(first, [1.0, 2.0, 3.0]).unwrap();
    world.commit(Tick(2)).unwrap();
    let mut file = Vec::new();
    let mut recorder = Recorder::new(&mut file, "late", 20, world.classes().declared()).unwrap();
    recorder.tick(&world).unwrap();
    world.despawn(second).unwrap();
    world.commit(Tick(3)).unwrap();
    world.spawn(Spawn::new(ObjectId(3), ClassId(1))).unwrap();
    world.set_position(first, [4.0, 5.0, 6.0]).unwrap();
    world.commit(Tick(4)).unwrap();
    recorder.tick(&world).unwrap();
    drop(recorder);
    let mut scene = Recording::new(&file[..]).unwrap();
    let mut copy = scene.world().unwrap();
    for tick in 1..=2 {
        assert!(scene.play(&mut copy).unwrap());
        copy.commit(Tick(tick)).unwrap();
    }
    let seen = |world: &World| -> Vec<(ObjectId, Vec<i32>)> {
        world.iter().map(|object| (object.id(), object.words().to_vec())).collect()
    };
    assert_eq!(seen(&copy), seen(&world));
    assert!(!scene.play(&mut copy).unwrap());
    assert_eq!(scene.ending(), Some(Ending::Finished), "dropping finishes");
}
