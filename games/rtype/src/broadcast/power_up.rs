//! Capsules: what they offer, and what was chosen.

use netloom::prelude::Choice;

use super::{Sink, tell_pilot};
use crate::game::seats::Seats;
use crate::protocol::tells;
use crate::rules::{Event, Ship};

/// Tells what happened of it.
pub fn broadcast(event: &Event, seats: &Seats, sink: &mut impl Sink) {
    match *event {
        Event::PowerOffered { seat, offer, powers } => {
            tell_pilot(seat, seats, tells::POWER_OFFERED, &(offer, powers.map(Choice::index)), sink);
        }
        Event::PowerTaken { seat, power, level } => {
            tell_pilot(seat, seats, tells::POWER_STATUS, &(power.index(), level), sink);
        }
        _ => {}
    }
}

/// Tells again what a ship may choose, to a player whose connection was lost.
pub fn remind(ship: &Ship, seat: usize, seats: &Seats, sink: &mut impl Sink) {
    if let Some(open) = ship.offers.power {
        let offered = Event::PowerOffered { seat, offer: open.id, powers: open.choices };
        broadcast(&offered, seats, sink);
    }
}

#[cfg(test)]
mod tests {
    use netloom::prelude::PlayerId;

    use super::super::fake::{Heard, Told};
    use super::*;
    use crate::rules::{Offer, Power};

    const ADA: PlayerId = PlayerId(7);

    #[test]
    fn an_offer_and_its_outcome_go_to_the_one_who_may_choose() {
        let (seats, mut sink) = (Seats::deal([ADA].into_iter(), 1), Told::default());
        let powers = [Power::Shield, Power::Drone, Power::Thrusters];
        broadcast(&Event::PowerOffered { seat: 0, offer: 3, powers }, &seats, &mut sink);
        broadcast(&Event::PowerTaken { seat: 0, power: Power::Drone, level: 1 }, &seats, &mut sink);
        broadcast(&Event::PowerOffered { seat: 1, offer: 4, powers }, &seats, &mut sink);
        broadcast(&Event::GameWon, &seats, &mut sink);
        let offered = Heard::one(ADA, tells::POWER_OFFERED, &(3, [1, 2, 0]));
        assert_eq!(sink.heard, [offered, Heard::one(ADA, tells::POWER_STATUS, &(2, 1))]);
    }

    #[test]
    fn who_comes_back_is_reminded_of_an_open_offer() {
        let (seats, mut sink) = (Seats::deal([ADA].into_iter(), 0), Told::default());
        let mut ship = Ship::new(0);
        remind(&ship, 0, &seats, &mut sink);
        assert_eq!(sink.heard, []);
        let choices = [Power::Thrusters, Power::Shield, Power::Drone];
        ship.offers.power = Some(Offer { id: 9, choices, left: 10 });
        remind(&ship, 0, &seats, &mut sink);
        assert_eq!(sink.heard, [Heard::one(ADA, tells::POWER_OFFERED, &(9, [0, 1, 2]))]);
    }
}
