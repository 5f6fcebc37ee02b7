//! What the simulated application sends.

use crate::rng::Rng;

/// Messages of one kind, tried once per tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// The channel.
    pub channel: u8,
    /// The probability that a message is sent in a tick.
    pub chance: f64,
    /// The smallest message.
    pub bytes_min: usize,
    /// The largest message.
    pub bytes_max: usize,
    /// Whether the sender asks what became of it: only of unreliable messages that fit one packet.
    pub is_tagged: bool,
    /// Whether to go on within the tick until the channel is full.
    pub is_greedy: bool,
}

impl Flow {
    /// One message of this size in every tick.
    pub fn every_tick(channel: u8, bytes: usize) -> Flow {
        Flow { channel, chance: 1.0, bytes_min: bytes, bytes_max: bytes, is_tagged: false, is_greedy: false }
    }

    /// Messages between two sizes, now and then.
    pub fn sometimes(channel: u8, chance: f64, bytes_min: usize, bytes_max: usize) -> Flow {
        Flow { chance, bytes_min, bytes_max, ..Flow::every_tick(channel, 0) }
    }

    /// The same, with outcomes asked for.
    pub fn tagged(self) -> Flow {
        Flow { is_tagged: true, ..self }
    }

    /// As much as the channel takes.
    pub fn greedy(channel: u8, bytes: usize) -> Flow {
        Flow { is_greedy: true, ..Flow::every_tick(channel, bytes) }
    }

    /// The size of the next message, if there is one in this tick.
    pub(super) fn draw(&self, rng: &mut Rng) -> Option<usize> {
        let is_due = rng.chance(self.chance);
        let bytes = rng.between(self.bytes_min as u64, self.bytes_max as u64) as usize;
        is_due.then_some(bytes)
    }
}

/// A game's traffic on the five default channels: inputs and positions every tick, events now and then, and now and then
/// something that takes many datagrams.
pub fn game() -> Vec<Flow> {
    vec![
        Flow::sometimes(0, 0.05, 21, 60),
        Flow::sometimes(1, 0.30, 21, 200),
        Flow::sometimes(2, 0.30, 21, 200),
        Flow::sometimes(3, 1.00, 40, 90).tagged(),
        Flow::sometimes(4, 1.00, 40, 90),
        Flow::sometimes(1, 0.01, 2_000, 12_000),
        Flow::sometimes(2, 0.01, 2_000, 12_000),
        Flow::sometimes(3, 0.01, 1_500, 3_500),
        Flow::sometimes(4, 0.01, 1_500, 3_500),
    ]
}
