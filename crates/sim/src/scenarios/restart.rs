//! The server's process dies in the middle of a session and starts again with the same configuration.

use netloom_proto::Config;
use netloom_wire::Micros;

use super::pair::{Pair, Plan, SERVER};
use crate::check::Violation;
use crate::fault::{Fault, Schedule};
use crate::network::{LinkConfig, Loss};
use crate::report::Report;
use crate::rng::Rng;
use crate::runner::{Failure, Scenario};
use crate::world::game;

/// The server restarts twice.
pub struct Restart;

impl Scenario for Restart {
    fn name(&self) -> &'static str {
        "restart"
    }

    fn about(&self) -> &'static str {
        "the server restarts mid-session with the same configuration; the client comes back, and no key repeats"
    }

    fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure> {
        let mut rng = Rng::new(seed).fork("restart");
        let first = Micros(rng.between(2_000_000, 5_000_000));
        let second = first + Micros(rng.between(100_000, 6_000_000));
        let plan = Plan {
            config: Config {
                peer_timeout: Micros::from_secs(2),
                keepalive: Micros::from_millis(500),
                ..Config::default()
            },
            link: LinkConfig {
                loss: Loss::Uniform(0.02),
                latency: Micros::from_millis(30),
                jitter: Micros::from_millis(10),
                duplicate: 0.02,
                ..LinkConfig::default()
            },
            faults: Schedule::new()
                .at(first, Fault::Restart { node: SERVER })
                .at(second, Fault::Restart { node: SERVER }),
            reconnects: true,
            ..Plan::new(game())
        };
        let mut pair = Pair::connect(seed, plan)?;
        pair.finish(report)?;
        let client = pair.client;
        let sessions = pair.world.ledger().connections().iter();
        let sessions = sessions
            .filter(|connection| connection.node == client && connection.connected_at.is_some())
            .count();
        if sessions < 2 {
            let violation =
                Violation::new("the client comes back", format!("{sessions} sessions over two restarts"));
            return Err(pair.world.failure(violation));
        }
        Ok(())
    }
}
