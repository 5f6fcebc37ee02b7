//! Messages that testify about themselves.
//!
//! A checker that keeps a copy of every message sent needs as much memory as the traffic and a lookup per arrival. A
//! message that carries its own place in the stream and a checksum over all of it needs neither:
//!
//! ```text
//! | stream u32 | channel u8 | index u32 | length u32 | filler … | checksum u64 |     little-endian
//! ```
//!
//! `stream` names a direction of one session, so that a message of an earlier session cannot pass for one of this. The
//! filler follows from the rest, so that equal stamps mean equal bytes.

use crate::rng::mix;

use super::Violation;

/// The smallest message that holds a stamp.
pub const STAMP_BYTES: usize = HEADER_BYTES + 8;
const HEADER_BYTES: usize = 13;

/// A message's place: which direction of which session, which channel, the how-manieth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// A direction of one session.
    pub stream: u32,
    /// The channel it was sent on.
    pub channel: u8,
    /// Its index on that channel.
    pub index: u32,
}

impl Stamp {
    /// Replaces `out` by the message with this stamp that is `bytes` long, or [`STAMP_BYTES`] if that is more.
    pub fn write(&self, bytes: usize, out: &mut Vec<u8>) {
        let bytes = bytes.max(STAMP_BYTES);
        out.clear();
        out.extend_from_slice(&self.stream.to_le_bytes());
        out.push(self.channel);
        out.extend_from_slice(&self.index.to_le_bytes());
        out.extend_from_slice(&(bytes as u32).to_le_bytes());
        let mut word = checksum(out);
        while out.len() + 8 <= bytes - 8 {
            word = mix(word.wrapping_add(1));
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.resize(bytes - 8, 0x5a);
        let sum = checksum(out);
        out.extend_from_slice(&sum.to_le_bytes());
    }

    /// Reads the stamp of a message, or says that nobody ever sent these bytes.
    pub fn read(message: &[u8]) -> Result<Stamp, Violation> {
        let forged =
            || Violation::new("only sent messages arrive", format!("{} bytes nobody sent", message.len()));
        let (body, sum) = message.split_last_chunk::<8>().ok_or_else(forged)?;
        if body.len() < HEADER_BYTES || checksum(body) != u64::from_le_bytes(*sum) {
            return Err(forged());
        }
        let word = |at: usize| u32::from_le_bytes([body[at], body[at + 1], body[at + 2], body[at + 3]]);
        if word(9) as usize != message.len() {
            return Err(forged());
        }
        Ok(Stamp { stream: word(0), channel: body[4], index: word(5) })
    }
}

/// Eight bytes a step; a change within one step is noticed for certain, any other with probability 1 - 2^-64.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(8);
    let mut sum = bytes.len() as u64;
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        sum = mix(sum ^ u64::from_le_bytes(word));
    }
    let mut word = [0; 8];
    word[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    mix(sum ^ u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stamp_returns_at_every_length(stream: u32, channel: u8, index: u32, bytes in 0usize..3_000) {
            let stamp = Stamp { stream, channel, index };
            let mut message = Vec::new();
            stamp.write(bytes, &mut message);
            prop_assert_eq!(message.len(), bytes.max(STAMP_BYTES));
            prop_assert_eq!(Stamp::read(&message), Ok(stamp));
        }

        #[test]
        fn any_flipped_bit_or_cut_is_noticed(index: u32, bytes in 21usize..200, at: proptest::sample::Index, bit in 0u8..8) {
            let mut message = Vec::new();
            Stamp { stream: 1, channel: 2, index }.write(bytes, &mut message);
            let at = at.index(message.len());
            prop_assert!(Stamp::read(&message[..at]).is_err());
            message[at] ^= 1 << bit;
            prop_assert!(Stamp::read(&message).is_err());
        }
    }
}
