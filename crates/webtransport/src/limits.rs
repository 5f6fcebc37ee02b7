//! What nobody sets.

use std::time::Duration;

/// The longest datagram that is sent.
///
/// QUIC's packets are 1,232 bytes at least here. A byte of flags, a connection id (20 at most), a packet number (4), a tag
/// (16), the frame (9) and the session (1) are taken from that.
pub const MTU_BYTES: usize = 1_180;

/// The longest datagram that is received: what the standard allows.
pub const RECEIVED_BYTES_MAX: usize = netloom_transport::limits::MTU_BYTES_DEFAULT;

/// What every path is taken to carry in a UDP datagram: the least that IPv6 allows, 1,280, without the headers of IPv6 and UDP.
pub(crate) const PACKET_BYTES_MIN: u16 = 1_232;

/// What WebTransport adds to a datagram at most: the number of the session.
pub(crate) const SESSION_BYTES_MAX: usize = 8;

/// Streams that a peer may have open: HTTP/3 needs a request, a control stream and two for headers; browsers try one or two more.
pub(crate) const BIDI_STREAMS_MAX: u32 = 4;
pub(crate) const UNI_STREAMS_MAX: u32 = 8;

/// What a peer may send on one stream, and on all, before it is read. Only heads are ever read.
pub(crate) const STREAM_BYTES_MAX: u32 = 8 << 10;
pub(crate) const STREAMS_BYTES_MAX: u32 = 32 << 10;

/// What a TLS handshake may take in memory before it is complete.
pub(crate) const CRYPTO_BYTES_MAX: usize = 16 << 10;

/// Received datagrams of one connection that wait to be copied into the inbox. The task that copies them never waits for anything else.
pub(crate) const QUIC_INBOX_BYTES: usize = 128 << 10;

/// First packets of connections that wait to be looked at, and the bytes behind them: one by one and in total.
pub(crate) const INCOMING_MAX: usize = 256;
pub(crate) const INCOMING_BYTES_MAX: u64 = 4 << 10;
pub(crate) const INCOMING_BYTES_TOTAL_MAX: u64 = 256 << 10;

/// Handshakes at once of addresses that have not proven that they are there. More are asked to prove it.
pub(crate) const UNPROVEN_MAX: usize = 16;

/// Datagrams that a client keeps until its session is open.
pub(crate) const EARLY_DATAGRAMS_MAX: usize = 16;

/// How long what waits for a peer may take to leave before its session is closed.
pub(crate) const LEAVE_MAX: Duration = Duration::from_millis(200);
/// How often that is looked at.
pub(crate) const LEAVE_LOOK: Duration = Duration::from_millis(2);

/// How long the end of a transport waits for its goodbyes to be sent.
pub(crate) const GOODBYE_MAX: Duration = Duration::from_millis(100);
