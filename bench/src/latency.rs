//! How long does a reliable message take when the network loses one datagram in twenty, and what does that cost?
//!
//! A reliable-ordered stream waits for its oldest missing message. The median shows the network; the 99th percentile
//! shows how soon a library notices a loss and mends it; the bytes show how much it pays for that.
//!
//! ```text
//!   game     |--tick--|--tick--|--tick--|   60 Hz: hands over one 64-byte message
//!   sender   ||||||||||||||||||||||||||||   1 kHz, and with every message: receives, sends what is due
//!                \        \        x        50 ms each way, 5 % of the datagrams lost, both ways
//!   receiver ||||||||||||||||||||||||||||   1 kHz: receives, delivers, answers
//!
//!   |- connect -|- 2 s warm-up -|------- 60 s measured -------|- until all of them have arrived -|
//! ```
//!
//! Both sides have a network loop that does not wait for the game: a server that looks at its socket only once a tick
//! learns of every loss half a tick late, whatever the library.
//!
//! Time is virtual: a run takes milliseconds and repeats exactly. Each library runs once per seed, and the latencies of
//! all runs are judged together, because a single run holds only some 180 losses and its 99th percentile wanders.

use crate::error::BenchError;
use crate::link::Link;
use crate::measure::percentile;
use crate::peers::{ReliablePipe, Wire};
use netloom_wire::Micros;

/// The size of every message.
pub const MESSAGE_BYTES: usize = 64;
/// One-way delay of the network.
pub const DELAY: Micros = Micros::from_millis(50);
/// Share of datagrams lost, each way.
pub const LOSS: f64 = 0.05;
/// The sender has a new message this often.
pub const MESSAGE_HZ: u64 = 60;
/// The measured part of a run.
pub const MEASURED: Micros = Micros::from_secs(60);
/// A run per seed. Five still let a 99th percentile wander by a sixth.
pub const SEEDS: std::ops::RangeInclusive<u64> = 1..=20;

const WARM_UP: Micros = Micros::from_secs(2);
/// How often each side looks at its socket and its timers.
const POLL_PERIOD: Micros = Micros::from_millis(1);
/// Libraries treat time zero as "never"; no real clock starts there.
pub const START: Micros = Micros::from_secs(10);
/// With 5 % loss a handshake or a resend that has not made it in this time never will.
const PATIENCE: Micros = Micros::from_secs(30);

/// The figures of one library.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// Median time from the send call to delivery.
    pub p50_ms: f64,
    /// 99th percentile of the same.
    pub p99_ms: f64,
    /// Datagram payload bytes sent by the sender per byte of message.
    pub bytes_ratio: f64,
}

/// Runs the workload once per seed over pipes from `open` and judges all messages together.
pub fn measure<P: ReliablePipe>(
    mut open: impl FnMut() -> Result<P, BenchError>,
) -> Result<Latency, BenchError> {
    let mut latencies_ms = Vec::new();
    let mut sent_bytes = 0;
    for seed in SEEDS {
        let mut run = Run::new(open()?, seed);
        sent_bytes += run.execute(&mut latencies_ms)?;
    }
    let message_bytes = latencies_ms.len() * MESSAGE_BYTES;
    Ok(Latency {
        p50_ms: percentile(&mut latencies_ms, 50.0).unwrap_or(f64::NAN),
        p99_ms: percentile(&mut latencies_ms, 99.0).unwrap_or(f64::NAN),
        bytes_ratio: sent_bytes as f64 / message_bytes as f64,
    })
}

/// One run: the pipe, the network and the two schedules.
struct Run<P> {
    pipe: P,
    wire: Wire,
    /// Of the game, at the sender.
    ticks: u64,
    next_poll: Micros,
    next_to_send: u64,
    next_expected: u64,
}

impl<P: ReliablePipe> Run<P> {
    fn new(pipe: P, seed: u64) -> Run<P> {
        // The two directions must not lose the same datagrams.
        let wire = Wire {
            to_receiver: Link::new(DELAY, LOSS, seed),
            to_sender: Link::new(DELAY, LOSS, seed ^ 0xC0FF_EE00_0000_0000),
        };
        Run { pipe, wire, ticks: 0, next_poll: START, next_to_send: 0, next_expected: 0 }
    }

    /// Appends the latency of every message sent in the measured part and returns the bytes sent in it.
    fn execute(&mut self, latencies_ms: &mut Vec<f64>) -> Result<u64, BenchError> {
        let give_up = self.tick_at() + PATIENCE;
        while !self.pipe.connected() {
            if self.tick_at() > give_up {
                return Err(BenchError::NeverConnected { library: self.pipe.library() });
            }
            self.tick(false, &mut |_| {})?;
        }

        let mut ignore = |_: Delivery| {};
        let warm = self.tick_at() + WARM_UP;
        while self.tick_at() < warm {
            self.tick(true, &mut ignore)?;
        }

        let first_measured = self.next_to_send;
        let mut keep = |delivery: Delivery| {
            if delivery.index >= first_measured {
                latencies_ms.push(delivery.latency.as_millis_f64());
            }
        };
        let bytes_before = self.wire.to_receiver.sent_bytes();
        let measured = self.tick_at() + MEASURED;
        while self.tick_at() < measured {
            self.tick(true, &mut keep)?;
        }
        let sent_bytes = self.wire.to_receiver.sent_bytes() - bytes_before;

        // Messages go on while the last measured ones arrive: a stream that ends is another workload (a lost tail has no
        // successor that reveals it).
        let behind_last = self.next_to_send;
        let mut keep_until_last = |delivery: Delivery| {
            if delivery.index < behind_last {
                keep(delivery);
            }
        };
        let give_up = self.tick_at() + PATIENCE;
        while self.next_expected < behind_last {
            if self.tick_at() > give_up {
                return Err(BenchError::NeverDelivered {
                    library: self.pipe.library(),
                    index: self.next_expected,
                });
            }
            self.tick(true, &mut keep_until_last)?;
        }
        Ok(sent_bytes)
    }

