//! How many events a tick hands out, and in which order.

mod common;

use common::*;
use netloom_proto::{Config, DisconnectReason, PeerId};

/// A connected world whose server has `waiting` messages in its queue; its initial window is over or not.
fn with_waiting(waiting: u32, after: netloom_proto::Micros) -> (World, PeerId) {
    let (mut world, client, server) = World::connected(sealed());
    world.run_for(after);
    world.server().is_stalled = true;
    for number in 0..waiting {
        world.send(CLIENT, client, UNORDERED, &number.to_le_bytes()).unwrap();
    }
    world.run_for(ms(200));
    world.forget();
    world.server().is_stalled = false;
    (world, server)
}

/// Events that each of the next ticks hands out.
fn per_tick(world: &mut World, ticks: usize) -> Vec<usize> {
    let count = |world: &mut World| {
        world.forget();
        world.step();
        world.server().events.len()
    };
    (0..ticks).map(|_| count(world)).collect()
}

#[test]
fn sixty_four_events_a_tick_and_the_rest_waits_for_the_next() {
    let (mut world, _) = with_waiting(150, secs(3));
    assert_eq!(per_tick(&mut world, 4), [64, 64, 22, 0]);
}

#[test]
fn a_new_connection_may_hand_out_512_for_two_seconds() {
    let (mut world, _) = with_waiting(600, ms(0));
    assert_eq!(per_tick(&mut world, 3), [512, 88, 0]);
    let (mut world, _) = with_waiting(200, ms(2_000));
    assert_eq!(per_tick(&mut world, 1), [64], "the two seconds are over");
}

#[test]
fn pressure_raises_the_limit_to_256_after_two_ticks_in_a_row() {
    let (mut world, server) = with_waiting(700, secs(3));
    assert_eq!(per_tick(&mut world, 5), [64, 256, 256, 64, 60]);
    assert_eq!(world.server().stats(server).queue_pressure_events, 2);
    // Exactly four times the limit is no pressure yet.
    let (mut world, server) = with_waiting(256, secs(3));
    assert_eq!(per_tick(&mut world, 4), [64, 64, 64, 64]);
    assert_eq!(world.server().stats(server).queue_pressure_events, 0);
}

#[test]
fn the_limit_is_per_connection() {
    let (mut world, _) = with_waiting(100, secs(3));
    let second = world.add("10.0.1.3:50000", sealed(), None);
    let peer = world.start_connecting(second, None);
    world.run_for(secs(3));
    world.server().is_stalled = true;
    for node in [CLIENT, second] {
        let peer = if node == second { peer } else { world.client().peer() };
        for number in 0..100u32 {
            world.send(node, peer, UNORDERED, &number.to_le_bytes()).unwrap();
        }
    }
    world.run_for(ms(200));
    world.server().is_stalled = false;
    assert_eq!(per_tick(&mut world, 3), [128, 72, 0]);
}

#[test]
fn the_queue_depth_is_what_is_left() {
    let (mut world, server) = with_waiting(150, secs(3));
    assert_eq!(world.server().stats(server).queue_depth, 150);
    world.step();
    assert_eq!(world.server().stats(server).queue_depth, 86);
}

