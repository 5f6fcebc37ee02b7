//! Seeds for the connection.

use netloom_proto::frame::{FrameWriter, LinkFrame, MessageFrame};
use netloom_proto::packet::{Ack, HEADER_MAX, Header, PacketType, SessionRef};
use netloom_proto::{ChannelKind, Redundancy, Security};

use super::{Seed, seed};
use crate::proto::{Rig, Side, config};

pub fn seeds() -> Vec<Seed> {
    let mut seeds = headers();
    seeds.extend(frames());
    seeds.extend(handshakes());
    seeds.extend(datagrams());
    seeds.extend(sessions());
    seeds.extend(pairs());
    seeds
}

fn header(kind: PacketType, session: SessionRef, ack_width: Option<u8>) -> Vec<u8> {
    let header = Header {
        kind,
        session,
        number: 41,
        ack: ack_width.map(|width| Ack { newest: 40, delay_ms: 3, bits: 0b1011, width }),
        protected: kind == PacketType::Data,
    };
    let mut out = [0; HEADER_MAX];
    let length = header.write(&mut out);
    let trailer = vec![0xee; session.trailer_bytes()];
    [&out[..length], &trailer].concat()
}

fn headers() -> Vec<Seed> {
    let target = "proto_header";
    let id = SessionRef::Id(0x0123_4567_89ab_cdef);
    vec![
        seed(target, "plain_data", &[&header(PacketType::Data, id, Some(64))]),
        seed(target, "aliased_ack", &[&header(PacketType::Ack, SessionRef::Alias(7), Some(16))]),
        seed(target, "sealed_keepalive", &[&header(PacketType::KeepAlive, SessionRef::Address, Some(32))]),
        seed(target, "disconnect", &[&header(PacketType::Disconnect, id, None)]),
    ]
}

fn message(channel: u8, id: u16, fragment: Option<(u16, u16)>, data: &[u8]) -> MessageFrame<'_> {
    let kinds = [
        ChannelKind::Priority,
        ChannelKind::Ordered,
        ChannelKind::Unordered,
        ChannelKind::Unreliable,
        ChannelKind::Sequenced,
    ];
    MessageFrame { channel, kind: kinds[usize::from(channel)], id, fragment, data }
}

fn payload(messages: &[MessageFrame<'_>], links: &[LinkFrame<'_>]) -> Vec<u8> {
    let mut out = [0; 1200];
    let mut writer = FrameWriter::new(&mut out);
    assert!(messages.iter().all(|message| writer.message(message)));
    assert!(links.iter().all(|link| writer.link(link)));
    let length = writer.finish();
    out[..length].to_vec()
}

/// One whole message on every channel.
fn every_channel() -> Vec<u8> {
    payload(
        &[
            message(0, 0, None, b"priority"),
            message(1, 0, None, b"ordered"),
            message(2, 0, None, b"unordered"),
            message(3, 0, None, b"unreliable"),
            message(4, 1, None, b"sequenced"),
        ],
        &[],
    )
}

fn fragments() -> Vec<u8> {
    payload(
        &[
            message(1, 2, Some((1, 2)), b"second half"),
            message(3, 5, Some((0, 2)), b"first half"),
            message(1, 1, Some((0, 2)), b"first half"),
            message(3, 5, Some((1, 2)), b"second half"),
        ],
        &[],
    )
}

/// Copies and a parity of a block with one ordered message.
fn redundancy() -> Vec<u8> {
    let block = payload(&[message(1, 3, None, b"again")], &[]);
    let block = &block[1..];
    let link = |distance, parity| LinkFrame { distance, parity, body: block };
    payload(&[message(1, 4, None, b"now")], &[link(1, None), link(1, Some((2, block.len() as u8)))])
}

