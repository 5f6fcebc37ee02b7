//! The connection's states end to end: how each is reached, what it allows, and how it ends.

mod common;

use common::*;
use netloom_proto::packet::PacketType;
use netloom_proto::{DisconnectReason, Micros, Rejection, SendError, State};

#[test]
fn a_client_passes_through_the_documented_states() {
    let mut world = World::new(sealed(), sealed());
    let peer = world.start_connecting(CLIENT, None);
    let mut states = vec![world.client().state(peer)];
    for step in 0..200 {
        if step == 60 {
            world.disconnect(CLIENT, peer, DisconnectReason::Requested);
        }
        let state = world.client().state(peer);
        if states.last() != Some(&state) {
            states.push(state);
        }
        world.step();
    }
    assert_eq!(states, [State::Connecting, State::Connected, State::Disconnecting, State::Disconnected]);
}

#[test]
fn nothing_can_be_sent_outside_connected() {
    let mut world = World::new(sealed(), sealed());
    let peer = world.start_connecting(CLIENT, None);
    for channel in 0..5 {
        assert_eq!(world.send(CLIENT, peer, channel, b"early"), Err(SendError::NotConnected));
    }
    world.run_for(ms(300));
    assert_eq!(world.send(CLIENT, peer, ORDERED, b"in time"), Ok(()));
    world.run_for(ms(100));
    world.disconnect(CLIENT, peer, DisconnectReason::Requested);
    assert_eq!(world.send(CLIENT, peer, ORDERED, b"leaving"), Err(SendError::NotConnected));
    world.run_for(secs(3));
    assert_eq!(world.send(CLIENT, peer, ORDERED, b"late"), Err(SendError::NotConnected));
    assert_eq!(world.server().messages(ORDERED), [b"in time"]);
}

#[test]
fn keepalives_hold_an_idle_connection_for_minutes_and_cost_little() {
    for config in [sealed(), plain()] {
        let (mut world, client, server) = World::connected(config);
        world.tick = ms(20);
        world.run_for(secs(300));
        assert_eq!(world.client().state(client), State::Connected);
        assert_eq!(world.server().state(server), State::Connected);
        let packets = world.recorded.len();
        assert!(packets <= 4 * 301, "{packets} packets in 300 s");
        assert!(world.server().events.is_empty() && world.client().events.is_empty());
    }
}

#[test]
fn silence_ends_a_connection_after_the_peer_timeout_and_not_before() {
    let (mut world, client, server) = World::connected(sealed());
    world.script(Passing::drop);
    let last = world.server().stats(server).last_received;
    world.run_until(secs(12), |world| !world.nodes[SERVER].events.is_empty());
    assert_eq!(world.server().ends(), [DisconnectReason::Timeout]);
    let silence = world.now - last;
    assert!(silence >= secs(10) && silence < secs(10) + ms(50), "{silence:?}");
    world.run_for(secs(1));
    assert_eq!(world.client().ends(), [DisconnectReason::Timeout]);
    assert_eq!(world.client().state(client), State::Disconnected);
    assert_eq!(world.server().endpoint.peer_count(), 0);
}

#[test]
fn a_broken_stream_ends_a_connection_at_once_and_its_seat_can_be_taken_up() {
    let mut world = World::new(sealed(), sealed());
    let client = world.start_connecting(CLIENT, None);
    world.run_for(ms(300));
    let (server, token) = (world.server().peer(), world.client().resume_token());
    let (now, address) = (world.now, world.nodes[CLIENT].address);
    world.nodes[SERVER].endpoint.handle_broken(now, "10.9.9.9:9".parse().unwrap());
    assert_eq!(world.server().state(server), State::Connected, "somebody else's stream");
    world.nodes[SERVER].endpoint.handle_broken(now, address);
    assert!(!world.server().endpoint.is_in_use(address));
    world.run_for(ms(50));
    assert_eq!(world.server().ends(), [DisconnectReason::Broken]);
    assert_eq!(world.client().state(client), State::Connected, "nothing was said to it");
    let (now, at) = (world.now, world.nodes[SERVER].address);
    world.nodes[CLIENT].endpoint.handle_broken(now, at);
    assert!(token.is_some());
    world.nodes[CLIENT].endpoint.connect(now, at, token).unwrap();
    world.run_for(secs(1));
    assert_eq!(world.client().ends(), [DisconnectReason::Broken]);
    assert_eq!(world.server().connects(), 2);
}

