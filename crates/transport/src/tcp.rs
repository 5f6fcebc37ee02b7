//! Datagrams over TCP, for networks that let nothing else through.
//!
//! A stream loses nothing and keeps everything in order, and that is its fault: what is sent to a peer that does not read
//! piles up, and what arrives in the end is old. So little is allowed to pile up: in the system by `TCP_NOTSENT_LOWAT`, in
//! this process by [`TcpConfig::unsent_bytes_max`] for each peer. Beyond it datagrams are dropped whole, and the peer is
//! [reported as slow](TransportEvent::Slow); [`status`](Transport::status) tells the room before that. A sender of states
//! should wait until nothing is unsent and then send the newest.
//!
//! ```text
//!   send ──▶ frame, frame, …  ≤ unsent_bytes_max ──▶ write ──▶ stream ──▶ read ──▶ frames ──▶ slots of the batch
//! ```
//!
//! Frames are those of [`netloom_wire::message`], one datagram each, with the id [`DATAGRAM_FRAME_ID`]. Anything else ends
//! the connection. A peer that is gone without a word is noticed by the connection above; here only those are closed
//! that never sent a whole datagram, since nothing above knows them.

mod connection;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};

use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Token};
use netloom_wire::Micros;
use netloom_wire::message::FRAME_HEADER_BYTES;
use socket2::{Domain, Protocol, SockAddr, Type};

use crate::address::PeerAddress;
use crate::batch::{Batch, SLOT_BYTES_LIMIT};
use crate::counters::Counters;
use crate::error::{ConfigError, TransportError, check_range};
use crate::events::EventQueue;
use crate::limits::{ACCEPTS_PER_RECEIVE_MAX, MTU_BYTES_DEFAULT};
use crate::poll::{Poller, Waker, sleep_time};
use crate::transport::{
    Capabilities, CloseReason, PeerStatus, Transport, TransportEvent, check_slots, refuse_too_long,
};
use connection::{Connection, Turn};

/// The id of the frames that datagrams are in.
pub const DATAGRAM_FRAME_ID: u16 = 1;

const PROTOCOL: &str = "TCP";
const LISTENER: Token = Token(usize::MAX - 1);

/// What TCP connections are like.
#[derive(Clone, Debug)]
pub struct TcpConfig {
    /// The longest datagram.
    pub mtu_bytes: usize,
    /// What waits for one peer in this process at most, frame headers included.
    pub unsent_bytes_max: usize,
    /// What waits for one peer in the system at most before it is on its way, where the system can limit it (Linux).
    pub unsent_in_system_bytes_max: usize,
    /// How many connections there may be.
    pub connections_max: usize,
    /// How many of them may come from one address (IPv6: from one /64).
    pub connections_per_address_max: usize,
    /// How long a connection may take to be made, and an accepted one to send its first datagram.
    pub open_timeout: Micros,
    /// An IPv6 listener refuses IPv4 peers.
    pub is_v6_only: bool,
}

impl Default for TcpConfig {
    fn default() -> TcpConfig {
        TcpConfig {
            mtu_bytes: MTU_BYTES_DEFAULT,
            unsent_bytes_max: 64 << 10,
            unsent_in_system_bytes_max: 16 << 10,
            connections_max: 1_024,
            connections_per_address_max: 32,
            open_timeout: Micros::from_secs(10),
            is_v6_only: false,
        }
    }
}

impl TcpConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_range("mtu_bytes", self.mtu_bytes, 1, SLOT_BYTES_LIMIT)?;
        let least = FRAME_HEADER_BYTES + self.mtu_bytes;
        check_range("unsent_bytes_max", self.unsent_bytes_max, least, 16 << 20)?;
        check_range("unsent_in_system_bytes_max", self.unsent_in_system_bytes_max, 1, 16 << 20)?;
        check_range("connections_max", self.connections_max, 1, 65_536)?;
        check_range("connections_per_address_max", self.connections_per_address_max, 1, 65_536)
    }

    /// Reports of slow peers are dropped, and connections wait to be accepted, while this many events wait to be polled.
    fn events_waiting_max(&self) -> usize {
        (2 * self.connections_max).max(256)
    }
}

