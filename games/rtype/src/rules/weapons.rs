//! What a volley is, for each weapon and level.
//!
//! ```text
//!             level 1         level 2         level 3
//!   Cannon    one             two abreast     two abreast, a heavy one between
//!   Spread    three           four            five, a wide fan of short reach
//!   Lance     one             heavier         two; they go through what they hit
//!   Seeker    one             two             three; slow, and turn
//! ```
//!
//! A companion adds one more. At most [`VOLLEY_MAX`] in all.

use super::NOSE;
use super::kinds::{ShotKind, Weapon};
use super::ship::{Fired, Pilotage};

/// Shots of a volley at most.
pub const VOLLEY_MAX: usize = 6;
/// The highest level of a weapon.
pub const WEAPON_LEVEL_MAX: i32 = 3;
/// What a beam takes of an enemy.
pub const BEAM_DAMAGE: i32 = 60;
/// Where the companion of a ship is, below it and behind its nose.
pub const COMPANION: (i32, i32) = (-14, 46);

const BOLT_SPEED: i32 = 20;
const SPREAD_SPEED: i32 = 17;
const LANCE_SPEED: i32 = 24;
/// Units of a step of a seeker, also when it has turned.
pub(super) const SEEKER_SPEED: i32 = 10;
/// Steps until a shot fades: enough to cross the field, but for the spread and for seekers that find nothing.
const BOLT_LIFE_STEPS: i32 = 90;
const SPREAD_LIFE_STEPS: i32 = 42;
const LANCE_LIFE_STEPS: i32 = 75;
const SEEKER_LIFE_STEPS: i32 = 150;

/// A shot as it leaves a ship. It is there when the step ends, and moves from the next step on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// What it is.
    pub kind: ShotKind,
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
    /// Steps until it fades.
    pub life: i32,
}

/// Adds the volley of a ship to what it fired.
pub(super) fn launch(ship: &Pilotage, fired: &mut Fired) {
    match ship.weapon {
        Weapon::Cannon => cannon(ship, fired),
        Weapon::Spread => spread(ship, fired),
        Weapon::Lance => lance(ship, fired),
        Weapon::Seeker => seeker(ship, fired),
    }
    if ship.drone {
        let (dx, dy) = COMPANION;
        fired.add(Launch {
            kind: ShotKind::Bolt,
            x: ship.x + dx + NOSE,
            y: ship.y + dy,
            vx: BOLT_SPEED,
            vy: 0,
            damage: 8,
            life: BOLT_LIFE_STEPS,
        });
    }
}

fn cannon(ship: &Pilotage, fired: &mut Fired) {
    let mut bolt = |dy: i32, damage: i32| {
        fired.add(Launch {
            kind: ShotKind::Bolt,
            x: ship.x + NOSE,
            y: ship.y + dy,
            vx: BOLT_SPEED,
            vy: 0,
            damage,
            life: BOLT_LIFE_STEPS,
        });
    };
    if ship.weapon_level <= 1 {
        bolt(0, 12);
        return;
    }
    bolt(-12, 10);
    bolt(12, 10);
    if ship.weapon_level >= WEAPON_LEVEL_MAX {
        bolt(0, 20);
    }
}

fn spread(ship: &Pilotage, fired: &mut Fired) {
    let (count, damage) = if ship.weapon_level <= 1 {
        (3, 9)
    } else if ship.weapon_level == 2 {
        (4, 10)
    } else {
        (5, 12)
    };
    for index in 0..count {
        fired.add(Launch {
            kind: ShotKind::Bolt,
            x: ship.x + NOSE,
            y: ship.y,
            vx: SPREAD_SPEED,
            vy: 2 * (2 * index - (count - 1)),
            damage,
            life: SPREAD_LIFE_STEPS,
        });
    }
}

fn lance(ship: &Pilotage, fired: &mut Fired) {
    let mut lance = |dy: i32, damage: i32| {
        fired.add(Launch {
            kind: ShotKind::Lance,
            x: ship.x + NOSE,
            y: ship.y + dy,
            vx: LANCE_SPEED,
            vy: 0,
            damage,
            life: LANCE_LIFE_STEPS,
        });
    };
    if ship.weapon_level <= 1 {
        lance(0, 16);
    } else if ship.weapon_level == 2 {
        lance(0, 28);
    } else {
        lance(-18, 24);
        lance(18, 24);
    }
}

fn seeker(ship: &Pilotage, fired: &mut Fired) {
    let count = ship.weapon_level.clamp(1, WEAPON_LEVEL_MAX);
    for index in 0..count {
        let aside = 2 * index - (count - 1);
        fired.add(Launch {
            kind: ShotKind::Seeker,
            x: ship.x + NOSE,
            y: ship.y + 14 * aside,
            vx: SEEKER_SPEED,
            vy: 2 * aside,
            damage: 14,
            life: SEEKER_LIFE_STEPS,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::kinds::buttons;
    use super::super::ship::step_ship;
    use super::*;

    fn volley(weapon: Weapon, weapon_level: i32, drone: bool) -> Vec<Launch> {
        let mut ship = Pilotage { weapon, weapon_level, drone, ..Pilotage::new(0) };
        step_ship(&mut ship, buttons::SHOOT).shots().to_vec()
    }

    #[test]
    fn each_level_of_a_weapon_is_stronger_and_a_companion_adds_to_it() {
        for weapon in [Weapon::Cannon, Weapon::Spread, Weapon::Lance, Weapon::Seeker] {
            let damage = |level| volley(weapon, level, false).iter().map(|shot| shot.damage).sum::<i32>();
            assert!(damage(1) < damage(2) && damage(2) < damage(3), "{weapon:?}");
            for level in 1..=WEAPON_LEVEL_MAX {
                assert_eq!(volley(weapon, level, true).len(), volley(weapon, level, false).len() + 1);
                assert!(volley(weapon, level, true).len() <= VOLLEY_MAX);
            }
        }
    }

    #[test]
    fn a_spread_is_even_on_both_sides() {
        for level in 1..=3 {
            assert_eq!(volley(Weapon::Spread, level, false).iter().map(|shot| shot.vy).sum::<i32>(), 0);
        }
    }
}
