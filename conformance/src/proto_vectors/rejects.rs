//! Datagrams that must be dropped, each with the counter that it moves.
//!
//! The name of a rejection is not written down here: each datagram goes to a real endpoint, and the counter that
//! moved gives the name. The receiver has just accepted a client and has not heard from it yet.

use super::frames::{self, CHANNELS, fragment, message, payload};
use super::peer::{Peer, config, elsewhere, home};
use super::{CHACHA20_POLY1305, CRC32C, PROTOCOL_ID, codes, counting, handshake, hex, packets};
use netloom_proto::crypto::Checksum;
use netloom_proto::handshake::{Accept, Challenge, ResumeToken, write_response};
use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::packet::{Ack, Header, PacketType, SessionRef};
use netloom_proto::{Endpoint, Micros, Rejection, Security};
use serde_json::{Value, json};

pub fn file() -> Value {
    let peer = Peer::connected(false);
    let mut cases: Vec<Value> = Vec::new();
    for (name, datagram) in bad_headers(&peer).into_iter().chain(bad_handshakes()).chain(bad_contents(&peer))
    {
        cases.push(case(name, false, &datagram));
    }
    for (name, datagram) in badly_sealed(&Peer::connected(true)) {
        cases.push(case(name, true, &datagram));
    }
    cases.push(from_elsewhere());
    cases.extend(acks_of_unsent());
    cases.push(not_listening());
    super::file(
        "Datagrams that a receiver drops, and the name of the reason. The receiver has accepted a client with this \
         session; `exchanged` packets went each way since, numbered from 0.",
        cases,
    )
}

