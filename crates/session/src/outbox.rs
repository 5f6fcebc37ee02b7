//! Messages that wait for the connection.
//!
//! A game sends from within its callbacks, where no connection is at hand. What it sends waits here until the callback has
//! returned. A message to many is kept once.

use std::ops::Range;

use netloom_proto::PeerId;
use netloom_wire::MessageBuffer;

use crate::message::{MESSAGE_BYTES_MAX, ToClient};

/// Bytes that wait at most; more than any tick can send.
const WAITING_BYTES_MAX: usize = 4 << 20;

/// One message to one peer.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub peer: PeerId,
    pub channel: u8,
    range: Range<usize>,
}

/// Messages that wait.
#[derive(Debug)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    waiting: Vec<Waiting>,
    scratch: MessageBuffer,
}

impl Default for Outbox {
    fn default() -> Outbox {
        Outbox { bytes: Vec::new(), waiting: Vec::new(), scratch: MessageBuffer::new(MESSAGE_BYTES_MAX) }
    }
}

impl Outbox {
    /// Puts a message in for some peers.
    pub fn push(&mut self, peers: impl IntoIterator<Item = PeerId>, channel: u8, message: &ToClient<'_>) {
        let bytes = message.write(&mut self.scratch);
        if self.bytes.len() + bytes.len() > WAITING_BYTES_MAX {
            tracing::warn!(bytes = self.bytes.len(), "a game sends more than can wait: a message is dropped");
            return;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let range = start..self.bytes.len();
        self.waiting.extend(peers.into_iter().map(|peer| Waiting { peer, channel, range: range.clone() }));
    }

    /// Puts a message in ahead of everything that waits.
    pub fn push_first(&mut self, peer: PeerId, channel: u8, message: &ToClient<'_>) {
        let before = self.waiting.len();
        self.push([peer], channel, message);
        let added = self.waiting.len() - before;
        self.waiting.rotate_right(added);
    }

    /// Everything that waits, in the order in which it was put in.
    pub fn iter(&self) -> impl Iterator<Item = (&Waiting, &[u8])> {
        self.waiting.iter().map(|waiting| (waiting, &self.bytes[waiting.range.clone()]))
    }

    /// Forgets what waits.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.waiting.clear();
    }
}
