//! An eavesdropper on the wire.
//!
//! ChaCha20-Poly1305 gives up its secrets when one key seals two different packets under one number. Neither side
//! notices: only somebody who sees all the traffic can. The tap remembers a checksum of every sealed packet by sender,
//! session and number. The same packet may pass twice, a different one may not.

use std::collections::HashMap;
use std::net::SocketAddr;

use netloom_proto::PeerId;

use super::Violation;
use super::payload::checksum;

/// What must be unique to one ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketKey {
    /// The sending node's socket: each direction has a key of its own.
    pub sender: SocketAddr,
    /// Where it goes: a client's sessions are told apart by their path.
    pub to: SocketAddr,
    /// Which session on that path.
    pub session: u64,
    /// The full packet number.
    pub number: u64,
}

/// Remembers what passed. The maps are only looked up, so their order never shows.
#[derive(Debug, Default)]
pub struct WireTap {
    packets: HashMap<PacketKey, u64>,
    keys: HashMap<(u64, bool), KeyHolder>,
}

/// One side of one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHolder {
    /// The node's socket.
    pub node: SocketAddr,
    /// Which start of its process.
    pub start: u64,
    /// Its name for the other side.
    pub peer: PeerId,
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
                format!("{} sent number {} of session {} twice", key.sender, key.number, key.session),
            )),
            _ => Ok(()),
        }
    }

    /// One side of a session uses a key with this fingerprint. A key has one holder on the server's side and one on
    /// the client's, for ever.
    pub fn handle_key(
        &mut self,
        fingerprint: u64,
        is_server: bool,
        holder: KeyHolder,
    ) -> Result<(), Violation> {
        match self.keys.insert((fingerprint, is_server), holder) {
            Some(earlier) if earlier != holder => Err(Violation::new(
                "a key belongs to one session",
                format!("{earlier:?} and {holder:?} use the key {fingerprint:016x}"),
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_proto::{Config, Endpoint, Micros};

    fn key(number: u64) -> PacketKey {
        let node = SocketAddr::from(([10, 0, 0, 1], 1));
        PacketKey { sender: node, to: node, session: 7, number }
    }

    #[test]
    fn a_repeated_packet_is_fine_and_a_different_one_under_its_number_is_not() {
        let mut tap = WireTap::new();
        tap.handle_packet(key(1), b"first").unwrap();
        tap.handle_packet(key(1), b"first").unwrap();
        tap.handle_packet(key(2), b"other").unwrap();
        tap.handle_packet(PacketKey { session: 8, ..key(1) }, b"other").unwrap();
        assert_eq!(tap.handle_packet(key(1), b"other").unwrap_err().rule, "a packet number is used once");
    }

    #[test]
    fn a_key_may_not_move_to_another_session() {
        let mut endpoint = Endpoint::new(Config::default(), None, [0; 32]).unwrap();
        let node = key(0).sender;
        let peer = endpoint.connect(Micros::ZERO, node, None).unwrap();
        let holder = KeyHolder { node, start: 0, peer };
        let restarted = KeyHolder { start: 1, ..holder };
        let mut tap = WireTap::new();
        tap.handle_key(1, true, holder).unwrap();
        tap.handle_key(1, true, holder).unwrap();
        tap.handle_key(1, false, restarted).unwrap();
        tap.handle_key(2, true, restarted).unwrap();
        let violation = tap.handle_key(1, true, restarted).unwrap_err();
        assert_eq!(violation.rule, "a key belongs to one session");
    }
}