type Named = (&'static str, Vec<u8>);

const HOME: &str = "the client's address";

fn case(name: &str, sealed: bool, datagram: &[u8]) -> Value {
    let mut peer = Peer::connected(sealed);
    let rejection = peer.deliver(datagram).outcome;
    describe(name, &peer, (HOME, 0), datagram, rejection)
}

fn from_elsewhere() -> Value {
    let mut peer = Peer::connected(false);
    let datagram = peer.close(&peer.header(PacketType::KeepAlive, 0), 0, &[]);
    let rejection = peer.deliver_from(elsewhere(), &datagram).outcome;
    describe("a plain packet from another address", &peer, ("another address", 0), &datagram, rejection)
}

/// The receiver has taken one packet and sent one, so that there is something to acknowledge wrongly.
fn acks_of_unsent() -> Vec<Value> {
    let case = |(name, newest): (&str, u16)| {
        let mut peer = Peer::connected(false);
        let first = peer.close(&peer.header(PacketType::KeepAlive, 0), 0, &[]);
        assert_eq!(peer.deliver(&first).outcome, "accepted");
        peer.reply_after(Micros::from_millis(20));
        let honest = peer.acking(1, Ack { newest: 0, delay_ms: 0, bits: 0, width: 16 });
        let datagram = peer.acking(2, Ack { newest, delay_ms: 0, bits: 0, width: 16 });
        let rejection = peer.deliver(&datagram).outcome;
        assert_eq!(peer.deliver(&honest).outcome, "accepted", "exactly one packet was sent");
        describe(name, &peer, (HOME, 1), &datagram, rejection)
    };
    [("an ack of the packet after the last one sent", 1), ("an ack of a packet before the first", 60_000)]
        .map(case)
        .to_vec()
}

fn not_listening() -> Value {
    let mut client = Endpoint::new(config(Security::Off), None, [0; 32]).expect("a valid configuration");
    let connect = handshake::connect(&handshake::claims(), 1_000);
    client.handle_datagram(Micros::ZERO, home(), &mut connect.clone());
    let counted = client.rejections().iter().next().map_or("accepted", |(reason, _)| Rejection::name(reason));
    let given = json!({
        "receiver": { "listens": false, "protocol_id": PROTOCOL_ID.to_string() },
        "from": "anywhere",
    });
    super::refused("a Connect to an endpoint that does not listen", &[], given, &connect, counted)
}

fn describe(
    name: &str,
    peer: &Peer,
    (from, exchanged): (&str, u64),
    datagram: &[u8],
    rejection: &str,
) -> Value {
    let needs = if peer.key.is_some() { CHACHA20_POLY1305 } else { CRC32C };
    let given = json!({
        "receiver": {
            "listens": true,
            "protocol_id": PROTOCOL_ID.to_string(),
            "session_id": peer.session_id.to_string(),
            "sealed": peer.key.is_some(),
            "alias": peer.alias,
            "key": peer.key.map(|key| hex(&key)),
            "channel_kinds": CHANNELS.map(codes::kind_name),
            "exchanged": exchanged,
        },
        "from": from,
    });
    super::refused(name, &[needs], given, datagram, rejection)
}

fn bad_headers(peer: &Peer) -> Vec<Named> {
    let good = peer.data(0, &payload(&[message(3, 0, b"hello")]));
    let with_first = |first: u8| {
        let mut bytes = good.clone();
        bytes[0] = first;
        reclosed(bytes)
    };
    let session = |session| Header { session, ..peer.header(PacketType::KeepAlive, 0) };
    let ack = Ack { newest: 0, delay_ms: 0, bits: 0, width: 64 };
    let acking = Header { ack: Some(ack), ..peer.header(PacketType::Ack, 0) };
    let whole = peer.close(&acking, 0, &[]);
    vec![
        ("an empty datagram", vec![]),
        ("1201 bytes", vec![0x85; 1_201]),
        ("packet type 12", with_first(0x8c)),
        ("packet type 15", with_first(0x8f)),
        ("the protected flag on an Ack", with_first(0xc6)),
        ("a header cut in its session id", good[..5].to_vec()),
        ("a header cut in its ack bits", whole[..whole.len() - 6].to_vec()),
        ("a whole header and half a checksum", whole[..whole.len() - 2].to_vec()),
        ("a session id that nobody has", peer.close(&session(SessionRef::Id(1)), 0, &[])),
        ("an alias that nobody has", packets::sealed(&session(SessionRef::Alias(9)), &[], &counting(1), 0)),
        (
            "a sealed packet on a plain session",
            packets::sealed(&session(SessionRef::Alias(0)), &[], &counting(1), 0),
        ),
        ("a PathChallenge before the client's first packet", {
            peer.close(&peer.header(PacketType::PathChallenge, 0), 0, &[0; 8])
        }),
    ]
}

fn bad_handshakes() -> Vec<Named> {
    let claims = handshake::claims();
    let connect = handshake::connect(&claims, 1_000);
    let changed = |at: usize, value: u8| {
        let mut bytes = connect.clone();
        bytes[at] = value;
        reclosed(bytes)
    };
    let mut response = [0; DATAGRAM_MAX];
    let length = write_response(&claims, &handshake::COOKIE, None, None, PROTOCOL_ID, 1_000, &mut response);
    let mut out = [0; DATAGRAM_MAX];
    let challenge =
        Challenge { nonce: claims.nonce, sealed: false, public: [0; 32], cookie: handshake::COOKIE };
    let challenge_length = challenge.write(PROTOCOL_ID, &mut out);
    let challenge = out[..challenge_length].to_vec();
    let accept = Accept { session_id: 1, alias: 0, resume: ResumeToken([0; 32]) };
    let accept_length = accept.write(&claims.nonce, &[0; 16], None, PROTOCOL_ID, &mut out);
    vec![
        ("a Connect of 999 bytes", handshake::connect(&claims, 999)),
        ("a flag on a Connect", changed(0, 0x80)),
        ("a Connect of another protocol", {
            let mut bytes = connect.clone();
            let body = bytes.len() - 4;
            let crc = Checksum::new(PROTOCOL_ID + 1).of(&bytes[..body]);
            bytes[body..].copy_from_slice(&crc.to_le_bytes());
            bytes
        }),
        ("a Connect with an unknown security", changed(15, 3)),
        ("a Connect with an alias flag of two", changed(64, 2)),
        ("a Connect with an alias but no flag", changed(65, 1)),
        ("a Response with a cookie of somebody else", response[..length].to_vec()),
        ("a Challenge that nobody asked for", challenge),
        ("an Accept that nobody asked for", out[..accept_length].to_vec()),
    ]
}

fn bad_contents(peer: &Peer) -> Vec<Named> {
    let mut damaged = peer.data(0, &payload(&[message(3, 0, b"hello")]));
    damaged[12] ^= 0x01;
    let of = |kind, payload: &[u8]| peer.close(&peer.header(kind, 0), 0, payload);
    let far = payload(&[message(1, 1_024, b"x")]);
    let orphan = payload(&[fragment(1, 0, Some((1, 2)), b"x")]);
    let wrong_block = payload(&[message(4, 0, b"state"), frames::copy(1, b"\x03\x01x")]);
    vec![
        ("one flipped bit", damaged),
        ("an ack of a packet that was never sent", {
            peer.acking(0, Ack { newest: 0, delay_ms: 0, bits: 0, width: 16 })
        }),
        ("a Data packet without a count", of(PacketType::Data, &[])),
        ("a Data packet whose count is too high", of(PacketType::Data, &[2, 3, 1, b'x'])),
        ("an Ack with a payload", of(PacketType::Ack, &[0])),
        ("a Disconnect that neither asks nor confirms", of(PacketType::Disconnect, &[2, 0])),
        ("a Disconnect of eight bytes", of(PacketType::Disconnect, &[0; 8])),
        ("a reliable message beyond the window", peer.data(0, &far)),
        ("a fragment whose first part would have id -1", peer.data(0, &orphan)),
        ("a copied block with an unreliable message", peer.data(1, &wrong_block)),
    ]
}

fn badly_sealed(peer: &Peer) -> Vec<Named> {
    let header = peer.header(PacketType::KeepAlive, 0);
    let flipped = |at: usize| {
        let mut bytes = peer.close(&header, 0, &[]);
        bytes[at] ^= 0x01;
        bytes
    };
    let plain = Header { session: SessionRef::Id(peer.session_id), ..header };
    vec![
        ("a plain packet on a sealed session", packets::plain(&plain, &[], PROTOCOL_ID)),
        ("a flipped bit in the packet number of a sealed packet", flipped(3)),
        ("a flipped bit in the tag", flipped(5)),
        ("a packet sealed under another number", peer.close(&header, 1 << 16, &[])),
    ]
}

/// Gives a changed datagram the checksum that fits it again.
fn reclosed(mut bytes: Vec<u8>) -> Vec<u8> {
    let body = bytes.len() - 4;
    let crc = Checksum::new(PROTOCOL_ID).of(&bytes[..body]);
    bytes[body..].copy_from_slice(&crc.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_case_is_rejected_and_most_reasons_occur() {
        let file = file();
        let cases = file["cases"].as_array().expect("cases");
        for case in cases {
            assert_ne!(case["error"], "accepted", "{}", case["name"]);
        }
        let named: BTreeSet<&str> = cases.iter().filter_map(|case| case["error"].as_str()).collect();
        // These need a history, which proto_sessions gives, or a flood.
        let elsewhere = ["replayed", "too_old", "rate_limited", "no_room"];
        let absent: Vec<&str> = Rejection::ALL
            .iter()
            .map(|reason| reason.name())
            .filter(|name| !named.contains(name) && !elsewhere.contains(name))
            .collect();
        assert_eq!(absent, [""; 0]);
    }
}
