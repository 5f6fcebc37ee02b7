//! Bots: what a ship without a pilot presses.
//!
//! A bot sees what a player sees, and has the same buttons. Of the nine ways that a ship can go it takes the one that
//! costs the least: first by what it would run into within half a second if everything flew on as it does, then by
//! how far it gets from where it would like to be, which is in front of something to shoot at.

use super::boss::MOOD_GATHERS;
use super::collide::beam_crosses;
use super::enemy::{is_boss, traits};
use super::kinds::{EnemyKind, Weapon, buttons};
use super::math::divide_rounded;
use super::offers::ALL_WEAPONS;
use super::ship::{
    NOSE, SHIP_EDGE_X, SHIP_EDGE_Y, SHIP_HALF_HEIGHT, SHIP_HALF_WIDTH, SHIP_SPEED, Ship, THRUSTERS_MAX,
    speed_of, start_of, way,
};
use super::{BEAM_ENERGY, HEIGHT, Power, State, WIDTH};

/// The nine ways: those that hold still come first, so that nothing flutters without a reason.
const WAYS: [u8; 9] = [
    0,
    buttons::UP,
    buttons::DOWN,
    buttons::LEFT,
    buttons::RIGHT,
    buttons::UP | buttons::LEFT,
    buttons::UP | buttons::RIGHT,
    buttons::DOWN | buttons::LEFT,
    buttons::DOWN | buttons::RIGHT,
];
/// Steps ahead at which it looks.
const LOOKS_STEPS: [i32; 6] = [3, 7, 12, 18, 25, 33];
const LOOK_STEPS_MAX: i32 = 33;
/// Units of a step of the fastest ship.
const SPEED_MAX: i32 = SHIP_SPEED + THRUSTERS_MAX;
/// How wide a berth it gives.
const BERTH: i32 = 14;
/// What running into something costs when it is immediate, in units of way.
const FEAR: i32 = 24_000;
/// How far it looks for trouble.
const SIGHT: i32 = 640;
/// Shots below which it fires only at what is right ahead.
const AMMO_SPARED: i32 = 18;
/// How far it goes for a capsule: not so far that players never get one.
const CAPSULE_REACH: i32 = 360;
/// Steps ahead at which it compares where it gets.
const COMPARED_STEPS: i32 = 10;

/// What the ship of a seat presses; nothing if there is none, or it does not fly.
pub fn buttons(state: &State, seat: usize) -> u8 {
    let Some(ship) = state.ships.get(seat).and_then(Option::as_ref) else { return 0 };
    if !ship.flies() {
        return 0;
    }
    let (wanted_x, wanted_y) = wanted(state, ship);
    let outlook = Outlook::new(state, ship);
    let mut best = 0;
    let mut cost_min = i32::MAX;
    for (index, &pressed) in WAYS.iter().enumerate() {
        let (x, y) = after(ship, pressed, COMPARED_STEPS);
        let cost = outlook.costs[index] + (x - wanted_x).abs() + 2 * (y - wanted_y).abs();
        if cost < cost_min {
            cost_min = cost;
            best = pressed;
        }
    }
    if shoots(state, ship) {
        best |= buttons::SHOOT;
    }
    if beams(state, ship) {
        best |= buttons::BEAM;
    }
    best
}

/// Answers what the ship of a seat was offered: the drone if it has none, else the shield if that is worn, else thrusters; and
/// the weapon of its seat, so that each bot fights in its own way.
pub fn choose(state: &mut State, seat: usize) {
    let Some(ship) = state.ships.get(seat).and_then(Option::as_ref) else { return };
    let power = ship.offers.power;
    let weapon = ship.offers.weapon;
    let wanted = if !ship.pilotage.drone {
        Power::Drone
    } else if ship.shield < 2 {
        Power::Shield
    } else {
        Power::Thrusters
    };
    if let Some(offer) = power {
        let choice = offer.choices.iter().position(|&power| power == wanted).unwrap_or(0);
        // It was open a moment ago, and the choice is in it.
        let _ = state.choose_power(seat, offer.id, choice as u8);
    }
    if let Some(offer) = weapon {
        let favourite = ALL_WEAPONS[seat];
        let choice = offer.choices.iter().position(|&weapon| weapon == favourite).unwrap_or(0);
        let _ = state.choose_weapon(seat, offer.id, choice as u8);
    }
}

/// Where a ship is after some steps of the same buttons.
fn after(ship: &Ship, pressed: u8, steps: i32) -> (i32, i32) {
    let (right, down) = way(pressed);
    let speed = speed_of(ship.pilotage.thrusters, right != 0 && down != 0);
    (
        (ship.pilotage.x + right * speed * steps).clamp(SHIP_EDGE_X, WIDTH - SHIP_EDGE_X),
        (ship.pilotage.y + down * speed * steps).clamp(SHIP_EDGE_Y, HEIGHT - SHIP_EDGE_Y),
    )
}

