//! One frame of RFC 6455: its header and its mask.
//!
//! ```text
//!   byte 0             byte 1             0, 2 or 8 bytes      0 or 4 bytes     n bytes
//!  ┌────┬───┬───────┐ ┌──────┬─────────┐ ┌──────────────────┐ ┌──────────────┐ ┌─────────┐
//!  │last│ 0 │opcode │ │masked│n, 126,  │ │ n, big-endian,   │ │ mask         │ │ payload │
//!  │ 1  │ 3 │ 4 bits│ │ 1    │127: 7   │ │ in its least form│ │ from clients │ │         │
//!  └────┴───┴───────┘ └──────┴─────────┘ └──────────────────┘ └──────────────┘ └─────────┘
//! ```
//!
//! Everything is refused at the first byte that shows it, so that a header never makes anybody wait for what would be
//! refused in the end.

/// The longest header: two bytes, a length of eight and a mask of four.
pub const FRAME_HEADER_BYTES_MAX: usize = 14;

/// The longest payload of a control frame.
pub const CONTROL_BYTES_MAX: usize = 125;

const LAST: u8 = 0x80;
const RESERVED: u8 = 0x70;
const OPCODE: u8 = 0x0f;
const MASKED: u8 = 0x80;

/// Which end this is: they differ in who masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Reads masked frames only, and writes none.
    Server,
    /// Writes masked frames only, and reads none.
    Client,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// The next part of a message.
    Continuation,
    /// A message of text, or its first part. Nothing here speaks text.
    Text,
    /// A datagram, or its first part.
    Binary,
    /// The last frame.
    Close,
    /// Asks for a pong.
    Ping,
    /// Answers a ping.
    Pong,
}

impl Opcode {
    fn from_bits(bits: u8) -> Result<Opcode, WebSocketError> {
        Ok(match bits {
            0x0 => Opcode::Continuation,
            0x1 => Opcode::Text,
            0x2 => Opcode::Binary,
            0x8 => Opcode::Close,
            0x9 => Opcode::Ping,
            0xa => Opcode::Pong,
            _ => return Err(WebSocketError::UnknownOpcode(bits)),
        })
    }

    fn bits(self) -> u8 {
        match self {
            Opcode::Continuation => 0x0,
            Opcode::Text => 0x1,
            Opcode::Binary => 0x2,
            Opcode::Close => 0x8,
            Opcode::Ping => 0x9,
            Opcode::Pong => 0xa,
        }
    }

    /// Whether it is about the connection, and may stand between the parts of a message.
    pub fn is_control(self) -> bool {
        matches!(self, Opcode::Close | Opcode::Ping | Opcode::Pong)
    }
}

/// What a peer did that this protocol does not allow. The connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebSocketError {
    /// Bits are set that only an extension would give a meaning, and none was agreed.
    #[error("a frame has reserved bits set, and no extension was agreed")]
    ReservedBits,
    /// There is no such frame.
    #[error("a frame has the unknown opcode {0}")]
    UnknownOpcode(u8),
    /// Clients must mask.
    #[error("a client's frame is not masked")]
    NotMasked,
    /// Servers must not mask.
    #[error("a server's frame is masked")]
    Masked,
    /// A control frame is longer than such frames may be.
    #[error("a control frame is longer than {CONTROL_BYTES_MAX} bytes")]
    LongControl,
    /// Control frames stand alone.
    #[error("a control frame is a part of a message")]
    PartialControl,
    /// A length is not in its least form, or has its highest bit set.
    #[error("a length is not in its least form")]
    BadLength,
    /// A message is too long.
    #[error("a message is longer than {max} bytes")]
    Oversize {
        /// The longest that is taken.
        max: usize,
    },
    /// Datagrams are binary.
    #[error("a message is text: send binary messages")]
    Text,
    /// A part of no message.
    #[error("a frame continues a message that was not begun")]
    NothingToContinue,
    /// A message began inside another.
    #[error("a message began before the one before it was complete")]
    Interrupted,
    /// A close frame has half a code.
    #[error("a close frame has a payload of one byte")]
    ShortClose,
    /// A close frame has a code that must not be sent.
    #[error("a close frame has the code {0}, which must not be sent")]
    BadCloseCode(u16),
    /// The reason in a close frame is no text.
    #[error("the reason in a close frame is not UTF-8")]
    BadCloseText,
}

