//! The header of every datagram.
//!
//! ```text
//!  0        1                    3 or 9 or 1         +2        +2     +1      +2, +4 or +8
//! ┌────────┬────────────────────┬───────────────────┬─────────┬──────┬───────┬─────────────┬─────────┬─────────┐
//! │type    │ session: u64 plain,│ packet number u16 │ ack u16 │delay │ ack bits            │ payload │ trailer │
//! │flags   │ alias u16 or none  │                   │ only if flagged                     │         │ 4 or 16 │
//! └────────┴────────────────────┴───────────────────┴─────────────────────────────────────┴─────────┴─────────┘
//! ```
//!
//! Session packets without encryption carry the 64-bit session id, which an attacker off the path cannot guess. Sealed
//! ones carry the short alias that the receiver chose in the handshake (nothing at all where the receiver tells
//! connections apart by address): the tag, not the id, proves who sent them.

use crate::limits::DATAGRAM_MAX;
use crate::validate::Rejection;

/// Bytes of the CRC32C that ends a plain packet.
pub const CRC_BYTES: usize = 4;
/// Bytes of the Poly1305 tag that ends a sealed packet.
pub const TAG_BYTES: usize = 16;
/// The largest header: type, session id, packet number, ack, delay and 64 ack bits.
pub const HEADER_MAX: usize = 1 + 8 + 2 + 2 + 1 + 8;

const TYPE_BITS: u8 = 0x0f;
const ACK_SHIFT: u8 = 4;
const FLAG_PROTECTED: u8 = 1 << 6;
const FLAG_PLAIN: u8 = 1 << 7;

/// The low four bits of the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketType {
    /// Client asks for a connection.
    Connect = 0,
    /// Server answers with a cookie, keeping nothing.
    Challenge = 1,
    /// Client returns the cookie.
    Response = 2,
    /// Server opens the session.
    Accept = 3,
    /// Server refuses, with a reason.
    Reject = 4,
    /// Messages.
    Data = 5,
    /// Acknowledgements alone; not acknowledged itself.
    Ack = 6,
    /// Nothing, but asks for an acknowledgement.
    KeepAlive = 7,
    /// Ends the session, or confirms its end.
    Disconnect = 8,
    /// Asks whoever is at a new address to prove it.
    PathChallenge = 9,
    /// Proves it.
    PathResponse = 10,
    /// Unreliable messages that nothing is built upon: their acknowledgement can wait.
    Quiet = 11,
}

impl PacketType {
    /// How many types there are.
    pub const COUNT: u8 = 12;

    fn from_code(code: u8) -> Option<PacketType> {
        use PacketType::*;
        const ALL: [PacketType; PacketType::COUNT as usize] = [
            Connect,
            Challenge,
            Response,
            Accept,
            Reject,
            Data,
            Ack,
            KeepAlive,
            Disconnect,
            PathChallenge,
            PathResponse,
            Quiet,
        ];
        ALL.get(usize::from(code)).copied()
    }

    /// Whether this belongs to the handshake, before there is a session.
    pub const fn is_handshake(self) -> bool {
        (self as u8) < PacketType::Data as u8
    }

    /// Whether the receiver must acknowledge it.
    pub const fn elicits_ack(self) -> bool {
        matches!(self, PacketType::Data | PacketType::KeepAlive | PacketType::Quiet)
    }
}

/// The type of a datagram, after the checks that need no connection: length and type.
pub fn packet_type(datagram: &[u8]) -> Result<PacketType, Rejection> {
    let first = *datagram.first().ok_or(Rejection::TooShort)?;
    if datagram.len() > DATAGRAM_MAX {
        return Err(Rejection::TooLong);
    }
    PacketType::from_code(first & TYPE_BITS).ok_or(Rejection::UnknownType)
}

/// How a packet names its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionRef {
    /// The full id: a plain packet.
    Id(u64),
    /// The receiver's alias: a sealed packet to an endpoint that listens.
    Alias(u16),
    /// Nothing: a sealed packet to an endpoint that tells its connections apart by address.
    Address,
}

impl SessionRef {
    /// Whether packets with this reference are sealed.
    pub const fn is_sealed(self) -> bool {
        !matches!(self, SessionRef::Id(_))
    }

    /// Bytes at the end of a packet with this reference.
    pub const fn trailer_bytes(self) -> usize {
        if self.is_sealed() { TAG_BYTES } else { CRC_BYTES }
    }
}

/// Which packets the sender has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The newest packet number received, truncated.
    pub newest: u16,
    /// How long that packet waited before this one was sent, in milliseconds; 255 means "longer, do not measure".
    pub delay_ms: u8,
    /// Bit n: the packet n + 1 before the newest was received. A zero says nothing.
    pub bits: u64,
    /// How many of the bits go on the wire: 16, 32 or 64.
    pub width: u8,
}

/// The header of a session packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the packet is.
    pub kind: PacketType,
    /// Whose it is.
    pub session: SessionRef,
    /// The packet number, truncated.
    pub number: u16,
    /// What the sender has received.
    pub ack: Option<Ack>,
    /// Whether the leading reliable frames are a block that later packets may repeat.
    pub protected: bool,
}

