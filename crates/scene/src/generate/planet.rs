//! Travellers on a planet: coordinates of millions of metres, on a ground that is round.
//!
//! A centimetre at 6,371 km from the middle of the world does not fit 16 bits. Everybody is measured from a sector near
//! by, and from another one after leaving that behind: the moment at which nothing that a peer holds is of use. Walkers
//! hardly ever do, cars every few seconds, aircraft about once a second. Up is another direction for everybody.

use netloom_replica::world::{ObjectIndex, Spawn, World};
use netloom_replica::{Class, ClassId};
use netloom_wire::{ObjectId, SectorOrigin};

use super::random::Random;
use super::vector::{Vector, across, add, cross, from_axes, normalized, scale, singles, sub};
use super::{moving, sector};
use crate::{SceneError, Source};

const TICKS_PER_SECOND: u32 = 20;
const STEPS_PER_TICK: usize = 3;
const STEP_SECONDS: f64 = 1.0 / (TICKS_PER_SECOND as f64 * STEPS_PER_TICK as f64);
const RADIUS_METRES: f64 = 6_371_000.0;
/// Further than this from its sector on an axis, an object gets the nearest one: STANDARD reaches 327 m.
const SECTOR_REACH_METRES: f64 = 230.0;
/// Half the edge of the country that they start in.
const COUNTRY_METRES: f64 = 2_000.0;

/// A way to travel.
#[derive(Clone, Copy, Debug)]
struct Kind {
    class: ClassId,
    count: usize,
    /// Metres a second.
    speed: (f64, f64),
    /// Radians a second.
    turn: f64,
    /// Metres above the ground.
    height: (f64, f64),
    /// Of the road, in metres a second.
    bumps: f64,
}

const KINDS: [Kind; 3] = [
    Kind { class: ClassId(0), count: 110, speed: (0.8, 2.0), turn: 0.8, height: (0.0, 0.0), bumps: 0.0 },
    Kind { class: ClassId(1), count: 70, speed: (8.0, 35.0), turn: 0.4, height: (0.5, 0.5), bumps: 0.25 },
    Kind {
        class: ClassId(2),
        count: 20,
        speed: (60.0, 250.0),
        turn: 0.15,
        height: (300.0, 3_000.0),
        bumps: 0.05,
    },
];

#[derive(Clone, Debug)]
struct Traveller {
    kind: Kind,
    position: Vector,
    /// A unit vector along the ground.
    heading: Vector,
    speed: f64,
    height: f64,
    /// How far a spring is from its rest, and how fast.
    lift: f64,
    lift_speed: f64,
    /// Radians a second to the left, for a while.
    turn: f64,
    turn_seconds: f64,
}

/// The scene.
#[derive(Clone, Debug)]
pub struct Planet {
    classes: Vec<Class>,
    random: Random,
    travellers: Vec<Traveller>,
    objects: Vec<ObjectIndex>,
}

impl Planet {
    /// 110 who walk, 70 who drive and 20 who fly.
    pub fn new(seed: u64) -> Planet {
        Planet::with_share(seed, 1)
    }

    /// One in so many of them.
    pub fn with_share(seed: u64, one_in: usize) -> Planet {
        let mut random = Random::new(seed);
        // A country somewhere, so that no axis of the world is up.
        let middle = normalized(add(random.triple(), [0.3, 0.4, 0.5]), [0.0, 1.0, 0.0]);
        let kinds = KINDS.iter().flat_map(|kind| std::iter::repeat_n(*kind, kind.count / one_in.max(1)));
        let travellers = kinds.map(|kind| {
            let place = scale(random.triple(), COUNTRY_METRES);
            let up = normalized(add(scale(middle, RADIUS_METRES), across(place, middle)), middle);
            let height = random.between(kind.height.0, kind.height.1);
            Traveller {
                kind,
                position: scale(up, RADIUS_METRES + height),
                heading: normalized(across(random.triple(), up), cross(up, [1.0, 0.0, 0.0])),
                speed: random.between(kind.speed.0, kind.speed.1),
                height,
                lift: 0.0,
                lift_speed: 0.0,
                turn: 0.0,
                turn_seconds: 0.0,
            }
        });
        let travellers = travellers.collect();
        let classes = ["walker", "car", "aircraft"].map(|name| moving(name, |builder| builder)).to_vec();
        Planet { classes, random, travellers, objects: Vec::new() }
    }
}

