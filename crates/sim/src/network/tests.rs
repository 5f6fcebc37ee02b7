use proptest::prelude::*;

use super::*;

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], 4_000))
}

fn pair(seed: u64, link: LinkConfig) -> Network {
    let mut network = Network::new(seed, link).unwrap();
    network.add_node(address(1));
    network.add_node(address(2));
    network
}

/// Sends `count` numbered datagrams, one a millisecond, and returns (arrival, number) of those that arrive intact.
fn numbered(network: &mut Network, count: u32) -> Vec<(Micros, u32)> {
    for number in 0..count {
        let now = Micros::from_millis(u64::from(number));
        network.send(now, address(1), address(2), &number.to_le_bytes());
    }
    drain(network)
        .into_iter()
        .filter_map(|(delivery, bytes)| Some((delivery.at, u32::from_le_bytes(bytes.try_into().ok()?))))
        .collect()
}

fn drain(network: &mut Network) -> Vec<(Delivery, Vec<u8>)> {
    let (mut out, mut bytes) = (Vec::new(), Vec::new());
    while let Some(delivery) = network.poll_delivery(Micros::MAX, &mut bytes) {
        out.push((delivery, bytes.clone()));
    }
    out
}

#[test]
fn a_perfect_link_delivers_everything_in_order_after_its_latency() {
    let mut network = pair(1, LinkConfig { latency: Micros::from_millis(30), ..LinkConfig::default() });
    let arrived = numbered(&mut network, 100);
    let expected: Vec<_> = (0..100).map(|n| (Micros::from_millis(30 + u64::from(n)), n)).collect();
    assert_eq!(arrived, expected);
}

#[test]
fn nothing_arrives_before_it_is_due() {
    let mut network = pair(1, LinkConfig { latency: Micros::from_millis(30), ..LinkConfig::default() });
    network.send(Micros::ZERO, address(1), address(2), b"x");
    let mut bytes = Vec::new();
    assert_eq!(network.next_delivery(), Some(Micros::from_millis(30)));
    assert_eq!(network.poll_delivery(Micros(29_999), &mut bytes), None);
    assert!(network.poll_delivery(Micros(30_000), &mut bytes).is_some());
    assert_eq!(bytes, b"x");
}

#[test]
fn equal_arrival_times_keep_the_order_of_sending() {
    let mut network = pair(1, LinkConfig::default());
    for number in 0..50u32 {
        network.send(Micros::ZERO, address(1), address(2), &number.to_le_bytes());
    }
    let numbers: Vec<_> = drain(&mut network).into_iter().map(|(_, bytes)| bytes[0]).collect();
    assert_eq!(numbers, (0..50).collect::<Vec<_>>());
}

#[test]
fn uniform_loss_and_duplication_keep_their_rates() {
    let link = LinkConfig { loss: Loss::Uniform(0.25), duplicate: 0.10, ..LinkConfig::default() };
    let mut network = pair(2, link);
    numbered(&mut network, 20_000);
    let counters = network.counters();
    assert!((4_700..5_300).contains(&counters.lost_random), "{counters:?}");
    assert!((1_350..1_650).contains(&counters.duplicated), "{counters:?}");
}

#[test]
fn bursts_lose_as_much_as_uniform_loss_but_in_runs() {
    let longest_run = |loss| {
        let mut network = pair(3, LinkConfig { loss, ..LinkConfig::default() });
        let arrived = numbered(&mut network, 20_000);
        arrived.windows(2).map(|pair| pair[1].1 - pair[0].1).max().unwrap()
    };
    let bursts = Loss::Bursts { good_to_bad: 0.01, bad_to_good: 0.1, loss_good: 0.0, loss_bad: 1.0 };
    assert!(longest_run(bursts) > 30);
    assert!(longest_run(Loss::Uniform(0.09)) < 10);
}

#[test]
fn jitter_stays_within_its_bound_and_reordering_exceeds_it() {
    let link = LinkConfig {
        latency: Micros::from_millis(200),
        jitter: Micros::from_millis(100),
        ..LinkConfig::default()
    };
    let mut network = pair(4, link);
    for (at, number) in numbered(&mut network, 2_000) {
        let delay = at - Micros::from_millis(u64::from(number));
        assert!((100_000..=300_000).contains(&delay.0), "{delay:?}");
    }
    let mut network = pair(4, LinkConfig { reorder: 0.2, ..LinkConfig::default() });
    let arrived = numbered(&mut network, 2_000);
    assert!(arrived.windows(2).any(|pair| pair[0].1 > pair[1].1));
    assert!((300..500).contains(&network.counters().held_back));
}

