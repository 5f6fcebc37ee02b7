//! Datagrams that were recorded, damaged, cut, or made up: each is dropped, counted, and changes nothing.

mod common;

use common::forge::{Forger, parse, payload, whole};
use common::*;
use netloom_proto::packet::{Ack, Header, PacketType, SessionRef};
use netloom_proto::{ChannelKind, Config, Rejection, State};

/// Some traffic of every kind, both ways; returns what went to the server.
fn traffic(world: &mut World, ticks: u32) -> Vec<Datagram> {
    let (client, server) = (world.client().peer(), world.server().peer());
    world.forget();
    for number in 0..ticks {
        let message = [number as u8; 40];
        for channel in 0..5 {
            world.send(CLIENT, client, channel, &message).unwrap();
            world.send(SERVER, server, channel, &message).unwrap();
        }
        world.step();
    }
    world.run_for(ms(100));
    let address = world.nodes[SERVER].address;
    let to_server = world.recorded.iter().filter(|datagram| datagram.to == address);
    to_server.cloned().collect()
}

fn messages_of(world: &mut World) -> usize {
    (0..5).map(|channel| world.server().messages(channel).len()).sum()
}

#[test]
fn every_replayed_datagram_is_dropped_and_counted() {
    for config in [sealed(), plain()] {
        let (mut world, client, _) = World::connected(config);
        let recorded = traffic(&mut world, 100);
        let before = messages_of(&mut world);
        let peer = world.server().peer();
        let received = world.server().stats(peer).counters;
        let replayed = world.server().rejected(Rejection::Replayed);
        for datagram in recorded.iter().rev().chain(&recorded) {
            world.inject(datagram.from, datagram.to, &datagram.bytes);
        }
        let dropped = world.server().rejected(Rejection::Replayed) - replayed;
        assert_eq!(dropped, 2 * recorded.len() as u64);
        assert_eq!(world.server().stats(peer).counters, received, "nothing changed");
        world.run_for(ms(100));
        assert_eq!(messages_of(&mut world), before);
        assert_eq!(world.client().state(client), State::Connected);
    }
}

#[test]
fn datagrams_older_than_the_window_are_too_old() {
    let (mut world, _, _) = World::connected(sealed());
    let recorded = traffic(&mut world, 600);
    let before = messages_of(&mut world);
    world.inject(recorded[0].from, recorded[0].to, &recorded[0].bytes);
    assert_eq!(world.server().rejected(Rejection::TooOld), 1);
    world.step();
    assert_eq!(messages_of(&mut world), before);
}

/// A datagram that the server has not seen yet, with a message on every channel.
fn unseen_datagram(config: Config) -> (World, Datagram) {
    let (mut world, client, _) = World::connected(config);
    world.run_for(secs(1));
    world.script(Passing::drop);
    for channel in 0..5 {
        world.send(CLIENT, client, channel, b"secret plans").unwrap();
    }
    world.forget();
    world.step();
    let datagram = world.recorded_of(PacketType::Data).remove(0);
    (world, datagram)
}

#[test]
fn no_damaged_bit_is_ever_delivered() {
    for config in [sealed(), plain()] {
        let (mut world, datagram) = unseen_datagram(config);
        let peer = world.server().peer();
        let before = world.server().stats(peer).counters;
        for bit in 0..datagram.bytes.len() * 8 {
            let mut damaged = datagram.bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            world.inject_to_server(&damaged);
        }
        assert_eq!(world.server().stats(peer).counters, before);
        assert_eq!(
            world.server().endpoint.rejections().total(),
            datagram.bytes.len() as u64 * 8,
            "every one is counted"
        );
        assert!(world.server().rejected(Rejection::Integrity) > datagram.bytes.len() as u64 * 4);
        // The real one is still welcome: nothing of the damaged ones was remembered.
        world.inject_to_server(&datagram.bytes);
        world.step();
        assert_eq!(messages_of(&mut world), 5);
    }
}

#[test]
fn datagrams_cut_at_any_length_or_extended_are_dropped() {
    for config in [sealed(), plain()] {
        let (mut world, datagram) = unseen_datagram(config);
        for length in 0..datagram.bytes.len() {
            world.inject_to_server(&datagram.bytes[..length]);
        }
        let mut longer = datagram.bytes.clone();
        for _ in 0..20 {
            longer.push(0);
            world.inject_to_server(&longer);
        }
        longer.resize(1201, 0);
        world.inject_to_server(&longer);
        longer.resize(65_000, 0);
        world.inject_to_server(&longer);
        let total = world.server().endpoint.rejections().total();
        assert_eq!(total, datagram.bytes.len() as u64 + 22);
        assert_eq!(world.server().rejected(Rejection::TooLong), 2);
        world.step();
        assert_eq!(messages_of(&mut world), 0);
        world.inject_to_server(&datagram.bytes);
        world.step();
        assert_eq!(messages_of(&mut world), 5);
    }
}

