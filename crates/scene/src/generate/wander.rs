//! Objects that wander through space without a rest.
//!
//! Others publish what their libraries need for 500 of these, so here they are: everyone flies at up to 3 m/s and looks where it
//! flies, pulled by a force towards some direction of its own, which changes now and then. Who is more than 5 m from the middle is
//! pulled back to it. It is smooth motion that never ends in a straight line: position and rotation of all change at every tick.

use netloom_replica::world::{ObjectIndex, Spawn, World};
use netloom_replica::{Class, ClassId};
use netloom_wire::ObjectId;

use super::moving;
use super::random::Random;
use super::vector::{
    Quaternion, UPRIGHT, Vector, add, cross, from_axes, length, normalized, scale, singles, sub,
};
use crate::{SceneError, Source};

/// Of the usual scene.
pub const WANDERERS: usize = 500;
const TICKS_PER_SECOND: u32 = 20;
const TICK_SECONDS: f64 = 1.0 / TICKS_PER_SECOND as f64;
/// How far from the middle everybody feels free.
const RADIUS_METRES: f64 = 5.0;
/// Metres a second.
const SPEED_MAX: f64 = 3.0;
/// Metres a second, each second.
const PULL: f64 = 1.0;
/// In a tick, somebody wants to go elsewhere.
const TURN_CHANCE: f64 = 0.05;
const UP: Vector = [0.0, 1.0, 0.0];
const AHEAD: Vector = [0.0, 0.0, 1.0];

#[derive(Clone, Debug)]
struct Wanderer {
    at: Vector,
    velocity: Vector,
    /// A unit vector.
    wanted: Vector,
}

impl Wanderer {
    fn step(&mut self, random: &mut Random) {
        if length(self.at) > RADIUS_METRES {
            self.wanted = normalized(scale(self.at, -1.0), UP);
        } else if random.chance(TURN_CHANCE) {
            self.wanted = direction(random);
        }
        // Towards what is wanted at full speed, as far as the pull goes in a tick.
        let change = sub(scale(self.wanted, SPEED_MAX), self.velocity);
        let most = (PULL * TICK_SECONDS / length(change).max(1e-9)).min(1.0);
        self.velocity = add(self.velocity, scale(change, most));
        self.at = add(self.at, scale(self.velocity, TICK_SECONDS));
    }

    fn rotation(&self) -> Quaternion {
        let ahead = normalized(self.velocity, AHEAD);
        let right = cross(UP, ahead);
        if length(right) < 1e-6 {
            return UPRIGHT;
        }
        let right = normalized(right, AHEAD);
        from_axes([right, cross(ahead, right), ahead])
    }
}

/// The scene.
#[derive(Clone, Debug)]
pub struct Wander {
    classes: Vec<Class>,
    random: Random,
    wanderers: Vec<Wanderer>,
    objects: Vec<ObjectIndex>,
}

impl Wander {
    /// The usual number of wanderers.
    pub fn new(seed: u64) -> Wander {
        let mut random = Random::new(seed);
        let wanderers = (0..WANDERERS).map(|_| Wanderer {
            at: scale(random.triple(), RADIUS_METRES),
            velocity: direction(&mut random),
            wanted: direction(&mut random),
        });
        let wanderers = wanderers.collect();
        let classes = vec![moving("wanderer", |builder| builder)];
        Wander { classes, random, wanderers, objects: Vec::new() }
    }
}

impl Source for Wander {
    fn name(&self) -> &str {
        "wander"
    }

    fn classes(&self) -> &[Class] {
        &self.classes
    }

    fn ticks_per_second(&self) -> u32 {
        TICKS_PER_SECOND
    }

    fn play(&mut self, world: &mut World) -> Result<bool, SceneError> {
        for (number, wanderer) in self.wanderers.iter_mut().enumerate() {
            wanderer.step(&mut self.random);
            if self.objects.len() == number {
                self.objects.push(world.spawn(Spawn::new(ObjectId(number as u64 + 1), ClassId(0)))?);
            }
            world.set_position(self.objects[number], wanderer.at)?;
            world.set_rotation(self.objects[number], singles(wanderer.rotation()))?;
        }
        Ok(true)
    }
}

fn direction(random: &mut Random) -> Vector {
    normalized(random.triple(), UP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::vector::dot;

    #[test]
    fn everybody_moves_stays_near_and_looks_ahead() {
        let mut wander = Wander::new(1);
        let Wander { wanderers, random, .. } = &mut wander;
        for _ in 0..600 {
            for wanderer in wanderers.iter_mut() {
                let before = wanderer.at;
                wanderer.step(random);
                assert_ne!(wanderer.at, before);
            }
        }
        for wanderer in wanderers {
            assert!(length(wanderer.at) < 3.0 * RADIUS_METRES, "{:?}", wanderer.at);
            assert!(length(wanderer.velocity) <= SPEED_MAX * 1.001);
            let [_, _, ahead] = crate::generate::vector::axes(wanderer.rotation());
            let along = dot(ahead, normalized(wanderer.velocity, AHEAD));
            assert!(along > 0.999, "{ahead:?} along {:?}", wanderer.velocity);
        }
    }
}
