//! How soon a lost message is there after all: by redundancy, by loss detection, by the resend timer.

mod common;

use std::collections::BTreeSet;

use common::*;
use netloom_proto::packet::PacketType;
use netloom_proto::{Config, Micros, Redundancy, Rejection};

fn with(redundancy: Redundancy) -> Config {
    Config { redundancy, ..sealed() }
}

/// Loses the data packets of the client with these places in the order of sending.
fn lose(world: &mut World, places: &[usize]) {
    let places: BTreeSet<usize> = places.iter().copied().collect();
    let mut place = 0;
    world.script(move |passing| {
        let from_client = passing.datagram.from.port() == 50_000;
        if from_client && passing.datagram.kind() == PacketType::Data as u8 {
            if places.contains(&place) {
                passing.drop();
            }
            place += 1;
        }
    });
}

/// A connected world that knows its round trip.
fn measured(config: Config) -> (World, netloom_proto::PeerId) {
    let (mut world, client, _) = World::connected(config);
    world.tick = ms(1);
    for _ in 0..30 {
        world.send(CLIENT, client, UNRELIABLE, b"x").unwrap();
        world.run_for(ms(20));
    }
    world.run_for(ms(200));
    world.forget();
    (world, client)
}

/// How long after its sending a single message arrives when its first packet is lost, and how often it was resent.
fn time_to_arrive(redundancy: Redundancy) -> (Micros, u64) {
    let (mut world, client) = measured(with(redundancy));
    lose(&mut world, &[0]);
    let before = world.client().stats(client).counters.resends;
    world.send(CLIENT, client, ORDERED, b"the last word").unwrap();
    let sent_at = world.now;
    world.run_until(secs(2), |world| !world.nodes[SERVER].messages(ORDERED).is_empty());
    let resends = world.client().stats(client).counters.resends - before;
    (world.now - sent_at, resends)
}

#[test]
fn a_lost_last_packet_is_repaired_by_its_tail_without_a_resend() {
    for redundancy in [Redundancy::Copy, Redundancy::Parity] {
        let (latency, resends) = time_to_arrive(redundancy);
        assert!(latency >= ms(40) && latency <= ms(45), "{redundancy:?}: {latency:?}");
        assert_eq!(resends, 0, "{redundancy:?}");
    }
    let (latency, resends) = time_to_arrive(Redundancy::Off);
    assert!(latency > ms(60), "without redundancy it waits for a resend: {latency:?}");
    assert_eq!(resends, 1);
}

#[test]
fn a_tail_is_sent_once_and_only_for_what_is_not_acknowledged() {
    let (mut world, client) = measured(with(Redundancy::Parity));
    world.send(CLIENT, client, ORDERED, b"the last word").unwrap();
    world.run_for(ms(900));
    assert_eq!(world.recorded_of(PacketType::Data).len(), 2, "the message and its tail");
    let mut config = with(Redundancy::Parity);
    config.tail_delay = ms(100);
    let (mut world, client) = measured(config);
    world.send(CLIENT, client, ORDERED, b"the last word").unwrap();
    world.run_for(ms(900));
    assert_eq!(world.recorded_of(PacketType::Data).len(), 1, "acknowledged before the tail was due");
}

/// The latency of each message of a steady stream over a long path, some of whose packets are lost.
fn latencies(redundancy: Redundancy, lost: &[usize]) -> Vec<Micros> {
    let (mut world, client, _) = World::connected(with(redundancy));
    world.tick = ms(1);
    world.delay = ms(80);
    for _ in 0..40 {
        world.send(CLIENT, client, ORDERED, b"warm-up").unwrap();
        world.run_for(ms(16));
    }
    world.run_for(ms(800));
    world.forget();
    lose(&mut world, lost);
    let (mut sent, mut arrived) = (vec![], vec![]);
    for step in 0..1_500 {
        if step % 16 == 0 && sent.len() < 40 {
            world.send(CLIENT, client, ORDERED, &[sent.len() as u8; 20]).unwrap();
            sent.push(world.now);
        }
        world.step();
        while arrived.len() < world.server().messages(ORDERED).len() {
            arrived.push(world.now);
        }
    }
    assert_eq!(arrived.len(), 40);
    sent.iter().zip(arrived).map(|(sent, arrived)| arrived - *sent).collect()
}