#[test]
fn handshake_packets_damaged_or_cut_are_dropped() {
    let mut world = World::new(sealed(), sealed());
    world.script(Passing::drop);
    world.start_connecting(CLIENT, None);
    world.step();
    let connect = world.recorded_of(PacketType::Connect).remove(0);
    for byte in 0..connect.bytes.len() {
        let mut damaged = connect.bytes.clone();
        damaged[byte] ^= 0x10;
        world.inject_to_server(&damaged);
        world.inject_to_server(&connect.bytes[..byte]);
    }
    world.forget();
    world.transmit(SERVER);
    assert_eq!(world.recorded, [], "no answer to any of them");
    assert_eq!(world.server().endpoint.rejections().total(), 2 * connect.bytes.len() as u64);
}

#[test]
fn another_protocol_is_not_answered() {
    let other = Config { protocol_id: 1, ..sealed() };
    let mut world = World::new(sealed(), other);
    world.start_connecting(CLIENT, None);
    world.run_for(secs(1));
    let from_server = world.nodes[SERVER].address;
    assert!(world.recorded.iter().all(|datagram| datagram.from != from_server));
    assert_eq!(world.server().rejected(Rejection::Integrity), world.recorded.len() as u64);
    assert_eq!(world.server().endpoint.peer_count(), 0);
}

#[test]
fn plain_packets_of_another_protocol_are_dropped() {
    let (mut world, _, _) = World::connected(plain());
    let mut forger = Forger::impersonate(&mut world);
    forger.protocol_id ^= 1;
    let foreign = forger.data(&[whole(ORDERED, ChannelKind::Ordered, 0, b"hello")]);
    world.inject_to_server(&foreign);
    world.step();
    assert_eq!(world.server().rejected(Rejection::Integrity), 1);
    assert_eq!(messages_of(&mut world), 0);
}

#[test]
fn unknown_types_and_flags_are_dropped() {
    for config in [sealed(), plain()] {
        let (mut world, datagram) = unseen_datagram(config);
        for kind in PacketType::COUNT..16 {
            let mut unknown = datagram.bytes.clone();
            unknown[0] = unknown[0] & 0xf0 | kind;
            world.inject_to_server(&unknown);
        }
        let unknown_types = u64::from(16 - PacketType::COUNT);
        assert_eq!(world.server().rejected(Rejection::UnknownType), unknown_types);
        let mut protected_ack = datagram.bytes.clone();
        protected_ack[0] = protected_ack[0] & 0x80 | 0x40 | PacketType::Ack as u8;
        world.inject_to_server(&protected_ack);
        assert_eq!(world.server().rejected(Rejection::BadFlags), 1);
        world.step();
        assert_eq!(messages_of(&mut world), 0);
    }
}

#[test]
fn session_packets_in_the_wrong_state_are_dropped() {
    let (mut world, datagram) = unseen_datagram(sealed());
    let peer = world.server().peer();
    world.disconnect(SERVER, peer, netloom_proto::DisconnectReason::Requested);
    world.inject_to_server(&datagram.bytes);
    assert_eq!(world.server().rejected(Rejection::WrongState), 1);
    // A client that is still connecting has no keys to open anything with.
    let connecting = world.add("10.0.1.3:50000", sealed(), None);
    world.start_connecting(connecting, None);
    let (from, to) = (world.nodes[SERVER].address, world.nodes[connecting].address);
    world.inject(from, to, &datagram.bytes);
    assert_eq!(world.nodes[connecting].rejected(Rejection::WrongState), 1);
    // And one that has no connection at all knows no such session.
    let idle = world.add("10.0.1.4:50000", sealed(), None);
    let to = world.nodes[idle].address;
    world.inject(from, to, &datagram.bytes);
    assert_eq!(world.nodes[idle].rejected(Rejection::UnknownSession), 1);
    // Path packets before the keys are confirmed are refused too.
    assert_eq!(world.nodes[connecting].events, []);
}

#[test]
fn a_sealed_session_takes_no_plain_packet() {
    let (mut world, client, _) = World::connected(sealed());
    traffic(&mut world, 5);
    let recorded = world.recorded_of(PacketType::Data);
    let alias = recorded
        .iter()
        .find(|datagram| datagram.to == world.nodes[SERVER].address)
        .map(|datagram| parse(datagram).0.session);
    assert_eq!(alias, Some(SessionRef::Alias(0)));
    // Whoever learnt the session id, by whatever means, cannot talk the session down to plain packets.
    let mut stranger = Forger { protocol_id: sealed().protocol_id, session_id: 0, number: 50_000 };
    let before = messages_of(&mut world);
    for session_id in [0, 1, u64::MAX] {
        stranger.session_id = session_id;
        let downgrade = stranger.data(&[whole(ORDERED, ChannelKind::Ordered, 5, b"plain")]);
        world.inject_to_server(&downgrade);
    }
    assert_eq!(world.server().rejected(Rejection::UnknownSession), 3);
    // The same under the alias: the tag is missing.
    let mut out = vec![0; 64];
    let header = Header {
        kind: PacketType::Data,
        session: SessionRef::Alias(0),
        number: 50_000,
        ack: None,
        protected: false,
    };
    let length = header.write(&mut out);
    out.truncate(length);
    out.extend(payload(|writer| {
        assert!(writer.message(&whole(ORDERED, ChannelKind::Ordered, 5, b"sealed with nothing")));
    }));
    world.inject_to_server(&out);
    assert_eq!(world.server().rejected(Rejection::Integrity), 1);
    world.run_for(ms(100));
    assert_eq!(messages_of(&mut world), before);
    assert_eq!(world.client().state(client), State::Connected);
}

