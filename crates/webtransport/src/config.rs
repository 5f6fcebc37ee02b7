//! What can be set.

use netloom_transport::toolkit::check_range;
use netloom_transport::websocket::Origins;
use netloom_transport::{Micros, TransportError};

use crate::certificate::CertificateHash;
use crate::limits::MTU_BYTES;

/// What sessions are like.
#[derive(Clone, Debug)]
pub struct WebTransportConfig {
    /// How many sessions there may be.
    pub sessions_max: usize,
    /// How many of them may come from one address (IPv6: from one /64).
    pub sessions_per_address_max: usize,
    /// How many handshakes may go on at once.
    pub handshakes_max: usize,
    /// How many of them with one address, once it has proven that it is there.
    pub handshakes_per_address_max: usize,
    /// What waits for one peer at most.
    pub unsent_bytes_max: usize,
    /// Received datagrams that wait to be fetched, of all peers.
    pub inbox_datagrams_max: usize,
    /// And of one.
    pub inbox_per_session_max: usize,
    /// How long a session may take to be made, and an accepted one to send its first datagram.
    pub open_timeout: Micros,
    /// Without a sign of life for so long, a peer is gone.
    pub idle_timeout: Micros,
    /// Which pages may connect.
    pub origins: Origins,
    /// An IPv6 listener refuses IPv4 peers.
    pub is_v6_only: bool,
}

impl Default for WebTransportConfig {
    fn default() -> WebTransportConfig {
        WebTransportConfig {
            sessions_max: 1_024,
            sessions_per_address_max: 32,
            handshakes_max: 128,
            handshakes_per_address_max: 16,
            unsent_bytes_max: 64 << 10,
            inbox_datagrams_max: 1_024,
            inbox_per_session_max: 64,
            open_timeout: Micros::from_secs(10),
            idle_timeout: Micros::from_secs(20),
            origins: Origins::default(),
            is_v6_only: false,
        }
    }
}

impl WebTransportConfig {
    pub(crate) fn check(&self) -> Result<(), TransportError> {
        if let Some(text) = self.origins.first_wrong() {
            return Err(TransportError::WrongOrigin { text: text.to_owned() });
        }
        check_range("sessions_max", self.sessions_max, 1, 65_536)?;
        check_range("sessions_per_address_max", self.sessions_per_address_max, 1, 65_536)?;
        check_range("handshakes_max", self.handshakes_max, 1, 65_536)?;
        check_range("handshakes_per_address_max", self.handshakes_per_address_max, 1, 65_536)?;
        check_range("unsent_bytes_max", self.unsent_bytes_max, 2 * MTU_BYTES, 16 << 20)?;
        check_range("inbox_datagrams_max", self.inbox_datagrams_max, 1, 65_536)?;
        check_range("inbox_per_session_max", self.inbox_per_session_max, 1, 65_536)?;
        let micros = |time: Micros| usize::try_from(time.0).unwrap_or(usize::MAX);
        check_range("open_timeout", micros(self.open_timeout), 1_000, 600_000_000)?;
        Ok(check_range("idle_timeout", micros(self.idle_timeout), 1_000_000, 600_000_000)?)
    }

    /// Sessions wait to be accepted, and reports of slow peers are dropped, while this many events wait to be polled.
    pub(crate) fn events_waiting_max(&self) -> usize {
        (2 * self.sessions_max).max(256)
    }
}

/// Which certificates of a server a client accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Those that the system's authorities vouch for.
    #[default]
    System,
    /// Those with one of these hashes that are valid for two weeks at most: what browsers ask for, too.
    Hashes(Vec<CertificateHash>),
}
