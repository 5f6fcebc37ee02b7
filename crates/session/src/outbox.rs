//! Messages that wait for the connection.
//!
//! # The problem
//!
//! A game sends from within its callbacks, where no connection is at hand. What it sends waits until the callback has
//! returned; a message to many is kept once. Then a connection may have no room for it, because its player reads too
//! slowly. A message that should arrive and is dropped leaves a client that believes something else than the server, for ever.
//!
//! # The mechanism
//!
//! ```text
//!   push ─▶ ▢▢▢▢▢▢ ─▶ connection has room ─▶ gone
//!            ▲          └ none: stays, and with it all that is behind it for that player and channel
//!            └──────────────────┘   counts as the player's queue: too long for too long is SlowConsumer
//! ```
//!
//! Memory has an end: of [`BACKLOG_BYTES_MAX`] for one player, and of [`FRESH_BYTES_MAX`] between two deliveries. Whoever
//! misses a message by that is [reported](Outbox::is_overflown), and let go with the same reason. Messages on the
//! channel that may lose them are dropped instead.

use std::collections::BTreeMap;
use std::ops::Range;

use netloom_proto::PeerId;
use netloom_wire::MessageBuffer;

use crate::channel::UNRELIABLE;
use crate::message::{MESSAGE_BYTES_MAX, ToClient};

/// Bytes that are put in between two deliveries; more than any tick can send.
const FRESH_BYTES_MAX: usize = 4 << 20;
/// Bytes that wait for one player beside those in the connection itself.
const BACKLOG_BYTES_MAX: usize = 1 << 20;

/// One message to one peer.
#[derive(Clone, Debug)]
struct Waiting {
    peer: PeerId,
    channel: u8,
    range: Range<usize>,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handed {
    /// The connection has it.
    Taken,
    /// The connection has no room for it now.
    NoRoom,
    /// There is no such connection.
    Nowhere,
}

/// Messages that wait.
#[derive(Debug)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    waiting: Vec<Waiting>,
    scratch: MessageBuffer,
    /// Of the bytes, those that were left by the last delivery.
    kept_bytes: usize,
    /// Bytes that were left for each peer.
    backlogs: Vec<(PeerId, usize)>,
    overflown: Vec<PeerId>,
}

impl Default for Outbox {
    fn default() -> Outbox {
        Outbox {
            bytes: Vec::new(),
            waiting: Vec::new(),
            scratch: MessageBuffer::new(MESSAGE_BYTES_MAX),
            kept_bytes: 0,
            backlogs: Vec::new(),
            overflown: Vec::new(),
        }
    }
}

