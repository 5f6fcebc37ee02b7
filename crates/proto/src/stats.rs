//! What a connection measured, for displays and for the layers that adapt to it.

use netloom_wire::Micros;

/// Counters of one connection since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counters {
    /// Datagrams sent.
    pub packets_sent: u64,
    /// Bytes of datagrams sent, without IP and UDP headers.
    pub bytes_sent: u64,
    /// Copies and parities of blocks that were sent for redundancy.
    pub blocks_repeated: u64,
    /// Reliable messages or fragments sent again.
    pub resends: u64,
    /// Datagrams received and accepted.
    pub packets_received: u64,
    /// Bytes of datagrams received and accepted.
    pub bytes_received: u64,
    /// Packets given up as lost.
    pub packets_lost: u64,
    /// Packets that arrived after they were given up.
    pub packets_late: u64,
    /// Probes sent because nothing came back.
    pub probes: u64,
    /// Blocks of lost packets that redundancy brought back.
    pub blocks_recovered: u64,
    /// Address changes that were proven.
    pub migrations: u64,
    /// Packets that found no room and were not acknowledged.
    pub packets_refused: u64,
}

/// What may be sent over a connection now: all that is asked for at every snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes per second that may be sent now.
    pub rate_bytes_per_second: u64,
    /// Bytes that wait to be sent or acknowledged, over all channels.
    pub pending_bytes: usize,
}

/// How a connection is: what matters to who decides how much to send in the long run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    /// The smoothed round trip; zero before the first sample.
    pub rtt: Micros,
    /// The least round trip of the last ten seconds.
    pub rtt_min: Micros,
    /// How much the round trip varies.
    pub jitter: Micros,
    /// Recent loss, in thousandths.
    pub loss_per_mille: u32,
    /// Bytes per second that may be sent now.
    pub rate_bytes_per_second: u64,
    /// Bytes that wait to be sent or acknowledged, over all channels.
    pub pending_bytes: usize,
    /// When the last valid packet arrived.
    pub last_received: Micros,
}

/// The state of a connection at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The counters.
    pub counters: Counters,
    /// The smoothed round trip; zero before the first sample.
    pub rtt: Micros,
    /// The least round trip of the last ten seconds.
    pub rtt_min: Micros,
    /// How much the round trip varies.
    pub jitter: Micros,
    /// Recent loss, in thousandths.
    pub loss_per_mille: u32,
    /// Bytes per second that may be sent now.
    pub rate_bytes_per_second: u64,
    /// Bytes per second that seem to arrive.
    pub bandwidth_bytes_per_second: u64,
    /// Bytes that wait to be sent or acknowledged, over all channels.
    pub pending_bytes: usize,
    /// Bytes that wait for missing predecessors, over all channels.
    pub waiting_bytes: usize,
    /// Packets on their way.
    pub packets_in_flight: usize,
    /// Events that wait to be polled.
    pub queue_depth: usize,
    /// How often the event limit was raised under pressure.
    pub queue_pressure_events: u64,
    /// When the last valid packet arrived.
    pub last_received: Micros,
}
