//! Numbers that travel cut to sixteen bits.
//!
//! Which full number a receiver assumes cannot be seen from outside, except that a sealed packet opens under the
//! right one only. So each case seals the same truncated number as every full number that ends in it, and names
//! the one that the server took.

use super::CHACHA20_POLY1305;
use super::peer::Peer;
use netloom_proto::packet::PacketType;
use netloom_wire::sequence::Sequence16;
use serde_json::{Value, json};

/// How far the newest number may be moved by one packet.
const STRIDE: u64 = 30_000;

pub fn file() -> Value {
    let mut cases: Vec<Value> = PACKET_NUMBERS.iter().map(packet_number).collect();
    cases.extend(DISTANCES.map(distance));
    super::file(
        "Truncated numbers. `packet_number`: the full number behind 16 bits, given the newest one received, or the \
         rejection. `id_distance`: how far an id lies ahead of another, modulo 65536, as a signed number.",
        cases,
    )
}

type PacketNumberCase = (&'static str, Option<u64>, u16);

const PACKET_NUMBERS: [PacketNumberCase; 13] = [
    ("the first packet", None, 0),
    ("the first packet may have any number", None, 40_000),
    ("the next in order", Some(5), 6),
    ("a few lost", Some(5), 90),
    ("a late one", Some(5), 3),
    ("below zero there is nothing", Some(5), 65_535),
    ("over the wrap", Some(65_534), 2),
    ("back over the wrap", Some(65_540), 65_530),
    ("far ahead", Some(70_000), 37_000),
    ("nearly half the range ahead", Some(65_535), 32_767),
    ("half the range ahead, or as far behind: ahead", Some(65_535), 32_768),
    ("the same over the wrap", Some(98_303), 0),
    ("older than the window", Some(130_700), 64_000),
];

fn packet_number(&(name, newest, truncated): &PacketNumberCase) -> Value {
    let expected = newest.map_or(0, |newest| newest + 1);
    let first = (expected & !0xffff).saturating_sub(1 << 16) | u64::from(truncated);
    let candidates = (0..3).map(|turn| first + (turn << 16));
    let mut full = None;
    let mut outcome = "integrity";
    for candidate in candidates {
        let mut peer = received_up_to(newest);
        let tried = send(&mut peer, candidate);
        if tried != "integrity" {
            outcome = tried;
        }
        if tried == "accepted" {
            full = Some(candidate);
            break;
        }
    }
    let given = json!({
        "what": "packet_number",
        "newest": newest.map(|newest| newest.to_string()),
        "truncated": truncated,
    });
    let (needs, bytes) = ([CHACHA20_POLY1305], truncated.to_le_bytes());
    match full {
        Some(full) => super::case(name, &needs, given, &bytes, json!({ "full": full.to_string() })),
        None => super::refused(name, &needs, given, &bytes, outcome),
    }
}

/// A session whose server has seen `newest` and a few on the way there.
fn received_up_to(newest: Option<u64>) -> Peer {
    let mut peer = Peer::connected(true);
    if let Some(newest) = newest {
        for number in (0..newest).step_by(STRIDE as usize).chain([newest]) {
            assert_eq!(send(&mut peer, number), "accepted", "on the way to {newest}");
        }
    }
    peer
}

fn send(peer: &mut Peer, number: u64) -> &'static str {
    let packet = peer.close(&peer.header(PacketType::KeepAlive, number), number, &[]);
    peer.deliver(&packet).outcome
}

const DISTANCES: [(u16, u16); 8] =
    [(0, 0), (0, 1), (1, 0), (65_535, 0), (0, 65_535), (0, 32_767), (0, 32_768), (40_000, 7_000)];

fn distance((from, to): (u16, u16)) -> Value {
    let value = json!({
        "distance": Sequence16(to).distance(Sequence16(from)),
        "newer": Sequence16(to).is_newer_than(Sequence16(from)),
    });
    let given = json!({ "what": "id_distance", "from": from });
    super::case(&format!("from {from} to {to}"), &[], given, &to.to_le_bytes(), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arithmetic as the standard words it.
    fn reconstructed(newest: Option<u64>, truncated: u16) -> u64 {
        let expected = newest.map_or(0, |newest| newest + 1) as i64;
        let mut distance = (i64::from(truncated) - expected).rem_euclid(65_536);
        if distance > 32_768 {
            distance -= 65_536;
        }
        match expected + distance {
            negative if negative < 0 => truncated.into(),
            full => full as u64,
        }
    }

    #[test]
    fn the_server_takes_the_number_that_the_standard_says() {
        for case in &PACKET_NUMBERS {
            let value = packet_number(case);
            let (_, newest, truncated) = *case;
            match value["value"]["full"].as_str() {
                Some(full) => assert_eq!(full, reconstructed(newest, truncated).to_string(), "{}", case.0),
                None => assert_eq!(value["error"], "too_old", "{}", case.0),
            }
        }
    }
}
