//! The own character: what it is, how it moves, and what a player can do with it.
//!
//! Running takes breath, and who is out of breath walks: so a step depends on more than the place, and an input that
//! the server did not have changes what comes after it.

use netloom_replica::Class;
use netloom_replica::client::{ClientObject, ReplicaClient};
use netloom_replica::input::Input;
use netloom_replica::step::{Describe, Fields, Step};
use netloom_replica::world::ClassTable;
use netloom_wire::schema::{FieldKind, SyncFlags, Value};
use netloom_wire::{BitReader, BitWriter, Profile, ReadError, Schema};

use crate::runner::Failure;

/// Steps of the simulation in a second.
pub const STEPS_PER_SECOND: u32 = 60;
/// The wire carries places in steps of this.
pub const GRID_METRES: f64 = 0.01;

const WALK_METRES_PER_SECOND: f32 = 3.0;
const RUN_METRES_PER_SECOND: f32 = 6.0;
const BREATH_MAX: i32 = 240;

/// The numbers of the classes.
pub mod class {
    use netloom_replica::ClassId;

    /// The own character.
    pub const WALKER: ClassId = ClassId(0);
    /// Somebody else, of whom only the place is known.
    pub const DRIFTER: ClassId = ClassId(1);
    /// Somebody else whose velocity is known.
    pub const SHIP: ClassId = ClassId(2);
}

const POSITION: usize = 0;
/// The field with the breath of a walker, and with the number of everybody else.
pub const DETAIL: usize = 1;

/// The classes as both sides have them.
pub fn classes() -> Result<Vec<Class>, Failure> {
    let public = SyncFlags::PUBLIC_SYNC;
    let place =
        |name| Schema::builder(name).field("position", FieldKind::Position(Profile::Standard), public, 255);
    let int = |max| FieldKind::int(0, max).map_err(setup);
    let walker = place("walker").field("breath", int(BREATH_MAX)?, public, 100);
    let drifter = place("drifter").field("number", int(255)?, public, 100);
    let ship = place("ship").field("number", int(255)?, public, 100).field(
        "velocity",
        FieldKind::Velocity(Profile::Standard),
        public,
        50,
    );
    let class = |fields: netloom_wire::schema::SchemaBuilder| {
        Class::new(fields.build().map_err(setup)?).map_err(setup)
    };
    [walker, drifter, ship].into_iter().map(class).collect()
}

/// The same as a table.
pub fn class_table() -> Result<ClassTable, Failure> {
    ClassTable::new(classes()?).map_err(setup)
}

pub(super) fn setup(error: impl std::fmt::Display) -> Failure {
    Failure::Setup(error.to_string())
}

/// What the player holds down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// Along the first and the second axis: −1, 0 or 1.
    pub direction: [i8; 2],
    /// Whether to run.
    pub run: bool,
}

impl Keys {
    /// Nothing.
    pub const NONE: Keys = Keys { direction: [0; 2], run: false };
}

impl Input for Keys {
    const BITS_MAX: u32 = 5;

    fn write(&self, writer: &mut BitWriter<'_>) {
        self.direction.iter().for_each(|axis| writer.write_bits((axis + 1) as u64, 2));
        writer.write_bool(self.run);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Keys, ReadError> {
        let mut axis = || match reader.read_bits(2)? {
            3 => Err(ReadError::OutOfRange),
            bits => Ok(bits as i8 - 1),
        };
        let direction = [axis()?, axis()?];
        Ok(Keys { direction, run: reader.read_bool()? })
    }
}

/// The own character at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Walker {
    /// Where it is.
    pub position: [f32; 3],
    /// How long it can run, in steps.
    pub breath: i32,
}

impl Walker {
    /// Rested.
    pub fn at(position: [f32; 3]) -> Walker {
        Walker { position, breath: BREATH_MAX }
    }

    /// As a client holds it.
    pub fn of(client: &ReplicaClient, object: &ClientObject) -> Option<Walker> {
        let class = client.class(object)?;
        let Some(Value::Word(breath)) = object.value(class, DETAIL) else { return None };
        Some(Walker { position: place_of(client, object)?.map(|axis| axis as f32), breath })
    }

    /// How far another is away.
    pub fn distance(&self, other: &Walker) -> f64 {
        distance(self.position.map(f64::from), other.position.map(f64::from))
    }
}

/// Where a client holds an object to be.
pub fn place_of(client: &ReplicaClient, object: &ClientObject) -> Option<[f64; 3]> {
    match object.value(client.class(object)?, POSITION)? {
        Value::Triple(words) => Some(object.profile().world_position(words, &object.origin())),
        _ => None,
    }
}

/// Between two places.
pub fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}

/// How a walker moves: the same on both sides.
#[derive(Clone, Copy, Debug)]
pub struct Walk;

impl Step for Walk {
    type State = Walker;
    type Input = Keys;

    fn step(&self, walker: &mut Walker, keys: &Keys) {
        let is_moving = keys.direction != [0; 2];
        let runs = is_moving && keys.run && walker.breath > 1;
        let speed = if runs { RUN_METRES_PER_SECOND } else { WALK_METRES_PER_SECOND };
        walker.breath = if runs { walker.breath - 2 } else { (walker.breath + 1).min(BREATH_MAX) };
        let [right, forward] = keys.direction.map(f32::from);
        let share = if right != 0.0 && forward != 0.0 { std::f32::consts::FRAC_1_SQRT_2 } else { 1.0 };
        let metres = speed * share / STEPS_PER_SECOND as f32;
        walker.position[0] += right * metres;
        walker.position[1] += forward * metres;
    }
}

impl Describe for Walk {
    fn describe(&self, walker: &Walker, fields: &mut Fields) {
        fields.position("position", Profile::Standard, walker.position);
        fields.whole("breath", walker.breath);
    }
}

#[cfg(test)]
mod tests {
    use netloom_replica::determinism::check_determinism;

    use super::*;

    #[test]
    fn a_step_is_the_same_every_time() {
        let keys =
            (0..300).map(|step| Keys { direction: [1, (step / 40 % 3) as i8 - 1], run: step % 90 < 60 });
        let keys: Vec<Keys> = keys.collect();
        check_determinism(&Walk, &Walker::at([1.0, 2.0, 0.0]), &keys).unwrap();
    }
}
