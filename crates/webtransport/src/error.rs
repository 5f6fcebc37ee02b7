//! What can go wrong.

use netloom_transport::{ConfigError, TransportError};

use crate::certificate::CertificateError;

/// Why there is no WebTransport.
#[derive(Debug, thiserror::Error)]
pub enum WebTransportError {
    /// What goes wrong with every transport: settings, addresses, the system.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// A certificate that cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// A host that cannot be connected to under this name.
    #[error("`{0}` cannot stand in an address such as https://game.example:7778")]
    Host(String),
}

impl From<ConfigError> for WebTransportError {
    fn from(error: ConfigError) -> WebTransportError {
        TransportError::from(error).into()
    }
}
