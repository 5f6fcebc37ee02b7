//! FNV-1a, the one hash that appears on the wire.
//!
//! Names, schemas and code tables are compared across languages, so their hash must be short to write down and easy
//! to get right: for each byte, XOR it in, then multiply by the prime, modulo 2^64 or 2^32. It is no defence against
//! somebody who searches for collisions; whoever registers a name checks for them.

const OFFSET_BASIS_64: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME_64: u64 = 0x0000_0100_0000_01b3;
const OFFSET_BASIS_32: u32 = 0x811c_9dc5;
const PRIME_32: u32 = 0x0100_0193;

/// FNV-1a of 64 bits, fed piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct Fnv64(u64);

impl Fnv64 {
    /// The hash of no bytes.
    pub const fn new() -> Fnv64 {
        Fnv64(OFFSET_BASIS_64)
    }

    /// The hash after `bytes` as well.
    #[must_use]
    pub const fn with(self, bytes: &[u8]) -> Fnv64 {
        let mut hash = self.0;
        let mut index = 0;
        while index < bytes.len() {
            hash = (hash ^ bytes[index] as u64).wrapping_mul(PRIME_64);
            index += 1;
        }
        Fnv64(hash)
    }

    /// The hash value.
    pub const fn value(self) -> u64 {
        self.0
    }
}

impl Default for Fnv64 {
    fn default() -> Fnv64 {
        Fnv64::new()
    }
}

/// FNV-1a of 64 bits.
pub const fn fnv1a_64(bytes: &[u8]) -> u64 {
    Fnv64::new().with(bytes).value()
}

/// FNV-1a of 32 bits, fed piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct Fnv32(u32);

impl Fnv32 {
    /// The hash of no bytes.
    pub const fn new() -> Fnv32 {
        Fnv32(OFFSET_BASIS_32)
    }

    /// The hash after `bytes` as well.
    #[must_use]
    pub const fn with(self, bytes: &[u8]) -> Fnv32 {
        let mut hash = self.0;
        let mut index = 0;
        while index < bytes.len() {
            hash = (hash ^ bytes[index] as u32).wrapping_mul(PRIME_32);
            index += 1;
        }
        Fnv32(hash)
    }

    /// The hash value.
    pub const fn value(self) -> u32 {
        self.0
    }
}

impl Default for Fnv32 {
    fn default() -> Fnv32 {
        Fnv32::new()
    }
}

/// FNV-1a of 32 bits.
pub const fn fnv1a_32(bytes: &[u8]) -> u32 {
    Fnv32::new().with(bytes).value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_vectors_hold() {
        assert_eq!(fnv1a_64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a_64(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a_64(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(fnv1a_32(b""), 0x811c_9dc5);
        assert_eq!(fnv1a_32(b"a"), 0xe40c_292c);
        assert_eq!(fnv1a_32(b"foobar"), 0xbf9c_f968);
    }

    #[test]
    fn pieces_hash_like_the_whole() {
        assert_eq!(Fnv64::new().with(b"foo").with(b"bar").value(), fnv1a_64(b"foobar"));
    }
}