impl WebSocketError {
    /// The code that the peer is told.
    pub fn close_code(self) -> u16 {
        match self {
            WebSocketError::Text => 1003,
            WebSocketError::BadCloseText => 1007,
            WebSocketError::Oversize { .. } => 1009,
            _ => 1002,
        }
    }
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Whether it is the last part of its message.
    pub is_last: bool,
    /// What it is.
    pub opcode: Opcode,
    /// What its payload is masked with.
    pub mask: Option<[u8; 4]>,
    /// The length of its payload.
    pub payload_bytes: u64,
    /// Its own length.
    pub header_bytes: usize,
}

impl FrameHeader {
    /// Reads the header at the beginning of `bytes`, as the one who has this role; `None` if more bytes are needed.
    pub fn parse(bytes: &[u8], role: Role) -> Result<Option<FrameHeader>, WebSocketError> {
        let Some((&first, rest)) = bytes.split_first() else {
            return Ok(None);
        };
        if first & RESERVED != 0 {
            return Err(WebSocketError::ReservedBits);
        }
        let opcode = Opcode::from_bits(first & OPCODE)?;
        let is_last = first & LAST != 0;
        if opcode == Opcode::Text {
            return Err(WebSocketError::Text);
        }
        if opcode.is_control() && !is_last {
            return Err(WebSocketError::PartialControl);
        }
        let Some((&second, rest)) = rest.split_first() else {
            return Ok(None);
        };
        let is_masked = second & MASKED != 0;
        match role {
            Role::Server if !is_masked => return Err(WebSocketError::NotMasked),
            Role::Client if is_masked => return Err(WebSocketError::Masked),
            _ => {}
        }
        let short_length = second & !MASKED;
        if opcode.is_control() && usize::from(short_length) > CONTROL_BYTES_MAX {
            return Err(WebSocketError::LongControl);
        }
        let Some((payload_bytes, rest)) = parse_length(short_length, rest)? else {
            return Ok(None);
        };
        let (mask, rest) = match (is_masked, rest.split_first_chunk()) {
            (false, _) => (None, rest),
            (true, Some((mask, rest))) => (Some(*mask), rest),
            (true, None) => return Ok(None),
        };
        let header_bytes = bytes.len() - rest.len();
        Ok(Some(FrameHeader { is_last, opcode, mask, payload_bytes, header_bytes }))
    }
}

/// The length, and what follows it.
fn parse_length(short_length: u8, rest: &[u8]) -> Result<Option<(u64, &[u8])>, WebSocketError> {
    let (length, least, rest) = match short_length {
        126 => match rest.split_first_chunk() {
            Some((bytes, rest)) => (u64::from(u16::from_be_bytes(*bytes)), 126, rest),
            None => return Ok(None),
        },
        127 => match rest.split_first_chunk() {
            Some((bytes, rest)) => (u64::from_be_bytes(*bytes), 1 << 16, rest),
            None => return Ok(None),
        },
        short => (u64::from(short), 0, rest),
    };
    if length < least || length >> 63 != 0 {
        return Err(WebSocketError::BadLength);
    }
    Ok(Some((length, rest)))
}

