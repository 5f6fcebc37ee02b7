//! A client over a real transport.

use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};

use netloom_session::config::ClientConfig;
use netloom_session::{Client as Session, Protocol};
use netloom_transport::conditioner::ConditionerConfig;
use netloom_transport::link::LinkConfig;
use netloom_transport::{
    Conditioner, Counters, PeerAddress, TcpConfig, TcpTransport, Transport, UdpConfig, UdpTransport,
    WebSocketConfig, WebSocketTransport,
};
use netloom_wire::Micros;

use crate::Input;
use crate::address::{Address, Scheme};
use crate::clock::Clock;
use crate::error::Error;
use crate::line::{Arrival, Driver, Line};
use crate::server::seed;

/// What a [`Client`] is made of. See [`Client::builder`].
#[derive(Clone, Debug, Default)]
pub struct ClientBuilder {
    config: ClientConfig,
    driver: Driver,
    line: Option<LinkConfig>,
    websocket: WebSocketConfig,
    #[cfg(feature = "webtransport")]
    webtransport: crate::web::Dialing,
}

impl ClientBuilder {
    /// Settings of the client other than the defaults.
    #[must_use]
    pub fn config(mut self, config: ClientConfig) -> ClientBuilder {
        self.config = config;
        self
    }

    /// The name to be known by.
    #[must_use]
    pub fn name(mut self, name: &str) -> ClientBuilder {
        self.config.name = name.to_owned();
        self
    }

    /// The room, by name or code.
    #[must_use]
    pub fn room(mut self, room: &str) -> ClientBuilder {
        self.config.room = room.to_owned();
        self
    }

    /// To watch only.
    #[must_use]
    pub fn spectator(mut self) -> ClientBuilder {
        self.config.is_spectator = true;
        self
    }

    /// How the transport is driven: by the thread that calls, or by one of its own.
    #[must_use]
    pub fn driver(mut self, driver: Driver) -> ClientBuilder {
        self.driver = driver;
        self
    }

    /// A bad line on purpose, in both directions: see [`netloom_transport::preset`].
    #[must_use]
    pub fn bad_line(mut self, line: LinkConfig) -> ClientBuilder {
        self.line = Some(line);
        self
    }

    /// How WebTransport is, other than by default.
    #[cfg(feature = "webtransport")]
    #[must_use]
    pub fn webtransport(mut self, config: crate::webtransport::WebTransportConfig) -> ClientBuilder {
        self.webtransport.config = config;
        self
    }

    /// Which certificates are accepted over WebTransport: those that the system's authorities vouch for, or those with these hashes.
    #[cfg(feature = "webtransport")]
    #[must_use]
    pub fn trust(mut self, trust: crate::webtransport::Trust) -> ClientBuilder {
        self.webtransport.trust = trust;
        self
    }

    /// Connects to a server: `127.0.0.1:7777`, `tcp://game.example`, `ws://localhost:8080`, `https://game.example:7778`. What came of it
    /// is an event.
    pub fn connect<I: Input>(self, protocol: Protocol, server: &str) -> Result<Client<I>, Error> {
        let address: Address = server.parse()?;
        let at: PeerAddress = address.resolve()?.into();
        match address.scheme {
            Scheme::Udp => self.connect_over(protocol, UdpTransport::connect(at, UdpConfig::default())?, at),
            Scheme::Tcp => self.connect_over(protocol, TcpTransport::connect(at, TcpConfig::default())?, at),
            Scheme::WebSocket => {
                let transport = WebSocketTransport::connect(at, self.websocket.clone())?;
                self.connect_over(protocol, transport, at)
            }
            #[cfg(feature = "webtransport")]
            Scheme::WebTransport => {
                let transport = self.webtransport.connect(&address, at)?;
                self.connect_over(protocol, transport, at)
            }
            #[cfg(not(feature = "webtransport"))]
            Scheme::WebTransport => Err(Error::NoWebTransport),
        }
    }

