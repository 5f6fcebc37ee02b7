//! Proof of an address without memory of who was asked for it.
//!
//! A cookie is its time and a MAC over that, the address and the port. Whoever returns it has received a datagram there. The secret changes
//! every minute and the one before it stays valid, so that a cookie lives long enough to be returned and too short to be collected.

use std::net::{IpAddr, SocketAddr};

use netloom::proto::crypto::{CookieKey, Entropy};
use netloom::wire::Micros;

use crate::classic::codec::Cookie;

const ROTATION: Micros = Micros::from_secs(60);
const LIFETIME_MS: u32 = 15_000;

pub struct Cookies {
    current: CookieKey,
    previous: CookieKey,
    rotated_at: Micros,
}

impl Cookies {
    pub fn new(now: Micros, entropy: &mut Entropy) -> Cookies {
        let (current, previous) = (CookieKey::generate(entropy), CookieKey::generate(entropy));
        Cookies { current, previous, rotated_at: now }
    }

    /// Replaces the older secret when its time has come.
    pub fn rotate(&mut self, now: Micros, entropy: &mut Entropy) {
        if now.since(self.rotated_at) >= ROTATION {
            self.previous = std::mem::replace(&mut self.current, CookieKey::generate(entropy));
            self.rotated_at = now;
        }
    }

    pub fn issue(&self, now: Micros, to: SocketAddr) -> Cookie {
        self.current.issue(millis(now), &claims(to))
    }

    /// Whether a cookie was issued to this address not long ago.
    pub fn redeem(&self, now: Micros, from: SocketAddr, cookie: &Cookie) -> bool {
        let claims = claims(from);
        let issued =
            [&self.current, &self.previous].into_iter().find_map(|key| key.issued_at(cookie, &claims));
        issued.is_some_and(|issued| millis(now).wrapping_sub(issued) <= LIFETIME_MS)
    }
}

fn millis(now: Micros) -> u32 {
    (now.0 / 1_000) as u32
}

fn claims(address: SocketAddr) -> [u8; 18] {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let mut claims = [0; 18];
    claims[..16].copy_from_slice(&ip.octets());
    claims[16..].copy_from_slice(&address.port().to_le_bytes());
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_worth_something_at_its_address_and_port_for_a_while() {
        let mut entropy = Entropy::new(&[3; 32]);
        let mut cookies = Cookies::new(Micros::ZERO, &mut entropy);
        let home: SocketAddr = "192.0.2.1:4000".parse().unwrap();
        let cookie = cookies.issue(Micros::from_secs(59), home);
        assert!(cookies.redeem(Micros::from_secs(59), home, &cookie));
        for elsewhere in ["192.0.2.2:4000", "192.0.2.1:4001", "[2001:db8::1]:4000"] {
            assert!(!cookies.redeem(Micros::from_secs(59), elsewhere.parse().unwrap(), &cookie));
        }
        let mut forged = cookie;
        forged[19] ^= 1;
        assert!(!cookies.redeem(Micros::from_secs(59), home, &forged));
        assert!(!cookies.redeem(Micros::from_secs(59), home, &[0; 20]));
        cookies.rotate(Micros::from_secs(60), &mut entropy);
        assert!(cookies.redeem(Micros::from_secs(74), home, &cookie), "one change of the secret later");
        assert!(!cookies.redeem(Micros::from_secs(75), home, &cookie), "too old");
        assert!(!cookies.redeem(Micros::from_secs(58), home, &cookie), "from the future");
    }
}
