//! The handshake: proof of address before memory, agreement before data.
//!
//! ```text
//! client                                         server
//!   │ Connect    version, layout, nonce, key, padded │   keeps nothing
//!   │───────────────────────────────────────────────▶│
//!   │        cookie, server key           Challenge  │   keeps nothing: the cookie is a MAC over the claims
//!   │◀───────────────────────────────────────────────│
//!   │ Response   the same, cookie, resume token      │   now the address is proven: a seat is taken
//!   │───────────────────────────────────────────────▶│
//!   │        server nonce, session, token    Accept  │
//!   │◀───────────────────────────────────────────────│
//!   │ first session packet                           │   the keys are confirmed: connected on both sides
//!   │───────────────────────────────────────────────▶│
//! ```
//!
//! Requests are padded to more than any reply, so that nobody can use a server to multiply traffic. Whoever asks
//! repeats until answered; every reply repeats the client's nonce, so that only somebody who saw the request can
//! forge one.
//!
//! This module is the layout of the five packets. `cookie` is the server's memory-free memory, `client` the
//! client's side of the exchange.

pub(crate) mod client;
pub(crate) mod cookie;

use crate::config::Security;
use crate::crypto::{COOKIE_BYTES, Checksum, NONCE_BYTES, SealKey};
use crate::limits::{HANDSHAKE_REQUEST_MIN, RESUME_TOKEN_BYTES};
use crate::packet::{CRC_BYTES, PacketType, TAG_BYTES};
use crate::reason::RejectReason;
use crate::validate::Rejection;

/// The version of the wire format. Peers with another one are refused with [`RejectReason::Version`].
pub const WIRE_VERSION: u16 = 1;

/// The largest reply of the handshake; requests are always larger.
pub const REPLY_MAX: usize = 128;

/// The packet number that seals an Accept: data never reaches it.
const ACCEPT_NUMBER: u64 = u64::MAX;

/// A secret that lets its holder take up a lost session once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ResumeToken(pub [u8; RESUME_TOKEN_BYTES]);

impl std::fmt::Debug for ResumeToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ResumeToken(..)")
    }
}

/// What the client claims, first in Connect and again in Response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// The wire version it speaks.
    pub version: u16,
    /// Schema and channel kinds.
    pub layout_hash: u64,
    /// Code tables.
    pub table_id: u32,
    /// What it can and wants.
    pub security: Security,
    /// Fresh per attempt; every reply repeats it.
    pub nonce: [u8; NONCE_BYTES],
    /// Its X25519 key; zeros when security is off.
    pub public: [u8; 32],
    /// The alias it wants in sealed packets; `None` if it tells connections apart by address.
    pub alias: Option<u16>,
}

const CLAIMS_BYTES: usize = 2 + 8 + 4 + 1 + NONCE_BYTES + 32 + 1 + 2;

impl Claims {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.put(&self.version.to_le_bytes());
        writer.put(&self.layout_hash.to_le_bytes());
        writer.put(&self.table_id.to_le_bytes());
        writer.put(&[security_code(self.security)]);
        writer.put(&self.nonce);
        writer.put(&self.public);
        writer.put(&[self.alias.is_some().into()]);
        writer.put(&self.alias.unwrap_or(0).to_le_bytes());
    }

    fn parse(reader: &mut Reader<'_>) -> Result<Claims, Rejection> {
        Ok(Claims {
            version: u16::from_le_bytes(reader.take()?),
            layout_hash: u64::from_le_bytes(reader.take()?),
            table_id: u32::from_le_bytes(reader.take()?),
            security: security_from_code(reader.take::<1>()?[0]).ok_or(Rejection::Malformed)?,
            nonce: reader.take()?,
            public: reader.take()?,
            alias: match (reader.take::<1>()?[0], u16::from_le_bytes(reader.take()?)) {
                (0, 0) => None,
                (1, alias) => Some(alias),
                _ => return Err(Rejection::Malformed),
            },
        })
    }
}

