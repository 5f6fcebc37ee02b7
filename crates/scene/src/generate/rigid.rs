//! Boxes that fall, collide, tumble, slide and pile up, and are kicked before too many of them rest.
//!
//! This is what physics sends: ballistic flight that two states predict, bounces that nothing predicts, rolling and
//! sliding in between, and boxes at rest that are silent. It is a small simulation of rigid bodies, four steps to a tick:
//!
//! ```text
//!   gravity ─▶ pairs that are near (a grid) ─▶ contacts: corners in boxes ─▶ pushes and friction, in rounds ─▶ move ─▶ rest
//! ```

mod body;
mod contact;

use netloom_replica::world::{ObjectIndex, Spawn, World};
use netloom_replica::{Class, ClassId};
use netloom_wire::ObjectId;

use super::moving;
use super::random::Random;
use super::vector::{Vector, add, length, normalized, scale, singles, sub, unit};
use crate::{SceneError, Source};
use body::Body;
use contact::Contacts;

/// Boxes of the usual scene.
pub const BODIES: usize = 250;
const TICKS_PER_SECOND: u32 = 30;
const STEPS_PER_TICK: usize = 4;
const STEP_SECONDS: f64 = 1.0 / (TICKS_PER_SECOND as f64 * STEPS_PER_TICK as f64);
const GRAVITY: Vector = [0.0, -9.81, 0.0];
/// Half the edge of the square that the boxes are in.
const ARENA_METRES: f64 = 8.0;
/// The shortest and the longest half of an edge.
const HALF_METRES: (f64, f64) = (0.2, 0.45);
/// Ticks between two looks at how many are calm.
const KICK_TICKS: usize = 6;
/// The share of boxes that may be calm before some are kicked.
const CALM_SHARE: f64 = 0.44;
/// How far a kick reaches.
const KICK_METRES: f64 = 2.0;

/// The scene.
#[derive(Clone, Debug)]
pub struct Rigid {
    classes: Vec<Class>,
    random: Random,
    bodies: Vec<Body>,
    objects: Vec<ObjectIndex>,
    contacts: Contacts,
    near: Near,
    ticks: usize,
}

impl Rigid {
    /// The usual number of boxes.
    pub fn new(seed: u64) -> Rigid {
        Rigid::with_bodies(seed, BODIES)
    }

    /// So many boxes, thrown into the arena.
    pub fn with_bodies(seed: u64, count: usize) -> Rigid {
        let mut random = Random::new(seed);
        let bodies = (0..count).map(|number| {
            let [x, _, z] = scale(random.triple(), ARENA_METRES - 1.0);
            let half = [0; 3].map(|_| random.between(HALF_METRES.0, HALF_METRES.1));
            let [a, b, c] = random.triple();
            // Some start on the floor, the others fall on them, one after the other.
            let height = 0.6 + 0.04 * number as f64;
            let mut body = Body::new([x, height, z], unit([a, b, c, random.unit()]), half);
            body.kick(scale(random.triple(), 2.0), scale(random.triple(), 4.0));
            body
        });
        let bodies: Vec<Body> = bodies.collect();
        Rigid {
            classes: vec![moving("body", |builder| builder)],
            random,
            bodies,
            objects: Vec::new(),
            contacts: Contacts::default(),
            near: Near::default(),
            ticks: 0,
        }
    }

    fn step(&mut self) {
        for body in &mut self.bodies {
            body.accelerate(GRAVITY, STEP_SECONDS);
        }
        self.near.find(&self.bodies);
        self.contacts.find(&mut self.bodies, ARENA_METRES, &self.near.pairs);
        self.contacts.solve(&mut self.bodies, STEP_SECONDS);
        for body in &mut self.bodies {
            body.advance(STEP_SECONDS);
        }
    }

    /// Throws heaps apart while too many are calm: whatever lies around one of those that are.
    fn kick(&mut self) {
        loop {
            let calm: Vec<usize> =
                (0..self.bodies.len()).filter(|body| self.bodies[*body].is_calm()).collect();
            if calm.len() as f64 <= CALM_SHARE * self.bodies.len() as f64 {
                return;
            }
            let chosen = calm[self.random.below(calm.len())];
            self.throw_apart(self.bodies[chosen].position);
        }
    }

    fn throw_apart(&mut self, middle: Vector) {
        let below = sub(middle, [0.0, 0.8, 0.0]);
        let strength = self.random.between(3.0, 8.0);
        for body in &mut self.bodies {
            let apart = sub(body.position, below);
            let distance = length(apart);
            if distance < KICK_METRES {
                let away = normalized(apart, [0.0, 1.0, 0.0]);
                let velocity = scale(away, strength * (1.0 - 0.5 * distance / KICK_METRES));
                let spin = scale(self.random.triple(), 0.6 * strength);
                body.kick(add(velocity, scale(self.random.triple(), 0.5)), spin);
            }
        }
    }
}

impl Source for Rigid {
    fn name(&self) -> &str {
        "rigid"
    }

    fn classes(&self) -> &[Class] {
        &self.classes
    }

    fn ticks_per_second(&self) -> u32 {
        TICKS_PER_SECOND
    }

    fn play(&mut self, world: &mut World) -> Result<bool, SceneError> {
        if self.ticks.is_multiple_of(KICK_TICKS) {
            self.kick();
        }
        self.ticks += 1;
        (0..STEPS_PER_TICK).for_each(|_| self.step());
        for (number, body) in self.bodies.iter().enumerate() {
            if self.objects.len() == number {
                self.objects.push(world.spawn(Spawn::new(ObjectId(number as u64 + 1), ClassId(0)))?);
            }
            world.set_position(self.objects[number], body.position)?;
            world.set_rotation(self.objects[number], singles(body.rotation))?;
        }
        Ok(true)
    }
}

/// Finds boxes that may touch each other, without asking every box about every other.
#[derive(Clone, Debug, Default)]
struct Near {
    /// Cell and box, by cell.
    cells: Vec<((i32, i32), usize)>,
    pairs: Vec<(usize, usize)>,
}

impl Near {
    /// Wider than two boxes reach.
    const CELL_METRES: f64 = 1.8;

    fn find(&mut self, bodies: &[Body]) {
        let cell = |axis: f64| (axis / Near::CELL_METRES).floor() as i32;
        self.cells.clear();
        let cells = bodies.iter().enumerate();
        self.cells.extend(cells.map(|(body, own)| ((cell(own.position[0]), cell(own.position[2])), body)));
        self.cells.sort_unstable();
        self.pairs.clear();
        for &((x, z), body) in &self.cells {
            for next_x in x - 1..=x + 1 {
                let from = self.cells.partition_point(|(cell, _)| *cell < (next_x, z - 1));
                let column = self.cells[from..].iter().take_while(|(cell, _)| *cell <= (next_x, z + 1));
                for &(_, other) in column.filter(|(_, other)| *other > body) {
                    let (own, solid) = (&bodies[body], &bodies[other]);
                    let is_near = length(sub(own.position, solid.position)) < own.reach + solid.reach;
                    if is_near && !(own.is_resting && solid.is_resting) {
                        self.pairs.push((body, other));
                    }
                }
            }
        }
        // In the order of the boxes, whatever cells they are in.
        self.pairs.sort_unstable();
    }
}

#[cfg(test)]
mod tests;
