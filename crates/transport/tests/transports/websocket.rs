//! What is particular to WebSocket: bytes that no friendly client would send, and the ways in which it ends.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use netloom_transport::websocket::{Opcode, Origins, WebSocketError, write_frame};
use netloom_transport::{
    Batch, CloseReason, Micros, PeerAddress, PeerState, TcpConfig, Transport, TransportEvent,
    WebSocketConfig, WebSocketTransport,
};

use crate::rig::{self, Rig, address};

pub const REQUEST: &str = "GET /netloom HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: netloom.1\r\n\r\n";

pub fn listen(config: WebSocketConfig) -> Rig {
    let server = WebSocketTransport::listen(address("127.0.0.1:0"), config).unwrap();
    Rig::new(
        Box::new(server),
        Box::new(|server| Box::new(WebSocketTransport::connect(server, WebSocketConfig::default()).unwrap())),
    )
}

/// A frame with any first byte, masked as a client does.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_frame(&mut bytes, Opcode::Binary, Some([1, 2, 3, 4]), payload);
    bytes[0] = first;
    bytes
}

/// A peer that may send anything.
pub struct RawClient {
    pub stream: TcpStream,
    pub address: PeerAddress,
}

impl RawClient {
    pub fn new(rig: &Rig) -> RawClient {
        let stream = TcpStream::connect(rig.server.local_address().to_socket_addr()).unwrap();
        let own: SocketAddr = stream.local_addr().unwrap();
        RawClient { stream, address: own.into() }
    }

    /// One that was let in.
    fn open(rig: &mut Rig) -> RawClient {
        let mut client = RawClient::new(rig);
        client.send(REQUEST.as_bytes());
        let mut batch = rig.batch();
        let opened = rig.server.counters().connections_opened;
        rig.until("an upgrade", |server, _| {
            server.receive(Micros::ZERO, &mut batch).unwrap();
            server.counters().connections_opened > opened
        });
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101 "), "{}", head.escape_ascii());
        client
    }

    pub fn send(&mut self, bytes: &[u8]) {
        // It may be closed before all is written.
        let _ = self.stream.write_all(bytes);
    }

    /// Everything until the end, while the server goes on. Nothing is taken away by a reset.
    pub fn read_to_end(&mut self, rig: &mut Rig) -> Vec<u8> {
        self.stream.set_nonblocking(true).unwrap();
        let (mut bytes, mut batch) = (Vec::new(), rig.batch());
        rig.until("the end of the stream", |server, _| {
            server.receive(Micros::ZERO, &mut batch).unwrap();
            let mut piece = [0; 4_096];
            match self.stream.read(&mut piece) {
                Ok(0) => return true,
                Ok(count) => bytes.extend_from_slice(&piece[..count]),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
            }
            false
        });
        bytes
    }
}

/// Receives until something is told that is no opening.
fn next_event(rig: &mut Rig, now: Micros) -> TransportEvent {
    let (mut batch, mut found) = (rig.batch(), None);
    rig.until("an event", |server, _| {
        server.receive(now, &mut batch).unwrap();
        let mut events = rig::events(server).into_iter();
        found = events.find(|event| !matches!(event, TransportEvent::Opened(_)));
        found.is_some()
    });
    found.unwrap()
}

/// Receives until this many datagrams have arrived.
fn receive(rig: &mut Rig, count: usize) -> Vec<Vec<u8>> {
    let mut batch = rig.batch();
    rig.until("datagrams", |server, _| {
        server.receive(Micros::ZERO, &mut batch).unwrap();
        batch.len() == count
    });
    batch.iter().map(|datagram| datagram.bytes().to_vec()).collect()
}

#[test]
fn messages_arrive_however_the_stream_is_cut_and_whatever_stands_between_their_parts() {
    let mut rig = rig::websocket();
    let mut client = RawClient::new(&rig);
    let stream = [
        REQUEST.as_bytes().to_vec(),
        frame(0x82, b"whole"),
        frame(0x82, b""),
        frame(0x02, b"in "),
        frame(0x89, b"are you there?"),
        frame(0x00, b""),
        frame(0x8a, b"unasked"),
        frame(0x80, b"parts"),
        frame(0x82, &[7; 1_200]),
    ]
    .concat();
    let mut batch = rig.batch();
    for byte in stream {
        client.send(&[byte]);
        rig.server.receive(Micros::ZERO, &mut batch).unwrap();
    }
    rig.until("four datagrams", |server, now| {
        server.receive(now, &mut batch).unwrap();
        batch.len() == 4
    });
    let datagrams: Vec<_> = batch.iter().map(|datagram| (datagram.address(), datagram.bytes())).collect();
    let from = client.address;
    assert_eq!(datagrams, [(from, &b"whole"[..]), (from, b""), (from, b"in parts"), (from, &[7; 1_200])]);
}

