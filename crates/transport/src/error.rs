//! What can go wrong, and what to do about it.

use std::io;

use crate::address::PeerAddress;

/// A setting that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` is {value}, allowed is {min} to {max}")]
pub struct ConfigError {
    /// The field.
    pub field: &'static str,
    /// What it was.
    pub value: u64,
    /// The least that it may be.
    pub min: u64,
    /// The most that it may be.
    pub max: u64,
}

/// Whether a setting is within its range; if not, the error that says so.
pub fn check_range(field: &'static str, value: usize, min: usize, max: usize) -> Result<(), ConfigError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(ConfigError { field, value: value as u64, min: min as u64, max: max as u64 })
}

/// Why a transport could not be made, or cannot do what was asked.
///
/// What a network does to datagrams is no error: it is [counted](crate::Counters).
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// A setting that cannot be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An address that cannot be listened on.
    #[error("cannot bind {protocol} to {address}: {source}{}", hint(source))]
    Bind {
        /// What was to be bound.
        protocol: &'static str,
        /// Where to.
        address: PeerAddress,
        /// What the system says.
        source: io::Error,
    },
    /// An address that cannot be connected to, whatever is there.
    #[error("cannot connect {protocol} to {address}: {source}")]
    Connect {
        /// What was to be connected.
        protocol: &'static str,
        /// Where to.
        address: PeerAddress,
        /// What the system says.
        source: io::Error,
    },
    /// A peer in memory was given to sockets, or the other way round.
    #[error("{protocol} does not know addresses such as {address}")]
    WrongAddress {
        /// The transport.
        protocol: &'static str,
        /// The address.
        address: PeerAddress,
    },
    /// A WebSocket without TLS was to leave this machine.
    #[error(
        "WebSocket at {address} would be readable by everybody on the way: use a loopback address behind a proxy with TLS, \
         or set `allows_plain_on_network`"
    )]
    PlainOnNetwork {
        /// The address.
        address: PeerAddress,
    },
    /// A text in a list of origins that is none.
    #[error("`{text}` in `origins` is no origin: write a scheme and a host, such as https://game.example")]
    WrongOrigin {
        /// The text.
        text: String,
    },
    /// A transport holds as many peers as it may.
    #[error("there are {peers_max} peers already, which is the limit (`{field}`)")]
    Full {
        /// The setting that limits them.
        field: &'static str,
        /// Its value.
        peers_max: usize,
    },
    /// A datagram that is longer than the transport carries. It was taken out of the batch; those behind it wait there.
    #[error(
        "a datagram of {length} bytes to {to} is longer than the {mtu_bytes} that this transport carries"
    )]
    TooLong {
        /// Who it was for.
        to: PeerAddress,
        /// Its length.
        length: usize,
        /// The most that is carried.
        mtu_bytes: usize,
    },
    /// A batch whose slots are too short to receive into.
    #[error("the batch has slots of {slot_bytes} bytes, this transport delivers up to {mtu_bytes}")]
    ShortSlots {
        /// What the batch has.
        slot_bytes: usize,
        /// What the transport may deliver.
        mtu_bytes: usize,
    },
    /// The system refuses to go on.
    #[error("{operation} failed: {source}")]
    System {
        /// What was tried.
        operation: &'static str,
        /// What the system says.
        source: io::Error,
    },
}

impl TransportError {
    /// The error of an operation that the system refuses.
    pub fn system(operation: &'static str) -> impl FnOnce(io::Error) -> TransportError {
        move |source| TransportError::System { operation, source }
    }
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "; another program has this port: stop it, or choose another port",
        io::ErrorKind::AddrNotAvailable => {
            "; this machine does not have this address: 0.0.0.0 and [::] are all that it has"
        }
        io::ErrorKind::PermissionDenied => "; ports below 1024 need privileges: choose a higher one",
        _ => "",
    }
}
