//! Unsigned LEB128: seven bits a byte, low bits first, the top bit says that another byte follows.
//!
//! Lengths and counts are small almost always and large sometimes. Only the shortest form is valid, so that a value
//! has one encoding and a receiver never reads more than [`MAX_LEN`] bytes.

/// The longest encoding, that of `u64::MAX`.
pub const MAX_LEN: usize = 10;

/// The number of bytes that `value` takes.
pub const fn len(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// Writes `value` at the start of `out` and returns its length; `None` if `out` is too short.
#[inline]
pub fn write(mut value: u64, out: &mut [u8]) -> Option<usize> {
    if value < 0x80 {
        *out.first_mut()? = value as u8;
        return Some(1);
    }
    let length = len(value);
    for byte in out.get_mut(..length)? {
        *byte = (value as u8 & 0x7f) | 0x80;
        value >>= 7;
    }
    out[length - 1] &= 0x7f;
    Some(length)
}

/// Reads one value from the start of `bytes`: the value and how many bytes it took.
///
/// `None` if the bytes end early, the value does not fit 64 bits, or it is not in its shortest form.
pub fn read(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().take(MAX_LEN).enumerate() {
        if index == MAX_LEN - 1 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            let shortest = byte != 0 || index == 0;
            return shortest.then_some((value, index + 1));
        }
    }
    None
}

/// Maps a signed value to an unsigned one so that small magnitudes stay small: 0, -1, 1, -2 become 0, 1, 2, 3.
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The inverse of [`zigzag`].
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn borders_have_the_documented_bytes() {
        let mut out = [0; MAX_LEN];
        for (value, bytes) in [
            (0, &[0x00][..]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            (300, &[0xac, 0x02]),
            (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
        ] {
            let length = write(value, &mut out).unwrap();
            assert_eq!(&out[..length], bytes);
            assert_eq!(length, len(value));
        }
    }

    #[test]
    fn overlong_truncated_and_oversized_values_are_refused() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[0x80]), None);
        assert_eq!(read(&[0x80, 0x00]), None, "zero in two bytes");
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), None, "65 bits");
        assert_eq!(read(&[0x80; 11]), None);
        assert_eq!(write(128, &mut [0]), None);
    }

    proptest! {
        #[test]
        fn every_value_returns(value: u64, tail: u8) {
            let mut out = [tail; MAX_LEN + 1];
            let length = write(value, &mut out).unwrap();
            prop_assert_eq!(read(&out), Some((value, length)));
        }

        #[test]
        fn zigzag_returns(value: i64) {
            prop_assert_eq!(unzigzag(zigzag(value)), value);
        }

        #[test]
        fn any_bytes_that_read_write_back_the_same(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
            if let Some((value, length)) = read(&bytes) {
                let mut out = [0; MAX_LEN];
                prop_assert_eq!(write(value, &mut out), Some(length));
                prop_assert_eq!(&out[..length], &bytes[..length]);
            }
        }
    }
}
