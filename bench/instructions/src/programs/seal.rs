//! Sealing and opening packets.

use std::hint::black_box;

use netloom_proto::crypto::SealKey;
use netloom_proto::packet::TAG_BYTES;

use super::counted;

/// A snapshot for a few objects, and the largest packet there is.
const PACKET_BYTES: [usize; 2] = [300, 1_200];
/// Type, alias and packet number.
const HEADER_BYTES: usize = 5;
const ROUNDS: u64 = 100;

pub fn run() {
    let key = SealKey::new(&[0x42; 32]);
    let mut packets = PACKET_BYTES.map(|bytes| vec![7; bytes + TAG_BYTES]);
    for number in 1..=ROUNDS {
        counted(&mut || {
            for (packet, bytes) in packets.iter_mut().zip(PACKET_BYTES) {
                let length = key.seal(number, black_box(packet), HEADER_BYTES, bytes);
                let opened = key.open(number, black_box(&mut packet[..length]), HEADER_BYTES);
                assert!(opened.is_some(), "what was sealed opens");
            }
        });
    }
}
