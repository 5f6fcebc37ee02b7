//! Acknowledgements: what a set of received packets looks like in a header, and what a header says was received.

use super::packets;
use super::peer::Peer;
use netloom_proto::Micros;
use netloom_proto::packet::{Header, PacketType};
use serde_json::{Value, json};

pub fn file() -> Value {
    let cases: [(&str, Vec<u64>); 8] = [
        ("the first packet alone", vec![0]),
        ("two in a row", vec![0, 1]),
        ("a gap", vec![0, 1, 3]),
        ("out of order", vec![4, 2, 0]),
        ("sixteen before the newest: the last bit of the smallest form", (0..=16).collect()),
        ("seventeen before the newest", (0..=17).collect()),
        ("every second of a hundred: the oldest come first, and no round trip is measured", {
            (0..100).step_by(2).collect()
        }),
        ("sixty-four before the newest: the last bit of the largest form", (0..=64).collect()),
    ];
    let cases = cases.into_iter().map(|(name, received)| case(name, &received));
    super::file(
        "A receiver took these packets, in this order, and answered with this header. A zero bit says nothing.",
        cases.collect(),
    )
}

fn case(name: &str, received: &[u64]) -> Value {
    let mut peer = Peer::connected(false);
    for &number in received {
        let packet = peer.close(&peer.header(PacketType::KeepAlive, number), number, &[]);
        assert_eq!(peer.deliver(&packet).outcome, "accepted", "{name}: packet {number}");
    }
    let wait = Micros::from_millis(20);
    let reply = peer.reply_after(wait);
    let (header, length) = Header::parse(&reply, false).expect("a server's packet parses");
    let ack = header.ack.expect("something was received");
    let value = json!({
        "ack": packets::describe_ack(&ack),
        "acknowledged": acknowledged(ack.newest.into(), ack.bits),
    });
    super::case(name, &[], json!({ "received": received }), &reply[..length], value)
}

/// The packets that an acknowledgement names, newest first.
fn acknowledged(newest: u64, bits: u64) -> Vec<u64> {
    let before = (0..64).filter(|bit| bits >> bit & 1 != 0).map(|bit| newest - 1 - bit);
    std::iter::once(newest).chain(before).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn an_ack_names_received_packets_only_and_all_within_its_reach() {
        let file = file();
        for case in file["cases"].as_array().expect("cases") {
            let numbers = |list: &Value| -> BTreeSet<u64> {
                let list = list.as_array().expect("a list");
                list.iter().filter_map(Value::as_u64).collect()
            };
            let reach = case["value"]["ack"]["width"].as_u64().expect("a width");
            let newest = case["value"]["ack"]["newest"].as_u64().expect("a number");
            let within: BTreeSet<u64> = numbers(&case["given"]["received"])
                .into_iter()
                .filter(|&number| number <= newest && newest - number <= reach)
                .collect();
            assert_eq!(numbers(&case["value"]["acknowledged"]), within, "{}", case["name"]);
        }
    }
}
