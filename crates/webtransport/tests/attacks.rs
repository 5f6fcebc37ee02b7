//! What hostile or unlucky peers do to a server over WebTransport, and what it costs.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use netloom_transport::websocket::Origins;
use netloom_transport::{Batch, CloseReason, Micros, PeerAddress, PeerState, Transport, TransportEvent};
use netloom_webtransport::{Certificates, MTU_BYTES, PATH, Trust, WebTransport, WebTransportConfig};
use wtransport::endpoint::ConnectOptions;
use wtransport::error::ConnectingError;
use wtransport::tls::Sha256Digest;
use wtransport::{ClientConfig, Connection, Endpoint};

/// Far beyond what any of this takes.
const PATIENCE: Duration = Duration::from_secs(30);

struct Rig {
    server: WebTransport,
    trust: Trust,
    config: WebTransportConfig,
    events: Vec<TransportEvent>,
    began: Instant,
}

impl Rig {
    fn new(config: WebTransportConfig) -> Rig {
        let certificates = Certificates::self_signed(&["localhost"]).unwrap();
        let server =
            WebTransport::listen("127.0.0.1:0".parse().unwrap(), config.clone(), &certificates).unwrap();
        let trust = Trust::Hashes(certificates.hashes());
        Rig { server, trust, config, events: Vec::new(), began: Instant::now() }
    }

    fn now(&self) -> Micros {
        Micros(self.began.elapsed().as_micros() as u64)
    }

    fn address(&self) -> SocketAddr {
        self.server.local_address().to_socket_addr()
    }

    fn client(&self) -> WebTransport {
        WebTransport::connect("localhost", self.server.local_address(), self.config.clone(), &self.trust)
            .unwrap()
    }

    /// What the server received, until enough of it did.
    fn until(&mut self, what: &str, mut is_so: impl FnMut(&mut Rig, &[(PeerAddress, Vec<u8>)]) -> bool) {
        let begun = Instant::now();
        let mut batch = Batch::new(64, 1_200).unwrap();
        loop {
            self.server.receive(self.now(), &mut batch).unwrap();
            let received: Vec<_> = batch.iter().map(|one| (one.address(), one.bytes().to_vec())).collect();
            batch.clear();
            while let Some(event) = self.server.poll_event() {
                self.events.push(event);
            }
            if is_so(self, &received) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{what} did not come to pass: {:?}", self.server.counters());
            let now = self.now();
            self.server.wait(now, now + Micros::from_millis(2)).unwrap();
        }
    }

    /// A client that says hello, and what the server knows it by.
    fn meet(&mut self) -> (WebTransport, PeerAddress) {
        let mut client = self.client();
        let peer = self.greet(&mut client, b"hello");
        (client, peer)
    }

    fn greet(&mut self, client: &mut WebTransport, hello: &[u8]) -> PeerAddress {
        let mut batch = Batch::new(1, 1_200).unwrap();
        assert!(batch.push(self.server.local_address(), hello));
        client.send(self.now(), &mut batch).unwrap();
        let mut peer = None;
        self.until("a hello", |_, received| {
            let found = received.iter().find(|(_, bytes)| bytes == hello);
            peer = found.map(|(from, _)| *from);
            peer.is_some()
        });
        peer.unwrap()
    }

    fn send(&mut self, peer: PeerAddress, bytes: &[u8]) {
        let mut batch = Batch::new(1, 1_200).unwrap();
        assert!(batch.push(peer, bytes));
        self.server.send(self.now(), &mut batch).unwrap();
    }
}

/// A peer that uses the library as it likes.
struct Hostile {
    runtime: tokio::runtime::Runtime,
    endpoint: Endpoint<wtransport::endpoint::endpoint_side::Client>,
    address: SocketAddr,
}

impl Hostile {
    fn new(rig: &Rig) -> Hostile {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let Trust::Hashes(hashes) = &rig.trust else { unreachable!("the rig has hashes") };
        let hashes: Vec<_> = hashes.iter().map(|hash| Sha256Digest::new(hash.0)).collect();
        let config = ClientConfig::builder().with_bind_address("127.0.0.1:0".parse().unwrap());
        let config = config.with_server_certificate_hashes(hashes).build();
        let endpoint = {
            let _context = runtime.enter();
            Endpoint::client(config).unwrap()
        };
        Hostile { runtime, endpoint, address: rig.address() }
    }

    fn ask(&self, path: &str, origin: Option<&str>) -> Result<Connection, ConnectingError> {
        let mut options = ConnectOptions::builder(format!("https://127.0.0.1:{}{path}", self.address.port()));
        if let Some(origin) = origin {
            options = options.add_header("origin", origin);
        }
        self.runtime.block_on(self.endpoint.connect(options.build()))
    }
}

