//! Every bound of the connection layer that is not configuration, with its reason.
//!
//! A limit that users may want to move is a field of [`Config`](crate::Config); what stands here is part of the
//! wire format or of the memory layout, the same for every build.

/// The largest datagram: below the IPv6 minimum MTU of 1,280 bytes less 48 for IPv6 and UDP headers.
pub const DATAGRAM_MAX: usize = 1_200;

/// The smallest mtu that a configuration may name: every handshake packet and one full fragment still fit.
pub const MTU_MIN: usize = 1_000;

/// A Connect or Response shorter than this is refused, so that no reply is ever larger than its request and a path
/// that loses large datagrams fails while connecting instead of later.
pub const HANDSHAKE_REQUEST_MIN: usize = 1_000;

/// Messages in one datagram: the count on the wire is one byte.
pub const MESSAGES_PER_DATAGRAM_MAX: usize = 255;

/// User channels: the id is a nibble and 15 is taken by the link's own frames.
pub const CHANNELS_MAX: usize = 15;

/// The channel nibble of frames that belong to the link and not to a user channel.
pub const LINK_CHANNEL: u8 = 15;

/// Bytes of message in one fragment; leaves room for the largest header and the tag in an mtu of [`MTU_MIN`].
pub const FRAGMENT_BYTES: usize = 900;

/// Fragments of one unreliable message. At 5 % loss a message of this many arrives in one case of thirty; larger
/// data belongs on a reliable channel.
pub const UNRELIABLE_FRAGMENTS_MAX: usize = 64;

/// Unreliable messages being put together at once, per channel; the oldest gives way.
pub const ASSEMBLIES_MAX: usize = 4;

/// Reliable messages (or fragments) between the oldest unacknowledged and the newest sent. Far below half of the
/// 16-bit id space, so that a truncated id names exactly one message. Also how far ahead a receiver reorders.
pub const RELIABLE_WINDOW: usize = 1_024;

/// A channel that is full of messages this small counts as full of bytes, give or take a window: a waiting message costs
/// memory beyond its own bytes.
pub const PENDING_PART_BYTES_MIN: usize = 16;

/// Packets between the oldest that is remembered and the newest sent. Far below half of the 16-bit number space.
pub const PACKETS_IN_FLIGHT_MAX: usize = 1_024;

/// Packets that were given up and are kept in case they arrive after all; the oldest gives way. One in three of 20 Mbit/s for
/// half a second.
pub const LOST_PACKETS_KEPT_MAX: usize = 256;

/// Messages in them.
pub const LOST_MESSAGES_KEPT_MAX: usize = 4_096;

/// Messages remembered over all packets in flight. A packet is closed early rather than exceed it.
pub const MESSAGES_IN_FLIGHT_MAX: usize = 8_192;

/// Packet numbers that the replay window remembers: several times the 64 that an ack can name.
pub const REPLAY_WINDOW: u64 = 512;

/// Bytes of small reliable frames in one packet that redundancy can repeat: the length on the wire is one byte.
pub const BLOCK_BYTES_MAX: usize = 255;

/// How many packets back a redundancy frame may reach: four bits on the wire, and what a receiver keeps.
pub const BLOCK_DISTANCE_MAX: u64 = 8;

/// Stateless replies (Challenge, Reject) waiting to be sent. More are dropped: the client asks again.
pub const STATELESS_REPLIES_MAX: usize = 256;

/// Bytes of room that a reliable channel keeps for messages that wait, once none does.
pub const WAITING_BYTES_KEPT_MAX: usize = 16_384;

/// Buffers of ordinary size that a pool keeps for reuse.
pub const POOLED_BUFFERS_MAX: usize = 4_096;

/// A buffer that grew beyond this is freed instead of pooled, so that one large message does not stay for ever.
pub const POOLED_BUFFER_BYTES_MAX: usize = 2_048;

/// Peers of one endpoint: the alias on the wire is 16 bits.
pub const PEERS_MAX: usize = 65_535;

/// Bytes of a resume token: as hard to guess as a key.
pub const RESUME_TOKEN_BYTES: usize = 32;
