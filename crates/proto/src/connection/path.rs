//! A peer whose address changes.
//!
//! A sealed packet that arrives from elsewhere proves who sent it but not that the sender can be reached there: anyone
//! who sees packets can replay them first from another address. So the new address is asked to return a random
//! number, everything else keeps going to the old one until it has, and what is sent there before is at most three
//! times what came from it.

use std::net::SocketAddr;

use netloom_wire::Micros;

/// Bytes of the number to return.
pub const PROOF_BYTES: usize = 8;

const RESEND: Micros = Micros::from_millis(250);
const LIFETIME: Micros = Micros::from_secs(3);
const AMPLIFICATION: usize = 3;

/// What is going on about addresses, on either side of a change. Seldom anything.
#[derive(Debug, Default)]
pub struct Path {
    /// Where the other side may be now.
    pub probe: Option<PathProbe>,
    /// What the other side asks us to return.
    pub answer: Option<[u8; PROOF_BYTES]>,
}

impl Path {
    /// Whether nothing is going on any more.
    pub fn is_settled(&mut self, now: Micros) -> bool {
        self.probe = self.probe.take().filter(|probe| !probe.has_failed(now));
        self.probe.is_none() && self.answer.is_none()
    }

    /// When a packet of `bytes` is due, or an examination ends.
    pub fn deadline(&self, now: Micros, bytes: usize) -> Micros {
        let probe = self.probe.as_ref().map_or(Micros::MAX, |probe| probe.deadline(bytes));
        if self.answer.is_some() { now } else { probe }
    }
}

/// A new address under examination.
#[derive(Debug)]
pub struct PathProbe {
    address: SocketAddr,
    proof: [u8; PROOF_BYTES],
    next_send: Micros,
    ends: Micros,
    allowance: usize,
}

impl PathProbe {
    pub fn new(now: Micros, address: SocketAddr, proof: [u8; PROOF_BYTES]) -> PathProbe {
        PathProbe { address, proof, next_send: now, ends: now + LIFETIME, allowance: 0 }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `bytes` of authentic packets came from there.
    pub fn handle_received(&mut self, bytes: usize) {
        self.allowance += AMPLIFICATION * bytes;
    }

    /// The number to ask for, if it is time and the allowance covers a packet of `bytes`.
    pub fn poll_challenge(&mut self, now: Micros, bytes: usize) -> Option<[u8; PROOF_BYTES]> {
        if now < self.next_send || self.allowance < bytes {
            return None;
        }
        self.allowance -= bytes;
        self.next_send = now + RESEND;
        Some(self.proof)
    }

    /// Whether this answer proves the address.
    pub fn is_proven_by(&self, from: SocketAddr, proof: &[u8; PROOF_BYTES]) -> bool {
        from == self.address && crate::crypto::equal_in_constant_time(&self.proof, proof)
    }

    pub fn has_failed(&self, now: Micros) -> bool {
        now >= self.ends
    }

    /// When a challenge of `bytes` is due, if it may be sent at all, or the examination ends.
    pub fn deadline(&self, bytes: usize) -> Micros {
        match self.allowance < bytes {
            true => self.ends,
            false => self.next_send.min(self.ends),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_three_times_the_bytes_go_to_an_unproven_address() {
        let home: SocketAddr = "10.0.0.1:1".parse().unwrap();
        let mut probe = PathProbe::new(Micros::ZERO, home, [1; 8]);
        assert_eq!(probe.poll_challenge(Micros::ZERO, 30), None, "nothing came from there");
        probe.handle_received(25);
        let mut sent = 0;
        for tick in 0..100 {
            sent += probe.poll_challenge(Micros::from_millis(50 * tick), 30).map_or(0, |_| 30);
        }
        assert_eq!(sent, 60);
        assert_eq!(probe.deadline(30), LIFETIME, "nothing to wake up for");
    }

    #[test]
    fn only_the_right_number_from_the_right_address_is_proof() {
        let home: SocketAddr = "10.0.0.1:1".parse().unwrap();
        let probe = PathProbe::new(Micros::ZERO, home, [1; 8]);
        assert!(probe.is_proven_by(home, &[1; 8]));
        assert!(!probe.is_proven_by(home, &[2; 8]));
        assert!(!probe.is_proven_by("10.0.0.1:2".parse().unwrap(), &[1; 8]));
        assert!(probe.has_failed(LIFETIME) && !probe.has_failed(Micros::ZERO));
    }
}
