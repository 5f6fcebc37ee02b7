//! Keys: where they come from, and how packets are sealed with them.
//!
//! Both sides bring a fresh X25519 key and a nonce to the handshake. The shared secret, both nonces and everything that
//! the two agreed on (the transcript) go through HKDF-SHA256, so that no two sessions ever share a key: neither
//! after a restart, nor when a client repeats its request. Packets are sealed with ChaCha20-Poly1305, the packet
//! number being the nonce: each direction has its own key, and a number is used once.
//!
//! ```text
//! shared = X25519(client secret, server public)
//! Response key         = HKDF(salt = client nonce,                ikm = shared, "netloom response" + transcript)
//! client → server key  ┐
//! server → client key  ├ HKDF(salt = client nonce + server nonce, ikm = shared, "netloom session"  + transcript)
//! fingerprint          ┘
//! ```

use netloom_cpu::crc32c;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::{hkdf, hmac};
use x25519_dalek::{PublicKey, StaticSecret};

use crate::packet::TAG_BYTES;

/// Bytes of a handshake nonce.
pub const NONCE_BYTES: usize = 16;
/// Bytes of a cookie: issue time and MAC.
pub const COOKIE_BYTES: usize = 4 + COOKIE_MAC_BYTES;
const COOKIE_MAC_BYTES: usize = 16;

/// Random numbers from a seed: HMAC-SHA256 in counter mode.
///
/// The core never asks the operating system for randomness: a driver hands in 32 random bytes once, a simulation
/// hands in its seed.
#[derive(Debug)]
pub struct Entropy {
    key: hmac::Key,
    counter: u64,
}

impl Entropy {
    /// A generator. The seed must be secret and used once.
    pub fn new(seed: &[u8; 32]) -> Entropy {
        Entropy { key: hmac::Key::new(hmac::HMAC_SHA256, seed), counter: 0 }
    }

    /// The next random bytes, at most 32.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        const { assert!(N <= 32) }
        let block = hmac::sign(&self.key, &self.counter.to_le_bytes());
        self.counter += 1;
        let mut out = [0; N];
        out.copy_from_slice(&block.as_ref()[..N]);
        out
    }

    /// The next random number.
    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }
}

/// A key pair of the handshake.
#[derive(Clone)]
pub struct KeyPair {
    secret: StaticSecret,
    public: [u8; 32],
}

impl std::fmt::Debug for KeyPair {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("KeyPair").field("public", &self.public).finish_non_exhaustive()
    }
}

impl KeyPair {
    /// A fresh pair.
    pub fn generate(entropy: &mut Entropy) -> KeyPair {
        let secret = StaticSecret::from(entropy.bytes::<32>());
        let public = PublicKey::from(&secret).to_bytes();
        KeyPair { secret, public }
    }

    /// The public half.
    pub fn public(&self) -> &[u8; 32] {
        &self.public
    }

    /// The secret shared with the owner of `theirs`; `None` if their key is one of the few that would make it zero.
    pub fn agree(&self, theirs: &[u8; 32]) -> Option<SharedSecret> {
        let shared = self.secret.diffie_hellman(&PublicKey::from(*theirs));
        shared.was_contributory().then(|| SharedSecret(shared.to_bytes()))
    }
}

/// What X25519 gave.
pub struct SharedSecret([u8; 32]);

impl std::fmt::Debug for SharedSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SharedSecret(..)")
    }
}

impl SharedSecret {
    /// The key that seals the Response.
    pub fn response_key(&self, client_nonce: &[u8; NONCE_BYTES], transcript: &[u8]) -> SealKey {
        let mut key = [0; 32];
        expand(client_nonce, &self.0, &[b"netloom response", transcript], &mut key);
        SealKey::new(&key)
    }

    /// The keys of the session.
    pub fn session_keys(
        &self,
        client_nonce: &[u8; NONCE_BYTES],
        server_nonce: &[u8; NONCE_BYTES],
        transcript: &[u8],
    ) -> SessionKeys {
        let mut salt = [0; 2 * NONCE_BYTES];
        salt[..NONCE_BYTES].copy_from_slice(client_nonce);
        #[cfg(netloom_mutations)]
        let server_nonce = if crate::mutation::is(crate::mutation::Mutation::KeyReused) {
            &[0; NONCE_BYTES]
        } else {
            server_nonce
        };
        salt[NONCE_BYTES..].copy_from_slice(server_nonce);
        let mut material = [0; 72];
        expand(&salt, &self.0, &[b"netloom session", transcript], &mut material);
        let mut half = [0; 32];
        half.copy_from_slice(&material[..32]);
        let to_server = SealKey::new(&half);
        half.copy_from_slice(&material[32..64]);
        let to_client = SealKey::new(&half);
        let mut fingerprint = [0; 8];
        fingerprint.copy_from_slice(&material[64..]);
        SessionKeys { to_server, to_client, fingerprint: u64::from_le_bytes(fingerprint) }
    }
}

