//! Heap allocations of two connected sides that do nothing unusual.

use crate::error::BenchError;
use crate::peers::ours::NetloomPair;
use netloom_count::allocations;

/// Ticks until every buffer and queue has grown to what the traffic needs, timers of many seconds included.
const WARM_UP_TICKS: u32 = 1_200;
/// Ticks in which nothing may be allocated: a minute at 60 Hz.
const STEADY_TICKS: u32 = 3_600;
const PAYLOAD: [u8; 64] = [0x5A; 64];
/// Five channels, both ways.
const MESSAGES_PER_TICK: u64 = 10;

/// Allocations by both sides together over a minute of traffic on all channels, after a warm-up.
pub fn allocations_per_minute(mut pair: NetloomPair) -> Result<u64, BenchError> {
    let mut delivered = 0;
    for _ in 0..WARM_UP_TICKS {
        pair.exchange_on_all_channels(&PAYLOAD)?;
    }
    let before = allocations();
    for _ in 0..STEADY_TICKS {
        delivered += pair.exchange_on_all_channels(&PAYLOAD)? as u64;
    }
    let allocated = allocations() - before;
    let sent = u64::from(STEADY_TICKS) * MESSAGES_PER_TICK * PAYLOAD.len() as u64;
    match delivered == sent {
        true => Ok(allocated),
        false => Err(BenchError::ShortRound { library: "netloom", sent, delivered }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::START;
    use netloom_proto::{Redundancy, Security};

    #[test]
    fn two_connected_sides_allocate_nothing_sealed_or_plain_with_every_redundancy() {
        for security in [Security::Required, Security::Off] {
            for redundancy in [Redundancy::Off, Redundancy::Copy, Redundancy::Parity] {
                let pair = NetloomPair::established(START, security, redundancy).expect("connects");
                assert_eq!(allocations_per_minute(pair), Ok(0), "{security:?} {redundancy:?}");
            }
        }
    }
}
