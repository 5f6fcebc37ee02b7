//! Connections over streams: all that TCP and WebSocket have in common.
//!
//! A stream needs a table of connections, limits on who may have one, a list of those that are ready, and a bound on what
//! waits for a peer that does not read. What differs is only what the bytes mean, and that is a [`Codec`]:
//!
//! ```text
//!                        Connecting ──▶ Greeting ──▶ Open ──▶ Leaving ──▶ gone
//!   connect ───────────────┘               │           │         ▲
//!   accept ────────────────────────────────┘           │         │ what is said last is written, and what still
//!                                          └───────────┴─────────┘ arrives is read and forgotten, for a short time
//! ```
//!
//! A codec without a greeting is open as soon as its stream is, and one that says nothing at the end does not stay.

mod codec;
mod config;
mod connection;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Token};
use netloom_wire::Micros;
use socket2::{Domain, Protocol, SockAddr, Type};

use crate::address::PeerAddress;
use crate::batch::Batch;
use crate::counters::Counters;
use crate::error::TransportError;
use crate::events::EventQueue;
use crate::limits::{ACCEPTS_PER_RECEIVE_MAX, READ_BYTES};
use crate::poll::{Poller, Waker, sleep_time};
use crate::transport::{
    Capabilities, CloseReason, PeerState, PeerStatus, TransportEvent, check_slots, refuse_too_long,
};
pub(crate) use codec::{Codec, Delivery, Ending, Side, transport_over_streams};
pub use config::TcpConfig;
use connection::{Connection, Deadline, Phase, Turn};

const LISTENER: Token = Token(usize::MAX - 1);

/// What one read may bring: the longest frame, or several short ones.
pub(crate) fn read_bytes_max(header_bytes: usize, mtu_bytes: usize) -> usize {
    READ_BYTES.max(header_bytes + mtu_bytes)
}

/// The table of connections: those that a listener accepted, or the one that was asked for.
#[derive(Debug)]
pub(crate) struct Streams<C: Codec> {
    config: TcpConfig,
    pub shared: C::Shared,
    poller: Poller,
    listener: Option<TcpListener>,
    /// Where to connect to, of one that does not listen.
    server: Option<PeerAddress>,
    local: PeerAddress,
    connections: Vec<Option<Box<Connection<C>>>>,
    free: Vec<usize>,
    by_address: HashMap<PeerAddress, usize>,
    per_network: HashMap<IpAddr, usize>,
    /// Connections that may have something to read, be made or be written to, each once.
    ready: VecDeque<usize>,
    /// Connections that were given something to send by the `send` that is going on.
    touched: Vec<usize>,
    may_accept: bool,
    /// When the next connection has taken too long for what it is at.
    next_overdue: Micros,
    scratch: Box<[u8]>,
    events: EventQueue,
    counters: Counters,
}

impl<C: Codec> Streams<C> {
    /// A listener at an address. Port 0 lets the system choose; `[::]` is every address of both families.
    pub fn listen(
        address: PeerAddress,
        config: TcpConfig,
        shared: C::Shared,
    ) -> Result<Streams<C>, TransportError> {
        config.check(C::HEADER_BYTES_MAX)?;
        let PeerAddress::Socket(socket_address) = address else {
            return Err(TransportError::WrongAddress { protocol: C::PROTOCOL, address });
        };
        let bind_error = |source| TransportError::Bind { protocol: C::PROTOCOL, address, source };
        let mut listener = bind(socket_address, config.is_v6_only).map_err(bind_error)?;
        let local = listener.local_addr().map_err(bind_error)?;
        let mut streams = Streams::new(local.into(), config, shared)?;
        let registered = streams.poller.registry().register(&mut listener, LISTENER, Interest::READABLE);
        registered.map_err(TransportError::system("registering a listener"))?;
        streams.listener = Some(listener);
        Ok(streams)
    }

    /// A connection to a server. What is sent to it before it is open waits; when it has ended, the next thing that is sent
    /// makes another one.
    pub fn connect(
        server: PeerAddress,
        config: TcpConfig,
        shared: C::Shared,
    ) -> Result<Streams<C>, TransportError> {
        config.check(C::HEADER_BYTES_MAX)?;
        let PeerAddress::Socket(address) = server else {
            return Err(TransportError::WrongAddress { protocol: C::PROTOCOL, address: server });
        };
        let unbound = SocketAddr::new(unspecified_like(address), 0);
        let mut streams = Streams::new(unbound.into(), config, shared)?;
        streams.server = Some(server);
        let dialed = streams.dial(server, address);
        dialed.map_err(|source| TransportError::Connect {
            protocol: C::PROTOCOL,
            address: server,
            source,
        })?;
        Ok(streams)
    }

