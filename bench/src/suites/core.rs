//! The core: records, packets, encryption and the reliable stream, next to renet and rusty_enet.

mod records;
mod rounds;
mod seal;
mod steady;

use self::records::Records;
use self::rounds::Rounds;
use self::seal::Seal;
use super::{Options, Suite};
use crate::error::BenchError;
use crate::latency::{self, START};
use crate::measure::interleaved;
use crate::peers::enet::EnetPair;
use crate::peers::ours::{Idle, NetloomPair, Replay};
use crate::peers::renet::RenetPair;
use crate::table::{Figure, Report, Row, Target};
use netloom_proto::{Redundancy, Security};

/// Registered in `suites`.
pub const SUITE: Suite = Suite {
    name: "core",
    about: "Records, packets, encryption, latency under loss, allocations",
    files: None,
    run,
};

const NOTES: [&str; 12] = [
    "Record: quantized words to bytes and back, as the core keeps its state; the two rows below add the way from and to floats.",
    "Idle tick: begin_tick, poll_transmit and poll_event together, on a listening endpoint with one connected peer, when no",
    "  timer has run out and nothing waits. It is the look at the state; acting on it is in the rows of packets.",
    "Packet: one 300-byte unreliable message, packed by one side, unpacked and delivered by the other, both sides at 60 Hz.",
    "  The timers and acknowledgements that this takes are part of it. No encryption in any column: netloom seals nothing,",
    "  renet runs without its netcode transport, ENet has none. netloom's packets carry acknowledgements and a CRC32C;",
    "  renet acknowledges in packets of its own, ENet does not acknowledge unreliable packets, and neither has a checksum.",
    "Reliable: a 64-byte reliable-ordered message per 60 Hz tick for 60 virtual seconds, 50 ms delay and 5 % loss each way,",
    "  both sides polled at 1 kHz, twenty seeds together. Bytes are datagram payloads per byte of message, without encryption",
    "  in any column. netloom's default is parity: each packet carries the XOR of the messages of the two before it. A copy of",
    "  the packet two before takes as many bytes, repairs a loss one packet later, and not that of the packet and its copy.",
    "  renet sends with the tick, as its documentation asks: sent at every poll, its answers to answers are most of the bytes.",
];

fn run(options: &Options) -> Result<Report, BenchError> {
    let mut rows = code_rows(options)?;
    rows.push(packet_row(options)?);
    rows.push(Row {
        label: "allocations, a minute of all channels",
        unit: "count",
        decimals: 0,
        target: Target::AtMost(0.0),
        figures: vec![Figure::new(
            "steady_allocations",
            steady::allocations_per_minute(pair(Security::Required, Redundancy::default())?)? as f64,
        )],
    });
    rows.extend(latency_rows()?);
    Ok(Report {
        title: "Netloom core, and the field's libraries in the same run".into(),
        columns: vec!["netloom", "renet 2.0.1", "rusty_enet 0.4.1"],
        rows,
        series: Vec::new(),
        notes: NOTES.map(String::from).to_vec(),
    })
}

fn pair(security: Security, redundancy: Redundancy) -> Result<NetloomPair, BenchError> {
    NetloomPair::established(START, security, redundancy)
}

/// Pieces of code that have no counterpart in the peers.
fn code_rows(options: &Options) -> Result<Vec<Row>, BenchError> {
    let records = Records::new()?;
    let mut replay = Replay::new(pair(Security::Required, Redundancy::default())?)?;
    let mut seal = Seal::new();
    let mut idle = Idle::new(pair(Security::Required, Redundancy::default())?)?;
    let ns = interleaved(
        options.batches,
        &mut [
            &mut |n| records.encode(n),
            &mut |n| records.decode(n),
            &mut |n| records.encode_floats(n),
            &mut |n| records.decode_floats(n),
            &mut |n| replay.run(n),
            &mut |n| seal.run(n),
            &mut |n| idle.run(n),
        ],
    );
    replay.verdict()?;
    seal.verdict()?;
    idle.verdict()?;

    let row =
        |label, unit, decimals, target, figure| Row { label, unit, decimals, target, figures: vec![figure] };
    let ns_row = |label, key, target, index: usize| row(label, "ns", 1, target, Figure::new(key, ns[index]));
    Ok(vec![
        ns_row("record encode, position + rotation", "record_encode_ns", Target::AtMost(40.0), 0),
        ns_row("record decode", "record_decode_ns", Target::AtMost(40.0), 1),
        ns_row("record encode, from floats", "record_from_floats_ns", Target::None, 2),
        ns_row("record decode, to floats", "record_to_floats_ns", Target::AtMost(40.0), 3),
        ns_row("checks before decryption", "validate_ns", Target::AtMost(50.0), 4),
        ns_row("tick of an idle connection", "idle_tick_ns", Target::AtMost(20.0), 6),
        row(
            "seal + open 1,200 B",
            "us",
            2,
            Target::AtMost(2.0),
            Figure::new("aead_1200_round_us", ns[5] / 1e3),
        ),
    ])
}

