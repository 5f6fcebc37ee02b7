//! Ships: what a pilot's buttons do.
//!
//! A player sees the own ship answer at once, before the server has heard of the button: the page runs the same step as the server
//! on what the ship was last known to be. That works only if the step looks at nothing but the ship and the buttons. So
//! everything it needs is in [`Pilotage`], and nothing else is: enemies, hits and points are the server's alone.

use super::kinds::{Weapon, buttons};
use super::offers::Offers;
use super::weapons::{self, Launch, VOLLEY_MAX};
use super::{BEAM_ENERGY, HEIGHT, WIDTH};

/// Units of a step of a ship without thrusters.
pub const SHIP_SPEED: i32 = 6;
/// Units of a step along each axis when flying aslant, by thrusters.
const ASLANT: [i32; 4] = [4, 5, 6, 6];
/// How near the centre of a ship comes to the left and right edges.
pub const SHIP_EDGE_X: i32 = 40;
/// How near the centre of a ship comes to the upper and lower edges.
pub const SHIP_EDGE_Y: i32 = 30;
/// Half the width of what can be hit of a ship: less than is seen, for narrow escapes.
pub const SHIP_HALF_WIDTH: i32 = 20;
/// Half the height of what can be hit of a ship.
pub const SHIP_HALF_HEIGHT: i32 = 10;
/// How far its nose is ahead of its centre: shots and beams begin there.
pub const NOSE: i32 = 34;

/// Steps between two shots.
pub const COOLDOWN_STEPS: i32 = 12;
/// Shots to begin with.
pub const AMMO_START: i32 = 60;
/// Shots that a ship has at least when it comes back.
pub const AMMO_BACK: i32 = 30;
/// Shots at most.
pub const AMMO_MAX: i32 = 99;
/// Steps until there is one more shot.
pub const REFILL_STEPS: i32 = 30;
/// Steps until a ship that went down is back.
pub const DOWN_STEPS: i32 = 90;
/// [`Pilotage::down`] of a ship that stays away until the next level.
pub const DOWN_OUT: i32 = 255;
/// Steps for which nothing hits a ship that is back.
pub const SAFE_STEPS: i32 = 120;
/// Steps for which nothing hits a ship whose shield took a hit.
pub const SAFE_STEPS_SHIELD: i32 = 45;
/// Ships to begin with.
pub const LIVES: i32 = 3;
/// What can be had of thrusters.
pub const THRUSTERS_MAX: i32 = 3;
/// Hits that a shield takes at most.
pub const SHIELD_MAX: i32 = 3;
/// Hits that a shield takes more, for each that was chosen.
pub const SHIELD_HITS: i32 = 2;
/// Points at most.
pub const SCORE_MAX: i32 = 16_777_215;

/// What a step of a ship depends on besides the buttons: the part that its player predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pilotage {
    /// Which of the four it is: where it starts.
    pub seat: u8,
    /// Its centre, in units from the left.
    pub x: i32,
    /// Its centre, in units from the top.
    pub y: i32,
    /// Steps until it is back, 0 while it flies, [`DOWN_OUT`] if it is not to come back in this level.
    pub down: i32,
    /// Steps for which nothing hits it.
    pub safe: i32,
    /// How fast: units of a step beyond [`SHIP_SPEED`].
    pub thrusters: i32,
    /// Whether it has a companion that fires, too.
    pub drone: bool,
    /// What it fires.
    pub weapon: Weapon,
    /// How strong that is, 1 to [`WEAPON_LEVEL_MAX`](super::weapons::WEAPON_LEVEL_MAX).
    pub weapon_level: i32,
    /// Steps until the next shot.
    pub cooldown: i32,
    /// Shots left.
    pub ammo: i32,
    /// Steps until there is one more.
    pub refill: i32,
    /// What the beam has: it fires at [`BEAM_ENERGY`].
    pub energy: i32,
}

impl Pilotage {
    /// A ship at the place where those of a seat start.
    pub fn new(seat: u8) -> Pilotage {
        let (x, y) = start_of(seat);
        Pilotage {
            seat,
            x,
            y,
            down: 0,
            safe: SAFE_STEPS,
            thrusters: 0,
            drone: false,
            weapon: Weapon::Cannon,
            weapon_level: 1,
            cooldown: 0,
            ammo: AMMO_START,
            refill: REFILL_STEPS,
            energy: 0,
        }
    }

    /// Puts it back to its start, where nothing hits it for a while.
    pub fn come_back(&mut self) {
        let (x, y) = start_of(self.seat);
        self.x = x;
        self.y = y;
        self.down = 0;
        self.safe = SAFE_STEPS;
        self.ammo = self.ammo.max(AMMO_BACK);
    }
}

/// A ship, a player's or a bot's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ship {
    /// What its player predicts.
    pub pilotage: Pilotage,
    /// Ships left, this one included.
    pub lives: i32,
    /// Hits that are taken by the shield.
    pub shield: i32,
    /// Points, at most [`SCORE_MAX`].
    pub score: i32,
    /// What it may choose from.
    pub offers: Offers,
}

impl Ship {
    /// A new ship of a seat.
    pub fn new(seat: u8) -> Ship {
        Ship { pilotage: Pilotage::new(seat), lives: LIVES, shield: 0, score: 0, offers: Offers::default() }
    }

    /// Whether it is in the air.
    pub fn flies(&self) -> bool {
        self.pilotage.down == 0
    }

    /// Whether it is out until the next level.
    pub fn is_out(&self) -> bool {
        self.pilotage.down == DOWN_OUT
    }
}

