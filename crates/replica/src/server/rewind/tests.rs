//! What the tests of lag compensation share.

mod geometry;
mod history;
mod query;
mod view;

use netloom_wire::schema::{FieldKind, SyncFlags};
use netloom_wire::{Micros, ObjectId, Profile, Schema, Tick};

use super::{HitModel, HitPart, PartId, Pose, Rewind, RewindConfig, Shape};
use crate::world::{ObjectIndex, Spawn, World, WorldConfig};
use crate::{Class, ClassId};

const STRAIGHT: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
const EVERYONE: u32 = 1;

/// A world that gives out indices.
fn world() -> World {
    let public = SyncFlags::PUBLIC_SYNC;
    let position = FieldKind::Position(Profile::Standard);
    let schema = Schema::builder("walker").field("position", position, public, 255).build().unwrap();
    World::new(vec![Class::new(schema).unwrap()], WorldConfig::default()).unwrap()
}

fn objects(count: u64) -> Vec<ObjectIndex> {
    let mut world = world();
    (0..count).map(|id| world.spawn(Spawn::new(ObjectId(id), ClassId(0))).unwrap()).collect()
}

fn ball(radius: f64) -> HitModel {
    let shape = Shape::sphere([0.0; 3], radius).unwrap();
    HitModel::new(&[HitPart { part: PartId(7), shape }]).unwrap()
}

fn small() -> Rewind {
    Rewind::new(RewindConfig { objects_max: 4, ..RewindConfig::default() }).unwrap()
}

/// Steps of 10 ms, the first at one second.
fn time(step: u32) -> Micros {
    Micros(1_000_000 + u64::from(step) * 10_000)
}

/// Records a step in which objects are at these x.
fn record(rewind: &mut Rewind, step: u32, at: &[(ObjectIndex, f64)]) {
    let find = |object| at.iter().find(|(other, _)| *other == object).map(|(_, x)| pose(*x));
    rewind.record(Tick(step), time(step), find).unwrap();
}

fn pose(x: f64) -> Pose {
    Pose::new([x, 0.0, 0.0], STRAIGHT)
}
