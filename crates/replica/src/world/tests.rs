//! Tests of the world, by what they are about.

mod attach;
mod fields;
mod frames;
mod model;
mod slots;
mod versions;

use netloom_wire::schema::{FieldKind, SyncFlags, Value};
use netloom_wire::{ObjectId, Profile, Schema, Tick};

use super::{ObjectIndex, Spawn, World, WorldConfig};
use crate::class::{Class, ClassId};

/// Position, rotation, health, name: words 0 to 3, 4 to 7, 8, 9.
pub(super) const SHIP: ClassId = ClassId(0);
/// A score without a place: word 0.
pub(super) const SCORE: ClassId = ClassId(1);

pub(super) const POSITION: usize = 0;
pub(super) const ROTATION: usize = 1;
pub(super) const HEALTH: usize = 2;
pub(super) const NAME: usize = 3;

pub(super) fn classes() -> Vec<Class> {
    let ship = Schema::builder("ship")
        .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255)
        .field("rotation", FieldKind::Rotation(Profile::Standard), SyncFlags::PUBLIC_SYNC, 254)
        .field("health", FieldKind::int(0, 100).unwrap(), SyncFlags::PUBLIC_SYNC, 100)
        .field("name", FieldKind::Text { bytes_max: 16 }, SyncFlags::PUBLIC_SYNC, 1);
    let score =
        Schema::builder("score").field("points", FieldKind::int(-5, 5).unwrap(), SyncFlags::PUBLIC_SYNC, 1);
    [ship, score].map(|builder| Class::new(builder.build().unwrap()).unwrap()).into()
}

pub(super) fn world() -> World {
    World::new(classes(), WorldConfig { objects_max: 64, ..WorldConfig::default() }).unwrap()
}

/// A world with one ship, committed at tick 0.
pub(super) fn world_with_ship() -> (World, ObjectIndex) {
    let mut world = world();
    let ship = world.spawn(Spawn::new(ObjectId(1), SHIP)).unwrap();
    world.commit(Tick(0)).unwrap();
    (world, ship)
}

pub(super) fn set_health(world: &mut World, index: ObjectIndex, health: i32) {
    world.set(index, HEALTH, Value::Word(health)).unwrap();
}

/// The health that was in force at a tick.
pub(super) fn health_at(world: &World, index: ObjectIndex, tick: u32) -> Option<i32> {
    world.object(index).unwrap().words_at(Tick(tick)).map(|words| words[8])
}
