//! The server's side of the handshake: two stateless answers and one seat.

use std::net::SocketAddr;

use netloom_wire::Micros;

use super::admission::Admission;
use super::resume::Seats;
use crate::config::{Config, ListenConfig};
use crate::crypto::{Entropy, SharedSecret};
use crate::handshake::cookie::CookieJar;
use crate::handshake::{
    Challenge, Claims, REPLY_MAX, Reject, Response, ResumeToken, WIRE_VERSION, agree_on_security,
    parse_connect, transcript,
};
use crate::reason::RejectReason;
use crate::validate::Rejection;

/// What a listening endpoint has besides its peers.
#[derive(Debug)]
pub struct Listener {
    pub config: ListenConfig,
    pub seats: Seats,
    jar: CookieJar,
    admission: Admission,
}

/// A short answer to somebody who has no connection.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    pub to: SocketAddr,
    /// Why its receiver gets no seat, if that is what it says.
    pub refusal: Option<RejectReason>,
    length: usize,
    bytes: [u8; REPLY_MAX],
}

impl Reply {
    fn write(to: SocketAddr, write: impl FnOnce(&mut [u8]) -> usize) -> Reply {
        let mut bytes = [0; REPLY_MAX];
        let length = write(&mut bytes);
        Reply { to, refusal: None, length, bytes }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub fn reject(
        to: SocketAddr,
        claims: &Claims,
        reason: RejectReason,
        detail: u64,
        config: &Config,
    ) -> Reply {
        let reject = Reject { nonce: claims.nonce, reason, detail };
        let reply = Reply::write(to, |out| reject.write(config.protocol_id, out));
        Reply { refusal: Some(reason), ..reply }
    }
}

/// A client that has proven its address and asks for a seat.
#[derive(Debug)]
pub struct Applicant {
    pub claims: Claims,
    /// When its cookie was issued, in milliseconds.
    pub issued: u32,
    /// What the keys will come from; `None` for a plain connection.
    pub secret: Option<(SharedSecret, Vec<u8>)>,
    pub resume: Option<ResumeToken>,
}

impl Listener {
    pub fn new(now: Micros, config: ListenConfig, entropy: &mut Entropy) -> Listener {
        Listener {
            config,
            seats: Seats::default(),
            jar: CookieJar::new(now, entropy),
            admission: Admission::new(now, entropy),
        }
    }

    /// Changes secrets and forgets seats when their time has come.
    #[inline]
    pub fn handle_timeout(&mut self, now: Micros, entropy: &mut Entropy) {
        self.jar.rotate(now, entropy);
        self.seats.expire(now);
    }

    /// Answers a Connect without remembering it.
    pub fn handle_connect(
        &mut self,
        now: Micros,
        from: SocketAddr,
        datagram: &[u8],
        is_crowded: bool,
        config: &Config,
    ) -> Result<Reply, Rejection> {
        let claims = parse_connect(datagram, config.protocol_id)?;
        if !self.admission.admits_request(now, from, &self.config) {
            return Err(Rejection::RateLimited);
        }
        let sealed = match check_claims(&claims, config) {
            Err((reason, detail)) => return Ok(Reply::reject(from, &claims, reason, detail, config)),
            Ok(_) if is_crowded => return Err(Rejection::RateLimited),
            Ok(sealed) => sealed,
        };
        let (cookie, public) = self.jar.issue(now, from, &claims);
        let public = if sealed { *public } else { [0; 32] };
        let challenge = Challenge { nonce: claims.nonce, sealed, public, cookie };
        Ok(Reply::write(from, |out| challenge.write(config.protocol_id, out)))
    }

    /// When the cookie of a Response was issued, in milliseconds: the proof of address, and the cheapest of its checks.
    pub fn issued(&self, now: Micros, from: SocketAddr, response: &Response<'_>) -> Result<u32, Rejection> {
        let redeemed = self.jar.redeem(now, from, &response.claims, &response.cookie);
        redeemed.map(|(issued, _)| issued).ok_or(Rejection::BadCookie)
    }

    /// Checks the rest of a Response whose address is proven.
    pub fn handle_response(
        &mut self,
        now: Micros,
        from: SocketAddr,
        response: Response<'_>,
        config: &Config,
    ) -> Result<Result<Applicant, Reply>, Rejection> {
        if !self.admission.admits_handshake(now, &self.config) {
            return Err(Rejection::RateLimited);
        }
        let (claims, cookie) = (response.claims, response.cookie);
        let (issued, keys) = self.jar.redeem(now, from, &claims, &cookie).ok_or(Rejection::BadCookie)?;
        let sealed = match check_claims(&claims, config) {
            Err((reason, detail)) => return Ok(Err(Reply::reject(from, &claims, reason, detail, config))),
            Ok(sealed) => sealed,
        };
        if !sealed {
            let resume = response.open(None)?;
            return Ok(Ok(Applicant { claims, issued, secret: None, resume }));
        }
        let shared = keys.agree(&claims.public).ok_or(Rejection::Malformed)?;
        let transcript = transcript(config.protocol_id, &claims, keys.public(), &cookie);
        let resume = response.open(Some(&shared.response_key(&claims.nonce, &transcript)))?;
        Ok(Ok(Applicant { claims, issued, secret: Some((shared, transcript)), resume }))
    }
}

/// Whether the connection will be sealed, or why it cannot be: the reason and our own value.
fn check_claims(claims: &Claims, config: &Config) -> Result<bool, (RejectReason, u64)> {
    if claims.version != WIRE_VERSION {
        return Err((RejectReason::Version, WIRE_VERSION.into()));
    }
    if claims.layout_hash != config.layout_hash() {
        return Err((RejectReason::Schema, config.schema_hash));
    }
    if claims.table_id != config.table_id {
        return Err((RejectReason::Tables, config.table_id.into()));
    }
    agree_on_security(claims.security, config.security).ok_or((RejectReason::Security, 0))
}
