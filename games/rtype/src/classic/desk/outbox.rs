//! Datagrams that wait to be sent, one after the other in one piece of memory that is used again and again.

use std::net::SocketAddr;

use netloom::wire::WriteError;

use crate::classic::codec::{DATAGRAM_BYTES_MAX, ToClient};

/// What may wait: a second of 64 clients in a busy level would be more than any socket takes at once.
const BYTES_MAX: usize = 1 << 20;

struct Waiting {
    to: SocketAddr,
    end: usize,
}

#[derive(Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    waiting: Vec<Waiting>,
    /// How many of them are gone, and where the next begins.
    sent: usize,
    start: usize,
    dropped: u64,
}

impl Outbox {
    pub fn new() -> Outbox {
        Outbox::default()
    }

    pub fn push(&mut self, to: SocketAddr, message: &ToClient) {
        self.write(to, |out| message.encode(out));
    }

    /// Adds what `encode` writes; nothing if that fails or there is no room.
    pub fn write(&mut self, to: SocketAddr, encode: impl FnOnce(&mut [u8]) -> Result<usize, WriteError>) {
        let start = self.bytes.len();
        if start + DATAGRAM_BYTES_MAX > BYTES_MAX {
            self.dropped += 1;
            return;
        }
        self.bytes.resize(start + DATAGRAM_BYTES_MAX, 0);
        let written = encode(self.bytes.get_mut(start..).unwrap_or_default());
        let end = start + written.unwrap_or_default();
        self.bytes.truncate(end);
        match written {
            Ok(_) => self.waiting.push(Waiting { to, end }),
            Err(error) => {
                tracing::debug!(%error, "a classic message cannot be written");
                self.dropped += 1;
            }
        }
    }

    pub fn pop(&mut self, out: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let Some(next) = self.waiting.get(self.sent) else {
            self.bytes.clear();
            self.waiting.clear();
            (self.sent, self.start) = (0, 0);
            return None;
        };
        let datagram = self.bytes.get(self.start..next.end)?;
        out.get_mut(..datagram.len())?.copy_from_slice(datagram);
        let popped = (next.to, datagram.len());
        self.start = next.end;
        self.sent += 1;
        Some(popped)
    }

    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}
