//! Headers in each of their forms, and whole session packets, plain and sealed.

use super::{CHACHA20_POLY1305, CRC32C, PROTOCOL_ID, counting, hex};
use netloom_proto::crypto::{Checksum, SealKey};
use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::packet::{Ack, HEADER_MAX, Header, PacketType, SessionRef};
use serde_json::{Value, json};

/// The session id of every plain packet here.
const SESSION_ID: u64 = 0x8877_6655_4433_2211;

/// An acknowledgement of `width` bits.
fn ack(newest: u16, delay_ms: u8, bits: u64, width: u8) -> Option<Ack> {
    Some(Ack { newest, delay_ms, bits, width })
}

/// The acknowledgement as JSON.
pub fn describe_ack(ack: &Ack) -> Value {
    json!({ "newest": ack.newest, "delay_ms": ack.delay_ms, "bits": ack.bits.to_string(), "width": ack.width })
}

/// The header as JSON.
pub fn describe(header: &Header) -> Value {
    let session = match header.session {
        SessionRef::Id(id) => json!({ "form": "id", "value": id.to_string() }),
        SessionRef::Alias(alias) => json!({ "form": "alias", "value": alias }),
        SessionRef::Address => json!({ "form": "address" }),
    };
    json!({
        "type": format!("{:?}", header.kind),
        "session": session,
        "number": header.number,
        "ack": header.ack.as_ref().map(describe_ack),
        "protected": header.protected,
    })
}

/// Header and payload, closed with a checksum.
pub fn plain(header: &Header, payload: &[u8], protocol_id: u64) -> Vec<u8> {
    let mut packet = header_bytes(header);
    packet.extend_from_slice(payload);
    packet.extend_from_slice(&Checksum::new(protocol_id).of(&packet).to_le_bytes());
    packet
}

/// Header and payload, sealed as packet `number`.
pub fn sealed(header: &Header, payload: &[u8], key: &[u8; 32], number: u64) -> Vec<u8> {
    let start = header_bytes(header);
    let mut packet = [0; DATAGRAM_MAX];
    let end = start.len() + payload.len();
    packet[..start.len()].copy_from_slice(&start);
    packet[start.len()..end].copy_from_slice(payload);
    let length = SealKey::new(key).seal(number, &mut packet, start.len(), end);
    packet[..length].to_vec()
}

fn header_bytes(header: &Header) -> Vec<u8> {
    let mut out = [0; HEADER_MAX];
    let length = header.write(&mut out);
    out[..length].to_vec()
}

pub fn headers() -> Value {
    let sessions = [
        ("session id", SessionRef::Id(SESSION_ID)),
        ("alias", SessionRef::Alias(0x0102)),
        ("address", SessionRef::Address),
    ];
    let acks = [
        ("no ack", None),
        ("16 ack bits", ack(0x0304, 12, 0x8001, 16)),
        ("32 ack bits", ack(0xffff, 0, 0x8000_0001, 32)),
        ("64 ack bits", ack(0, 255, 0x8000_0000_0000_0001, 64)),
    ];
    let mut cases = vec![];
    for (session_name, session) in sessions {
        for (ack_name, ack) in acks {
            for protected in [false, true] {
                let header = Header { kind: PacketType::Data, session, number: 0xfffe, ack, protected };
                let flag = if protected { ", protected" } else { "" };
                cases.push(super::case(
                    &format!("{session_name}, {ack_name}{flag}"),
                    &[],
                    json!({ "aliased": session != SessionRef::Address }),
                    &header_bytes(&header),
                    describe(&header),
                ));
            }
        }
    }
    super::file(
        "Headers of session packets. `aliased`: whether the receiver gives out aliases, as one that listens does.",
        cases,
    )
}

/// Every type of session packet with a payload that it may have.
fn payloads() -> [(&'static str, PacketType, Vec<u8>); 9] {
    [
        ("Data with one unreliable message", PacketType::Data, vec![1, 3, 5, b'h', b'e', b'l', b'l', b'o']),
        ("Data with an empty message", PacketType::Data, vec![1, 3, 0]),
        ("Quiet", PacketType::Quiet, vec![1, 3, 2, b'h', b'i']),
        ("Ack", PacketType::Ack, vec![]),
        ("KeepAlive", PacketType::KeepAlive, vec![]),
        ("Disconnect, goodbye", PacketType::Disconnect, vec![0, 10]),
        ("Disconnect, confirm", PacketType::Disconnect, vec![1, 0]),
        ("PathChallenge", PacketType::PathChallenge, counting::<8>(0x10).to_vec()),
        ("PathResponse", PacketType::PathResponse, counting::<8>(0x10).to_vec()),
    ]
}

pub fn file() -> Value {
    let ack = ack(7, 3, 0b101, 16);
    let mut cases = vec![];
    for (name, kind, payload) in payloads() {
        let header = Header { kind, session: SessionRef::Id(SESSION_ID), number: 9, ack, protected: false };
        cases.push(super::case(
            &format!("{name}, plain"),
            &[CRC32C],
            json!({ "aliased": true, "protocol_id": PROTOCOL_ID.to_string() }),
            &plain(&header, &payload, PROTOCOL_ID),
            json!({ "header": describe(&header), "payload": hex(&payload) }),
        ));
        for (to, session, number) in [
            ("sealed to a server", SessionRef::Alias(3), 9u64),
            ("sealed to a client", SessionRef::Address, 0x1_2345_6789),
        ] {
            let header = Header { kind, session, number: number as u16, ack, protected: false };
            let key = counting(0x80);
            let aliased = session != SessionRef::Address;
            cases.push(super::case(
                &format!("{name}, {to}"),
                &[CHACHA20_POLY1305],
                json!({ "aliased": aliased, "key": hex(&key), "number": number.to_string() }),
                &sealed(&header, &payload, &key, number),
                json!({ "header": describe(&header), "payload": hex(&payload) }),
            ));
        }
    }
    super::file("Whole session packets of every type, with a checksum and sealed.", cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_packet_reads_back_as_its_fields() {
        for case in file()["cases"].as_array().expect("cases") {
            let packet = case["hex"].as_str().expect("a packet");
            let bytes: Vec<u8> = (0..packet.len() / 2)
                .map(|at| u8::from_str_radix(&packet[2 * at..2 * at + 2], 16).expect("hexadecimal"))
                .collect();
            let aliased = case["given"]["aliased"].as_bool().expect("a flag");
            let (header, _) = Header::parse(&bytes, aliased).expect("a valid packet");
            assert_eq!(describe(&header), case["value"]["header"], "{}", case["name"]);
        }
    }
}
