//! A hostile but authenticated peer, and a clock that jumps.

mod common;

use common::forge::{Forger, part, payload, whole};
use common::*;
use netloom_proto::config::ChannelConfig;
use netloom_proto::frame::LinkFrame;
use netloom_proto::packet::PacketType;
use netloom_proto::{ChannelKind, Config, DisconnectReason, Micros, PeerId, Rejection, State};

const SMALL: usize = 4_000;

/// A plain session with small limits, whose client is hostile.
fn hostile() -> (World, Forger, PeerId) {
    let mut config = plain();
    for channel in &mut config.channels {
        *channel = ChannelConfig {
            message_bytes_max: SMALL,
            pending_bytes_max: SMALL,
            receive_bytes_max: SMALL,
            ..*channel
        };
    }
    let (mut world, _, server) = World::connected(config);
    let forger = Forger::impersonate(&mut world);
    world.forget();
    (world, forger, server)
}

fn waiting(world: &mut World, server: PeerId) -> usize {
    world.server().endpoint.stats(server).map_or(0, |stats| stats.waiting_bytes)
}

/// What one channel may hold: its limit, and the one message that everything waits for.
const HELD_MAX: usize = 2 * SMALL;

#[test]
fn half_messages_on_unreliable_channels_stay_within_the_limit() {
    for (channel, kind) in [(UNRELIABLE, ChannelKind::Unreliable), (SEQUENCED, ChannelKind::Sequenced)] {
        let (mut world, mut forger, server) = hostile();
        for id in 0..2_000u16 {
            let packet = forger.data(&[part(channel, kind, id, (0, 4), &[7; 900])]);
            world.inject_to_server(&packet);
            assert!(waiting(&mut world, server) <= SMALL);
        }
        world.step();
        assert_eq!(world.server().messages(channel), Vec::<Vec<u8>>::new());
    }
}

#[test]
fn half_messages_on_reliable_channels_stay_within_the_limit() {
    for (channel, kind) in [
        (PRIORITY, ChannelKind::Priority),
        (ORDERED, ChannelKind::Ordered),
        (UNORDERED, ChannelKind::Unordered),
    ] {
        // Every other part of message after message, so that none is ever complete.
        let (mut world, mut forger, server) = hostile();
        for id in (1..1_024u16).step_by(2) {
            let packet = forger.data(&[part(channel, kind, id, (1, 4), &[7; 900])]);
            world.inject_to_server(&packet);
            assert!(waiting(&mut world, server) <= HELD_MAX, "at {id}: {}", waiting(&mut world, server));
        }
        assert!(world.server().rejected(Rejection::NoRoom) > 100);

        // One message of as many parts as the format allows, in order, so that each could be the one that is waited for.
        let (mut world, mut forger, server) = hostile();
        for id in 0..511u16 {
            let packet = forger.data(&[part(channel, kind, id, (id, 512), &[7; 1_100])]);
            world.inject_to_server(&packet);
            assert!(waiting(&mut world, server) <= HELD_MAX, "at {id}: {}", waiting(&mut world, server));
        }
    }
}

#[test]
fn a_message_larger_than_the_channel_allows_is_not_delivered() {
    for (channel, kind) in [
        (ORDERED, ChannelKind::Ordered),
        (UNORDERED, ChannelKind::Unordered),
        (UNRELIABLE, ChannelKind::Unreliable),
        (SEQUENCED, ChannelKind::Sequenced),
    ] {
        let (mut world, mut forger, _) = hostile();
        for index in 0..6u16 {
            let id = if kind.is_reliable() { index } else { 0 };
            let packet = forger.data(&[part(channel, kind, id, (index, 6), &[7; 900])]);
            world.inject_to_server(&packet);
        }
        world.run_for(ms(100));
        let longest = world.server().messages(channel).iter().map(Vec::len).max();
        assert_eq!(longest, None, "more than {SMALL} bytes on channel {channel}");
    }
}