#[test]
fn a_peer_that_only_receives_goes_on_acknowledging() {
    for is_first_packet_lost in [false, true] {
        acknowledge_for_a_minute(is_first_packet_lost);
    }
}

/// The server acknowledges twelve thousand packets and sends at most one of its own.
fn acknowledge_for_a_minute(is_first_packet_lost: bool) {
    let (mut world, client, server) = World::connected(sealed());
    if is_first_packet_lost {
        world.send(SERVER, server, UNRELIABLE, b"lost").unwrap();
        world.script(Passing::drop);
        world.step();
        world.perfect_link();
    }
    for number in 0..12_000u32 {
        let message = number.to_le_bytes();
        world.send(CLIENT, client, UNRELIABLE, &message).unwrap();
        world.step();
    }
    world.run_for(ms(200));
    assert_eq!(world.client().state(client), State::Connected);
    assert_eq!(world.server().state(server), State::Connected);
    assert_eq!(world.server().messages(UNRELIABLE).len(), 12_000);
    let stats = world.client().stats(client);
    assert!(stats.packets_in_flight <= 2, "{stats:?}");
    assert_eq!(stats.counters.packets_lost, 0);
}

#[test]
fn either_side_says_goodbye_and_both_learn_why() {
    for leaving in [CLIENT, SERVER] {
        let (mut world, client, server) = World::connected(sealed());
        let staying = 1 - leaving;
        let peers = [server, client];
        world.disconnect(leaving, peers[leaving], DisconnectReason::Kicked);
        world.run_for(ms(100));
        assert_eq!(world.nodes[leaving].ends(), [DisconnectReason::Kicked]);
        assert_eq!(world.nodes[staying].ends(), [DisconnectReason::Kicked]);
        world.run_for(secs(5));
        for node in &world.nodes {
            assert_eq!(node.endpoint.peer_count(), 0);
            assert_eq!(node.ends().len(), 1, "told once");
            assert_eq!(node.endpoint.poll_timeout(), None, "nothing is left to do");
        }
        assert_eq!(world.nodes[leaving].endpoint.stats(peers[leaving]), None);
        assert_eq!(world.nodes[staying].endpoint.stats(peers[staying]), None);
    }
}

#[test]
fn a_lost_goodbye_is_repeated_and_a_lost_confirmation_too() {
    for (lost_from, losses) in [(CLIENT, 3), (SERVER, 3)] {
        let (mut world, client, _) = World::connected(sealed());
        let address = world.nodes[lost_from].address;
        let mut left = losses;
        world.script(move |passing| {
            let is_goodbye = passing.datagram.kind() == PacketType::Disconnect as u8;
            if is_goodbye && passing.datagram.from == address && left > 0 {
                left -= 1;
                passing.drop();
            }
        });
        world.disconnect(CLIENT, client, DisconnectReason::Requested);
        world.run_for(ms(700));
        assert_eq!(world.client().ends(), [DisconnectReason::Requested]);
        assert_eq!(world.server().ends(), [DisconnectReason::Requested]);
        assert_eq!(world.client().endpoint.peer_count(), 0);
    }
}

