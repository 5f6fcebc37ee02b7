//! The classic protocol, on a port of its own beside the others.

use netloom::prelude::Protocol;
use netloom::transport::MemoryTransport;
use netloom::{Address, Scheme};
use netloom_rtype::classic::{DeskConfig, Entrance, Service};
use netloom_rtype::protocol::NAME;

use crate::config::Config;

/// Where classic clients are let in, and what they are let into.
pub struct Door {
    address: Address,
    entrance: Entrance,
    config: DeskConfig,
}

impl Door {
    /// The door that the settings ask for, and what the server has to listen on behind it.
    pub fn new(config: &Config, protocol: &Protocol) -> Result<Option<(Door, MemoryTransport)>, String> {
        let address = &*config.rtype.classic;
        if address.is_empty() {
            return Ok(None);
        }
        if config.server.game != NAME {
            let (game, own) = (&config.server.game, NAME);
            return Err(format!(
                "the classic protocol is for the game {own}: serve that instead of {game}, or leave out --classic"
            ));
        }
        let address: Address = address.parse().map_err(|error| format!("--classic: {error}"))?;
        if address.scheme != Scheme::Udp {
            return Err(format!(
                "--classic {address}: the classic protocol is UDP, as in --classic 0.0.0.0:12345"
            ));
        }
        let (entrance, transport) = Entrance::new(protocol.clone()).map_err(|error| error.to_string())?;
        let config =
            DeskConfig { trusts_loopback: config.rtype.classic_trust_loopback, ..DeskConfig::default() };
        Ok(Some((Door { address, entrance, config }, transport)))
    }

    /// Opens it, once the server is there.
    pub fn open(self) -> Result<Service, String> {
        let at = self.address.resolve().map_err(|error| error.to_string())?;
        Service::start(&at.to_string(), self.config, self.entrance).map_err(|error| error.to_string())
    }
}
