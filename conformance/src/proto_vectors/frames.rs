//! Payloads of Data packets: each kind and form of frame, and payloads that do not parse.

use super::codes::kind_name;
use super::hex;
use netloom_proto::ChannelKind::{self, *};
use netloom_proto::Rejection;
use netloom_proto::frame::{ChannelTable, Frame, FrameWriter, Frames, LinkFrame, MessageFrame};
use netloom_proto::limits::DATAGRAM_MAX;
use serde_json::{Value, json};

/// The channels of every vector, by id.
pub const CHANNELS: [ChannelKind; 5] = [Priority, Ordered, Unordered, Unreliable, Sequenced];

pub fn table() -> ChannelTable {
    ChannelTable::new(CHANNELS)
}

/// A message for one of [`CHANNELS`].
pub fn message(channel: u8, id: u16, data: &[u8]) -> Frame<'_> {
    fragment(channel, id, None, data)
}

/// A part of one.
pub fn fragment(channel: u8, id: u16, fragment: Option<(u16, u16)>, data: &[u8]) -> Frame<'_> {
    let kind = CHANNELS[usize::from(channel)];
    Frame::Message(MessageFrame { channel, kind, id, fragment, data })
}

/// The block of the packet `distance` before, once more.
pub fn copy(distance: u64, body: &[u8]) -> Frame<'_> {
    Frame::Link(LinkFrame { distance, parity: None, body })
}