impl Header {
    /// Writes the header at the start of `out` and returns its length. `out` must hold [`HEADER_MAX`] bytes, of which those
    /// behind the header are overwritten too.
    pub fn write(&self, out: &mut [u8]) -> usize {
        let form = match self.ack {
            None => 0,
            Some(Ack { width: 16, .. }) => 1,
            Some(Ack { width: 32, .. }) => 2,
            Some(_) => 3,
        };
        let mut first = self.kind as u8 | form << ACK_SHIFT;
        if self.protected {
            first |= FLAG_PROTECTED;
        }
        let mut at = 1;
        match self.session {
            SessionRef::Id(id) => {
                first |= FLAG_PLAIN;
                put(out, &mut at, &id.to_le_bytes());
            }
            SessionRef::Alias(alias) => put(out, &mut at, &alias.to_le_bytes()),
            SessionRef::Address => {}
        }
        out[0] = first;
        put(out, &mut at, &self.number.to_le_bytes());
        if let Some(ack) = self.ack {
            put(out, &mut at, &ack.newest.to_le_bytes());
            put(out, &mut at, &[ack.delay_ms]);
            // All eight, because a copy of fixed length is one store; what follows overwrites those too many.
            put(out, &mut at, &ack.bits.to_le_bytes());
            at -= 8 - ACK_BIT_BYTES[usize::from(form)];
        }
        at
    }

    /// Reads the header of a session packet: the header and its length. Checks everything that needs no connection.
    ///
    /// `aliased` says whether this endpoint gives out aliases, as one that listens does.
    pub fn parse(datagram: &[u8], aliased: bool) -> Result<(Header, usize), Rejection> {
        let kind = packet_type(datagram)?;
        let first = datagram[0];
        let protected = first & FLAG_PROTECTED != 0;
        if kind.is_handshake() || (protected && kind != PacketType::Data) {
            return Err(Rejection::BadFlags);
        }
        let mut rest = &datagram[1..];
        let session = if first & FLAG_PLAIN != 0 {
            SessionRef::Id(u64::from_le_bytes(take(&mut rest)?))
        } else if aliased {
            SessionRef::Alias(u16::from_le_bytes(take(&mut rest)?))
        } else {
            SessionRef::Address
        };
        let number = u16::from_le_bytes(take(&mut rest)?);
        let form = usize::from(first >> ACK_SHIFT & 3);
        let ack = match form {
            0 => None,
            _ => {
                let newest = u16::from_le_bytes(take(&mut rest)?);
                let [delay_ms] = take(&mut rest)?;
                let bits = match form {
                    1 => u16::from_le_bytes(take(&mut rest)?).into(),
                    2 => u32::from_le_bytes(take(&mut rest)?).into(),
                    _ => u64::from_le_bytes(take(&mut rest)?),
                };
                Some(Ack { newest, delay_ms, bits, width: ACK_BIT_BYTES[form] as u8 * 8 })
            }
        };
        if rest.len() < session.trailer_bytes() {
            return Err(Rejection::TooShort);
        }
        Ok((Header { kind, session, number, ack, protected }, datagram.len() - rest.len()))
    }
}

/// Marks a Data packet that begins with its header as protected after the fact.
pub fn protect(datagram: &mut [u8]) {
    if let Some(first) = datagram.first_mut() {
        *first |= FLAG_PROTECTED;
    }
}

/// Makes a Data packet that begins with its header one whose acknowledgement can wait, after the fact.
pub fn quieten(datagram: &mut [u8]) {
    if let Some(first) = datagram.first_mut() {
        *first = *first & !TYPE_BITS | PacketType::Quiet as u8;
    }
}

/// Bytes of ack bits by the form in the header.
const ACK_BIT_BYTES: [usize; 4] = [0, 2, 4, 8];

fn put(out: &mut [u8], at: &mut usize, bytes: &[u8]) {
    out[*at..*at + bytes.len()].copy_from_slice(bytes);
    *at += bytes.len();
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Rejection> {
    let (head, tail) = rest.split_first_chunk::<N>().ok_or(Rejection::TruncatedHeader)?;
    *rest = tail;
    Ok(*head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn headers() -> impl Strategy<Value = (Header, bool)> {
        let kind = (5u8..PacketType::COUNT).prop_map(|code| PacketType::from_code(code).unwrap());
        let session = prop_oneof![
            any::<u64>().prop_map(SessionRef::Id),
            any::<u16>().prop_map(SessionRef::Alias),
            Just(SessionRef::Address),
        ];
        let ack = proptest::option::of((
            any::<u16>(),
            any::<u8>(),
            any::<u64>(),
            prop_oneof![Just(16u8), Just(32), Just(64)],
        ))
        .prop_map(|ack| {
            ack.map(|(newest, delay_ms, bits, width)| Ack {
                newest,
                delay_ms,
                bits: if width == 64 { bits } else { bits & ((1 << width) - 1) },
                width,
            })
        });
        (kind, session, any::<u16>(), ack, any::<bool>()).prop_map(
            |(kind, session, number, ack, protected)| {
                let protected = protected && kind == PacketType::Data;
                (Header { kind, session, number, ack, protected }, session != SessionRef::Address)
            },
        )
    }

    proptest! {
        #[test]
        fn a_written_header_is_read_back((header, aliased) in headers()) {
            let mut datagram = [0; 64];
            let length = header.write(&mut datagram);
            prop_assert_eq!(Header::parse(&datagram, aliased), Ok((header, length)));
            let needed = length + header.session.trailer_bytes();
            prop_assert!(Header::parse(&datagram[..needed], aliased).is_ok());
            prop_assert!(Header::parse(&datagram[..needed - 1], aliased).is_err());
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..1300), aliased: bool) {
            let _ = Header::parse(&bytes, aliased);
        }
    }

    #[test]
    fn lengths_and_types_are_checked_first() {
        assert_eq!(packet_type(&[]), Err(Rejection::TooShort));
        assert_eq!(packet_type(&[0; 1201]), Err(Rejection::TooLong));
        for code in PacketType::COUNT..16 {
            assert_eq!(packet_type(&[code]), Err(Rejection::UnknownType));
        }
        assert_eq!(
            Header::parse(&[PacketType::Ack as u8 | FLAG_PROTECTED; 40], true),
            Err(Rejection::BadFlags)
        );
    }
}