#[test]
fn a_plain_session_takes_no_sealed_packet() {
    let (mut world, _, _) = World::connected(plain());
    let header = Header {
        kind: PacketType::Data,
        session: SessionRef::Alias(0),
        number: 1,
        ack: None,
        protected: false,
    };
    let mut out = [0; 64];
    header.write(&mut out);
    world.inject_to_server(&out);
    assert_eq!(world.server().rejected(Rejection::WrongSecurity), 1);
}

#[test]
fn a_forged_alias_reaches_nobody() {
    let (mut world, datagram) = unseen_datagram(sealed());
    let second = world.add("10.0.1.3:50000", sealed(), None);
    world.perfect_link();
    world.start_connecting(second, None);
    world.run_for(ms(300));
    world.forget();
    let mut forged = datagram.bytes.clone();
    // The alias is bytes 1 and 2: the second client's, then nobody's.
    forged[1] = 1;
    world.inject_to_server(&forged);
    assert_eq!(world.server().rejected(Rejection::Integrity), 1);
    for nobody in [2u16, 500, u16::MAX] {
        forged[1..3].copy_from_slice(&nobody.to_le_bytes());
        world.inject_to_server(&forged);
    }
    assert_eq!(world.server().rejected(Rejection::UnknownSession), 3);
    world.step();
    let from_second = |(peer, _): &&(netloom_proto::PeerId, Seen)| peer.index() == 1;
    assert_eq!(world.server().events.iter().filter(from_second).count(), 0);
}

#[test]
fn plain_packets_from_another_address_are_dropped() {
    let (mut world, datagram) = unseen_datagram(plain());
    let stranger = "10.9.9.9:1".parse().unwrap();
    let to = datagram.to;
    world.inject(stranger, to, &datagram.bytes);
    assert_eq!(world.server().rejected(Rejection::WrongAddress), 1);
    world.step();
    assert_eq!(messages_of(&mut world), 0);
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_is_refused() {
    let (mut world, _, server) = World::connected(plain());
    let forger = Forger::impersonate(&mut world);
    let received = world.server().stats(server).counters.packets_received;
    let sent = world.server().stats(server).counters.packets_sent as u16;
    let sent_on_session = sent - 1; // The Accept has no number.
    for ahead in [sent_on_session, sent_on_session + 1, sent_on_session + 30_000] {
        let ack = Ack { newest: ahead, delay_ms: 0, bits: u64::MAX, width: 64 };
        let number = forger.number as u16;
        let forged = forger.packet_with(PacketType::Ack, number, Some(ack), &[]);
        world.inject_to_server(&forged);
    }
    assert_eq!(world.server().rejected(Rejection::AckOfUnsent), 3);
    assert_eq!(world.server().stats(server).counters.packets_received, received);
    let ack = Ack { newest: sent_on_session - 1, delay_ms: 0, bits: u64::MAX, width: 64 };
    let honest = forger.packet_with(PacketType::Ack, forger.number as u16, Some(ack), &[]);
    world.inject_to_server(&honest);
    assert_eq!(world.server().stats(server).counters.packets_received, received + 1);
}

#[test]
fn a_forged_high_packet_number_does_not_move_the_window() {
    let (mut world, datagram) = unseen_datagram(sealed());
    let (header, _) = parse(&datagram);
    for ahead in [1u16, 100, 400, 511, 512, 5_000, 32_000] {
        let mut forged = datagram.bytes.clone();
        forged[3..5].copy_from_slice(&header.number.wrapping_add(ahead).to_le_bytes());
        world.inject_to_server(&forged);
    }
    assert_eq!(world.server().rejected(Rejection::Integrity), 7);
    world.inject_to_server(&datagram.bytes);
    world.step();
    assert_eq!(messages_of(&mut world), 5, "the real packet is neither too old nor replayed");
    assert_eq!(world.server().rejected(Rejection::TooOld), 0);
}

#[test]
fn forged_packets_do_not_keep_a_dead_connection_alive() {
    let (mut world, datagram) = unseen_datagram(sealed());
    world.client().is_off = true;
    let mut forged = datagram.bytes.clone();
    *forged.last_mut().unwrap() ^= 1;
    for _ in 0..120 {
        world.inject_to_server(&forged);
        world.run_for(ms(100));
    }
    assert_eq!(world.server().ends(), [netloom_proto::DisconnectReason::Timeout]);
}