#[test]
fn without_any_confirmation_a_goodbye_ends_after_its_timeout() {
    let (mut world, client, _) = World::connected(sealed());
    world.script(Passing::drop);
    world.disconnect(CLIENT, client, DisconnectReason::Requested);
    world.run_for(ms(1_950));
    assert_eq!(world.client().state(client), State::Disconnecting);
    assert_eq!(world.client().ends(), []);
    world.run_for(ms(100));
    assert_eq!(world.client().ends(), [DisconnectReason::Requested]);
    assert_eq!(world.client().state(client), State::Disconnected);
    world.run_for(secs(10));
    assert_eq!(world.server().ends(), [DisconnectReason::Timeout], "the other side never heard it");
}

#[test]
fn both_sides_may_leave_at_once() {
    let (mut world, client, server) = World::connected(sealed());
    world.disconnect(CLIENT, client, DisconnectReason::Requested);
    world.disconnect(SERVER, server, DisconnectReason::Shutdown);
    world.run_for(secs(3));
    assert_eq!(world.client().ends().len(), 1);
    assert_eq!(world.server().ends().len(), 1);
    assert_eq!(world.client().endpoint.peer_count() + world.server().endpoint.peer_count(), 0);
}

#[test]
fn a_shutdown_tells_every_peer() {
    let (mut world, _, _) = World::connected(sealed());
    let second = world.add("10.0.1.3:50000", sealed(), None);
    world.start_connecting(second, None);
    world.run_for(ms(300));
    let now = world.now;
    world.server().endpoint.shutdown(now);
    world.run_for(ms(300));
    for client in [CLIENT, second] {
        assert_eq!(world.nodes[client].ends(), [DisconnectReason::Shutdown]);
    }
    assert_eq!(world.server().endpoint.peer_count(), 0);
}

#[test]
fn data_after_the_goodbye_is_dropped_and_counted() {
    let (mut world, client, server) = World::connected(sealed());
    world.disconnect(SERVER, server, DisconnectReason::Requested);
    world.send(CLIENT, client, ORDERED, b"crossing").unwrap();
    world.run_for(secs(3));
    assert_eq!(world.server().messages(ORDERED), Vec::<Vec<u8>>::new());
    assert!(world.server().rejected(Rejection::WrongState) >= 1);
}

#[test]
fn nothing_follows_the_end_of_a_connection() {
    let (mut world, client, server) = World::connected(sealed());
    // The server's last packets and its confirmations are lost, so the client's goodbye comes again and again, with
    // the acknowledgement of an earlier packet.
    let send = |world: &mut World, tag: u64| {
        let sent = world.server().endpoint.send_tagged(server, UNRELIABLE, b"news", tag);
        sent.unwrap();
    };
    send(&mut world, 0);
    world.run_for(ms(60));
    world.script(|passing| {
        if passing.datagram.from.port() == 7777 {
            passing.drop();
        }
    });
    send(&mut world, 1);
    world.step();
    world.disconnect(CLIENT, client, DisconnectReason::Requested);
    world.run_for(secs(5));
    let events = &world.server().events;
    let end = events
        .iter()
        .position(|(_, seen)| matches!(seen, Seen::Disconnected(..)))
        .expect("the goodbye arrived");
    assert_eq!(&events[end + 1..], [], "an event after the end");
}

#[test]
fn what_waited_for_room_comes_before_the_end_of_the_connection() {
    let config = netloom_proto::Config { events_queued_max: 512, ..sealed() };
    let (mut world, client, _) = World::connected(config);
    world.run_for(secs(3));
    // The first message is late, so that the others wait for it and then find no room for all of them.
    let mut first = true;
    world.script(move |passing| {
        if passing.datagram.kind() == PacketType::Data as u8 && std::mem::take(&mut first) {
            passing.drop();
        }
    });
    world.server().is_stalled = true;
    for number in 0..700u32 {
        let mut message = [0; 300];
        message[..4].copy_from_slice(&number.to_le_bytes());
        world.send(CLIENT, client, ORDERED, &message).unwrap();
    }
    world.run_until(secs(5), |world| {
        let peer = world.nodes[SERVER].peer();
        world.nodes[SERVER].stats(peer).queue_depth >= 512
    });
    world.run_for(ms(100));
    let acked = 700 - world.client().stats(client).pending_bytes / 300;
    assert!(acked > 520, "only {acked} messages were acknowledged");
    world.disconnect(CLIENT, client, DisconnectReason::Requested);
    world.run_for(ms(200));
    world.server().is_stalled = false;
    world.run_for(secs(1));
    let events = &world.server().events;
    assert!(matches!(events.last(), Some((_, Seen::Disconnected(..)))));
    let numbers: Vec<u32> = world
        .server()
        .messages(ORDERED)
        .iter()
        .map(|message| u32::from_le_bytes(message[..4].try_into().unwrap()))
        .collect();
    assert!(numbers.len() >= acked, "{} of {acked} acknowledged messages", numbers.len());
    assert!(numbers.iter().copied().eq(0..numbers.len() as u32), "in order");
}