/// The keys of both directions.
#[derive(Debug)]
pub struct SessionKeys {
    /// Seals what the client sends.
    pub to_server: SealKey,
    /// Seals what the server sends.
    pub to_client: SealKey,
    /// The same number on both sides if and only if they share the keys; it tells nothing about them.
    pub fingerprint: u64,
}

/// Seals and opens packets in place.
pub struct SealKey(LessSafeKey);

impl std::fmt::Debug for SealKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SealKey(..)")
    }
}

impl SealKey {
    /// A key from 32 bytes.
    pub fn new(key: &[u8; 32]) -> SealKey {
        // The only error is a key of the wrong length, which the type rules out.
        let key = UnboundKey::new(&CHACHA20_POLY1305, key).expect("a ChaCha20-Poly1305 key has 32 bytes");
        SealKey(LessSafeKey::new(key))
    }

    /// Seals `packet[header..length]` in place and appends the tag; returns the new length.
    ///
    /// `packet` must hold 16 bytes more than `length`.
    pub fn seal(&self, number: u64, packet: &mut [u8], header: usize, length: usize) -> usize {
        let (associated, body) = packet.split_at_mut(header);
        let (body, tag_place) = body.split_at_mut(length - header);
        let tag = self
            .0
            .seal_in_place_separate_tag(nonce(number), Aad::from(&*associated), body)
            .expect("a datagram is far below the AEAD's length limit");
        tag_place[..TAG_BYTES].copy_from_slice(tag.as_ref());
        length + TAG_BYTES
    }

    /// Opens a packet in place: its payload, or `None` if a single bit of header or payload is not what was sealed.
    pub fn open<'a>(&self, number: u64, packet: &'a mut [u8], header: usize) -> Option<&'a mut [u8]> {
        let (associated, body) = packet.split_at_mut_checked(header)?;
        self.0.open_in_place(nonce(number), Aad::from(&*associated), body).ok()
    }
}

fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&number.to_le_bytes());
    Nonce::assume_unique_for_key(bytes)
}

struct Length(usize);

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand(salt: &[u8], secret: &[u8], info: &[&[u8]], out: &mut [u8]) {
    // HKDF fails only beyond 255 blocks of output; 72 bytes are three.
    hkdf::Salt::new(hkdf::HKDF_SHA256, salt)
        .extract(secret)
        .expand(info, Length(out.len()))
        .and_then(|material| material.fill(out))
        .expect("HKDF output within its limit");
}

/// MACs that only this server can make: the cookies of the handshake.
#[derive(Debug)]
pub struct CookieKey(hmac::Key);

impl CookieKey {
    /// A fresh key.
    pub fn generate(entropy: &mut Entropy) -> CookieKey {
        CookieKey(hmac::Key::new(hmac::HMAC_SHA256, &entropy.bytes::<32>()))
    }

    /// The cookie for `claims`, issued at `millis`.
    pub fn issue(&self, millis: u32, claims: &[u8]) -> [u8; COOKIE_BYTES] {
        let mut cookie = [0; COOKIE_BYTES];
        cookie[..4].copy_from_slice(&millis.to_le_bytes());
        cookie[4..].copy_from_slice(&self.mac(millis, claims));
        cookie
    }

    /// When this cookie was issued; `None` if it was not issued with this key for these claims.
    pub fn issued_at(&self, cookie: &[u8; COOKIE_BYTES], claims: &[u8]) -> Option<u32> {
        let (millis, mac) = cookie.split_first_chunk::<4>()?;
        let millis = u32::from_le_bytes(*millis);
        equal_in_constant_time(&self.mac(millis, claims), mac).then_some(millis)
    }

    fn mac(&self, millis: u32, claims: &[u8]) -> [u8; COOKIE_MAC_BYTES] {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(&millis.to_le_bytes());
        context.update(claims);
        let mut mac = [0; COOKIE_MAC_BYTES];
        mac.copy_from_slice(&context.sign().as_ref()[..COOKIE_MAC_BYTES]);
        mac
    }
}