#[test]
fn garbage_is_delivered_as_it_came_and_what_is_too_long_is_counted() {
    let mut rig = Rig::new(WebTransportConfig::default());
    let hostile = Hostile::new(&rig);
    let connection = hostile.ask(PATH, None).unwrap();
    let longest = connection.max_datagram_size().unwrap();
    let mut seen = 0;
    for length in (0..longest.min(1_300)).step_by(13) {
        let garbage: Vec<u8> = (0..length).map(|at| (at * 31 + length) as u8).collect();
        connection.send_datagram(&garbage).unwrap();
        let truncated = rig.server.counters().dropped_truncated;
        rig.until("each datagram, or that it was too long", |rig, received| {
            assert!(received.iter().all(|(_, bytes)| *bytes == garbage));
            seen += received.len();
            !received.is_empty() || rig.server.counters().dropped_truncated > truncated
        });
    }
    assert!(seen >= 1_200 / 13, "{seen}");
}

#[test]
fn a_peer_that_breaks_http_3_loses_its_session_and_nobody_else_does() {
    let mut rig = Rig::new(WebTransportConfig::default());
    let (mut other, _) = rig.meet();
    let hostile = Hostile::new(&rig);
    let connection = hostile.ask(PATH, None).unwrap();
    rig.until("a session", |rig, _| rig.server.counters().connections_opened == 2);
    // A datagram whose number of a session is cut off.
    connection.quic_connection().send_datagram(vec![0xc0, 0x00].into()).unwrap();
    rig.until("its end", |rig, _| {
        rig.events.iter().any(|event| matches!(event, TransportEvent::Closed { .. }))
    });
    rig.greet(&mut other, b"I am still here");
}

#[test]
fn streams_that_nobody_asked_for_are_few_and_never_read() {
    let mut rig = Rig::new(WebTransportConfig::default());
    let hostile = Hostile::new(&rig);
    let connection = hostile.ask(PATH, None).unwrap();
    let (streams, written) = hostile.runtime.block_on(async {
        let (mut streams, mut written) = (0, 0);
        let mut kept = Vec::new();
        while let Ok(Ok(opening)) =
            tokio::time::timeout(Duration::from_millis(300), connection.open_uni()).await
        {
            let Ok(Ok(mut stream)) = tokio::time::timeout(Duration::from_millis(300), opening).await else {
                break;
            };
            streams += 1;
            while let Ok(Ok(count)) =
                tokio::time::timeout(Duration::from_millis(100), stream.write(&[7; 4_096])).await
            {
                written += count;
            }
            kept.push(stream);
            assert!(streams < 100, "there is no end of streams");
        }
        (streams, written)
    });
    assert!(streams <= 8, "{streams} streams");
    assert!(written <= 32 << 10, "{written} bytes wait unread");
    rig.meet();
}

#[test]
fn sessions_are_refused_at_their_limit_and_accepted_again_below_it() {
    let config =
        WebTransportConfig { sessions_max: 6, sessions_per_address_max: 64, ..WebTransportConfig::default() };
    let mut rig = Rig::new(config);
    let mut players: Vec<_> = (0..6).map(|_| rig.meet()).collect();
    let hostile = Hostile::new(&rig);
    for _ in 0..50 {
        assert!(hostile.ask(PATH, None).is_err());
    }
    let counters = rig.server.counters();
    assert_eq!((counters.connections_opened, counters.connections_refused), (6, 50));
    drop(players.pop());
    rig.until("one less", |rig, _| rig.server.counters().connections_closed == 1);
    players.push(rig.meet());
    for (client, _) in &mut players {
        rig.greet(client, b"all are served");
    }
}

#[test]
fn one_address_has_so_many_sessions_and_no_more() {
    let config = WebTransportConfig { sessions_per_address_max: 3, ..WebTransportConfig::default() };
    let mut rig = Rig::new(config);
    let _players: Vec<_> = (0..3).map(|_| rig.meet()).collect();
    assert!(Hostile::new(&rig).ask(PATH, None).is_err());
    assert_eq!(rig.server.counters().connections_opened, 3);
}

#[test]
fn a_session_that_never_says_anything_ends() {
    let config =
        WebTransportConfig { open_timeout: Micros::from_millis(400), ..WebTransportConfig::default() };
    let mut rig = Rig::new(config);
    let hostile = Hostile::new(&rig);
    let _connection = hostile.ask(PATH, None).unwrap();
    rig.until("the end of a silent session", |rig, _| {
        rig.events
            .iter()
            .any(|event| matches!(event, TransportEvent::Closed { reason: CloseReason::Silent, .. }))
    });
}