#[test]
fn what_follows_the_request_at_once_is_not_lost() {
    let mut rig = rig::websocket();
    let mut client = RawClient::new(&rig);
    client.send(&[REQUEST.as_bytes(), &frame(0x82, b"eager"), &frame(0x82, b"very")].concat());
    assert_eq!(receive(&mut rig, 2), [&b"eager"[..], b"very"]);
    // It has spoken, so it keeps its place.
    rig.server.receive(Micros::from_secs(100), &mut Batch::new(1, 1_200).unwrap()).unwrap();
    rig.server.receive(Micros::from_secs(200), &mut Batch::new(1, 1_200).unwrap()).unwrap();
    assert_eq!(rig.server.status(client.address).state, PeerState::Connected);
}

#[test]
fn pings_are_answered_with_what_they_bring_and_not_without_end() {
    let mut rig = rig::websocket();
    let mut client = RawClient::open(&mut rig);
    let pings: Vec<u8> = (0..100u8).flat_map(|number| frame(0x89, &[number; 125])).collect();
    client.send(&pings);
    client.send(&frame(0x82, b"after"));
    assert_eq!(receive(&mut rig, 1), [b"after"]);
    assert_eq!(rig.server.counters().pings_ignored, 92);
    for number in 0..8 {
        let mut pong = [0; 127];
        client.stream.read_exact(&mut pong).unwrap();
        assert_eq!((pong[..2].to_vec(), pong[2..].to_vec()), (vec![0x8a, 125], vec![number; 125]));
    }
    // One may come each tenth of a second.
    client.send(&frame(0x89, b"later"));
    client.send(&frame(0x82, b"after"));
    let mut batch = rig.batch();
    rig.until("a datagram", |server, _| {
        server.receive(Micros::from_millis(100), &mut batch).unwrap();
        !batch.is_empty()
    });
    let mut pong = [0; 7];
    client.stream.read_exact(&mut pong).unwrap();
    assert_eq!(&pong, b"\x8a\x05later");
}

#[test]
fn whoever_breaks_the_rules_is_told_the_code_and_the_reason_and_closed() {
    use WebSocketError::*;
    let unmasked = {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, Opcode::Binary, None, b"bare");
        bytes
    };
    let mut long_control = frame(0x82, &[0; 126]);
    long_control[0] = 0x89;
    let too_long_in_parts = [frame(0x02, &[0; 700]), frame(0x00, &[0; 501])].concat();
    let violations = [
        (frame(0x81, b"text"), Text, 1003),
        (frame(0x82, &[0; 1_201]), Oversize { max: 1_200 }, 1009),
        (too_long_in_parts, Oversize { max: 1_200 }, 1009),
        (
            vec![0x82, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0],
            Oversize { max: 1_200 },
            1009,
        ),
        (unmasked, NotMasked, 1002),
        (frame(0xc2, b"compressed"), ReservedBits, 1002),
        (frame(0x83, b"unknown"), UnknownOpcode(3), 1002),
        (long_control, LongControl, 1002),
        (frame(0x09, b"half a ping"), PartialControl, 1002),
        (frame(0x80, b"end of nothing"), NothingToContinue, 1002),
        ([frame(0x02, b"begun"), frame(0x82, b"and another")].concat(), Interrupted, 1002),
        (frame(0x88, b"\x03"), ShortClose, 1002),
        (frame(0x88, &1005u16.to_be_bytes()), BadCloseCode(1005), 1002),
        (frame(0x88, b"\x03\xe8\xff\xfe"), BadCloseText, 1007),
        // Much more behind it: a close that leaves this unread would take the reason away.
        ([frame(0x81, b"text"), vec![0; 100_000]].concat(), Text, 1003),
    ];
    for (bytes, error, code) in violations {
        let mut rig = rig::websocket();
        let mut client = RawClient::open(&mut rig);
        client.send(&bytes);
        let reason = CloseReason::NotWebSocket(error);
        assert_eq!(
            next_event(&mut rig, Micros::ZERO),
            TransportEvent::Closed { peer: client.address, reason }
        );
        assert_eq!(rig.server.status(client.address).state, PeerState::Closed);
        let text = error.to_string();
        let expected = [&[0x88, 2 + text.len() as u8][..], &u16::to_be_bytes(code), text.as_bytes()].concat();
        assert_eq!(client.read_to_end(&mut rig), expected, "{error}");
        assert_eq!(rig.server.counters().received_datagrams, 0);
    }
}

