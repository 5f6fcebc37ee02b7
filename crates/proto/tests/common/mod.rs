//! A world of endpoints in virtual time, joined by a link that a test scripts datagram by datagram.
//!
//! ```text
//!   tick:  time moves on ─▶ what is due arrives ─▶ events are collected ─▶ what the endpoints send enters the link
//! ```
//!
//! Nothing here is random: a test that fails does so every time.
#![allow(dead_code, reason = "each test binary uses its own part of the harness")]

pub mod forge;
pub mod traffic;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use netloom_proto::{
    Config, DisconnectReason, Endpoint, Event, ListenConfig, Micros, PeerId, RateConfig, Rejection,
    ResumeToken, Security, SendError, State, Stats,
};

/// The server of a world made by [`World::new`].
pub const SERVER: usize = 0;
/// Its first client.
pub const CLIENT: usize = 1;

/// The channels of the default configuration.
pub const PRIORITY: u8 = 0;
pub const ORDERED: u8 = 1;
pub const UNORDERED: u8 = 2;
pub const UNRELIABLE: u8 = 3;
pub const SEQUENCED: u8 = 4;

pub const fn ms(milliseconds: u64) -> Micros {
    Micros::from_millis(milliseconds)
}

pub const fn secs(seconds: u64) -> Micros {
    Micros::from_secs(seconds)
}

/// Sealed, and fast enough that the rate is not what a test is about.
pub fn sealed() -> Config {
    Config {
        protocol_id: 0x6e65_746c_6f6f_6d00,
        rate: RateConfig {
            bytes_per_second_max: 50_000_000,
            bytes_per_second_initial: 10_000_000,
            bytes_per_second_min: 1_000_000,
            ..RateConfig::default()
        },
        ..Config::default()
    }
}

/// The same without encryption.
pub fn plain() -> Config {
    Config { security: Security::Off, ..sealed() }
}

/// A datagram as the link sees it, before it decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub sent_at: Micros,
    pub bytes: Vec<u8>,
}

impl Datagram {
    /// The packet type on the wire.
    pub fn kind(&self) -> u8 {
        self.bytes[0] & 0x0f
    }
}

/// What becomes of a datagram: one arrival by default.
#[derive(Debug)]
pub struct Passing {
    pub datagram: Datagram,
    /// Counts the datagrams of this world.
    pub ordinal: u64,
    /// How long each copy takes; empty means lost.
    pub delays: Vec<Micros>,
}

impl Passing {
    pub fn drop(&mut self) {
        self.delays.clear();
    }

    pub fn is_to(&self, address: SocketAddr) -> bool {
        self.datagram.to == address
    }
}

/// An event that outlives the poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Connected { resumed_from: Option<PeerId>, resume: Option<ResumeToken> },
    Message(u8, Vec<u8>),
    Outcome(u64, bool),
    Disconnected(DisconnectReason, Option<(netloom_proto::RejectReason, u64)>),
}

impl From<Event<'_>> for Seen {
    fn from(event: Event<'_>) -> Seen {
        match event {
            Event::Connected { resumed_from, resume } => Seen::Connected { resumed_from, resume },
            Event::Message { channel, data } => Seen::Message(channel, data.to_vec()),
            Event::Outcome { tag, acked } => Seen::Outcome(tag, acked),
            Event::Disconnected { reason, reject } => Seen::Disconnected(reason, reject),
        }
    }
}

/// An endpoint and what came of it.
pub struct Node {
    pub endpoint: Endpoint,
    /// Where its datagrams seem to come from.
    pub address: SocketAddr,
    pub events: Vec<(PeerId, Seen)>,
    /// A stalled reader does not poll events.
    pub is_stalled: bool,
    /// Neither sends nor receives.
    pub is_off: bool,
}

impl Node {
    pub fn messages(&self, channel: u8) -> Vec<Vec<u8>> {
        let messages = self.events.iter().filter_map(|(_, seen)| match seen {
            Seen::Message(on, data) if *on == channel => Some(data.clone()),
            _ => None,
        });
        messages.collect()
    }

    pub fn outcomes(&self) -> Vec<(u64, bool)> {
        let outcomes = self.events.iter().filter_map(|(_, seen)| match seen {
            Seen::Outcome(tag, acked) => Some((*tag, *acked)),
            _ => None,
        });
        outcomes.collect()
    }