/// Whether a connection is sealed, given what both sides want; `None` if they cannot agree.
pub fn agree_on_security(client: Security, server: Security) -> Option<bool> {
    use Security::*;
    match (client, server) {
        (Off, Required) | (Required, Off) => None,
        (Off, _) | (_, Off) => Some(false),
        _ => Some(true),
    }
}

/// Everything that both sides agreed on before the keys: bound into them, so that nobody can change it on the way.
pub fn transcript(
    protocol_id: u64,
    claims: &Claims,
    server_public: &[u8; 32],
    cookie: &[u8; COOKIE_BYTES],
) -> Vec<u8> {
    let mut bytes = vec![0; 8 + CLAIMS_BYTES + 32 + COOKIE_BYTES];
    let mut writer = Writer { out: &mut bytes, at: 0 };
    writer.put(&protocol_id.to_le_bytes());
    claims.write(&mut writer);
    writer.put(server_public);
    writer.put(cookie);
    bytes
}

/// Writes a Connect, padded to `length`.
pub fn write_connect(claims: &Claims, protocol_id: u64, length: usize, out: &mut [u8]) -> usize {
    let mut writer = Writer::new(PacketType::Connect, out);
    claims.write(&mut writer);
    writer.pad(length - CRC_BYTES);
    writer.finish(protocol_id)
}

/// Reads a Connect.
pub fn parse_connect(datagram: &[u8], protocol_id: u64) -> Result<Claims, Rejection> {
    let mut reader = Reader::of_request(datagram, protocol_id)?;
    Claims::parse(&mut reader)
}

/// The server's first answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The client's nonce.
    pub nonce: [u8; NONCE_BYTES],
    /// Whether the session will be sealed.
    pub sealed: bool,
    /// The server's X25519 key; zeros if it will not.
    pub public: [u8; 32],
    /// What the client must return.
    pub cookie: [u8; COOKIE_BYTES],
}

impl Challenge {
    /// Writes it.
    pub fn write(&self, protocol_id: u64, out: &mut [u8]) -> usize {
        let mut writer = Writer::new(PacketType::Challenge, out);
        writer.put(&self.nonce);
        writer.put(&[self.sealed.into()]);
        writer.put(&self.public);
        writer.put(&self.cookie);
        writer.finish(protocol_id)
    }

    /// Reads it.
    pub fn parse(datagram: &[u8], protocol_id: u64) -> Result<Challenge, Rejection> {
        let mut reader = Reader::new(datagram, protocol_id)?;
        let challenge = Challenge {
            nonce: reader.take()?,
            sealed: match reader.take::<1>()?[0] {
                0 => false,
                1 => true,
                _ => return Err(Rejection::Malformed),
            },
            public: reader.take()?,
            cookie: reader.take()?,
        };
        reader.end()?;
        Ok(challenge)
    }
}

/// A Response, its secret part still sealed.
#[derive(Debug)]
pub struct Response<'a> {
    /// The claims, once more.
    pub claims: Claims,
    /// The server's cookie.
    pub cookie: [u8; COOKIE_BYTES],
    packet: &'a mut [u8],
}

const RESPONSE_HEADER: usize = 1 + CLAIMS_BYTES + COOKIE_BYTES;
const RESPONSE_BODY: usize = 1 + RESUME_TOKEN_BYTES;

/// Writes a Response, padded to `length`; `key` seals its secret part.
pub fn write_response(
    claims: &Claims,
    cookie: &[u8; COOKIE_BYTES],
    resume: Option<&ResumeToken>,
    key: Option<&SealKey>,
    protocol_id: u64,
    length: usize,
    out: &mut [u8],
) -> usize {
    let mut writer = Writer::new(PacketType::Response, out);
    claims.write(&mut writer);
    writer.put(cookie);
    writer.put(&[resume.is_some().into()]);
    writer.put(resume.map_or(&[0; RESUME_TOKEN_BYTES], |token| &token.0));
    if let Some(key) = key {
        writer.at = key.seal(0, writer.out, RESPONSE_HEADER, writer.at);
    }
    writer.pad(length - CRC_BYTES);
    writer.finish(protocol_id)
}

