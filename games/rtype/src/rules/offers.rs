//! Offers: what a ship may choose, and what a choice does.
//!
//! A choice takes as long as a player takes, and comes over a network: it may be late, twice, or made up. So an offer has a number
//! that never comes again in a game, a ship has at most one of each kind at a time, and a choice names the offer it means. Whatever
//! does not fit is refused and changes nothing. Who does not answer gets the first choice.

use super::event::Event;
use super::kinds::{Phase, Power, Weapon};
use super::ship::{AMMO_MAX, SCORE_MAX, SHIELD_HITS, SHIELD_MAX, THRUSTERS_MAX};
use super::weapons::WEAPON_LEVEL_MAX;
use super::{SEATS, State};

/// Steps until an offer without an answer takes its first choice.
pub const OFFER_STEPS: i32 = 900;
/// Powers of an offer.
pub const POWERS: usize = 3;
/// Weapons of an offer.
pub const WEAPONS: usize = 2;
/// Weapon offers that wait for the present one, at most.
const OWED_MAX: i32 = 9;
/// Points for a power that a ship has all of already.
const POINTS_FOR_MORE: i32 = 500;
/// Shots that come with a power.
const AMMO_OF_CAPSULE: i32 = 25;
/// Points of the first weapon offer. The n-th is at n (n + 1) / 2 times as many.
const WEAPON_MARK: i32 = 2_500;

/// Every power, by its number.
pub(super) const ALL_POWERS: [Power; POWERS] = [Power::Thrusters, Power::Shield, Power::Drone];
/// Every weapon, by its number.
pub(super) const ALL_WEAPONS: [Weapon; 4] = [Weapon::Cannon, Weapon::Spread, Weapon::Lance, Weapon::Seeker];

/// Something to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer<T, const N: usize> {
    /// Its number.
    pub id: u16,
    /// What can be chosen, by its place in here.
    pub choices: [T; N],
    /// Steps until it takes the first.
    pub left: i32,
}

/// What a ship may choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Of a capsule.
    pub power: Option<Offer<Power, POWERS>>,
    /// Of the end of a level, or of its points.
    pub weapon: Option<Offer<Weapon, WEAPONS>>,
    /// Weapon offers that come when the present one is answered.
    pub(super) owed: i32,
    /// Weapon offers that it had for its points.
    pub(super) marks: i32,
}

/// Why a choice was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no ship in that seat.
    #[error("there is no ship in this seat")]
    NoShip,
    /// Answered, run out, or never made.
    #[error("this offer is not open: answer the newest one, once")]
    NoSuchOffer,
    /// Beyond what was offered.
    #[error("this choice was not offered: choose by its place in the offer, from 0 on")]
    NoSuchChoice,
}

impl State {
    /// Takes one of the powers that a ship was offered, by its place in the offer.
    pub fn choose_power(&mut self, seat: usize, offer: u16, choice: u8) -> Result<(), Refused> {
        let ship = self.ships.get_mut(seat).and_then(Option::as_mut).ok_or(Refused::NoShip)?;
        let open = ship.offers.power.filter(|open| open.id == offer).ok_or(Refused::NoSuchOffer)?;
        let power = *open.choices.get(usize::from(choice)).ok_or(Refused::NoSuchChoice)?;
        ship.offers.power = None;
        self.give_power(seat, power);
        Ok(())
    }

    /// Takes one of the weapons that a ship was offered, by its place in the offer.
    pub fn choose_weapon(&mut self, seat: usize, offer: u16, choice: u8) -> Result<(), Refused> {
        let ship = self.ships.get_mut(seat).and_then(Option::as_mut).ok_or(Refused::NoShip)?;
        let open = ship.offers.weapon.filter(|open| open.id == offer).ok_or(Refused::NoSuchOffer)?;
        let weapon = *open.choices.get(usize::from(choice)).ok_or(Refused::NoSuchChoice)?;
        ship.offers.weapon = None;
        self.give_weapon(seat, weapon);
        Ok(())
    }

    fn give_power(&mut self, seat: usize, power: Power) {
        let Some(ship) = &mut self.ships[seat] else { return };
        let pilotage = &mut ship.pilotage;
        pilotage.ammo = (pilotage.ammo + AMMO_OF_CAPSULE).min(AMMO_MAX);
        let (had, level) = match power {
            Power::Thrusters => {
                let had = pilotage.thrusters;
                pilotage.thrusters = (had + 1).min(THRUSTERS_MAX);
                (had, pilotage.thrusters)
            }
            Power::Shield => {
                let had = ship.shield;
                ship.shield = (had + SHIELD_HITS).min(SHIELD_MAX);
                (had, ship.shield)
            }
            Power::Drone => {
                let had = i32::from(pilotage.drone);
                pilotage.drone = true;
                (had, 1)
            }
        };
        self.events.push(Event::PowerTaken { seat, power, level });
        if had == level {
            self.add_score(seat, POINTS_FOR_MORE);
        }
    }

