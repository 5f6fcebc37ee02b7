//! What can be set about streams.

use netloom_wire::Micros;

use crate::batch::SLOT_BYTES_LIMIT;
use crate::error::{ConfigError, check_range};
use crate::limits::MTU_BYTES_DEFAULT;

/// What TCP connections are like.
#[derive(Clone, Debug)]
pub struct TcpConfig {
    /// The longest datagram.
    pub mtu_bytes: usize,
    /// What waits for one peer in this process at most, frame headers included.
    pub unsent_bytes_max: usize,
    /// What waits for one peer in the system at most before it is on its way, where the system can limit it (Linux).
    pub unsent_in_system_bytes_max: usize,
    /// How many connections there may be.
    pub connections_max: usize,
    /// How many of them may come from one address (IPv6: from one /64).
    pub connections_per_address_max: usize,
    /// How long a connection may take to be made, and an accepted one to send its first datagram.
    pub open_timeout: Micros,
    /// An IPv6 listener refuses IPv4 peers.
    pub is_v6_only: bool,
}

impl Default for TcpConfig {
    fn default() -> TcpConfig {
        TcpConfig {
            mtu_bytes: MTU_BYTES_DEFAULT,
            unsent_bytes_max: 64 << 10,
            unsent_in_system_bytes_max: 16 << 10,
            connections_max: 1_024,
            connections_per_address_max: 32,
            open_timeout: Micros::from_secs(10),
            is_v6_only: false,
        }
    }
}

impl TcpConfig {
    pub(super) fn check(&self, header_bytes: usize) -> Result<(), ConfigError> {
        check_range("mtu_bytes", self.mtu_bytes, 1, SLOT_BYTES_LIMIT)?;
        let least = header_bytes + self.mtu_bytes;
        check_range("unsent_bytes_max", self.unsent_bytes_max, least, 16 << 20)?;
        check_range("unsent_in_system_bytes_max", self.unsent_in_system_bytes_max, 1, 16 << 20)?;
        check_range("connections_max", self.connections_max, 1, 65_536)?;
        check_range("connections_per_address_max", self.connections_per_address_max, 1, 65_536)
    }

    /// Reports of slow peers are dropped, and connections wait to be accepted, while this many events wait to be polled.
    pub(super) fn events_waiting_max(&self) -> usize {
        (2 * self.connections_max).max(256)
    }
}
