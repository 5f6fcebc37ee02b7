//! Weapons: what is offered, and what was chosen.

use netloom::prelude::Choice;

use super::{Sink, tell_pilot};
use crate::game::seats::Seats;
use crate::protocol::tells;
use crate::rules::{Event, Ship};

/// Tells what happened of it.
pub fn broadcast(event: &Event, seats: &Seats, sink: &mut impl Sink) {
    match *event {
        Event::WeaponOffered { seat, offer, weapons } => {
            tell_pilot(seat, seats, tells::WEAPON_OFFERED, &(offer, weapons.map(Choice::index)), sink);
        }
        Event::WeaponTaken { seat, weapon, level } => {
            tell_pilot(seat, seats, tells::WEAPON_CONFIRMED, &(weapon.index(), level), sink);
        }
        _ => {}
    }
}

/// Tells again what a ship may choose, to a player whose connection was lost.
pub fn remind(ship: &Ship, seat: usize, seats: &Seats, sink: &mut impl Sink) {
    if let Some(open) = ship.offers.weapon {
        let offered = Event::WeaponOffered { seat, offer: open.id, weapons: open.choices };
        broadcast(&offered, seats, sink);
    }
}

#[cfg(test)]
mod tests {
    use netloom::prelude::PlayerId;

    use super::super::fake::{Heard, Told};
    use super::*;
    use crate::rules::{Offer, Weapon};

    const ADA: PlayerId = PlayerId(7);

    #[test]
    fn an_offer_and_its_outcome_go_to_the_one_who_may_choose() {
        let (seats, mut sink) = (Seats::deal([ADA].into_iter(), 1), Told::default());
        let weapons = [Weapon::Lance, Weapon::Cannon];
        broadcast(&Event::WeaponOffered { seat: 0, offer: 3, weapons }, &seats, &mut sink);
        broadcast(&Event::WeaponTaken { seat: 0, weapon: Weapon::Cannon, level: 2 }, &seats, &mut sink);
        broadcast(&Event::WeaponOffered { seat: 1, offer: 4, weapons }, &seats, &mut sink);
        broadcast(&Event::GameWon, &seats, &mut sink);
        let offered = Heard::one(ADA, tells::WEAPON_OFFERED, &(3, [2, 0]));
        assert_eq!(sink.heard, [offered, Heard::one(ADA, tells::WEAPON_CONFIRMED, &(0, 2))]);
    }

    #[test]
    fn who_comes_back_is_reminded_of_an_open_offer() {
        let (seats, mut sink) = (Seats::deal([ADA].into_iter(), 0), Told::default());
        let mut ship = Ship::new(0);
        remind(&ship, 0, &seats, &mut sink);
        assert_eq!(sink.heard, []);
        let choices = [Weapon::Cannon, Weapon::Seeker];
        ship.offers.weapon = Some(Offer { id: 9, choices, left: 10 });
        remind(&ship, 0, &seats, &mut sink);
        assert_eq!(sink.heard, [Heard::one(ADA, tells::WEAPON_OFFERED, &(9, [0, 3]))]);
    }
}
