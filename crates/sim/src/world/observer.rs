//! What somebody who sees the whole network checks.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::SocketAddr;

use netloom_proto::packet::{self, Header, PacketType};

use crate::check::{
    AmplificationCheck, HANDSHAKE_FACTOR, KeyHolder, MIGRATION_FACTOR, PacketKey, Violation, WireTap, at_most,
};
use crate::network::Delivery;

/// Watches datagrams leave and arrive.
#[derive(Debug, Default)]
pub struct Observer {
    tap: WireTap,
    amplification: BTreeMap<SocketAddr, AmplificationCheck>,
    // How many sessions began on a path, and the packet that began the newest. All maps are only looked up.
    openings: HashMap<(SocketAddr, SocketAddr), (u64, Vec<u8>)>,
    // The largest full packet number by sender, destination and session.
    largest: HashMap<(SocketAddr, SocketAddr, u64), u64>,
    recorded: VecDeque<Recorded>,
    recorded_max: usize,
    handshakes: Vec<Recorded>,
}

/// A datagram as somebody on the path sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The sender's external address.
    pub from: SocketAddr,
    /// Where it goes.
    pub to: SocketAddr,
    /// The bytes.
    pub datagram: Vec<u8>,
}

/// A datagram that a node sends.
pub struct Sent<'a> {
    /// The sending node.
    pub sender: SocketAddr,
    /// Its external address.
    pub external: SocketAddr,
    /// Whether it accepts connections.
    pub is_server: bool,
    /// Where the datagram goes.
    pub to: SocketAddr,
    /// The sender's limit.
    pub mtu: usize,
    /// The bytes.
    pub datagram: &'a [u8],
}

impl Observer {
    /// Keeps the newest datagrams, and all handshakes, from now on.
    pub fn record(&mut self, datagrams_max: usize) {
        self.recorded_max = datagrams_max;
    }

    /// The newest datagrams.
    pub fn recorded(&self) -> &VecDeque<Recorded> {
        &self.recorded
    }

    /// All datagrams of handshakes.
    pub fn handshakes(&self) -> &[Recorded] {
        &self.handshakes
    }

    fn keep(&mut self, from: SocketAddr, to: SocketAddr, datagram: &[u8]) {
        if self.recorded_max == 0 {
            return;
        }
        let seen = Recorded { from, to, datagram: datagram.to_vec() };
        if packet::packet_type(datagram).is_ok_and(|kind| kind.is_handshake()) {
            self.handshakes.push(seen.clone());
        }
        if self.recorded.len() == self.recorded_max {
            self.recorded.pop_front();
        }
        self.recorded.push_back(seen);
    }

    /// A node sends a datagram.
    pub fn handle_sent(&mut self, sent: &Sent<'_>) -> Result<(), Violation> {
        self.keep(sent.external, sent.to, sent.datagram);
        at_most("a datagram fits the mtu", sent.datagram.len() as u64, sent.mtu as u64)?;
        if sent.is_server {
            let check = self.amplification.entry(sent.sender).or_default();
            check.handle_sent(sent.to, sent.datagram.len())?;
        }
        let session = self.session(sent);
        // A sealed packet to a server names it by alias, one to a client by nothing.
        let Ok((header, _)) = Header::parse(sent.datagram, !sent.is_server) else {
            return Ok(());
        };
        if !header.session.is_sealed() {
            return Ok(());
        }
        let largest = self.largest.entry((sent.sender, sent.to, session)).or_default();
        let number = full_number(header.number, *largest);
        *largest = (*largest).max(number);
        self.tap.handle_packet(PacketKey { sender: sent.sender, to: sent.to, session, number }, sent.datagram)
    }

    /// Sealed packets name no session that an onlooker could tell apart, but each session begins with a packet that no
    /// other has: the client's Connect, the server's Accept. So sessions are counted by their openings.
    fn session(&mut self, sent: &Sent<'_>) -> u64 {
        let opening = if sent.is_server { PacketType::Accept } else { PacketType::Connect };
        let (count, newest) = self.openings.entry((sent.sender, sent.to)).or_default();
        if packet::packet_type(sent.datagram) == Ok(opening) && newest.as_slice() != sent.datagram {
            *count += 1;
            *newest = sent.datagram.to_vec();
        }
        *count
    }

    /// One side of a session uses a key.
    pub fn handle_key(
        &mut self,
        fingerprint: u64,
        is_server: bool,
        holder: KeyHolder,
    ) -> Result<(), Violation> {
        self.tap.handle_key(fingerprint, is_server, holder)
    }

    /// A datagram arrives at a node whose external address is `external`.
    pub fn handle_arrival(
        &mut self,
        delivery: &Delivery,
        external: SocketAddr,
        is_server: bool,
        datagram: &[u8],
    ) {
        if is_server {
            let is_handshake = packet::packet_type(datagram).is_ok_and(|kind| kind.is_handshake());
            let factor = if is_handshake { HANDSHAKE_FACTOR } else { MIGRATION_FACTOR };
            let check = self.amplification.entry(delivery.to).or_default();
            check.handle_received(delivery.from, delivery.sent_at, datagram.len(), factor);
            return;
        }
        if let Some(check) = self.amplification.get_mut(&delivery.from) {
            check.handle_reached(external, delivery.at);
        }
    }

    /// A server's process died, and with it what it knew of addresses.
    pub fn handle_restart(&mut self, server: SocketAddr) {
        self.amplification.remove(&server);
    }
}

/// The full number nearest to the largest one that has these low 16 bits.
fn full_number(truncated: u16, largest: u64) -> u64 {
    let base = largest & !0xffff | u64::from(truncated);
    let candidates = [base.checked_sub(0x1_0000), Some(base), base.checked_add(0x1_0000)];
    let nearest = candidates.into_iter().flatten().min_by_key(|candidate| candidate.abs_diff(largest));
    nearest.unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::full_number;

    #[test]
    fn truncated_numbers_unfold_to_the_nearest() {
        assert_eq!(full_number(0, 0), 0);
        assert_eq!(full_number(3, 0), 3);
        assert_eq!(full_number(0xffff, 0), 0xffff);
        assert_eq!(full_number(0, 0xffff), 0x1_0000);
        assert_eq!(full_number(0xfffe, 0x1_0001), 0xfffe);
        assert_eq!(full_number(0x1234, 0x7_1230), 0x7_1234);
    }
}
