//! A small game, and a server and clients of it over real transports.
#![allow(dead_code, reason = "every test file uses a part of it")]

pub mod game;
pub mod plug;

use std::time::{Duration, Instant};

use netloom::ClientBuilder;
use netloom::prelude::*;
use netloom::transport::{
    MemoryConfig, MemoryNetwork, PeerAddress, TcpConfig, TcpTransport, Transport, UdpConfig, UdpTransport,
    WebSocketConfig, WebSocketTransport,
};

use game::{Keys, Park, Walk};
use plug::{Plug, Switch};

/// How long anything may take; what works takes a fraction of it.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// What carries datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    Memory,
    Udp,
    Tcp,
    WebSocket,
    #[cfg(feature = "webtransport")]
    WebTransport,
}

impl Carrier {
    /// Whether there is a connection that ends with an address: other datagrams find their way from anywhere.
    pub fn has_connections(self) -> bool {
        !matches!(self, Carrier::Memory | Carrier::Udp)
    }
}

/// What a test runs over.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub carrier: Carrier,
    pub driver: Driver,
}

/// A client with what it saw.
pub struct Player {
    pub client: Client<Keys>,
    pub own: Prediction<Walk>,
    pub events: Vec<ClientEvent>,
    pub keys: Keys,
    pub switch: Switch,
    /// When the newest snapshot came, and the times between two.
    pub fed: Option<Instant>,
    pub gaps: Vec<Duration>,
    newest: Option<Tick>,
}

impl Player {
    pub fn has(&self, wanted: impl Fn(&ClientEvent) -> bool) -> bool {
        self.events.iter().any(wanted)
    }

    pub fn is_welcome(&self) -> bool {
        self.has(|event| matches!(event, ClientEvent::Welcomed { .. }))
    }

    pub fn has_trouble(&self) -> bool {
        self.has(|event| matches!(event, ClientEvent::Lost { .. } | ClientEvent::Ended(_)))
    }

    /// The longest time without a snapshot, with the one that goes on.
    pub fn gap_longest(&self) -> Duration {
        let going_on = self.fed.map(|fed| fed.elapsed());
        self.gaps.iter().copied().chain(going_on).max().unwrap_or_default()
    }

    /// A frame: what arrived, what the player does, and out with it.
    pub fn frame(&mut self) {
        let elapsed = self.client.tick().unwrap();
        self.events.extend(std::iter::from_fn(|| self.client.poll_event()));
        self.own.update(&self.client, elapsed).unwrap();
        while let Some(step) = self.client.poll_step() {
            self.client.push_input(step, self.keys).unwrap();
            self.own.apply(step, self.keys);
        }
        self.client.send().unwrap();
        self.note_snapshot();
    }

    fn note_snapshot(&mut self) {
        let newest = self.client.objects().and_then(|objects| objects.newest());
        if newest != self.newest {
            let now = Instant::now();
            self.gaps.extend(self.fed.map(|before| now - before));
            (self.newest, self.fed) = (newest, Some(now));
        }
    }
}

/// A server in a thread of its own, and clients that the test's thread drives.
pub struct Rig {
    pub way: Way,
    pub server: Option<ServerHandle>,
    pub address: PeerAddress,
    pub players: Vec<Player>,
    network: MemoryNetwork,
    server_events: Vec<ServerEvent>,
    #[cfg(feature = "webtransport")]
    trust: netloom::webtransport::Trust,
}

impl Rig {
    pub fn new(way: Way) -> Rig {
        Rig::with(way, ServerConfig::default(), [(RoomConfig::new("park"), Park::new(20))])
    }

    pub fn with(way: Way, config: ServerConfig, rooms: impl IntoIterator<Item = (RoomConfig, Park)>) -> Rig {
        let network = MemoryNetwork::new(MemoryConfig::default()).unwrap();
        let mut builder = Server::builder(game::protocol()).config(config).driver(way.driver);
        for (room, park) in rooms {
            builder = builder.room(room, park);
        }
        builder = match way.carrier {
            Carrier::Memory => builder.transport(network.join().unwrap()),
            Carrier::Udp => builder.listen("udp://127.0.0.1:0"),
            Carrier::Tcp => builder.listen("tcp://127.0.0.1:0"),
            Carrier::WebSocket => builder.listen("ws://127.0.0.1:0"),
            #[cfg(feature = "webtransport")]
            Carrier::WebTransport => builder.listen("https://127.0.0.1:0"),
        };
        let server = builder.bind().unwrap();
        #[cfg(feature = "webtransport")]
        let trust = netloom::webtransport::Trust::Hashes(server.certificate_hashes());
        let server = server.spawn().unwrap();
        let address = match server.local_addresses() {
            [] => PeerAddress::Memory(0),
            [address, ..] => address.resolve().unwrap().into(),
        };
        Rig {
            way,
            server: Some(server),
            address,
            players: Vec::new(),
            network,
            server_events: Vec::new(),
            #[cfg(feature = "webtransport")]
            trust,
        }
    }