    fn dial(&mut self, server: PeerAddress, address: SocketAddr) -> io::Result<()> {
        let stream = TcpStream::connect(address)?;
        self.local = stream.local_addr()?.into();
        self.add(stream, server, Side::Connecting(server))
    }

    /// Connects again to the server that this is a client of, if the connection has ended or says its last words.
    fn dial_again(&mut self, peer: PeerAddress) {
        let PeerAddress::Socket(address) = peer else { return };
        if let Some(&index) = self.by_address.get(&peer) {
            self.remove(index);
        }
        if let Err(error) = self.dial(peer, address) {
            self.events.hint(TransportEvent::Closed { peer, reason: CloseReason::NotMade(error.kind()) });
        }
    }

    fn new(local: PeerAddress, config: TcpConfig, shared: C::Shared) -> Result<Streams<C>, TransportError> {
        let poller = Poller::new(256).map_err(TransportError::system("making an event queue"))?;
        Ok(Streams {
            poller,
            shared,
            listener: None,
            server: None,
            local,
            connections: Vec::new(),
            free: Vec::new(),
            by_address: HashMap::new(),
            per_network: HashMap::new(),
            ready: VecDeque::new(),
            touched: Vec::new(),
            may_accept: false,
            next_overdue: Micros::MAX,
            scratch: vec![0; read_bytes_max(C::HEADER_BYTES_MAX, config.mtu_bytes)].into(),
            events: EventQueue::with_capacity(64),
            counters: Counters::default(),
            config,
        })
    }

    fn add(&mut self, stream: TcpStream, peer: PeerAddress, side: Side) -> io::Result<()> {
        let codec = C::new(&mut self.shared, &self.config, side)?;
        let mut connection = Box::new(Connection::new(stream, peer, side, codec, &self.config)?);
        let index = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        if let Err(error) = connection.register(self.poller.registry(), Token(index)) {
            self.free.push(index);
            return Err(error);
        }
        self.by_address.insert(peer, index);
        *self.per_network.entry(peer.network()).or_default() += 1;
        if let Some(slot) = self.connections.get_mut(index) {
            *slot = Some(connection);
        }
        self.enter_phase(index);
        Ok(())
    }

