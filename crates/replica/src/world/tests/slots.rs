use super::*;
use crate::world::WorldError;

#[test]
fn a_despawned_object_is_gone_at_once_and_its_slot_rests_until_the_commit() {
    let (mut world, first) = world_with_ship();
    assert_eq!(world.live(), [1]);
    world.despawn(first).unwrap();
    assert_eq!(world.live(), [0]);
    assert!(!world.contains(first) && world.object(first).is_none() && world.find(ObjectId(1)).is_none());
    assert_eq!(world.despawn(first), Err(WorldError::Gone(first)));
    assert_eq!(world.set_position(first, [0.0; 3]), Err(WorldError::Gone(first)));
    let second = world.spawn(Spawn::new(ObjectId(1), SHIP)).unwrap();
    assert_ne!(second.slot(), first.slot(), "nobody knows of the despawn yet");

    world.commit(Tick(1)).unwrap();
    assert_eq!((world.despawned(), world.spawned()), (&[first][..], &[second][..]));
    let third = world.spawn(Spawn::new(ObjectId(3), SCORE)).unwrap();
    assert_eq!(third.slot(), first.slot());
    assert_ne!(third.generation(), first.generation());
    assert!(!world.contains(first) && world.contains(third));
    world.commit(Tick(2)).unwrap();
    assert_eq!((world.despawned(), world.spawned()), (&[][..], &[third][..]));
}

#[test]
fn slots_are_used_again_first_in_first_out() {
    let mut world = world();
    let all: Vec<_> = (0..4).map(|id| world.spawn(Spawn::new(ObjectId(id), SHIP)).unwrap()).collect();
    for index in [all[2], all[0], all[3]] {
        world.despawn(index).unwrap();
    }
    world.commit(Tick(1)).unwrap();
    let again: Vec<_> =
        (10..14).map(|id| world.spawn(Spawn::new(ObjectId(id), SHIP)).unwrap().slot()).collect();
    assert_eq!(again, [2, 0, 3, 4]);
}

/// The seed's handles: the generation has eight bits and moves when a slot is taken, the last one freed comes first.
#[derive(Default)]
struct LiteralHandles {
    generation: u8,
}

impl LiteralHandles {
    fn register(&mut self) -> u8 {
        self.generation = self.generation.wrapping_add(1);
        self.generation
    }

    fn is_valid(&self, handle: u8) -> bool {
        handle == self.generation
    }
}

#[test]
fn an_index_never_comes_back_however_often_its_slot_is_used() {
    let mut literal = LiteralHandles::default();
    let handle = literal.register();
    assert!(literal.is_valid(handle), "and still is after it was unregistered, for nothing moves then");
    let (mut world, first) = world_with_ship();
    let mut last = first;
    for respawn in 1..=256 {
        literal.register();
        world.despawn(last).unwrap();
        world.commit(Tick(respawn)).unwrap();
        last = world.spawn(Spawn::new(ObjectId(1), SHIP)).unwrap();
        assert_eq!(last.slot(), first.slot());
        assert!(!world.contains(first));
    }
    assert!(
        literal.is_valid(handle),
        "256 respawns, 12.8 s at 20 a second, and the old handle means the new object"
    );
}

#[test]
fn a_frame_never_repeats_in_a_slot() {
    let (mut world, first) = world_with_ship();
    let frame = world.object(first).unwrap().frame();
    world.despawn(first).unwrap();
    world.commit(Tick(1)).unwrap();
    let second = world.spawn(Spawn::new(ObjectId(1), SHIP)).unwrap();
    world.commit(Tick(2)).unwrap();
    let object = world.object(second).unwrap();
    assert_eq!((second.slot(), object.frame()), (first.slot(), frame + 1));
    assert_eq!(object.words_at(Tick(1)), None, "the past of the slot is not the object's");
}

#[test]
fn what_was_never_committed_is_never_reported() {
    let mut world = world();
    let brief = world.spawn(Spawn::new(ObjectId(1), SHIP)).unwrap();
    assert_eq!((world.live(), world.object(brief).unwrap().words()), (&[0][..], &[][..]));
    world.despawn(brief).unwrap();
    world.commit(Tick(1)).unwrap();
    assert!(world.spawned().is_empty() && world.despawned().is_empty() && world.changed().is_empty());
    assert!(world.is_empty() && world.live() == [0]);
}

#[test]
fn a_full_world_and_impossible_spawns_are_refused() {
    let config = WorldConfig { objects_max: 1, ..WorldConfig::default() };
    let mut world = World::new(classes(), config).unwrap();
    let spawn = Spawn::new(ObjectId(1), SHIP);
    let refused = |world: &mut World, spawn| world.spawn(spawn).unwrap_err();
    assert_eq!(
        refused(&mut world, Spawn::new(ObjectId(1), ClassId(2))),
        WorldError::UnknownClass { class: 2, count: 2 }
    );
    for (spawn, field) in [
        (Spawn { priority: f32::NAN, ..spawn }, "priority"),
        (Spawn { priority: -1.0, ..spawn }, "priority"),
        (Spawn { relevance_radius: f32::NAN, ..spawn }, "relevance_radius"),
        (Spawn { kind_weight: 0.0, ..spawn }, "kind_weight"),
    ] {
        let error = refused(&mut world, spawn);
        assert!(matches!(error, WorldError::OutOfRange { field: found, .. } if found == field), "{error}");
    }
    let index = world.spawn(spawn).unwrap();
    assert_eq!(refused(&mut world, spawn), WorldError::IdInUse(ObjectId(1)));
    assert_eq!(refused(&mut world, Spawn::new(ObjectId(2), SHIP)), WorldError::Full { objects_max: 1 });
    world.despawn(index).unwrap();
    world.commit(Tick(0)).unwrap();
    world.spawn(spawn).unwrap();
    assert_eq!(world.len(), 1);
}

#[test]
fn impossible_configurations_name_the_field() {
    let default = WorldConfig::default();
    for (config, message) in [
        (WorldConfig { objects_max: 0, ..default }, "objects_max is 0, allowed are 1 to 1048576"),
        (
            WorldConfig { ticks_per_second: f32::NAN, ..default },
            "ticks_per_second is NaN, allowed are above 0 to 1000",
        ),
    ] {
        assert_eq!(World::new(classes(), config).unwrap_err().to_string(), message);
    }
}

#[test]
fn settings_change_at_run_time_and_the_configuration_does_not() {
    let (mut world, ship) = world_with_ship();
    let config = *world.config();
    world.set_priority(ship, 0.0).unwrap();
    world.set_relevance_radius(ship, 25.0).unwrap();
    assert!(
        world.set_priority(ship, f32::INFINITY).is_err() && world.set_relevance_radius(ship, -1.0).is_err()
    );
    assert_eq!((world.priorities(), world.relevance_radii()), (&[0.0][..], &[25.0][..]));
    world.commit(Tick(1)).unwrap();
    assert!(world.changed().is_empty(), "peers are not told");
    assert_eq!(*world.config(), config);
}