fn frames() -> Vec<Seed> {
    let target = "proto_frames";
    // Ten channels, with a count; and the same without.
    let (with_count, block) = ([10 << 1], [10 << 1 | 1]);
    vec![
        seed(target, "every_channel", &[&with_count, &every_channel()]),
        seed(target, "fragments", &[&with_count, &fragments()]),
        seed(target, "redundancy", &[&with_count, &redundancy()]),
        seed(target, "block", &[&block, &every_channel()[1..]]),
    ]
}

/// The datagrams of a handshake, in their order, each cut to what is not padding.
fn handshake_packets(security: Security) -> Vec<Vec<u8>> {
    let config = config(security, Redundancy::Off);
    let mut rig = Rig::new(config.clone(), config);
    rig.connect();
    (0..6).for_each(|_| rig.exchange());
    let handshake = |bytes: &[u8]| bytes.first().is_some_and(|first| first & 0x0f < PacketType::Data as u8);
    rig.recorded
        .into_iter()
        .filter(|sent| handshake(&sent.bytes))
        .map(|sent| {
            let body = &sent.bytes[..sent.bytes.len() - 4];
            let padding = if sent.by == Side::Client {
                body.iter().rev().take_while(|&&byte| byte == 0).count()
            } else {
                0
            };
            body[..body.len() - padding].to_vec()
        })
        .collect()
}

fn handshakes() -> Vec<Seed> {
    let target = "proto_handshake";
    let plain = handshake_packets(Security::Off);
    let sealed = handshake_packets(Security::Required);
    let [connect, challenge, response, accept] = &plain[..] else {
        panic!("a handshake has four packets, not {}", plain.len());
    };
    // A Reject: the client's nonce, reason Full, no detail.
    let reject = [&[4][..], &[9; 16], &[5], &[0; 8]].concat();
    vec![
        seed(target, "connect", &[&[3], connect]),
        seed(target, "challenge", &[&[1], challenge]),
        seed(target, "response", &[&[3], response]),
        seed(target, "accept", &[&[1], accept]),
        seed(target, "reject", &[&[1], &reject]),
        seed(target, "sealed_response", &[&[7], &sealed[2]]),
        seed(target, "sealed_accept", &[&[5], &sealed[3]]),
    ]
}

/// Operations of `endpoint_datagram`; see there.
fn datagrams() -> Vec<Seed> {
    let target = "endpoint_datagram";
    let connect = &handshake_packets(Security::Off)[0];
    let length = 1_100u16.to_le_bytes();
    let padded = [&connect[..], &vec![0; 1_100 - connect.len()]].concat();
    // From a stranger, with a checksum, to the server; then time passes with everything delivered.
    let foreign_connect = [&[0x0d][..], &length, &padded, &[7, 7, 7]].concat();
    // Recorded datagrams again: as they are, with a byte changed, cut short, from a stranger, to the client.
    let replays = [
        &[0x02, 0, 0, 0, 0, 0][..],
        &[0x06, 1, 20, 0, 1, 0xff, 0],
        &[0x8e, 2, 0, 0, 0, 8],
        &[0x0a, 3, 0, 0, 0, 0],
        &[0x86, 4, 3, 0, 2, 1, 2, 0],
        &[7, 7, 3, 100],
    ]
    .concat();
    let noise = [&[0x00, 20][..], &[0x85; 20], &[0x84, 8, 4, 9, 9, 9, 0, 0, 0, 0], &[3, 255]].concat();
    let setup = |server: u8, client: u8, progress: u8| [server, client, progress];
    vec![
        seed(target, "foreign_connect", &[&setup(0, 0, 1), &foreign_connect]),
        seed(target, "plain_replays", &[&setup(0, 0, 5), &replays]),
        seed(target, "sealed_replays", &[&setup(2, 2, 5), &replays]),
        seed(target, "half_open_replays", &[&setup(1, 1, 2), &replays]),
        seed(target, "noise", &[&setup(1, 2, 0), &noise]),
    ]
}

