//! A server and a client that can be brought to any point of their acquaintance, and the limits they must keep.

use std::net::SocketAddr;

use netloom_proto::crypto::Checksum;
use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::packet::CRC_BYTES;
use netloom_proto::{
    Config, Endpoint, Event, ListenConfig, Micros, PeerId, RateConfig, Redundancy, Security,
};

/// The protocol of every endpoint here.
pub const PROTOCOL_ID: u64 = 0x6e65_746c_6f6f_6d21;

/// The seats of a server here: few, so that they run out.
const PEERS_MAX: usize = 4;

/// Datagrams that one endpoint may want to send at one moment. The rate allows far fewer.
const BURST_MAX: usize = 2_000;

/// Datagrams that are remembered for playing them again.
const RECORDED_MAX: usize = 64;

/// The checksum of a datagram without it. The protocol id is no secret, so an attacker can compute it too.
pub fn checksum(bytes: &[u8]) -> [u8; CRC_BYTES] {
    Checksum::new(PROTOCOL_ID).of(bytes).to_le_bytes()
}

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Server,
    Client,
}

impl Side {
    pub const BOTH: [Side; 2] = [Side::Server, Side::Client];

    pub fn other(self) -> Side {
        match self {
            Side::Server => Side::Client,
            Side::Client => Side::Server,
        }
    }
}

/// A configuration with small limits and short timeouts: both are reached within few operations.
pub fn config(security: Security, redundancy: Redundancy) -> Config {
    let mut config = Config {
        protocol_id: PROTOCOL_ID,
        security,
        redundancy,
        connect_timeout: Micros::from_secs(1),
        connect_retries: 1,
        keepalive: Micros::from_millis(500),
        peer_timeout: Micros::from_secs(3),
        disconnect_timeout: Micros::from_millis(500),
        rate: RateConfig {
            bytes_per_second_max: 1 << 20,
            bytes_per_second_initial: 1 << 19,
            ..RateConfig::default()
        },
        events_per_tick: 8,
        events_initial: 16,
        events_queued_max: 512,
        ..Config::default()
    };
    for channel in &mut config.channels {
        channel.message_bytes_max = 8 << 10;
        channel.pending_bytes_max = 32 << 10;
        channel.receive_bytes_max = 8 << 10;
    }
    config
}

/// The listening side's limits.
pub fn listen() -> ListenConfig {
    ListenConfig {
        peers_max: PEERS_MAX,
        peers_connecting_max: 2,
        resume_window: Micros::from_secs(5),
        ..ListenConfig::default()
    }
}

/// A datagram that was sent, as an attacker on the path sees it.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub by: Side,
    pub to: SocketAddr,
    pub bytes: Vec<u8>,
}

/// Two endpoints and the time.
pub struct Rig {
    pub now: Micros,
    pub server: Endpoint,
    pub client: Endpoint,
    pub server_address: SocketAddr,
    pub client_address: SocketAddr,
    pub recorded: Vec<Recorded>,
}

impl Rig {
    /// A server that listens and a client that has done nothing yet.
    pub fn new(server: Config, client: Config) -> Rig {
        let endpoint = |config, listen, seed| {
            Endpoint::new(config, listen, [seed; 32]).expect("a configuration within its limits")
        };
        Rig {
            now: Micros::from_secs(100),
            server: endpoint(server, Some(listen()), 1),
            client: endpoint(client, None, 2),
            server_address: SocketAddr::from(([10, 0, 0, 1], 7777)),
            client_address: SocketAddr::from(([10, 0, 0, 2], 5000)),
            recorded: Vec::new(),
        }
    }

    /// Lets the client ask for a connection.
    pub fn connect(&mut self) -> PeerId {
        self.client.connect(self.now, self.server_address, None).expect("the client has no connection yet")
    }

    pub fn endpoint(&mut self, side: Side) -> &mut Endpoint {
        match side {
            Side::Server => &mut self.server,
            Side::Client => &mut self.client,
        }
    }

    pub fn address(&self, side: Side) -> SocketAddr {
        match side {
            Side::Server => self.server_address,
            Side::Client => self.client_address,
        }
    }

    /// Everything that a side wants to send now.
    pub fn transmit(&mut self, side: Side) -> Vec<Recorded> {
        let now = self.now;
        let mut buffer = [0; DATAGRAM_MAX];
        let mut sent = Vec::new();
        while let Some(transmit) = self.endpoint(side).poll_transmit(now, &mut buffer) {
            sent.push(Recorded { by: side, to: transmit.to, bytes: buffer[..transmit.length].to_vec() });
            assert!(sent.len() < BURST_MAX, "{side:?} never stops sending");
        }
        self.recorded.extend_from_slice(&sent);
        let excess = self.recorded.len().saturating_sub(RECORDED_MAX);
        self.recorded.drain(..excess);
        sent
    }

    /// One millisecond in which everything sent arrives.
    pub fn exchange(&mut self) {
        self.now += Micros::from_millis(1);
        for side in Side::BOTH {
            let now = self.now;
            self.endpoint(side).begin_tick(now);
            for mut sent in self.transmit(side) {
                let from = self.address(side);
                if sent.to == self.address(side.other()) {
                    self.endpoint(side.other()).handle_datagram(now, from, &mut sent.bytes);
                }
            }
        }
    }

    /// Polls at most `count` events of a side and says how many messages were among them.
    pub fn drain_events(&mut self, side: Side, count: usize) -> usize {
        let endpoint = self.endpoint(side);
        let limits: Vec<usize> =
            endpoint.config().channels.iter().map(|channel| channel.message_bytes_max).collect();
        let mut messages = 0;
        for _ in 0..count {
            match endpoint.poll_event() {
                None => break,
                Some((_, Event::Message { channel, data })) => {
                    let max = limits[usize::from(channel)];
                    assert!(data.len() <= max, "a message of {} bytes, {max} allowed", data.len());
                    messages += 1;
                }
                Some(_) => {}
            }
        }
        messages
    }

    /// Asserts every limit that a side promises to keep, whatever arrives.
    pub fn check_limits(&mut self, side: Side) {
        check_limits(self.endpoint(side));
    }
}

/// Asserts the limits of one endpoint.
pub fn check_limits(endpoint: &Endpoint) {
    let channels = &endpoint.config().channels;
    let pending_max: usize = channels.iter().map(|channel| channel.pending_bytes_max).sum();
    // The part that everything waits for is taken even when the rest is full, so that waiting can end.
    let waiting_max: usize =
        channels.iter().map(|channel| channel.receive_bytes_max + channel.message_bytes_max).sum();
    // Connected and disconnected need no room among the messages.
    let events_max = endpoint.config().events_queued_max + 2;
    assert!(endpoint.peer_count() <= PEERS_MAX);
    for peer in endpoint.peers() {
        let Some(stats) = endpoint.stats(peer) else {
            continue;
        };
        assert!(stats.pending_bytes <= pending_max, "{} bytes pending", stats.pending_bytes);
        assert!(stats.waiting_bytes <= waiting_max, "{} bytes waiting", stats.waiting_bytes);
        assert!(stats.queue_depth <= events_max, "{} events", stats.queue_depth);
    }
}
