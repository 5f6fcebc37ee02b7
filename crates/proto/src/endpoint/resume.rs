//! Seats that can be taken up again after a lost connection.
//!
//! Every accepted client gets a token. When its connection is lost (not when it says goodbye) the token stays valid for
//! a minute. Using it gives a new connection, with new keys and numbers, and a new token. Only the digest of a token is
//! kept, so that the memory of a server gives no seat away.
//!
//! The answer that brings the new token may be lost, and so may the packet by which the client shows that it has it. A seat
//! must not be lost with them, so both tokens are good until one of them has proven itself:
//!
//! ```text
//!   token A ──used──▶ A and B ──first packet of the new connection──▶ B alone, of the new peer
//!                        │ none came: both stay, of the old peer, until the minute is over
//!                        ├─ A used again: the client never got B        ▶ A and C
//!                        └─ B used: the client has it, A is over        ▶ B and C
//! ```
//!
//! So there are never more than two for one seat, and one that was replaced and not needed again is worth nothing.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use netloom_wire::Micros;

use super::PeerId;
use super::admission::network;
use crate::crypto::{digest, equal_in_constant_time};
use crate::handshake::ResumeToken;

#[derive(Clone, Copy, Debug)]
struct Seat {
    /// Who sits there as far as the application knows.
    peer: PeerId,
    sealed: bool,
    network: u64,
    /// `None` while a connection holds or awaits this token.
    expires: Option<Micros>,
    /// The other token of the same seat.
    twin: Option<TokenDigest>,
    /// The connection that takes the seat up and has not confirmed its keys yet.
    pending: Option<PeerId>,
}

/// The name under which a token is kept.
pub type TokenDigest = [u8; 32];

/// What a token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Whose seat it takes up.
    pub peer: PeerId,
    /// An earlier attempt at the same seat, which it ends.
    pub pending: Option<PeerId>,
}

