//! A server and its clients over any transport, in real time with a deadline.

use std::time::Instant;

use netloom_transport::{
    Batch, Conditioner, ConditionerConfig, MemoryConfig, MemoryNetwork, Micros, PeerAddress, TcpConfig,
    TcpTransport, Transport, TransportEvent, UdpConfig, UdpTransport, WebSocketConfig, WebSocketTransport,
    preset,
};

use netloom_webtransport::{Certificates, Trust, WebTransport, WebTransportConfig};

/// Far beyond what any of this takes, even on a busy machine.
const PATIENCE: Micros = Micros::from_secs(30);

pub type Connect = Box<dyn Fn(PeerAddress) -> Box<dyn Transport>>;

/// One server, the way to connect to it, and a clock.
pub struct Rig {
    pub server: Box<dyn Transport>,
    connect: Connect,
    start: Instant,
}

impl Rig {
    pub fn new(server: Box<dyn Transport>, connect: Connect) -> Rig {
        Rig { server, connect, start: Instant::now() }
    }

    pub fn now(&self) -> Micros {
        Micros(self.start.elapsed().as_micros() as u64)
    }

    pub fn client(&self) -> Box<dyn Transport> {
        (self.connect)(self.server.local_address())
    }

    pub fn batch(&self) -> Batch {
        Batch::new(64, self.server.capabilities().mtu_bytes).unwrap()
    }

    /// Turns until `done` says so, and fails after [`PATIENCE`].
    pub fn until(&mut self, what: &str, mut done: impl FnMut(&mut dyn Transport, Micros) -> bool) {
        loop {
            let now = self.now();
            if done(&mut *self.server, now) {
                break;
            }
            assert!(now < PATIENCE, "nothing came of it: {what}");
            self.server.wait(now, now + Micros::from_millis(1)).unwrap();
        }
    }

    /// Sends datagrams from a client and returns the address that the server sees it under.
    pub fn meet(&mut self, client: &mut dyn Transport) -> PeerAddress {
        let mut batch = self.batch();
        assert!(batch.push(self.server.local_address(), b"here I am"));
        let mut seen = None;
        self.until("a first datagram", |server, now| {
            client.send(now, &mut batch).unwrap();
            let mut received = Batch::new(64, server.capabilities().mtu_bytes).unwrap();
            server.receive(now, &mut received).unwrap();
            seen = received.iter().next().map(|datagram| datagram.address());
            client.receive(now, &mut Batch::new(1, client.capabilities().mtu_bytes).unwrap()).unwrap();
            seen.is_some()
        });
        while self.server.poll_event().is_some() || client.poll_event().is_some() {}
        seen.unwrap()
    }
}

pub fn events(transport: &mut dyn Transport) -> Vec<TransportEvent> {
    std::iter::from_fn(|| transport.poll_event()).collect()
}

pub fn address(text: &str) -> PeerAddress {
    text.parse().unwrap()
}

pub fn memory() -> Rig {
    let network = MemoryNetwork::new(MemoryConfig::default()).unwrap();
    let server = network.join().unwrap();
    Rig::new(Box::new(server), Box::new(move |_| Box::new(network.join().unwrap())))
}

fn udp_at(bind: &str, config: UdpConfig) -> Rig {
    let server = UdpTransport::bind(address(bind), config.clone()).unwrap();
    Rig::new(
        Box::new(server),
        Box::new(move |server| Box::new(UdpTransport::connect(server, config.clone()).unwrap())),
    )
}

pub fn udp() -> Rig {
    udp_at("127.0.0.1:0", UdpConfig::default())
}

pub fn udp_v6() -> Rig {
    udp_at("[::1]:0", UdpConfig::default())
}

pub fn udp_one_at_a_time() -> Rig {
    udp_at("127.0.0.1:0", UdpConfig { batches_system_calls: false, ..UdpConfig::default() })
}

pub fn tcp() -> Rig {
    let server = TcpTransport::listen(address("127.0.0.1:0"), TcpConfig::default()).unwrap();
    Rig::new(
        Box::new(server),
        Box::new(|server| Box::new(TcpTransport::connect(server, TcpConfig::default()).unwrap())),
    )
}

pub fn tcp_v6() -> Rig {
    let server = TcpTransport::listen(address("[::1]:0"), TcpConfig::default()).unwrap();
    Rig::new(
        Box::new(server),
        Box::new(|server| Box::new(TcpTransport::connect(server, TcpConfig::default()).unwrap())),
    )
}

fn websocket_at(bind: &str) -> Rig {
    let server = WebSocketTransport::listen(address(bind), WebSocketConfig::default()).unwrap();
    Rig::new(
        Box::new(server),
        Box::new(|server| Box::new(WebSocketTransport::connect(server, WebSocketConfig::default()).unwrap())),
    )
}

pub fn websocket() -> Rig {
    websocket_at("127.0.0.1:0")
}

pub fn websocket_v6() -> Rig {
    websocket_at("[::1]:0")
}

fn webtransport_at(bind: &str) -> Rig {
    let config = WebTransportConfig::default();
    let certificates = Certificates::self_signed(&["localhost"]).unwrap();
    let server = WebTransport::listen(address(bind), config.clone(), &certificates).unwrap();
    let trust = Trust::Hashes(certificates.hashes());
    let connect = move |server| WebTransport::connect("localhost", server, config.clone(), &trust).unwrap();
    Rig::new(Box::new(server), Box::new(move |server| Box::new(connect(server))))
}

pub fn webtransport() -> Rig {
    webtransport_at("127.0.0.1:0")
}

pub fn webtransport_v6() -> Rig {
    webtransport_at("[::1]:0")
}

pub fn conditioned_webtransport() -> Rig {
    on_a_line(webtransport(), "none")
}

/// Both ends behind the line of this name.
pub fn on_a_line(rig: Rig, name: &str) -> Rig {
    let line = preset(name).unwrap();
    let line = move || ConditionerConfig::symmetric(line, 1);
    let Rig { server, connect, .. } = rig;
    Rig::new(
        Box::new(Conditioner::new(server, line()).unwrap()),
        Box::new(move |server| Box::new(Conditioner::new(connect(server), line()).unwrap())),
    )
}

pub fn conditioned_memory() -> Rig {
    on_a_line(memory(), "none")
}

pub fn conditioned_udp() -> Rig {
    on_a_line(udp(), "none")
}

pub fn conditioned_tcp() -> Rig {
    on_a_line(tcp(), "none")
}

pub fn conditioned_websocket() -> Rig {
    on_a_line(websocket(), "none")
}
