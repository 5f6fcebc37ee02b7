//! Cutting a stream of frames back into messages.
//!
//! Messages may come in parts, with control frames between them, and everything in pieces of any size. A whole message
//! in one frame, which is what nearly everybody sends, is given from where it was read; only parts are collected.
//!
//! ```text
//!   pushed ──▶ │ … given │ frame │ frame │ half a fr │      ≤ a header and the longest message, or one read
//!                         └───────┴── a part ──▶ │ parts of the message so far │     ≤ the longest message
//! ```

use netloom_wire::bytes::KEPT_CAPACITY_BYTES;

use super::frame::{FrameHeader, Opcode, Role, WebSocketError, apply_mask};

/// What a peer sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incoming<'a> {
    /// A whole message.
    Datagram(&'a [u8]),
    /// It wants a pong with this payload.
    Ping(&'a [u8]),
    /// It answers a ping, or just says that it is there.
    Pong,
    /// It says goodbye, with a code if it gave one, and a reason that may be empty.
    Close {
        /// The code, between 1000 and 4999.
        code: Option<u16>,
        /// The reason.
        reason: &'a str,
    },
}

/// Collects the bytes of a stream and yields its messages.
///
/// ```
/// use netloom_transport::websocket::{Incoming, MessageReader, Opcode, Role, write_frame};
///
/// let mut stream = Vec::new();
/// write_frame(&mut stream, Opcode::Binary, Some([1, 2, 3, 4]), b"hello");
/// let mut reader = MessageReader::new(Role::Server, 1_200);
/// reader.push(&stream);
/// assert_eq!(reader.poll()?, Some(Incoming::Datagram(b"hello")));
/// assert_eq!(reader.poll()?, None);
/// # Ok::<(), netloom_transport::websocket::WebSocketError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MessageReader {
    role: Role,
    message_bytes_max: usize,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were given already.
    given: usize,
    /// The parts of a message that is not complete.
    parts: Vec<u8>,
    is_in_parts: bool,
    poison: Option<WebSocketError>,
}

/// Where the payload of what is to be given stands.
enum Found {
    Nothing,
    /// In the parts that were collected.
    Parts,
    /// In the buffer.
    Frame {
        opcode: Opcode,
        start: usize,
        end: usize,
    },
}

impl MessageReader {
    /// A reader for the one who has this role, of messages of at most `message_bytes_max`.
    pub fn new(role: Role, message_bytes_max: usize) -> MessageReader {
        MessageReader {
            role,
            message_bytes_max,
            buffer: Vec::new(),
            given: 0,
            parts: Vec::new(),
            is_in_parts: false,
            poison: None,
        }
    }

    /// Takes bytes that arrived. Poll until nothing is left before more are pushed, or they pile up.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.given > 0 {
            self.buffer.drain(..self.given);
            self.given = 0;
            if self.buffer.len() <= KEPT_CAPACITY_BYTES {
                self.buffer.shrink_to(KEPT_CAPACITY_BYTES);
            }
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// What arrived and was not given.
    pub fn buffered(&self) -> &[u8] {
        self.buffer.get(self.given..).unwrap_or_default()
    }

    /// Leaves out what arrived first: it was no frame.
    pub(super) fn skip(&mut self, count: usize) {
        self.given = (self.given + count).min(self.buffer.len());
    }

    /// The memory held.
    pub fn capacity(&self) -> usize {
        self.buffer.capacity() + self.parts.capacity()
    }

    /// What comes next; `None` if more bytes are needed first. After an error it repeats that.
    pub fn poll(&mut self) -> Result<Option<Incoming<'_>>, WebSocketError> {
        let found = match self.poison {
            Some(error) => Err(error),
            None => self.find(),
        };
        let incoming = found.and_then(|found| match found {
            Found::Nothing => Ok(None),
            Found::Parts => Ok(Some(Incoming::Datagram(&self.parts))),
            Found::Frame { opcode, start, end } => {
                let payload = self.buffer.get(start..end).unwrap_or_default();
                match opcode {
                    Opcode::Ping => Ok(Some(Incoming::Ping(payload))),
                    Opcode::Pong => Ok(Some(Incoming::Pong)),
                    Opcode::Close => read_close(payload).map(Some),
                    _ => Ok(Some(Incoming::Datagram(payload))),
                }
            }
        });
        if let Err(error) = incoming {
            self.poison = Some(error);
        }
        incoming
    }

    /// Takes frames until something is complete.
    fn find(&mut self) -> Result<Found, WebSocketError> {
        loop {
            let rest = self.buffer.get(self.given..).unwrap_or_default();
            let Some(header) = FrameHeader::parse(rest, self.role)? else {
                return Ok(Found::Nothing);
            };
            self.check_order(&header)?;
            let start = self.given + header.header_bytes;
            // What is too long was refused, so this is small.
            let end = start.saturating_add(header.payload_bytes as usize);
            let Some(payload) = self.buffer.get_mut(start..end) else {
                return Ok(Found::Nothing);
            };
            if let Some(mask) = header.mask {
                apply_mask(payload, mask);
            }
            self.given = end;
            let is_whole = header.is_last && !self.is_in_parts;
            if header.opcode.is_control() || is_whole {
                return Ok(Found::Frame { opcode: header.opcode, start, end });
            }
            if !std::mem::replace(&mut self.is_in_parts, !header.is_last) {
                self.parts.clear();
            }
            self.parts.extend_from_slice(self.buffer.get(start..end).unwrap_or_default());
            if header.is_last {
                return Ok(Found::Parts);
            }
        }
    }

    /// Whether such a frame may stand here, and is not too long.
    fn check_order(&self, header: &FrameHeader) -> Result<(), WebSocketError> {
        let collected = match (header.opcode, self.is_in_parts) {
            (Opcode::Continuation, false) => return Err(WebSocketError::NothingToContinue),
            (Opcode::Binary | Opcode::Text, true) => return Err(WebSocketError::Interrupted),
            (Opcode::Continuation, true) => self.parts.len(),
            (Opcode::Binary | Opcode::Text, false) => 0,
            (Opcode::Close | Opcode::Ping | Opcode::Pong, _) => return Ok(()),
        };
        let room = self.message_bytes_max.saturating_sub(collected);
        if header.payload_bytes > room as u64 {
            return Err(WebSocketError::Oversize { max: self.message_bytes_max });
        }
        Ok(())
    }
}