fn worst(redundancy: Redundancy, lost: &[usize]) -> Micros {
    latencies(redundancy, lost).into_iter().max().unwrap()
}

#[test]
fn a_single_loss_costs_an_interval_with_parity_two_with_copy_and_a_round_trip_without() {
    assert!(worst(Redundancy::Off, &[10]) > ms(160));
    assert!(worst(Redundancy::Copy, &[10]) <= ms(80 + 2 * 16 + 3));
    assert!(worst(Redundancy::Parity, &[10]) <= ms(80 + 16 + 3));
    assert!(worst(Redundancy::Off, &[]) <= ms(83));
}

#[test]
fn two_losses_in_a_row_are_repaired_and_a_message_lost_with_its_copy_is_resent_at_once() {
    assert!(worst(Redundancy::Parity, &[10, 11]) <= ms(80 + 3 * 16 + 3));
    assert!(worst(Redundancy::Copy, &[10, 11]) <= ms(80 + 2 * 16 + 3));
    let resent = worst(Redundancy::Copy, &[10, 12]);
    // The packet after the lost one takes the news: an interval, there, back, and there again.
    assert!(resent > ms(3 * 80) && resent <= ms(3 * 80 + 16 + 6), "{resent:?}");
}

#[test]
fn with_two_copies_no_two_losses_wait_for_a_resend() {
    for lost in [&[10][..], &[10, 11], &[10, 12], &[10, 13]] {
        let latency = worst(Redundancy::Twice, lost);
        assert!(latency <= ms(80 + 2 * 16 + 3), "{lost:?}: {latency:?}");
    }
}

#[test]
fn redundancy_changes_while_a_connection_runs_both_ways() {
    let (mut world, client) = measured(with(Redundancy::Off));
    world.delay = ms(200);
    let mut number = 0u8;
    let mut repeated = |world: &mut World, redundancy| {
        world.nodes[CLIENT].endpoint.set_redundancy(client, redundancy);
        let before = world.client().stats(client).counters.blocks_repeated;
        for _ in 0..10 {
            number += 1;
            world.send(CLIENT, client, ORDERED, &[number; 20]).unwrap();
            world.run_for(ms(16));
        }
        world.run_for(secs(2));
        assert_eq!(world.server().messages(ORDERED).len(), usize::from(number));
        world.client().stats(client).counters.blocks_repeated - before
    };
    let modes = [Redundancy::Off, Redundancy::Copy, Redundancy::Twice, Redundancy::Parity, Redundancy::Off];
    assert_eq!(modes.map(|mode| repeated(&mut world, mode)), [0, 10, 20, 10, 0]);
}

/// What became of a steady stream of 40 messages, some of whose packets were lost: packets given up, messages resent.
fn repairs(redundancy: Redundancy, lost: &[usize]) -> (u64, u64) {
    let (mut world, client) = measured(with(redundancy));
    let before = world.client().stats(client).counters;
    lose(&mut world, lost);
    for number in 0..40u8 {
        world.send(CLIENT, client, ORDERED, &[number; 20]).unwrap();
        world.run_for(ms(16));
    }
    world.run_for(secs(1));
    assert_eq!(world.server().messages(ORDERED).len(), 40);
    let stats = world.client().stats(client);
    assert_eq!(stats.pending_bytes, 0, "everything is known to have arrived");
    (stats.counters.packets_lost - before.packets_lost, stats.counters.resends - before.resends)
}

