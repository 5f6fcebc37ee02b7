//! What is particular to TCP.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use netloom_transport::tcp::DATAGRAM_FRAME_ID;
use netloom_transport::{
    Batch, CloseReason, Micros, PeerAddress, PeerState, TcpConfig, TcpTransport, Transport, TransportEvent,
};
use netloom_wire::ByteSink;
use netloom_wire::message::{FrameError, FrameWriter};

use crate::rig::{self, Rig, address};

fn listen(config: TcpConfig) -> Rig {
    let server = TcpTransport::listen(address("127.0.0.1:0"), config).unwrap();
    Rig::new(
        Box::new(server),
        Box::new(|server| Box::new(TcpTransport::connect(server, TcpConfig::default()).unwrap())),
    )
}

fn frame(id: u16, payload: &[u8]) -> Vec<u8> {
    let mut writer = FrameWriter::new(1 << 20, 2 << 20).unwrap();
    writer.start_message(id).write_bytes(payload);
    writer.end_message().unwrap();
    writer.as_bytes().to_vec()
}

/// A peer that may send anything.
fn raw_client(rig: &Rig) -> (TcpStream, PeerAddress) {
    let stream = TcpStream::connect(rig.server.local_address().to_socket_addr()).unwrap();
    let own: SocketAddr = stream.local_addr().unwrap();
    (stream, own.into())
}

/// Receives until an event comes that is no opening.
fn next_event(rig: &mut Rig, now: impl Fn() -> Micros) -> TransportEvent {
    let (mut batch, mut found) = (rig.batch(), None);
    rig.until("an event", |server, _| {
        server.receive(now(), &mut batch).unwrap();
        let mut events = rig::events(server).into_iter();
        found = events.find(|event| !matches!(event, TransportEvent::Opened(_)));
        found.is_some()
    });
    found.unwrap()
}

#[test]
fn what_is_sent_after_the_end_of_a_stream_makes_a_new_one() {
    for mut rig in [rig::tcp(), rig::websocket()] {
        let mut client = rig.client();
        let first = rig.meet(&mut *client);
        rig.server.disconnect(first);
        rig.until("the end of it", |server, now| {
            server.receive(now, &mut Batch::new(1, 1_200).unwrap()).unwrap();
            client.receive(now, &mut Batch::new(1, 1_200).unwrap()).unwrap();
            client.poll_event().is_some_and(|event| matches!(event, TransportEvent::Closed { .. }))
        });
        let second = rig.meet(&mut *client);
        client.disconnect(rig.server.local_address());
        let third = rig.meet(&mut *client);
        assert!(first != second && second != third && first != third);
    }
}

#[test]
fn frames_arrive_however_the_stream_is_cut() {
    let mut rig = rig::tcp();
    let (mut stream, peer) = raw_client(&rig);
    let mut batch = rig.batch();
    let bytes: Vec<u8> =
        [&b"first"[..], b"", b"third"].into_iter().flat_map(|text| frame(DATAGRAM_FRAME_ID, text)).collect();
    for byte in bytes {
        stream.write_all(&[byte]).unwrap();
        rig.server.receive(Micros::ZERO, &mut batch).unwrap();
    }
    rig.until("three datagrams", |server, now| {
        server.receive(now, &mut batch).unwrap();
        batch.len() == 3
    });
    assert_eq!(
        batch.iter().map(|datagram| datagram.bytes()).collect::<Vec<_>>(),
        [&b"first"[..], b"", b"third"]
    );
    assert!(batch.iter().all(|datagram| datagram.address() == peer));
}

#[test]
fn whoever_sends_no_frames_is_closed_with_the_reason() {
    let closes = [
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), CloseReason::NotFrames(FrameError::BadSignature)),
        (frame(9, b"what?"), CloseReason::UnknownFrame(9)),
        (
            frame(DATAGRAM_FRAME_ID, &[0; 1_201]),
            CloseReason::NotFrames(FrameError::Oversize { length: 1_201, max: 1_200 }),
        ),
        (
            frame(DATAGRAM_FRAME_ID, &[0; 100_000]),
            CloseReason::NotFrames(FrameError::Oversize { length: 100_000, max: 16_374 }),
        ),
    ];
    for (bytes, reason) in closes {
        let mut rig = rig::tcp();
        let (mut stream, peer) = raw_client(&rig);
        // It may be closed before all is written.
        let _ = stream.write_all(&bytes);
        assert_eq!(next_event(&mut rig, || Micros::ZERO), TransportEvent::Closed { peer, reason });
        assert_eq!(rig.server.status(peer).state, PeerState::Closed);
        assert_eq!(rig.server.counters().received_datagrams, 0);
    }
}

