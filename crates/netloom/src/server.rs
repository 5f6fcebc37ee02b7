//! A server over real transports.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use netloom_session::config::{RoomConfig, ServerConfig};
use netloom_session::room::{RoomError, RoomId};
use netloom_session::{Game, PlayerId, Protocol, Server as Session, ServerEvent};
use netloom_transport::http::{Request, Response};
use netloom_transport::{
    Counters, MemoryConfig, MemoryNetwork, PeerAddress, TcpConfig, TcpTransport, Transport, UdpConfig,
    UdpTransport, WebSocketConfig, WebSocketTransport,
};
use netloom_wire::Micros;

use crate::address::{Address, Scheme};
use crate::client::{Client, ClientBuilder};
use crate::clock::Clock;
use crate::crew::Threads;
use crate::discovery::{Beacon, DISCOVERY_PORT};
use crate::error::Error;
use crate::line::{Arrival, Driver, Line, plain};
use crate::stats::{Recorder, Stats};

/// How long a loop sleeps at most, so that commands from outside are soon seen.
const SLEEP_MAX: Micros = Micros::from_millis(20);

type Open = Box<dyn FnOnce(&mut Session, Micros) -> Result<RoomId, RoomError> + Send>;
type Command = Box<dyn FnOnce(&mut Server) + Send>;
type HttpHandler = Arc<dyn Fn(&Request<'_>) -> Response + Send + Sync>;

/// What a [`Server`] is made of. See [`Server::builder`].
pub struct ServerBuilder {
    protocol: Protocol,
    config: ServerConfig,
    rooms: Vec<Open>,
    addresses: Vec<Result<Address, crate::AddressError>>,
    transports: Vec<Box<dyn Transport>>,
    memory: Option<MemoryNetwork>,
    websocket: WebSocketConfig,
    http: Option<HttpHandler>,
    #[cfg(feature = "webtransport")]
    webtransport: crate::web::Listening,
    driver: Driver,
    workers: usize,
    beacon: Option<(String, SocketAddr)>,
}

impl ServerBuilder {
    /// Settings of the server other than the defaults.
    #[must_use]
    pub fn config(mut self, config: ServerConfig) -> ServerBuilder {
        self.config = config;
        self
    }

    /// A room, and the game in it. Clients that ask for no room get into the first with a free seat.
    #[must_use]
    pub fn room<G: Game>(mut self, config: RoomConfig, game: G) -> ServerBuilder {
        self.rooms.push(Box::new(move |session, now| session.add_room(now, config, game)));
        self
    }

    /// Listens at an address: `0.0.0.0:7777` for UDP, or with a transport in front, `tcp://…`, `ws://…` and `https://…` for
    /// WebTransport. Say it several times to listen at several.
    #[must_use]
    pub fn listen(mut self, address: &str) -> ServerBuilder {
        self.addresses.push(address.parse());
        self
    }

    /// How WebSockets are, other than by default.
    #[must_use]
    pub fn websocket(mut self, config: WebSocketConfig) -> ServerBuilder {
        self.websocket = config;
        self
    }

    /// Answers plain GET and HEAD requests on the ports of WebSockets, except those for WebSockets themselves. It is called by the
    /// thread that receives: it should answer from what it has.
    #[must_use]
    pub fn http(
        mut self,
        handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static,
    ) -> ServerBuilder {
        self.http = Some(Arc::new(handler));
        self
    }

    /// How WebTransport is, other than by default.
    #[cfg(feature = "webtransport")]
    #[must_use]
    pub fn webtransport(mut self, config: crate::webtransport::WebTransportConfig) -> ServerBuilder {
        self.webtransport.config = config;
        self
    }

    /// What WebTransport shows to prove who it is. Otherwise it makes certificates itself, whose
    /// [hashes](Server::certificate_hashes) a client must know.
    #[cfg(feature = "webtransport")]
    #[must_use]
    pub fn certificates(mut self, certificates: crate::webtransport::Certificates) -> ServerBuilder {
        self.webtransport.certificates = Some(certificates);
        self
    }

    /// Listens on a transport of your own.
    #[must_use]
    pub fn transport(mut self, transport: impl Transport + 'static) -> ServerBuilder {
        self.transports.push(Box::new(transport));
        self
    }

    /// Answers those who look for servers on the local network, under a name: see [`discovery`](crate::discovery).
    #[must_use]
    pub fn discoverable(self, name: &str) -> ServerBuilder {
        self.discoverable_at(name, SocketAddr::from(([0, 0, 0, 0], DISCOVERY_PORT)))
    }

    /// The same at an address of your choice.
    #[must_use]
    pub fn discoverable_at(mut self, name: &str, at: SocketAddr) -> ServerBuilder {
        self.beacon = Some((name.to_owned(), at));
        self
    }

    /// How transports are driven: by the thread that calls, or by threads of their own.
    #[must_use]
    pub fn driver(mut self, driver: Driver) -> ServerBuilder {
        self.driver = driver;
        self
    }

    /// How many threads make the snapshots of rooms with 64 players and more, 1 to 16, of which the one that calls
    /// [`tick`](Server::tick) is the first, and the only one by default. What clients get is the same.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> ServerBuilder {
        self.workers = workers;
        self
    }

    /// Binds everything and opens the rooms.
    pub fn bind(mut self) -> Result<Server, Error> {
        let mut transports: Vec<Box<dyn Transport>> = Vec::new();
        let mut local: Vec<Address> = Vec::new();
        for address in std::mem::take(&mut self.addresses) {
            let address = address?;
            let transport = self.bind_at(&address)?;
            let bound = transport.local_address().to_socket_addr();
            local.push(Address { scheme: address.scheme, ..Address::from(bound) });
            transports.push(transport);
        }
        let mut names: Vec<&'static str> = local.iter().map(|at| at.scheme.transport_name()).collect();
        names.resize(local.len() + self.transports.len(), "custom");
        transports.append(&mut self.transports);
        if let Some(memory) = &self.memory {
            transports.push(Box::new(memory.join()?));
            names.push("memory");
        }
        if transports.is_empty() {
            return Err(Error::NoTransport);
        }
        let mtu = transports.iter().map(|transport| transport.capabilities().mtu_bytes).min();
        self.config.connection.mtu =
            mtu.unwrap_or(self.config.connection.mtu).min(self.config.connection.mtu);
        let clock = Clock::new();
        let stats = Stats::new(clock, &self.protocol, self.config.listen.peers_max);
        let mut session = Session::new(self.config, self.protocol, seed()?)?;
        if self.workers != 1 {
            session.set_crew(Arc::new(Threads::start(self.workers)?));
        }
        for open in self.rooms {
            open(&mut session, clock.now())?;
        }
        let beacon = match (&self.beacon, local.first()) {
            (Some((name, at)), Some(server)) => Some(Beacon::bind(*at, name, server)?),
            _ => None,
        };
        let line = Line::new(self.driver, transports, clock)?;
        let recorder = Recorder::new(Arc::new(stats), names);
        let (events, held) = (Vec::new(), Vec::new());
        Ok(Server {
            session,
            line,
            clock,
            local,
            recorder,
            events,
            held,
            beacon,
            #[cfg(feature = "webtransport")]
            certificates: self.webtransport.certificates,
        })
    }

    fn bind_at(&mut self, address: &Address) -> Result<Box<dyn Transport>, Error> {
        let at = address.resolve()?.into();
        Ok(match address.scheme {
            Scheme::Udp => Box::new(UdpTransport::bind(at, UdpConfig::default())?),
            Scheme::Tcp => Box::new(TcpTransport::listen(at, TcpConfig::default())?),
            Scheme::WebSocket => {
                let mut transport = WebSocketTransport::listen(at, self.websocket.clone())?;
                if let Some(handler) = self.http.clone() {
                    transport.serve_http(move |request| handler(request));
                }
                Box::new(transport)
            }
            #[cfg(feature = "webtransport")]
            Scheme::WebTransport => self.webtransport.bind(at)?,
            #[cfg(not(feature = "webtransport"))]
            Scheme::WebTransport => return Err(Error::NoWebTransport),
        })
    }

    /// Binds, and adds a player of this very process: server and client in one, or a game without a network if the server
    /// listens nowhere else. Both are driven by whoever calls them.
    pub fn bind_with_player<I: crate::Input>(
        mut self,
        player: ClientBuilder,
    ) -> Result<(Server, Client<I>), Error> {
        let memory = MemoryNetwork::new(MemoryConfig::default())?;
        let protocol = self.protocol.clone();
        self.memory = Some(memory.clone());
        let server = self.bind()?;
        let own = memory.join()?;
        // The server joined first, so its number is the one before.
        let address = match own.local_address() {
            PeerAddress::Memory(number) => PeerAddress::Memory(number - 1),
            socket => socket,
        };
        let client = player.connect_over(protocol, own, address)?;
        Ok((server, client))
    }
}

