//! The own ship, ahead of the server: the step of the rules on what clients have of a ship.
//!
//! Rules count in whole units, objects are sent in metres, and a hundredth of a metre is both one unit and the finest place that is
//! sent. So a ship goes from one to the other and back without a difference, and the step that a client makes of what it was told
//! is the step that the server made.

use netloom::prelude::*;

use crate::protocol::{Act, Ship, UNITS_PER_METRE};
use crate::rules::{Fired, Pilotage, step_ship};

/// How ships fly, for [`Prediction`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Fly;

impl Step for Fly {
    type State = Ship;
    type Input = Act;

    fn step(&self, ship: &mut Ship, act: &Act) {
        fly(ship, *act);
    }
}

/// A step of a ship, and what it fired: for clients that show their own shots at once.
pub fn fly(ship: &mut Ship, act: Act) -> Fired {
    let mut pilotage = ship.pilotage();
    let fired = step_ship(&mut pilotage, act.buttons);
    ship.set_pilotage(&pilotage);
    fired
}

/// A place in units, of one in metres.
pub fn units(at: [f32; 2]) -> [i32; 2] {
    at.map(|metres| (metres * UNITS_PER_METRE).round() as i32)
}

/// A place in metres, of one in units.
pub fn metres(x: i32, y: i32) -> [f32; 2] {
    [x, y].map(|units| units as f32 / UNITS_PER_METRE)
}

impl Ship {
    /// What a step depends on.
    pub fn pilotage(&self) -> Pilotage {
        let [x, y] = units(self.at);
        Pilotage {
            seat: self.seat,
            x,
            y,
            down: self.down.into(),
            safe: self.safe.into(),
            thrusters: self.thrusters.into(),
            drone: self.drone,
            weapon: self.weapon,
            weapon_level: self.weapon_level.into(),
            cooldown: self.cooldown.into(),
            ammo: self.ammo.into(),
            refill: self.refill.into(),
            energy: self.energy.into(),
        }
    }

    /// What a step left of it.
    pub fn set_pilotage(&mut self, pilotage: &Pilotage) {
        // All of them count below 256: the rules see to that, and their tests.
        let byte = |count: i32| count.clamp(0, 255) as u8;
        self.at = metres(pilotage.x, pilotage.y);
        self.seat = pilotage.seat;
        self.down = byte(pilotage.down);
        self.safe = byte(pilotage.safe);
        self.thrusters = byte(pilotage.thrusters);
        self.drone = pilotage.drone;
        self.weapon = pilotage.weapon;
        self.weapon_level = byte(pilotage.weapon_level);
        self.cooldown = byte(pilotage.cooldown);
        self.ammo = byte(pilotage.ammo);
        self.refill = byte(pilotage.refill);
        self.energy = byte(pilotage.energy);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::Weapon;

    proptest! {
        #[test]
        fn a_ship_as_it_is_told_is_the_ship_that_the_rules_have(
            (seat, x, y) in (0..4u8, 0..1_600, 0..900),
            counts in proptest::array::uniform6(0..=255),
            (thrusters, weapon_level, drone) in (0..=3, 1..=3, any::<bool>()),
            weapon in 0..Weapon::COUNT,
        ) {
            let [down, safe, cooldown, ammo, refill, energy] = counts;
            let weapon = Weapon::from_index(weapon).unwrap();
            let pilotage = Pilotage {
                seat, x, y, down, safe, thrusters, drone, weapon, weapon_level, cooldown, ammo, refill, energy,
            };
            let mut ship = Ship::default();
            ship.set_pilotage(&pilotage);
            prop_assert_eq!(ship.pilotage(), pilotage);
        }
    }

    #[test]
    fn a_client_steps_as_the_rules_do() {
        let mut pilotage = Pilotage::new(2);
        let mut ship = Ship::default();
        ship.set_pilotage(&pilotage);
        for step in 0..2_000u32 {
            let buttons = (step.wrapping_mul(2_654_435_761) >> 24) as u8 & 0x3f;
            let fired = step_ship(&mut pilotage, buttons);
            assert_eq!(fly(&mut ship, Act { buttons }), fired);
            assert_eq!(ship.pilotage(), pilotage, "after step {step}");
        }
    }
}