#[test]
fn repeated_goodbyes_do_not_keep_a_connection_in_memory() {
    let (mut world, _, server) = World::connected(plain());
    let mut forger = forge::Forger::impersonate(&mut world);
    for _ in 0..60 {
        let goodbye = forger.packet(PacketType::Disconnect, &[0, 0]);
        world.inject_to_server(&goodbye);
        world.run_for(ms(500));
    }
    assert_eq!(world.server().ends(), [DisconnectReason::Requested]);
    assert_eq!(world.server().endpoint.stats(server), None);
    assert_eq!(world.server().endpoint.poll_timeout(), None);
}

#[test]
fn a_violation_of_the_protocol_ends_the_connection_with_a_word() {
    let (mut world, _, server) = World::connected(plain());
    let mut forger = forge::Forger::impersonate(&mut world);
    // A fragment that would have begun before the first message of the channel.
    let kind = netloom_proto::ChannelKind::Ordered;
    let broken = forger.data(&[forge::part(ORDERED, kind, 0, (3, 5), b"x")]);
    world.forget();
    world.inject_to_server(&broken);
    world.run_for(ms(50));
    assert_eq!(world.server().state(server), State::Disconnecting);
    assert!(!world.recorded_of(PacketType::Disconnect).is_empty());
    world.run_for(secs(3));
    assert_eq!(world.server().ends(), [DisconnectReason::Protocol]);
    assert_eq!(world.server().endpoint.poll_timeout(), None);
}

#[test]
fn a_driver_that_sleeps_until_poll_timeout_misses_nothing_and_does_not_spin() {
    let mut world = World::new(sealed(), sealed());
    let peer = world.start_connecting(CLIENT, None);
    let mut wakeups = 0;
    // Time moves to the next timeout or arrival instead of in ticks.
    let mut in_flight: Vec<(Micros, usize, Vec<u8>)> = vec![];
    let end = secs(60);
    let mut now = Micros::ZERO;
    while now < end {
        wakeups += 1;
        for (index, node) in world.nodes.iter_mut().enumerate() {
            node.endpoint.begin_tick(now);
            while node.endpoint.poll_event().is_some() {}
            let mut buffer = [0; 1200];
            while let Some(transmit) = node.endpoint.poll_transmit(now, &mut buffer) {
                in_flight.push((now + ms(20), 1 - index, buffer[..transmit.length].to_vec()));
            }
        }
        let timeouts = world.nodes.iter().filter_map(|node| node.endpoint.poll_timeout());
        let arrivals = in_flight.iter().map(|&(at, ..)| at);
        now =
            timeouts.chain(arrivals).min().expect("an idle connection still has timers").max(now + Micros(1));
        let (due, rest): (Vec<_>, Vec<_>) = in_flight.into_iter().partition(|&(at, ..)| at <= now);
        in_flight = rest;
        for (_, to, mut bytes) in due {
            let from = world.nodes[1 - to].address;
            world.nodes[to].endpoint.handle_datagram(now, from, &mut bytes);
        }
    }
    assert_eq!(world.client().state(peer), State::Connected);
    assert!(wakeups < 1_000, "{wakeups} wake-ups in an idle minute");
}
