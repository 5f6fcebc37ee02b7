//! Scenes from a seed.
//!
//! A figure can be repeated only if the scene can. Every generator here gives the same numbers from the same seed, on every
//! machine: it computes with doubles and only what IEEE 754 defines to the last bit, which is adding, multiplying, dividing
//! and taking square roots. Rotations are quaternions that are turned and made unit again, headings are unit vectors; no
//! sines. The one exception is [`walk`], which is a copy of a walk that others use, sines and all.
//!
//! | scene | objects | ticks a second | what is hard about it |
//! |---|---|---|---|
//! | [`rigid`] | 250 boxes | 30 | tumbling, bouncing, sliding; half of the bytes are rotations |
//! | [`crowd`] | 1,000 walkers | 20 | many that go straight, some that turn, some that stand |
//! | [`shooter`] | 16 players, 184 others | 30 | fast turns and strafing, things that appear and vanish |
//! | [`planet`] | 200 travellers | 20 | coordinates of millions of metres, sector origins that change |
//! | [`walk`] | 200 walkers | 20 | positions that nothing predicts |
//! | [`wander`] | 500 wanderers | 20 | curves: position and rotation of all change at every tick |

pub mod crowd;
pub mod planet;
mod random;
pub mod rigid;
pub mod shooter;
mod vector;
pub mod walk;
pub mod wander;

use netloom_replica::Class;
use netloom_wire::schema::{FieldKind, SyncFlags};
use netloom_wire::{Profile, Schema, schema::SchemaBuilder};

use crate::Source;

/// The names of all generators.
pub const NAMES: [&str; 6] = ["rigid", "crowd", "shooter", "planet", "walk", "wander"];

/// The generator of a name, with its usual size; `None` if there is none of that name. They never end.
pub fn by_name(name: &str, seed: u64) -> Option<Box<dyn Source>> {
    Some(match name {
        "rigid" => Box::new(rigid::Rigid::new(seed)),
        "crowd" => Box::new(crowd::Crowd::new(seed)),
        "shooter" => Box::new(shooter::Shooter::new(seed)),
        "planet" => Box::new(planet::Planet::new(seed)),
        "walk" => Box::new(walk::WalkScene::new(seed)),
        "wander" => Box::new(wander::Wander::new(seed)),
        _ => return None,
    })
}

/// Sectors are points of a raster of this width: nowhere is one further away than STANDARD reaches.
const SECTOR_METRES: f64 = 256.0;

/// The nearest sector: what a position in a large world is measured from.
pub fn sector(position: [f64; 3]) -> [f64; 3] {
    position.map(|axis| (axis / SECTOR_METRES).round() * SECTOR_METRES)
}

/// A kind of object with a place and a rotation, both STANDARD, and perhaps more.
fn moving(name: &str, more: impl FnOnce(SchemaBuilder) -> SchemaBuilder) -> Class {
    moving_as(Profile::Standard, name, more)
}

/// The same with another profile.
fn moving_as(profile: Profile, name: &str, more: impl FnOnce(SchemaBuilder) -> SchemaBuilder) -> Class {
    let builder = Schema::builder(name)
        .field("position", FieldKind::Position(profile), SyncFlags::PUBLIC_SYNC, 255)
        .field("rotation", FieldKind::Rotation(profile), SyncFlags::PUBLIC_SYNC, 254);
    let schema = more(builder).build().expect("fields with names of their own");
    Class::new(schema).expect("few words")
}
