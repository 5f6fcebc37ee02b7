//! Seats that can be taken up again after a lost connection.
//!
//! Every accepted client gets a token. When its connection is lost (not when it says goodbye) the token stays valid for
//! a minute, once: using it gives a new connection, with new keys and numbers, and a new token. Only the digest of a
//! token is kept, so that the memory of a server gives no seat away.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use netloom_wire::Micros;

use super::PeerId;
use super::admission::network;
use crate::crypto::{digest, equal_in_constant_time};
use crate::handshake::ResumeToken;

#[derive(Clone, Copy, Debug)]
struct Seat {
    peer: PeerId,
    sealed: bool,
    network: u64,
    /// `None` while the connection lives.
    expires: Option<Micros>,
}

/// The name under which a token is kept.
pub type TokenDigest = [u8; 32];

/// The seats by the digest of their token.
#[derive(Debug)]
pub struct Seats {
    seats: BTreeMap<TokenDigest, Seat>,
    /// Nothing runs out before.
    next_expiry: Micros,
}

impl Default for Seats {
    fn default() -> Seats {
        Seats { seats: BTreeMap::new(), next_expiry: Micros::MAX }
    }
}

impl Seats {
    /// Remembers the seat of a new peer.
    pub fn insert(
        &mut self,
        token: &ResumeToken,
        peer: PeerId,
        sealed: bool,
        from: SocketAddr,
    ) -> TokenDigest {
        let name = digest(&token.0);
        self.seats.insert(name, Seat { peer, sealed, network: network(from.ip(), 24), expires: None });
        name
    }

    /// The connection was lost: its seat stays until `expires`.
    pub fn handle_lost(&mut self, name: &TokenDigest, expires: Micros, seats_max: usize) {
        if let Some(seat) = self.seats.get_mut(name) {
            seat.expires = Some(expires);
            self.next_expiry = self.next_expiry.min(expires);
        }
        if self.seats.len() > seats_max {
            let oldest = self.seats.iter().filter_map(|(name, seat)| Some((seat.expires?, *name))).min();
            oldest.map(|(_, name)| self.seats.remove(&name));
        }
    }

    /// The connection ended for good.
    pub fn forget(&mut self, name: &TokenDigest) {
        self.seats.remove(name);
    }

    /// Drops seats whose time has run out.
    pub fn expire(&mut self, now: Micros) {
        if now < self.next_expiry {
            return;
        }
        self.seats.retain(|_, seat| seat.expires.is_none_or(|expires| now < expires));
        self.next_expiry = self.seats.values().filter_map(|seat| seat.expires).min().unwrap_or(Micros::MAX);
    }

    /// Whose seat a token would take up.
    ///
    /// Without encryption the token could have been read on the way, so it is good only from the same network.
    pub fn peek(&self, now: Micros, token: &ResumeToken, sealed: bool, from: SocketAddr) -> Option<PeerId> {
        let name = digest(&token.0);
        let (kept, seat) = self.seats.get_key_value(&name)?;
        let in_time = seat.expires.is_none_or(|expires| now < expires);
        let trusted = if seat.sealed { sealed } else { network(from.ip(), 24) == seat.network };
        (equal_in_constant_time(kept, &name) && in_time && trusted).then_some(seat.peer)
    }

    /// A token is good once.
    pub fn use_up(&mut self, token: &ResumeToken) {
        self.seats.remove(&digest(&token.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: ResumeToken = ResumeToken([5; 32]);

    fn home() -> SocketAddr {
        "10.0.0.1:9".parse().unwrap()
    }

    fn redeem(
        seats: &mut Seats,
        now: Micros,
        token: &ResumeToken,
        sealed: bool,
        from: SocketAddr,
    ) -> Option<PeerId> {
        let peer = seats.peek(now, token, sealed, from)?;
        seats.use_up(token);
        Some(peer)
    }

    fn with_seat(sealed: bool) -> (Seats, TokenDigest, PeerId) {
        let mut seats = Seats::default();
        let peer = PeerId { index: 3, generation: 1 };
        let name = seats.insert(&TOKEN, peer, sealed, home());
        (seats, name, peer)
    }

    #[test]
    fn a_token_is_good_once_and_for_a_while() {
        let (mut seats, name, peer) = with_seat(true);
        seats.handle_lost(&name, Micros::from_secs(60), 10);
        assert_eq!(redeem(&mut seats, Micros::from_secs(59), &TOKEN, true, home()), Some(peer));
        assert_eq!(redeem(&mut seats, Micros::from_secs(59), &TOKEN, true, home()), None, "used");
        let (mut seats, name, _) = with_seat(true);
        seats.handle_lost(&name, Micros::from_secs(60), 10);
        assert_eq!(redeem(&mut seats, Micros::from_secs(60), &TOKEN, true, home()), None, "too late");
        let (mut seats, name, _) = with_seat(true);
        seats.forget(&name);
        assert_eq!(redeem(&mut seats, Micros::ZERO, &TOKEN, true, home()), None, "said goodbye");
        assert_eq!(redeem(&mut seats, Micros::ZERO, &ResumeToken([6; 32]), true, home()), None, "guessed");
    }

    #[test]
    fn a_sealed_seat_needs_a_sealed_connection_and_a_plain_one_the_same_network() {
        let elsewhere: SocketAddr = "10.9.0.1:9".parse().unwrap();
        let neighbour: SocketAddr = "10.0.0.77:9".parse().unwrap();
        for (sealed_seat, sealed, from, good) in [
            (true, true, elsewhere, true),
            (true, false, home(), false),
            (false, false, neighbour, true),
            (false, false, elsewhere, false),
        ] {
            let (mut seats, _, _) = with_seat(sealed_seat);
            assert_eq!(redeem(&mut seats, Micros::ZERO, &TOKEN, sealed, from).is_some(), good);
        }
    }

    #[test]
    fn lost_seats_are_bounded_and_expire() {
        let mut seats = Seats::default();
        for number in 0..100u8 {
            let peer = PeerId { index: number.into(), generation: 0 };
            let name = seats.insert(&ResumeToken([number; 32]), peer, true, home());
            seats.handle_lost(&name, Micros::from_secs(60 + u64::from(number)), 10);
        }
        assert_eq!(seats.seats.len(), 10);
        assert!(redeem(&mut seats, Micros::ZERO, &ResumeToken([99; 32]), true, home()).is_some());
        seats.expire(Micros::from_secs(1000));
        assert!(seats.seats.is_empty());
    }
}
