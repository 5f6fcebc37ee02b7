//! The key schedule, derived a second time from its description alone.
//!
//! The protocol's own types give no key away. So the secrets here are run through X25519 and HKDF as the standard
//! words it, and the tests hold the result against packets that the protocol sealed.

use super::{HKDF_SHA256, PROTOCOL_ID, X25519, counting, handshake, hex};
use netloom_proto::crypto::{COOKIE_BYTES, NONCE_BYTES};
use netloom_proto::handshake::Claims;
use ring::hkdf;
use serde_json::{Value, json};

/// Secret and public half of one side.
#[derive(Clone, Copy)]
pub struct Pair {
    pub secret: [u8; 32],
    pub public: [u8; 32],
}

impl Pair {
    pub fn from_secret(secret: [u8; 32]) -> Pair {
        let public = x25519_dalek::x25519(secret, x25519_dalek::X25519_BASEPOINT_BYTES);
        Pair { secret, public }
    }
}

/// The keys of one session.
pub struct Keys {
    pub response: [u8; 32],
    pub to_server: [u8; 32],
    pub to_client: [u8; 32],
    pub fingerprint: u64,
}

/// Everything that keys come from.
pub struct Inputs {
    pub shared: [u8; 32],
    pub client_nonce: [u8; NONCE_BYTES],
    pub server_nonce: [u8; NONCE_BYTES],
    pub transcript: Vec<u8>,
}

impl Inputs {
    pub fn derive(&self) -> Keys {
        let mut response = [0; 32];
        let label = b"netloom response";
        expand(&self.client_nonce, &self.shared, &[label, &self.transcript], &mut response);
        let salt = [self.client_nonce, self.server_nonce].concat();
        let mut material = [0; 72];
        let label = b"netloom session";
        expand(&salt, &self.shared, &[label, &self.transcript], &mut material);
        let key = |from: usize| std::array::from_fn(|index| material[from + index]);
        Keys {
            response,
            to_server: key(0),
            to_client: key(32),
            fingerprint: u64::from_le_bytes(std::array::from_fn(|index| material[64 + index])),
        }
    }
}

struct Length(usize);

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand(salt: &[u8], secret: &[u8], info: &[&[u8]], out: &mut [u8]) {
    hkdf::Salt::new(hkdf::HKDF_SHA256, salt)
        .extract(secret)
        .expand(info, Length(out.len()))
        .and_then(|material| material.fill(out))
        .expect("three blocks are far below the limit of HKDF");
}

/// The transcript as the standard words it: protocol id, claims, the server's key, the cookie.
pub fn transcript(claims: &Claims, server_public: &[u8; 32], cookie: &[u8; COOKIE_BYTES]) -> Vec<u8> {
    let mut bytes = PROTOCOL_ID.to_le_bytes().to_vec();
    // The claims of a Connect stand right behind its type.
    let connect = handshake::connect(claims, 1_000);
    bytes.extend_from_slice(&connect[1..1 + 66]);
    bytes.extend_from_slice(server_public);
    bytes.extend_from_slice(cookie);
    bytes
}

/// The two sides of the vectors.
pub fn client() -> Pair {
    Pair::from_secret(counting(0x01))
}

pub fn server() -> Pair {
    Pair::from_secret(counting(0x41))
}

pub const CLIENT_NONCE: [u8; NONCE_BYTES] = *b"client nonce  16";
pub const SERVER_NONCE: [u8; NONCE_BYTES] = *b"server nonce  16";

/// What the keys of the handshake vectors come from.
pub fn inputs() -> Inputs {
    Inputs {
        shared: x25519_dalek::x25519(client().secret, server().public),
        client_nonce: CLIENT_NONCE,
        server_nonce: SERVER_NONCE,
        transcript: transcript(&handshake::claims(), &server().public, &handshake::COOKIE),
    }
}

pub fn file() -> Value {
    let (inputs, keys) = (inputs(), inputs().derive());
    let given = json!({
        "client_secret": hex(&client().secret),
        "server_secret": hex(&server().secret),
        "client_nonce": hex(&inputs.client_nonce),
        "server_nonce": hex(&inputs.server_nonce),
        "transcript": hex(&inputs.transcript),
    });
    let value = json!({
        "client_public": hex(&client().public),
        "server_public": hex(&server().public),
        "shared": hex(&inputs.shared),
        "response_key": hex(&keys.response),
        "to_server_key": hex(&keys.to_server),
        "to_client_key": hex(&keys.to_client),
        "fingerprint": keys.fingerprint.to_string(),
    });
    let name = "the keys of the sealed cases in proto_handshake";
    let case = super::case(name, &[X25519, HKDF_SHA256], given, &[], value);
    super::file(
        "From two X25519 secrets, two nonces and the transcript to the keys of a session.",
        vec![case],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_proto::crypto::{Entropy, KeyPair, SealKey};

    #[test]
    fn the_described_schedule_gives_the_keys_of_the_protocol() {
        let seed = [5; 32];
        let secret = Entropy::new(&seed).bytes::<32>();
        let ours = KeyPair::generate(&mut Entropy::new(&seed));
        assert_eq!(ours.public(), &Pair::from_secret(secret).public);
        let shared = ours.agree(&server().public).expect("a sound key");
        let inputs = Inputs { shared: x25519_dalek::x25519(server().secret, *ours.public()), ..inputs() };
        let (keys, protocol) =
            (inputs.derive(), shared.session_keys(&CLIENT_NONCE, &SERVER_NONCE, &inputs.transcript));
        assert_eq!(keys.fingerprint, protocol.fingerprint);
        let response = shared.response_key(&CLIENT_NONCE, &inputs.transcript);
        for (described, real) in [
            (keys.response, response),
            (keys.to_server, protocol.to_server),
            (keys.to_client, protocol.to_client),
        ] {
            let mut packet = *b"header and payload                ";
            let length = real.seal(7, &mut packet, 6, 18);
            let opened = SealKey::new(&described).open(7, &mut packet[..length], 6);
            assert_eq!(opened.as_deref(), Some(&b" and payload"[..]));
        }
    }

    #[test]
    fn the_described_transcript_is_the_one_of_the_protocol() {
        let (claims, public) = (handshake::claims(), server().public);
        assert_eq!(
            transcript(&claims, &public, &handshake::COOKIE),
            netloom_proto::handshake::transcript(PROTOCOL_ID, &claims, &public, &handshake::COOKIE)
        );
    }
}