fn read_close(payload: &[u8]) -> Result<Incoming<'_>, WebSocketError> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return match payload {
            [] => Ok(Incoming::Close { code: None, reason: "" }),
            _ => Err(WebSocketError::ShortClose),
        };
    };
    let code = u16::from_be_bytes(*code);
    // The others are for what was not sent, or nobody's.
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(WebSocketError::BadCloseCode(code));
    }
    let reason = std::str::from_utf8(reason).map_err(|_| WebSocketError::BadCloseText)?;
    Ok(Incoming::Close { code: Some(code), reason })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::websocket::frame::write_frame;

    const MASK: [u8; 4] = [9, 8, 7, 6];

    /// A frame from a client with any first byte.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, Opcode::Binary, Some(MASK), payload);
        bytes[0] = first;
        bytes
    }

    fn reader(bytes: &[u8]) -> MessageReader {
        let mut reader = MessageReader::new(Role::Server, 100);
        reader.push(bytes);
        reader
    }

    #[test]
    fn parts_become_one_message_with_control_frames_between_them() {
        let stream = [
            frame(0x02, b"one "),
            frame(0x89, b"ping"),
            frame(0x00, b""),
            frame(0x8a, b""),
            frame(0x00, b"two "),
            frame(0x80, b"three"),
            frame(0x82, b"next"),
            frame(0x02, b"again "),
            frame(0x80, b""),
        ]
        .concat();
        let mut reader = reader(&stream);
        assert_eq!(reader.poll(), Ok(Some(Incoming::Ping(b"ping"))));
        assert_eq!(reader.poll(), Ok(Some(Incoming::Pong)));
        assert_eq!(reader.poll(), Ok(Some(Incoming::Datagram(b"one two three"))));
        assert_eq!(reader.poll(), Ok(Some(Incoming::Datagram(b"next"))));
        assert_eq!(reader.poll(), Ok(Some(Incoming::Datagram(b"again "))));
        assert_eq!(reader.poll(), Ok(None));
    }

    #[test]
    fn a_message_is_bounded_in_one_frame_and_in_parts_and_refused_before_it_is_read() {
        let oversize = Err(WebSocketError::Oversize { max: 100 });
        assert_eq!(reader(&frame(0x82, &[1; 100])).poll(), Ok(Some(Incoming::Datagram(&[1; 100]))));
        assert_eq!(reader(&frame(0x82, &[1; 101])[..6]).poll(), oversize);
        let huge = [0x82, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0];
        assert_eq!(reader(&huge).poll(), oversize);
        let parts =
            [frame(0x02, &[1; 60]), frame(0x00, &[1; 40]), frame(0x80, &[1; 1])[..6].to_vec()].concat();
        let mut reader = reader(&parts);
        assert_eq!(reader.poll(), oversize);
        reader.push(&frame(0x82, b"later"));
        assert_eq!(reader.poll(), oversize, "a stream that was refused stays refused");
    }

    #[test]
    fn frames_out_of_order_are_refused() {
        assert_eq!(reader(&frame(0x80, b"")).poll(), Err(WebSocketError::NothingToContinue));
        let interrupted = [frame(0x02, b"a"), frame(0x82, b"b")].concat();
        assert_eq!(reader(&interrupted).poll(), Err(WebSocketError::Interrupted));
    }

    #[test]
    fn goodbyes_are_read_and_bad_ones_refused() {
        let close = |payload: &[u8]| {
            let mut reader = reader(&frame(0x88, payload));
            reader.poll().map(|incoming| match incoming {
                Some(Incoming::Close { code, reason }) => (code, reason.to_owned()),
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(close(b""), Ok((None, String::new())));
        assert_eq!(close(b"\x03\xe8bye"), Ok((Some(1000), "bye".into())));
        assert_eq!(close(b"\x03"), Err(WebSocketError::ShortClose));
        assert_eq!(close(b"\x03\xe8\xff"), Err(WebSocketError::BadCloseText));
        for code in [0u16, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535] {
            assert_eq!(close(&code.to_be_bytes()), Err(WebSocketError::BadCloseCode(code)));
        }
        for code in [1000u16, 1001, 1011, 3000, 4999] {
            assert_eq!(close(&code.to_be_bytes()), Ok((Some(code), String::new())));
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..100), 0..8),
            cut in 1usize..50,
            piece in 1usize..40,
        ) {
            let mut stream = Vec::new();
            for message in &messages {
                let (first, rest) = message.split_at(cut.min(message.len()));
                stream.extend(frame(0x02, first));
                stream.extend(frame(0x80, rest));
            }
            let (mut reader, mut read) = (MessageReader::new(Role::Server, 100), Vec::new());
            for bytes in stream.chunks(piece) {
                reader.push(bytes);
                while let Some(incoming) = reader.poll().unwrap() {
                    match incoming {
                        Incoming::Datagram(bytes) => read.push(bytes.to_vec()),
                        other => panic!("{other:?}"),
                    }
                }
            }
            prop_assert_eq!(read, messages);
        }
    }
}
