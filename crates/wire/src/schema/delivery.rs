//! How a field of variable length reaches those who see it.
//!
//! Most properties are states: only the newest value matters, and a snapshot that is lost is made good by the next one.
//! Some are histories: a chat line, a quest log, a list of orders, where each value is news of its own, and some are too
//! long for a snapshot. The schema says which of the two a field is, since both ends must agree where to look for it.

use super::kind::{BLOB_BYTES_MAX, RELIABLE_BYTES_MAX};

/// How the content of a field travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// The newest value rides in snapshots until it is known to have arrived; values in between may be skipped.
    #[default]
    Latest,
    /// Every value arrives, in order, over a reliable channel.
    Reliable,
}

impl Delivery {
    /// The longest content of one field.
    pub const fn content_bytes_max(self) -> u16 {
        match self {
            Delivery::Latest => BLOB_BYTES_MAX,
            Delivery::Reliable => RELIABLE_BYTES_MAX,
        }
    }

    /// Its place in the canonical form, beside the flags.
    pub(super) const fn bit(self) -> u8 {
        match self {
            Delivery::Latest => 0,
            Delivery::Reliable => Delivery::RELIABLE_BIT,
        }
    }

    /// What [`Delivery::bit`] says, and the flags beside it.
    pub(super) const fn split(byte: u8) -> (Delivery, u8) {
        match byte & Delivery::RELIABLE_BIT {
            0 => (Delivery::Latest, byte),
            _ => (Delivery::Reliable, byte & !Delivery::RELIABLE_BIT),
        }
    }

    const RELIABLE_BIT: u8 = 1 << 6;
}
