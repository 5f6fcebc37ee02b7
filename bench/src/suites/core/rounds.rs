//! Exchanges of one packet each way, with an account of what they delivered.

use crate::error::BenchError;
use crate::peers::PacketRound;
use std::hint::black_box;

/// A small snapshot or a handful of inputs.
pub const PAYLOAD_BYTES: usize = 300;

/// Runs exchanges and counts: a round that lost its message would be the fastest of all.
pub struct Rounds<P> {
    pair: P,
    payload: [u8; PAYLOAD_BYTES],
    sent: u64,
    delivered: u64,
    failure: Option<BenchError>,
}

impl<P: PacketRound> Rounds<P> {
    /// Rounds between the two sides of `pair`.
    pub fn new(pair: P) -> Rounds<P> {
        let payload = std::array::from_fn(|index| (index * 7) as u8);
        Rounds { pair, payload, sent: 0, delivered: 0, failure: None }
    }

    /// Moves `packets` packets, half of them each way.
    pub fn run(&mut self, packets: u32) {
        for _ in 0..packets / 2 {
            self.sent += 2 * PAYLOAD_BYTES as u64;
            match self.pair.exchange(black_box(&self.payload)) {
                Ok(delivered) => self.delivered += delivered as u64,
                Err(error) => self.failure = Some(error),
            }
        }
    }

    /// An error unless every byte arrived.
    pub fn verdict(self) -> Result<(), BenchError> {
        let Rounds { sent, delivered, .. } = self;
        match self.failure {
            Some(error) => Err(error),
            None if delivered == sent => Ok(()),
            None => Err(BenchError::ShortRound { library: self.pair.library(), sent, delivered }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::START;
    use crate::peers::enet::EnetPair;
    use crate::peers::ours::NetloomPair;
    use crate::peers::renet::RenetPair;
    use netloom_proto::{Redundancy, Security};

    /// Long enough for ENet's pings and renet's discarding of old packets to take their turn.
    const PACKETS: u32 = 2_000;

    #[test]
    fn every_library_delivers_every_payload_of_its_rounds() {
        let mut renet = Rounds::new(RenetPair::new(START));
        renet.run(PACKETS);
        assert_eq!(renet.verdict(), Ok(()));
        let mut enet = Rounds::new(EnetPair::established(START).expect("connects"));
        enet.run(PACKETS);
        assert_eq!(enet.verdict(), Ok(()));
        let pair = NetloomPair::established(START, Security::Off, Redundancy::Off).expect("connects");
        let mut ours = Rounds::new(pair);
        ours.run(PACKETS);
        assert_eq!(ours.verdict(), Ok(()));
    }

    #[test]
    fn a_round_that_loses_its_message_has_no_figure() {
        struct Losing;
        impl PacketRound for Losing {
            fn library(&self) -> &'static str {
                "losing"
            }
            fn exchange(&mut self, payload: &[u8]) -> Result<usize, BenchError> {
                Ok(payload.len())
            }
        }
        let mut losing = Rounds::new(Losing);
        losing.run(2);
        assert_eq!(
            losing.verdict(),
            Err(BenchError::ShortRound { library: "losing", sent: 600, delivered: 300 })
        );
    }
}