/// What is kept of a secret that only needs to be recognised.
pub fn digest(secret: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, secret).as_ref());
    out
}

/// Compares without telling by its duration where the first difference is.
pub fn equal_in_constant_time(left: &[u8], right: &[u8]) -> bool {
    let difference = left.iter().zip(right).fold(0, |all, (a, b)| all | (a ^ b));
    left.len() == right.len() && std::hint::black_box(difference) == 0
}

/// The checksum of plain packets and of the handshake: CRC32C over the protocol id, then everything before it.
#[derive(Clone, Copy, Debug)]
pub struct Checksum(u32);

impl Checksum {
    /// The checksum of this protocol.
    pub fn new(protocol_id: u64) -> Checksum {
        Checksum(crc32c(0, &protocol_id.to_le_bytes()))
    }

    /// The checksum of these bytes.
    pub fn of(self, bytes: &[u8]) -> u32 {
        crc32c(self.0, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (KeyPair, KeyPair) {
        let mut entropy = Entropy::new(&[7; 32]);
        (KeyPair::generate(&mut entropy), KeyPair::generate(&mut entropy))
    }

    #[test]
    fn both_sides_derive_the_same_keys_and_other_nonces_other_ones() {
        let (client, server) = pair();
        let ours = client.agree(server.public()).unwrap();
        let theirs = server.agree(client.public()).unwrap();
        let a = ours.session_keys(&[1; 16], &[2; 16], b"transcript");
        let b = theirs.session_keys(&[1; 16], &[2; 16], b"transcript");
        assert_eq!(a.fingerprint, b.fingerprint);
        for (client_nonce, server_nonce, transcript) in [
            ([9; 16], [2; 16], b"transcript"),
            ([1; 16], [9; 16], b"transcript"),
            ([1; 16], [2; 16], b"TRANSCRIPT"),
        ] {
            assert_ne!(
                ours.session_keys(&client_nonce, &server_nonce, transcript).fingerprint,
                a.fingerprint
            );
        }

        let mut packet = *b"headpayload-----------------";
        let length = a.to_server.seal(5, &mut packet, 4, 11);
        assert_eq!(length, 27);
        assert_eq!(b.to_server.open(5, &mut packet[..length], 4).as_deref(), Some(&b"payload"[..]));
    }

    #[test]
    fn a_low_order_key_is_refused() {
        assert!(pair().0.agree(&[0; 32]).is_none());
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let key = SealKey::new(&[3; 32]);
        let mut sealed = [0x55; 40];
        let length = key.seal(9, &mut sealed, 6, 20);
        for bit in 0..length * 8 {
            let mut damaged = sealed;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(key.open(9, &mut damaged[..length], 6).is_none(), "bit {bit}");
        }
        assert!(key.open(8, &mut sealed[..length].to_vec(), 6).is_none(), "another packet number");
        assert!(key.open(9, &mut sealed[..3], 6).is_none(), "shorter than its header");
    }

    #[test]
    fn a_cookie_is_good_only_for_its_key_and_claims() {
        let mut entropy = Entropy::new(&[1; 32]);
        let (key, other) = (CookieKey::generate(&mut entropy), CookieKey::generate(&mut entropy));
        let cookie = key.issue(77, b"address and nonce");
        assert_eq!(key.issued_at(&cookie, b"address and nonce"), Some(77));
        assert_eq!(key.issued_at(&cookie, b"another address"), None);
        assert_eq!(other.issued_at(&cookie, b"address and nonce"), None);
        let mut later = cookie;
        later[0] += 1;
        assert_eq!(key.issued_at(&later, b"address and nonce"), None, "the time is covered");
    }

    #[test]
    fn the_checksum_covers_the_protocol_id() {
        assert_ne!(Checksum::new(1).of(b"packet"), Checksum::new(2).of(b"packet"));
    }

    #[test]
    fn entropy_repeats_only_for_the_same_seed() {
        let (mut a, mut b, mut c) = (Entropy::new(&[1; 32]), Entropy::new(&[1; 32]), Entropy::new(&[2; 32]));
        let first = a.u64();
        assert_eq!(first, b.u64());
        assert_ne!(first, a.u64());
        assert_ne!(first, c.u64());
    }
}
