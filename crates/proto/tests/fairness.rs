//! Channels share a connection: who goes first, and that nobody starves.

mod common;

use common::traffic::*;
use common::*;
use netloom_proto::PeerId;

/// Keeps a channel full; `sent` counts what it takes.
fn flood(world: &mut World, peer: PeerId, channel: u8, bytes: usize, sent: &mut u32) {
    for _ in 0..200 {
        if world.send(CLIENT, peer, channel, &message_of(*sent, bytes)).is_err() {
            return;
        }
        *sent += 1;
    }
}

#[test]
fn priority_messages_go_ahead_of_everything_that_waits() {
    for loss in [0, 10] {
        let (mut world, client, _) = World::connected(at_rate(100_000));
        world.script(bad_link(5, loss, 0, 0));
        let (mut bulk, mut updates) = (0, 0);
        let mut latencies = vec![];
        for round in 0..20 {
            for _ in 0..20 {
                flood(&mut world, client, ORDERED, 20_000, &mut bulk);
                flood(&mut world, client, UNRELIABLE, 100, &mut updates);
                world.step();
            }
            world.send(CLIENT, client, PRIORITY, &message_of(round, 50)).unwrap();
            let sent_at = world.now;
            let arrived = |world: &World| world.nodes[SERVER].messages(PRIORITY).len() > round as usize;
            world.run_until(secs(2), arrived);
            latencies.push(world.now - sent_at);
        }
        latencies.sort_unstable();
        let median = latencies[latencies.len() / 2];
        assert!(median <= ms(60), "loss {loss} %: {latencies:?}");
        assert!(latencies[19] <= ms(400), "loss {loss} %: {latencies:?}");
    }
}

/// Bytes per second that arrive on two flooded channels.
fn shares(first: (u8, usize), second: (u8, usize), loss: u64) -> (usize, usize) {
    let (mut world, client, _) = World::connected(at_rate(64_000));
    world.tick = ms(16);
    world.script(bad_link(9, loss, 0, 0));
    let (mut sent_first, mut sent_second) = (0, 0);
    for _ in 0..20 * 62 {
        flood(&mut world, client, first.0, first.1, &mut sent_first);
        flood(&mut world, client, second.0, second.1, &mut sent_second);
        world.step();
    }
    let bytes = |channel| world.nodes[SERVER].messages(channel).iter().map(Vec::len).sum::<usize>() / 20;
    (bytes(first.0), bytes(second.0))
}

#[test]
fn neither_reliable_nor_unreliable_floods_starve_the_other() {
    for loss in [0, 10] {
        for reliable_bytes in [20, 500, 20_000] {
            for unreliable in [(UNRELIABLE, 30), (UNRELIABLE, 400), (UNRELIABLE, 1_100), (SEQUENCED, 1_100)] {
                let (reliable, other) = shares((ORDERED, reliable_bytes), unreliable, loss);
                assert!(
                    reliable > 6_000 && other > 6_000,
                    "of 64,000 bytes per second, messages of {reliable_bytes} bytes got {reliable} and \
                     unreliable ones of {unreliable:?} got {other}, at {loss} % loss"
                );
            }
        }
    }
}

#[test]
fn two_reliable_floods_share() {
    for (first, second) in [(30, 30), (30, 1_100), (20_000, 50), (20_000, 20_000)] {
        let (ordered, unordered) = shares((ORDERED, first), (UNORDERED, second), 0);
        assert!(
            ordered > 6_000 && unordered > 6_000,
            "{first} bytes: {ordered} per second, {second} bytes: {unordered} per second"
        );
    }
}

#[test]
fn a_channel_that_waits_holds_no_other_back() {
    let (mut world, client, _) = World::connected(sealed());
    // The first data packet is lost, so that the ordered channel waits for a resend.
    let mut first = true;
    world.script(move |passing| {
        let is_data = passing.datagram.kind() == netloom_proto::packet::PacketType::Data as u8;
        if is_data && std::mem::take(&mut first) {
            passing.drop();
        }
    });
    world.send(CLIENT, client, ORDERED, &message_of(0, 1_000)).unwrap();
    world.step();
    for channel in [PRIORITY, ORDERED, UNORDERED, UNRELIABLE, SEQUENCED] {
        world.send(CLIENT, client, channel, &message_of(1, 10)).unwrap();
    }
    world.run_for(ms(25));
    for channel in [PRIORITY, UNORDERED, UNRELIABLE, SEQUENCED] {
        assert_eq!(numbers(&world, SERVER, channel), [1], "channel {channel} is not held back");
    }
    assert_eq!(numbers(&world, SERVER, ORDERED), []);
    world.run_for(ms(300));
    assert_eq!(numbers(&world, SERVER, ORDERED), [0, 1]);
}
