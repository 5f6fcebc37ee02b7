//! How many strangers a server listens to.
//!
//! Before an address is proven, anybody can write anything into a datagram, so everything spent on it is limited: per
//! address, and in total. The table of addresses has a fixed size; two addresses that share a place share a limit,
//! and the secret of the hash keeps an attacker from choosing whom he shares one with.

use std::net::{IpAddr, SocketAddr};

use netloom_wire::Micros;

use crate::config::ListenConfig;
use crate::crypto::Entropy;

const PLACES: usize = 4_096;

/// A limit of so many per second, with one second's worth in store.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// When the store was last empty enough to count from, in microseconds of credit already used up.
    used_until: Micros,
}

impl Limit {
    const FRESH: Limit = Limit { used_until: Micros::ZERO };

    fn allows(&mut self, now: Micros, per_second: u32) -> bool {
        let cost = Micros(1_000_000 / u64::from(per_second.max(1)));
        let start = self.used_until.max(now - Micros::from_secs(1));
        if start + cost > now {
            return false;
        }
        self.used_until = start + cost;
        true
    }
}

/// The limits on requests from addresses that prove nothing yet, and on key agreements.
#[derive(Debug)]
pub struct Admission {
    places: Vec<Limit>,
    unproven: Limit,
    handshakes: Limit,
    secret: [u64; 2],
    /// Limits count from here, so that the first second is not empty-handed.
    origin: Micros,
}

impl Admission {
    pub fn new(now: Micros, entropy: &mut Entropy) -> Admission {
        let secret = [entropy.u64(), entropy.u64() | 1];
        Admission {
            places: vec![Limit::FRESH; PLACES],
            unproven: Limit::FRESH,
            handshakes: Limit::FRESH,
            secret,
            origin: now,
        }
    }

    /// Whether to look at a Connect from here.
    pub fn admits_request(&mut self, now: Micros, from: SocketAddr, config: &ListenConfig) -> bool {
        let now = self.since_origin(now);
        let place = self.place(from.ip());
        self.places[place].allows(now, config.unproven_per_address_per_second)
            && self.unproven.allows(now, config.unproven_per_second)
    }

    /// Whether to agree on keys with a peer that has proven its address.
    pub fn admits_handshake(&mut self, now: Micros, config: &ListenConfig) -> bool {
        let now = self.since_origin(now);
        self.handshakes.allows(now, config.handshakes_per_second)
    }

    fn since_origin(&self, now: Micros) -> Micros {
        now - self.origin + Micros::from_secs(1)
    }

    fn place(&self, ip: IpAddr) -> usize {
        let key = network(ip, 32);
        let mixed = u128::from(key ^ self.secret[0]) * u128::from(self.secret[1]);
        ((mixed >> 64) as u64 ^ mixed as u64) as usize % PLACES
    }
}

/// The network that an address belongs to: its /64 for IPv6, its first `v4_bits` bits for IPv4.
pub fn network(ip: IpAddr, v4_bits: u32) -> u64 {
    match ip.to_canonical() {
        IpAddr::V4(ip) => u64::from(u32::from(ip) & (u32::MAX << (32 - v4_bits))) | 1 << 32,
        IpAddr::V6(ip) => (u128::from(ip) >> 64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn admission() -> Admission {
        Admission::new(Micros::from_secs(100), &mut Entropy::new(&[1; 32]))
    }

    #[test]
    fn one_address_cannot_use_up_what_others_need() {
        let (mut admission, config) = (admission(), ListenConfig::default());
        let now = Micros::from_secs(100);
        let flood =
            (0..10_000).filter(|_| admission.admits_request(now, address("10.0.0.1:5"), &config)).count();
        assert_eq!(flood, config.unproven_per_address_per_second as usize);
        assert!(admission.admits_request(now, address("10.0.0.2:5"), &config));
    }

    #[test]
    fn the_total_is_limited_too_and_recovers() {
        let (mut admission, config) = (admission(), ListenConfig::default());
        let flood = |admission: &mut Admission, now| {
            (0..20_000u32)
                .filter(|n| {
                    admission.admits_request(
                        now,
                        SocketAddr::from(((0x0b00_0000 + n).to_be_bytes(), 9)),
                        &config,
                    )
                })
                .count()
        };
        assert_eq!(flood(&mut admission, Micros::from_secs(100)), config.unproven_per_second as usize);
        assert_eq!(flood(&mut admission, Micros::from_secs(100)), 0);
        let half_later = flood(&mut admission, Micros::from_millis(100_500));
        assert_eq!(half_later, config.unproven_per_second as usize / 2);
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        assert_eq!(
            network(address("[2001:db8:0:1::1]:1").ip(), 32),
            network(address("[2001:db8:0:1:ffff::9]:1").ip(), 32)
        );
        assert_ne!(
            network(address("[2001:db8:0:1::1]:1").ip(), 32),
            network(address("[2001:db8:0:2::1]:1").ip(), 32)
        );
        assert_ne!(network(address("10.0.0.1:1").ip(), 32), network(address("10.0.0.2:1").ip(), 32));
        assert_eq!(network(address("10.0.0.1:1").ip(), 24), network(address("10.0.0.2:1").ip(), 24));
        assert_eq!(network(address("[::ffff:10.0.0.1]:1").ip(), 32), network(address("10.0.0.1:1").ip(), 32));
    }
}
