//! Nobody may be made the target of a server's replies.
//!
//! A source address is a claim. Until its owner has answered something that was sent *to* it, a server may send there at
//! most a small multiple of what came from there. Whether an address is proved is judged from causality alone, as only
//! an observer of the whole network can:
//!
//! ```text
//! server ──────▶ address X        X was reached at t1
//! server ◀────── address X        sent at t2: a proof is possible only if t2 ≥ t1
//! ```

use std::collections::HashMap;
use std::net::SocketAddr;

use netloom_wire::Micros;

use super::Violation;

/// How much a server may send to an address that started a handshake, relative to what it received.
pub const HANDSHAKE_FACTOR: u64 = 1;

/// The same for an address from which packets of an established session came.
pub const MIGRATION_FACTOR: u64 = 3;

#[derive(Debug, Default)]
struct Path {
    received_bytes: u64,
    sent_bytes: u64,
    factor: u64,
    reached_at: Option<Micros>,
    is_proven: bool,
}

/// The paths of one server.
#[derive(Debug, Default)]
pub struct AmplificationCheck {
    paths: HashMap<SocketAddr, Path>,
}

impl AmplificationCheck {
    /// A server that nobody has spoken to.
    pub fn new() -> AmplificationCheck {
        AmplificationCheck::default()
    }

    /// The server received a datagram; `factor` is what the sender's standing allows it.
    pub fn handle_received(&mut self, from: SocketAddr, sent_at: Micros, bytes: usize, factor: u64) {
        let path = self.paths.entry(from).or_default();
        path.received_bytes += bytes as u64;
        path.factor = path.factor.max(factor);
        path.is_proven |= path.reached_at.is_some_and(|reached_at| sent_at >= reached_at);
    }

    /// The server sent a datagram.
    pub fn handle_sent(&mut self, to: SocketAddr, bytes: usize) -> Result<(), Violation> {
        let path = self.paths.entry(to).or_default();
        path.sent_bytes += bytes as u64;
        if path.is_proven || path.sent_bytes <= path.factor * path.received_bytes {
            return Ok(());
        }
        Err(Violation::new(
            "an unproven address gets little",
            format!(
                "{} bytes to {to} for {} received, allowed {}x",
                path.sent_bytes, path.received_bytes, path.factor
            ),
        ))
    }

    /// A datagram of the server reached the owner of an address.
    pub fn handle_reached(&mut self, address: SocketAddr, now: Micros) {
        self.paths.entry(address).or_default().reached_at.get_or_insert(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address() -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 9], 1))
    }

    #[test]
    fn replies_to_an_unproven_address_are_bounded_by_its_requests() {
        let mut check = AmplificationCheck::new();
        check.handle_received(address(), Micros(1), 100, HANDSHAKE_FACTOR);
        check.handle_sent(address(), 100).unwrap();
        assert!(check.handle_sent(address(), 1).is_err());
    }

    #[test]
    fn a_migrating_session_may_send_three_times_as_much() {
        let mut check = AmplificationCheck::new();
        check.handle_received(address(), Micros(1), 100, MIGRATION_FACTOR);
        check.handle_sent(address(), 300).unwrap();
        assert!(check.handle_sent(address(), 1).is_err());
    }

    #[test]
    fn only_an_answer_sent_after_being_reached_is_a_proof() {
        let mut check = AmplificationCheck::new();
        check.handle_received(address(), Micros(1), 100, HANDSHAKE_FACTOR);
        check.handle_sent(address(), 100).unwrap();
        check.handle_reached(address(), Micros(50));
        check.handle_received(address(), Micros(49), 10, HANDSHAKE_FACTOR);
        assert!(check.handle_sent(address(), 11).is_err());
        check.handle_received(address(), Micros(50), 10, HANDSHAKE_FACTOR);
        check.handle_sent(address(), 10_000).unwrap();
    }

    #[test]
    fn talking_to_a_stranger_unasked_is_refused() {
        assert!(AmplificationCheck::new().handle_sent(address(), 1).is_err());
    }
}