#[test]
fn corruption_changes_the_bytes_of_every_damaged_copy() {
    let mut network = pair(5, LinkConfig { corrupt: 1.0, ..LinkConfig::default() });
    for _ in 0..500 {
        network.send(Micros::ZERO, address(1), address(2), &[0xa5; 40]);
        network.send(Micros::ZERO, address(1), address(2), &[7]);
    }
    for (_, bytes) in drain(&mut network) {
        assert!(bytes != [0xa5; 40] && bytes != [7]);
    }
    let counters = network.counters();
    assert_eq!(counters.corrupted + counters.truncated, 1_000);
    assert!(counters.truncated > 50);
    network.send(Micros::ZERO, address(1), address(2), &[]);
    assert_eq!(drain(&mut network)[0].1, []);
}

#[test]
fn a_bottleneck_spaces_datagrams_and_drops_the_tail() {
    let bandwidth = Bandwidth { bytes_per_second: 125_000, buffer: Buffer::Time(Micros::from_millis(100)) };
    let mut network = pair(6, LinkConfig { bandwidth: Some(bandwidth), ..LinkConfig::default() });
    for _ in 0..100 {
        network.send(Micros::ZERO, address(1), address(2), &[0; 1_222]);
    }
    assert_eq!(network.queue_delay(Micros::ZERO, address(1), address(2)), Micros::from_millis(110));
    let arrived = drain(&mut network);
    assert_eq!(arrived.len(), 11, "ten in the queue and the one on the wire");
    assert!(arrived.windows(2).all(|pair| pair[1].0.at - pair[0].0.at == Micros::from_millis(10)));
    assert_eq!(network.counters().lost_queue, 89);
}

#[test]
fn a_buffer_in_bytes_holds_that_many() {
    let bandwidth = Bandwidth { bytes_per_second: 125_000, buffer: Buffer::Bytes(2_500) };
    let mut network = pair(6, LinkConfig { bandwidth: Some(bandwidth), ..LinkConfig::default() });
    for _ in 0..10 {
        network.send(Micros::ZERO, address(1), address(2), &[0; 1_222]);
    }
    assert_eq!(drain(&mut network).len(), 3);
}

#[test]
fn oversized_datagrams_vanish_and_are_counted() {
    let mut network = pair(7, LinkConfig { mtu_bytes: 100, ..LinkConfig::default() });
    network.send(Micros::ZERO, address(1), address(2), &[0; 100]);
    network.send(Micros::ZERO, address(1), address(2), &[0; 101]);
    assert_eq!(drain(&mut network).len(), 1);
    assert_eq!(network.counters().lost_mtu, 1);
}

#[test]
fn a_one_way_block_leaves_the_other_direction_alone() {
    let mut network = pair(8, LinkConfig::default());
    network.block(address(1), address(2));
    network.send(Micros::ZERO, address(1), address(2), b"lost");
    network.send(Micros::ZERO, address(2), address(1), b"back");
    assert_eq!(drain(&mut network)[0].1, b"back");
    network.partition(address(1), address(2));
    network.send(Micros::ZERO, address(2), address(1), b"lost");
    assert_eq!(drain(&mut network), []);
    network.heal(address(1), address(2));
    network.send(Micros::ZERO, address(1), address(2), b"through");
    assert_eq!(drain(&mut network)[0].1, b"through");
    assert_eq!(network.counters().lost_partition, 2);
}

#[test]
fn after_a_rebind_packets_come_from_the_new_address_and_the_old_one_is_dead() {
    let mut network = pair(9, LinkConfig { latency: Micros::from_millis(10), ..LinkConfig::default() });
    network.send(Micros::ZERO, address(2), address(1), b"in flight");
    network.rebind(address(1), address(3)).unwrap();
    network.send(Micros::ZERO, address(2), address(1), b"old address");
    network.send(Micros::ZERO, address(2), address(3), b"new address");
    network.send(Micros::ZERO, address(1), address(2), b"outgoing");
    let arrived = drain(&mut network);
    assert_eq!(arrived.len(), 2);
    assert_eq!((arrived[0].0.to, &arrived[0].1[..]), (address(1), &b"new address"[..]), "the socket stays");
    assert_eq!((arrived[1].0.from, &arrived[1].1[..]), (address(3), &b"outgoing"[..]));
    assert_eq!(network.counters().lost_unroutable, 2);
    assert_eq!(network.rebind(address(1), address(4)), Err(RebindError::Unknown(address(1))));
    assert_eq!(network.rebind(address(3), address(2)), Err(RebindError::Taken(address(2))));
}