/// Connections over TCP: those that a listener accepted, or the one that was asked for.
///
/// ```
/// use netloom_transport::{Batch, Micros, TcpConfig, TcpTransport, Transport};
///
/// let mut server = TcpTransport::listen("127.0.0.1:0".parse()?, TcpConfig::default())?;
/// let mut client = TcpTransport::connect(server.local_address(), TcpConfig::default())?;
/// let mut batch = Batch::new(64, server.capabilities().mtu_bytes)?;
///
/// batch.push(server.local_address(), b"hello"); // waits for the connection
/// client.send(Micros::ZERO, &mut batch)?;
/// while server.receive(Micros::ZERO, &mut batch)? == 0 {
///     client.receive(Micros::ZERO, &mut Batch::new(1, 1_200)?)?;
///     server.wait(Micros::ZERO, Micros::from_millis(10))?;
/// }
/// assert_eq!(batch.iter().next().expect("it was sent").bytes(), b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TcpTransport {
    config: TcpConfig,
    poller: Poller,
    listener: Option<TcpListener>,
    local: PeerAddress,
    connections: Vec<Option<Box<Connection>>>,
    free: Vec<usize>,
    by_address: HashMap<PeerAddress, usize>,
    per_network: HashMap<IpAddr, usize>,
    /// Connections that may have something to read, be made or be written to, each once.
    ready: VecDeque<usize>,
    /// Connections that were given something to send by the `send` that is going on.
    touched: Vec<usize>,
    may_accept: bool,
    /// When the next connection has taken too long to open.
    next_overdue: Micros,
    scratch: Box<[u8]>,
    events: EventQueue,
    counters: Counters,
}

impl TcpTransport {
    /// A listener at an address. Port 0 lets the system choose; `[::]` is every address of both families.
    pub fn listen(address: PeerAddress, config: TcpConfig) -> Result<TcpTransport, TransportError> {
        config.check()?;
        let PeerAddress::Socket(socket_address) = address else {
            return Err(TransportError::WrongAddress { protocol: PROTOCOL, address });
        };
        let bind_error = |source| TransportError::Bind { protocol: PROTOCOL, address, source };
        let mut listener = bind(socket_address, config.is_v6_only).map_err(bind_error)?;
        let local = listener.local_addr().map_err(bind_error)?;
        let mut transport = TcpTransport::new(local.into(), config)?;
        let registered = transport.poller.registry().register(&mut listener, LISTENER, Interest::READABLE);
        registered.map_err(TransportError::system("registering a listener"))?;
        transport.listener = Some(listener);
        Ok(transport)
    }

    /// A connection to a server. What is sent to it before it is made waits.
    pub fn connect(server: PeerAddress, config: TcpConfig) -> Result<TcpTransport, TransportError> {
        config.check()?;
        let PeerAddress::Socket(address) = server else {
            return Err(TransportError::WrongAddress { protocol: PROTOCOL, address: server });
        };
        let error = |source| TransportError::Connect { protocol: PROTOCOL, address: server, source };
        let stream = TcpStream::connect(address).map_err(error)?;
        let local = stream.local_addr().map_err(error)?;
        let mut transport = TcpTransport::new(local.into(), config)?;
        transport.add(stream, server, None).map_err(error)?;
        Ok(transport)
    }