    fn give_weapon(&mut self, seat: usize, weapon: Weapon) {
        let Some(ship) = &mut self.ships[seat] else { return };
        let pilotage = &mut ship.pilotage;
        if pilotage.weapon == weapon {
            pilotage.weapon_level = (pilotage.weapon_level + 1).min(WEAPON_LEVEL_MAX);
        }
        pilotage.weapon = weapon;
        let level = pilotage.weapon_level;
        let owed = ship.offers.owed;
        self.events.push(Event::WeaponTaken { seat, weapon, level });
        if owed > 0 {
            if let Some(ship) = &mut self.ships[seat] {
                ship.offers.owed = owed - 1;
            }
            self.offer_weapon(seat);
        }
    }

    /// Offers the three powers, that of the capsule first.
    pub(super) fn offer_power(&mut self, seat: usize, first: Power) {
        let id = self.new_offer();
        let mut choices = ALL_POWERS;
        choices.rotate_left(first as usize);
        let Some(ship) = &mut self.ships[seat] else { return };
        ship.offers.power = Some(Offer { id, choices, left: OFFER_STEPS });
        self.events.push(Event::PowerOffered { seat, offer: id, powers: choices });
    }

    /// Offers two weapons: what the ship has, to be raised, and another; or two others when it cannot be raised. While one is open,
    /// it waits.
    pub(super) fn offer_weapon(&mut self, seat: usize) {
        let Some(ship) = &mut self.ships[seat] else { return };
        if ship.offers.weapon.is_some() {
            ship.offers.owed = (ship.offers.owed + 1).min(OWED_MAX);
            return;
        }
        let has = ship.pilotage.weapon as usize;
        let raise = ship.pilotage.weapon_level < WEAPON_LEVEL_MAX;
        let other = 1 + self.random(3) as usize;
        let second = ALL_WEAPONS[(has + other) % 4];
        let first = if raise { ALL_WEAPONS[has] } else { ALL_WEAPONS[(has + 1 + other % 3) % 4] };
        let id = self.new_offer();
        let Some(ship) = &mut self.ships[seat] else { return };
        ship.offers.weapon = Some(Offer { id, choices: [first, second], left: OFFER_STEPS });
        self.events.push(Event::WeaponOffered { seat, offer: id, weapons: [first, second] });
    }

    /// Gives points, and a weapon offer for each mark that they pass. What the score was at the end stays so.
    pub(super) fn add_score(&mut self, seat: usize, points: i32) {
        if matches!(self.phase, Phase::Won | Phase::Lost) {
            return;
        }
        let Some(ship) = self.ships.get_mut(seat).and_then(Option::as_mut) else { return };
        ship.score = (ship.score + points).min(SCORE_MAX);
        let score = ship.score;
        let mut next = ship.offers.marks + 1;
        while score >= WEAPON_MARK * next * (next + 1) / 2 {
            if let Some(ship) = &mut self.ships[seat] {
                ship.offers.marks = next;
            }
            self.offer_weapon(seat);
            next += 1;
        }
    }

    /// One step of every open offer.
    pub(super) fn step_offers(&mut self) {
        for seat in 0..SEATS {
            let Some(ship) = &mut self.ships[seat] else { continue };
            let mut power = None;
            let mut weapon = None;
            if let Some(offer) = &mut ship.offers.power {
                offer.left -= 1;
                if offer.left <= 0 {
                    power = Some(offer.choices[0]);
                    ship.offers.power = None;
                }
            }
            if let Some(offer) = &mut ship.offers.weapon {
                offer.left -= 1;
                if offer.left <= 0 {
                    weapon = Some(offer.choices[0]);
                    ship.offers.weapon = None;
                }
            }
            if let Some(power) = power {
                self.give_power(seat, power);
            }
            if let Some(weapon) = weapon {
                self.give_weapon(seat, weapon);
            }
        }
    }

    fn new_offer(&mut self) -> u16 {
        self.next_offer = if self.next_offer == u16::MAX { 1 } else { self.next_offer + 1 };
        self.next_offer
    }
}
