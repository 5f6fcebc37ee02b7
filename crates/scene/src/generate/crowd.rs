//! A thousand people on a square.
//!
//! Everybody has somewhere to go, turns towards it no faster than people turn, gets out of the way of whoever is in front, and
//! stands for a while once there. Most of a tick is even walking, which two states predict; the rest is turning, and
//! hesitating in front of others. It never gets quiet, and some of it always rests.

use netloom_replica::world::{ObjectIndex, Spawn, World};
use netloom_replica::{Class, ClassId};
use netloom_wire::ObjectId;
use netloom_wire::schema::{FieldKind, SyncFlags, Value};

use super::moving;
use super::random::Random;
use super::vector::{facing, singles};
use crate::{SceneError, Source};

/// Walkers of the usual scene.
pub const WALKERS: usize = 1_000;
const TICKS_PER_SECOND: u32 = 20;
const STEPS_PER_TICK: usize = 3;
const STEP_SECONDS: f64 = 1.0 / (TICKS_PER_SECOND as f64 * STEPS_PER_TICK as f64);
/// Half the edge of the square.
const SQUARE_METRES: f64 = 90.0;
/// How far away the next goal is at most, on each axis.
const WAY_METRES: f64 = 25.0;
/// Nearer than this, somebody is in the way.
const ELBOW_METRES: f64 = 1.2;
/// Radians a second.
const TURN_SPEED: f64 = 2.5;
/// Metres a second, each second.
const PACE_CHANGE: f64 = 2.0;
const GAIT: usize = 2;

type Plane = [f64; 2];

#[derive(Clone, Debug)]
struct Walker {
    at: Plane,
    /// A unit vector.
    heading: Plane,
    goal: Plane,
    pace: f64,
    pace_max: f64,
    /// Seconds until it walks on.
    pause: f64,
}

/// The scene.
#[derive(Clone, Debug)]
pub struct Crowd {
    classes: Vec<Class>,
    random: Random,
    walkers: Vec<Walker>,
    objects: Vec<ObjectIndex>,
    cells: Vec<((i32, i32), usize)>,
}

impl Crowd {
    /// The usual number of walkers.
    pub fn new(seed: u64) -> Crowd {
        Crowd::with_walkers(seed, WALKERS)
    }

    /// So many walkers.
    pub fn with_walkers(seed: u64, count: usize) -> Crowd {
        let mut random = Random::new(seed);
        let walkers = (0..count).map(|_| Walker {
            at: place(&mut random),
            heading: unit([random.unit(), random.unit()]),
            goal: [0.0; 2],
            pace: 0.0,
            pace_max: random.between(0.9, 1.9),
            pause: if random.chance(0.3) { random.between(0.0, 6.0) } else { 0.0 },
        });
        let mut walkers: Vec<Walker> = walkers.collect();
        // On their way to where they stand: a new goal is the first thing that they need.
        walkers.iter_mut().for_each(|walker| walker.goal = walker.at);
        let gait = FieldKind::int(0, 2).expect("a range");
        let class = moving("walker", |builder| builder.field("gait", gait, SyncFlags::PUBLIC_SYNC, 10));
        Crowd { classes: vec![class], random, walkers, objects: Vec::new(), cells: Vec::new() }
    }

    fn step(&mut self) {
        self.sort_into_cells();
        for number in 0..self.walkers.len() {
            let (aside, is_blocked) = self.avoided(number);
            self.walkers[number].step(aside, is_blocked, &mut self.random);
        }
    }

    fn sort_into_cells(&mut self) {
        self.cells.clear();
        self.cells.extend(self.walkers.iter().enumerate().map(|(number, walker)| (cell(walker.at), number)));
        self.cells.sort_unstable();
    }

