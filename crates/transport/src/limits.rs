//! What nobody sets.

/// The longest datagram unless set otherwise: what the standard allows, and what nearly every path carries whole.
pub const MTU_BYTES_DEFAULT: usize = 1_200;

/// Hints about peers that wait to be polled. More are dropped: a hint may be missed.
pub(crate) const EVENT_HINTS_MAX: usize = 64;

/// Errors that one `receive` takes from a socket before it gives up for now: reports about unreachable peers come as
/// errors, and whoever provokes them must not keep a server busy.
pub(crate) const RECEIVE_ERRORS_MAX: usize = 64;

/// Connections that one `receive` accepts: a flood of them must not keep a server from its players.
pub(crate) const ACCEPTS_PER_RECEIVE_MAX: usize = 64;