/// The seats by the digest of their tokens.
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
    /// Remembers the seat of a new peer, or a second token of the seat that `used` takes up.
    pub fn insert(
        &mut self,
        token: &ResumeToken,
        peer: PeerId,
        sealed: bool,
        from: SocketAddr,
        used: Option<&ResumeToken>,
    ) -> TokenDigest {
        let name = digest(&token.0);
        let network = network(from.ip(), 24);
        let mut seat = Seat { peer, sealed, network, expires: None, twin: None, pending: None };
        let used = used.map(|used| digest(&used.0));
        if let Some(old) = used.and_then(|used| self.seats.get_mut(&used)) {
            (old.twin, old.pending) = (Some(name), Some(peer));
            seat = Seat { peer: old.peer, twin: used, pending: Some(peer), ..seat };
        }
        self.seats.insert(name, seat);
        name
    }

    /// A seat is given for this token. Whoever comes with it does not need the other one of the seat; it stays good until
    /// the new one is proven, at the latest until `expires`.
    pub fn handle_used(&mut self, token: &ResumeToken, expires: Micros) {
        let Some(seat) = self.seats.get_mut(&digest(&token.0)) else { return };
        let expires = *seat.expires.get_or_insert(expires);
        seat.pending = None;
        let twin = seat.twin.take();
        self.next_expiry = self.next_expiry.min(expires);
        twin.map(|twin| self.seats.remove(&twin));
    }

    /// The client of this connection has shown that it holds the token.
    pub fn handle_confirmed(&mut self, name: &TokenDigest, peer: PeerId) {
        let Some(seat) = self.seats.get_mut(name) else { return };
        (seat.peer, seat.expires, seat.pending) = (peer, None, None);
        let twin = seat.twin.take();
        twin.map(|twin| self.seats.remove(&twin));
    }

    /// The client of this connection has shown nothing: it may have got the token or not.
    pub fn handle_unconfirmed(&mut self, name: &TokenDigest) {
        let twin = self.seats.get(name).and_then(|seat| seat.twin);
        let Some(expires) = twin.and_then(|twin| self.seats.get(&twin)?.expires) else {
            return self.forget(name);
        };
        for name in [Some(*name), twin].into_iter().flatten() {
            if let Some(seat) = self.seats.get_mut(&name) {
                (seat.expires, seat.pending) = (Some(expires), None);
            }
        }
    }

    /// The connection was lost: its seat stays until `expires`.
    pub fn handle_lost(&mut self, name: &TokenDigest, expires: Micros, seats_max: usize) {
        if let Some(seat) = self.seats.get_mut(name) {
            seat.expires = Some(expires);
            self.next_expiry = self.next_expiry.min(expires);
        }
        if self.seats.len() > seats_max {
            let oldest = self.seats.iter().filter_map(|(name, seat)| Some((seat.expires?, *name))).min();
            if let Some((_, name)) = oldest {
                self.forget(&name);
            }
        }
    }

    /// The connection ended for good.
    pub fn forget(&mut self, name: &TokenDigest) {
        let twin = self.seats.remove(name).and_then(|seat| seat.twin);
        twin.map(|twin| self.seats.remove(&twin));
    }

    /// Drops seats whose time has run out.
    #[inline]
    pub fn expire(&mut self, now: Micros) {
        if now >= self.next_expiry {
            self.drop_expired(now);
        }
    }

    #[cold]
    fn drop_expired(&mut self, now: Micros) {
        self.seats.retain(|_, seat| seat.expires.is_none_or(|expires| now < expires));
        self.next_expiry = self.seats.values().filter_map(|seat| seat.expires).min().unwrap_or(Micros::MAX);
    }

    /// What a token is good for.
    ///
    /// Without encryption the token could have been read on the way, so it is good only from the same network.
    pub fn peek(&self, now: Micros, token: &ResumeToken, sealed: bool, from: SocketAddr) -> Option<Claim> {
        let name = digest(&token.0);
        let (kept, seat) = self.seats.get_key_value(&name)?;
        let in_time = seat.expires.is_none_or(|expires| now < expires);
        let trusted = if seat.sealed { sealed } else { network(from.ip(), 24) == seat.network };
        let claim = Claim { peer: seat.peer, pending: seat.pending };
        (equal_in_constant_time(kept, &name) && in_time && trusted).then_some(claim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Micros = Micros::from_secs(60);

    fn token(number: u8) -> ResumeToken {
        ResumeToken([number; 32])
    }

    fn peer(number: u16) -> PeerId {
        PeerId { index: number, generation: 1 }
    }

    fn home() -> SocketAddr {
        "10.0.0.1:9".parse().unwrap()
    }

    fn good_for(seats: &Seats, number: u8) -> Option<PeerId> {
        seats.peek(Micros::from_secs(59), &token(number), true, home()).map(|claim| claim.peer)
    }

    /// Peer 1 with token 1, whose connection is lost.
    fn with_lost_seat() -> Seats {
        let mut seats = Seats::default();
        let name = seats.insert(&token(1), peer(1), true, home(), None);
        seats.handle_lost(&name, MINUTE, 10);
        seats
    }

    /// Somebody comes with token `used`, and is peer `number` with token `number`.
    fn take_up(seats: &mut Seats, used: u8, number: u8) -> TokenDigest {
        seats.handle_used(&token(used), MINUTE);
        seats.insert(&token(number), peer(number.into()), true, home(), Some(&token(used)))
    }

    #[test]
    fn a_token_is_good_for_a_while_and_until_the_next_one_is_proven() {
        let mut seats = with_lost_seat();
        assert_eq!(good_for(&seats, 1), Some(peer(1)));
        assert_eq!(seats.peek(MINUTE, &token(1), true, home()), None, "too late");
        assert_eq!(good_for(&seats, 2), None, "guessed");
        let second = take_up(&mut seats, 1, 2);
        assert_eq!((good_for(&seats, 1), good_for(&seats, 2)), (Some(peer(1)), Some(peer(1))));
        seats.handle_confirmed(&second, peer(2));
        assert_eq!((good_for(&seats, 1), good_for(&seats, 2)), (None, Some(peer(2))));
        seats.forget(&second);
        assert_eq!(good_for(&seats, 2), None, "said goodbye");
        assert!(seats.seats.is_empty());
    }

    #[test]
    fn whichever_token_a_client_was_left_with_is_good_and_the_other_is_over_then() {
        for (left_with, over) in [(1, 2), (2, 1)] {
            let mut seats = with_lost_seat();
            let second = take_up(&mut seats, 1, 2);
            let claim = seats.peek(Micros::ZERO, &token(left_with), true, home()).unwrap();
            assert_eq!(claim, Claim { peer: peer(1), pending: Some(peer(2)) });
            seats.handle_unconfirmed(&second);
            let claim = seats.peek(Micros::ZERO, &token(left_with), true, home()).unwrap();
            assert_eq!(claim, Claim { peer: peer(1), pending: None });
            let third = take_up(&mut seats, left_with, 3);
            assert_eq!(good_for(&seats, over), None);
            assert_eq!(good_for(&seats, left_with), Some(peer(1)));
            seats.handle_confirmed(&third, peer(3));
            assert_eq!((good_for(&seats, left_with), good_for(&seats, 3)), (None, Some(peer(3))));
            assert_eq!(seats.seats.len(), 1);
        }
    }

    #[test]
    fn attempts_without_end_hold_two_tokens_and_no_more_time() {
        let mut seats = with_lost_seat();
        for number in 2..200 {
            let next = take_up(&mut seats, 1, number);
            assert_eq!(seats.seats.len(), 2);
            seats.handle_unconfirmed(&next);
        }
        seats.expire(MINUTE);
        assert!(seats.seats.is_empty());
    }

    #[test]
    fn a_first_token_that_is_never_proven_is_forgotten() {
        let mut seats = Seats::default();
        let name = seats.insert(&token(1), peer(1), true, home(), None);
        seats.handle_unconfirmed(&name);
        assert!(seats.seats.is_empty());
    }

    #[test]
    fn one_that_is_proven_after_the_window_is_kept() {
        let mut seats = with_lost_seat();
        let second = take_up(&mut seats, 1, 2);
        seats.expire(MINUTE);
        assert_eq!(seats.seats.len(), 1, "the old one is over");
        seats.handle_confirmed(&second, peer(2));
        assert_eq!(good_for(&seats, 2), Some(peer(2)));
        let mut seats = with_lost_seat();
        let second = take_up(&mut seats, 1, 2);
        seats.expire(MINUTE);
        seats.handle_unconfirmed(&second);
        assert!(seats.seats.is_empty());
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
            let mut seats = Seats::default();
            seats.insert(&token(1), peer(1), sealed_seat, home(), None);
            assert_eq!(seats.peek(Micros::ZERO, &token(1), sealed, from).is_some(), good);
        }
    }

    #[test]
    fn lost_seats_are_bounded_and_expire() {
        let mut seats = Seats::default();
        for number in 0..100u8 {
            let name = seats.insert(&token(number), peer(number.into()), true, home(), None);
            seats.handle_lost(&name, Micros::from_secs(60 + u64::from(number)), 10);
        }
        assert_eq!(seats.seats.len(), 10);
        assert_eq!(good_for(&seats, 99), Some(peer(99)));
        seats.expire(Micros::from_secs(1000));
        assert!(seats.seats.is_empty());
    }
}
