//! Enemies: how each kind moves and fires.
//!
//! What flies straight at a constant speed costs next to nothing to send, so velocities change seldom and at once: a weaver flies
//! eight straight pieces a wave, a hunter looks for its prey twice a second.

use super::boss;
use super::kinds::{EnemyKind, ShotKind};
use super::math::aim;
use super::{HEIGHT, State, WIDTH};

/// Steps for which a turret shows that it is about to fire.
const TURRET_WARNING_STEPS: i32 = 24;
/// Where dashers and carriers stop, from the left.
const DASHER_STOP_X: i32 = 1_400;
const CARRIER_STOP_X: i32 = 1_320;
/// Steps for which a dasher shows that it is about to rush.
const DASHER_WAIT_STEPS: i32 = 50;
const DASHER_SPEED: i32 = 15;
/// Steps between looks of a hunter.
const HUNTER_LOOK_STEPS: i32 = 30;
/// Drones of a carrier, and steps between them.
const CARRIER_DRONES: i32 = 6;
const CARRIER_DRONE_STEPS: i32 = 80;
/// Steps of each straight piece of a weaver's way, and its speed downwards in each.
const WEAVE_STEPS: i32 = 12;
const WEAVE: [i32; 8] = [2, 4, 4, 2, -2, -4, -4, -2];
/// Units of a step of an enemy's shot.
const PELLET_SPEED: i32 = 7;

/// Nothing special.
pub const MOOD_CALM: i32 = 0;
/// About to fire, or to rush: ships see it and can get away.
pub const MOOD_WARNING: i32 = 1;
/// Rushing.
pub const MOOD_RUSH: i32 = 2;

/// An enemy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enemy {
    /// Its number: never given again in a game.
    pub id: u32,
    /// What it is.
    pub kind: EnemyKind,
    /// Its centre, in units from the left.
    pub x: i32,
    /// Its centre, in units from the top.
    pub y: i32,
    /// Units of a step to the right.
    pub vx: i32,
    /// Units of a step downwards.
    pub vy: i32,
    /// What is left of it.
    pub health: i32,
    /// What it began with.
    pub health_max: i32,
    /// What it is about, 0 to 7.
    pub mood: i32,
    /// Steps since it began to be about that.
    pub timer: i32,
    /// Steps between its shots; 0: it has none of its own accord.
    pub fire_every: i32,
    /// Steps until the next.
    pub fire_in: i32,
    /// What it counts: a carrier the drones that it let out, a boss how far its spiral has turned.
    pub count: i32,
    /// Whether it leaves a capsule.
    pub carries: bool,
}

impl Enemy {
    /// What is left of it in percent, at least 1 while it is there.
    pub fn percent(&self) -> i32 {
        (self.health * 100 + self.health_max - 1) / self.health_max
    }

    /// Begins to be about something else.
    pub(super) fn turn_to(&mut self, mood: i32) {
        self.mood = mood;
        self.timer = 0;
    }
}

/// What all enemies of a kind have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Half the width of what can be hit.
    pub half_width: i32,
    /// Half the height of what can be hit.
    pub half_height: i32,
    /// What it begins with; for bosses with one ship in the game.
    pub health: i32,
    /// Points for its end.
    pub points: i32,
    /// Units of a step to the left, unless the level says otherwise.
    pub speed: i32,
    /// Steps between its shots, unless the level says otherwise.
    pub fire_every: i32,
}

/// What all enemies of a kind have in common.
pub fn traits(kind: EnemyKind) -> Traits {
    let of = |half_width, half_height, health, points, speed, fire_every| Traits {
        half_width,
        half_height,
        health,
        points,
        speed,
        fire_every,
    };
    match kind {
        EnemyKind::Drone => of(26, 20, 10, 100, 5, 0),
        EnemyKind::Weaver => of(26, 22, 10, 150, 4, 0),
        EnemyKind::Hunter => of(28, 22, 24, 200, 4, 0),
        EnemyKind::Turret => of(30, 30, 40, 300, 2, 90),
        EnemyKind::Dasher => of(36, 20, 24, 250, 5, 0),
        EnemyKind::Carrier => of(90, 52, 200, 1_000, 3, 0),
        EnemyKind::Warden => of(100, 130, 3_400, 5_000, 4, 0),
        EnemyKind::Leviathan => of(150, 100, 5_000, 10_000, 4, 0),
    }
}

/// Whether a kind is a boss.
pub fn is_boss(kind: EnemyKind) -> bool {
    kind == EnemyKind::Warden || kind == EnemyKind::Leviathan
}