/// 32 bytes of secret randomness.
pub(crate) fn seed() -> Result<[u8; 32], Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| Error::Randomness(error.to_string()))?;
    Ok(seed)
}

/// A server over real transports: rooms, and those who play in them.
///
/// Three ways to run it: call [`tick`](Server::tick) from a loop of your own; let [`run`](Server::run) be the loop; or let
/// [`spawn`](Server::spawn) run it in a thread, and talk to it through the [`ServerHandle`].
pub struct Server {
    session: Session,
    line: Line,
    clock: Clock,
    local: Vec<Address>,
    recorder: Recorder,
    events: Vec<ServerEvent>,
    /// Whose snapshots wait.
    held: Vec<PlayerId>,
    beacon: Option<Beacon>,
    #[cfg(feature = "webtransport")]
    certificates: Option<crate::webtransport::Certificates>,
}

impl Server {
    /// Begins a server of a game.
    pub fn builder(protocol: Protocol) -> ServerBuilder {
        ServerBuilder {
            protocol,
            config: ServerConfig::default(),
            rooms: Vec::new(),
            addresses: Vec::new(),
            transports: Vec::new(),
            memory: None,
            websocket: WebSocketConfig::default(),
            http: None,
            #[cfg(feature = "webtransport")]
            webtransport: crate::web::Listening::default(),
            driver: Driver::default(),
            workers: 1,
            beacon: None,
        }
    }

