//! What can go wrong, in one type.

use netloom_session::client::ClientError;
use netloom_session::room::RoomError;
use netloom_transport::TransportError;

use crate::address::AddressError;

/// Why something could not be built or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An address that is none, or that nobody knows.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A transport that cannot be made or cannot go on.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// A setting of a server that cannot be.
    #[error(transparent)]
    Config(#[from] netloom_proto::ConfigError),
    /// A setting of a transport that cannot be.
    #[error(transparent)]
    TransportConfig(#[from] netloom_transport::ConfigError),
    /// A bad line that cannot be.
    #[error(transparent)]
    Conditioner(#[from] netloom_transport::conditioner::ConditionerError),
    /// A room that cannot be opened.
    #[error(transparent)]
    Room(#[from] RoomError),
    /// What a client cannot do.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A port for questions about servers that cannot be had.
    #[error("cannot look for, or be found by, others at {at}: {problem}")]
    Discovery {
        /// Where.
        at: std::net::SocketAddr,
        /// What the system says.
        problem: String,
    },
    /// WebTransport that cannot be made.
    #[cfg(feature = "webtransport")]
    #[error(transparent)]
    WebTransport(netloom_webtransport::WebTransportError),
    /// WebTransport that was left out of this build.
    #[cfg(not(feature = "webtransport"))]
    #[error(
        "this program was built without WebTransport: enable the feature `webtransport` of the crate netloom"
    )]
    NoWebTransport,
    /// A server that nobody can reach.
    #[error("the server listens nowhere: add `.listen(\"0.0.0.0:7777\")`, or a player of its own")]
    NoTransport,
    /// The system has no randomness, without which nothing can be kept secret.
    #[error("the system gives no randomness: {0}")]
    Randomness(String),
    /// A number of workers that cannot be.
    #[error("{0} workers cannot share the snapshots of a room: choose 1 to 16")]
    Workers(usize),
    /// A thread that cannot be started, or ended badly.
    #[error("a thread failed: {0}")]
    Thread(String),
}

#[cfg(feature = "webtransport")]
impl From<netloom_webtransport::WebTransportError> for Error {
    fn from(error: netloom_webtransport::WebTransportError) -> Error {
        match error {
            // The same whatever carries it.
            netloom_webtransport::WebTransportError::Transport(error) => Error::Transport(error),
            error => Error::WebTransport(error),
        }
    }
}