impl State {
    /// Moves every enemy, and lets it act. Those that come in the course of it move from the next step on.
    pub(super) fn step_enemies(&mut self) {
        let count = self.enemies.len();
        for index in 0..count {
            let mut enemy = self.enemies[index];
            enemy.timer += 1;
            match enemy.kind {
                EnemyKind::Drone | EnemyKind::Turret => {}
                EnemyKind::Weaver => enemy.vy = WEAVE[((enemy.timer / WEAVE_STEPS) & 7) as usize],
                EnemyKind::Hunter => self.hunt(&mut enemy),
                EnemyKind::Dasher => self.dash(&mut enemy),
                EnemyKind::Carrier => self.carry(&mut enemy),
                EnemyKind::Warden => boss::warden(self, &mut enemy),
                EnemyKind::Leviathan => boss::leviathan(self, &mut enemy),
            }
            enemy.x += enemy.vx;
            enemy.y += enemy.vy;
            self.fire_at_times(&mut enemy);
            self.enemies[index] = enemy;
        }
    }

    fn hunt(&mut self, enemy: &mut Enemy) {
        if enemy.timer % HUNTER_LOOK_STEPS != 0 {
            return;
        }
        enemy.vy = 0;
        if let Some((x, y)) = self.nearest_ship(enemy.x, enemy.y)
            && x < enemy.x
        {
            let dy = y - enemy.y;
            if dy > 40 {
                enemy.vy = 3;
            } else if dy < -40 {
                enemy.vy = -3;
            }
        }
    }

    fn dash(&mut self, enemy: &mut Enemy) {
        if enemy.mood == MOOD_CALM && enemy.x <= DASHER_STOP_X {
            enemy.turn_to(MOOD_WARNING);
            enemy.vx = 0;
        } else if enemy.mood == MOOD_WARNING && enemy.timer >= DASHER_WAIT_STEPS {
            enemy.turn_to(MOOD_RUSH);
            let (x, y) = self.nearest_ship(enemy.x, enemy.y).unwrap_or((0, enemy.y));
            // Never back to where it came from, however near the prey is.
            let (vx, vy) = aim((x - enemy.x).min(-400), y - enemy.y, DASHER_SPEED);
            enemy.vx = vx;
            enemy.vy = vy;
        }
    }

    fn carry(&mut self, enemy: &mut Enemy) {
        if enemy.mood == MOOD_CALM && enemy.x <= CARRIER_STOP_X && enemy.count < CARRIER_DRONES {
            enemy.turn_to(MOOD_WARNING);
            enemy.vx = 0;
        } else if enemy.mood == MOOD_WARNING && enemy.timer % CARRIER_DRONE_STEPS == 0 {
            let aside = if enemy.count & 1 == 0 { -1 } else { 1 };
            if let Some(drone) = self.add_enemy(EnemyKind::Drone, enemy.x - 60, enemy.y + 30 * aside) {
                drone.vy = aside;
            }
            enemy.count += 1;
            if enemy.count >= CARRIER_DRONES {
                enemy.turn_to(MOOD_CALM);
                enemy.vx = -traits(EnemyKind::Carrier).speed;
            }
        }
    }

    fn fire_at_times(&mut self, enemy: &mut Enemy) {
        let seen = enemy.x >= 0 && enemy.x <= WIDTH && enemy.y >= 0 && enemy.y <= HEIGHT;
        if enemy.fire_every == 0 || !seen {
            return;
        }
        enemy.fire_in -= 1;
        if enemy.kind == EnemyKind::Turret {
            enemy.mood = if enemy.fire_in <= TURRET_WARNING_STEPS { MOOD_WARNING } else { MOOD_CALM };
        }
        if enemy.fire_in <= 0 {
            enemy.fire_in = enemy.fire_every;
            if let Some((x, y)) = self.nearest_ship(enemy.x, enemy.y) {
                let (vx, vy) = aim(x - enemy.x, y - enemy.y, PELLET_SPEED);
                self.add_enemy_shot(ShotKind::Pellet, enemy.x, enemy.y, vx, vy);
            }
        }
    }

    /// The nearest ship that flies, by the sum of both distances, the lower seat first.
    pub(super) fn nearest_ship(&self, x: i32, y: i32) -> Option<(i32, i32)> {
        let mut nearest = None;
        let mut distance_min = i32::MAX;
        for ship in self.ships.iter().flatten() {
            if ship.flies() {
                let distance = (ship.pilotage.x - x).abs() + (ship.pilotage.y - y).abs();
                if distance < distance_min {
                    distance_min = distance;
                    nearest = Some((ship.pilotage.x, ship.pilotage.y));
                }
            }
        }
        nearest
    }
}
