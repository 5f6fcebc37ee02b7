//! A sender that always has more to send: it must fill its path and nothing but its path.

use netloom_proto::{Config, pacing::RateConfig};
use netloom_wire::Micros;

use super::pair::{CLIENT, Pair, Plan, SERVER};
use crate::check::Violation;
use crate::network::{Bandwidth, Buffer, HEADER_OVERHEAD_BYTES, LinkConfig};
use crate::report::{Report, quantile};
use crate::runner::{Failure, Scenario};
use crate::world::{Flow, Phase};

/// When a controller must have found its rate.
const SETTLED: Micros = Micros::from_secs(5);
const END: Micros = Micros::from_secs(30);

/// A narrow link with a deep buffer.
pub struct Bottleneck;

impl Scenario for Bottleneck {
    fn name(&self) -> &'static str {
        "bottleneck"
    }

    fn about(&self) -> &'static str {
        "1 Mbit/s with 500 ms of buffer: the queue stays under 60 ms (p95) and the link over 80 % used"
    }

    fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure> {
        const BYTES_PER_SECOND: u64 = 125_000;
        let buffer = Buffer::Time(Micros::from_millis(500));
        let bandwidth = Some(Bandwidth { bytes_per_second: BYTES_PER_SECOND, buffer });
        let link = LinkConfig { latency: Micros::from_millis(20), bandwidth, ..LinkConfig::default() };
        let mut pair = greedy(seed, link, RateConfig::default())?;
        pair.world.run_until(SETTLED)?;
        let before = wire_bytes(&pair);
        let mut delays_ms = Vec::new();
        while pair.world.now() < END {
            let next = pair.world.now() + Micros::from_millis(5);
            pair.world.run_until(next)?;
            delays_ms.push(pair.world.network().queue_delay(next, SERVER, CLIENT).as_millis_f64());
        }
        let seconds = END.since(SETTLED).as_secs_f64();
        let used = (wire_bytes(&pair) - before) as f64 / (BYTES_PER_SECOND as f64 * seconds);
        let delay_ms = quantile(&delays_ms, 0.95);
        report.add("queueing delay p50", "ms", quantile(&delays_ms, 0.5));
        report.add("queueing delay p95", "ms", delay_ms);
        report.add("link used", "%", 100.0 * used);
        let judge = |holds, rule, detail| {
            if holds { Ok(()) } else { Err(Violation::new(rule, detail)) }
        };
        let verdict =
            judge(delay_ms <= 60.0, "the queue stays short", format!("p95 is {delay_ms:.1} ms, allowed 60"))
                .and_then(|()| {
                    judge(used >= 0.8, "the link is used", format!("{:.1} %, asked 80", 100.0 * used))
                })
                .and_then(|()| stays_connected(&pair));
        verdict.map_err(|violation| pair.world.failure(violation))
    }
}

/// A wide link to the other side of the world.
pub struct Distant;

impl Scenario for Distant {
    fn name(&self) -> &'static str {
        "distant"
    }

    fn about(&self) -> &'static str {
        "180 ms of round trip without loss: the configured rate is reached and kept in every second"
    }

    fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure> {
        let rate = RateConfig::default();
        let configured = rate.bytes_per_second_max as f64;
        let link = LinkConfig { latency: Micros::from_millis(90), ..LinkConfig::default() };
        let mut pair = greedy(seed, link, rate)?;
        pair.world.run_until(SETTLED)?;
        let mut seconds = Vec::new();
        while pair.world.now() < END {
            let before = pair.world.network().link_counters(SERVER, CLIENT).sent_bytes;
            let next = pair.world.now() + Micros::from_secs(1);
            pair.world.run_until(next)?;
            seconds.push((pair.world.network().link_counters(SERVER, CLIENT).sent_bytes - before) as f64);
        }
        let slowest = quantile(&seconds, 0.0) / configured;
        report.add("rate, slowest second", "%", 100.0 * slowest);
        report.add("rate, median second", "%", 100.0 * quantile(&seconds, 0.5) / configured);
        let detail = format!("the slowest second reached {:.1} % of the configured rate", 100.0 * slowest);
        let is_kept = slowest >= 0.9;
        let verdict = if is_kept { Ok(()) } else { Err(Violation::new("distance costs no rate", detail)) };
        verdict.and_then(|()| stays_connected(&pair)).map_err(|violation| pair.world.failure(violation))
    }
}

fn greedy(seed: u64, link: LinkConfig, rate: RateConfig) -> Result<Pair, Failure> {
    let plan = Plan {
        config: Config { rate, ..Config::default() },
        link,
        server_traffic: vec![Flow::greedy(1, 800)],
        traffic: END,
        ..Plan::new(vec![Flow::every_tick(3, 40)])
    };
    Pair::connect(seed, plan)
}

fn wire_bytes(pair: &Pair) -> u64 {
    let counters = pair.world.network().link_counters(SERVER, CLIENT);
    counters.delivered_bytes + counters.delivered * HEADER_OVERHEAD_BYTES as u64
}

fn stays_connected(pair: &Pair) -> Result<(), Violation> {
    let connections = pair.world.ledger().connections();
    if connections.len() == 2 && connections.iter().all(|connection| connection.phase == Phase::Connected) {
        return Ok(());
    }
    Err(Violation::new("a full link keeps its connection", format!("{connections:?}")))
}