    pub fn ends(&self) -> Vec<DisconnectReason> {
        let ends = self.events.iter().filter_map(|(_, seen)| match seen {
            Seen::Disconnected(reason, _) => Some(*reason),
            _ => None,
        });
        ends.collect()
    }

    pub fn connects(&self) -> usize {
        let connected = |(_, seen): &&(PeerId, Seen)| matches!(seen, Seen::Connected { .. });
        self.events.iter().filter(connected).count()
    }

    pub fn resume_token(&self) -> Option<ResumeToken> {
        self.events.iter().rev().find_map(|(_, seen)| match seen {
            Seen::Connected { resume, .. } => *resume,
            _ => None,
        })
    }

    pub fn rejected(&self, reason: Rejection) -> u64 {
        self.endpoint.rejections().get(reason)
    }

    /// The only peer.
    pub fn peer(&self) -> PeerId {
        let peers: Vec<_> = self.endpoint.peers().collect();
        assert_eq!(peers.len(), 1, "exactly one peer");
        peers[0]
    }

    pub fn state(&self, peer: PeerId) -> State {
        self.endpoint.state(peer)
    }

    pub fn stats(&self, peer: PeerId) -> Stats {
        self.endpoint.stats(peer).expect("the peer exists")
    }
}

type Script = Box<dyn FnMut(&mut Passing)>;

/// Endpoints, the link between them and the time they live in.
pub struct World {
    pub nodes: Vec<Node>,
    pub now: Micros,
    /// How far a tick moves the time.
    pub tick: Micros,
    /// One-way delay of the link.
    pub delay: Micros,
    /// Everything that entered the link.
    pub recorded: Vec<Datagram>,
    script: Script,
    in_flight: BTreeMap<(Micros, u64), Datagram>,
    ordinal: u64,
}

impl World {
    /// A server, a client, and 20 ms between them.
    pub fn new(server: Config, client: Config) -> World {
        World::with_listen(server, ListenConfig::default(), client)
    }

    pub fn with_listen(server: Config, listen: ListenConfig, client: Config) -> World {
        let mut world = World {
            nodes: vec![],
            now: Micros::ZERO,
            tick: ms(5),
            delay: ms(20),
            recorded: vec![],
            script: Box::new(|_| ()),
            in_flight: BTreeMap::new(),
            ordinal: 0,
        };
        world.add("10.0.0.1:7777", server, Some(listen));
        world.add("10.0.1.2:50000", client, None);
        world
    }

    /// The same, connected, with events and recordings forgotten: the client's peer and the server's.
    pub fn connected(config: Config) -> (World, PeerId, PeerId) {
        let mut world = World::new(config.clone(), config);
        let (client, server) = world.connect();
        (world, client, server)
    }

    pub fn add(&mut self, address: &str, config: Config, listen: Option<ListenConfig>) -> usize {
        let index = self.nodes.len();
        let seed = [index as u8 + 1; 32];
        self.nodes.push(Node {
            endpoint: Endpoint::new(config, listen, seed).expect("a valid configuration"),
            address: address.parse().expect("an address"),
            events: vec![],
            is_stalled: false,
            is_off: false,
        });
        index
    }

    /// A process that starts again: a fresh endpoint behind the same address.
    pub fn restart(&mut self, index: usize, config: Config) {
        let seed = [(0x40 + index as u64 + self.ordinal) as u8; 32];
        self.nodes[index].endpoint = Endpoint::new(config, None, seed).expect("a valid configuration");
        self.nodes[index].events.clear();
    }

    /// What happens to every datagram from now on.
    pub fn script(&mut self, script: impl FnMut(&mut Passing) + 'static) {
        self.script = Box::new(script);
    }

    pub fn perfect_link(&mut self) {
        self.script(|_| ());
    }

    pub fn server(&mut self) -> &mut Node {
        &mut self.nodes[SERVER]
    }

    pub fn client(&mut self) -> &mut Node {
        &mut self.nodes[CLIENT]
    }

    pub fn start_connecting(&mut self, node: usize, resume: Option<ResumeToken>) -> PeerId {
        let (now, to) = (self.now, self.nodes[SERVER].address);
        self.nodes[node].endpoint.connect(now, to, resume).expect("no connection yet")
    }