#[test]
fn other_paths_and_pages_of_other_sites_are_refused() {
    let origins = Origins::List(vec![String::from("https://game.example")]);
    let mut rig = Rig::new(WebTransportConfig { origins, ..WebTransportConfig::default() });
    let hostile = Hostile::new(&rig);
    for (path, origin) in [
        ("/", None),
        ("/netloom/", None),
        ("/netloom2", None),
        (PATH, Some("https://evil.example")),
        (PATH, Some("null")),
    ] {
        let refused = hostile.ask(path, origin);
        assert!(matches!(refused, Err(ConnectingError::SessionRejected)), "{path} {origin:?}: {refused:?}");
    }
    rig.until("all are counted", |rig, _| rig.server.counters().greetings_failed == 5);
    for (path, origin) in [(PATH, None), ("/netloom?x=1", Some("https://game.example"))] {
        hostile.ask(path, origin).unwrap();
    }
}

#[test]
fn rubbish_at_the_port_brings_at_most_three_times_as_much_and_keeps_nobody_out() {
    let mut rig = Rig::new(WebTransportConfig::default());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let (mut sent, mut came, mut buffer) = (0, 0, [0; 2_000]);
    for number in 0..5_000_u32 {
        let length = 20 + (number * 37 % 1_200) as usize;
        let mut rubbish: Vec<u8> = (0..length).map(|at| (at as u32 * 7 + number) as u8).collect();
        // Every other one looks like the first packet of a connection.
        if number % 2 == 0 {
            rubbish[..6].copy_from_slice(&[0xc3, 0, 0, 0, 1, 8]);
        }
        sent += socket.send_to(&rubbish, rig.address()).unwrap_or(0);
        while let Ok((length, _)) = socket.recv_from(&mut buffer) {
            came += length;
        }
    }
    rig.meet();
    while let Ok((length, _)) = socket.recv_from(&mut buffer) {
        came += length;
    }
    assert!(came <= 3 * sent, "{came} bytes for {sent}");
    assert_eq!(rig.server.counters().connections_opened, 1);
}

/// Passes datagrams on between one client and a server until it is cut.
struct Wire {
    address: SocketAddr,
    is_cut: Arc<AtomicBool>,
    /// They stay after the cut, so that nobody is told.
    _ends: [UdpSocket; 2],
}

impl Wire {
    fn to(server: SocketAddr) -> Wire {
        let near = UdpSocket::bind("127.0.0.1:0").unwrap();
        let far = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = near.local_addr().unwrap();
        let is_cut = Arc::new(AtomicBool::new(false));
        let cut = Arc::clone(&is_cut);
        let ends = [near.try_clone().unwrap(), far.try_clone().unwrap()];
        far.connect(server).unwrap();
        for socket in [&near, &far] {
            socket.set_read_timeout(Some(Duration::from_micros(100))).unwrap();
        }
        std::thread::spawn(move || {
            let (mut client, mut buffer) = (None, [0; 2_000]);
            while !cut.load(Ordering::Relaxed) {
                if let Ok((length, from)) = near.recv_from(&mut buffer) {
                    client = Some(from);
                    let _lost = far.send(&buffer[..length]);
                }
                if let (Ok(length), Some(client)) = (far.recv(&mut buffer), client) {
                    let _lost = near.send_to(&buffer[..length], client);
                }
            }
        });
        Wire { address, is_cut, _ends: ends }
    }
}

#[test]
fn a_peer_that_vanishes_and_acknowledges_nothing_is_slow_then_gone() {
    let config = WebTransportConfig {
        idle_timeout: Micros::from_secs(2),
        unsent_bytes_max: 16 << 10,
        ..WebTransportConfig::default()
    };
    let mut rig = Rig::new(config.clone());
    let wire = Wire::to(rig.address());
    let mut client = WebTransport::connect("localhost", wire.address.into(), config, &rig.trust).unwrap();
    let mut batch = Batch::new(1, 1_200).unwrap();
    assert!(batch.push(wire.address.into(), b"hello"));
    client.send(Micros::ZERO, &mut batch).unwrap();
    let mut peer = None;
    rig.until("a hello", |_, received| {
        peer = received.first().map(|(from, _)| *from);
        peer.is_some()
    });
    let peer = peer.unwrap();
    wire.is_cut.store(true, Ordering::Relaxed);
    let is_gone = |event: &TransportEvent| {
        *event == TransportEvent::Closed { peer, reason: CloseReason::Broken(std::io::ErrorKind::TimedOut) }
    };
    rig.until("its end", |rig, _| {
        rig.send(peer, &[1; MTU_BYTES]);
        let status = rig.server.status(peer);
        assert!(status.unsent_bytes <= 16 << 10 && status.room_bytes <= MTU_BYTES, "{status:?}");
        rig.events.iter().any(is_gone)
    });
    let slow = rig.events.iter().filter(|event| matches!(event, TransportEvent::Slow { .. })).count();
    assert_eq!(slow, 1, "it is said once");
    assert!(rig.server.counters().dropped_slow > 0);
    assert_eq!(rig.server.status(peer).state, PeerState::Closed);
}