    /// Which way is out of the way of others, and whether somebody is right in front.
    fn avoided(&self, number: usize) -> (Plane, bool) {
        let own = &self.walkers[number];
        let (mut aside, mut is_blocked) = ([0.0; 2], false);
        let (x, z) = cell(own.at);
        for next_x in x - 1..=x + 1 {
            let from = self.cells.partition_point(|(cell, _)| *cell < (next_x, z - 1));
            let column = self.cells[from..].iter().take_while(|(cell, _)| *cell <= (next_x, z + 1));
            for other in column.map(|(_, other)| *other).filter(|other| *other != number) {
                let way: Plane = std::array::from_fn(|axis| self.walkers[other].at[axis] - own.at[axis]);
                let distance = (way[0] * way[0] + way[1] * way[1]).sqrt();
                let ahead = way[0] * own.heading[0] + way[1] * own.heading[1];
                if distance > 1e-6 && distance < ELBOW_METRES && ahead > -0.2 * distance {
                    // To the right of whoever comes, as if there were a rule, and away from who is too near.
                    let strength = (ELBOW_METRES - distance) / ELBOW_METRES / distance;
                    aside[0] += strength * (way[1] - 0.6 * way[0]);
                    aside[1] += strength * (-way[0] - 0.6 * way[1]);
                    is_blocked |= ahead > 0.8 * distance && distance < 0.7;
                }
            }
        }
        (aside, is_blocked)
    }
}

impl Walker {
    fn step(&mut self, aside: Plane, is_blocked: bool, random: &mut Random) {
        if self.pause > 0.0 {
            self.pause -= STEP_SECONDS;
            self.pace = (self.pace - PACE_CHANGE * STEP_SECONDS).max(0.0);
        } else {
            let way: Plane = std::array::from_fn(|axis| self.goal[axis] - self.at[axis]);
            if way[0] * way[0] + way[1] * way[1] < 1.0 {
                let limit = |axis: f64| axis.clamp(-SQUARE_METRES, SQUARE_METRES);
                self.goal = self.at.map(|axis| limit(axis + WAY_METRES * random.unit()));
                self.pause = if random.chance(0.6) { random.between(1.0, 12.0) } else { 0.0 };
                return;
            }
            let way = unit(way);
            self.turn(unit([way[0] + 1.5 * aside[0], way[1] + 1.5 * aside[1]]));
            let wanted = if is_blocked { 0.2 * self.pace_max } else { self.pace_max };
            let change = PACE_CHANGE * STEP_SECONDS;
            self.pace += (wanted - self.pace).clamp(-2.0 * change, change);
        }
        for axis in 0..2 {
            self.at[axis] += self.heading[axis] * self.pace * STEP_SECONDS;
        }
    }

    /// Turns towards a direction, as far as people turn in a step.
    fn turn(&mut self, wanted: Plane) {
        let [x, z] = self.heading;
        let sine = x * wanted[1] - z * wanted[0];
        let cosine = x * wanted[0] + z * wanted[1];
        let most = TURN_SPEED * STEP_SECONDS;
        // Who wants to go back turns as fast as anybody; small turns end where they should.
        let turn = if cosine < 0.0 { if sine < 0.0 { -most } else { most } } else { sine.clamp(-most, most) };
        self.heading = unit([x - z * turn, z + x * turn]);
    }

    fn gait(&self) -> i32 {
        match self.pace {
            pace if pace < 0.05 => 0,
            pace if pace < 1.4 => 1,
            _ => 2,
        }
    }
}

impl Source for Crowd {
    fn name(&self) -> &str {
        "crowd"
    }

    fn classes(&self) -> &[Class] {
        &self.classes
    }

    fn ticks_per_second(&self) -> u32 {
        TICKS_PER_SECOND
    }

    fn play(&mut self, world: &mut World) -> Result<bool, SceneError> {
        (0..STEPS_PER_TICK).for_each(|_| self.step());
        for (number, walker) in self.walkers.iter().enumerate() {
            if self.objects.len() == number {
                self.objects.push(world.spawn(Spawn::new(ObjectId(number as u64 + 1), ClassId(0)))?);
            }
            let index = self.objects[number];
            world.set_position(index, [walker.at[0], 0.0, walker.at[1]])?;
            world.set_rotation(index, singles(facing(walker.heading)))?;
            world.set(index, GAIT, Value::Word(walker.gait()))?;
        }
        Ok(true)
    }
}

fn place(random: &mut Random) -> Plane {
    [SQUARE_METRES * random.unit(), SQUARE_METRES * random.unit()]
}

fn cell([x, z]: Plane) -> (i32, i32) {
    ((x / ELBOW_METRES).floor() as i32, (z / ELBOW_METRES).floor() as i32)
}

fn unit([x, z]: Plane) -> Plane {
    let length = (x * x + z * z).sqrt();
    if length > 1e-9 { [x / length, z / length] } else { [0.0, 1.0] }
}