#[test]
fn disconnects_come_before_data_and_data_before_connects_but_each_peer_in_its_own_order() {
    let config = sealed;
    let mut world = World::new(config(), config());
    let talker = CLIENT;
    let leaver = world.add("10.0.1.3:50000", config(), None);
    let newcomer = world.add("10.0.1.4:50000", config(), None);
    let talking = world.start_connecting(talker, None);
    world.run_for(ms(300));
    let leaving = world.start_connecting(leaver, None);
    world.run_for(ms(300));
    world.forget();
    world.server().is_stalled = true;
    world.send(talker, talking, ORDERED, b"talk").unwrap();
    world.start_connecting(newcomer, None);
    world.run_for(ms(200));
    world.send(leaver, leaving, ORDERED, b"last words").unwrap();
    world.run_for(ms(100));
    world.disconnect(leaver, leaving, DisconnectReason::Requested);
    world.run_for(ms(100));
    world.server().is_stalled = false;
    world.step();
    let told: Vec<_> = world
        .server()
        .events
        .iter()
        .map(|(peer, seen)| match seen {
            Seen::Connected { .. } => (peer.index(), "connected"),
            Seen::Message(..) => (peer.index(), "message"),
            Seen::Outcome(..) => (peer.index(), "outcome"),
            Seen::Disconnected(..) => (peer.index(), "disconnected"),
        })
        .collect();
    assert_eq!(told, [(1, "message"), (1, "disconnected"), (0, "message"), (2, "connected")]);
}

#[test]
fn a_peer_that_came_and_went_is_told_in_order() {
    let (mut world, _, _) = World::connected(sealed());
    let visitor = world.add("10.0.1.3:50000", sealed(), None);
    world.server().is_stalled = true;
    let peer = world.start_connecting(visitor, None);
    world.run_for(ms(200));
    world.send(visitor, peer, ORDERED, b"hello").unwrap();
    world.run_for(ms(100));
    world.disconnect(visitor, peer, DisconnectReason::Requested);
    world.run_for(ms(100));
    world.forget();
    world.server().is_stalled = false;
    world.step();
    let told: Vec<_> = world.server().events.iter().map(|(_, seen)| seen.clone()).collect();
    assert!(matches!(
        told.as_slice(),
        [
            Seen::Connected { .. },
            Seen::Message(ORDERED, _),
            Seen::Disconnected(DisconnectReason::Requested, None)
        ]
    ));
}

#[test]
fn refused_packets_do_not_use_up_the_limit() {
    let (mut world, _) = with_waiting(100, secs(3));
    for _ in 0..1_000 {
        world.inject_to_server(&[5; 60]);
    }
    assert_eq!(per_tick(&mut world, 2), [64, 36]);
    assert_eq!(world.server().endpoint.rejections().total(), 1_000);
}

#[test]
fn a_configured_limit_holds() {
    let config = Config { events_per_tick: 10, events_initial: 20, ..sealed() };
    let (mut world, client, _) = World::connected(config);
    world.server().is_stalled = true;
    for number in 0..100u32 {
        world.send(CLIENT, client, UNORDERED, &number.to_le_bytes()).unwrap();
    }
    world.run_for(ms(100));
    world.server().is_stalled = false;
    assert_eq!(per_tick(&mut world, 2), [20, 40], "initial, then four times ten under pressure");
}

#[test]
fn bytes_of_waiting_events_are_bounded_and_nothing_is_lost_when_the_reader_resumes() {
    const MESSAGE: usize = 2_000;
    const SENT: u32 = 300;
    for channel in [ORDERED, UNORDERED] {
        let config = Config { event_bytes_max: 1 << 16, ..sealed() };
        let (mut world, client, server) = World::connected(config.clone());
        world.server().is_stalled = true;
        for number in 0..SENT {
            let mut message = [0; MESSAGE];
            message[..4].copy_from_slice(&number.to_le_bytes());
            world.send(CLIENT, client, channel, &message).unwrap();
        }
        world.run_for(secs(3));
        let queued = world.server().stats(server).queue_depth * MESSAGE;
        // The message that reaches the limit is the last one.
        assert!((config.event_bytes_max..config.event_bytes_max + MESSAGE).contains(&queued), "{queued}");
        world.server().is_stalled = false;
        world.run_for(secs(5));
        let mut numbers: Vec<u32> = world
            .server()
            .messages(channel)
            .iter()
            .map(|message| u32::from_le_bytes(message[..4].try_into().unwrap()))
            .collect();
        if channel == UNORDERED {
            numbers.sort_unstable();
        }
        assert!(numbers.into_iter().eq(0..SENT), "channel {channel}");
    }
}