    /// Clients of a server that runs elsewhere.
    pub fn apart(way: Way, address: PeerAddress) -> Rig {
        let network = MemoryNetwork::new(MemoryConfig::default()).unwrap();
        Rig {
            way,
            server: None,
            address,
            players: Vec::new(),
            network,
            server_events: Vec::new(),
            #[cfg(feature = "webtransport")]
            trust: netloom::webtransport::Trust::System,
        }
    }

    /// A client of this name, which begins to connect.
    pub fn join(&mut self, name: &str) -> usize {
        self.join_with(ClientConfig { name: name.to_owned(), ..ClientConfig::default() })
    }

    pub fn join_with(&mut self, config: ClientConfig) -> usize {
        self.join_by(Client::<Keys>::builder().config(config))
    }

    pub fn join_by(&mut self, builder: ClientBuilder) -> usize {
        let dial = self.dialer();
        let switch = Switch::default();
        let plug = Plug::new(dial, self.address, switch.clone());
        let client =
            builder.driver(self.way.driver).connect_over(game::protocol(), plug, self.address).unwrap();
        self.players.push(Player {
            client,
            own: Prediction::new(Walk),
            events: Vec::new(),
            keys: Keys::default(),
            switch,
            fed: None,
            gaps: Vec::new(),
            newest: None,
        });
        self.players.len() - 1
    }

    /// A client that is in the room.
    pub fn welcome(&mut self, name: &str) -> usize {
        let player = self.join(name);
        self.until("a welcome", |rig| rig.players[player].is_welcome());
        player
    }

    /// A frame of everybody.
    pub fn frame(&mut self) {
        self.players.iter_mut().for_each(Player::frame);
        match self.players.first_mut() {
            Some(player) => player.client.wait(Micros::from_millis(2)).unwrap(),
            None => std::thread::yield_now(),
        }
    }

    /// Frames until something is so.
    pub fn until(&mut self, what: &str, mut is_so: impl FnMut(&mut Rig) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            let way = self.way;
            if begun.elapsed() > PATIENCE {
                let seen: Vec<_> = self.players.iter().map(|player| &player.events).collect();
                panic!("{what} did not come to pass over {way:?}: {seen:?}, {:?}", self.server_events);
            }
            self.frame();
        }
    }

    pub fn until_event(&mut self, player: usize, what: &str, wanted: impl Fn(&ClientEvent) -> bool) {
        self.until(what, |rig| rig.players[player].has(&wanted));
    }

    /// Frames for a while: for watching that something does not happen.
    pub fn run(&mut self, time: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < time {
            self.frame();
        }
    }

    /// Everything that the server told so far.
    pub fn server_events(&mut self) -> &[ServerEvent] {
        let news = self.server.as_ref().map(ServerHandle::events).unwrap_or_default();
        self.server_events.extend(news);
        &self.server_events
    }

    pub fn server_has(&mut self, wanted: impl Fn(&ServerEvent) -> bool) -> bool {
        self.server_events().iter().any(wanted)
    }

    /// Asks the server something, in its thread.
    pub fn ask<R: Send + 'static>(&self, question: impl FnOnce(&mut Server) -> R + Send + 'static) -> R {
        self.server.as_ref().and_then(|server| server.with(question)).expect("the server runs")
    }
}

/// Everybody says goodbye: a server that stops waits for those who do not answer.
impl Drop for Rig {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        if let Some(server) = self.server.take() {
            server.with(|server| server.stop("the test is over"));
            let begun = Instant::now();
            while !server.is_finished() && begun.elapsed() < PATIENCE {
                self.frame();
            }
        }
    }
}

/// What makes transports to a server.
pub type Dial = Box<dyn FnMut() -> Box<dyn Transport> + Send>;

impl Rig {
    fn dialer(&self) -> Dial {
        let (carrier, server, network) = (self.way.carrier, self.address, self.network.clone());
        #[cfg(feature = "webtransport")]
        let trust = self.trust.clone();
        Box::new(move || match carrier {
            Carrier::Memory => Box::new(network.join().unwrap()),
            Carrier::Udp => Box::new(UdpTransport::connect(server, UdpConfig::default()).unwrap()),
            Carrier::Tcp => Box::new(TcpTransport::connect(server, TcpConfig::default()).unwrap()),
            Carrier::WebSocket => {
                Box::new(WebSocketTransport::connect(server, WebSocketConfig::default()).unwrap())
            }
            #[cfg(feature = "webtransport")]
            Carrier::WebTransport => {
                use netloom::webtransport::{WebTransport, WebTransportConfig};
                let config = WebTransportConfig::default();
                Box::new(WebTransport::connect("localhost", server, config, &trust).unwrap())
            }
        })
    }
}