    /// Connects over a transport of your own.
    pub fn connect_over<I: Input>(
        mut self,
        protocol: Protocol,
        transport: impl Transport + 'static,
        server: PeerAddress,
    ) -> Result<Client<I>, Error> {
        let clock = Clock::new();
        let seed = seed()?;
        let transport: Box<dyn Transport> = match self.line.take() {
            Some(line) => {
                let config = ConditionerConfig::symmetric(line, u64::from(seed[0]));
                Box::new(Conditioner::new(transport, config)?)
            }
            None => Box::new(transport),
        };
        let connection = &mut self.config.connection;
        connection.mtu = connection.mtu.min(transport.capabilities().mtu_bytes);
        let mut session = Session::new(self.config, protocol, seed)?;
        let line = Line::new(self.driver, vec![transport], clock)?;
        let server = server.to_socket_addr();
        session.connect(clock.now(), server)?;
        Ok(Client { session, line, clock, server, ticked: Micros::ZERO })
    }
}

/// A client over a real transport. What it can do besides is in [`netloom_session::Client`], which it stands for.
///
/// Every frame: [`tick`](Client::tick), look at events and steps, then [`send`](Client::send) so that inputs leave at once.
pub struct Client<I: Input> {
    session: Session<I>,
    line: Line,
    clock: Clock,
    /// Where it is connected to, or was last.
    server: SocketAddr,
    ticked: Micros,
}

impl<I: Input> Client<I> {
    /// Begins a client.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Connects with default settings: `127.0.0.1:7777`, `tcp://game.example`, `ws://localhost:8080`.
    pub fn connect(protocol: Protocol, server: &str) -> Result<Client<I>, Error> {
        ClientBuilder::default().connect(protocol, server)
    }

    /// What it is now, by the clock that everything here goes by.
    pub fn now(&self) -> Micros {
        self.clock.now()
    }

    /// A frame: takes in what arrived and moves on; how much time has passed since the last one. Never waits.
    pub fn tick(&mut self) -> Result<Micros, Error> {
        let Client { session, line, clock, ticked, .. } = self;
        line.receive(clock.now(), |at, from, arrival| match arrival {
            Arrival::Next(_) => {}
            Arrival::Datagram(datagram) => session.handle_datagram(at, from, datagram),
            Arrival::Broken => session.handle_broken(at, from),
        })?;
        let now = clock.now();
        let elapsed = now.since(std::mem::replace(ticked, now));
        session.tick(now);
        if let Some(server) = session.poll_redial() {
            // On a stream, what waits in it is old and the next packet makes a new one.
            line.close(server);
        }
        self.send()?;
        Ok(elapsed)
    }

    /// Sends what is to be sent: the frame's inputs, and whatever else.
    pub fn send(&mut self) -> Result<(), Error> {
        let Client { session, line, clock, .. } = self;
        let now = clock.now();
        Ok(line.send(now, |out| {
            session.poll_transmit(now, out).map(|transmit| (transmit.to, transmit.length))
        })?)
    }

    /// Sleeps until something arrives, or `longest` has passed: for clients without frames.
    pub fn wait(&mut self, longest: Micros) -> Result<(), Error> {
        let now = self.clock.now();
        let due = self.session.poll_timeout().unwrap_or(Micros::MAX);
        Ok(self.line.wait(now, due.min(now + longest))?)
    }

    /// Says goodbye, and waits up to `longest` until the server has heard it.
    pub fn leave(mut self, longest: Micros) -> Result<(), Error> {
        let now = self.clock.now();
        self.session.disconnect(now);
        let until = now + longest;
        while self.session.state() != netloom_proto::State::Disconnected && self.clock.now() < until {
            self.tick()?;
            self.wait(Micros::from_millis(5))?;
        }
        self.line.close(self.server);
        Ok(())
    }

    /// What the transport counted.
    pub fn transport_counters(&self) -> Counters {
        self.line.counters()
    }

    /// Connects again, after it is over.
    pub fn reconnect(&mut self, server: SocketAddr) -> Result<(), Error> {
        let now = self.clock.now();
        self.server = server;
        Ok(self.session.connect(now, server)?)
    }
}

/// A client is a session with a transport: everything that a session can do, it can.
impl<I: Input> Deref for Client<I> {
    type Target = Session<I>;

    fn deref(&self) -> &Session<I> {
        &self.session
    }
}

impl<I: Input> DerefMut for Client<I> {
    fn deref_mut(&mut self) -> &mut Session<I> {
        &mut self.session
    }
}
