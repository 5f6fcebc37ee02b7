//! Who touches whom, and what comes of it. Boxes: half the width and the height around a centre.

use super::enemy::{is_boss, traits};
use super::event::Event;
use super::kinds::{EnemyKind, Phase, ShotKind};
use super::ship::{DOWN_OUT, DOWN_STEPS, NOSE, SAFE_STEPS_SHIELD, SHIP_HALF_HEIGHT, SHIP_HALF_WIDTH};
use super::shot::{CAPSULE_HALF, Shot};
use super::weapons::BEAM_DAMAGE;
use super::{SEATS, State, WIDTH};

/// What a ship takes of an enemy that it runs into, and that is no boss.
const RAM_DAMAGE: i32 = 40;

/// Whether two boxes meet, by the distance of their centres and the sum of their halves.
fn meet(dx: i32, dy: i32, half_width: i32, half_height: i32) -> bool {
    dx.abs() < half_width && dy.abs() < half_height
}

/// Whether a beam that goes from `from` to `to` at a height of `y` crosses an enemy of that kind there. Whoever judges beams by
/// what a player saw asks this with the places of that time.
pub fn beam_crosses(from: i32, to: i32, y: i32, kind: EnemyKind, enemy_x: i32, enemy_y: i32) -> bool {
    let of = traits(kind);
    (enemy_y - y).abs() <= of.half_height && enemy_x + of.half_width >= from && enemy_x - of.half_width <= to
}

/// Where a beam ends that would go from `from` to `end` at a height of `y`, with debris of that half width there.
pub fn beam_stops(from: i32, end: i32, y: i32, half: i32, debris_x: i32, debris_y: i32) -> i32 {
    let (left, right) = (debris_x - half, debris_x + half);
    if (debris_y - y).abs() <= half && right >= from && left < end { left.max(from) } else { end }
}

impl State {
    /// How far a beam from there gets: to the nearest debris, else to the right edge.
    pub fn beam_end(&self, from: i32, y: i32) -> i32 {
        let mut end = WIDTH;
        for debris in &self.debris {
            end = beam_stops(from, end, y, debris.half(), debris.x, debris.y);
        }
        end
    }

    /// The enemies that a beam of a ship hits where everything is now, in the order of [`State::enemies`].
    pub fn beam_targets(&self, seat: usize) -> Vec<u32> {
        let Some(ship) = self.ships.get(seat).and_then(Option::as_ref) else { return Vec::new() };
        let (from, y) = (ship.pilotage.x + NOSE, ship.pilotage.y);
        let to = self.beam_end(from, y);
        let mut targets = Vec::new();
        for enemy in &self.enemies {
            if beam_crosses(from, to, y, enemy.kind, enemy.x, enemy.y) {
                targets.push(enemy.id);
            }
        }
        targets
    }

    /// A beam of a ship hit an enemy, as whoever judged it found. Returns whether the enemy was there.
    pub fn strike(&mut self, seat: usize, enemy: u32) -> bool {
        let Some(index) = self.enemies.iter().position(|candidate| candidate.id == enemy) else {
            return false;
        };
        self.damage(index, BEAM_DAMAGE, seat);
        self.enemies.retain(|enemy| enemy.health > 0);
        true
    }

    /// Everything that touches in this step. What is hit by two things at once is hit by the older one.
    pub(super) fn collide(&mut self) {
        for index in 0..self.shots.len() {
            let mut shot = self.shots[index];
            if self.hits_debris(&shot) {
                shot.life = 0;
            } else if State::is_enemys(&shot) {
                self.shot_at_ships(&mut shot);
            } else {
                self.shot_at_enemies(&mut shot);
            }
            self.shots[index] = shot;
        }
        self.shots.retain(|shot| shot.life > 0);
        self.enemies.retain(|enemy| enemy.health > 0);
        for seat in 0..SEATS {
            self.ship_at_things(seat);
        }
        self.enemies.retain(|enemy| enemy.health > 0);
    }

    fn hits_debris(&self, shot: &Shot) -> bool {
        let (half_width, half_height) = shot.half();
        for debris in &self.debris {
            let half = debris.half();
            if meet(debris.x - shot.x, debris.y - shot.y, half + half_width, half + half_height) {
                return true;
            }
        }
        false
    }

