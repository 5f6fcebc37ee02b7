//! The core: records, packets, encryption and the reliable stream, next to renet and rusty_enet.

use super::{Options, Suite};
use crate::error::BenchError;
use crate::latency;
use crate::measure::interleaved;
use crate::peers::PacketRound;
use crate::peers::enet::EnetPair;
use crate::peers::renet::RenetPair;
use crate::table::{Figure, Report, Row, Target};
use netloom_wire::Micros;
use std::hint::black_box;

/// Registered in `suites`.
pub const SUITE: Suite = Suite {
    name: "core",
    about: "Records, packets, encryption, latency under loss, allocations",
    run,
};

const START: Micros = Micros::from_secs(10);
const PACKET_PAYLOAD_BYTES: usize = 300;

fn run(options: &Options) -> Result<Report, BenchError> {
    let mut renet = Rounds::new(RenetPair::new(START));
    let mut enet = Rounds::new(EnetPair::established(START)?);
    let ns = interleaved(
        options.batches,
        &mut [&mut |n| renet.run(n), &mut |n| enet.run(n)],
    );
    let renet_latency = latency::measure(|| Ok(RenetPair::new(START)))?;
    let enet_latency = latency::measure(|| EnetPair::connecting(START))?;
    renet.verdict()?;
    enet.verdict()?;
    let peers = |renet, enet| vec![None, renet, enet];
    let row = |label, unit, decimals, figures| Row {
        label,
        unit,
        decimals,
        target: Target::None,
        figures,
    };
    let rows = vec![
        row(
            "unreliable packet, 300 B",
            "ns",
            0,
            peers(
                Figure::new("renet_packet_round_ns", ns[0]),
                Figure::new("enet_packet_round_ns", ns[1]),
            ),
        ),
        row(
            "reliable latency, median",
            "ms",
            1,
            peers(
                Figure::new("renet_reliable_p50_ms", renet_latency.p50_ms),
                Figure::new("enet_reliable_p50_ms", enet_latency.p50_ms),
            ),
        ),
        row(
            "reliable latency, 99th percentile",
            "ms",
            1,
            peers(
                Figure::new("renet_reliable_p99_ms", renet_latency.p99_ms),
                Figure::new("enet_reliable_p99_ms", enet_latency.p99_ms),
            ),
        ),
        row(
            "bytes sent per byte of message",
            "ratio",
            2,
            peers(
                Figure::new("renet_reliable_bytes_ratio", renet_latency.bytes_ratio),
                Figure::new("enet_reliable_bytes_ratio", enet_latency.bytes_ratio),
            ),
        ),
    ];
    Ok(Report {
        title: "Netloom core, and the field's libraries in the same run".into(),
        columns: vec!["netloom", "renet 2.0.1", "rusty_enet 0.4.1"],
        rows,
        notes: vec!["renet runs without its netcode transport: encryption is not in its figures.".into()],
    })
}

/// Runs exchanges and keeps account of what they delivered: a round that drops its message would be the fastest of all.
struct Rounds<P> {
    pair: P,
    payload: [u8; PACKET_PAYLOAD_BYTES],
    sent: u64,
    delivered: u64,
    failure: Option<BenchError>,
}

impl<P: PacketRound> Rounds<P> {
    fn new(pair: P) -> Rounds<P> {
        let payload = std::array::from_fn(|index| (index * 7) as u8);
        Rounds {
            pair,
            payload,
            sent: 0,
            delivered: 0,
            failure: None,
        }
    }

    fn run(&mut self, packets: u32) {
        // An exchange moves a packet each way.
        for _ in 0..packets / 2 {
            self.sent += 2 * PACKET_PAYLOAD_BYTES as u64;
            match self.pair.exchange(black_box(&self.payload)) {
                Ok(delivered) => self.delivered += delivered as u64,
                Err(error) => self.failure = Some(error),
            }
        }
    }

    fn verdict(self) -> Result<(), BenchError> {
        match self.failure {
            Some(error) => Err(error),
            None if self.delivered == self.sent => Ok(()),
            None => {
                let Rounds { sent, delivered, .. } = self;
                Err(BenchError::ShortRound {
                    library: self.pair.library(),
                    sent,
                    delivered,
                })
            }
        }
    }
}