/// Where it would like to be.
fn wanted(state: &State, ship: &Ship) -> (i32, i32) {
    let seat = i32::from(ship.pilotage.seat);
    let (x, y) = (ship.pilotage.x, ship.pilotage.y);
    if ship.offers.power.is_none() {
        for capsule in &state.capsules {
            if (capsule.x - x).abs() + (capsule.y - y).abs() < CAPSULE_REACH {
                return (capsule.x, capsule.y);
            }
        }
    }
    let (_, lane_y) = start_of(ship.pilotage.seat);
    let home_x = 150 + 60 * seat;
    let mut wanted_y = lane_y;
    let mut worth_min = i32::MAX;
    for enemy in &state.enemies {
        if enemy.x <= x + 80 || enemy.x > WIDTH + 40 {
            continue;
        }
        // Where it will be when a shot gets there; each bot likes what is in its own lane.
        let flight = (enemy.x - x) / 24;
        let enemy_y = (enemy.y + enemy.vy * flight).clamp(SHIP_EDGE_Y, HEIGHT - SHIP_EDGE_Y);
        let worth = (enemy_y - y).abs() + (enemy_y - lane_y).abs() / 2 + (enemy.x - x) / 3;
        if worth < worth_min {
            worth_min = worth;
            wanted_y = enemy_y;
            if is_boss(enemy.kind) {
                // Not all in one place in front of it.
                wanted_y = enemy_y - 60 + 40 * seat;
            }
        }
    }
    (home_x, wanted_y)
}

/// Where each way leads, and what it would run into within half a second: the sooner, the dearer.
struct Outlook {
    places: [[(i32, i32); LOOKS_STEPS.len()]; WAYS.len()],
    costs: [i32; WAYS.len()],
}

impl Outlook {
    fn new(state: &State, ship: &Ship) -> Outlook {
        let mut outlook =
            Outlook { places: [[(0, 0); LOOKS_STEPS.len()]; WAYS.len()], costs: [0; WAYS.len()] };
        for (way, &pressed) in WAYS.iter().enumerate() {
            for (look, &steps) in LOOKS_STEPS.iter().enumerate() {
                outlook.places[way][look] = after(ship, pressed, steps);
            }
        }
        for shot in &state.shots {
            if State::is_enemys(shot) {
                outlook.fear(ship, (shot.x, shot.y), (shot.vx, shot.vy), shot.half());
            }
        }
        for enemy in &state.enemies {
            let of = traits(enemy.kind);
            outlook.fear(ship, (enemy.x, enemy.y), (enemy.vx, enemy.vy), (of.half_width, of.half_height));
            if enemy.kind == EnemyKind::Leviathan && enemy.mood == MOOD_GATHERS {
                outlook.clear_the_way(ship, enemy.y + 15 * enemy.vy, of.half_height);
            }
        }
        for debris in &state.debris {
            let half = debris.half();
            outlook.fear(ship, (debris.x, debris.y), (debris.vx, debris.vy), (half, half));
        }
        outlook
    }

    fn fear(&mut self, ship: &Ship, at: (i32, i32), velocity: (i32, i32), half: (i32, i32)) {
        let half_width = half.0 + SHIP_HALF_WIDTH + BERTH + velocity.0.abs() * 2;
        let half_height = half.1 + SHIP_HALF_HEIGHT + BERTH;
        let distance = (at.0 - ship.pilotage.x).abs();
        // The second is only to save time: it cannot get there while it is looked at.
        if distance > SIGHT + half.0
            || distance > half_width + LOOK_STEPS_MAX * (velocity.0.abs() + SPEED_MAX)
        {
            return;
        }
        for (way, places) in self.places.iter().enumerate() {
            for (look, &(x, y)) in places.iter().enumerate() {
                let steps = LOOKS_STEPS[look];
                let dx = (at.0 + velocity.0 * steps - x).abs();
                let dy = (at.1 + velocity.1 * steps - y).abs();
                if dx < half_width && dy < half_height {
                    self.costs[way] += divide_rounded(FEAR, steps + 4);
                    break;
                }
            }
        }
    }

    /// What is about to come across the field is a danger all along its height.
    fn clear_the_way(&mut self, ship: &Ship, charge_y: i32, half_height: i32) {
        for (way, &pressed) in WAYS.iter().enumerate() {
            let (_, y) = after(ship, pressed, COMPARED_STEPS);
            self.costs[way] += (2 * half_height - (charge_y - y).abs()).max(0) * 20;
        }
    }
}

fn shoots(state: &State, ship: &Ship) -> bool {
    let pilotage = &ship.pilotage;
    let wide = pilotage.weapon == Weapon::Spread || pilotage.weapon == Weapon::Seeker;
    for enemy in &state.enemies {
        let ahead = enemy.x - pilotage.x;
        if ahead < 0 || enemy.x > WIDTH {
            continue;
        }
        let mut reach = traits(enemy.kind).half_height + 8;
        if pilotage.ammo >= AMMO_SPARED {
            reach += if wide { ahead / 3 + 30 } else { 30 };
        }
        let enemy_y = enemy.y + enemy.vy * (ahead / 24);
        if (enemy_y - pilotage.y).abs() <= reach {
            return true;
        }
    }
    false
}

/// Worth it for two at a time, or for one that takes many shots.
fn beams(state: &State, ship: &Ship) -> bool {
    let pilotage = &ship.pilotage;
    if pilotage.energy < i32::from(BEAM_ENERGY) {
        return false;
    }
    let (from, y) = (pilotage.x + NOSE, pilotage.y);
    let to = state.beam_end(from, y);
    let mut targets = 0;
    for enemy in &state.enemies {
        if beam_crosses(from, to, y, enemy.kind, enemy.x, enemy.y) {
            targets += if enemy.health > 20 { 2 } else { 1 };
        }
    }
    targets >= 2
}