    /// Where it listens, with the ports that the system chose.
    pub fn local_addresses(&self) -> &[Address] {
        &self.local
    }

    /// Where it answers those who look for servers, if it does.
    pub fn discovery_address(&self) -> Option<SocketAddr> {
        self.beacon.as_ref().and_then(Beacon::local_address)
    }

    /// The hashes by which a client without the server's authority accepts the certificates of its WebTransport: of the one that is shown
    /// now, and of the one after it. None if the server has a certificate of an authority, or no WebTransport.
    #[cfg(feature = "webtransport")]
    pub fn certificate_hashes(&self) -> Vec<crate::webtransport::CertificateHash> {
        self.certificates.as_ref().map(|certificates| certificates.hashes()).unwrap_or_default()
    }

    /// What it is now, by the clock that everything here goes by.
    pub fn now(&self) -> Micros {
        self.clock.now()
    }

    /// The rooms and players.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The rooms and players, to change them from outside of their games.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// What it does, for any thread to look at while it runs.
    pub fn stats(&self) -> Arc<Stats> {
        Arc::clone(self.recorder.stats())
    }

    /// What the transports counted.
    pub fn transport_counters(&self) -> Counters {
        self.line.counters()
    }

    /// Takes in what arrived, makes the steps that are due, sends what is to be sent. Never waits.
    pub fn tick(&mut self) -> Result<(), Error> {
        let Server { session, line, clock, held, beacon, recorder, .. } = self;
        let began = clock.now();
        let mut has_arrived = false;
        line.receive(began, |at, from, arrival| {
            has_arrived = true;
            match arrival {
                Arrival::Next(datagram) => session.fetch_for(from, datagram),
                Arrival::Datagram(datagram) => session.handle_datagram(at, from, datagram),
                Arrival::Broken => session.handle_broken(at, from),
            }
        })?;
        hold_congested(session, line, held);
        let now = if has_arrived { clock.now() } else { began };
        session.tick(now);
        line.send(now, |out| session.poll_transmit(now, out).map(|transmit| (transmit.to, transmit.length)))?;
        while let Some(address) = session.poll_closed() {
            line.close(address);
        }
        if let Some(beacon) = beacon {
            beacon.answer(now, session);
        }
        recorder.handle_tick(began, clock.now(), session, || line.counters());
        Ok(())
    }

    /// Sleeps until something arrives, a step is due, or `longest` has passed.
    pub fn wait(&mut self, longest: Micros) -> Result<(), Error> {
        let now = self.clock.now();
        let due = self.session.poll_timeout().unwrap_or(Micros::MAX);
        Ok(self.line.wait(now, due.min(now + longest))?)
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.session.poll_event()
    }

    /// Removes a player, who is told why.
    pub fn kick(&mut self, player: PlayerId, reason: &str) -> bool {
        let now = self.clock.now();
        self.session.kick(now, player, reason)
    }

    /// Removes whoever is at an address, and lets nobody from there in again.
    pub fn ban(&mut self, address: IpAddr) {
        let now = self.clock.now();
        self.session.ban(now, address);
    }

