//! An eavesdropper on the wire.
//!
//! ChaCha20-Poly1305 gives up its secrets when one key seals two different packets under one number. Neither side
//! notices: only somebody who sees all the traffic can. The tap remembers a checksum of every sealed packet by sender,
//! session and number. The same packet may pass twice, a different one may not.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::Violation;
use super::payload::checksum;

/// What must be unique to one ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketKey {
    /// The sending node's socket: each direction has a key of its own.
    pub sender: SocketAddr,
    /// The session.
    pub session: u64,
    /// The full packet number.
    pub number: u64,
}

/// Remembers what passed. The maps are only looked up, so their order never shows.
#[derive(Debug, Default)]
pub struct WireTap {
    packets: HashMap<PacketKey, u64>,
    keys: HashMap<u64, u64>,
}

impl WireTap {
    /// A tap that has seen nothing.
    pub fn new() -> WireTap {
        WireTap::default()
    }

    /// A sealed packet passed.
    pub fn handle_packet(&mut self, key: PacketKey, datagram: &[u8]) -> Result<(), Violation> {
        let sum = checksum(datagram);
        match self.packets.insert(key, sum) {
            Some(earlier) if earlier != sum => Err(Violation::new(
                "a packet number is used once",
                format!(
                    "{} sent number {} of session {:016x} twice",
                    key.sender, key.number, key.session
                ),
            )),
            _ => Ok(()),
        }
    }

    /// A session came to use a key with this fingerprint. Both sides of the session may report it.
    pub fn handle_key(&mut self, fingerprint: u64, session: u64) -> Result<(), Violation> {
        match self.keys.insert(fingerprint, session) {
            Some(earlier) if earlier != session => Err(Violation::new(
                "a key belongs to one session",
                format!("sessions {earlier:016x} and {session:016x} use the key {fingerprint:016x}"),
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64) -> PacketKey {
        PacketKey {
            sender: SocketAddr::from(([10, 0, 0, 1], 1)),
            session: 7,
            number,
        }
    }

    #[test]
    fn a_repeated_packet_is_fine_and_a_different_one_under_its_number_is_not() {
        let mut tap = WireTap::new();
        tap.handle_packet(key(1), b"first").unwrap();
        tap.handle_packet(key(1), b"first").unwrap();
        tap.handle_packet(key(2), b"other").unwrap();
        tap.handle_packet(PacketKey { session: 8, ..key(1) }, b"other")
            .unwrap();
        assert_eq!(
            tap.handle_packet(key(1), b"other").unwrap_err().rule,
            "a packet number is used once"
        );
    }

    #[test]
    fn a_key_may_not_move_to_another_session() {
        let mut tap = WireTap::new();
        tap.handle_key(1, 10).unwrap();
        tap.handle_key(1, 10).unwrap();
        tap.handle_key(2, 11).unwrap();
        assert_eq!(
            tap.handle_key(1, 12).unwrap_err().rule,
            "a key belongs to one session"
        );
    }
}
