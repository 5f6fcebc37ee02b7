//! Seeds for the port of a WebSocket.

use netloom_transport::websocket::{Opcode, write_frame};

use super::{Seed, seed};

const TARGET: &str = "websocket_frames";
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

const REQUEST: &[u8] = b"GET /netloom?room=3 HTTP/1.1\r\nHost: game.example:7777\r\nUpgrade: websocket\r\n\
    Connection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
    Sec-WebSocket-Protocol: chat, netloom.1\r\nOrigin: https://game.example\r\n\r\n";

const RESPONSE: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: netloom.1\r\n\r\n";

/// A frame with any first byte.
fn frame(first: u8, mask: Option<[u8; 4]>, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_frame(&mut bytes, Opcode::Binary, mask, payload);
    if let Some(byte) = bytes.first_mut() {
        *byte = first;
    }
    bytes
}

/// Whole messages, one in parts with a ping between them, and a goodbye.
fn conversation(mask: Option<[u8; 4]>) -> Vec<u8> {
    [
        frame(0x82, mask, b"whole"),
        frame(0x82, mask, &[7; 300]),
        frame(0x02, mask, b"in "),
        frame(0x89, mask, b"ping"),
        frame(0x00, mask, b""),
        frame(0x80, mask, b"parts"),
        frame(0x8a, mask, b"pong"),
        frame(0x88, mask, b"\x03\xe8bye"),
    ]
    .concat()
}

pub fn seeds() -> Vec<Seed> {
    // The role, the longest message (little-endian) and the length of the pieces.
    let frames = |name, role: u8, piece: u8, stream: &[u8]| {
        seed(TARGET, name, &[&[0, role, 0xb0, 0x04, piece], stream])
    };
    vec![
        frames("to_a_server", 0, 6, &conversation(Some(MASK))),
        frames("to_a_client", 1, 0, &conversation(None)),
        frames("text", 0, 255, &frame(0x81, Some(MASK), b"text")),
        frames("huge", 0, 255, &[0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4]),
        seed(TARGET, "request", &[&[1, 1, 2, 20], REQUEST]),
        seed(TARGET, "page", &[&[1, 1, 0, 255], b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"]),
        seed(TARGET, "garbage", &[&[1, 0, 1, 255], b"\x16\x03\x01\x02\x00 not \r\n\r\n"]),
        seed(TARGET, "response", &[&[2, 9], RESPONSE]),
        seed(TARGET, "refusal", &[&[2, 255], b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"]),
    ]
}
