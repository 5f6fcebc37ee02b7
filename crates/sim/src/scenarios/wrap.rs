//! A session so long that every truncated number on the wire starts again from zero.

use netloom_proto::{Config, pacing::RateConfig};
use netloom_wire::Micros;

use super::pair::{Pair, Plan};
use crate::check::{STAMP_BYTES, Violation};
use crate::network::{LinkConfig, Loss};
use crate::report::Report;
use crate::runner::{Failure, Scenario};
use crate::world::Flow;

/// Packet numbers and message ids are truncated to this many values on the wire.
const WRAP: u64 = 1 << 16;
/// A tick of a millisecond makes a packet per millisecond, so that a wrap takes a virtual minute.
const TICK: Micros = Micros::from_millis(1);

/// Past the wrap of packet numbers and of every channel's message ids.
pub struct Wrap;

impl Scenario for Wrap {
    fn name(&self) -> &'static str {
        "wrap"
    }

    fn about(&self) -> &'static str {
        "more than 65,536 packets and messages per channel in one session, over a network that loses and reorders"
    }

    fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure> {
        let messages = WRAP + 4_000;
        let flows: Vec<_> = (1..=4).map(|channel| Flow::every_tick(channel, STAMP_BYTES)).collect();
        let rate = RateConfig {
            bytes_per_second_max: 4 << 20,
            bytes_per_second_initial: 1 << 20,
            ..RateConfig::default()
        };
        let plan = Plan {
            config: Config { rate, ..Config::default() },
            link: LinkConfig {
                loss: Loss::Uniform(0.01),
                latency: Micros::from_millis(10),
                jitter: Micros::from_millis(3),
                duplicate: 0.01,
                corrupt: 0.001,
                ..LinkConfig::default()
            },
            traffic: Micros(messages * TICK.0),
            ..Plan::new(flows)
        };
        let mut pair = Pair::connect(seed, plan)?;
        pair.world.set_tick(TICK);
        pair.finish(report)?;
        for stream in pair.world.ledger().streams() {
            let fewest = stream.channels()[1..].iter().map(|channel| channel.sent()).min().unwrap_or(0);
            if u64::from(fewest) <= WRAP {
                let violation = Violation::new(
                    "the run reaches the wrap",
                    format!("only {fewest} messages on a channel"),
                );
                return Err(pair.world.failure(violation));
            }
        }
        Ok(())
    }
}