fn packet_row(options: &Options) -> Result<Row, BenchError> {
    let mut ours = Rounds::new(pair(Security::Off, Redundancy::default())?);
    let mut renet = Rounds::new(RenetPair::new(START));
    let mut enet = Rounds::new(EnetPair::established(START)?);
    let ns = interleaved(
        options.batches,
        &mut [&mut |n| ours.run(n), &mut |n| renet.run(n), &mut |n| enet.run(n)],
    );
    ours.verdict()?;
    renet.verdict()?;
    enet.verdict()?;
    Ok(Row {
        label: "unreliable packet, 300 B",
        unit: "ns",
        decimals: 0,
        target: Target::AtMost(350.0),
        figures: vec![
            Figure::new("packet_round_ns", ns[0]),
            Figure::new("renet_packet_round_ns", ns[1]),
            Figure::new("enet_packet_round_ns", ns[2]),
        ],
    })
}

fn latency_rows() -> Result<Vec<Row>, BenchError> {
    let ours =
        |security, redundancy| latency::measure(|| NetloomPair::connecting(START, security, redundancy));
    let copy = ours(Security::Off, Redundancy::Copy)?;
    let parity = ours(Security::Off, Redundancy::Parity)?;
    let sealed = ours(Security::Required, Redundancy::Parity)?;
    let bare = ours(Security::Off, Redundancy::Off)?;
    let renet = latency::measure(|| Ok(RenetPair::new(START)))?;
    let enet = latency::measure(|| EnetPair::connecting(START))?;

    let ms = |label, target, figures| Row { label, unit: "ms", decimals: 1, target, figures };
    let ratio = |label, target, figures| Row { label, unit: "ratio", decimals: 2, target, figures };
    let figure = Figure::new;
    Ok(vec![
        ms(
            "reliable latency, median",
            Target::None,
            vec![
                figure("reliable_p50_ms", parity.p50_ms),
                figure("renet_reliable_p50_ms", renet.p50_ms),
                figure("enet_reliable_p50_ms", enet.p50_ms),
            ],
        ),
        ms(
            "reliable latency, 99th percentile",
            Target::AtMost(90.0),
            vec![
                figure("reliable_p99_ms", parity.p99_ms),
                figure("renet_reliable_p99_ms", renet.p99_ms),
                figure("enet_reliable_p99_ms", enet.p99_ms),
            ],
        ),
        ms(
            "  with copies instead of parity",
            Target::AtMost(120.0),
            vec![figure("reliable_copy_p99_ms", copy.p99_ms)],
        ),
        ms("  with nothing repeated", Target::None, vec![figure("reliable_bare_p99_ms", bare.p99_ms)]),
        ratio(
            "reliable bytes sent per byte of message",
            Target::AtMost(2.5),
            vec![
                figure("reliable_bytes_ratio", parity.bytes_ratio),
                figure("renet_reliable_bytes_ratio", renet.bytes_ratio),
                figure("enet_reliable_bytes_ratio", enet.bytes_ratio),
            ],
        ),
        ratio(
            "  with copies instead of parity",
            Target::AtMost(2.5),
            vec![figure("reliable_copy_bytes_ratio", copy.bytes_ratio)],
        ),
        ratio(
            "  encrypted",
            Target::AtMost(2.5),
            vec![figure("reliable_sealed_bytes_ratio", sealed.bytes_ratio)],
        ),
        ratio(
            "  with nothing repeated",
            Target::None,
            vec![figure("reliable_bare_bytes_ratio", bare.bytes_ratio)],
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_passes_the_reliable_workload_and_every_row_has_a_figure() {
        let rows = latency_rows().expect("every message arrives, in order");
        for figure in rows.iter().flat_map(|row| row.figures.iter().flatten()) {
            let floor = if figure.key.ends_with("_ms") { latency::DELAY.as_millis_f64() } else { 1.0 };
            assert!(
                figure.value >= floor,
                "{figure:?}: nothing is faster than the network or smaller than the message"
            );
        }
    }

    #[test]
    fn sealed_packets_open_and_replays_are_refused_as_replays() {
        let mut seal = Seal::new();
        seal.run(10);
        assert_eq!(seal.verdict(), Ok(()));
        let connected = pair(Security::Required, Redundancy::default()).expect("connects");
        let mut replay = Replay::new(connected).expect("a datagram");
        replay.run(10);
        assert_eq!(replay.verdict(), Ok(()));
    }

    #[test]
    fn an_idle_endpoint_has_nothing_to_do_and_one_that_is_not_is_noticed() {
        let connected = || pair(Security::Required, Redundancy::default()).expect("connects");
        let mut idle = Idle::new(connected()).expect("at rest");
        idle.run(10);
        assert_eq!(idle.verdict(), Ok(()));
        let mut busy = Idle::new(connected()).expect("at rest");
        busy.skip_to_keepalive();
        busy.run(1);
        assert!(busy.verdict().is_err());
    }
}