/// Messages as large as the ordered channel allows, in packets whose filler is not written out.
fn large_messages(count: u16) -> Vec<u8> {
    const PARTS: u16 = 9;
    let part = |id: u16| {
        let filler = [0x5a; 900];
        let payload = payload(&[message(1, id, Some((id % PARTS, PARTS)), &filler)], &[]);
        let [low, high] = (payload.len() as u16).to_le_bytes();
        [&[2, low, high, 8], &payload[..8]].concat()
    };
    (0..count * PARTS).flat_map(part).collect()
}

/// Operations of `endpoint_session`; see there.
fn sessions() -> Vec<Seed> {
    let target = "endpoint_session";
    let data = |flags: u8, payload: &[u8]| -> Vec<u8> {
        let length = (payload.len() as u16).to_le_bytes();
        [&[flags][..], &length, payload].concat()
    };
    // More messages than the event queue holds, all of them empty.
    let empty = [&[0xff][..], &[3, 0].repeat(255)].concat();
    let flood = data(0, &empty).repeat(3);
    let (every, parts, again) = (every_channel(), fragments(), redundancy());
    let drain = [0x45, 6, 20];
    let acked: &[u8] = &[0x14, 200, 0, 6, 20, 0x68, 0, 2, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let goodbye = [0xa0, 2, 0, 0, 0];
    vec![
        seed(target, "messages", &[&[0, 2], &data(1, &every), &drain]),
        seed(target, "fragments", &[&[1, 0], &data(0, &every), &data(0, &parts), &drain]),
        seed(
            target,
            "redundancy",
            &[&[0, 2], &data(1, &every), &data(1, &parts), &data(0x11, &[0, 0]), &data(1, &again), &drain],
        ),
        seed(target, "acks", &[&[1, 1], acked, &data(9, &[0; 8]), &drain]),
        seed(target, "large_message", &[&[0, 0], &large_messages(1), &drain]),
        seed(target, "full_queue", &[&[0, 0], &flood, &large_messages(12), &drain]),
        seed(target, "goodbye", &[&[0, 1], &data(0, &every), &goodbye, &drain]),
    ]
}

/// Operations of `connection_pair`; see there.
fn pairs() -> Vec<Seed> {
    let target = "connection_pair";
    const ROUND_TRIP: u8 = 10;
    let connect = [ROUND_TRIP; 4];
    // Both sides send on all five channels, large and small.
    let talk: Vec<u8> = (0..5)
        .flat_map(|channel| [channel << 4, 60, 0x80 | channel << 4, 90, 0x81 | channel << 4, 0, 16])
        .collect();
    let tagged = [0x32, 50, 0xb2, 50, 0x42, 40, 0xc2, 40];
    let disorder = [8, 3, 5, 4, 1, 5, 2, 6, 9, 0, 77, 1, 3, 3, 9, 20, 7, 0x87, 4, 0, 8];
    let rebind = [0x2b, ROUND_TRIP, 8, ROUND_TRIP];
    let lost_and_resumed = [9, 255, 9, 255, 0x1e, ROUND_TRIP, ROUND_TRIP, ROUND_TRIP];
    let goodbye = [0x8d, ROUND_TRIP, ROUND_TRIP, 0x0e, ROUND_TRIP, ROUND_TRIP];
    let unpolled = [0x0c, 0x8c];
    vec![
        seed(target, "plain_talk", &[&[0], &connect, &talk, &connect, &tagged, &disorder, &goodbye]),
        seed(target, "sealed_talk", &[&[5], &connect, &talk, &connect, &rebind, &disorder]),
        seed(target, "resume", &[&[3], &connect, &talk, &connect, &lost_and_resumed, &talk]),
        seed(
            target,
            "unpolled",
            &[&[4], &connect, &unpolled, &talk, &connect, &talk, &connect, &disorder, &connect],
        ),
        seed(target, "lossy_handshake", &[&[1, 8, 5, 0, 4, 0, 8], &disorder, &connect, &tagged]),
    ]
}
