//! What a line does, in virtual time over peers in memory.

use netloom_transport::link::{Bandwidth, Buffer, LinkConfig, Loss};
use netloom_transport::{
    Batch, CloseReason, Conditioner, ConditionerConfig, MemoryConfig, MemoryNetwork, MemoryTransport, Micros,
    PRESETS, Transport, TransportEvent, preset,
};
use proptest::prelude::*;

use crate::rig;

struct Line {
    sender: Conditioner<MemoryTransport>,
    receiver: MemoryTransport,
    batch: Batch,
}

impl Line {
    fn new(line: LinkConfig, seed: u64) -> Line {
        let network = MemoryNetwork::new(MemoryConfig::default()).unwrap();
        let receiver = network.join().unwrap();
        let config =
            ConditionerConfig { incoming: LinkConfig::default(), ..ConditionerConfig::symmetric(line, seed) };
        let sender = Conditioner::new(network.join().unwrap(), config).unwrap();
        Line { sender, receiver, batch: Batch::new(64, 1_200).unwrap() }
    }

    fn send(&mut self, now: Micros, bytes: &[u8]) {
        assert!(self.batch.push(self.receiver.local_address(), bytes));
        assert_eq!(self.sender.send(now, &mut self.batch).unwrap(), 1);
    }

    /// What has arrived, by number.
    fn arrived(&mut self, now: Micros) -> Vec<u32> {
        let mut numbers = Vec::new();
        self.sender.receive(now, &mut self.batch).unwrap();
        while self.receiver.receive(now, &mut self.batch).unwrap() > 0 {
            let number = |bytes: &[u8]| bytes.first_chunk().map(|number| u32::from_le_bytes(*number));
            numbers.extend(self.batch.iter().filter_map(|datagram| number(datagram.bytes())));
            self.batch.clear();
        }
        numbers
    }

    /// Sends numbered datagrams of 100 bytes, one a millisecond, looks every 100 µs, and returns who arrived when.
    fn run(&mut self, count: u32) -> Vec<(Micros, u32)> {
        let mut history = Vec::new();
        for step in 0..u64::from(count) * 10 + 20_000 {
            let now = Micros(step * 100);
            if step.is_multiple_of(10) && step / 10 < u64::from(count) {
                let mut bytes = [0; 100];
                bytes[..4].copy_from_slice(&((step / 10) as u32).to_le_bytes());
                self.send(now, &bytes);
            }
            history.extend(self.arrived(now).into_iter().map(|number| (now, number)));
        }
        history
    }
}

fn delay_of((at, number): (Micros, u32)) -> Micros {
    at - Micros::from_millis(number.into())
}

fn line() -> LinkConfig {
    LinkConfig { latency: Micros::from_millis(40), ..LinkConfig::default() }
}

#[test]
fn latency_is_exact_and_nothing_is_early() {
    let history = Line::new(line(), 1).run(200);
    assert_eq!(history.len(), 200);
    assert!(history.into_iter().all(|arrival| delay_of(arrival) == Micros::from_millis(40)));
}

#[test]
fn jitter_stays_in_its_range_and_uses_it() {
    let history = Line::new(LinkConfig { jitter: Micros::from_millis(15), ..line() }, 2).run(2_000);
    let delays: Vec<_> = history.iter().copied().map(delay_of).collect();
    let (least, most) = (*delays.iter().min().unwrap(), *delays.iter().max().unwrap());
    // Looked at every 100 µs, so an arrival shows up to that much later.
    assert!((25_000..26_000).contains(&least.0), "{least:?}");
    assert!((54_000..=55_100).contains(&most.0), "{most:?}");
}

#[test]
fn loss_and_duplicates_have_the_rates_asked_for() {
    let mut bad = Line::new(LinkConfig { loss: Loss::Uniform(0.1), duplicate: 0.05, ..line() }, 3);
    let history = bad.run(10_000);
    let counters = *bad.sender.outgoing();
    assert!((900..1_100).contains(&counters.lost_random), "{counters:?}");
    assert!((380..520).contains(&counters.duplicated), "{counters:?}");
    assert_eq!(history.len() as u64, 10_000 - counters.lost_random + counters.duplicated);
    assert_eq!(counters.delivered, history.len() as u64);
}

#[test]
fn what_is_held_back_is_overtaken() {
    let reorder = LinkConfig { reorder: 0.1, reorder_delay_max: Micros::from_millis(20), ..line() };
    let history = Line::new(reorder, 4).run(2_000);
    let late = history.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
    assert!((100..300).contains(&late), "{late}");
    assert_eq!(history.len(), 2_000);
    assert!(Line::new(line(), 4).run(500).is_sorted_by_key(|&(_, number)| number));
}