#[test]
fn a_driver_that_fetches_nothing_keeps_a_bounded_number_of_datagrams() {
    let config = WebTransportConfig {
        inbox_datagrams_max: 20,
        inbox_per_session_max: 12,
        ..WebTransportConfig::default()
    };
    let mut rig = Rig::new(config);
    let (mut loud, _) = rig.meet();
    let (mut other, _) = rig.meet();
    let to = rig.server.local_address();
    let mut batch = Batch::new(64, 1_200).unwrap();
    let flood = |client: &mut WebTransport, batch: &mut Batch, count: usize| {
        for number in 0..count {
            assert!(batch.push(to, &[number as u8; 100]));
        }
        client.send(Micros::ZERO, batch).unwrap();
    };
    let before = rig.server.counters().received_datagrams;
    flood(&mut loud, &mut batch, 64);
    let begun = Instant::now();
    while rig.server.counters().dropped_slow < 52 && begun.elapsed() < PATIENCE {
        std::thread::yield_now();
    }
    assert_eq!(rig.server.counters().received_datagrams - before, 12, "one peer has its share");
    flood(&mut other, &mut batch, 8);
    while rig.server.counters().received_datagrams - before < 20 && begun.elapsed() < PATIENCE {
        std::thread::yield_now();
    }
    let mut fetched = 0;
    rig.until("all that was kept", |_, received| {
        fetched += received.len();
        fetched >= 20
    });
    assert_eq!(fetched, 20, "the other one found room");
}

#[test]
fn a_client_without_the_right_hash_or_a_server_is_told_and_may_try_again() {
    let mut rig = Rig::new(WebTransportConfig::default());
    let wrong = Trust::Hashes(vec![netloom_webtransport::CertificateHash([0; 32])]);
    let config =
        WebTransportConfig { open_timeout: Micros::from_millis(500), ..WebTransportConfig::default() };
    let nobody = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().into();
    let there = rig.server.local_address();
    for (address, trust) in [(there, wrong), (there, Trust::System), (nobody, rig.trust.clone())] {
        let mut client = WebTransport::connect("localhost", address, config.clone(), &trust).unwrap();
        for attempt in 0..2 {
            let mut told = None;
            let begun = Instant::now();
            while told.is_none() {
                assert!(begun.elapsed() < PATIENCE, "attempt {attempt} came to nothing");
                let now = rig.now();
                client.wait(now, now + Micros::from_millis(5)).unwrap();
                told = client.poll_event();
            }
            let told = told.unwrap();
            assert!(
                matches!(told, TransportEvent::Closed { peer, reason: CloseReason::NotMade(_) } if peer == address),
                "{told:?}"
            );
            assert_eq!(client.status(address).state, PeerState::Closed);
            let mut batch = Batch::new(1, 1_200).unwrap();
            assert!(batch.push(address, b"again"));
            // The next attempt, which may be over by now: what it came to is told in the next round.
            assert_eq!(client.send(rig.now(), &mut batch).unwrap(), 1);
        }
    }
    rig.meet();
}

#[test]
fn settings_that_cannot_be_name_the_field_and_its_range() {
    let certificates = Certificates::self_signed(&["localhost"]).unwrap();
    let at: PeerAddress = "127.0.0.1:0".parse().unwrap();
    for (config, field) in [
        (WebTransportConfig { sessions_max: 0, ..WebTransportConfig::default() }, "sessions_max"),
        (WebTransportConfig { unsent_bytes_max: 10, ..WebTransportConfig::default() }, "unsent_bytes_max"),
        (WebTransportConfig { idle_timeout: Micros::ZERO, ..WebTransportConfig::default() }, "idle_timeout"),
    ] {
        let error = WebTransport::listen(at, config, &certificates).unwrap_err().to_string();
        assert!(error.contains(field) && error.contains("allowed"), "{error}");
    }
    let taken = WebTransport::listen(at, WebTransportConfig::default(), &certificates).unwrap();
    let again = WebTransport::listen(taken.local_address(), WebTransportConfig::default(), &certificates);
    assert!(again.unwrap_err().to_string().contains("another program has this port"));
    let memory = WebTransport::listen(PeerAddress::Memory(1), WebTransportConfig::default(), &certificates);
    assert!(memory.unwrap_err().to_string().contains("WebTransport does not know"));
    let config = WebTransportConfig::default();
    let host = WebTransport::connect("a/b", at, config, &Trust::System).unwrap_err().to_string();
    assert!(host.contains("`a/b`"), "{host}");
}