/// Adds a whole frame to `out`, masked if a mask is given.
pub fn write_frame(out: &mut Vec<u8>, opcode: Opcode, mask: Option<[u8; 4]>, payload: &[u8]) {
    out.push(LAST | opcode.bits());
    let masked = if mask.is_some() { MASKED } else { 0 };
    match payload.len() {
        length @ ..126 => out.push(masked | length as u8),
        length @ 126..0x1_0000 => {
            out.push(masked | 126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(masked | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(mask.as_ref().map_or(&[][..], |mask| mask));
    let start = out.len();
    out.extend_from_slice(payload);
    if let Some(mask) = mask {
        apply_mask(out.get_mut(start..).unwrap_or_default(), mask);
    }
}

/// Masks a payload, or takes its mask off: eight bytes at a time.
pub fn apply_mask(payload: &mut [u8], mask: [u8; 4]) {
    let [a, b, c, d] = mask;
    let word = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (chunks, rest) = payload.as_chunks_mut::<8>();
    for chunk in chunks {
        *chunk = (u64::from_ne_bytes(*chunk) ^ word).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask.into_iter().cycle()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_frames_of_the_rfc_are_written_and_read() {
        // RFC 6455, section 5.7, with binary in place of text.
        let mut masked = Vec::new();
        write_frame(&mut masked, Opcode::Binary, Some([0x37, 0xfa, 0x21, 0x3d]), b"Hello");
        assert_eq!(masked, [0x82, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]);
        let mut ping = Vec::new();
        write_frame(&mut ping, Opcode::Ping, None, b"Hello");
        assert_eq!(ping, [0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]);
        let mut long = Vec::new();
        write_frame(&mut long, Opcode::Binary, None, &[0; 256]);
        assert_eq!(long[..4], [0x82, 0x7e, 0x01, 0x00]);
        let mut longer = Vec::new();
        write_frame(&mut longer, Opcode::Binary, None, &vec![0; 65_536]);
        assert_eq!(longer[..10], [0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn every_fault_of_a_header_is_found_at_the_byte_that_shows_it() {
        use WebSocketError::*;
        let server: [(&[u8], WebSocketError); 12] = [
            (&[0xc2], ReservedBits),
            (&[0xa2], ReservedBits),
            (&[0x92], ReservedBits),
            (&[0x83], UnknownOpcode(3)),
            (&[0x8f], UnknownOpcode(15)),
            (&[0x81], Text),
            (&[0x01], Text),
            (&[0x09], PartialControl),
            (&[0x82, 0x05], NotMasked),
            (&[0x89, 0xfe], LongControl),
            (&[0x82, 0xfe, 0, 125], BadLength),
            (&[0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0], BadLength),
        ];
        for (bytes, error) in server {
            assert_eq!(FrameHeader::parse(bytes, Role::Server), Err(error), "{bytes:x?}");
            assert_eq!(FrameHeader::parse(&bytes[..bytes.len() - 1], Role::Server), Ok(None), "{bytes:x?}");
        }
        assert_eq!(FrameHeader::parse(&[0x82, 0x85], Role::Client), Err(Masked));
        assert_eq!(
            FrameHeader::parse(&[0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff], Role::Server),
            Err(BadLength)
        );
    }

    #[test]
    fn codes_say_what_was_wrong() {
        assert_eq!(WebSocketError::Text.close_code(), 1003);
        assert_eq!(WebSocketError::Oversize { max: 1 }.close_code(), 1009);
        assert_eq!(WebSocketError::BadCloseText.close_code(), 1007);
        assert_eq!(WebSocketError::NotMasked.close_code(), 1002);
    }

    proptest! {
        #[test]
        fn a_mask_is_taken_off_as_it_was_put_on(mut bytes: Vec<u8>, mask: [u8; 4]) {
            let plain = bytes.clone();
            apply_mask(&mut bytes, mask);
            let slowly: Vec<u8> = plain.iter().enumerate().map(|(index, byte)| byte ^ mask[index % 4]).collect();
            prop_assert_eq!(&bytes, &slowly);
            apply_mask(&mut bytes, mask);
            prop_assert_eq!(bytes, plain);
        }

        #[test]
        fn a_written_header_is_read_back(length in prop_oneof![0usize..300, 65_000usize..66_000], mask: Option<[u8; 4]>) {
            let mut frame = Vec::new();
            write_frame(&mut frame, Opcode::Binary, mask, &vec![7; length]);
            let role = if mask.is_some() { Role::Server } else { Role::Client };
            let header = FrameHeader::parse(&frame, role).unwrap().unwrap();
            prop_assert_eq!((header.opcode, header.is_last, header.mask), (Opcode::Binary, true, mask));
            prop_assert_eq!(header.payload_bytes, length as u64);
            prop_assert_eq!(header.header_bytes + length, frame.len());
            prop_assert!(header.header_bytes <= FRAME_HEADER_BYTES_MAX);
            for end in 0..header.header_bytes {
                prop_assert_eq!(FrameHeader::parse(&frame[..end], role), Ok(None));
            }
        }
    }
}