    fn tick_at(&self) -> Micros {
        START + Micros(self.ticks * 1_000_000 / MESSAGE_HZ)
    }

    /// A tick of the game and all polls up to the next one.
    fn tick(&mut self, send: bool, keep: &mut dyn FnMut(Delivery)) -> Result<(), BenchError> {
        let now = self.tick_at();
        let message = send.then(|| encode(self.next_to_send, now));
        self.pipe.drive_sender(now, message.as_ref().map(|bytes| &bytes[..]), &mut self.wire)?;
        self.next_to_send += u64::from(send);
        self.ticks += 1;
        while self.next_poll < self.tick_at() {
            self.poll_receiver(keep)?;
            self.pipe.drive_sender(self.next_poll, None, &mut self.wire)?;
            self.next_poll += POLL_PERIOD;
        }
        Ok(())
    }

    fn poll_receiver(&mut self, keep: &mut dyn FnMut(Delivery)) -> Result<(), BenchError> {
        let now = self.next_poll;
        let library = self.pipe.library();
        let (mut fault, expected) = (None, &mut self.next_expected);
        self.pipe.poll_receiver(now, &mut self.wire, &mut |message| match decode(message) {
            Some((index, sent_at)) if index == *expected => {
                *expected += 1;
                keep(Delivery { index, latency: now.since(sent_at) });
            }
            _ => fault = Some(BenchError::WrongDelivery { library, expected: *expected }),
        })?;
        fault.map_or(Ok(()), Err)
    }
}

struct Delivery {
    index: u64,
    latency: Micros,
}

/// A message tells which one it is and when it was sent; the rest is filled with something that changes.
fn encode(index: u64, sent_at: Micros) -> [u8; MESSAGE_BYTES] {
    let mut message = [index as u8; MESSAGE_BYTES];
    message[..8].copy_from_slice(&index.to_le_bytes());
    message[8..16].copy_from_slice(&sent_at.0.to_le_bytes());
    message
}

/// `None` if the bytes are not what `encode` made.
fn decode(message: &[u8]) -> Option<(u64, Micros)> {
    let index = u64::from_le_bytes(message.get(..8)?.try_into().ok()?);
    let sent_at = Micros(u64::from_le_bytes(message.get(8..16)?.try_into().ok()?));
    (message == encode(index, sent_at)).then_some((index, sent_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends the last eight messages in every datagram; the receiver takes those it has not seen.
    #[derive(Default)]
    struct Repeating {
        recent: Vec<Vec<u8>>,
        delivered: u64,
        swap_at: Option<u64>,
    }

    impl ReliablePipe for Repeating {
        fn library(&self) -> &'static str {
            "repeating"
        }
        fn connected(&self) -> bool {
            true
        }
        fn drive_sender(
            &mut self,
            now: Micros,
            message: Option<&[u8]>,
            wire: &mut Wire,
        ) -> Result<(), BenchError> {
            self.recent.extend(message.map(<[u8]>::to_vec));
            let old = self.recent.len().saturating_sub(8);
            self.recent.drain(..old);
            if message.is_some() {
                wire.to_receiver.send(now, &self.recent.concat());
            }
            Ok(())
        }
        fn poll_receiver(
            &mut self,
            now: Micros,
            wire: &mut Wire,
            deliver: &mut dyn FnMut(&[u8]),
        ) -> Result<(), BenchError> {
            while wire.to_receiver.receive(now, |datagram| {
                for message in datagram.chunks(MESSAGE_BYTES) {
                    let index = u64::from_le_bytes(message[..8].try_into().expect("eight bytes"));
                    let wanted = self.delivered + u64::from(self.swap_at == Some(self.delivered));
                    if index == wanted {
                        self.delivered += 1;
                        deliver(message);
                    }
                }
            }) {}
            Ok(())
        }
    }

    #[test]
    fn a_pipe_that_repeats_has_the_latency_and_the_bytes_that_follow_from_its_design() {
        let latency = measure(|| Ok(Repeating::default())).expect("it delivers");
        // The floor is 50 ms rounded up to the receiver's next millisecond; one loss costs one tick more, two in a row
        // (0.25 %) two ticks.
        assert!((50.0..51.0).contains(&latency.p50_ms), "{latency:?}");
        assert!((66.0..69.0).contains(&latency.p99_ms), "{latency:?}");
        assert!((latency.bytes_ratio - 8.0).abs() < 0.01, "{latency:?}");
    }

    #[test]
    fn a_run_repeats_exactly() {
        assert_eq!(measure(|| Ok(Repeating::default())), measure(|| Ok(Repeating::default())));
    }

    #[test]
    fn a_pipe_that_breaks_the_order_is_an_error_and_not_a_figure() {
        let swapped = measure(|| Ok(Repeating { swap_at: Some(500), ..Repeating::default() }));
        assert_eq!(swapped, Err(BenchError::WrongDelivery { library: "repeating", expected: 500 }));
    }

    #[test]
    fn a_changed_message_is_not_accepted() {
        let mut message = encode(5, Micros(77));
        assert_eq!(decode(&message), Some((5, Micros(77))));
        message[40] ^= 1;
        assert_eq!(decode(&message), None);
        assert_eq!(decode(&message[..10]), None);
    }
}