#[test]
fn what_redundancy_brought_back_is_not_resent() {
    assert_eq!(repairs(Redundancy::Off, &[10, 20, 30]), (3, 3));
    assert_eq!(repairs(Redundancy::Parity, &[10, 20, 30]), (3, 0), "the packets that repair tell so");
    // 32 ms to the copy and 40 ms for the round trip: the news of the loss comes before that of the repair.
    assert_eq!(repairs(Redundancy::Copy, &[10, 20, 30]), (3, 3));
    assert_eq!(repairs(Redundancy::Copy, &[39]), (1, 0), "the last one: its tail comes first");
}

#[test]
fn a_message_lost_with_its_copy_is_resent_once_more_and_survives_the_loss_of_its_resend() {
    assert_eq!(
        repairs(Redundancy::Copy, &[10, 12]),
        (2, 3),
        "10 as a precaution, 10 for certain, 12 as a precaution"
    );
    // Packet 13 is the resend of 10, which goes out between the packets of the stream.
    let resend = 13;
    let unlucky = worst(Redundancy::Copy, &[10, 12, resend]);
    assert!(unlucky <= ms(3 * 80 + 3 * 16 + 6), "not another round trip: {unlucky:?}");
}

#[test]
fn a_receiver_without_room_is_not_taken_to_have_what_was_repeated() {
    for redundancy in [Redundancy::Copy, Redundancy::Parity] {
        let mut config = with(redundancy);
        for channel in &mut config.channels {
            (channel.message_bytes_max, channel.receive_bytes_max) = (100, 200);
        }
        let (mut world, client, _) = World::connected(config);
        world.script(bad_link(77, 20, 10, 40));
        for number in 0..2_000u32 {
            world.send(CLIENT, client, ORDERED, &number.to_le_bytes().repeat(10)).unwrap();
            world.run_for(ms(40));
        }
        world.run_for(secs(20));
        assert_eq!(world.client().ends(), []);
        assert!(world.server().rejected(Rejection::NoRoom) > 5);
        assert_eq!(world.server().messages(ORDERED).len(), 2_000, "{redundancy:?}");
    }
}

#[test]
fn redundancy_delivers_nothing_twice_and_keeps_the_order() {
    for redundancy in [Redundancy::Copy, Redundancy::Parity] {
        let (mut world, client, server) = World::connected(with(redundancy));
        world.script(bad_link(31, 25, 20, 30));
        for number in 0..800u32 {
            for channel in [PRIORITY, ORDERED, UNORDERED] {
                world.send(CLIENT, client, channel, &number.to_le_bytes()).unwrap();
            }
            world.step();
        }
        world.run_for(secs(5));
        for channel in [PRIORITY, ORDERED] {
            let numbers = world.server().messages(channel);
            assert!(
                numbers.iter().map(Vec::as_slice).eq((0..800u32)
                    .map(u32::to_le_bytes)
                    .collect::<Vec<_>>()
                    .iter()
                    .map(|bytes| &bytes[..]))
            );
        }
        let unordered: BTreeSet<_> = world.server().messages(UNORDERED).into_iter().collect();
        assert_eq!((unordered.len(), world.server().messages(UNORDERED).len()), (800, 800));
        assert!(world.server().stats(server).counters.blocks_recovered > 50);
    }
}

#[test]
fn a_message_is_acknowledged_after_a_round_trip_and_the_ack_delay_at_most() {
    let (mut world, client) = measured(with(Redundancy::Off));
    world.send(CLIENT, client, ORDERED, b"one").unwrap();
    assert_eq!(world.client().stats(client).pending_bytes, 3);
    world.run_for(ms(40));
    assert_eq!(world.client().stats(client).pending_bytes, 3, "the acknowledgement may wait for company");
    world.run_for(ms(20));
    assert_eq!(world.client().stats(client).pending_bytes, 0);
    assert_eq!(world.recorded_of(PacketType::Ack).len(), 1, "it had none");
    // Two packets are acknowledged at once.
    world.forget();
    for _ in 0..2 {
        world.send(CLIENT, client, ORDERED, b"two").unwrap();
        world.step();
    }
    world.run_for(ms(43));
    assert_eq!(world.client().stats(client).pending_bytes, 0);
}