    /// Tells of a connection that has become open, and begins to count the time that it has for what it is at now.
    fn enter_phase(&mut self, index: usize) {
        let Some(Some(connection)) = self.connections.get_mut(index) else {
            return;
        };
        connection.deadline = match connection.phase() {
            Phase::Connecting => Deadline::In(self.config.open_timeout),
            Phase::Greeting => Deadline::In(C::greeting_timeout(&self.shared)),
            Phase::Open if connection.is_unknown_above() => Deadline::In(self.config.open_timeout),
            Phase::Open => Deadline::Never,
            Phase::Leaving { stay } => Deadline::In(stay),
        };
        if connection.phase() == Phase::Open {
            self.counters.connections_opened += 1;
            self.events.push(TransportEvent::Opened(connection.peer));
        }
        if connection.deadline != Deadline::Never {
            // The time is known at the next `receive`.
            self.next_overdue = Micros::ZERO;
        }
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS_PER_RECEIVE_MAX {
            let has_room = self.events.len() < self.config.events_waiting_max();
            let Some(listener) = self.listener.as_ref().filter(|_| self.may_accept && has_room) else {
                return;
            };
            match listener.accept() {
                Ok((stream, address)) => self.admit(stream, address.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.may_accept = false,
                // The peer gave up while it waited, which is not this side's trouble.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                // The process has no descriptors left. The next connection that ends makes room for this one.
                Err(_) => {
                    self.counters.connections_refused += 1;
                    self.may_accept = false;
                }
            }
        }
    }

    fn admit(&mut self, stream: TcpStream, peer: PeerAddress) {
        if let Some(&index) = self.by_address.get(&peer) {
            // The system gives an address away again only when the connection that had it is gone.
            self.end(index, Ending::Gone(CloseReason::ByPeer));
        }
        let of_this_network = self.per_network.get(&peer.network()).copied().unwrap_or_default();
        let is_refused = self.by_address.len() >= self.config.connections_max
            || of_this_network >= self.config.connections_per_address_max;
        if is_refused || self.add(stream, peer, Side::Accepted).is_err() {
            self.counters.connections_refused += 1;
        }
    }

    /// Notes what the system says is ready.
    fn note_ready(&mut self, longest: std::time::Duration) -> Result<(), TransportError> {
        let Streams { poller, connections, ready, may_accept, .. } = self;
        let note = |event: &mio::event::Event| match event.token() {
            LISTENER => *may_accept = true,
            Token(index) => {
                if let Some(Some(connection)) = connections.get_mut(index)
                    && !std::mem::replace(&mut connection.is_queued, true)
                {
                    ready.push_back(index);
                }
            }
        };
        let noted = if longest.is_zero() { poller.poll(note) } else { poller.wait(longest, note) };
        noted.map_err(TransportError::system("waiting"))
    }

    /// Ends what has taken too long for what it is at.
    fn end_overdue(&mut self, now: Micros) {
        if now < self.next_overdue {
            return;
        }
        self.next_overdue = Micros::MAX;
        for index in 0..self.connections.len() {
            let Some(Some(connection)) = self.connections.get_mut(index) else {
                continue;
            };
            let overdue_at = connection.deadline.begin(now);
            if overdue_at > now {
                self.next_overdue = self.next_overdue.min(overdue_at);
                continue;
            }
            let reason = match connection.phase() {
                Phase::Open => CloseReason::Silent,
                _ => CloseReason::NotMade(io::ErrorKind::TimedOut),
            };
            self.end(index, Ending::Closed(reason));
        }
    }

    /// Serves one connection that is ready: makes it, writes to it, reads from it.
    fn serve(&mut self, index: usize, now: Micros, batch: &mut Batch) {
        let Some(Some(connection)) = self.connections.get_mut(index) else {
            return;
        };
        let phase = connection.phase();
        let (registry, token) = (self.poller.registry(), Token(index));
        let peer = connection.peer;
        let mut delivery = Delivery { now, peer, batch, counters: &mut self.counters };
        let served = connection
            .advance(registry, token, delivery.counters)
            .and_then(|()| connection.receive(&mut self.shared, &mut delivery, &mut self.scratch))
            .and_then(|turn| connection.flush_answers(registry, token, delivery.counters).map(|()| turn));
        connection.is_queued = served == Ok(Turn::More);
        let is_new_phase = connection.phase() != phase;
        if is_new_phase {
            self.enter_phase(index);
        }
        match served {
            Ok(Turn::More) => self.ready.push_back(index),
            Ok(Turn::Drained) => {}
            Err(ending) => self.end(index, ending),
        }
    }

    /// Ends a connection, and tells those who were told that it was there or asked for it.
    fn end(&mut self, index: usize, ending: Ending) {
        let Some(Some(connection)) = self.connections.get(index) else {
            return;
        };
        let (phase, peer) = (connection.phase(), connection.peer);
        let is_known = phase == Phase::Open || !connection.is_accepted();
        match ending {
            _ if matches!(phase, Phase::Leaving { .. }) => {
                self.remove(index);
                return;
            }
            Ending::Gone(reason) | Ending::Closed(reason) if is_known => {
                self.events.push(TransportEvent::Closed { peer, reason });
            }
            Ending::Answered => self.counters.http_requests += 1,
            _ => self.counters.greetings_failed += 1,
        }
        self.leave(index, Some(ending));
    }

    /// Says the last words, and removes the connection or has it stay until they are read.
    fn leave(&mut self, index: usize, ending: Option<Ending>) {
        let Some(Some(connection)) = self.connections.get_mut(index) else {
            return;
        };
        self.counters.connections_closed += u64::from(connection.phase() == Phase::Open);
        let is_over = connection.phase() == Phase::Connecting || matches!(ending, Some(Ending::Gone(_)));
        let stay = (!is_over).then(|| connection.codec.say_goodbye(&mut self.shared, ending)).flatten();
        let Some(stay) = stay else {
            self.remove(index);
            return;
        };
        connection.set_leaving(stay);
        if connection.flush(self.poller.registry(), Token(index), &mut self.counters).is_err() {
            self.remove(index);
            return;
        }
        if !std::mem::replace(&mut connection.is_queued, true) {
            self.ready.push_back(index);
        }
        self.enter_phase(index);
    }

    fn remove(&mut self, index: usize) {
        let Some(connection) = self.connections.get_mut(index).and_then(Option::take) else {
            return;
        };
        let peer = connection.peer;
        self.free.push(index);
        self.by_address.remove(&peer);
        if let Some(count) = self.per_network.get_mut(&peer.network()) {
            *count -= 1;
            if *count == 0 {
                self.per_network.remove(&peer.network());
            }
        }
        self.ready.retain(|&ready| ready != index);
        connection.finish(self.poller.registry());
        self.may_accept = self.listener.is_some();
    }

    /// Queues a datagram for its connection. `false`: it was dropped and counted.
    fn queue(&mut self, peer: PeerAddress, bytes: &[u8]) -> bool {
        if self.server == Some(peer) && self.status(peer).state == PeerState::Closed {
            self.dial_again(peer);
        }
        let index = self.by_address.get(&peer).copied();
        let found = index.and_then(|index| Some((index, self.connections.get_mut(index)?.as_mut()?)));
        let Some((index, connection)) = found.filter(|(_, connection)| connection.takes_datagrams()) else {
            self.counters.dropped_unroutable += 1;
            return false;
        };
        if connection.should_flush_before(bytes.len()) {
            // An error here is one at the end of the batch, too.
            let _ = connection.flush(self.poller.registry(), Token(index), &mut self.counters);
        }
        let is_queued = connection.codec.queue(&mut self.shared, bytes);
        if !std::mem::replace(&mut connection.is_touched, true) {
            self.touched.push(index);
        }
        if !is_queued {
            self.counters.dropped_slow += 1;
            if !std::mem::replace(&mut connection.is_slow, true)
                && self.events.len() < self.config.events_waiting_max()
            {
                let unsent_bytes = connection.codec.unsent_bytes();
                self.events.push(TransportEvent::Slow { peer, unsent_bytes });
            }
            return false;
        }
        self.counters.count_sent(bytes.len());
        true
    }

    fn flush_touched(&mut self) {
        while let Some(index) = self.touched.pop() {
            let Some(Some(connection)) = self.connections.get_mut(index) else {
                continue;
            };
            connection.is_touched = false;
            if let Err(ending) = connection.flush(self.poller.registry(), Token(index), &mut self.counters) {
                self.end(index, ending);
            }
        }
    }

    pub fn capabilities(&self) -> Capabilities {
        Capabilities { reliable: true, ordered: true, mtu_bytes: self.config.mtu_bytes, secure: false }
    }

    pub fn local_address(&self) -> PeerAddress {
        self.local
    }

    pub fn send(&mut self, batch: &mut Batch) -> Result<usize, TransportError> {
        let mut sent = 0;
        let refused = loop {
            if let Err(error) = refuse_too_long(batch, self.config.mtu_bytes) {
                break Err(error);
            }
            let Some(datagram) = batch.front_mut() else {
                break Ok(());
            };
            let peer = datagram.address();
            sent += usize::from(self.queue(peer, datagram.bytes()));
            batch.consume(1);
        };
        self.flush_touched();
        refused.map(|()| sent)
    }

    pub fn receive(&mut self, now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        check_slots(batch, self.config.mtu_bytes)?;
        self.note_ready(std::time::Duration::ZERO)?;
        self.accept();
        self.end_overdue(now);
        let before = batch.len();
        // Each turn is one read: enough for a full batch and for all who are ready, and not for one who never stops.
        for _ in 0..self.ready.len() + batch.capacity() {
            let Some(index) = (!batch.is_full()).then(|| self.ready.pop_front()).flatten() else {
                break;
            };
            self.serve(index, now, batch);
        }
        Ok(batch.len() - before)
    }

    pub fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError> {
        if !self.ready.is_empty() || self.may_accept {
            return Ok(());
        }
        self.note_ready(sleep_time(now, deadline.min(self.next_overdue)))
    }

    pub fn waker(&self) -> Waker {
        self.poller.waker()
    }

    pub fn poll_event(&mut self) -> Option<TransportEvent> {
        self.events.pop()
    }

    pub fn status(&self, peer: PeerAddress) -> PeerStatus {
        let index = self.by_address.get(&peer);
        let connection = index.and_then(|&index| self.connections.get(index)?.as_ref());
        connection.map_or_else(PeerStatus::closed, |connection| connection.status())
    }

    pub fn disconnect(&mut self, peer: PeerAddress) {
        if let Some(&index) = self.by_address.get(&peer)
            && let Some(Some(connection)) = self.connections.get(index)
            && connection.takes_datagrams()
        {
            self.leave(index, None);
        }
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }
}

fn unspecified_like(address: SocketAddr) -> IpAddr {
    match address {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

/// Binds and listens. The address may be used again at once after a restart.
fn bind(address: SocketAddr, is_v6_only: bool) -> io::Result<TcpListener> {
    let socket = socket2::Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(is_v6_only)?;
    }
    // Elsewhere than on Unix this would let two programs have one port.
    if cfg!(unix) {
        socket.set_reuse_address(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(128)?;
    Ok(TcpListener::from_std(socket.into()))
}