#[test]
fn a_bottleneck_delays_then_drops() {
    // 128 bytes with headers, 1,000 a second, twice what passes.
    let bandwidth =
        Some(Bandwidth { bytes_per_second: 64_000, buffer: Buffer::Time(Micros::from_millis(100)) });
    let mut narrow = Line::new(LinkConfig { bandwidth, ..line() }, 5);
    let history = narrow.run(2_000);
    let longest = history.iter().copied().map(delay_of).max().unwrap();
    assert!((140_000..=143_000).contains(&longest.0), "{longest:?}");
    assert!((1_040..1_110).contains(&history.len()), "{}", history.len());
    assert_eq!(narrow.sender.outgoing().lost_queue, 2_000 - history.len() as u64);
}

#[test]
fn damage_is_done_to_a_copy_and_counted() {
    let mut line = Line::new(LinkConfig { corrupt: 1.0, ..line() }, 6);
    line.send(Micros::ZERO, &[0; 100]);
    line.arrived(Micros::ZERO);
    line.sender.receive(Micros::from_secs(1), &mut line.batch).unwrap();
    line.receiver.receive(Micros::from_secs(1), &mut line.batch).unwrap();
    let bytes = line.batch.iter().next().unwrap().bytes();
    assert!(bytes.len() < 100 || bytes.iter().any(|&byte| byte != 0));
    let counters = line.sender.outgoing();
    assert_eq!(counters.corrupted + counters.truncated, 1);
}

#[test]
fn what_arrives_crosses_the_incoming_line() {
    let network = MemoryNetwork::new(MemoryConfig::default()).unwrap();
    let mut sender = network.join().unwrap();
    let config =
        ConditionerConfig { outgoing: LinkConfig::default(), ..ConditionerConfig::symmetric(line(), 7) };
    let mut receiver = Conditioner::new(network.join().unwrap(), config).unwrap();
    let mut batch = Batch::new(4, 1_200).unwrap();
    assert!(batch.push(receiver.local_address(), b"late"));
    sender.send(Micros::ZERO, &mut batch).unwrap();
    assert_eq!(receiver.receive(Micros::ZERO, &mut batch).unwrap(), 0);
    assert_eq!(receiver.receive(Micros(39_999), &mut batch).unwrap(), 0);
    assert_eq!(receiver.receive(Micros(40_000), &mut batch).unwrap(), 1);
    assert_eq!(batch.iter().next().unwrap().address(), sender.local_address());
}

#[test]
fn a_line_changes_while_it_runs_and_impossible_ones_are_refused() {
    let mut line = Line::new(line(), 8);
    line.send(Micros::ZERO, &1u32.to_le_bytes());
    line.sender.set_line(preset("none").unwrap()).unwrap();
    line.send(Micros::ZERO, &2u32.to_le_bytes());
    assert_eq!(line.arrived(Micros::ZERO), [2], "what is on its way keeps its time");
    assert_eq!(line.arrived(Micros::from_millis(40)), [1]);
    let impossible = LinkConfig { duplicate: 2.0, ..LinkConfig::default() };
    assert!(line.sender.set_line(impossible).unwrap_err().to_string().contains("`duplicate` is 2"));
}

#[test]
fn a_pulled_plug_loses_what_is_sent_meanwhile() {
    let mut line = Line::new(preset("none").unwrap(), 9);
    line.sender.set_unplugged(true);
    line.send(Micros::ZERO, &1u32.to_le_bytes());
    line.sender.set_unplugged(false);
    line.send(Micros::ZERO, &2u32.to_le_bytes());
    assert_eq!(line.arrived(Micros::ZERO), [2]);
    assert_eq!(line.sender.outgoing().lost_partition, 1);
}

#[test]
fn more_than_the_line_holds_is_lost_and_counted() {
    let network = MemoryNetwork::new(MemoryConfig::default()).unwrap();
    let receiver = network.join().unwrap();
    let config = ConditionerConfig { in_flight_max: 10, ..ConditionerConfig::symmetric(line(), 10) };
    let mut sender = Conditioner::new(network.join().unwrap(), config).unwrap();
    let mut batch = Batch::new(64, 1_200).unwrap();
    while batch.push(receiver.local_address(), b"x") {}
    assert_eq!(sender.send(Micros::ZERO, &mut batch).unwrap(), 64);
    assert_eq!(sender.outgoing().lost_queue, 54);
    let config = ConditionerConfig { in_flight_max: 0, ..ConditionerConfig::symmetric(line(), 10) };
    let message = Conditioner::new(network.join().unwrap(), config).unwrap_err().to_string();
    assert!(message.contains("`in_flight_max` is 0"), "{message}");
}