#[test]
fn two_hundred_and_fifty_five_messages_in_a_datagram_arrive() {
    let (mut world, mut forger, _) = hostile();
    let frames: Vec<_> = (0..255).map(|_| whole(UNRELIABLE, ChannelKind::Unreliable, 0, b"x")).collect();
    let packet = forger.data(&frames);
    world.inject_to_server(&packet);
    world.run_for(ms(50));
    assert_eq!(world.server().messages(UNRELIABLE).len(), 255);
}

#[test]
fn a_reliable_message_far_ahead_is_out_of_the_window() {
    let (mut world, mut forger, server) = hostile();
    for id in [1_024u16, 5_000, 32_767] {
        let packet = forger.data(&[whole(ORDERED, ChannelKind::Ordered, id, b"x")]);
        world.inject_to_server(&packet);
    }
    assert_eq!(world.server().rejected(Rejection::OutOfWindow), 3);
    assert_eq!(world.server().stats(server).waiting_bytes, 0);
    // The last one within it is taken.
    let packet = forger.data(&[whole(ORDERED, ChannelKind::Ordered, 1_023, b"x")]);
    world.inject_to_server(&packet);
    assert_eq!(world.server().rejected(Rejection::OutOfWindow), 3);
    assert_eq!(world.server().stats(server).waiting_bytes, 1);
    assert_eq!(world.server().state(server), State::Connected);
}

#[test]
fn inconsistent_fragments_end_the_session() {
    let kind = ChannelKind::Ordered;
    let cases: [&[_]; 4] = [
        // Begins before the channel does.
        &[part(ORDERED, kind, 0, (1, 3), b"x")],
        // The middle belongs to another message.
        &[
            part(ORDERED, kind, 1, (0, 2), b"x"),
            part(ORDERED, kind, 2, (1, 3), b"x"),
            part(ORDERED, kind, 0, (0, 3), b"x"),
        ],
        // A whole message inside a fragmented one.
        &[
            part(ORDERED, kind, 2, (2, 3), b"x"),
            whole(ORDERED, kind, 1, b"x"),
            part(ORDERED, kind, 0, (0, 3), b"x"),
        ],
        // Two lengths for one unreliable message.
        &[
            part(UNRELIABLE, ChannelKind::Unreliable, 0, (0, 2), b"x"),
            part(UNRELIABLE, ChannelKind::Unreliable, 0, (1, 3), b"x"),
        ],
    ];
    for frames in cases {
        let (mut world, mut forger, server) = hostile();
        let packet = forger.data(frames);
        world.inject_to_server(&packet);
        assert_eq!(world.server().state(server), State::Disconnecting, "{frames:?}");
        world.run_for(secs(3));
        assert_eq!(world.server().ends(), [DisconnectReason::Protocol]);
        assert!((0..5).all(|channel| world.nodes[SERVER].messages(channel).is_empty()));
    }
}

#[test]
fn hostile_redundancy_delivers_nothing_twice_and_nothing_unreliable() {
    let (mut world, mut forger, server) = hostile();
    let block = payload(|writer| {
        assert!(writer.message(&whole(ORDERED, ChannelKind::Ordered, 0, b"once")));
    });
    let block = &block[1..];
    for distance in (1..=8).cycle().take(64) {
        let copies = [LinkFrame { distance, parity: None, body: block }; 20];
        let packet = forger.links(&copies);
        world.inject_to_server(&packet);
    }
    world.run_for(ms(50));
    assert_eq!(world.server().messages(ORDERED), [b"once"]);
    assert_eq!(world.server().state(server), State::Connected);

    // Parities of anything with anything: whatever they give, it is a protocol violation or nothing.
    for (distance, other, lengths, body) in
        [(1, 2, 255, &[0xff; 255][..]), (1, 8, 0, &[]), (7, 8, 3, &[1; 200])]
    {
        let parity = LinkFrame { distance, parity: Some((other, lengths)), body };
        let packet = forger.links(&[parity; 4]);
        world.inject_to_server(&packet);
    }
    world.run_for(ms(50));
    assert_eq!(world.server().messages(ORDERED).len(), 1);
}

