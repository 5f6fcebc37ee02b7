//! Sessions, datagram by datagram: what the receiver accepted, and which messages came out.

use super::frames::{CHANNELS, copy, fragment, message, payload};
use super::peer::Peer;
use super::{CHACHA20_POLY1305, CRC32C, PROTOCOL_ID, codes, hex};
use netloom_proto::frame::{Frame, LinkFrame};
use netloom_proto::packet::PacketType;
use serde_json::{Value, json};

pub fn file() -> Value {
    let cases = vec![
        scenario("in order on every channel", false, every_channel),
        scenario("twice, late and too late", false, replays),
        scenario("the same, sealed, over the wrap of the number", true, sealed_replays),
        scenario("a gap in an ordered and in an unordered channel", false, gaps),
        scenario("fragments in any order", false, fragments),
        scenario("parts that are known, and one that contradicts them", false, conflicting_parts),
        scenario("an unreliable message of two lengths", false, conflicting_counts),
        scenario("a sequenced channel never goes back", false, sequenced),
        scenario("a copy brings a lost packet back", false, copies),
        scenario("a copy that is not taken spoils its packet and is not kept", false, copy_out_of_window),
        scenario("parity brings two lost packets back", false, parities),
        scenario("redundancy that says nothing", false, empty_links),
        scenario("a parity that gives an empty block", false, empty_parity),
        scenario("a parity that gives more than its body has", false, overlong_parity),
        scenario("goodbye, said twice", false, goodbye),
    ];
    super::file(
        "A server has accepted a client; these datagrams arrive from the client's address. A step has the `messages` \
         that it delivers, in this order, or the `error` for which it is dropped.",
        cases,
    )
}