#[test]
fn what_was_sent_before_a_close_is_delivered() {
    let mut rig = rig::tcp();
    let (mut stream, peer) = raw_client(&rig);
    stream.write_all(&frame(DATAGRAM_FRAME_ID, b"goodbye")).unwrap();
    stream.write_all(&frame(DATAGRAM_FRAME_ID, b"half")[..7]).unwrap();
    drop(stream);
    let mut batch = rig.batch();
    let mut events = Vec::new();
    rig.until("the close", |server, now| {
        server.receive(now, &mut batch).unwrap();
        events.extend(rig::events(server));
        events.len() == 2
    });
    assert_eq!(batch.iter().map(|datagram| datagram.bytes()).collect::<Vec<_>>(), [b"goodbye"]);
    assert_eq!(
        events,
        [TransportEvent::Opened(peer), TransportEvent::Closed { peer, reason: CloseReason::ByPeer }]
    );
}

#[test]
fn a_disconnected_peer_reads_what_was_sent_before_and_then_the_end() {
    let mut rig = rig::tcp();
    let mut client = rig.client();
    let peer = rig.meet(&mut *client);
    let mut batch = rig.batch();
    assert!(batch.push(peer, b"you are out"));
    rig.server.send(rig.now(), &mut batch).unwrap();
    rig.server.disconnect(peer);
    assert_eq!(rig.server.status(peer).state, PeerState::Closed);
    assert_eq!(rig.server.poll_event(), None, "who disconnects need not be told");
    let (server_address, mut events) = (rig.server.local_address(), Vec::new());
    rig.until("the end", |_, now| {
        client.receive(now, &mut batch).unwrap();
        events.extend(rig::events(&mut *client));
        !events.is_empty()
    });
    assert_eq!(batch.iter().map(|datagram| datagram.bytes()).collect::<Vec<_>>(), [b"you are out"]);
    assert_eq!(events, [TransportEvent::Closed { peer: server_address, reason: CloseReason::ByPeer }]);
}

#[test]
fn a_connection_is_connecting_then_connected_then_closed() {
    let mut rig = rig::tcp();
    let mut client = rig.client();
    let server_address = rig.server.local_address();
    assert_eq!(client.status(server_address).state, PeerState::Connecting);
    assert_eq!(client.status(server_address).room_bytes, 1_200, "what is sent waits");
    rig.meet(&mut *client);
    assert_eq!(client.status(server_address).state, PeerState::Connected);
    client.disconnect(server_address);
    assert_eq!(client.status(server_address).state, PeerState::Closed);
    let counters = client.counters();
    assert_eq!((counters.connections_opened, counters.connections_closed), (1, 1));
    assert_eq!((counters.sent_datagrams, counters.sent_bytes), (1, 9));
    let counters = rig.server.counters();
    assert_eq!((counters.received_datagrams, counters.received_bytes), (1, 9));
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let rig = rig::tcp();
    let nobody = rig.server.local_address();
    drop(rig);
    // Some systems refuse at once, others tell later.
    let Ok(client) = TcpTransport::connect(nobody, TcpConfig::default()) else { return };
    let mut rig = Rig::new(Box::new(client), Box::new(|_| unreachable!("nobody connects to a client")));
    let reason = CloseReason::NotMade(ErrorKind::ConnectionRefused);
    assert_eq!(next_event(&mut rig, || Micros::ZERO), TransportEvent::Closed { peer: nobody, reason });
}

#[test]
fn a_port_in_use_is_named_with_what_to_do() {
    let rig = rig::tcp();
    let taken = rig.server.local_address();
    let message = TcpTransport::listen(taken, TcpConfig::default()).unwrap_err().to_string();
    assert!(message.starts_with(&format!("cannot bind TCP to {taken}: ")), "{message}");
    assert!(message.contains("another program has this port"), "{message}");
    let message = TcpTransport::listen(PeerAddress::Memory(1), TcpConfig::default()).unwrap_err().to_string();
    assert_eq!(message, "TCP does not know addresses such as memory:1");
}

#[test]
fn impossible_settings_are_named() {
    let config = TcpConfig { unsent_bytes_max: 100, ..TcpConfig::default() };
    let message = TcpTransport::listen(address("127.0.0.1:0"), config).unwrap_err().to_string();
    assert_eq!(message, "`unsent_bytes_max` is 100, allowed is 1210 to 16777216");
}

