//! The 50-key mask of older engines: obfuscation by stream position, for compatibility only.
//!
//! Byte *p* of the stream is XORed with key *p* mod 50. Anyone who sees one frame signature can recover keys, and
//! nothing is authenticated, so this is **not security**; an encrypted transport is.
//!
//! The keys come from a seed by xorshift32: state = seed, or 0x9E3779B9 if the seed is zero; for each key
//! `s ^= s << 13; s ^= s >> 17; s ^= s << 5` (32 bits), and the key is the top byte of s.

/// How many keys there are.
pub const KEY_COUNT: usize = 50;

const SEED_INSTEAD_OF_ZERO: u32 = 0x9e37_79b9;

/// One direction of a masked stream. Masking and unmasking are the same operation.
#[derive(Clone, Debug)]
pub struct StreamMask {
    keys: [u8; KEY_COUNT],
    /// The stream position modulo [`KEY_COUNT`].
    next_key: usize,
}

impl StreamMask {
    /// The mask of a stream from its first byte on.
    pub fn from_seed(seed: u32) -> StreamMask {
        let mut state = if seed == 0 { SEED_INSTEAD_OF_ZERO } else { seed };
        let keys = core::array::from_fn(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 24) as u8
        });
        StreamMask { keys, next_key: 0 }
    }

    /// Masks or unmasks the next bytes of the stream in place.
    pub fn apply(&mut self, bytes: &mut [u8]) {
        let keys = self.keys.iter().cycle().skip(self.next_key);
        for (byte, key) in bytes.iter_mut().zip(keys) {
            *byte ^= key;
        }
        self.next_key = (self.next_key + bytes.len() % KEY_COUNT) % KEY_COUNT;
    }
}