impl<'a> Response<'a> {
    /// Reads the part that is not sealed.
    pub fn parse(datagram: &'a mut [u8], protocol_id: u64) -> Result<Response<'a>, Rejection> {
        let mut reader = Reader::of_request(datagram, protocol_id)?;
        let claims = Claims::parse(&mut reader)?;
        let cookie = reader.take()?;
        Ok(Response { claims, cookie, packet: datagram })
    }

    /// Opens the rest: the resume token, if there is one.
    pub fn open(self, key: Option<&SealKey>) -> Result<Option<ResumeToken>, Rejection> {
        let end = RESPONSE_HEADER + RESPONSE_BODY;
        let body = match key {
            None => self.packet.get_mut(RESPONSE_HEADER..end).ok_or(Rejection::TooShort)?,
            Some(key) => {
                let sealed = self.packet.get_mut(..end + TAG_BYTES).ok_or(Rejection::TooShort)?;
                key.open(0, sealed, RESPONSE_HEADER).ok_or(Rejection::Integrity)?
            }
        };
        let mut reader = Reader { rest: body };
        let present = reader.take::<1>()?[0];
        let token = ResumeToken(reader.take()?);
        match present {
            0 => Ok(None),
            1 => Ok(Some(token)),
            _ => Err(Rejection::Malformed),
        }
    }
}

/// What an Accept tells the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accept {
    /// The session.
    pub session_id: u64,
    /// The server's alias for sealed packets.
    pub alias: u16,
    /// The token for the next resume.
    pub resume: ResumeToken,
}

const ACCEPT_HEADER: usize = 1 + 2 * NONCE_BYTES;

impl Accept {
    /// Writes it; `key` seals its body.
    pub fn write(
        &self,
        client_nonce: &[u8; NONCE_BYTES],
        server_nonce: &[u8; NONCE_BYTES],
        key: Option<&SealKey>,
        protocol_id: u64,
        out: &mut [u8],
    ) -> usize {
        let mut writer = Writer::new(PacketType::Accept, out);
        writer.put(client_nonce);
        writer.put(server_nonce);
        writer.put(&self.session_id.to_le_bytes());
        writer.put(&self.alias.to_le_bytes());
        writer.put(&self.resume.0);
        if let Some(key) = key {
            writer.at = key.seal(ACCEPT_NUMBER, writer.out, ACCEPT_HEADER, writer.at);
        }
        writer.finish(protocol_id)
    }

    /// Reads the two nonces, client's first: what is needed to find the attempt and its keys.
    pub fn parse_nonces(datagram: &[u8], protocol_id: u64) -> Result<[[u8; NONCE_BYTES]; 2], Rejection> {
        let mut reader = Reader::new(datagram, protocol_id)?;
        Ok([reader.take()?, reader.take()?])
    }

    /// Opens the body. Call [`parse_nonces`](Self::parse_nonces) first: it checks the checksum.
    pub fn open(datagram: &mut [u8], key: Option<&SealKey>) -> Result<Accept, Rejection> {
        let end = datagram.len().checked_sub(CRC_BYTES).ok_or(Rejection::TooShort)?;
        let packet = &mut datagram[..end];
        let body = match key {
            None => packet.get_mut(ACCEPT_HEADER..).ok_or(Rejection::TooShort)?,
            Some(key) => key.open(ACCEPT_NUMBER, packet, ACCEPT_HEADER).ok_or(Rejection::Integrity)?,
        };
        let mut reader = Reader { rest: body };
        let accept = Accept {
            session_id: u64::from_le_bytes(reader.take()?),
            alias: u16::from_le_bytes(reader.take()?),
            resume: ResumeToken(reader.take()?),
        };
        reader.end()?;
        Ok(accept)
    }
}

