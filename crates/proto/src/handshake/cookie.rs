//! The server's side before proof of address: it keeps two secrets and nothing per client.
//!
//! A cookie is a MAC over the client's address and claims. Whoever returns it has received a datagram at that
//! address. The secrets change every minute and the one before stays valid, so a cookie lives long enough to be
//! returned and too short to be collected. The X25519 key changes with them: what is derived from it cannot be
//! recovered once it is forgotten.

use std::net::{IpAddr, SocketAddr};

use netloom_wire::Micros;

use super::Claims;
use crate::crypto::{COOKIE_BYTES, CookieKey, Entropy, KeyPair};

const ROTATION: Micros = Micros::from_secs(60);
const COOKIE_LIFETIME_MS: u32 = 15_000;

#[derive(Debug)]
struct Secrets {
    cookie: CookieKey,
    keys: KeyPair,
}

impl Secrets {
    fn generate(entropy: &mut Entropy) -> Secrets {
        Secrets { cookie: CookieKey::generate(entropy), keys: KeyPair::generate(entropy) }
    }
}

/// The live secrets.
#[derive(Debug)]
pub struct CookieJar {
    current: Secrets,
    previous: Secrets,
    rotated_at: Micros,
}

impl CookieJar {
    /// Fresh secrets.
    pub fn new(now: Micros, entropy: &mut Entropy) -> CookieJar {
        CookieJar {
            current: Secrets::generate(entropy),
            previous: Secrets::generate(entropy),
            rotated_at: now,
        }
    }

    /// Replaces the older secret when its time has come.
    #[inline]
    pub fn rotate(&mut self, now: Micros, entropy: &mut Entropy) {
        if now - self.rotated_at >= ROTATION {
            self.replace(now, entropy);
        }
    }

    #[cold]
    fn replace(&mut self, now: Micros, entropy: &mut Entropy) {
        let fresh = Secrets::generate(entropy);
        self.previous = std::mem::replace(&mut self.current, fresh);
        self.rotated_at = now;
    }

    /// A cookie for these claims from this address, and the public key that goes with it.
    pub fn issue(&self, now: Micros, from: SocketAddr, claims: &Claims) -> ([u8; COOKIE_BYTES], &[u8; 32]) {
        let cookie = self.current.cookie.issue(millis(now), &bound(from, claims));
        (cookie, self.current.keys.public())
    }

    /// When this cookie was issued, in milliseconds, and the key pair whose public half was sent with it; `None` if
    /// the cookie is forged, old or stolen.
    pub fn redeem(
        &self,
        now: Micros,
        from: SocketAddr,
        claims: &Claims,
        cookie: &[u8; COOKIE_BYTES],
    ) -> Option<(u32, &KeyPair)> {
        let bound = bound(from, claims);
        [&self.current, &self.previous].into_iter().find_map(|secrets| {
            let issued = secrets.cookie.issued_at(cookie, &bound)?;
            let age = millis(now).wrapping_sub(issued);
            (age <= COOKIE_LIFETIME_MS).then_some((issued, &secrets.keys))
        })
    }
}

fn millis(now: Micros) -> u32 {
    (now.0 / 1_000) as u32
}

/// What a cookie vouches for: address, port, nonce and key.
fn bound(from: SocketAddr, claims: &Claims) -> [u8; 66] {
    let mut bytes = [0; 66];
    let ip = match from.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    bytes[..16].copy_from_slice(&ip.octets());
    bytes[16..18].copy_from_slice(&from.port().to_le_bytes());
    bytes[18..34].copy_from_slice(&claims.nonce);
    bytes[34..].copy_from_slice(&claims.public);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Security;

    fn claims() -> Claims {
        Claims {
            version: 1,
            layout_hash: 0,
            table_id: 0,
            security: Security::Required,
            nonce: [1; 16],
            public: [2; 32],
            alias: None,
        }
    }

    #[test]
    fn a_cookie_is_bound_to_address_port_nonce_and_key() {
        let mut entropy = Entropy::new(&[0; 32]);
        let jar = CookieJar::new(Micros::ZERO, &mut entropy);
        let now = Micros::from_secs(5);
        let home: SocketAddr = "10.0.0.1:4000".parse().unwrap();
        let (cookie, public) = jar.issue(now, home, &claims());
        let (issued, keys) = jar.redeem(now, home, &claims(), &cookie).unwrap();
        assert_eq!((issued, keys.public()), (5_000, public));
        for elsewhere in ["10.0.0.2:4000", "10.0.0.1:4001"] {
            assert!(jar.redeem(now, elsewhere.parse().unwrap(), &claims(), &cookie).is_none());
        }
        assert!(jar.redeem(now, home, &Claims { nonce: [9; 16], ..claims() }, &cookie).is_none());
        assert!(jar.redeem(now, home, &Claims { public: [9; 32], ..claims() }, &cookie).is_none());
    }

    #[test]
    fn a_cookie_survives_one_rotation_but_not_its_lifetime() {
        let mut entropy = Entropy::new(&[0; 32]);
        let mut jar = CookieJar::new(Micros::ZERO, &mut entropy);
        let home: SocketAddr = "[::1]:4000".parse().unwrap();
        let (cookie, public) = jar.issue(Micros::from_secs(59), home, &claims());
        let public = *public;
        jar.rotate(Micros::from_secs(60), &mut entropy);
        assert_eq!(jar.redeem(Micros::from_secs(61), home, &claims(), &cookie).unwrap().1.public(), &public);
        assert!(jar.redeem(Micros::from_secs(75), home, &claims(), &cookie).is_none(), "too old");
        assert!(jar.redeem(Micros::from_secs(58), home, &claims(), &cookie).is_none(), "from the future");
        jar.rotate(Micros::from_secs(120), &mut entropy);
        assert!(jar.redeem(Micros::from_secs(61), home, &claims(), &cookie).is_none(), "its secret is gone");
    }
}
