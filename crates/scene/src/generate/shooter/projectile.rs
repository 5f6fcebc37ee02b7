//! What is shot: rockets that fly straight, grenades that bounce and spin.

use super::super::random::Random;
use super::super::vector::{Quaternion, Vector, add, cross, from_axes, length, normalized, scale, spun, sub};
use super::{ARENA_METRES, GRAVITY, STEP_SECONDS};

const ROCKET_SPEED: f64 = 30.0;
const GRENADE_SPEED: f64 = 16.0;
const ROCKET_SECONDS: f64 = 3.0;
const GRENADE_SECONDS: f64 = 2.5;
/// Nearer than this to somebody's middle, it hits.
const HIT_METRES: f64 = 0.9;

/// How it flies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Rocket,
    Grenade,
}

/// Something in flight.
#[derive(Clone, Debug)]
pub struct Projectile {
    kind: Kind,
    shooter: usize,
    pub at: Vector,
    velocity: Vector,
    pub rotation: Quaternion,
    spin: Vector,
    seconds_left: f64,
}

impl Projectile {
    pub fn new(kind: Kind, shooter: usize, at: Vector, aim: Vector, random: &mut Random) -> Projectile {
        let side = normalized(cross([0.0, 1.0, 0.0], aim), [1.0, 0.0, 0.0]);
        let (speed, seconds_left) = match kind {
            Kind::Rocket => (ROCKET_SPEED, ROCKET_SECONDS),
            Kind::Grenade => (GRENADE_SPEED, GRENADE_SECONDS),
        };
        let thrown = scale(aim, speed);
        Projectile {
            kind,
            shooter,
            at: add(at, scale(aim, 0.5)),
            velocity: if kind == Kind::Grenade { add(thrown, [0.0, 3.0, 0.0]) } else { thrown },
            rotation: from_axes([side, cross(aim, side), aim]),
            spin: if kind == Kind::Grenade { scale(random.triple(), 9.0) } else { [0.0; 3] },
            seconds_left,
        }
    }

    /// A step; who was hit, if anybody.
    pub fn step(&mut self, places: &[Vector]) -> Option<usize> {
        self.seconds_left -= STEP_SECONDS;
        if self.kind == Kind::Grenade {
            self.velocity[1] -= GRAVITY * STEP_SECONDS;
            self.rotation = spun(self.rotation, self.spin, STEP_SECONDS);
        }
        self.at = add(self.at, scale(self.velocity, STEP_SECONDS));
        self.meet_walls();
        let middle = |place: Vector| add(place, [0.0, 0.9, 0.0]);
        let is_hit = |place: Vector| length(sub(middle(place), self.at)) < HIT_METRES;
        let hit = (0..places.len()).find(|player| *player != self.shooter && is_hit(places[*player]));
        if hit.is_some() {
            self.seconds_left = 0.0;
        }
        hit
    }

    pub fn is_over(&self) -> bool {
        self.seconds_left <= 0.0
    }

    fn meet_walls(&mut self) {
        let sides =
            [(0, -ARENA_METRES, ARENA_METRES), (1, 0.1, f64::INFINITY), (2, -ARENA_METRES, ARENA_METRES)];
        for (axis, from, to) in sides {
            let inside = self.at[axis].clamp(from, to);
            if inside == self.at[axis] {
                continue;
            }
            self.at[axis] = inside;
            match self.kind {
                Kind::Rocket => self.seconds_left = 0.0,
                Kind::Grenade => {
                    self.velocity = scale(self.velocity, 0.75);
                    self.velocity[axis] *= -0.6;
                    self.spin = scale(self.spin, 0.7);
                }
            }
        }
    }
}