#[test]
fn acknowledgements_travel_with_data_when_there_is_any() {
    let (mut world, client) = measured(with(Redundancy::Off));
    let server = world.server().peer();
    for _ in 0..50 {
        world.send(CLIENT, client, ORDERED, b"there").unwrap();
        world.send(SERVER, server, ORDERED, b"back").unwrap();
        world.run_for(ms(10));
    }
    let alone = world.recorded_of(PacketType::Ack).len();
    assert_eq!(alone, 0, "acknowledgements travelled alone");
    assert!(world.client().stats(client).pending_bytes <= 6 * 5);
}

#[test]
fn a_duplicate_is_not_acknowledged_twice() {
    let (mut world, client) = measured(with(Redundancy::Off));
    world.script(|passing| passing.delays = vec![ms(20), ms(22), ms(60)]);
    world.send(CLIENT, client, ORDERED, b"one").unwrap();
    world.run_for(ms(300));
    assert_eq!(world.recorded_of(PacketType::Ack).len(), 1);
    assert_eq!(world.server().messages(ORDERED).len(), 1);
}

#[test]
fn resends_back_off_up_to_the_longest_timeout() {
    let (mut world, client) = measured(with(Redundancy::Off));
    world.script(|passing| {
        if passing.datagram.from.port() == 50_000 {
            passing.drop();
        }
    });
    world.send(CLIENT, client, ORDERED, &[7; 200]).unwrap();
    world.run_for(ms(7_500));
    let sent = world.recorded_of(PacketType::Data);
    let gaps: Vec<_> = sent.windows(2).map(|pair| pair[1].sent_at - pair[0].sent_at).collect();
    let config = Config::default();
    assert!(gaps.len() >= 8, "{gaps:?}");
    assert!(gaps[0] >= config.resend_timeout_min && gaps[0] <= ms(100), "{gaps:?}");
    for pair in gaps.windows(2) {
        assert!(pair[1] + ms(3) >= pair[0], "never faster: {gaps:?}");
        assert!(pair[1] <= Micros(pair[0].0 * 2) + ms(30), "doubling at most: {gaps:?}");
    }
    let longest = *gaps.last().unwrap();
    assert!(longest >= ms(900) && longest <= config.resend_timeout_max + ms(20), "{gaps:?}");
    // When the link is back, it goes on, and the back-off is forgotten.
    world.perfect_link();
    world.run_for(ms(1_200));
    assert_eq!(world.server().messages(ORDERED).len(), 1);
}

#[test]
fn a_loss_is_noticed_by_what_overtook_it_long_before_the_timer() {
    let config = Config { resend_timeout_min: secs(1), ..with(Redundancy::Off) };
    let (mut world, client) = measured(config);
    lose(&mut world, &[3]);
    for number in 0..10u8 {
        world.send(CLIENT, client, ORDERED, &[number; 500]).unwrap();
        world.run_for(ms(10));
    }
    world.run_for(ms(100));
    assert_eq!(world.server().messages(ORDERED).len(), 10);
    let counters = world.client().stats(client).counters;
    assert_eq!((counters.packets_lost, counters.resends, counters.probes), (1, 1, 0));
}

#[test]
fn a_packet_that_is_only_late_is_not_taken_for_lost_again_and_again() {
    let (mut world, client) = measured(with(Redundancy::Off));
    // Every fifth packet takes 15 ms longer: a reordering that the window learns to wait for.
    let mut place = 0u64;
    world.script(move |passing| {
        place += 1;
        if place.is_multiple_of(5) {
            passing.delays = vec![ms(35)];
        }
    });
    for number in 0..1_000u32 {
        world.send(CLIENT, client, UNRELIABLE, &number.to_le_bytes()).unwrap();
        world.run_for(ms(4));
    }
    let counters = world.client().stats(client).counters;
    assert!(counters.packets_late > 0, "the first ones surprise");
    assert!(counters.packets_lost < 40, "{counters:?}");
}