/// A refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reject {
    /// The client's nonce.
    pub nonce: [u8; NONCE_BYTES],
    /// Why.
    pub reason: RejectReason,
    /// The server's value of what did not match; 0 otherwise.
    pub detail: u64,
}

impl Reject {
    /// Writes it.
    pub fn write(&self, protocol_id: u64, out: &mut [u8]) -> usize {
        let mut writer = Writer::new(PacketType::Reject, out);
        writer.put(&self.nonce);
        writer.put(&[self.reason.code()]);
        writer.put(&self.detail.to_le_bytes());
        writer.finish(protocol_id)
    }

    /// Reads it.
    pub fn parse(datagram: &[u8], protocol_id: u64) -> Result<Reject, Rejection> {
        let mut reader = Reader::new(datagram, protocol_id)?;
        let reject = Reject {
            nonce: reader.take()?,
            reason: RejectReason::from_code(reader.take::<1>()?[0]).ok_or(Rejection::Malformed)?,
            detail: u64::from_le_bytes(reader.take()?),
        };
        reader.end()?;
        Ok(reject)
    }
}

fn security_code(security: Security) -> u8 {
    match security {
        Security::Off => 0,
        Security::Optional => 1,
        Security::Required => 2,
    }
}

fn security_from_code(code: u8) -> Option<Security> {
    [Security::Off, Security::Optional, Security::Required].get(usize::from(code)).copied()
}

struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    fn new(kind: PacketType, out: &'a mut [u8]) -> Writer<'a> {
        out[0] = kind as u8;
        Writer { out, at: 1 }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    fn pad(&mut self, length: usize) {
        self.out[self.at..length].fill(0);
        self.at = length;
    }

    fn finish(mut self, protocol_id: u64) -> usize {
        let crc = Checksum::new(protocol_id).of(&self.out[..self.at]);
        self.put(&crc.to_le_bytes());
        self.at
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Checks flags and checksum; what is left is between type and checksum.
    fn new(datagram: &'a [u8], protocol_id: u64) -> Result<Reader<'a>, Rejection> {
        let (body, crc) = datagram.split_last_chunk::<CRC_BYTES>().ok_or(Rejection::TooShort)?;
        let (&first, rest) = body.split_first().ok_or(Rejection::TooShort)?;
        if first >> 4 != 0 {
            return Err(Rejection::BadFlags);
        }
        if Checksum::new(protocol_id).of(body) != u32::from_le_bytes(*crc) {
            return Err(Rejection::Integrity);
        }
        Ok(Reader { rest })
    }

    /// The same for a packet that must be padded.
    fn of_request(datagram: &'a [u8], protocol_id: u64) -> Result<Reader<'a>, Rejection> {
        match datagram.len() < HANDSHAKE_REQUEST_MIN {
            true => Err(Rejection::Unpadded),
            false => Reader::new(datagram, protocol_id),
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Rejection> {
        let (head, tail) = self.rest.split_first_chunk::<N>().ok_or(Rejection::TooShort)?;
        self.rest = tail;
        Ok(*head)
    }

    fn end(&self) -> Result<(), Rejection> {
        if self.rest.is_empty() { Ok(()) } else { Err(Rejection::Malformed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PROTOCOL: u64 = 0xfeed;

    fn claims() -> Claims {
        Claims {
            version: WIRE_VERSION,
            layout_hash: 11,
            table_id: 22,
            security: Security::Optional,
            nonce: [3; NONCE_BYTES],
            public: [4; 32],
            alias: Some(5),
        }
    }

    #[test]
    fn every_packet_is_read_back() {
        let mut out = [0; 1200];
        let length = write_connect(&claims(), PROTOCOL, 1000, &mut out);
        assert_eq!(length, 1000);
        assert_eq!(parse_connect(&out[..length], PROTOCOL), Ok(claims()));

        let challenge =
            Challenge { nonce: [1; 16], sealed: true, public: [2; 32], cookie: [3; COOKIE_BYTES] };
        let length = challenge.write(PROTOCOL, &mut out);
        assert!(length <= REPLY_MAX);
        assert_eq!(Challenge::parse(&out[..length], PROTOCOL), Ok(challenge));

        let reject = Reject { nonce: [1; 16], reason: RejectReason::Full, detail: 9 };
        let length = reject.write(PROTOCOL, &mut out);
        assert!(length <= REPLY_MAX);
        assert_eq!(Reject::parse(&out[..length], PROTOCOL), Ok(reject));

        let key = SealKey::new(&[8; 32]);
        for key in [None, Some(&key)] {
            for resume in [None, Some(ResumeToken([6; 32]))] {
                let length = write_response(
                    &claims(),
                    &[7; COOKIE_BYTES],
                    resume.as_ref(),
                    key,
                    PROTOCOL,
                    1200,
                    &mut out,
                );
                let response = Response::parse(&mut out[..length], PROTOCOL).unwrap();
                assert_eq!((response.claims, response.cookie), (claims(), [7; COOKIE_BYTES]));
                assert_eq!(response.open(key), Ok(resume));
            }
            let accept = Accept { session_id: 99, alias: 12, resume: ResumeToken([6; 32]) };
            let length = accept.write(&[1; 16], &[2; 16], key, PROTOCOL, &mut out);
            assert!(length <= REPLY_MAX);
            assert_eq!(Accept::parse_nonces(&out[..length], PROTOCOL), Ok([[1; 16], [2; 16]]));
            assert_eq!(Accept::open(&mut out[..length], key), Ok(accept));
        }
    }

    #[test]
    fn a_short_request_and_another_protocol_are_refused() {
        let mut out = [0; 1200];
        let length = write_connect(&claims(), PROTOCOL, 1000, &mut out);
        assert_eq!(parse_connect(&out[..length - 1], PROTOCOL), Err(Rejection::Unpadded));
        assert_eq!(parse_connect(&out[..length], PROTOCOL + 1), Err(Rejection::Integrity));
        out[0] |= 0x80;
        assert_eq!(parse_connect(&out[..length], PROTOCOL), Err(Rejection::BadFlags));
    }

    #[test]
    fn a_sealed_token_does_not_open_with_another_key() {
        let mut out = [0; 1200];
        let token = ResumeToken([6; 32]);
        let key = SealKey::new(&[1; 32]);
        let length =
            write_response(&claims(), &[7; COOKIE_BYTES], Some(&token), Some(&key), PROTOCOL, 1000, &mut out);
        assert!(!out.windows(32).any(|window| window == [6; 32]), "the token is not readable on the wire");
        let response = Response::parse(&mut out[..length], PROTOCOL).unwrap();
        assert_eq!(response.open(Some(&SealKey::new(&[2; 32]))), Err(Rejection::Integrity));
    }

    #[test]
    fn security_is_agreed_on_or_refused_but_never_lowered() {
        use Security::*;
        let expected = [
            (Off, Off, Some(false)),
            (Off, Optional, Some(false)),
            (Off, Required, None),
            (Optional, Off, Some(false)),
            (Optional, Optional, Some(true)),
            (Optional, Required, Some(true)),
            (Required, Off, None),
            (Required, Optional, Some(true)),
            (Required, Required, Some(true)),
        ];
        for (client, server, sealed) in expected {
            assert_eq!(agree_on_security(client, server), sealed, "{client:?} with {server:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..1200)) {
            let _ = parse_connect(&bytes, PROTOCOL);
            let _ = Challenge::parse(&bytes, PROTOCOL);
            let _ = Reject::parse(&bytes, PROTOCOL);
            let _ = Accept::parse_nonces(&bytes, PROTOCOL);
            let _ = Accept::open(&mut bytes, None);
            if let Ok(response) = Response::parse(&mut bytes, PROTOCOL) {
                let _ = response.open(None);
            }
        }
    }
}