/// What happens, one datagram after another.
type Script = fn(&Peer) -> Vec<(&'static str, Vec<u8>)>;

fn scenario(name: &str, sealed: bool, script: Script) -> Value {
    let mut peer = Peer::connected(sealed);
    let datagrams = script(&peer);
    let steps: Vec<Value> = datagrams
        .iter()
        .map(|(says, datagram)| {
            let delivered = peer.deliver(datagram);
            let message = |(channel, data): &(u8, Vec<u8>)| json!({ "channel": channel, "data": hex(data) });
            let messages: Vec<Value> = delivered.messages.iter().map(message).collect();
            match delivered.outcome {
                "accepted" => json!({ "says": says, "hex": hex(datagram), "messages": messages }),
                error => json!({ "says": says, "hex": hex(datagram), "error": error }),
            }
        })
        .collect();
    json!({
        "name": name,
        "needs": [if sealed { CHACHA20_POLY1305 } else { CRC32C }],
        "given": {
            "protocol_id": PROTOCOL_ID.to_string(),
            "channel_kinds": CHANNELS.map(codes::kind_name),
            "session_id": peer.session_id.to_string(),
            "alias": peer.alias,
            "key": peer.key.map(|key| hex(&key)),
        },
        "steps": steps,
    })
}

fn every_channel(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let all: Vec<Frame<'_>> = (0..5).map(|channel| message(channel, 0, b"hello")).collect();
    vec![
        ("one message on each channel", peer.data(0, &payload(&all))),
        ("the same messages in a new packet: reliable and sequenced ones are known", {
            peer.data(1, &payload(&all))
        }),
        ("an empty message", peer.data(2, &payload(&[message(3, 0, b"")]))),
    ]
}

fn replays(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let data = |number: u64| peer.data(number, &payload(&[message(3, 0, &[number as u8])]));
    vec![
        ("the first packet is number 7", data(7)),
        ("again", data(7)),
        ("a late one", data(3)),
        ("again", data(3)),
        ("far ahead", data(600)),
        ("exactly as old as the window", data(88)),
        ("one younger", data(89)),
    ]
}

fn sealed_replays(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let data = |number: u64| peer.data(number, &payload(&[message(3, 0, &[number as u8])]));
    vec![
        ("the first packet", data(0)),
        ("30000 lost", data(30_000)),
        ("30000 more", data(60_000)),
        ("the last before the wrap", data(65_535)),
        ("the first after it", data(65_536)),
        ("again", data(65_536)),
        ("late, from before the wrap", data(65_534)),
        ("number 1: read as 65537, under which it does not open", data(1)),
    ]
}

fn gaps(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let both = |id: u16, data: &'static [u8]| payload(&[message(1, id, data), message(2, id, data)]);
    vec![
        ("id 1 before id 0: the unordered channel does not wait", peer.data(0, &both(1, b"b"))),
        ("id 2", peer.data(1, &both(2, b"c"))),
        ("id 0 fills the gap", peer.data(2, &both(0, b"a"))),
        ("id 1 once more", peer.data(3, &both(1, b"b"))),
    ]
}

fn fragments(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let part =
        |channel, id, index, data: &'static [u8]| payload(&[fragment(channel, id, Some((index, 3)), data)]);
    vec![
        ("the last third of a reliable message", peer.data(0, &part(1, 2, 2, b"ghi"))),
        ("its first", peer.data(1, &part(1, 0, 0, b"abc"))),
        ("a whole message behind it waits", peer.data(2, &payload(&[message(1, 3, b"next")]))),
        ("its second", peer.data(3, &part(1, 1, 1, b"def"))),
        ("the last third of an unreliable message", peer.data(4, &part(3, 9, 2, b"GHI"))),
        ("its first", peer.data(5, &part(3, 9, 0, b"ABC"))),
        ("its first once more", peer.data(6, &part(3, 9, 0, b"ABC"))),
        ("its second", peer.data(7, &part(3, 9, 1, b"DEF"))),
    ]
}

fn conflicting_parts(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let part = |number, id, of, data| peer.data(number, &payload(&[fragment(1, id, Some(of), data)]));
    vec![
        ("the first half of a message", part(0, 0, (0, 2), b"abc")),
        ("once more", part(1, 0, (0, 2), b"abc")),
        ("the same id as the first of three: it is held, so the frame is ignored", part(2, 0, (0, 3), b"x")),
        ("the same id as the second of two: the same", part(3, 0, (1, 2), b"x")),
        ("the same id as a whole message: the same", peer.data(4, &payload(&[message(1, 0, b"x")]))),
        ("the next id as the second of three: they contradict each other", part(5, 1, (1, 3), b"def")),
        ("nothing but a goodbye is taken any more", part(6, 1, (1, 2), b"def")),
    ]
}

fn conflicting_counts(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let part = |number, of, data| peer.data(number, &payload(&[fragment(3, 9, Some(of), data)]));
    vec![("the first of three", part(0, (0, 3), b"abc")), ("the second of two", part(1, (1, 2), b"def"))]
}

fn sequenced(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let ids = [65_533, 65_535, 65_534, 1, 0, 65_535, 2, 2];
    let state = |(number, id): (usize, u16)| {
        let packet = peer.data(number as u64, &payload(&[message(4, id, &id.to_le_bytes())]));
        ("the data is the id", packet)
    };
    ids.into_iter().enumerate().map(state).collect()
}

/// Four packets with one ordered message each, as blocks.
const BLOCKS: [&[u8]; 4] =
    [b"\x01\x00\x00\x03one", b"\x01\x01\x00\x03two", b"\x01\x02\x00\x05three", b"\x01\x03\x00\x04four"];

const TEXTS: [&[u8]; 4] = [b"one", b"two", b"three", b"four"];

fn copies(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let with_copy = |number: usize| {
        let frames = [message(1, number as u16, TEXTS[number]), copy(1, BLOCKS[number - 1])];
        peer.protected(number as u64, &payload(&frames))
    };
    vec![
        ("packet 0", peer.protected(0, &payload(&[message(1, 0, TEXTS[0])]))),
        ("packet 2; 1 is lost and comes back before 2's own message is due", with_copy(2)),
        ("packet 3 repeats 2, which is known", with_copy(3)),
        ("packet 1 after all", with_copy(1)),
    ]
}

fn copy_out_of_window(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let far_ahead = payload(&[message(1, 2_000, b"far")]);
    vec![
        ("packet 2: what it says of packet 1 is out of the window", {
            peer.data(2, &payload(&[message(3, 0, b"unreliable"), copy(1, &far_ahead[1..])]))
        }),
        ("packet 3 repeats 1 otherwise", peer.data(3, &payload(&[copy(2, BLOCKS[0])]))),
    ]
}

fn parities(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let with_parity = |number: usize| {
        let (near, far) = (BLOCKS[number - 1], BLOCKS[number - 2]);
        let mut body = vec![0; near.len().max(far.len())];
        for block in [near, far] {
            body.iter_mut().zip(block).for_each(|(sum, byte)| *sum ^= byte);
        }
        let lengths = near.len() as u8 ^ far.len() as u8;
        let parity = Frame::Link(LinkFrame { distance: 1, parity: Some((2, lengths)), body: &body });
        peer.protected(number as u64, &payload(&[message(1, number as u16, TEXTS[number]), parity]))
    };
    vec![
        ("packet 2; 0 and 1 are lost, and their parity alone tells nothing", with_parity(2)),
        ("packet 3: its parity gives 1, for 2 is here; then 2's gives 0", with_parity(3)),
    ]
}

fn empty_links(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let reaching_below = LinkFrame { distance: 1, parity: Some((2, 1)), body: b"\xff" };
    vec![
        ("a copy of packet -1 is ignored, whatever is in it", peer.data(0, &payload(&[copy(1, b"\xff")]))),
        ("a parity with packet -1 is ignored", peer.data(1, &payload(&[Frame::Link(reaching_below)]))),
        ("a copy of no bytes is the block of packet 2", peer.data(3, &payload(&[copy(1, b"")]))),
        ("another copy of packet 2 is not news", peer.data(4, &payload(&[copy(2, BLOCKS[0])]))),
        ("a protected packet with an empty block", {
            peer.protected(5, &payload(&[message(3, 0, b"unreliable")]))
        }),
        ("a copy of it is not looked at", peer.data(6, &payload(&[copy(1, b"\xff")]))),
    ]
}

/// Packet 0, then packet 2 with a parity of 0 and 1 that claims the block of packet 1 to have `length` bytes.
fn with_claimed_length(
    peer: &Peer,
    block: &[u8],
    length: u8,
    says: &'static str,
) -> Vec<(&'static str, Vec<u8>)> {
    let mut body = BLOCKS[0].to_vec();
    body.iter_mut().zip(block).for_each(|(sum, byte)| *sum ^= byte);
    let parity = Frame::Link(LinkFrame {
        distance: 1,
        parity: Some((2, BLOCKS[0].len() as u8 ^ length)),
        body: &body,
    });
    vec![
        ("packet 0", peer.protected(0, &payload(&[message(1, 0, TEXTS[0])]))),
        (says, peer.data(2, &payload(&[parity]))),
    ]
}

fn empty_parity(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    with_claimed_length(peer, &[], 0, "packet 2: packet 1 had no block")
}

fn overlong_parity(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    with_claimed_length(
        peer,
        BLOCKS[1],
        8,
        "packet 2: behind the body there are zeros, which is no frame here",
    )
}

fn goodbye(peer: &Peer) -> Vec<(&'static str, Vec<u8>)> {
    let bye = |number| peer.close(&peer.header(PacketType::Disconnect, number), number, &[0, 0]);
    vec![
        ("a message", peer.data(0, &payload(&[message(1, 0, b"last words")]))),
        ("goodbye", bye(1)),
        ("once more, because the confirmation was lost", bye(2)),
        ("nothing else is taken any more", peer.data(3, &payload(&[message(3, 0, b"x")]))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scenario: &Value) -> Vec<String> {
        let steps = scenario["steps"].as_array().expect("steps");
        let messages = steps.iter().flat_map(|step| step["messages"].as_array().expect("messages"));
        messages.map(|message| message["data"].as_str().expect("data").to_owned()).collect()
    }

    #[test]
    fn the_blocks_are_the_frames_of_their_packets() {
        for (number, text) in TEXTS.iter().enumerate() {
            assert_eq!(payload(&[message(1, number as u16, text)])[1..], *BLOCKS[number]);
        }
    }

    #[test]
    fn lost_packets_come_back_once_and_in_order() {
        for (script, name) in [(copies as Script, "copies"), (parities, "parities")] {
            assert_eq!(texts(&scenario(name, false, script)), TEXTS.map(hex), "{name}");
        }
    }

    #[test]
    fn replays_are_told_from_late_packets() {
        let scenario = scenario("replays", false, replays);
        let outcomes: Vec<&str> = scenario["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .map(|step| step["error"].as_str().unwrap_or("accepted"))
            .collect();
        assert_eq!(
            outcomes,
            ["accepted", "replayed", "accepted", "replayed", "accepted", "too_old", "accepted"]
        );
    }
}
