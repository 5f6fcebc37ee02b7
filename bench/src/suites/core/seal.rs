//! Sealing and opening a full packet.

use crate::error::BenchError;
use netloom_proto::crypto::SealKey;
use netloom_proto::packet::TAG_BYTES;
use std::hint::black_box;

/// The largest datagram there is, and the tag on top: a little more than any packet costs.
const PACKET_BYTES: usize = 1_200;
/// Type, alias and packet number.
const HEADER_BYTES: usize = 5;

/// A packet that is sealed and opened in place, again and again.
pub struct Seal {
    key: SealKey,
    packet: [u8; PACKET_BYTES + TAG_BYTES],
    number: u64,
    refused: u64,
}

impl Seal {
    /// A packet and a key.
    pub fn new() -> Seal {
        let packet = std::array::from_fn(|index| (index * 13) as u8);
        Seal { key: SealKey::new(&[0x42; 32]), packet, number: 0, refused: 0 }
    }

    /// Seals and opens the packet `operations` times, each under a packet number of its own.
    pub fn run(&mut self, operations: u32) {
        for _ in 0..operations {
            self.number += 1;
            let packet = black_box(&mut self.packet);
            let length = self.key.seal(self.number, packet, HEADER_BYTES, PACKET_BYTES);
            let opened =
                black_box(self.key.open(self.number, black_box(&mut packet[..length]), HEADER_BYTES));
            self.refused += u64::from(opened.is_none());
        }
    }

    /// An error if a single packet did not open.
    pub fn verdict(self) -> Result<(), BenchError> {
        match self.refused {
            0 => Ok(()),
            refused => {
                Err(BenchError::refused("netloom", format_args!("{refused} sealed packets did not open")))
            }
        }
    }
}
