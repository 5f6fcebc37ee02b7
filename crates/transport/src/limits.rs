//! What nobody sets.

use netloom_wire::Micros;

/// The longest datagram unless set otherwise: what the standard allows, and what nearly every path carries whole.
pub const MTU_BYTES_DEFAULT: usize = 1_200;

/// Hints about peers that wait to be polled. More are dropped: a hint may be missed.
pub(crate) const EVENT_HINTS_MAX: usize = 64;

/// Errors that one `receive` takes from a socket before it gives up for now: reports about unreachable peers come as
/// errors, and whoever provokes them must not keep a server busy.
pub(crate) const RECEIVE_ERRORS_MAX: usize = 64;

/// Connections that one `receive` accepts: a flood of them must not keep a server from its players.
pub(crate) const ACCEPTS_PER_RECEIVE_MAX: usize = 64;

/// What one read of a stream takes at least, if it is there: several datagrams.
pub(crate) const READ_BYTES: usize = 16 << 10;

/// What a peer may still send after this side has said its last word. Closing a stream with something unread in it would
/// take the last word away from the peer.
pub(crate) const LEAVING_BYTES_MAX: usize = 256 << 10;

/// How long a WebSocket stays after its goodbye, so that the peer reads it.
pub(crate) const CLOSE_STAY: Micros = Micros::from_secs(2);

/// How long an HTTP answer may take to be read: a page of megabytes over a slow line.
pub(crate) const HTTP_STAY: Micros = Micros::from_secs(30);

/// The time between the pings of one peer that are all answered.
pub(crate) const PONG_INTERVAL: Micros = Micros::from_millis(100);

/// Pings of one peer that are answered although they come faster.
pub(crate) const PONGS_AT_ONCE_MAX: u64 = 8;
