//! The five packets of the handshake, byte by byte.

use super::{CHACHA20_POLY1305, CRC32C, PROTOCOL_ID, counting, hex, keys};
use netloom_proto::crypto::{COOKIE_BYTES, SealKey};
use netloom_proto::handshake::{
    Accept, Challenge, Claims, Reject, ResumeToken, WIRE_VERSION, write_connect, write_response,
};
use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::{RejectReason, Security};
use serde_json::{Value, json};

/// A cookie is opaque to clients; this one only looks like nothing else.
pub const COOKIE: [u8; COOKIE_BYTES] = *b"cookie of 20 bytes..";

const TOKEN: ResumeToken = ResumeToken(*b"a resume token has 32 bytes.....");

/// What the client of the vectors claims.
pub fn claims() -> Claims {
    Claims {
        version: WIRE_VERSION,
        layout_hash: 0x1122_3344_5566_7788,
        table_id: 0xaabb_ccdd,
        security: Security::Required,
        nonce: keys::CLIENT_NONCE,
        public: keys::client().public,
        alias: None,
    }
}

fn plain_claims() -> Claims {
    Claims { security: Security::Off, public: [0; 32], ..claims() }
}

/// A Connect of `length` bytes.
pub fn connect(claims: &Claims, length: usize) -> Vec<u8> {
    written(|out| write_connect(claims, PROTOCOL_ID, length, out))
}

fn written(write: impl FnOnce(&mut [u8]) -> usize) -> Vec<u8> {
    let mut out = vec![0; DATAGRAM_MAX];
    let length = write(&mut out);
    out.truncate(length);
    out
}

/// The claims as JSON.
pub fn describe(claims: &Claims) -> Value {
    json!({
        "version": claims.version,
        "layout_hash": claims.layout_hash.to_string(),
        "table_id": claims.table_id,
        "security": security_name(claims.security),
        "nonce": hex(&claims.nonce),
        "public": hex(&claims.public),
        "alias": claims.alias,
    })
}

fn security_name(security: Security) -> &'static str {
    match security {
        Security::Off => "off",
        Security::Optional => "optional",
        Security::Required => "required",
    }
}

pub fn file() -> Value {
    let mut cases = connects();
    cases.extend(challenges());
    cases.extend(responses());
    cases.extend(accepts());
    cases.extend(rejects());
    super::file("Every packet of the handshake. Sealed ones use the keys of proto_keys.", cases)
}

fn connects() -> Vec<Value> {
    let optional = Claims { security: Security::Optional, alias: Some(0x1234), ..claims() };
    let cases = [
        ("Connect that requires sealing, 1000 bytes", claims(), 1_000),
        ("Connect with an alias, 1200 bytes", optional, 1_200),
        ("Connect without sealing", plain_claims(), 1_000),
    ];
    let case = |(name, claims, length): (&str, Claims, usize)| {
        let value = json!({ "type": "Connect", "claims": describe(&claims) });
        described(name, None, &connect(&claims, length), value)
    };
    cases.map(case).to_vec()
}

fn challenges() -> Vec<Value> {
    let cases =
        [("Challenge that seals", true, keys::server().public), ("Challenge that does not", false, [0; 32])];
    let case = |(name, sealed, public): (&str, bool, [u8; 32])| {
        let challenge = Challenge { nonce: keys::CLIENT_NONCE, sealed, public, cookie: COOKIE };
        let value = json!({
            "type": "Challenge",
            "nonce": hex(&challenge.nonce),
            "sealed": sealed,
            "public": hex(&public),
            "cookie": hex(&COOKIE),
        });
        described(name, None, &written(|out| challenge.write(PROTOCOL_ID, out)), value)
    };
    cases.map(case).to_vec()
}

fn responses() -> Vec<Value> {
    let cases = [
        ("Response, plain", false, None),
        ("Response, plain, with a resume token", false, Some(TOKEN)),
        ("Response, sealed", true, None),
        ("Response, sealed, with a resume token", true, Some(TOKEN)),
    ];
    let case = |(name, sealed, resume): (&str, bool, Option<ResumeToken>)| {
        let claims = if sealed { claims() } else { plain_claims() };
        let response_key = keys::inputs().derive().response;
        let key = sealed.then(|| SealKey::new(&response_key));
        let packet = written(|out| {
            write_response(&claims, &COOKIE, resume.as_ref(), key.as_ref(), PROTOCOL_ID, 1_000, out)
        });
        let value = json!({
            "type": "Response",
            "claims": describe(&claims),
            "cookie": hex(&COOKIE),
            "resume": resume.map(|token| hex(&token.0)),
        });
        described(name, sealed.then_some(&response_key), &packet, value)
    };
    cases.map(case).to_vec()
}

fn accepts() -> Vec<Value> {
    let accept =
        Accept { session_id: 0x8877_6655_4433_2211, alias: 0x0102, resume: ResumeToken(counting(0xa0)) };
    let case = |(name, sealed): (&str, bool)| {
        let to_client = keys::inputs().derive().to_client;
        let key = sealed.then(|| SealKey::new(&to_client));
        let packet = written(|out| {
            accept.write(&keys::CLIENT_NONCE, &keys::SERVER_NONCE, key.as_ref(), PROTOCOL_ID, out)
        });
        let value = json!({
            "type": "Accept",
            "client_nonce": hex(&keys::CLIENT_NONCE),
            "server_nonce": hex(&keys::SERVER_NONCE),
            "session_id": accept.session_id.to_string(),
            "alias": accept.alias,
            "resume": hex(&accept.resume.0),
        });
        described(name, sealed.then_some(&to_client), &packet, value)
    };
    [("Accept, plain", false), ("Accept, sealed", true)].map(case).to_vec()
}

fn rejects() -> Vec<Value> {
    let case = |&reason: &RejectReason| {
        let detail = match reason {
            RejectReason::Version => WIRE_VERSION.into(),
            RejectReason::Schema => u64::MAX,
            RejectReason::Tables => 0xaabb_ccdd,
            _ => 0,
        };
        let reject = Reject { nonce: keys::CLIENT_NONCE, reason, detail };
        let value = json!({
            "type": "Reject",
            "nonce": hex(&reject.nonce),
            "reason": reason.code(),
            "detail": detail.to_string(),
        });
        let packet = written(|out| reject.write(PROTOCOL_ID, out));
        described(&format!("Reject, {reason:?}"), None, &packet, value)
    };
    RejectReason::ALL.iter().map(case).collect()
}

/// A case of these packets; `key` is what its sealed part opens under.
fn described(name: &str, key: Option<&[u8; 32]>, packet: &[u8], value: Value) -> Value {
    let mut needs = vec![CRC32C];
    needs.extend(key.map(|_| CHACHA20_POLY1305));
    let given = json!({ "protocol_id": PROTOCOL_ID.to_string(), "key": key.map(|key| hex(key)) });
    super::case(name, &needs, given, packet, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_proto::handshake::REPLY_MAX;

    #[test]
    fn no_reply_is_longer_than_the_standard_says() {
        for case in challenges().iter().chain(&accepts()).chain(&rejects()) {
            let packet = case["hex"].as_str().expect("a packet");
            assert!(packet.len() / 2 <= REPLY_MAX, "{}", case["name"]);
        }
    }
}