/// Where the ships of a seat start.
pub fn start_of(seat: u8) -> (i32, i32) {
    (160, 180 + 180 * i32::from(seat))
}

/// What a ship fired in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fired {
    volley: [Launch; VOLLEY_MAX],
    count: usize,
    /// Whether the beam was fired, from the nose of the ship.
    pub beam: bool,
}

impl Fired {
    /// The shots, in the order in which they are numbered.
    pub fn shots(&self) -> &[Launch] {
        &self.volley[..self.count]
    }

    pub(super) fn add(&mut self, launch: Launch) {
        self.volley[self.count] = launch;
        self.count += 1;
    }
}

/// One step of a ship: what server and prediction have in common.
pub fn step_ship(ship: &mut Pilotage, pressed: u8) -> Fired {
    let mut fired = Fired::default();
    if ship.down > 0 {
        if ship.down != DOWN_OUT {
            ship.down -= 1;
            if ship.down == 0 {
                ship.come_back();
            }
        }
        return fired;
    }
    pass_time(ship);
    fly(ship, pressed);
    if pressed & buttons::SHOOT != 0 && ship.cooldown == 0 && ship.ammo > 0 {
        ship.cooldown = COOLDOWN_STEPS;
        ship.ammo -= 1;
        weapons::launch(ship, &mut fired);
    }
    if pressed & buttons::BEAM != 0 && ship.energy >= i32::from(BEAM_ENERGY) {
        ship.energy = 0;
        fired.beam = true;
    }
    fired
}

fn pass_time(ship: &mut Pilotage) {
    if ship.safe > 0 {
        ship.safe -= 1;
    }
    if ship.cooldown > 0 {
        ship.cooldown -= 1;
    }
    if ship.energy < i32::from(BEAM_ENERGY) {
        ship.energy += 1;
    }
    if ship.ammo < AMMO_MAX {
        ship.refill -= 1;
        if ship.refill <= 0 {
            ship.refill = REFILL_STEPS;
            ship.ammo += 1;
        }
    }
}

fn fly(ship: &mut Pilotage, pressed: u8) {
    let (right, down) = way(pressed);
    let speed = speed_of(ship.thrusters, right != 0 && down != 0);
    ship.x = (ship.x + right * speed).clamp(SHIP_EDGE_X, WIDTH - SHIP_EDGE_X);
    ship.y = (ship.y + down * speed).clamp(SHIP_EDGE_Y, HEIGHT - SHIP_EDGE_Y);
}

/// Which way buttons mean: -1, 0 or 1 to the right, and downwards.
pub fn way(pressed: u8) -> (i32, i32) {
    let held = |button: u8| i32::from(pressed & button != 0);
    (held(buttons::RIGHT) - held(buttons::LEFT), held(buttons::DOWN) - held(buttons::UP))
}

/// Units of a step along an axis.
pub fn speed_of(thrusters: i32, aslant: bool) -> i32 {
    let thrusters = thrusters.clamp(0, THRUSTERS_MAX);
    if aslant { ASLANT[thrusters as usize] } else { SHIP_SPEED + thrusters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_button_fires_every_twelfth_step_while_there_is_ammo() {
        let mut ship = Pilotage::new(0);
        let shots_at: Vec<i32> =
            (0..2_000).filter(|_| !step_ship(&mut ship, buttons::SHOOT).shots().is_empty()).collect();
        let between: Vec<i32> = shots_at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // 60 to begin with and one more each 30 steps last for more than 90; in the end there is one as soon as it is made.
        assert!(between[..90].iter().all(|&steps| steps == COOLDOWN_STEPS));
        assert!(between[between.len() - 10..].iter().all(|&steps| steps == REFILL_STEPS));
    }

    #[test]
    fn a_held_beam_fires_every_ninetieth_step() {
        let mut ship = Pilotage::new(0);
        let beams_at: Vec<i32> = (0..360).filter(|_| step_ship(&mut ship, buttons::BEAM).beam).collect();
        assert_eq!(beams_at, [89, 179, 269, 359]);
    }

    #[test]
    fn opposite_buttons_cancel_and_edges_hold() {
        let mut ship = Pilotage::new(2);
        let before = (ship.x, ship.y);
        step_ship(&mut ship, buttons::UP | buttons::DOWN | buttons::LEFT | buttons::RIGHT);
        assert_eq!((ship.x, ship.y), before);
        for _ in 0..1_000 {
            step_ship(&mut ship, buttons::DOWN | buttons::RIGHT);
        }
        assert_eq!((ship.x, ship.y), (WIDTH - SHIP_EDGE_X, HEIGHT - SHIP_EDGE_Y));
    }

    #[test]
    fn a_ship_that_is_down_comes_back_to_its_start_and_is_safe() {
        let mut ship = Pilotage { x: 900, y: 50, down: DOWN_STEPS, safe: 0, ammo: 0, ..Pilotage::new(3) };
        for _ in 1..DOWN_STEPS {
            assert!(step_ship(&mut ship, buttons::SHOOT | buttons::RIGHT).shots().is_empty());
        }
        assert_eq!((ship.x, ship.y, ship.down), (900, 50, 1));
        step_ship(&mut ship, 0);
        assert_eq!((ship.x, ship.y), start_of(3));
        assert_eq!((ship.down, ship.safe, ship.ammo), (0, SAFE_STEPS, AMMO_BACK));
    }

    #[test]
    fn who_is_out_stays_out() {
        let mut ship = Pilotage { down: DOWN_OUT, ..Pilotage::new(1) };
        let before = ship;
        for _ in 0..1_000 {
            step_ship(&mut ship, 0x3f);
        }
        assert_eq!(ship, before);
    }
}