    fn new(local: PeerAddress, config: TcpConfig) -> Result<TcpTransport, TransportError> {
        let poller = Poller::new(256).map_err(TransportError::system("making an event queue"))?;
        Ok(TcpTransport {
            poller,
            listener: None,
            local,
            connections: Vec::new(),
            free: Vec::new(),
            by_address: HashMap::new(),
            per_network: HashMap::new(),
            ready: VecDeque::new(),
            touched: Vec::new(),
            may_accept: false,
            next_overdue: Micros::MAX,
            scratch: vec![0; connection::read_bytes_max(config.mtu_bytes)].into(),
            events: EventQueue::with_capacity(64),
            counters: Counters::default(),
            config,
        })
    }

    /// Takes in a connection that was accepted at `accepted_at`, or one that is to be made.
    fn add(&mut self, stream: TcpStream, peer: PeerAddress, accepted_at: Option<Micros>) -> io::Result<()> {
        let mut connection = Box::new(Connection::new(stream, peer, &self.config)?);
        let index = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        if let Some(now) = accepted_at {
            connection.set_accepted();
            self.counters.connections_opened += 1;
            self.events.push(TransportEvent::Opened(peer));
            connection.overdue_at = Some(now + self.config.open_timeout);
        }
        // A connection that is to be made gets its deadline when the time is known.
        self.next_overdue = self.next_overdue.min(connection.overdue_at.unwrap_or(Micros::ZERO));
        if let Err(error) = connection.register(self.poller.registry(), Token(index)) {
            self.free.push(index);
            return Err(error);
        }
        self.by_address.insert(peer, index);
        *self.per_network.entry(peer.network()).or_default() += 1;
        if let Some(slot) = self.connections.get_mut(index) {
            *slot = Some(connection);
        }
        Ok(())
    }

