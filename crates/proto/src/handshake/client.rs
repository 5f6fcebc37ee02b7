//! The client's side of the handshake: attempts, resends, and what it learns on the way.
//!
//! One attempt lasts `connect_timeout`; inside it the current request is repeated every `handshake_resend`. Each
//! attempt starts with a fresh nonce and key, so that nothing of an earlier one can be mixed in.

use netloom_wire::Micros;

use super::{
    Accept, Challenge, Claims, Reject, ResumeToken, WIRE_VERSION, agree_on_security, transcript,
    write_connect, write_response,
};
use crate::config::{Config, Security};
use crate::crypto::{COOKIE_BYTES, Entropy, KeyPair, SealKey, SessionKeys, SharedSecret};
use crate::validate::Rejection;

#[derive(Debug)]
struct Sealing {
    response_key: SealKey,
    shared: SharedSecret,
    transcript: Vec<u8>,
}

#[derive(Debug)]
enum Stage {
    Requesting,
    Responding { cookie: [u8; COOKIE_BYTES], sealing: Option<Box<Sealing>> },
}

/// A connection attempt under way.
#[derive(Debug)]
pub struct ClientHandshake {
    claims: Claims,
    keys: KeyPair,
    resume: Option<ResumeToken>,
    attempts_left: u8,
    attempt_ends: Micros,
    next_send: Micros,
    stage: Stage,
}

impl ClientHandshake {
    /// Starts the first attempt.
    pub fn new(
        now: Micros,
        config: &Config,
        alias: Option<u16>,
        resume: Option<ResumeToken>,
        entropy: &mut Entropy,
    ) -> ClientHandshake {
        let keys = KeyPair::generate(entropy);
        let claims = Claims {
            version: WIRE_VERSION,
            layout_hash: config.layout_hash(),
            table_id: config.table_id,
            security: config.security,
            nonce: entropy.bytes(),
            public: if config.security == Security::Off { [0; 32] } else { *keys.public() },
            alias,
        };
        ClientHandshake {
            claims,
            keys,
            resume,
            attempts_left: config.connect_retries,
            attempt_ends: now + config.connect_timeout,
            next_send: now,
            stage: Stage::Requesting,
        }
    }

    /// When something is due.
    pub fn deadline(&self) -> Micros {
        self.next_send.min(self.attempt_ends)
    }

    /// Starts the next attempt when one has run out; `false` when it was the last.
    pub fn handle_timeout(&mut self, now: Micros, config: &Config, entropy: &mut Entropy) -> bool {
        if now < self.attempt_ends {
            return true;
        }
        let Some(left) = self.attempts_left.checked_sub(1) else {
            return false;
        };
        *self = ClientHandshake {
            attempts_left: left,
            ..ClientHandshake::new(now, config, self.claims.alias, self.resume, entropy)
        };
        true
    }

    /// The request to send now, if one is due: its length in `out`.
    pub fn poll_transmit(&mut self, now: Micros, config: &Config, out: &mut [u8]) -> Option<usize> {
        if now < self.next_send {
            return None;
        }
        self.next_send = now + config.handshake_resend;
        Some(match &self.stage {
            Stage::Requesting => write_connect(&self.claims, config.protocol_id, config.mtu, out),
            Stage::Responding { cookie, sealing } => {
                let key = sealing.as_ref().map(|sealing| &sealing.response_key);
                write_response(
                    &self.claims,
                    cookie,
                    self.resume.as_ref(),
                    key,
                    config.protocol_id,
                    config.mtu,
                    out,
                )
            }
        })
    }

    /// Takes in a Challenge; the Response is due at once.
    pub fn handle_challenge(
        &mut self,
        now: Micros,
        challenge: &Challenge,
        config: &Config,
    ) -> Result<(), Rejection> {
        if challenge.nonce != self.claims.nonce || !matches!(self.stage, Stage::Requesting) {
            return Err(Rejection::Unsolicited);
        }
        let server = if challenge.sealed { Security::Required } else { Security::Off };
        if agree_on_security(config.security, server) != Some(challenge.sealed) {
            return Err(Rejection::WrongSecurity);
        }
        let sealing = match challenge.sealed {
            false => None,
            true => {
                let shared = self.keys.agree(&challenge.public).ok_or(Rejection::Malformed)?;
                let transcript =
                    transcript(config.protocol_id, &self.claims, &challenge.public, &challenge.cookie);
                let response_key = shared.response_key(&self.claims.nonce, &transcript);
                Some(Box::new(Sealing { response_key, shared, transcript }))
            }
        };
        self.stage = Stage::Responding { cookie: challenge.cookie, sealing };
        self.next_send = now;
        Ok(())
    }

    /// Takes in an Accept: the session and, if it is sealed, its keys.
    pub fn handle_accept(
        &self,
        datagram: &mut [u8],
        config: &Config,
    ) -> Result<(Accept, Option<SessionKeys>), Rejection> {
        let [nonce, server_nonce] = Accept::parse_nonces(datagram, config.protocol_id)?;
        let Stage::Responding { sealing, .. } = &self.stage else {
            return Err(Rejection::Unsolicited);
        };
        if nonce != self.claims.nonce {
            return Err(Rejection::Unsolicited);
        }
        let keys = sealing
            .as_ref()
            .map(|sealing| sealing.shared.session_keys(&nonce, &server_nonce, &sealing.transcript));
        let accept = Accept::open(datagram, keys.as_ref().map(|keys| &keys.to_client))?;
        Ok((accept, keys))
    }

    /// Whether a Reject answers this attempt.
    pub fn is_answered_by(&self, reject: &Reject) -> bool {
        reject.nonce == self.claims.nonce
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_attempts_of_five_seconds_with_a_request_every_250_ms() {
        let config = Config::default();
        let mut entropy = Entropy::new(&[1; 32]);
        let mut out = [0; 1200];
        let mut handshake = ClientHandshake::new(Micros::ZERO, &config, None, None, &mut entropy);
        let (mut now, mut sent, mut nonces) = (Micros::ZERO, 0, vec![]);
        loop {
            if !handshake.handle_timeout(now, &config, &mut entropy) {
                break;
            }
            if handshake.poll_transmit(now, &config, &mut out).is_some() {
                sent += 1;
                nonces.push(handshake.claims.nonce);
            }
            now = handshake.deadline();
        }
        assert_eq!(now, Micros::from_secs(20));
        assert_eq!(sent, 4 * 20);
        nonces.dedup();
        assert_eq!(nonces.len(), 4, "each attempt has its own nonce");
    }

    #[test]
    fn a_client_that_requires_sealing_ignores_a_plain_challenge() {
        let config = Config::default();
        let mut handshake =
            ClientHandshake::new(Micros::ZERO, &config, None, None, &mut Entropy::new(&[1; 32]));
        let challenge = Challenge {
            nonce: handshake.claims.nonce,
            sealed: false,
            public: [0; 32],
            cookie: [0; COOKIE_BYTES],
        };
        assert_eq!(
            handshake.handle_challenge(Micros::ZERO, &challenge, &config),
            Err(Rejection::WrongSecurity)
        );
        let foreign = Challenge { nonce: [0; 16], sealed: true, ..challenge };
        assert_eq!(handshake.handle_challenge(Micros::ZERO, &foreign, &config), Err(Rejection::Unsolicited));
    }
}