    /// Opens another room.
    pub fn add_room<G: Game>(&mut self, config: RoomConfig, game: G) -> Result<RoomId, RoomError> {
        let now = self.clock.now();
        self.session.add_room(now, config, game)
    }

    /// Where a player's packets come from.
    pub fn address_of(&self, player: PlayerId) -> Option<SocketAddr> {
        self.session.address_of(player).map(plain)
    }

    /// Begins to stop: everybody is told why. Tick until [`is_stopped`](Server::is_stopped).
    pub fn stop(&mut self, reason: &str) {
        let now = self.clock.now();
        self.recorder.stats().set_stopping();
        self.session.stop(now, reason);
    }

    /// Whether it was stopped and everybody is gone.
    pub fn is_stopped(&self) -> bool {
        self.session.is_stopped()
    }

    /// Runs until it is stopped, from within an `each_tick` or by a game. That is called after every tick, and sees the
    /// events.
    pub fn run(&mut self, mut each_tick: impl FnMut(&mut Server)) -> Result<(), Error> {
        while !self.is_stopped() {
            self.tick()?;
            each_tick(self);
            self.wait(SLEEP_MAX)?;
        }
        Ok(())
    }

    /// Runs in a thread until it is stopped through the handle.
    pub fn spawn(mut self) -> Result<ServerHandle, Error> {
        let (sender, receiver) = mpsc::channel::<Command>();
        let local = self.local.clone();
        let body = move || {
            let commands: Receiver<Command> = receiver;
            let mut is_stopping = false;
            self.run(|server| {
                loop {
                    match commands.try_recv() {
                        Ok(command) => command(server),
                        Err(mpsc::TryRecvError::Empty) => break,
                        Err(mpsc::TryRecvError::Disconnected) => {
                            if !std::mem::replace(&mut is_stopping, true) {
                                server.stop("the server is stopping");
                            }
                            break;
                        }
                    }
                }
            })
        };
        let thread = std::thread::Builder::new().name(String::from("netloom-game")).spawn(body);
        let thread = thread.map_err(|error| Error::Thread(error.to_string()))?;
        Ok(ServerHandle { commands: Some(sender), thread: Some(thread), local })
    }

    /// Events that were polled by nobody else, kept for whoever asks through a handle.
    pub(crate) fn take_events(&mut self) -> Vec<ServerEvent> {
        let Server { session, events, .. } = self;
        events.extend(std::iter::from_fn(|| session.poll_event()));
        std::mem::take(events)
    }
}

/// Snapshots wait for those on streams who have older bytes waiting.
fn hold_congested(session: &mut Session, line: &Line, held: &mut Vec<PlayerId>) {
    for player in held.drain(..) {
        session.set_held(player, false);
    }
    if !line.has_congested() {
        return;
    }
    let congested = session.addresses().filter(|(_, address)| line.is_congested(*address));
    held.extend(congested.map(|(player, _)| player));
    for player in held {
        session.set_held(*player, true);
    }
}

/// A server that runs in a thread of its own. Dropping it stops the server and waits for its end.
pub struct ServerHandle {
    commands: Option<Sender<Command>>,
    thread: Option<JoinHandle<Result<(), Error>>>,
    local: Vec<Address>,
}

impl ServerHandle {
    /// Where the server listens.
    pub fn local_addresses(&self) -> &[Address] {
        &self.local
    }

    /// Runs something in the server's thread and waits for what it gives; `None` if the server has ended.
    pub fn with<R: Send + 'static>(&self, run: impl FnOnce(&mut Server) -> R + Send + 'static) -> Option<R> {
        let (sender, receiver) = mpsc::channel();
        let command: Command = Box::new(move |server| drop(sender.send(run(server))));
        self.commands.as_ref()?.send(command).ok()?;
        receiver.recv().ok()
    }

    /// What happened since this was asked last.
    pub fn events(&self) -> Vec<ServerEvent> {
        self.with(Server::take_events).unwrap_or_default()
    }

    /// Whether the server has ended.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops the server, telling everybody why, and waits until they are gone.
    pub fn stop(mut self, reason: &str) -> Result<(), Error> {
        let reason = reason.to_owned();
        self.with(move |server| server.stop(&reason));
        self.join()
    }

    fn join(&mut self) -> Result<(), Error> {
        self.commands = None;
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(Error::Thread(String::from("the server's thread panicked"))),
        }
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        if let Err(error) = self.join() {
            tracing::error!(%error, "the server ended badly");
        }
    }
}
