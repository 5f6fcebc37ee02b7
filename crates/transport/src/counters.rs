//! What a transport counts.

/// Datagrams and bytes since the transport was made. Nothing is lost without being counted here, except by the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams handed over: to the system, to a peer in memory, to a stream.
    pub sent_datagrams: u64,
    /// Their bytes, without what the transport adds.
    pub sent_bytes: u64,
    /// Datagrams received.
    pub received_datagrams: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// How often something was not sent because that would have blocked.
    pub would_block: u64,
    /// Not sent: nobody can be at this address, or the connection is gone.
    pub dropped_unroutable: u64,
    /// Not sent: the peer reads too slowly, or its queue is full.
    pub dropped_slow: u64,
    /// Not sent: the system refused this datagram.
    pub dropped_by_system: u64,
    /// Received and dropped: longer than the transport's mtu, so that the rest is missing.
    pub dropped_truncated: u64,
    /// Received and dropped: from an address that cannot be answered.
    pub dropped_nameless: u64,
    /// How often the system reported that nobody is there. The socket lives on.
    pub unreachable_reports: u64,
    /// Connections made, by either side.
    pub connections_opened: u64,
    /// Connections that ended, for whatever reason.
    pub connections_closed: u64,
    /// Connections that were accepted and never became a peer's: what they asked for was refused, or they asked too slowly.
    pub greetings_failed: u64,
    /// Plain HTTP requests that were answered.
    pub http_requests: u64,
    /// Pings that were not answered, because there were too many.
    pub pings_ignored: u64,
    /// Connections not accepted, because there were too many or too many from one address.
    pub connections_refused: u64,
}

impl Counters {
    /// All that was dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped_unroutable
            + self.dropped_slow
            + self.dropped_by_system
            + self.dropped_truncated
            + self.dropped_nameless
    }

    /// The counts of two transports together.
    #[must_use]
    pub fn and(self, other: Counters) -> Counters {
        Counters {
            sent_datagrams: self.sent_datagrams + other.sent_datagrams,
            sent_bytes: self.sent_bytes + other.sent_bytes,
            received_datagrams: self.received_datagrams + other.received_datagrams,
            received_bytes: self.received_bytes + other.received_bytes,
            would_block: self.would_block + other.would_block,
            dropped_unroutable: self.dropped_unroutable + other.dropped_unroutable,
            dropped_slow: self.dropped_slow + other.dropped_slow,
            dropped_by_system: self.dropped_by_system + other.dropped_by_system,
            dropped_truncated: self.dropped_truncated + other.dropped_truncated,
            dropped_nameless: self.dropped_nameless + other.dropped_nameless,
            unreachable_reports: self.unreachable_reports + other.unreachable_reports,
            connections_opened: self.connections_opened + other.connections_opened,
            connections_closed: self.connections_closed + other.connections_closed,
            greetings_failed: self.greetings_failed + other.greetings_failed,
            http_requests: self.http_requests + other.http_requests,
            pings_ignored: self.pings_ignored + other.pings_ignored,
            connections_refused: self.connections_refused + other.connections_refused,
        }
    }

    /// Counts a datagram that was handed over.
    #[inline]
    pub fn count_sent(&mut self, bytes: usize) {
        self.sent_datagrams += 1;
        self.sent_bytes += bytes as u64;
    }

    /// Counts a datagram that was received.
    #[inline]
    pub fn count_received(&mut self, bytes: usize) {
        self.received_datagrams += 1;
        self.received_bytes += bytes as u64;
    }
}