#[test]
fn a_slow_reader_is_reported_bounded_and_welcome_again_when_it_has_caught_up() {
    let mut rig = rig::tcp();
    let mut client = rig.client();
    let peer = rig.meet(&mut *client);
    let mut batch = rig.batch();
    for round in 1..=2 {
        let dropped_before = rig.server.counters().dropped_slow;
        let mut events = Vec::new();
        rig.until("the report", |server, now| {
            while batch.push(peer, &[round; 1_200]) {}
            server.send(now, &mut batch).unwrap();
            server.receive(now, &mut Batch::new(1, 1_200).unwrap()).unwrap();
            events.extend(rig::events(server));
            server.counters().dropped_slow > dropped_before + 1_000
        });
        let status = rig.server.status(peer);
        // The system's own buffers grow under load, so it may seem to catch up once or twice.
        assert!((1..10).contains(&events.len()), "{events:?}");
        for event in events {
            assert!(
                matches!(event, TransportEvent::Slow { peer: slow, unsent_bytes }
                    if slow == peer && unsent_bytes > 32 << 10),
                "{event:?}"
            );
        }
        assert!(status.unsent_bytes <= 64 << 10 && status.room_bytes < 1_200, "{status:?}");
        assert!(rig.server.counters().would_block > 0);
        rig.until("that it has caught up", |server, now| {
            client.receive(now, &mut batch).unwrap();
            assert!(batch.iter().all(|datagram| datagram.bytes() == [round; 1_200]), "frames stay whole");
            batch.clear();
            server.receive(now, &mut Batch::new(1, 1_200).unwrap()).unwrap();
            server.status(peer).unsent_bytes == 0
        });
        assert_eq!(rig.server.status(peer).state, PeerState::Connected, "slow is no reason to close");
        // What is still in the stream belongs to this round.
        assert!(batch.push(peer, b"end of round"));
        rig.until("the end of the round", |server, now| {
            server.send(now, &mut batch).unwrap();
            let mut received = Batch::new(64, 1_200).unwrap();
            client.receive(now, &mut received).unwrap();
            received.iter().any(|datagram| datagram.bytes() == b"end of round")
        });
    }
}

#[test]
fn connections_are_limited_in_all_and_per_address_and_places_become_free() {
    for config in [
        TcpConfig { connections_per_address_max: 3, ..TcpConfig::default() },
        TcpConfig { connections_max: 3, ..TcpConfig::default() },
    ] {
        let mut rig = listen(config);
        let clients: Vec<_> = (0..5).map(|_| raw_client(&rig).0).collect();
        let mut batch = rig.batch();
        rig.until("two refusals", |server, now| {
            server.receive(now, &mut batch).unwrap();
            server.counters().connections_refused == 2
        });
        assert_eq!(rig.server.counters().connections_opened, 3);
        drop(clients);
        rig.until("three closes", |server, now| {
            server.receive(now, &mut batch).unwrap();
            server.counters().connections_closed == 3
        });
        let mut client = rig.client();
        rig.meet(&mut *client);
    }
}

#[test]
fn whoever_sends_nothing_loses_the_place_and_whoever_sent_something_keeps_it() {
    let mut rig = rig::tcp();
    let (mut silent, silent_address) = raw_client(&rig);
    let (mut talker, talker_address) = raw_client(&rig);
    talker.write_all(&frame(DATAGRAM_FRAME_ID, b"hello")).unwrap();
    // Half a frame is nothing, or a byte a second would hold a place.
    silent.write_all(&frame(DATAGRAM_FRAME_ID, b"hello")[..12]).unwrap();
    let mut batch = rig.batch();
    rig.until("both", |server, _| {
        server.receive(Micros::ZERO, &mut batch).unwrap();
        server.counters().connections_opened == 2 && !batch.is_empty()
    });
    rig.server.receive(Micros(9_999_999), &mut batch).unwrap();
    assert_eq!(rig.server.status(silent_address).state, PeerState::Connected);
    let closed = TransportEvent::Closed { peer: silent_address, reason: CloseReason::Silent };
    assert_eq!(next_event(&mut rig, || Micros::from_secs(10)), closed);
    assert_eq!(rig.server.status(talker_address).state, PeerState::Connected);
    silent.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    assert!(matches!(silent.read(&mut [0; 8]), Ok(0) | Err(_)), "its side ends as well");
}
