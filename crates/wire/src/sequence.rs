//! Counters that wrap, and the identities of objects.
//!
//! A counter on the wire is a few bits wide and wraps within seconds, so "greater" is meaningless: 3 comes after 65,534.
//! Comparing such counters with `<` is the classic bug, so these types have no `Ord`; they answer
//! [`is_newer_than`](Sequence16::is_newer_than) and [`distance`](Sequence16::distance), which look at the wrapped
//! difference and are right while the two lie less than half the range apart.
//!
//! ```text
//!            older than x │ newer than x          exactly half the range away:
//!   ... x-2   x-1    x    │   x+1   x+2 ...       distance is the minimum, newer is false both ways
//! ```
//!
//! [`PacketNumber`] is 64 bits wide, never wraps, and therefore has an order.

macro_rules! wrapping_counter {
    ($(#[$doc:meta])* $name:ident($unsigned:ty, $signed:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub $unsigned);

        impl $name {
            /// The counter after this one.
            #[must_use]
            pub const fn next(self) -> $name {
                $name(self.0.wrapping_add(1))
            }

            /// The counter `count` steps later.
            #[must_use]
            pub const fn plus(self, count: $unsigned) -> $name {
                $name(self.0.wrapping_add(count))
            }

            /// How many steps after `other` this one lies; negative if it lies before.
            pub const fn distance(self, other: $name) -> $signed {
                self.0.wrapping_sub(other.0) as $signed
            }

            /// Whether this one lies after `other`.
            pub const fn is_newer_than(self, other: $name) -> bool {
                self.distance(other) > 0
            }
        }
    };
}

wrapping_counter! {
    /// An 8-bit counter, as in the record of one object.
    Sequence8(u8, i8)
}
wrapping_counter! {
    /// A 16-bit counter, as of messages in a channel.
    Sequence16(u16, i16)
}
wrapping_counter! {
    /// A 32-bit counter.
    Sequence32(u32, i32)
}
wrapping_counter! {
    /// A step of the simulation. At 60 per second it wraps after 828 days.
    Tick(u32, i32)
}

/// The number of a packet on one connection and direction: starts at zero, never wraps, never repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketNumber(pub u64);

impl PacketNumber {
    /// The number after this one; `None` when all are used up, and the connection must end.
    pub const fn next(self) -> Option<PacketNumber> {
        match self.0.checked_add(1) {
            Some(number) => Some(PacketNumber(number)),
            None => None,
        }
    }

    /// The low 16 bits, which go on the wire.
    pub const fn truncated(self) -> u16 {
        self.0 as u16
    }

    /// The full number that lies nearest to the next expected one, `largest + 1`, and ends in `truncated`.
    ///
    /// Right while sender and receiver are less than 32,768 packets apart. Of two equally near candidates the larger
    /// one is taken; none is below zero or above `u64::MAX`.
    pub const fn from_truncated(truncated: u16, largest: PacketNumber) -> PacketNumber {
        const WINDOW: u64 = 1 << 16;
        const HALF: u64 = WINDOW / 2;
        let expected = largest.0.saturating_add(1);
        let candidate = (expected & !(WINDOW - 1)) | truncated as u64;
        if expected >= HALF && candidate <= expected - HALF && candidate <= u64::MAX - WINDOW {
            PacketNumber(candidate + WINDOW)
        } else if candidate >= WINDOW && candidate - HALF > expected {
            PacketNumber(candidate - WINDOW)
        } else {
            PacketNumber(candidate)
        }
    }
}

/// The identity of an object inside the server, unique across zones. It never leaves the server as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u64);

mod alias;
pub use alias::{Alias, AliasError, AliasPool};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn order_survives_the_wrap() {
        assert!(Sequence16(3).is_newer_than(Sequence16(65_534)));
        assert!(!Sequence16(65_534).is_newer_than(Sequence16(3)));
        assert_eq!(Sequence8(250).plus(10), Sequence8(4));
        assert_eq!(Sequence8(4).distance(Sequence8(250)), 10);
        assert_eq!(Tick(u32::MAX).next(), Tick(0));
        assert_eq!(Sequence32(0).distance(Sequence32(1)), -1);
    }

    #[test]
    fn counters_half_a_range_apart_are_newer_in_neither_direction() {
        assert!(!Sequence8(128).is_newer_than(Sequence8(0)));
        assert!(!Sequence8(0).is_newer_than(Sequence8(128)));
        assert!(!Sequence8(5).is_newer_than(Sequence8(5)));
    }

    #[test]
    fn truncated_numbers_return_at_the_borders() {
        for (truncated, largest, expected) in [
            (0, 0, 0),
            (1, 0, 1),
            (0xffff, 0, 0xffff),
            (0, 0xffff, 0x1_0000),
            (0xffff, 0x1_0000, 0xffff),
            (0x7fff, 0x1_0000, 0x1_7fff),
            (5, 0x2_fff0, 0x3_0005),
            (0xffff, u64::MAX, u64::MAX),
            (0xfffe, u64::MAX - 1, u64::MAX - 1),
        ] {
            assert_eq!(
                PacketNumber::from_truncated(truncated, PacketNumber(largest)),
                PacketNumber(expected)
            );
        }
        assert_eq!(PacketNumber(u64::MAX).next(), None);
        assert_eq!(PacketNumber(7).next(), Some(PacketNumber(8)));
    }

    proptest! {
        #[test]
        fn a_number_within_half_a_window_of_the_largest_returns(largest in any::<u64>(), offset in -32_766i64..=32_768) {
            let number = (largest as i128 + offset as i128).clamp(0, u64::MAX as i128) as u64;
            let number = PacketNumber(number);
            prop_assert_eq!(PacketNumber::from_truncated(number.truncated(), PacketNumber(largest)), number);
        }

        #[test]
        fn newer_is_antisymmetric_and_follows_distance(a: u16, step in 1u16..=0x7fff) {
            let (older, newer) = (Sequence16(a), Sequence16(a).plus(step));
            prop_assert!(newer.is_newer_than(older) && !older.is_newer_than(newer));
            prop_assert_eq!(newer.distance(older), step as i16);
        }
    }
}
