//! Games played by chance, the same ones in every language: what holds two implementations of the rules to each other.
//!
//! A log is a seed and a number of steps. Out of the seed come the level, who plays with what, what each presses and
//! for how long, who comes and leaves, and answers to offers, right ones and wrong ones. Some seats are flown by
//! [bots](super::bot), so that a log gets beyond the first wave. Every beam hits what is in front of it now.

use super::bot;
use super::event::Event;
use super::math::{seeded, xorshift};
use super::offers::ALL_WEAPONS;
use super::{Levels, SEATS, State, buttons};

/// A game played by chance.
#[derive(Clone, Debug)]
pub struct Log {
    /// The game as it stands.
    pub state: State,
    rng: u32,
    pressed: [u8; SEATS],
    bots: u32,
}

impl Log {
    /// The log of a seed, before its first step.
    pub fn new(levels: &Levels, seed: u32) -> Log {
        let mut log = Log {
            state: State::new(levels, (seed % u32::from(levels.len())) as u8 + 1, seed),
            rng: seeded(seed.wrapping_mul(0x9e37_79b1)),
            pressed: [0; SEATS],
            bots: 0,
        };
        let present = log.random(15) + 1;
        log.bots = log.random(16);
        for seat in 0..SEATS {
            if present & (1 << seat) != 0 {
                log.add_ship(seat);
            }
        }
        log
    }

    /// One step: who comes and leaves, what is pressed, what beams hit, what is chosen.
    pub fn step(&mut self, levels: &Levels) {
        if self.random(400) == 0 {
            let seat = self.random(SEATS as u32) as usize;
            if self.state.ships[seat].is_some() {
                self.state.remove_ship(seat);
            } else {
                self.add_ship(seat);
            }
        }
        for seat in 0..SEATS {
            if self.random(12) == 0 {
                self.pressed[seat] = self.random(1 << buttons::COUNT) as u8;
            }
        }
        let mut pressed = self.pressed;
        for (seat, pressed) in pressed.iter_mut().enumerate() {
            if self.bots & (1 << seat) != 0 {
                *pressed = bot::buttons(&self.state, seat);
            }
        }
        self.state.step(levels, &pressed);
        self.strike();
        self.choose();
    }

    /// A ship that may have had its upgrades already: few logs would come to the higher ones.
    fn add_ship(&mut self, seat: usize) {
        self.state.add_ship(seat);
        let weapon = ALL_WEAPONS[self.random(4) as usize];
        let weapon_level = 1 + self.random(3) as i32;
        let thrusters = self.random(4) as i32;
        let drone = self.random(2) == 1;
        if let Some(ship) = &mut self.state.ships[seat] {
            ship.pilotage.weapon = weapon;
            ship.pilotage.weapon_level = weapon_level;
            ship.pilotage.thrusters = thrusters;
            ship.pilotage.drone = drone;
        }
    }

    fn strike(&mut self) {
        for index in 0..self.state.events.len() {
            if let Event::Beam { seat, .. } = self.state.events[index] {
                for enemy in self.state.beam_targets(seat) {
                    self.state.strike(seat, enemy);
                }
            }
        }
    }

    /// Bots answer at once. Others answer at times, and one time in four what was never offered.
    fn choose(&mut self) {
        for seat in 0..SEATS {
            if self.bots & (1 << seat) != 0 {
                bot::choose(&mut self.state, seat);
                continue;
            }
            let when = self.random(64);
            let choice = self.random(4) as u8;
            let wrong = u16::from(self.random(4) == 0);
            let Some(ship) = &self.state.ships[seat] else { continue };
            let (power, weapon) = (ship.offers.power, ship.offers.weapon);
            // A refusal changes nothing, and that is what is held here.
            if when == 0
                && let Some(offer) = power
            {
                let _ = self.state.choose_power(seat, offer.id ^ wrong, choice);
            }
            if when == 1
                && let Some(offer) = weapon
            {
                let _ = self.state.choose_weapon(seat, offer.id ^ wrong, choice);
            }
        }
    }

    fn random(&mut self, limit: u32) -> u32 {
        self.rng = xorshift(self.rng);
        self.rng % limit
    }
}
