//! What is kept of one client.

use std::net::SocketAddr;

use netloom::proto::crypto::equal_in_constant_time;
use netloom::replica::SettingError;
use netloom::session::validate::ActionRate;
use netloom::wire::Micros;

use super::{ClientId, DeskConfig};
use crate::classic::codec::{HEADER_BYTES, TOKEN_BYTES, Token};

pub struct Session {
    pub id: ClientId,
    pub address: SocketAddr,
    /// What its messages end with; `None` if the operating system vouches for the address.
    pub token: Option<Token>,
    /// When the last message came that is surely its own.
    pub heard: Micros,
    inputs: ActionRate,
    actions: ActionRate,
    errors: ActionRate,
}

impl Session {
    pub fn new(
        now: Micros,
        id: ClientId,
        address: SocketAddr,
        token: Option<Token>,
        config: &DeskConfig,
    ) -> Result<Session, SettingError> {
        Ok(Session {
            id,
            address,
            token,
            heard: now,
            inputs: ActionRate::new(config.inputs, now)?,
            actions: ActionRate::new(config.actions, now)?,
            errors: ActionRate::new(config.errors, now)?,
        })
    }

    /// Whether a message with this token is of this client.
    pub fn accepts(&self, token: Option<Token>) -> bool {
        match (self.token, token) {
            (None, None) => true,
            (Some(own), Some(theirs)) => equal_in_constant_time(&own.to_le_bytes(), &theirs.to_le_bytes()),
            _ => false,
        }
    }

    /// The same for what cannot be read but may end with the token.
    pub fn has_signed(&self, datagram: &[u8]) -> bool {
        let signature = datagram.get(HEADER_BYTES..).and_then(<[u8]>::last_chunk::<TOKEN_BYTES>);
        self.accepts(self.token.and(signature.map(|bytes| Token::from_le_bytes(*bytes))))
    }

    /// Whether another input is within the limit.
    pub fn may_steer(&mut self, now: Micros) -> bool {
        self.inputs.take(now).is_ok()
    }

    /// Whether another message is within the limit.
    pub fn may_act(&mut self, now: Micros) -> bool {
        self.actions.take(now).is_ok()
    }

    /// Whether another error is to be told.
    pub fn may_err(&mut self, now: Micros) -> bool {
        self.errors.take(now).is_ok()
    }
}