#[test]
fn a_block_may_hold_only_whole_reliable_messages() {
    let blocks = [
        payload(|writer| {
            assert!(writer.message(&whole(UNRELIABLE, ChannelKind::Unreliable, 0, b"smuggled")));
        }),
        payload(|writer| {
            assert!(writer.message(&part(ORDERED, ChannelKind::Ordered, 0, (0, 2), b"smuggled")));
        }),
        vec![1, 0xff, 0xff],
    ];
    for block in blocks {
        let (mut world, mut forger, server) = hostile();
        let copy = LinkFrame { distance: 1, parity: None, body: &block[1..] };
        let packet = forger.links(&[copy]);
        world.inject_to_server(&packet);
        assert_eq!(world.server().state(server), State::Disconnecting);
        world.run_for(ms(50));
        assert_eq!(world.server().messages(UNRELIABLE), Vec::<Vec<u8>>::new());
    }
}

#[test]
fn parity_in_its_long_near_form_is_refused() {
    let (mut world, mut forger, server) = hostile();
    // Distances 1 and 2, lengths equal, one byte of body: near parity says the same in fewer bytes.
    let packet = forger.packet(PacketType::Data, &[1, 0x1f, 0x21, 0, 1, 7]);
    world.inject_to_server(&packet);
    assert_eq!(world.server().rejected(Rejection::Malformed), 1);
    for taken in [&[1, 0x2f, 1, 7][..], &[1, 0x1f, 0x21, 1, 1, 7], &[1, 0x1f, 0x31, 0, 1, 7]] {
        let packet = forger.packet(PacketType::Data, taken);
        world.inject_to_server(&packet);
    }
    assert_eq!(world.server().rejected(Rejection::Malformed), 1);
    assert_eq!(world.server().state(server), State::Connected);
}

#[test]
fn malformed_payloads_are_counted_and_change_nothing() {
    let (mut world, mut forger, server) = hostile();
    let before = world.server().stats(server).counters;
    let payloads: [&[u8]; 9] = [
        &[],
        &[0],
        &[1],
        &[2, 0, 0, 0, 1, b'x'],
        &[1, 0, 0, 0, 1, b'x', b'y'],
        &[1, 9, 0, 0, 1, b'x'],
        &[1, 0x40, 0, 0, 1, b'x'],
        &[1, 0, 0, 0, 200, b'x'],
        &[1, 0x11, 0, 0, 5, 5, 1, b'x'],
    ];
    for payload in payloads {
        let packet = forger.packet(PacketType::Data, payload);
        world.inject_to_server(&packet);
    }
    for (kind, payload) in [
        (PacketType::Ack, &[1][..]),
        (PacketType::KeepAlive, &[1]),
        (PacketType::Disconnect, &[]),
        (PacketType::Disconnect, &[2, 0]),
        (PacketType::PathChallenge, &[0; 7]),
        (PacketType::PathResponse, &[0; 9]),
    ] {
        let packet = forger.packet(kind, payload);
        world.inject_to_server(&packet);
    }
    assert_eq!(world.server().rejected(Rejection::Malformed), 15);
    assert_eq!(world.server().stats(server).counters, before);
    assert_eq!(world.server().state(server), State::Connected);
}

#[test]
fn a_message_that_never_gets_through_ends_the_connection() {
    let config = Config { resends_max: 5, peer_timeout: secs(600), ..sealed() };
    let (mut world, client, _) = World::connected(config);
    // Data is lost, everything else passes: the other side is alive but the message does not arrive.
    world.script(|passing| {
        if passing.datagram.kind() == PacketType::Data as u8 {
            passing.drop();
        }
    });
    world.send(CLIENT, client, ORDERED, &[1; 500]).unwrap();
    world.run_for(secs(30));
    assert_eq!(world.client().ends(), [DisconnectReason::Undeliverable]);
    let sent = world.recorded_of(PacketType::Data);
    let with_message = sent.iter().filter(|datagram| datagram.bytes.len() > 500).count();
    assert!((6..=7).contains(&with_message), "sent {with_message} times");
    assert_eq!(world.server().ends(), [DisconnectReason::Undeliverable], "and the other side is told");
}