    fn accept(&mut self, now: Micros) {
        for _ in 0..ACCEPTS_PER_RECEIVE_MAX {
            let has_room = self.events.len() < self.config.events_waiting_max();
            let Some(listener) = self.listener.as_ref().filter(|_| self.may_accept && has_room) else {
                return;
            };
            match listener.accept() {
                Ok((stream, address)) => self.admit(now, stream, address.into()),
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

    fn admit(&mut self, now: Micros, stream: TcpStream, peer: PeerAddress) {
        if let Some(&index) = self.by_address.get(&peer) {
            // The system gives an address away again only when the connection that had it is gone.
            self.close(index, CloseReason::ByPeer);
        }
        let of_this_network = self.per_network.get(&peer.network()).copied().unwrap_or_default();
        let is_refused = self.by_address.len() >= self.config.connections_max
            || of_this_network >= self.config.connections_per_address_max;
        if is_refused || self.add(stream, peer, Some(now)).is_err() {
            self.counters.connections_refused += 1;
        }
    }

    /// Notes what the system says is ready.
    fn note_ready(&mut self, longest: std::time::Duration) -> Result<(), TransportError> {
        let TcpTransport { poller, connections, ready, may_accept, .. } = self;
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

    /// Closes what has taken too long to open.
    fn close_overdue(&mut self, now: Micros) {
        if now < self.next_overdue {
            return;
        }
        self.next_overdue = Micros::MAX;
        for index in 0..self.connections.len() {
            let Some(Some(connection)) = self.connections.get_mut(index) else {
                continue;
            };
            if connection.is_made() && connection.overdue_at.is_none() {
                continue;
            }
            let overdue_at = *connection.overdue_at.get_or_insert(now + self.config.open_timeout);
            if overdue_at > now {
                self.next_overdue = self.next_overdue.min(overdue_at);
                continue;
            }
            let reason = match connection.is_made() {
                true => CloseReason::Silent,
                false => CloseReason::NotMade(io::ErrorKind::TimedOut),
            };
            self.close(index, reason);
        }
    }

    /// Serves one connection that is ready: makes it, writes to it, reads from it.
    fn serve(&mut self, index: usize, batch: &mut Batch) {
        let Some(Some(connection)) = self.connections.get_mut(index) else {
            return;
        };
        let was_made = connection.is_made();
        let registry = self.poller.registry();
        let served = connection
            .advance(registry, Token(index), &mut self.counters)
            .and_then(|()| connection.receive(batch, &mut self.scratch, &mut self.counters));
        if !was_made && connection.is_made() {
            self.counters.connections_opened += 1;
            self.events.push(TransportEvent::Opened(connection.peer));
        }
        match served {
            Ok(Turn::More) => self.ready.push_back(index),
            Ok(Turn::Drained) => connection.is_queued = false,
            Err(reason) => self.close(index, reason),
        }
    }

    fn close(&mut self, index: usize, reason: CloseReason) {
        if let Some(peer) = self.remove(index) {
            self.events.push(TransportEvent::Closed { peer, reason });
        }
    }

    fn remove(&mut self, index: usize) -> Option<PeerAddress> {
        let connection = self.connections.get_mut(index)?.take()?;
        let peer = connection.peer;
        self.counters.connections_closed += u64::from(connection.is_made());
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
        Some(peer)
    }

    /// Queues the first datagram of a batch for its connection. `false`: it was dropped and counted.
    fn queue(&mut self, peer: PeerAddress, bytes: &[u8]) -> bool {
        let index = self.by_address.get(&peer).copied();
        let Some((index, Some(connection))) =
            index.and_then(|index| self.connections.get_mut(index).map(|slot| (index, slot.as_mut())))
        else {
            self.counters.dropped_unroutable += 1;
            return false;
        };
        if connection.should_flush_before(bytes.len()) {
            // An error here is one at the end of the batch, too.
            let _ = connection.flush(self.poller.registry(), Token(index), &mut self.counters);
        }
        let is_queued = connection.queue(bytes);
        if !std::mem::replace(&mut connection.is_touched, true) {
            self.touched.push(index);
        }
        if !is_queued {
            self.counters.dropped_slow += 1;
            if !std::mem::replace(&mut connection.is_slow, true)
                && self.events.len() < self.config.events_waiting_max()
            {
                self.events.push(TransportEvent::Slow { peer, unsent_bytes: connection.unsent_bytes() });
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
            if let Err(reason) = connection.flush(self.poller.registry(), Token(index), &mut self.counters) {
                self.close(index, reason);
            }
        }
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

impl Transport for TcpTransport {
    fn capabilities(&self) -> Capabilities {
        Capabilities { reliable: true, ordered: true, mtu_bytes: self.config.mtu_bytes, secure: false }
    }

    fn local_address(&self) -> PeerAddress {
        self.local
    }

    fn send(&mut self, _now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
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

    fn receive(&mut self, now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        check_slots(batch, self.config.mtu_bytes)?;
        self.note_ready(std::time::Duration::ZERO)?;
        self.accept(now);
        self.close_overdue(now);
        let before = batch.len();
        // Each turn is one read: enough for a full batch and for all who are ready, and not for one who never stops.
        for _ in 0..self.ready.len() + batch.capacity() {
            let Some(index) = (!batch.is_full()).then(|| self.ready.pop_front()).flatten() else {
                break;
            };
            self.serve(index, batch);
        }
        Ok(batch.len() - before)
    }

    fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError> {
        if !self.ready.is_empty() || self.may_accept {
            return Ok(());
        }
        self.note_ready(sleep_time(now, deadline.min(self.next_overdue)))
    }

    fn waker(&self) -> Waker {
        self.poller.waker()
    }

    fn poll_event(&mut self) -> Option<TransportEvent> {
        self.events.pop()
    }

    fn status(&self, peer: PeerAddress) -> PeerStatus {
        let index = self.by_address.get(&peer);
        let connection = index.and_then(|&index| self.connections.get(index)?.as_ref());
        connection.map_or_else(PeerStatus::closed, |connection| connection.status())
    }

    fn disconnect(&mut self, peer: PeerAddress) {
        if let Some(&index) = self.by_address.get(&peer) {
            self.remove(index);
        }
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}
