//! What travels on which channel of the connection.
//!
//! Every session uses the same five channels, so that both ends agree without saying so:
//!
//! ```text
//!   0 CONTROL     reliable, ordered, first     greetings, players, ownership, refusals, lobby
//!   1 ORDERED     reliable, ordered            calls in order, chat, properties of which every value counts
//!   2 UNORDERED   reliable                     calls that need no order
//!   3 UNRELIABLE  may be lost                  snapshots, calls that are worthless when late
//!   4 INPUT       newest wins                  what the player does
//! ```

use netloom_proto::{ChannelConfig, ChannelKind};
use netloom_replica::property::PROPERTY_MESSAGE_BYTES_MAX;

/// Greetings, players, ownership, refusals, lobby.
pub const CONTROL: u8 = 0;
/// Calls in order, chat, reliable properties.
pub const ORDERED: u8 = 1;
/// Calls without order.
pub const UNORDERED: u8 = 2;
/// Snapshots and calls that may be lost.
pub const UNRELIABLE: u8 = 3;
/// What the player does: a newer message has all that is in an older one, and more.
pub const INPUT: u8 = 4;

/// The channels of every session.
pub fn channels() -> Vec<ChannelConfig> {
    use ChannelKind::*;
    let mut channels = [Priority, Ordered, Unordered, Unreliable, Sequenced].map(ChannelConfig::new);
    // A property of the longest kind, and the byte that says what it is.
    channels[usize::from(ORDERED)].message_bytes_max = PROPERTY_MESSAGE_BYTES_MAX + 1;
    channels.to_vec()
}
