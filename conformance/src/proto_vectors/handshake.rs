//! The five packets of the handshake, byte by byte.

use super::{CHACHA20_POLY1305, CRC32C, PROTOCOL_ID, counting, hex, keys};
use netloom_proto::crypto::{COOKIE_BYTES, Checksum, SealKey};
use netloom_proto::handshake::{
    Accept, Challenge, Claims, Reject, Response, ResumeToken, WIRE_VERSION, write_connect, write_response,
};
use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::packet::{CRC_BYTES, PacketType, packet_type};
use netloom_proto::{RejectReason, Rejection, Security};
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
    cases.extend(refused());
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
    let mut cases = cases.map(case).to_vec();
    let plain = written(|out| write_response(&plain_claims(), &COOKIE, None, None, PROTOCOL_ID, 1_000, out));
    let ignored = changed(plain, |bytes| bytes[88..120].copy_from_slice(&TOKEN.0));
    let value = json!({
        "type": "Response",
        "claims": describe(&plain_claims()),
        "cookie": hex(&COOKIE),
        "resume": null,
    });
    assert_eq!(Response::parse(&mut ignored.clone(), PROTOCOL_ID).and_then(|it| it.open(None)), Ok(None));
    cases.push(described("Response, plain, with bytes behind a token flag of zero", None, &ignored, value));
    cases
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

/// A valid packet, changed between its first byte and its checksum.
fn changed(packet: Vec<u8>, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = packet;
    bytes.truncate(bytes.len() - CRC_BYTES);
    change(&mut bytes);
    let crc = Checksum::new(PROTOCOL_ID).of(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// Packets that are refused by their layout, with the reason that the parser gives.
fn refused() -> Vec<Value> {
    let claims = plain_claims();
    let response = written(|out| write_response(&claims, &COOKIE, None, None, PROTOCOL_ID, 1_000, out));
    let challenge = Challenge { nonce: keys::CLIENT_NONCE, sealed: false, public: [0; 32], cookie: COOKIE };
    let challenge = written(|out| challenge.write(PROTOCOL_ID, out));
    let reject = Reject { nonce: keys::CLIENT_NONCE, reason: RejectReason::Full, detail: 0 };
    let reject = written(|out| reject.write(PROTOCOL_ID, out));
    let accept = Accept { session_id: 1, alias: 2, resume: TOKEN };
    let to_client = keys::inputs().derive().to_client;
    let accept_under = |key: Option<&SealKey>| {
        written(|out| accept.write(&keys::CLIENT_NONCE, &keys::SERVER_NONCE, key, PROTOCOL_ID, out))
    };
    let (plain, sealed) = (accept_under(None), accept_under(Some(&SealKey::new(&to_client))));
    let longer = |packet: &[u8]| changed(packet.to_vec(), |bytes| bytes.push(0));
    let shorter = |packet: &[u8]| changed(packet.to_vec(), |bytes| bytes.truncate(bytes.len() - 1));
    let with = |packet: &[u8], at: usize, value: u8| changed(packet.to_vec(), |bytes| bytes[at] = value);
    let cases = [
        ("Response whose token flag is two", with(&response, 87, 2), None),
        ("Challenge whose flag is two", with(&challenge, 17, 2), None),
        ("Challenge, one byte too long", longer(&challenge), None),
        ("Challenge, one byte too short", shorter(&challenge), None),
        ("Challenge of four bytes", challenge[..4].to_vec(), None),
        ("Challenge with a flag, and another checksum", [&[0x81], &challenge[1..]].concat(), None),
        ("Reject with code 0", with(&reject, 17, 0), None),
        ("Reject with code 8", with(&reject, 17, 8), None),
        ("Reject, one byte too long", longer(&reject), None),
        ("Reject, one byte too short", shorter(&reject), None),
        ("Accept, plain, one byte too long", longer(&plain), None),
        ("Accept, plain, one byte too short", shorter(&plain), None),
        ("Accept, sealed, one byte too long", longer(&sealed), Some(to_client)),
        ("Accept, sealed, one byte too short", shorter(&sealed), Some(to_client)),
    ];
    let case = |(name, packet, key): (&str, Vec<u8>, Option<[u8; 32]>)| {
        let mut needs = vec![CRC32C];
        needs.extend(key.map(|_| CHACHA20_POLY1305));
        let given = json!({ "protocol_id": PROTOCOL_ID.to_string(), "key": key.map(|key| hex(&key)) });
        let error = parse(&packet, key).expect_err(name).name();
        super::refused(name, &needs, given, &packet, error)
    };
    cases.map(case).to_vec()
}

fn parse(packet: &[u8], key: Option<[u8; 32]>) -> Result<(), Rejection> {
    let (mut bytes, key) = (packet.to_vec(), key.map(|key| SealKey::new(&key)));
    match packet_type(packet)? {
        PacketType::Challenge => Challenge::parse(packet, PROTOCOL_ID).map(drop),
        PacketType::Response => Response::parse(&mut bytes, PROTOCOL_ID)?.open(key.as_ref()).map(drop),
        PacketType::Accept => {
            Accept::parse_nonces(packet, PROTOCOL_ID)?;
            Accept::open(&mut bytes, key.as_ref()).map(drop)
        }
        PacketType::Reject => Reject::parse(packet, PROTOCOL_ID).map(drop),
        other => unreachable!("no case has a {other:?}"),
    }
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