#[test]
fn a_clock_that_goes_back_disturbs_nothing() {
    let (mut world, client, server) = World::connected(sealed());
    world.run_for(secs(5));
    for step in 0..200u64 {
        // The driver's clock is wrong by up to an hour every other call.
        let wrong = world.now - secs(step * 20 % 3_600);
        let mut buffer = [0; 1200];
        for node in &mut world.nodes {
            node.endpoint.begin_tick(wrong);
            node.endpoint.handle_datagram(wrong, "10.0.0.9:9".parse().unwrap(), &mut [5; 40]);
            assert_eq!(node.endpoint.poll_transmit(wrong, &mut buffer), None);
        }
        world.send(CLIENT, client, ORDERED, &step.to_le_bytes()).unwrap();
        world.step();
    }
    world.run_for(ms(300));
    assert_eq!(world.server().messages(ORDERED).len(), 200);
    assert_eq!(world.client().state(client), State::Connected);
    assert_eq!(world.server().state(server), State::Connected);
}

#[test]
fn a_clock_that_jumps_ahead_ends_silent_connections_and_nothing_else() {
    for jump in [secs(3_600), secs(40 * 365 * 86_400), Micros(u64::MAX - 1_000_000_000), Micros::MAX] {
        let (mut world, client, _) = World::connected(sealed());
        world.send(CLIENT, client, ORDERED, &[1; 20_000]).unwrap();
        world.step();
        let late = jump.max(world.now);
        let mut buffer = [0; 1200];
        for _ in 0..3 {
            for node in &mut world.nodes {
                node.endpoint.begin_tick(late);
                for _ in 0..100 {
                    if node.endpoint.poll_transmit(late, &mut buffer).is_none() {
                        break;
                    }
                }
                for _ in 0..100 {
                    let Some((peer, event)) = node.endpoint.poll_event() else {
                        break;
                    };
                    let seen = Seen::from(event);
                    node.events.push((peer, seen));
                }
            }
        }
        for node in &world.nodes {
            assert_eq!(node.ends(), [DisconnectReason::Timeout]);
            assert_eq!(node.endpoint.peer_count(), 0);
        }
    }
}

#[test]
fn a_clock_that_jumps_ahead_by_minutes_does_not_become_a_round_trip() {
    let (mut world, client, server) = World::connected(sealed());
    for number in 0..40u32 {
        world.send(CLIENT, client, ORDERED, &number.to_le_bytes()).unwrap();
        world.send(SERVER, server, ORDERED, &number.to_le_bytes()).unwrap();
        world.step();
        if number % 10 == 5 {
            // Both machines slept with packets in flight: those arrive before anybody looks at a timer.
            world.now += secs(300);
        }
        world.run_for(ms(50));
    }
    world.run_for(ms(300));
    assert_eq!(world.server().messages(ORDERED).len(), 40);
    assert_eq!(world.client().state(client), State::Connected);
    for (node, peer) in [(CLIENT, client), (SERVER, server)] {
        let stats = world.nodes[node].stats(peer);
        assert!(stats.rtt < ms(100), "{:?}", stats.rtt);
        assert!(stats.rtt_min < ms(100), "{:?}", stats.rtt_min);
    }
}

#[test]
fn after_a_jump_of_hours_a_new_connection_can_be_made() {
    let (mut world, _, _) = World::connected(sealed());
    world.now += secs(7 * 3_600);
    world.run_for(ms(100));
    world.forget();
    world.connect();
}