    fn shot_at_ships(&mut self, shot: &mut Shot) {
        let (half_width, half_height) = shot.half();
        for seat in 0..SEATS {
            let Some(ship) = &self.ships[seat] else { continue };
            let (dx, dy) = (ship.pilotage.x - shot.x, ship.pilotage.y - shot.y);
            if ship.flies() && meet(dx, dy, SHIP_HALF_WIDTH + half_width, SHIP_HALF_HEIGHT + half_height) {
                shot.life = 0;
                self.hit_ship(seat);
                return;
            }
        }
    }

    fn shot_at_enemies(&mut self, shot: &mut Shot) {
        let (half_width, half_height) = shot.half();
        for index in 0..self.enemies.len() {
            let enemy = self.enemies[index];
            let of = traits(enemy.kind);
            if enemy.health <= 0
                || enemy.id == shot.struck
                || !meet(
                    enemy.x - shot.x,
                    enemy.y - shot.y,
                    of.half_width + half_width,
                    of.half_height + half_height,
                )
            {
                continue;
            }
            self.damage(index, shot.damage, usize::from(shot.seat));
            if shot.kind == ShotKind::Lance {
                shot.struck = enemy.id;
            } else {
                shot.life = 0;
                return;
            }
        }
    }

    fn ship_at_things(&mut self, seat: usize) {
        let Some(ship) = &self.ships[seat] else { return };
        if !ship.flies() {
            return;
        }
        let (x, y) = (ship.pilotage.x, ship.pilotage.y);
        let may_take = ship.offers.power.is_none();
        for index in 0..self.enemies.len() {
            let enemy = self.enemies[index];
            let of = traits(enemy.kind);
            let touch = meet(
                enemy.x - x,
                enemy.y - y,
                of.half_width + SHIP_HALF_WIDTH,
                of.half_height + SHIP_HALF_HEIGHT,
            );
            if touch && self.hit_ship(seat) && !is_boss(enemy.kind) {
                self.damage(index, RAM_DAMAGE, seat);
            }
        }
        for index in 0..self.debris.len() {
            let half = self.debris[index].half();
            let (dx, dy) = (self.debris[index].x - x, self.debris[index].y - y);
            if meet(dx, dy, half + SHIP_HALF_WIDTH, half + SHIP_HALF_HEIGHT) {
                self.hit_ship(seat);
            }
        }
        if may_take {
            self.take_capsule(seat, x, y);
        }
    }

    fn take_capsule(&mut self, seat: usize, x: i32, y: i32) {
        for index in 0..self.capsules.len() {
            let capsule = self.capsules[index];
            let (half_width, half_height) = (CAPSULE_HALF + SHIP_HALF_WIDTH, CAPSULE_HALF + SHIP_HALF_HEIGHT);
            if meet(capsule.x - x, capsule.y - y, half_width, half_height) {
                self.capsules.remove(index);
                self.events.push(Event::CapsuleTaken { id: capsule.id, seat });
                self.offer_power(seat, capsule.power);
                return;
            }
        }
    }

    /// Takes health of an enemy. At its end whoever did it gets the points; its place is cleared by the caller.
    fn damage(&mut self, index: usize, damage: i32, by: usize) {
        let enemy = &mut self.enemies[index];
        if enemy.health <= 0 {
            return;
        }
        enemy.health -= damage;
        if enemy.health > 0 {
            return;
        }
        let enemy = *enemy;
        self.events.push(Event::EnemyKilled { id: enemy.id, kind: enemy.kind, x: enemy.x, y: enemy.y, by });
        if enemy.carries {
            self.add_capsule(enemy.x, enemy.y);
        }
        self.add_score(by, traits(enemy.kind).points);
    }

    /// A ship is hit, unless nothing can hit it now. Returns whether it was.
    fn hit_ship(&mut self, seat: usize) -> bool {
        let over = self.phase == Phase::Lost || self.phase == Phase::Won;
        let endless = self.endless;
        let Some(ship) = &mut self.ships[seat] else { return false };
        if ship.pilotage.safe > 0 || !ship.flies() || over {
            return false;
        }
        if ship.shield > 0 || endless {
            ship.shield = (ship.shield - 1).max(0);
            ship.pilotage.safe = SAFE_STEPS_SHIELD;
            self.events.push(Event::ShipHit { seat });
            return true;
        }
        ship.lives -= 1;
        ship.pilotage.down = if ship.lives > 0 { DOWN_STEPS } else { DOWN_OUT };
        ship.pilotage.drone = false;
        let (x, y, lives) = (ship.pilotage.x, ship.pilotage.y, ship.lives);
        self.events.push(Event::ShipDown { seat, x, y, lives });
        true
    }
}