#[test]
fn a_goodbye_is_answered_with_the_same_code_and_told() {
    for (payload, answer, reason) in [
        (&b""[..], &b""[..], CloseReason::ByPeer),
        (b"\x03\xe8bye", b"\x03\xe8", CloseReason::ByPeer),
        (b"\x03\xe9", b"\x03\xe9", CloseReason::ByPeer),
        (b"\x0f\xa1cheating", b"\x0f\xa1", CloseReason::ByPeerWithCode(4001)),
    ] {
        let mut rig = rig::websocket();
        let mut client = RawClient::open(&mut rig);
        client.send(&[frame(0x82, b"last"), frame(0x88, payload), frame(0x82, b"too late")].concat());
        assert_eq!(receive(&mut rig, 1), [b"last"]);
        assert_eq!(
            next_event(&mut rig, Micros::ZERO),
            TransportEvent::Closed { peer: client.address, reason }
        );
        let close = [&[0x88, answer.len() as u8][..], answer].concat();
        assert_eq!(client.read_to_end(&mut rig), close);
        assert_eq!(rig.server.counters().received_datagrams, 1, "nothing is read after a goodbye");
    }
}

#[test]
fn a_disconnected_peer_reads_what_was_sent_before_and_then_a_normal_close() {
    let mut rig = rig::websocket();
    let mut client = RawClient::open(&mut rig);
    let mut batch = rig.batch();
    assert!(batch.push(client.address, b"goodbye"));
    rig.server.send(Micros::ZERO, &mut batch).unwrap();
    rig.server.disconnect(client.address);
    rig.server.disconnect(client.address);
    assert_eq!(rig.server.status(client.address).state, PeerState::Closed);
    assert!(batch.push(client.address, b"are you there?"));
    assert_eq!(rig.server.send(Micros::ZERO, &mut batch).unwrap(), 0);
    assert_eq!(rig.server.counters().dropped_unroutable, 1);
    assert_eq!(client.read_to_end(&mut rig), b"\x82\x07goodbye\x88\x02\x03\xe8");
    let counters = rig.server.counters();
    assert_eq!((counters.connections_opened, counters.connections_closed), (1, 1));
    assert_eq!(
        rig::events(&mut *rig.server),
        [TransportEvent::Opened(client.address)],
        "who ends it is not told that it ended"
    );
}

#[test]
fn whoever_stays_after_the_goodbye_loses_the_place() {
    let config = TcpConfig { connections_max: 1, ..TcpConfig::default() };
    let mut rig = listen(WebSocketConfig { tcp: config, ..WebSocketConfig::default() });
    let first = RawClient::open(&mut rig);
    rig.server.disconnect(first.address);
    let mut batch = rig.batch();
    rig.server.receive(Micros::ZERO, &mut batch).unwrap();
    rig.server.receive(Micros(1_999_999), &mut batch).unwrap();
    let _second = RawClient::new(&rig);
    rig.until("a refusal", |server, _| {
        server.receive(Micros(1_999_999), &mut batch).unwrap();
        server.counters().connections_refused == 1
    });
    rig.server.receive(Micros::from_secs(2), &mut batch).unwrap();
    RawClient::open(&mut rig);
}

#[test]
fn a_peer_that_floods_after_the_goodbye_is_cut_off() {
    let mut rig = rig::websocket();
    let mut client = RawClient::open(&mut rig);
    rig.server.disconnect(client.address);
    let mut batch = rig.batch();
    client.stream.set_nonblocking(true).unwrap();
    rig.until("the end of its patience", |server, _| {
        server.receive(Micros::ZERO, &mut batch).unwrap();
        client.stream.write_all(&[0; 4_096]).is_err_and(|error| error.kind() != ErrorKind::WouldBlock)
    });
}