#[test]
fn spoofed_sources_arrive_and_replies_to_them_vanish() {
    let mut network = pair(10, LinkConfig::default());
    network.send(Micros::ZERO, address(77), address(1), b"spoof");
    assert_eq!(drain(&mut network)[0].0.from, address(77));
    network.send(Micros::ZERO, address(1), address(77), b"reply");
    assert_eq!(drain(&mut network), []);
}

#[test]
fn impossible_settings_name_field_value_and_range() {
    let message = |link: LinkConfig| Network::new(0, link).unwrap_err().to_string();
    assert_eq!(
        message(LinkConfig { duplicate: 1.5, ..LinkConfig::default() }),
        "link setting `duplicate` is 1.5, allowed is 0.0 to 1.0"
    );
    assert!(message(LinkConfig { corrupt: f64::NAN, ..LinkConfig::default() }).contains("`corrupt` is NaN"));
    assert!(
        message(LinkConfig { loss: Loss::Uniform(-0.1), ..LinkConfig::default() }).contains("`loss` is -0.1")
    );
    assert!(message(LinkConfig { jitter: Micros(1), ..LinkConfig::default() }).contains("`jitter` is 1 us"));
    assert!(message(LinkConfig { mtu_bytes: 0, ..LinkConfig::default() }).contains("`mtu_bytes` is 0"));
}

#[test]
fn switching_one_disturbance_on_leaves_the_losses_as_they_were() {
    let lost = |duplicate| {
        let mut network =
            pair(11, LinkConfig { loss: Loss::Uniform(0.3), duplicate, ..LinkConfig::default() });
        let mut numbers: Vec<_> = numbered(&mut network, 500).into_iter().map(|(_, number)| number).collect();
        numbers.dedup();
        numbers
    };
    assert_eq!(lost(0.0), lost(0.5));
}

fn any_link() -> impl Strategy<Value = LinkConfig> {
    let bandwidth = proptest::option::of(
        (1_000u64..100_000)
            .prop_map(|bytes_per_second| Bandwidth { bytes_per_second, buffer: Buffer::Bytes(2_000) }),
    );
    (0.0..1.0f64, 0u64..300, 0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64, bandwidth, 1usize..1_500).prop_map(
        |(loss, latency_ms, reorder, duplicate, corrupt, bandwidth, mtu_bytes)| LinkConfig {
            loss: Loss::Uniform(loss),
            latency: Micros::from_millis(latency_ms),
            jitter: Micros::from_millis(latency_ms / 2),
            reorder,
            duplicate,
            corrupt,
            bandwidth,
            mtu_bytes,
            ..LinkConfig::default()
        },
    )
}

proptest! {
    #[test]
    fn every_datagram_has_exactly_one_end(seed: u64, link in any_link(), sizes in proptest::collection::vec(0usize..1_500, 1..200)) {
        let mut network = pair(seed, link);
        for (step, size) in sizes.iter().enumerate() {
            let to = if step % 5 == 0 { address(9) } else { address(2) };
            network.send(Micros::from_millis(step as u64), address(1), to, &vec![0; *size]);
        }
        let mut bytes = Vec::new();
        for _ in 0..sizes.len() / 2 {
            network.poll_delivery(Micros::MAX, &mut bytes);
        }
        let counters = network.counters();
        prop_assert_eq!(
            counters.sent + counters.duplicated,
            counters.delivered + counters.lost() + network.in_flight() as u64
        );
    }

    #[test]
    fn equal_seeds_give_equal_histories(seed: u64, link in any_link()) {
        let history = || {
            let mut network = pair(seed, link);
            numbered(&mut network, 100);
            numbered(&mut network, 100)
        };
        prop_assert_eq!(history(), history());
    }
}