impl Traveller {
    fn step(&mut self, random: &mut Random) {
        self.turn_seconds -= STEP_SECONDS;
        if self.turn_seconds < 0.0 {
            self.turn_seconds = random.between(0.5, 6.0);
            self.turn = if random.chance(0.5) { 0.0 } else { random.unit() * self.kind.turn };
        }
        let up = normalized(self.position, [0.0, 1.0, 0.0]);
        let left = cross(up, self.heading);
        let turned = add(self.heading, scale(left, self.turn * STEP_SECONDS));
        let moved = add(self.position, scale(self.heading, self.speed * STEP_SECONDS));
        self.bounce(random);
        let up = normalized(moved, up);
        self.position = scale(up, RADIUS_METRES + self.height + self.lift);
        self.heading = normalized(across(turned, up), self.heading);
    }

    /// A damped spring that the road shakes.
    fn bounce(&mut self, random: &mut Random) {
        let push = -40.0 * self.lift - 3.0 * self.lift_speed;
        self.lift_speed += push * STEP_SECONDS + self.kind.bumps * random.unit();
        self.lift += self.lift_speed * STEP_SECONDS;
    }

    /// Upright, looking ahead, leaning into curves.
    fn rotation(&self) -> [f32; 4] {
        let up = normalized(self.position, [0.0, 1.0, 0.0]);
        let left = cross(up, self.heading);
        let lean = self.turn * self.speed / 20.0;
        let top = normalized(add(up, scale(left, lean.clamp(-0.5, 0.5))), up);
        let side = normalized(cross(top, self.heading), left);
        singles(from_axes([side, cross(self.heading, side), self.heading]))
    }
}

impl Source for Planet {
    fn name(&self) -> &str {
        "planet"
    }

    fn classes(&self) -> &[Class] {
        &self.classes
    }

    fn ticks_per_second(&self) -> u32 {
        TICKS_PER_SECOND
    }

    fn play(&mut self, world: &mut World) -> Result<bool, SceneError> {
        for (number, traveller) in self.travellers.iter_mut().enumerate() {
            (0..STEPS_PER_TICK).for_each(|_| traveller.step(&mut self.random));
            let position = traveller.position;
            if self.objects.len() == number {
                let origin = SectorOrigin::default().moved_to(sector(position)).unwrap_or_default();
                let spawn = Spawn { origin, ..Spawn::new(ObjectId(number as u64 + 1), traveller.kind.class) };
                self.objects.push(world.spawn(spawn)?);
            }
            let index = self.objects[number];
            let origin = world.object(index).map(|object| object.origin()).unwrap_or_default();
            if sub(position, origin.metres()).iter().any(|axis| axis.abs() > SECTOR_REACH_METRES) {
                world.rebase(index, origin.moved_to(sector(position)).unwrap_or(origin))?;
            }
            world.set_position(index, position)?;
            world.set_rotation(index, traveller.rotation())?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::vector::{dot, length};

    #[test]
    fn everybody_stays_at_their_height_and_upright() {
        let mut planet = Planet::new(3);
        for _ in 0..2_000 {
            planet.travellers.iter_mut().for_each(|traveller| traveller.step(&mut planet.random));
        }
        for traveller in &planet.travellers {
            let height = length(traveller.position) - RADIUS_METRES;
            assert!((height - traveller.height).abs() < 2.0, "{height} instead of {}", traveller.height);
            let up = normalized(traveller.position, [0.0; 3]);
            assert!(dot(up, traveller.heading).abs() < 1e-6);
            assert!((length(traveller.heading) - 1.0).abs() < 1e-9);
        }
    }
}