#[test]
fn a_head_byte_by_byte_ends_at_its_time_and_nobody_was_told_of_it() {
    let mut rig = rig::websocket();
    let mut client = RawClient::new(&rig);
    let mut batch = rig.batch();
    for (second, byte) in REQUEST.bytes().take(5).enumerate() {
        client.send(&[byte]);
        rig.server.receive(Micros::from_secs(second as u64), &mut batch).unwrap();
        rig.server.wait(Micros::ZERO, Micros::from_millis(5)).unwrap();
    }
    rig.until("the end of its time", |server, _| {
        server.receive(Micros::from_secs(20), &mut batch).unwrap();
        server.counters().greetings_failed == 1
    });
    let answer = client.read_to_end(&mut rig);
    assert!(answer.starts_with(b"HTTP/1.1 408 "), "{}", answer.escape_ascii());
    assert_eq!(rig::events(&mut *rig.server), []);
    assert_eq!(rig.server.status(client.address).state, PeerState::Closed);
    let mut batch = rig.batch();
    assert!(batch.push(client.address, b"nobody"));
    assert_eq!(rig.server.send(Micros::ZERO, &mut batch).unwrap(), 0, "whoever is not let in is nobody");
}

#[test]
fn whoever_is_let_in_and_sends_nothing_loses_the_place() {
    let mut rig = rig::websocket();
    let mut client = RawClient::open(&mut rig);
    client.send(&frame(0x89, b"a ping is no datagram"));
    let mut batch = rig.batch();
    rig.server.receive(Micros::ZERO, &mut batch).unwrap();
    rig.server.receive(Micros(9_999_999), &mut batch).unwrap();
    assert_eq!(rig.server.status(client.address).state, PeerState::Connected);
    let closed = TransportEvent::Closed { peer: client.address, reason: CloseReason::Silent };
    assert_eq!(next_event(&mut rig, Micros::from_secs(10)), closed);
    let answer = client.read_to_end(&mut rig);
    assert!(answer.ends_with(b"\x03\xf0the peer sent nothing"), "{}", answer.escape_ascii());
}

#[test]
fn a_slow_reader_is_reported_bounded_and_gets_whole_messages() {
    let mut rig = rig::websocket();
    let mut client = RawClient::open(&mut rig);
    let mut batch = rig.batch();
    rig.until("the report", |server, now| {
        while batch.push(client.address, &[5; 1_000]) {}
        server.send(now, &mut batch).unwrap();
        server.counters().dropped_slow > 1_000
    });
    let slow = rig::events(&mut *rig.server)
        .into_iter()
        .find(|event| matches!(event, TransportEvent::Slow { peer, .. } if *peer == client.address));
    assert!(slow.is_some());
    let status = rig.server.status(client.address);
    assert!(status.unsent_bytes <= 64 << 10 && status.room_bytes < 1_200, "{status:?}");
    rig.server.disconnect(client.address);
    let bytes = client.read_to_end(&mut rig);
    let whole: Vec<u8> = [&[0x82, 126, 3, 232][..], &[5; 1_000]].concat();
    let count = rig.server.counters().sent_datagrams as usize;
    assert_eq!(bytes.len(), count * whole.len() + 4, "all that was taken, and the close");
    assert!(bytes.chunks_exact(whole.len()).all(|message| message == whole));
}

#[test]
fn connections_are_limited_per_address_those_that_still_ask_included() {
    let config = TcpConfig { connections_per_address_max: 3, ..TcpConfig::default() };
    let mut rig = listen(WebSocketConfig { tcp: config, ..WebSocketConfig::default() });
    let _clients: Vec<_> = (0..5).map(|_| RawClient::new(&rig)).collect();
    let mut batch = rig.batch();
    rig.until("two refusals", |server, now| {
        server.receive(now, &mut batch).unwrap();
        server.counters().connections_refused == 2
    });
    assert_eq!(rig.server.counters().connections_opened, 0);
}

