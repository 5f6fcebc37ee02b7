//! Properties of which every value counts: they travel beside snapshots, in order, and none is skipped.
//!
//! A snapshot says how things are. A field that says what happened, line by line, or one that is longer than a snapshot,
//! does not fit there: its schema marks it [`Delivery::Reliable`](netloom_wire::schema::Delivery). Each value that such a
//! field is set to becomes a message on a reliable, ordered channel:
//!
//! ```text
//!   0      2            3       4
//!   ├ slot ┼ generation ┼ field ┼ content ── to the end of the message
//!     u16    u8           u8      text: UTF-8, bytes: as they are, array: its encoded form
//! ```
//!
//! Many peers see the same object, and a peer may take its messages later than they are made, or never. So a value is
//! stored once, in the world's [`PropertyLog`], a ring of bounded size, and each peer only remembers how far it has
//! read:
//!
//! ```text
//!   World::set ──▶ log  │ 40 │ 41 │ 42 │ 43 │ 44 │        PropertyPeer::poll_property
//!                         ▲         ▲         ▲ end         writes the message of the next change that its peer
//!                         peer C    peer B    peer A        sees, and passes over the others
//! ```
//!
//! An object that enters a peer's sight has values already. Changes from before that moment are passed over; the first
//! one after it takes the place of the value that the object had; and where there was none when the peer has read the
//! log to its end, the value is sent as it is. So nothing arrives twice or out of order, and nothing is missed. A peer
//! that falls so far behind that the log has forgotten its place is treated as if everything had just entered its
//! sight: it gets the newest values, and has missed those between, which is counted.
//!
//! The channel and the snapshots know nothing of each other's order. A server sends properties of an object only when
//! the peer is known to have it, and what arrives before the object all the same waits in the [`PropertyInbox`], for a
//! while. The generation of the alias tells what came too late.

mod inbox;
mod log;
mod peer;

pub use inbox::{AppliedProperty, InboxCounters, Place, PropertyInbox, PropertyTarget};
pub use log::{LoggedProperty, PropertyLog};
pub use peer::{PropertyCounters, PropertyPeer};

use netloom_wire::schema::{FieldKind, RELIABLE_BYTES_MAX};
use netloom_wire::{Alias, ByteReader, ByteSink, ByteWriter, ReadError};

/// Bytes before the content of a message.
pub const PROPERTY_HEADER_BYTES: usize = 4;

/// The longest message: 64 KiB.
pub const PROPERTY_MESSAGE_BYTES_MAX: usize = PROPERTY_HEADER_BYTES + RELIABLE_BYTES_MAX as usize;

/// One value of one field of one object, as a message carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropertyMessage<'a> {
    /// The object on this connection.
    pub alias: Alias,
    /// The index of the field.
    pub field: u8,
    /// The content of its value.
    pub content: &'a [u8],
}

impl<'a> PropertyMessage<'a> {
    /// Writes the message; returns its length, or `None` if `out` is too short for it.
    pub fn write(&self, out: &mut [u8]) -> Option<usize> {
        let mut writer = ByteWriter::new(out);
        writer.write_u16(self.alias.slot);
        writer.write_u8(self.alias.generation);
        writer.write_u8(self.field);
        writer.write_bytes(self.content);
        writer.finish().ok()
    }

    /// Reads a message. What the content means is for the class of the object to say.
    pub fn read(message: &'a [u8]) -> Result<PropertyMessage<'a>, ReadError> {
        let mut reader = ByteReader::new(message);
        let alias = Alias { slot: reader.read_u16()?, generation: reader.read_u8()? };
        let field = reader.read_u8()?;
        let content = reader.rest();
        if content.len() > usize::from(RELIABLE_BYTES_MAX) {
            return Err(ReadError::TooLong);
        }
        Ok(PropertyMessage { alias, field, content })
    }
}

/// What a field of variable length holds before it is set: an empty text, no bytes, an array without elements.
pub(crate) fn default_content(kind: FieldKind) -> &'static [u8] {
    match kind {
        FieldKind::Array { .. } => &[0],
        _ => &[],
    }
}

#[cfg(test)]
mod tests;
