//! Shots, capsules and debris: what flies by itself.

use super::kinds::{Power, ShotKind};
use super::math::aim;
use super::weapons::SEEKER_SPEED;
use super::{HEIGHT, NO_SEAT, State, WIDTH};

/// How far beyond the edges a shot goes before it is gone.
const SHOT_MARGIN: i32 = 40;
/// Steps between turns of a seeker.
const SEEKER_TURN_STEPS: i32 = 10;
/// Steps until the shot of an enemy fades.
pub(super) const ENEMY_SHOT_LIFE_STEPS: i32 = 400;

/// A shot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shot {
    /// Its number: never given again in a game.
    pub id: u32,
    /// What it is.
    pub kind: ShotKind,
    /// Whose, or [`NO_SEAT`].
    pub seat: u8,
    /// Its centre, in units from the left.
    pub x: i32,
    /// Its centre, in units from the top.
    pub y: i32,
    /// Units of a step to the right.
    pub vx: i32,
    /// Units of a step downwards.
    pub vy: i32,
    /// What it takes of an enemy.
    pub damage: i32,
    /// Steps until it fades; 0: it is gone by the end of the step.
    pub life: i32,
    /// The enemy that it went through last, 0 for none.
    pub struck: u32,
}

impl Shot {
    /// Half of its width and of its height.
    pub fn half(&self) -> (i32, i32) {
        match self.kind {
            ShotKind::Bolt => (12, 5),
            ShotKind::Lance => (30, 6),
            ShotKind::Seeker => (10, 8),
            ShotKind::Pellet => (6, 6),
            ShotKind::Orb => (10, 10),
        }
    }
}

/// A capsule with powers to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capsule {
    /// Its number: never given again in a game.
    pub id: u32,
    /// Its centre, in units from the left.
    pub x: i32,
    /// Its centre, in units from the top.
    pub y: i32,
    /// Units of a step to the right.
    pub vx: i32,
    /// The first of the powers that it offers.
    pub power: Power,
}

/// Half the width and height of a capsule: more than is seen, since ships want to touch it.
pub const CAPSULE_HALF: i32 = 34;

/// Something in the way: it takes shots, stops beams, and costs a ship that touches it a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Debris {
    /// Its number: never given again in a game.
    pub id: u32,
    /// Its centre, in units from the left.
    pub x: i32,
    /// Its centre, in units from the top.
    pub y: i32,
    /// Units of a step to the right.
    pub vx: i32,
    /// Units of a step downwards.
    pub vy: i32,
    /// Half its width and height, in tens of units.
    pub size: i32,
}

impl Debris {
    /// Half of what can be hit: a little less than is seen, since it is round.
    pub fn half(&self) -> i32 {
        self.size * 9
    }
}

impl State {
    /// Moves every shot; those that leave the field or fade are gone.
    pub(super) fn step_shots(&mut self) {
        for index in 0..self.shots.len() {
            let mut shot = self.shots[index];
            if shot.kind == ShotKind::Seeker && shot.life % SEEKER_TURN_STEPS == 0 {
                self.seek(&mut shot);
            }
            shot.x += shot.vx;
            shot.y += shot.vy;
            shot.life -= 1;
            let inside = shot.x >= -SHOT_MARGIN
                && shot.x <= WIDTH + SHOT_MARGIN
                && shot.y >= -SHOT_MARGIN
                && shot.y <= HEIGHT + SHOT_MARGIN;
            if !inside {
                shot.life = 0;
            }
            self.shots[index] = shot;
        }
        self.shots.retain(|shot| shot.life > 0);
    }

    /// Turns a seeker to the nearest enemy ahead of it; without one it goes on.
    fn seek(&self, shot: &mut Shot) {
        let mut distance_min = i32::MAX;
        for enemy in &self.enemies {
            let (dx, dy) = (enemy.x - shot.x, enemy.y - shot.y);
            let distance = dx.abs() + 2 * dy.abs();
            if dx > -60 && enemy.x < WIDTH + SHOT_MARGIN && distance < distance_min {
                distance_min = distance;
                let (vx, vy) = aim(dx, dy, SEEKER_SPEED);
                shot.vx = vx;
                shot.vy = vy;
            }
        }
    }

    /// Moves capsules and debris. Capsules leave to the left, debris on every side but the right, where it comes from.
    pub(super) fn step_drift(&mut self) {
        for capsule in &mut self.capsules {
            capsule.x += capsule.vx;
        }
        self.capsules.retain(|capsule| capsule.x >= -CAPSULE_HALF);
        for debris in &mut self.debris {
            debris.x += debris.vx;
            debris.y += debris.vy;
        }
        self.debris.retain(|debris| {
            let half = debris.size * 10;
            debris.x >= -half && debris.y >= -half && debris.y <= HEIGHT + half
        });
    }

    /// Whether a shot is an enemy's.
    pub(super) fn is_enemys(shot: &Shot) -> bool {
        shot.seat == NO_SEAT
    }
}
