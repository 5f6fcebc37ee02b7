//! Snapshots made smaller while a world is told for the first time.
//!
//! # The problem
//!
//! A client that joins is told of every object in full. Each record is coded tightly by itself, but records of one kind
//! resemble each other: the same class, the same teams, the same high bits of places nearby. Snapshots of 2,000 new
//! objects take a sixth to a third less when each datagram is compressed, and so a join over a thin line is over sooner.
//! Later there are changes only, which have been coded against what the client holds; nothing is left to gain there.
//!
//! # The mechanism
//!
//! ```text
//!   snapshot ─▶ LZ4 block ─▶ at least 1/16 shorter? ─yes─▶ Packed { length of the snapshot (u16), block }
//!                                                   └─no──▶ Snapshot, as always
//! ```
//!
//! Each is packed by itself, since any of them may be lost. What is saved is used at once: as long as the world is not
//! complete, the budget of a tick grows by what packing saved of late, up to twice.

use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
use netloom_wire::{ByteReader, ReadError};

use crate::message::kind;

/// The longest snapshot that is packed, in bytes: what a datagram holds.
pub const SNAPSHOT_BYTES_MAX: usize = netloom_proto::limits::DATAGRAM_MAX;
/// Kind and length, in front of the block.
const HEAD_BYTES: usize = 3;
/// Memory for one packed message, however badly it packs.
pub const PACKED_BYTES_MAX: usize = HEAD_BYTES + get_maximum_output_size(SNAPSHOT_BYTES_MAX);
/// What must be saved at least, as a part of the length.
const GAIN_DIVISOR: usize = 16;
/// Shorter ones are not worth the work.
const SNAPSHOT_BYTES_MIN: usize = 128;

/// Packs a snapshot as a whole message; `None` if that gains too little.
pub fn pack<'a>(snapshot: &[u8], out: &'a mut [u8]) -> Option<&'a [u8]> {
    if !(SNAPSHOT_BYTES_MIN..=SNAPSHOT_BYTES_MAX).contains(&snapshot.len()) {
        return None;
    }
    let (head, block) = out.split_at_mut_checked(HEAD_BYTES)?;
    let length = HEAD_BYTES + compress_into(snapshot, block).ok()?;
    if length + snapshot.len() / GAIN_DIVISOR > snapshot.len() + 1 {
        return None;
    }
    let [low, high] = (snapshot.len() as u16).to_le_bytes();
    head.copy_from_slice(&[kind::PACKED, low, high]);
    out.get(..length)
}

/// Unpacks what follows the kind. Whatever arrives, no more than `out` holds is written, and it is all of what was packed
/// or an error.
pub fn unpack<'a>(packed: &[u8], out: &'a mut [u8; SNAPSHOT_BYTES_MAX]) -> Result<&'a [u8], ReadError> {
    let mut reader = ByteReader::new(packed);
    let length = usize::from(reader.read_u16()?);
    let place = out.get_mut(..length).ok_or(ReadError::OutOfRange)?;
    match decompress_into(reader.rest(), place) {
        Ok(written) if written == length && length > 0 => Ok(place),
        _ => Err(ReadError::OutOfRange),
    }
}

/// What packing saves of late, for one client: how much of its length a snapshot has when it is sent, of
/// [`Share::WHOLE`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share(u32);

impl Default for Share {
    fn default() -> Share {
        Share(Share::WHOLE)
    }
}

impl Share {
    /// Fine enough that rounding does not matter.
    const WHOLE: u32 = 10_000;

    /// A snapshot of so many bytes went out as so many.
    pub fn note(&mut self, snapshot_bytes: usize, sent_bytes: usize) {
        let sent = Share::WHOLE as usize * sent_bytes.min(snapshot_bytes) / snapshot_bytes.max(1);
        // Rounded up, so that it never promises more than was seen.
        self.0 = (7 * self.0 + (sent as u32).max(Share::WHOLE / 2)).div_ceil(8);
    }

    /// How many bytes of snapshots may be made of a budget.
    pub fn stretch(self, budget_bytes: usize) -> usize {
        budget_bytes.saturating_mul(Share::WHOLE as usize) / self.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_repeats_gets_shorter_and_noise_is_left_alone() {
        let mut out = [0; PACKED_BYTES_MAX];
        let records: Vec<u8> = (0..1_100u32).map(|at| if at % 11 == 0 { at as u8 } else { 7 }).collect();
        let packed = pack(&records, &mut out).unwrap();
        assert!(packed.len() < records.len() / 2);
        assert_eq!(packed[0], kind::PACKED);
        let mut random = crate::random::Random::new(3);
        let noise: Vec<u8> = (0..1_100).map(|_| random.below(256) as u8).collect();
        assert_eq!(pack(&noise, &mut out), None);
        assert_eq!(pack(&[0; 16], &mut out), None, "too short to matter");
        assert_eq!(pack(&vec![0; SNAPSHOT_BYTES_MAX + 1], &mut out), None, "no datagram holds it");
    }

    #[test]
    fn a_budget_grows_by_what_is_saved_and_at_most_twice() {
        let mut share = Share::default();
        assert_eq!(share.stretch(1_000), 1_000);
        (0..50).for_each(|_| share.note(1_000, 800));
        assert!((1_240..=1_250).contains(&share.stretch(1_000)), "{}", share.stretch(1_000));
        (0..200).for_each(|_| share.note(1_000, 10));
        assert!((1_990..=2_000).contains(&share.stretch(1_000)), "{}", share.stretch(1_000));
        (0..200).for_each(|_| share.note(1_000, 1_200));
        assert!((1_000..=1_001).contains(&share.stretch(1_000)), "{}", share.stretch(1_000));
    }

    #[test]
    fn a_length_that_is_not_that_of_the_content_is_refused() {
        let (mut out, mut back) = ([0; PACKED_BYTES_MAX], [0; SNAPSHOT_BYTES_MAX]);
        let packed = pack(&[5; 600], &mut out).unwrap()[1..].to_vec();
        assert_eq!(unpack(&packed, &mut back), Ok(&[5; 600][..]));
        for length in [0u16, 599, 601, 1_201, u16::MAX] {
            let wrong = [&length.to_le_bytes()[..], &packed[2..]].concat();
            assert!(unpack(&wrong, &mut back).is_err(), "{length}");
        }
        assert!(unpack(&packed[..1], &mut back).is_err());
    }

    proptest! {
        #[test]
        fn what_was_packed_comes_back(snapshot in proptest::collection::vec(0u8..4, 0..=SNAPSHOT_BYTES_MAX)) {
            let (mut out, mut back) = ([0; PACKED_BYTES_MAX], [0; SNAPSHOT_BYTES_MAX]);
            if let Some(packed) = pack(&snapshot, &mut out) {
                prop_assert!(packed.len() <= snapshot.len());
                prop_assert_eq!(unpack(&packed[1..], &mut back), Ok(&snapshot[..]));
            }
        }

        #[test]
        fn whatever_arrives_is_unpacked_within_bounds_or_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..1_300),
        ) {
            let mut out = [0; SNAPSHOT_BYTES_MAX];
            let unpacked = unpack(&bytes, &mut out).map(<[u8]>::len);
            prop_assert!(unpacked.is_err() || unpacked == Ok(usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))));
        }
    }
}
