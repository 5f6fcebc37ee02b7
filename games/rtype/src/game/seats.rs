//! Who has which of the four seats, and who flies the ship of it.
//!
//! The two are not the same. Whoever comes during a game gets a seat at once and a ship at the next wave; until then the seat may
//! have a ship that the server flies, which makes room. Whoever is away keeps the seat, and the ship waits.

use netloom::prelude::PlayerId;

use crate::rules::SEATS;

/// Who flies a ship.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pilot {
    /// There is no ship.
    #[default]
    Nobody,
    /// The server.
    Bot,
    /// A player.
    Player(PlayerId),
}

/// A seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seat {
    holder: Option<PlayerId>,
    pilot: Pilot,
    is_away: bool,
}

/// The four seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seats {
    seats: [Seat; SEATS],
}

impl Seats {
    /// Seats for a new game: players in the order in which they came, then so many bots as there are seats for. All have ships.
    pub fn deal(players: impl Iterator<Item = PlayerId>, bots: usize) -> Seats {
        let mut seats = Seats::default();
        for (seat, player) in seats.seats.iter_mut().zip(players) {
            *seat = Seat { holder: Some(player), pilot: Pilot::Player(player), is_away: false };
        }
        let free = seats.seats.iter_mut().filter(|seat| seat.holder.is_none());
        free.take(bots).for_each(|seat| seat.pilot = Pilot::Bot);
        seats
    }

    /// A seat for somebody who comes during a game: an empty one, or else one of a bot. The ship comes with [`board`](Seats::board).
    pub fn take(&mut self, player: PlayerId) -> Option<usize> {
        let free = |pilot: Pilot| move |seat: &Seat| seat.holder.is_none() && seat.pilot == pilot;
        let mut seats = self.seats.iter();
        let seat =
            seats.position(free(Pilot::Nobody)).or_else(|| self.seats.iter().position(free(Pilot::Bot)))?;
        self.seats[seat].holder = Some(player);
        Some(seat)
    }

    /// Gives their ships to those who wait for one; calls `change` with each seat and whether a bot's ship is there.
    pub fn board(&mut self, mut change: impl FnMut(usize, bool)) {
        for (place, seat) in self.seats.iter_mut().enumerate() {
            let Some(player) = seat.holder.filter(|player| seat.pilot != Pilot::Player(*player)) else {
                continue;
            };
            change(place, seat.pilot == Pilot::Bot);
            seat.pilot = Pilot::Player(player);
        }
    }

    /// A seat becomes free: which, and whether the ship of it goes, too.
    pub fn leave(&mut self, player: PlayerId) -> Option<(usize, bool)> {
        let place = self.seat_of(player)?;
        let seat = &mut self.seats[place];
        let had_ship = seat.pilot == Pilot::Player(player);
        if had_ship {
            seat.pilot = Pilot::Nobody;
        }
        (seat.holder, seat.is_away) = (None, false);
        Some((place, had_ship))
    }

    /// A player's connection is lost, or back.
    pub fn set_away(&mut self, player: PlayerId, is_away: bool) {
        if let Some(seat) = self.seat_of(player) {
            self.seats[seat].is_away = is_away;
        }
    }

    /// Whether the player of a seat is away.
    pub fn is_away(&self, seat: usize) -> bool {
        self.seats.get(seat).is_some_and(|seat| seat.is_away)
    }

    /// The seat of a player.
    pub fn seat_of(&self, player: PlayerId) -> Option<usize> {
        self.seats.iter().position(|seat| seat.holder == Some(player))
    }

    /// The seat of a player who has a ship.
    pub fn flown_by(&self, player: PlayerId) -> Option<usize> {
        self.seats.iter().position(|seat| seat.pilot == Pilot::Player(player))
    }

    /// Who flies the ship of a seat.
    pub fn pilot(&self, seat: usize) -> Pilot {
        self.seats.get(seat).map_or(Pilot::Nobody, |seat| seat.pilot)
    }

    /// The player who flies the ship of a seat.
    pub fn player(&self, seat: usize) -> Option<PlayerId> {
        if let Pilot::Player(player) = self.pilot(seat) { Some(player) } else { None }
    }

    /// Whether anybody has a seat.
    pub fn has_players(&self) -> bool {
        self.seats.iter().any(|seat| seat.holder.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: PlayerId = PlayerId(1);
    const BOB: PlayerId = PlayerId(2);

    #[test]
    fn players_come_first_and_bots_get_what_is_left() {
        let seats = Seats::deal([ADA, BOB].into_iter(), 3);
        let pilots = [Pilot::Player(ADA), Pilot::Player(BOB), Pilot::Bot, Pilot::Bot];
        assert_eq!([0, 1, 2, 3].map(|seat| seats.pilot(seat)), pilots);
        assert_eq!(Seats::deal([ADA].into_iter(), 0).pilot(1), Pilot::Nobody);
    }

    #[test]
    fn who_comes_late_gets_an_empty_seat_or_that_of_a_bot_and_a_ship_when_boarding() {
        let mut seats = Seats::deal([ADA].into_iter(), 2);
        assert_eq!(seats.take(BOB), Some(3), "the empty one");
        assert_eq!((seats.pilot(3), seats.seat_of(BOB), seats.flown_by(BOB)), (Pilot::Nobody, Some(3), None));
        assert_eq!(seats.take(PlayerId(3)), Some(1), "a bot's");
        assert_eq!(seats.pilot(1), Pilot::Bot, "who flies on until then");
        let mut changes = Vec::new();
        seats.board(|seat, was_bot| changes.push((seat, was_bot)));
        assert_eq!(changes, [(1, true), (3, false)]);
        assert_eq!(seats.player(3), Some(BOB));
        seats.board(|_, _| panic!("nobody waits"));
        assert_eq!((seats.take(PlayerId(4)), seats.take(PlayerId(5))), (Some(2), None));
    }

    #[test]
    fn who_leaves_takes_the_own_ship_along_and_no_other() {
        let mut seats = Seats::deal([ADA].into_iter(), 3);
        seats.take(BOB);
        assert_eq!(seats.leave(BOB), Some((1, false)), "the bot's ship stays");
        assert_eq!(seats.leave(ADA), Some((0, true)));
        assert_eq!((seats.leave(ADA), seats.has_players()), (None, false));
        assert_eq!(seats.pilot(0), Pilot::Nobody);
    }

    #[test]
    fn who_is_away_keeps_the_seat() {
        let mut seats = Seats::deal([ADA].into_iter(), 0);
        seats.set_away(ADA, true);
        assert!(seats.is_away(0) && seats.player(0) == Some(ADA));
        seats.set_away(ADA, false);
        assert!(!seats.is_away(0));
    }
}
