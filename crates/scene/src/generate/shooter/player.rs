//! One who runs, jumps, strafes and aims.

use super::super::random::Random;
use super::super::vector::{Quaternion, Vector, add, dot, facing, length, normalized, scale, sub};
use super::projectile::{Kind, Projectile};
use super::{ARENA_METRES, GRAVITY, STEP_SECONDS};

const RUN_SPEED: f64 = 8.0;
/// Metres a second, each second: on the ground, and in the air.
const GRIP: f64 = 70.0;
const AIR_GRIP: f64 = 12.0;
const JUMP_SPEED: f64 = 6.5;
/// Radians a second: following somebody, and turning to somebody else.
const FOLLOW_SPEED: f64 = 3.0;
const FLICK_SPEED: f64 = 14.0;
const EYE: Vector = [0.0, 1.6, 0.0];
const FALL_SECONDS: f64 = 1.5;

/// A player.
#[derive(Clone, Debug)]
pub struct Player {
    pub at: Vector,
    velocity: Vector,
    /// Where it looks: a unit vector.
    pub aim: Vector,
    pub health: i32,
    pub weapon: i32,
    target: usize,
    /// Which keys are held: forward and to the side, -1 to 1.
    keys: [f64; 2],
    keys_seconds: f64,
    jump_seconds: f64,
    target_seconds: f64,
    shot_seconds: f64,
    /// Lies on the ground for so long.
    fallen_seconds: f64,
    has_respawned: bool,
}

impl Player {
    pub fn new(at: Vector, random: &mut Random) -> Player {
        Player {
            at,
            velocity: [0.0; 3],
            aim: normalized([random.unit(), 0.0, random.unit()], [0.0, 0.0, 1.0]),
            health: 100,
            weapon: random.below(8) as i32,
            target: 0,
            keys: [1.0, 0.0],
            keys_seconds: 0.0,
            jump_seconds: random.between(0.0, 2.0),
            target_seconds: 0.0,
            shot_seconds: random.between(0.0, 1.0),
            fallen_seconds: 0.0,
            has_respawned: false,
        }
    }

    /// A step of player `number`; what it shot, if it did.
    pub fn step(&mut self, number: usize, places: &[Vector], random: &mut Random) -> Option<Projectile> {
        if self.health == 0 {
            self.lie(random);
            return None;
        }
        self.choose(number, places, random);
        self.turn(places[self.target]);
        self.run();
        self.shot_seconds -= STEP_SECONDS;
        if self.shot_seconds > 0.0 {
            return None;
        }
        self.shot_seconds = random.between(0.2, 0.7);
        let kind = if self.weapon < 4 { Kind::Rocket } else { Kind::Grenade };
        Some(Projectile::new(kind, number, add(self.at, EYE), self.aim, random))
    }

    /// Somebody hit it.
    pub fn hurt(&mut self, random: &mut Random) {
        if self.health > 0 {
            self.health = (self.health - 20 - random.below(30) as i32).max(0);
            self.fallen_seconds = FALL_SECONDS;
        }
    }

    /// Whether it came back somewhere else since the last question.
    pub fn take_respawned(&mut self) -> bool {
        std::mem::take(&mut self.has_respawned)
    }

    pub fn rotation(&self) -> Quaternion {
        let [x, _, z] = normalized([self.aim[0], 0.0, self.aim[2]], [0.0, 0.0, 1.0]);
        facing([x, z])
    }

    fn lie(&mut self, random: &mut Random) {
        self.fallen_seconds -= STEP_SECONDS;
        if self.fallen_seconds < 0.0 {
            let [x, _, z] = scale(random.triple(), ARENA_METRES - 2.0);
            (self.at, self.velocity) = ([x, 0.0, z], [0.0; 3]);
            (self.health, self.weapon) = (100, random.below(8) as i32);
            self.has_respawned = true;
        }
    }

    /// New keys, another target, a jump: each after a while.
    fn choose(&mut self, number: usize, places: &[Vector], random: &mut Random) {
        self.keys_seconds -= STEP_SECONDS;
        if self.keys_seconds < 0.0 {
            self.keys_seconds = random.between(0.15, 0.9);
            self.keys = [random.below(3) as f64 - 1.0, random.below(3) as f64 - 1.0];
        }
        self.target_seconds -= STEP_SECONDS;
        if self.target_seconds < 0.0 || self.target == number {
            self.target_seconds = random.between(0.8, 3.0);
            self.target = random.below(places.len());
        }
        self.jump_seconds -= STEP_SECONDS;
        if self.jump_seconds < 0.0 && self.at[1] <= 0.0 {
            self.jump_seconds = random.between(0.4, 2.5);
            self.velocity[1] = JUMP_SPEED;
        }
    }

    /// Towards the target: fast if it is far from the aim, and no faster than a hand is.
    fn turn(&mut self, target: Vector) {
        let wanted = normalized(sub(target, self.at), self.aim);
        let is_far = dot(wanted, self.aim) < 0.9;
        let most = STEP_SECONDS * if is_far { FLICK_SPEED } else { FOLLOW_SPEED };
        let way = sub(wanted, self.aim);
        let distance = length(way);
        let step = if distance > most { scale(way, most / distance) } else { way };
        self.aim = normalized(add(self.aim, step), wanted);
    }

    fn run(&mut self) {
        let forward = normalized([self.aim[0], 0.0, self.aim[2]], [0.0, 0.0, 1.0]);
        let side = [forward[2], 0.0, -forward[0]];
        let keys = add(scale(forward, self.keys[0]), scale(side, self.keys[1]));
        let wanted = scale(normalized(keys, [0.0; 3]), RUN_SPEED);
        let is_on_ground = self.at[1] <= 0.0 && self.velocity[1] <= 0.0;
        let most = STEP_SECONDS * if is_on_ground { GRIP } else { AIR_GRIP };
        let [x, _, z] = sub(wanted, self.velocity);
        let lacking = length([x, 0.0, z]);
        let share = if lacking > most { most / lacking } else { 1.0 };
        self.velocity = add(self.velocity, [x * share, 0.0, z * share]);
        if !is_on_ground {
            self.velocity[1] -= GRAVITY * STEP_SECONDS;
        }
        self.at = add(self.at, scale(self.velocity, STEP_SECONDS));
        for axis in [0, 2] {
            self.at[axis] = self.at[axis].clamp(-ARENA_METRES, ARENA_METRES);
        }
        if self.at[1] < 0.0 {
            (self.at[1], self.velocity[1]) = (0.0, 0.0);
        }
    }
}
