//! Messages without a world: connections alone, over the library's UDP transport, as its own server drives them.

use crate::setting::Setting;
use netloom::proto::{Config, Endpoint, Event, ListenConfig, PeerId};
use netloom::transport::{Batch, PeerAddress, Transport, UdpConfig, UdpTransport};
use netloom::wire::Micros;
use peer_common::{Heard, Options, RELIABLE_BYTES, UNRELIABLE_BYTES, monotonic_ns};

/// Of the default channels.
const ORDERED: u8 = 1;
const UNRELIABLE: u8 = 3;
const BATCH_DATAGRAMS: usize = 64;

/// An endpoint and its socket.
struct Line {
    endpoint: Endpoint,
    transport: UdpTransport,
    batch: Batch,
    connected: Vec<PeerId>,
}

impl Line {
    fn new(endpoint: Endpoint, transport: UdpTransport) -> Line {
        let batch = Batch::new(BATCH_DATAGRAMS, transport.capabilities().mtu_bytes).expect("a batch");
        Line { endpoint, transport, batch, connected: Vec::new() }
    }

    /// Takes in what arrived, and gives every message to `heard`.
    fn receive(&mut self, now: Micros, mut heard: impl FnMut(u8, &[u8])) {
        let Line { endpoint, transport, batch, connected } = self;
        loop {
            batch.clear();
            let is_full = transport.receive(now, batch).expect("a socket") == batch.capacity();
            for datagram in batch.iter() {
                endpoint.fetch_for(datagram.address().to_socket_addr(), datagram.bytes());
            }
            for datagram in batch.iter_mut() {
                let from = datagram.address().to_socket_addr();
                endpoint.handle_datagram(now, from, datagram.bytes_mut());
            }
            if !is_full {
                break;
            }
        }
        batch.clear();
        endpoint.begin_tick(now);
        while let Some((peer, event)) = endpoint.poll_event() {
            match event {
                Event::Message { channel, data } => heard(channel, data),
                Event::Connected { .. } => connected.push(peer),
                Event::Disconnected { reason, .. } => {
                    eprintln!("a connection ended: {reason:?}");
                    connected.retain(|&other| other != peer);
                }
                Event::Outcome { .. } => {}
            }
        }
    }

    fn send(&mut self, now: Micros) {
        let Line { endpoint, transport, batch, .. } = self;
        loop {
            while let Some(slot) = batch.next_slot()
                && let Some(transmit) = endpoint.poll_transmit(now, slot)
            {
                batch.commit(transmit.to.into(), transmit.length);
            }
            if batch.is_empty() {
                return;
            }
            transport.send(now, batch).expect("a socket");
            batch.clear();
        }
    }
}

fn config(options: &Options) -> Config {
    let mut config = Config::default();
    Setting::of(options).secure(&mut config);
    config
}

fn now() -> Micros {
    Micros(monotonic_ns() / 1_000)
}

pub struct Host(Line);

impl Host {
    pub fn bind(options: &Options) -> Host {
        let transport = UdpTransport::bind(PeerAddress::from(options.server_address()), UdpConfig::default())
            .expect("a socket");
        let listen = ListenConfig { peers_max: options.clients, ..ListenConfig::default() };
        Host(Line::new(
            Endpoint::new(config(options), Some(listen), [1; 32]).expect("an endpoint"),
            transport,
        ))
    }

    pub fn connected_count(&self) -> usize {
        self.0.connected.len()
    }

    pub fn tick(&mut self, reliable: &[[u8; RELIABLE_BYTES]], unreliable: Option<&[u8; UNRELIABLE_BYTES]>) {
        let now = now();
        self.0.receive(now, |_, _| {});
        let Line { endpoint, connected, .. } = &mut self.0;
        for &peer in &*connected {
            for message in reliable {
                endpoint.send(peer, ORDERED, message).expect("room in a queue");
            }
            if let Some(message) = unreliable {
                endpoint.send(peer, UNRELIABLE, message).expect("room in a queue");
            }
        }
        self.0.send(now);
    }
}

pub struct Guests {
    lines: Vec<Line>,
    heard: Heard,
}

impl Guests {
    pub fn connect(options: &Options) -> Guests {
        let line = |number: usize| {
            let server = PeerAddress::from(options.dial_address());
            let transport = UdpTransport::connect(server, UdpConfig::default()).expect("a socket");
            let seed = std::array::from_fn(|at| (number >> (8 * (at % 2))) as u8 ^ 0x5a);
            let mut endpoint = Endpoint::new(config(options), None, seed).expect("an endpoint");
            endpoint.connect(now(), options.dial_address(), None).expect("a connection");
            Line::new(endpoint, transport)
        };
        Guests { lines: (0..options.clients).map(line).collect(), heard: Heard::new(options.clients) }
    }

    pub fn poll(&mut self) {
        let now = now();
        let Guests { lines, heard } = self;
        for (number, line) in lines.iter_mut().enumerate() {
            line.receive(now, |channel, message| match channel {
                ORDERED => heard.reliable(number, message),
                _ => heard.unreliable(),
            });
            line.send(now);
        }
    }

    pub fn heard(&self) -> &Heard {
        &self.heard
    }
}