/// The payload with these frames.
pub fn payload(frames: &[Frame<'_>]) -> Vec<u8> {
    let mut out = vec![0; DATAGRAM_MAX];
    let mut writer = FrameWriter::new(&mut out);
    for frame in frames {
        let fitted = match frame {
            Frame::Message(message) => writer.message(message),
            Frame::Link(link) => writer.link(link),
        };
        assert!(fitted, "a vector must fit a datagram");
    }
    let length = writer.finish();
    out.truncate(length);
    out
}

fn describe(frame: &Frame<'_>) -> Value {
    match frame {
        Frame::Message(message) => json!({
            "frame": "message",
            "channel": message.channel,
            "kind": kind_name(message.kind),
            "id": message.id,
            "fragment": message.fragment.map(|(index, count)| json!({ "index": index, "count": count })),
            "data": hex(message.data),
        }),
        Frame::Link(LinkFrame { distance, parity: None, body }) => {
            json!({ "frame": "copy", "distance": distance, "body": hex(body) })
        }
        Frame::Link(LinkFrame { distance, parity: Some((other, lengths)), body }) => json!({
            "frame": "parity",
            "distance": distance,
            "other_distance": other,
            "lengths_xored": lengths,
            "body": hex(body),
        }),
    }
}

/// What the parser makes of a payload: its frames, or nothing if it is malformed.
fn case(name: &str, payload: &[u8]) -> Value {
    let table = table();
    let frames = Frames::of_payload(payload, &table);
    let block = frames.as_ref().map_or(&[][..], |frames| frames.block());
    let parsed: Result<Vec<Frame<'_>>, _> = frames.and_then(|frames| frames.collect());
    let given = json!({ "channel_kinds": CHANNELS.map(kind_name) });
    match parsed {
        Err(_) => super::refused(name, &[], given, payload, Rejection::Malformed.name()),
        Ok(frames) => {
            let frames: Vec<Value> = frames.iter().map(describe).collect();
            super::case(name, &[], given, payload, json!({ "frames": frames, "block": hex(block) }))
        }
    }
}

pub fn file() -> Value {
    let mut cases = well_formed();
    cases.extend(malformed());
    super::file(
        "Payloads of Data packets. `block`: the leading whole reliable frames, which redundancy may repeat.",
        cases,
    )
}

fn well_formed() -> Vec<Value> {
    let long = [0x5a; 300];
    let near = LinkFrame { distance: 1, parity: Some((2, 0)), body: b"xored" };
    let parity = LinkFrame { distance: 1, parity: Some((2, 5 ^ 9)), body: b"nine byte" };
    let farther = LinkFrame { distance: 1, parity: Some((3, 0)), body: b"xored" };
    let cases: [(&str, Vec<Frame<'_>>); 15] = [
        ("a priority message", vec![message(0, 0, b"first")]),
        ("an ordered message with the highest id", vec![message(1, 65_535, b"x")]),
        ("an unordered message", vec![message(2, 258, b"any order")]),
        ("an unreliable message has no id", vec![message(3, 0, b"now")]),
        ("a sequenced message", vec![message(4, 513, b"newest")]),
        ("an empty message", vec![message(3, 0, b"")]),
        ("a length of two bytes", vec![message(3, 0, &long)]),
        ("a reliable fragment: ids run on", vec![fragment(1, 12, Some((2, 200)), b"part")]),
        ("an unreliable fragment: the message's id", vec![fragment(3, 12, Some((63, 64)), b"part")]),
        (
            "a block of two, then others",
            vec![message(1, 7, b"a"), message(0, 8, b"b"), message(3, 0, b"c"), message(1, 9, b"d")],
        ),
        ("a copy behind a message", vec![message(4, 1, b"state"), copy(3, b"\x01\x07\x00\x01a")]),
        ("a copy of no bytes", vec![copy(8, b"")]),
        ("a parity", vec![message(4, 1, b"state"), Frame::Link(parity)]),
        ("a parity of other packets, of the same length", vec![Frame::Link(farther)]),
        (
            "a parity of the two packets before, of the same length",
            vec![message(4, 1, b"state"), Frame::Link(near)],
        ),
    ];
    cases.iter().map(|(name, frames)| case(name, &payload(frames))).collect()
}

fn malformed() -> Vec<Value> {
    let cases: [(&str, &[u8]); 22] = [
        ("no payload", &[]),
        ("a count of zero", &[0]),
        ("a count of zero before a frame", &[0, 3, 1, b'x']),
        ("a count above the frames", &[2, 3, 1, b'x']),
        ("a count below the frames", &[1, 3, 1, b'x', 3, 1, b'y']),
        ("a byte behind the last frame", &[1, 3, 1, b'x', 0]),
        ("a reserved bit in the frame's first byte", &[1, 0x43, 1, b'x']),
        ("a channel that is not configured", &[1, 5, 1, b'x']),
        ("a form that does not exist", &[1, 0x23, 1, b'x']),
        ("a length past the end", &[1, 3, 2, b'x']),
        ("a length that is not in its shortest form", &[1, 3, 0x81, 0x00, b'x']),
        ("a length that does not end", &[1, 3, 0x80]),
        ("an id cut in half", &[1, 1, 0]),
        ("a fragment of one", &[1, 0x11, 0, 0, 0, 1, 1, b'x']),
        ("a fragment beyond its count", &[1, 0x11, 0, 0, 2, 2, 1, b'x']),
        ("513 reliable fragments", &[1, 0x11, 0, 0, 0, 0x81, 0x04, 1, b'x']),
        ("65 unreliable fragments", &[1, 0x13, 0, 0, 0, 65, 1, b'x']),
        ("a copy of the packet itself", &[1, 0x0f, 0, 1, b'x']),
        ("a copy of nine packets ago", &[1, 0x0f, 9, 1, b'x']),
        ("a parity whose second block is not older", &[1, 0x1f, 0x22, 0, 1, b'x']),
        ("near parity in the long form", &[1, 0x1f, 0x21, 0, 1, b'x']),
        ("a link frame of form three", &[1, 0x3f, 1, b'x']),
    ];
    cases.iter().map(|(name, payload)| case(name, payload)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parser_agrees_on_what_is_malformed() {
        assert!(well_formed().iter().all(|case| case["value"].is_object()));
        for case in malformed() {
            assert_eq!(case["error"], "malformed", "{}", case["name"]);
        }
    }
}
