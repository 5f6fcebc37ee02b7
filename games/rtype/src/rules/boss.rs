//! Bosses: what they do, mood by mood.
//!
//! Each attack is announced by a mood of its own, in which the boss holds still or lines up and does nothing
//! else: whoever watches has a second to get out of the way. Below half of its health a boss calls for help as well.
//!
//! ```text
//!   Warden      arrives → volleys → gathers → fans → (below half: calls) → volleys …
//!   Leviathan   arrives → spiral → lines up → charges → returns → (below half: calls) → spiral …
//! ```

use super::enemy::Enemy;
use super::kinds::{EnemyKind, ShotKind};
use super::math::{LEFTWARDS, aim, towards};
use super::{HEIGHT, State};

/// On its way in.
pub const MOOD_ARRIVES: i32 = 0;
/// The attack between the others: volleys of the warden, a spiral of the leviathan.
pub const MOOD_STEADY: i32 = 1;
/// About to do its worst.
pub const MOOD_GATHERS: i32 = 2;
/// Doing it: fans of the warden, the charge of the leviathan.
pub const MOOD_WORST: i32 = 3;
/// The leviathan on its way back.
pub const MOOD_RETURNS: i32 = 4;
/// Calling for help.
pub const MOOD_CALLS: i32 = 5;

const REST_X: i32 = 1_360;
const STEADY_STEPS: i32 = 300;
const GATHER_STEPS: i32 = 60;
const CALL_STEPS: i32 = 60;
const EDGE_Y: i32 = 230;

const WARDEN_VOLLEY_STEPS: i32 = 48;
const WARDEN_FANS: i32 = 3;
const WARDEN_FAN_STEPS: i32 = 34;
const WARDEN_FAN_HALF: i32 = 5;

const SPIRAL_STEPS: i32 = 7;
const SPIRAL_TURN: i32 = 3;
const CHARGE_SPEED: i32 = 16;
const CHARGE_END_X: i32 = 260;
const RETURN_SPEED: i32 = 7;
const RING: i32 = 16;

const PELLET_SPEED: i32 = 7;
const ORB_SPEED: i32 = 5;

/// A step of the warden's mind. It sweeps up and down in front of the ships.
pub(super) fn warden(state: &mut State, boss: &mut Enemy) {
    match boss.mood {
        MOOD_ARRIVES => arrive(boss, 3),
        MOOD_STEADY => {
            sweep(boss);
            if boss.timer % WARDEN_VOLLEY_STEPS == 0 {
                aimed_volley(state, boss);
            }
            if boss.timer >= STEADY_STEPS {
                boss.turn_to(MOOD_GATHERS);
                boss.vy = 0;
            }
        }
        MOOD_GATHERS => {
            if boss.timer >= GATHER_STEPS {
                boss.turn_to(MOOD_WORST);
                boss.count = 0;
            }
        }
        MOOD_WORST => {
            if boss.timer % WARDEN_FAN_STEPS == 0 {
                // Every other fan aims at the gaps of the one before.
                let half = WARDEN_FAN_HALF - (boss.count & 1);
                for turn in -half..=half {
                    let (vx, vy) = towards(LEFTWARDS + turn, PELLET_SPEED);
                    let y = boss.y + 8 * (boss.count & 1) * turn;
                    state.add_enemy_shot(ShotKind::Pellet, boss.x - 90, y, vx, vy);
                }
                boss.count += 1;
            }
            if boss.count >= WARDEN_FANS {
                go_on(boss, 3);
            }
        }
        _ => call(state, boss, EnemyKind::Hunter, 3),
    }
}

/// A step of the leviathan's mind. It fills the field with slow orbs, then goes across it.
pub(super) fn leviathan(state: &mut State, boss: &mut Enemy) {
    match boss.mood {
        MOOD_ARRIVES => arrive(boss, 2),
        MOOD_STEADY => {
            sweep(boss);
            if boss.timer % SPIRAL_STEPS == 0 {
                let (vx, vy) = towards(boss.count, ORB_SPEED);
                state.add_enemy_shot(ShotKind::Orb, boss.x, boss.y, vx, vy);
                boss.count = (boss.count + SPIRAL_TURN) & 31;
            }
            if boss.timer >= STEADY_STEPS {
                boss.turn_to(MOOD_GATHERS);
                boss.vy = line_up(state, boss);
            }
        }
        MOOD_GATHERS => {
            if boss.timer == GATHER_STEPS / 2 {
                boss.vy = 0;
            }
            if boss.timer >= GATHER_STEPS {
                boss.turn_to(MOOD_WORST);
                boss.vx = -CHARGE_SPEED;
            }
        }
        MOOD_WORST => {
            if boss.x <= CHARGE_END_X {
                boss.turn_to(MOOD_RETURNS);
                boss.vx = RETURN_SPEED;
                for turn in 0..RING {
                    let (vx, vy) = towards(2 * turn, ORB_SPEED);
                    state.add_enemy_shot(ShotKind::Orb, boss.x, boss.y, vx, vy);
                }
            }
        }
        MOOD_RETURNS => {
            if boss.x >= REST_X {
                boss.vx = 0;
                go_on(boss, 2);
            }
        }
        _ => call(state, boss, EnemyKind::Dasher, 3),
    }
}

fn arrive(boss: &mut Enemy, sweep_speed: i32) {
    if boss.x <= REST_X {
        boss.vx = 0;
        boss.vy = sweep_speed;
        boss.turn_to(MOOD_STEADY);
    }
}

fn sweep(boss: &mut Enemy) {
    if boss.y <= EDGE_Y {
        boss.vy = boss.vy.abs();
    } else if boss.y >= HEIGHT - EDGE_Y {
        boss.vy = -boss.vy.abs();
    }
}

/// After the worst: help when it is in need, else from the beginning.
fn go_on(boss: &mut Enemy, sweep_speed: i32) {
    if boss.health * 2 < boss.health_max {
        boss.turn_to(MOOD_CALLS);
        boss.vy = 0;
    } else {
        boss.turn_to(MOOD_STEADY);
        boss.vy = sweep_speed;
    }
}

fn call(state: &mut State, boss: &mut Enemy, kind: EnemyKind, sweep_speed: i32) {
    if boss.timer == CALL_STEPS / 2 {
        for aside in -1..=1 {
            state.add_enemy(kind, boss.x + 60, boss.y + 160 * aside);
        }
    }
    if boss.timer >= CALL_STEPS {
        boss.turn_to(MOOD_STEADY);
        boss.vy = sweep_speed;
    }
}

fn aimed_volley(state: &mut State, boss: &Enemy) {
    let Some((x, y)) = state.nearest_ship(boss.x, boss.y) else { return };
    let (vx, vy) = aim(x - boss.x, y - boss.y, PELLET_SPEED);
    for aside in -1..=1 {
        state.add_enemy_shot(ShotKind::Pellet, boss.x - 90, boss.y + 40 * aside, vx, vy + aside);
    }
}

/// The speed that brings it in front of the nearest ship by the middle of its gathering.
fn line_up(state: &State, boss: &Enemy) -> i32 {
    match state.nearest_ship(boss.x, boss.y) {
        Some((_, y)) => ((y - boss.y) / (GATHER_STEPS / 2)).clamp(-12, 12),
        None => 0,
    }
}
