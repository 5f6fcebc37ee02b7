//! WebTransport of servers and clients: what of it is set, and how it is made.

use netloom_transport::{PeerAddress, Transport};
use netloom_webtransport::{Certificates, Trust, WebTransport, WebTransportConfig};

use crate::address::Address;
use crate::error::Error;

/// Names of a server that nobody gave one.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// What a server listens with.
#[derive(Default)]
pub(crate) struct Listening {
    pub config: WebTransportConfig,
    pub certificates: Option<Certificates>,
}

impl Listening {
    pub fn bind(&mut self, at: PeerAddress) -> Result<Box<dyn Transport>, Error> {
        let certificates = match self.certificates.take() {
            Some(certificates) => certificates,
            None => {
                Certificates::self_signed(&NAMES).map_err(netloom_webtransport::WebTransportError::from)?
            }
        };
        let certificates = self.certificates.insert(certificates);
        Ok(Box::new(WebTransport::listen(at, self.config.clone(), certificates)?))
    }
}

/// What a client connects with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dialing {
    pub config: WebTransportConfig,
    pub trust: Trust,
}

impl Dialing {
    pub fn connect(&self, address: &Address, at: PeerAddress) -> Result<WebTransport, Error> {
        Ok(WebTransport::connect(&address.host, at, self.config.clone(), &self.trust)?)
    }
}