impl Outbox {
    /// Puts a message in for some peers.
    pub fn push(&mut self, peers: impl IntoIterator<Item = PeerId>, channel: u8, message: &ToClient<'_>) {
        let bytes = message.write(&mut self.scratch);
        let start = self.bytes.len();
        if start - self.kept_bytes + bytes.len() > FRESH_BYTES_MAX {
            tracing::warn!(channel, "a game sends more than can wait: whoever misses it is let go");
            if channel != UNRELIABLE {
                peers.into_iter().for_each(|peer| note_once(&mut self.overflown, peer));
            }
            return;
        }
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

    /// Hands everything over in the order in which it was put in. What finds no room stays; how many were dropped.
    #[inline]
    pub fn deliver(&mut self, send: impl FnMut(PeerId, u8, &[u8]) -> Handed) -> u64 {
        self.backlogs.clear();
        if self.waiting.is_empty() {
            // Of messages for nobody.
            self.bytes.clear();
            self.kept_bytes = 0;
            return 0;
        }
        self.deliver_some(send)
    }

    #[inline(never)]
    fn deliver_some(&mut self, mut send: impl FnMut(PeerId, u8, &[u8]) -> Handed) -> u64 {
        let Outbox { bytes, waiting, backlogs, .. } = self;
        let mut dropped = 0;
        let mut blocked: Vec<(PeerId, u8)> = Vec::new();
        waiting.retain(|Waiting { peer, channel, range }| {
            let is_behind = blocked.contains(&(*peer, *channel));
            let handed =
                if is_behind { Handed::NoRoom } else { send(*peer, *channel, &bytes[range.clone()]) };
            if handed == Handed::NoRoom && *channel != UNRELIABLE {
                if !is_behind {
                    blocked.push((*peer, *channel));
                }
                match backlogs.iter_mut().find(|(of, _)| of == peer) {
                    Some((_, sum)) => *sum += range.len(),
                    None => backlogs.push((*peer, range.len())),
                }
                return true;
            }
            dropped += u64::from(handed != Handed::Taken);
            false
        });
        if self.waiting.is_empty() {
            self.bytes.clear();
        } else {
            dropped += self.give_up();
            self.compact();
        }
        self.kept_bytes = self.bytes.len();
        dropped
    }

    /// Forgets what waits for those for whom too much does; how many messages that are.
    fn give_up(&mut self) -> u64 {
        let Outbox { waiting, backlogs, overflown, .. } = self;
        let over =
            |peer: &PeerId| backlogs.iter().any(|(of, bytes)| of == peer && *bytes > BACKLOG_BYTES_MAX);
        let before = waiting.len();
        waiting.retain(|message| !over(&message.peer));
        let dropped = before - waiting.len();
        let over_now = backlogs.iter().map(|(peer, _)| *peer).filter(over);
        over_now.for_each(|peer| note_once(overflown, peer));
        dropped as u64
    }

    /// Moves what is left together. Messages to many still share their bytes.
    fn compact(&mut self) {
        let mut moved: BTreeMap<usize, usize> = BTreeMap::new();
        let mut bytes = Vec::new();
        for message in &mut self.waiting {
            let start = *moved.entry(message.range.start).or_insert_with(|| {
                bytes.extend_from_slice(&self.bytes[message.range.clone()]);
                bytes.len() - message.range.len()
            });
            message.range = start..start + message.range.len();
        }
        self.bytes = bytes;
    }

    /// Bytes that the last delivery left for a peer.
    pub fn backlog_bytes(&self, peer: PeerId) -> usize {
        self.backlogs.iter().find(|(of, _)| *of == peer).map_or(0, |(_, bytes)| *bytes)
    }

    /// Whether a peer has missed a message that should arrive.
    pub fn is_overflown(&self, peer: PeerId) -> bool {
        self.overflown.contains(&peer)
    }

    /// Whoever has missed something was told of.
    pub fn forget_overflown(&mut self) {
        self.overflown.clear();
    }
}

fn note_once(peers: &mut Vec<PeerId>, peer: PeerId) {
    if !peers.contains(&peer) {
        peers.push(peer);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use netloom_proto::{Config, Endpoint};
    use netloom_wire::Micros;
    use proptest::prelude::*;

    use super::*;
    use crate::channel::{CONTROL, ORDERED};

    /// Only an endpoint gives names of peers.
    static PEERS: LazyLock<[PeerId; 4]> = LazyLock::new(|| {
        let mut endpoint = Endpoint::new(Config::default(), None, [1; 32]).unwrap();
        [1, 2, 3, 4].map(|port| endpoint.connect(Micros::ZERO, ([127, 0, 0, 1], port).into(), None).unwrap())
    });

    fn peer(index: usize) -> PeerId {
        PEERS[index]
    }

    fn call(bytes: &[u8]) -> ToClient<'_> {
        ToClient::Call(bytes)
    }

    #[test]
    fn what_finds_no_room_waits_in_order_and_everybody_else_gets_theirs() {
        let mut outbox = Outbox::default();
        outbox.push([peer(1), peer(2)], ORDERED, &call(b"first"));
        outbox.push([peer(1)], CONTROL, &call(b"control"));
        outbox.push([peer(1), peer(2)], ORDERED, &call(b"second"));
        let mut got = Vec::new();
        let dropped = outbox.deliver(|to, channel, message| {
            if to == peer(1) && channel == ORDERED && message.ends_with(b"first") {
                return Handed::NoRoom;
            }
            got.push((to.index(), message[1..].to_vec()));
            Handed::Taken
        });
        assert_eq!(got, [(2, b"first".to_vec()), (1, b"control".to_vec()), (2, b"second".to_vec())]);
        assert_eq!((dropped, outbox.backlog_bytes(peer(1)), outbox.backlog_bytes(peer(2))), (0, 13, 0));
        outbox.push([peer(1)], ORDERED, &call(b"third"));
        got.clear();
        outbox.deliver(|to, _, message| {
            got.push((to.index(), message[1..].to_vec()));
            Handed::Taken
        });
        assert_eq!(got, [(1, b"first".to_vec()), (1, b"second".to_vec()), (1, b"third".to_vec())]);
        assert_eq!((outbox.bytes.len(), outbox.backlog_bytes(peer(1))), (0, 0));
    }

    #[test]
    fn only_messages_that_may_be_lost_are_dropped_quietly() {
        let mut outbox = Outbox::default();
        outbox.push([peer(1)], UNRELIABLE, &call(b"late"));
        outbox.push([peer(2)], ORDERED, &call(b"to nobody"));
        let send = |to: PeerId, _: u8, _: &[u8]| if to == peer(2) { Handed::Nowhere } else { Handed::NoRoom };
        assert_eq!(outbox.deliver(send), 2);
        assert!(outbox.waiting.is_empty() && outbox.overflown.is_empty());
    }

    #[test]
    fn whoever_misses_a_message_is_reported_once_and_others_are_not() {
        let mut outbox = Outbox::default();
        let large = vec![7; 16 << 10];
        let mut ticks = 0;
        while !outbox.is_overflown(peer(1)) {
            outbox.push([peer(1), peer(2)], ORDERED, &call(&large));
            outbox.deliver(|to, _, _| if to == peer(1) { Handed::NoRoom } else { Handed::Taken });
            ticks += 1;
        }
        assert_eq!(ticks, BACKLOG_BYTES_MAX / large.len());
        assert!(outbox.bytes.is_empty() && !outbox.is_overflown(peer(2)));
        outbox.forget_overflown();
        for _ in 0..=FRESH_BYTES_MAX / large.len() {
            outbox.push([peer(2)], ORDERED, &call(&large));
        }
        assert!(outbox.bytes.len() <= FRESH_BYTES_MAX);
        assert_eq!(outbox.overflown, [peer(2)]);
    }

    /// Numbers by recipient and channel.
    type Lists = BTreeMap<(usize, u8), Vec<u32>>;

    fn note(lists: &mut Lists, to: PeerId, channel: u8, message: &[u8]) -> Handed {
        let number = u32::from_le_bytes(message[1..].try_into().unwrap());
        lists.entry((to.index(), channel)).or_default().push(number);
        Handed::Taken
    }

    proptest! {
        #[test]
        fn every_message_arrives_once_and_in_order_whatever_has_room_when(
            ticks in prop::collection::vec((prop::collection::vec((0usize..3, 0u8..3), 0..6), 0u16..512), 1..40),
        ) {
            let mut outbox = Outbox::default();
            let (mut number, mut expected, mut got) = (0u32, Lists::new(), Lists::new());
            for (pushed, mut room) in ticks {
                for (to, channel) in pushed {
                    number += 1;
                    outbox.push([peer(to), peer(3)], channel, &call(&number.to_le_bytes()));
                    for to in [to, 3] {
                        expected.entry((to, channel)).or_default().push(number);
                    }
                }
                outbox.deliver(|to, channel, message| {
                    room = room.rotate_left(1);
                    if room & 1 == 0 { Handed::NoRoom } else { note(&mut got, to, channel, message) }
                });
            }
            outbox.deliver(|to, channel, message| note(&mut got, to, channel, message));
            prop_assert_eq!(got, expected);
        }
    }
}