    /// Connects the first client and forgets what that took: its peer and the server's.
    pub fn connect(&mut self) -> (PeerId, PeerId) {
        let client = self.start_connecting(CLIENT, None);
        self.run_for(ms(300));
        assert_eq!(self.nodes[CLIENT].state(client), State::Connected);
        let server = self.nodes[SERVER].peer();
        assert_eq!(self.nodes[SERVER].state(server), State::Connected);
        self.forget();
        (client, server)
    }

    /// Forgets events and recordings.
    pub fn forget(&mut self) {
        self.recorded.clear();
        self.nodes.iter_mut().for_each(|node| node.events.clear());
    }

    pub fn disconnect(&mut self, node: usize, peer: PeerId, reason: DisconnectReason) {
        let now = self.now;
        self.nodes[node].endpoint.disconnect(now, peer, reason);
    }

    pub fn send(&mut self, node: usize, peer: PeerId, channel: u8, message: &[u8]) -> Result<(), SendError> {
        self.nodes[node].endpoint.send(peer, channel, message)
    }

    pub fn run_for(&mut self, duration: Micros) {
        let end = self.now + duration;
        while self.now < end {
            self.step();
        }
    }

    /// Runs until the condition holds; panics if it does not within `limit`.
    pub fn run_until(&mut self, limit: Micros, mut condition: impl FnMut(&World) -> bool) {
        let end = self.now + limit;
        while !condition(self) {
            assert!(self.now < end, "the condition did not come true within {limit:?}");
            self.step();
        }
    }

    /// One tick.
    pub fn step(&mut self) {
        self.now += self.tick;
        self.deliver();
        for node in &mut self.nodes {
            node.endpoint.begin_tick(self.now);
            while !node.is_stalled
                && let Some((peer, event)) = node.endpoint.poll_event()
            {
                let seen = Seen::from(event);
                node.events.push((peer, seen));
            }
        }
        for index in 0..self.nodes.len() {
            self.transmit(index);
        }
    }

    /// Hands a datagram to whoever is at `to`, at once.
    pub fn inject(&mut self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        let now = self.now;
        let receiver = self.nodes.iter_mut().find(|node| node.address == to && !node.is_off);
        if let Some(node) = receiver {
            node.endpoint.handle_datagram(now, from, &mut bytes.to_vec());
        }
    }

    /// The same from the first client to the server.
    pub fn inject_to_server(&mut self, bytes: &[u8]) {
        self.inject(self.nodes[CLIENT].address, self.nodes[SERVER].address, bytes);
    }

    /// Datagrams of this packet type among the recorded ones.
    pub fn recorded_of(&self, kind: netloom_proto::packet::PacketType) -> Vec<Datagram> {
        let same = |datagram: &&Datagram| datagram.kind() == kind as u8;
        self.recorded.iter().filter(same).cloned().collect()
    }

    fn deliver(&mut self) {
        while let Some(entry) = self.in_flight.first_entry()
            && entry.key().0 <= self.now
        {
            let datagram = entry.remove();
            self.inject(datagram.from, datagram.to, &datagram.bytes);
        }
    }

    /// Everything that a node wants to send now enters the link.
    pub fn transmit(&mut self, index: usize) {
        let mut buffer = [0; 1200];
        while let Some(transmit) = self.nodes[index].endpoint.poll_transmit(self.now, &mut buffer) {
            let datagram = Datagram {
                from: self.nodes[index].address,
                to: transmit.to,
                sent_at: self.now,
                bytes: buffer[..transmit.length].to_vec(),
            };
            if self.nodes[index].is_off {
                continue;
            }
            self.recorded.push(datagram.clone());
            let mut passing = Passing { datagram, ordinal: self.ordinal, delays: vec![self.delay] };
            (self.script)(&mut passing);
            for delay in passing.delays {
                self.ordinal += 1;
                self.in_flight.insert((self.now + delay, self.ordinal), passing.datagram.clone());
            }
            self.ordinal += 1;
        }
    }
}

/// A small generator for scripts: the same every time.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15))
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

/// A link that loses, repeats and reorders.
pub fn bad_link(seed: u64, loss: u64, dup: u64, reorder: u64) -> impl FnMut(&mut Passing) {
    let mut dice = Dice::new(seed);
    move |passing| {
        let delay = passing.delays[0];
        if dice.percent(reorder) {
            passing.delays[0] = delay + Micros(dice.below(60_000));
        }
        if dice.percent(dup) {
            passing.delays.push(delay + Micros(dice.below(60_000)));
        }
        if dice.percent(loss) {
            passing.drop();
        }
    }
}
