//! One number for a whole state: two implementations, or two machines, that differ in anything differ in it.
//!
//! FNV-1a of 32 bits over every whole number of the state, four bytes each, the lowest first, in the order in which they are named
//! here. Lists begin with their length; a ship or an offer that is not there is a 0, one that is there begins with a 1.

use super::State;
use super::ship::Ship;

struct Fnv(u32);

impl Fnv {
    fn add(&mut self, n: i32) {
        for byte in n.to_le_bytes() {
            self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }

    fn add_all(&mut self, numbers: &[i32]) {
        for &n in numbers {
            self.add(n);
        }
    }
}

impl State {
    /// The hash of everything but [`State::events`].
    pub fn hash(&self) -> u32 {
        let mut hash = Fnv(0x811c_9dc5);
        hash.add_all(&[self.step as i32, i32::from(self.level), i32::from(self.wave), self.phase as i32]);
        hash.add_all(&[self.phase_steps, self.level_steps, i32::from(self.endless)]);
        hash.add_all(&[self.rng as i32, self.next_id as i32, i32::from(self.next_offer)]);
        for ship in &self.ships {
            match ship {
                None => hash.add(0),
                Some(ship) => add_ship(&mut hash, ship),
            }
        }
        hash.add(self.enemies.len() as i32);
        for enemy in &self.enemies {
            hash.add_all(&[enemy.id as i32, enemy.kind as i32, enemy.x, enemy.y, enemy.vx, enemy.vy]);
            hash.add_all(&[enemy.health, enemy.health_max, enemy.mood, enemy.timer]);
            hash.add_all(&[enemy.fire_every, enemy.fire_in, enemy.count, i32::from(enemy.carries)]);
        }
        hash.add(self.shots.len() as i32);
        for shot in &self.shots {
            hash.add_all(&[shot.id as i32, shot.kind as i32, i32::from(shot.seat), shot.x, shot.y]);
            hash.add_all(&[shot.vx, shot.vy, shot.damage, shot.life, shot.struck as i32]);
        }
        hash.add(self.capsules.len() as i32);
        for capsule in &self.capsules {
            hash.add_all(&[capsule.id as i32, capsule.x, capsule.y, capsule.vx, capsule.power as i32]);
        }
        hash.add(self.debris.len() as i32);
        for debris in &self.debris {
            hash.add_all(&[debris.id as i32, debris.x, debris.y, debris.vx, debris.vy, debris.size]);
        }
        hash.0
    }
}

fn add_ship(hash: &mut Fnv, ship: &Ship) {
    let pilotage = &ship.pilotage;
    hash.add_all(&[1, i32::from(pilotage.seat), pilotage.x, pilotage.y, pilotage.down, pilotage.safe]);
    hash.add_all(&[
        pilotage.thrusters,
        i32::from(pilotage.drone),
        pilotage.weapon as i32,
        pilotage.weapon_level,
    ]);
    hash.add_all(&[pilotage.cooldown, pilotage.ammo, pilotage.refill, pilotage.energy]);
    hash.add_all(&[ship.lives, ship.shield, ship.score, ship.offers.owed, ship.offers.marks]);
    match &ship.offers.power {
        None => hash.add(0),
        Some(offer) => {
            hash.add_all(&[1, i32::from(offer.id), offer.left]);
            for &power in &offer.choices {
                hash.add(power as i32);
            }
        }
    }
    match &ship.offers.weapon {
        None => hash.add(0),
        Some(offer) => {
            hash.add_all(&[1, i32::from(offer.id), offer.left]);
            for &weapon in &offer.choices {
                hash.add(weapon as i32);
            }
        }
    }
}
