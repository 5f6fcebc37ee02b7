//! What a library has to do to be measured.

use crate::compare::{ErrorBound, State};
use crate::{Walk, monotonic_ns};
use std::time::Duration;

/// Length of a reliable message.
pub const RELIABLE_BYTES: usize = 64;
/// Length of an unreliable one.
pub const UNRELIABLE_BYTES: usize = 200;

/// Who is measured.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// The library.
    pub name: &'static str,
    /// What `--setting` may be; the first is the usual one.
    pub settings: &'static [&'static str],
    /// Whether it can send messages; a library of replication alone, or of nothing, need not.
    pub has_messages: bool,
}

/// The server's side.
pub trait Server {
    /// Clients that are connected and get the world.
    fn ready_count(&mut self) -> usize;

    /// The new state of the world, written into the library's own, if it has one. Timed apart.
    fn write(&mut self, _walk: &Walk) {}

    /// One tick of a world: receive, do what is due, and encode and send the world if this is a tick to do so. Timed.
    /// Libraries that decide themselves when to send were told the rate by [`Options`](crate::Options).
    fn tick(&mut self, walk: &Walk, is_send_tick: bool);

    /// One tick of messages, without a world: each to every client. Timed.
    fn tick_messages(
        &mut self,
        _reliable: &[[u8; RELIABLE_BYTES]],
        _unreliable: Option<&[u8; UNRELIABLE_BYTES]>,
    ) {
    }
}

/// The side of all clients.
pub trait Clients {
    /// Receives, decodes, acknowledges, for every client. `elapsed` is the time between polls.
    fn poll(&mut self, elapsed: Duration);

    /// States of objects that were taken in so far, over all clients.
    fn updates(&self) -> u64;

    /// What a client holds of each object.
    fn read(&self, client: usize, into: &mut [Option<State>]);

    /// How far off it may be.
    fn error_bound(&self) -> ErrorBound {
        ErrorBound::default()
    }

    /// The messages so far, if there are any.
    fn heard(&self) -> Option<&Heard> {
        None
    }
}

/// The messages that clients got. A reliable one tells when it was sent, and its number:
///
/// ```text
///   u64 monotonic nanoseconds | u64 number, from 0 | 48 bytes of content
/// ```
#[derive(Clone, Debug, Default)]
pub struct Heard {
    latencies_ns: Vec<u64>,
    next_numbers: Vec<u64>,
    unreliable: u64,
    out_of_order: u64,
}

impl Heard {
    /// Nothing yet.
    pub fn new(clients: usize) -> Heard {
        Heard { next_numbers: vec![0; clients], ..Heard::default() }
    }

    /// A client got a reliable message.
    pub fn reliable(&mut self, client: usize, message: &[u8]) {
        let word = |at: usize| {
            message.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes)
        };
        let (Some(sent_ns), Some(number)) = (word(0), word(8)) else {
            self.out_of_order += 1;
            return;
        };
        self.out_of_order += u64::from(self.next_numbers[client] != number);
        self.next_numbers[client] = number + 1;
        self.latencies_ns.push(monotonic_ns().saturating_sub(sent_ns));
    }

    /// A client got an unreliable message.
    pub fn unreliable(&mut self) {
        self.unreliable += 1;
    }

    /// From sending to here, of each reliable message.
    pub(crate) fn latencies_ns(&self) -> &[u64] {
        &self.latencies_ns
    }

    pub(crate) fn unreliable_count(&self) -> u64 {
        self.unreliable
    }

    /// Reliable messages that were not the next.
    pub(crate) fn out_of_order_count(&self) -> u64 {
        self.out_of_order
    }
}

/// A reliable message, as [`Heard`] reads it.
pub(crate) fn reliable_message(number: u64) -> [u8; RELIABLE_BYTES] {
    let mut message = [number as u8; RELIABLE_BYTES];
    message[..8].copy_from_slice(&monotonic_ns().to_le_bytes());
    message[8..16].copy_from_slice(&number.to_le_bytes());
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_a_repetition_and_a_torso_are_noticed() {
        let mut heard = Heard::new(2);
        for number in [0, 1, 2] {
            heard.reliable(0, &reliable_message(number));
        }
        heard.reliable(1, &reliable_message(0));
        assert_eq!(heard.out_of_order_count(), 0);
        heard.reliable(1, &reliable_message(2));
        heard.reliable(1, &reliable_message(2));
        heard.reliable(1, &[0; 12]);
        assert_eq!(heard.out_of_order_count(), 3);
        assert_eq!(heard.latencies_ns().len(), 6);
    }
}
