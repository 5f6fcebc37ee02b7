//! Structs of all sorts: other profiles, two coordinates, types of other libraries, structs out of macros.

use netloom_replica::ClassId;
use netloom_replica::world::{Spawn, World, WorldConfig};
use netloom_session::replicated::{Choice, ClassOf, Replicated};
use netloom_wire::{ObjectId, SectorOrigin};

#[derive(Replicated, Clone, Debug, PartialEq)]
#[replicated(crate = netloom_session, profile = "high")]
struct Small {
    #[replicated(position)]
    at: [f32; 2],
    #[replicated(velocity)]
    speed: [f64; 2],
    #[replicated(scale)]
    size: [f64; 2],
    #[replicated(rotation)]
    turned: [f64; 4],
    r#type: u8,
}

#[test]
fn two_coordinates_and_other_profiles_come_back() {
    let value = Small {
        at: [1000.0625, -3.5],
        speed: [0.5, 400.0625],
        size: [0.5, 2.0],
        turned: [0.0, 0.0, 1.0, 0.0],
        r#type: 3,
    };
    let mut world = World::new(vec![Small::class().unwrap()], WorldConfig::default()).unwrap();
    let class = ClassOf::<Small>::find(world.classes()).unwrap();
    let object = class.spawn(&mut world, ObjectId(1), None, &value).unwrap();
    let read = class.read_world(&world, object).unwrap();
    assert_eq!((read.at, read.size, read.r#type), (value.at, value.size, value.r#type));
    assert!(read.speed.iter().zip(value.speed).all(|(a, b)| (a - b).abs() < 0.0001), "{:?}", read.speed);
    assert!(read.turned[2].abs() > 0.9999);
    assert_eq!((Small::FIELDS[0], Small::FIELDS[3], Small::NAME), ("at", "type", "Small"));
}

#[test]
fn places_are_those_in_the_world_whatever_origin_and_parent() {
    let mut world = World::new(vec![Small::class().unwrap()], WorldConfig::default()).unwrap();
    let class = ClassOf::<Small>::find(world.classes()).unwrap();
    let value = Small {
        at: [7_000.5, -20.0],
        speed: [0.0; 2],
        size: [1.0; 2],
        turned: [0.0, 0.0, 0.0, 1.0],
        r#type: 0,
    };
    let origin = SectorOrigin::default().moved_to([7_000.0, 0.0, 0.0]).unwrap();
    let spawn = |id| Spawn { origin, ..Small::spawn_defaults().spawn(ObjectId(id), ClassId(9)) };
    let ship = class.spawn_with(&mut world, spawn(1), &value).unwrap();
    let turret = class.spawn_with(&mut world, spawn(2), &value).unwrap();
    assert_eq!(class.read_world(&world, turret).unwrap().at, value.at);
    world.attach(turret, Some(ship)).unwrap();
    assert_eq!(class.read_world(&world, turret).unwrap().at, [0.0, 0.0], "relative to its parent");
}

/// A vector of some other library.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

impl From<[f32; 3]> for Vec3 {
    fn from([x, y, z]: [f32; 3]) -> Vec3 {
        Vec3 { x, y, z }
    }
}

impl From<Vec3> for [f32; 3] {
    fn from(vector: Vec3) -> [f32; 3] {
        [vector.x, vector.y, vector.z]
    }
}

#[derive(Replicated, Debug, PartialEq)]
#[replicated(crate = netloom_session, profile = "none")]
struct Borrowed {
    #[replicated(position, via = [f32; 3])]
    at: Vec3,
}

#[test]
fn types_of_other_libraries_are_sent_by_way_of_what_they_convert_to() {
    let value = Borrowed { at: Vec3 { x: 0.1, y: 0.2, z: 1e9 } };
    let mut world =
        World::new(vec![Small::class().unwrap(), Borrowed::class().unwrap()], WorldConfig::default())
            .unwrap();
    let class = ClassOf::<Borrowed>::find(world.classes()).unwrap();
    let object = class.spawn(&mut world, ObjectId(1), None, &value).unwrap();
    assert_eq!(class.read_world(&world, object), Some(value));
}

#[test]
fn an_object_of_another_class_is_not_taken_for_the_struct() {
    let classes = vec![Small::class().unwrap(), Borrowed::class().unwrap()];
    let mut world = World::new(classes, WorldConfig::default()).unwrap();
    let (small, borrowed) = (
        ClassOf::<Small>::find(world.classes()).unwrap(),
        ClassOf::<Borrowed>::find(world.classes()).unwrap(),
    );
    assert_eq!((small.id(), borrowed.id()), (ClassId(0), ClassId(1)));
    assert_eq!(format!("{borrowed:?}"), "Borrowed is class 1");
    assert!(ClassOf::<Gate>::find(world.classes()).is_none());
    let value = Borrowed { at: Vec3 { x: 0.0, y: 0.0, z: 0.0 } };
    let object = borrowed.spawn(&mut world, ObjectId(1), None, &value).unwrap();
    assert_eq!(small.read_world(&world, object), None);
    assert_eq!(Small::read_world(&world.object(object).unwrap()), None, "its fields are others");
    world.despawn(object).unwrap();
    assert_eq!(borrowed.read_world(&world, object), None);
}

#[test]
fn a_struct_without_settings_is_spawned_as_any_object() {
    let plain = Small::spawn_defaults();
    assert_eq!((plain.priority, plain.kind_weight, plain.predict), (1.0, 1.0, false));
    assert!(plain.relevance_radius.is_infinite());
}

#[derive(Choice, Clone, Copy, Debug, PartialEq)]
#[replicated(crate = netloom_session)]
enum Key {
    Iron,
    Brass,
}

macro_rules! door {
    ($name:ident, $field:ident: $kind:ty, $limit:expr) => {
        #[derive(Replicated, Debug, PartialEq)]
        #[replicated(crate = netloom_session)]
        struct $name {
            #[replicated(range = 0..=$limit)]
            $field: $kind,
            #[replicated(range = 0.0..=1.0, step = 0.1, owner)]
            opened: f32,
            #[replicated(array = $limit)]
            keys: Vec<Key>,
        }
    };
}

door!(Gate, height: u64, 3 + 4);

#[test]
fn a_struct_may_come_out_of_a_macro() {
    let mut world = World::new(vec![Gate::class().unwrap()], WorldConfig::default()).unwrap();
    let class = ClassOf::<Gate>::find(world.classes()).unwrap();
    let value = Gate { height: 7, opened: 0.5, keys: vec![Key::Iron, Key::Brass] };
    let object = class.spawn(&mut world, ObjectId(1), None, &value).unwrap();
    assert_eq!(class.read_world(&world, object), Some(value));
}