#[test]
fn plain_sockets_stay_on_this_machine_unless_somebody_says_otherwise() {
    let message =
        |made: Result<WebSocketTransport, netloom_transport::TransportError>| made.unwrap_err().to_string();
    for outside in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let outside = address(outside);
        let listening = message(WebSocketTransport::listen(outside, WebSocketConfig::default()));
        assert!(
            listening.contains("allows_plain_on_network") && listening.contains(&outside.to_string()),
            "{listening}"
        );
        let connecting = message(WebSocketTransport::connect(outside, WebSocketConfig::default()));
        assert!(connecting.contains("allows_plain_on_network"), "{connecting}");
    }
    let open = WebSocketConfig { allows_plain_on_network: true, ..WebSocketConfig::default() };
    WebSocketTransport::listen(address("0.0.0.0:0"), open).unwrap();
    let memory = message(WebSocketTransport::listen(PeerAddress::Memory(1), WebSocketConfig::default()));
    assert_eq!(memory, "WebSocket does not know addresses such as memory:1");
    let origins = Origins::List(vec!["game.example".into()]);
    let wrong = message(WebSocketTransport::listen(
        address("127.0.0.1:0"),
        WebSocketConfig { origins, ..WebSocketConfig::default() },
    ));
    assert!(wrong.starts_with("`game.example` in `origins` is no origin"), "{wrong}");
}

/// A server that answers with anything, and the event that our client gets.
fn answered_with(answer: &[u8]) -> (TransportEvent, PeerAddress) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = PeerAddress::from(listener.local_addr().unwrap());
    let client = WebSocketTransport::connect(server, WebSocketConfig::default()).unwrap();
    let mut rig = Rig::new(Box::new(client), Box::new(|_| unreachable!("nobody connects to a client")));
    let mut batch = rig.batch();
    rig.server.receive(Micros::ZERO, &mut batch).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(answer).unwrap();
    (next_event(&mut rig, Micros::ZERO), server)
}

#[test]
fn a_server_that_does_not_upgrade_is_told_apart_by_what_it_says() {
    use netloom_transport::http::HeadError;
    use netloom_transport::websocket::UpgradeError;
    let long = [&b"HTTP/1.1 101 x\r\n"[..], &[b'a'; 9_000]].concat();
    for (answer, error) in [
        (&b"HTTP/1.1 403 Forbidden\r\n\r\n"[..], UpgradeError::Status(403)),
        (b"SSH-2.0-OpenSSH\r\n\r\n", UpgradeError::Head(HeadError::FirstLine)),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
            UpgradeError::Field("Connection"),
        ),
        (&long, UpgradeError::Head(HeadError::TooLong)),
    ] {
        let (event, peer) = answered_with(answer);
        assert_eq!(event, TransportEvent::Closed { peer, reason: CloseReason::NotUpgraded(error) });
    }
}

#[test]
fn a_server_that_says_nothing_is_given_up_after_the_time_for_the_upgrade() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = PeerAddress::from(listener.local_addr().unwrap());
    let client = WebSocketTransport::connect(server, WebSocketConfig::default()).unwrap();
    let mut rig = Rig::new(Box::new(client), Box::new(|_| unreachable!("nobody connects to a client")));
    let mut batch = rig.batch();
    assert!(batch.push(server, b"waits"));
    rig.server.send(Micros::ZERO, &mut batch).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let mut request = Vec::new();
    stream.set_nonblocking(true).unwrap();
    rig.until("the request", |client, _| {
        client.receive(Micros::ZERO, &mut batch).unwrap();
        let mut piece = [0; 1_024];
        if let Ok(count) = stream.read(&mut piece) {
            request.extend_from_slice(&piece[..count]);
        }
        request.ends_with(b"\r\n\r\n")
    });
    assert_eq!(rig.server.status(server).state, PeerState::Connecting);
    rig.server.receive(Micros::ZERO, &mut batch).unwrap();
    rig.server.receive(Micros(4_999_999), &mut batch).unwrap();
    assert_eq!(rig.server.status(server).state, PeerState::Connecting);
    let reason = CloseReason::NotMade(ErrorKind::TimedOut);
    assert_eq!(next_event(&mut rig, Micros::from_secs(5)), TransportEvent::Closed { peer: server, reason });
    stream.set_nonblocking(false).unwrap();
    assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0, "a datagram never goes before the response");
}