#[test]
fn a_steady_line_allocates_nothing() {
    let mut line = Line::new(preset("awful").unwrap(), 11);
    let mut now = Micros::ZERO;
    let mut turn = |line: &mut Line| {
        now += Micros::from_millis(5);
        line.send(now, &[1; 300]);
        line.sender.receive(now, &mut line.batch).unwrap();
        line.receiver.receive(now, &mut line.batch).unwrap();
        line.batch.clear();
    };
    // Until as many are on their way as ever will be: the line delays by less than a second.
    for _ in 0..1_000 {
        turn(&mut line);
    }
    let before = netloom_count::allocations();
    for _ in 0..5_000 {
        turn(&mut line);
    }
    assert_eq!(netloom_count::allocations(), before);
    assert!(line.sender.outgoing().delivered > 3_000);
}

#[test]
fn a_stream_on_an_awful_line_arrives_whole_in_order_and_late_and_its_end_comes_last() {
    for rig in [rig::tcp(), rig::websocket()] {
        let client = rig.client();
        a_stream_arrives_whole_in_order_and_late(rig.server, client);
    }
}

fn a_stream_arrives_whole_in_order_and_late(mut server: Box<dyn Transport>, client: Box<dyn Transport>) {
    let line =
        ConditionerConfig { incoming: LinkConfig::default(), ..ConditionerConfig::symmetric(line(), 13) };
    let mut client = Conditioner::new(client, line).unwrap();
    client.set_outgoing(preset("awful").unwrap()).unwrap();
    assert!(client.capabilities().reliable && client.capabilities().ordered);
    let (mut there, mut arrived) = (Batch::new(64, 1_200).unwrap(), Batch::new(1_000, 1_200).unwrap());
    let (mut sent, mut now, mut is_closed) = (0u32, Micros::ZERO, false);
    // Time is virtual for the line and real for the socket behind it, so each turn gives the socket what it needs.
    while !is_closed {
        now += Micros::from_millis(10);
        assert!(now < Micros::from_secs(3_600), "the stream stalled");
        if sent < 500 {
            assert!(there.push(server.local_address(), &sent.to_le_bytes()));
            sent += 1;
            if sent == 500 {
                client.send(now, &mut there).unwrap();
                client.disconnect(server.local_address());
            }
        }
        client.send(now, &mut there).unwrap();
        client.receive(now, &mut Batch::new(4, 1_200).unwrap()).unwrap();
        server.receive(Micros::ZERO, &mut arrived).unwrap();
        is_closed = std::iter::from_fn(|| server.poll_event())
            .any(|event| matches!(event, TransportEvent::Closed { reason: CloseReason::ByPeer, .. }));
        server.wait(Micros::ZERO, Micros(200)).unwrap();
    }
    let numbers: Vec<u32> =
        arrived.iter().map(|datagram| u32::from_le_bytes(datagram.bytes().try_into().unwrap())).collect();
    assert_eq!(numbers, (0..500).collect::<Vec<_>>());
    let counters = client.outgoing();
    assert!(counters.held_back > 10 && counters.lost() == 0, "{counters:?}");
}

#[test]
fn a_wait_ends_when_something_is_due() {
    let mut line = Line::new(LinkConfig { latency: Micros(500), ..LinkConfig::default() }, 12);
    line.send(Micros::ZERO, &7u32.to_le_bytes());
    // It would sleep for a minute if it did not know.
    line.sender.wait(Micros::ZERO, Micros::from_secs(60)).unwrap();
    assert_eq!(line.arrived(Micros(500)), [7]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn equal_seeds_give_equal_histories_and_every_datagram_has_one_end(seed: u64, name in 0..PRESETS.len()) {
        let run = || {
            let mut line = Line::new(preset(PRESETS[name]).unwrap(), seed);
            let history = line.run(300);
            (history, *line.sender.outgoing())
        };
        let (history, counters) = run();
        prop_assert_eq!(counters.sent + counters.duplicated, counters.delivered + counters.lost());
        prop_assert_eq!(run(), (history, counters));
    }
}
