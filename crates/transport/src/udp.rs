//! Datagrams over UDP, IPv4 and IPv6.
//!
//! A server's tick sends a datagram or more to every player at once, so the system call per datagram is most of what
//! sending costs. On Linux up to 64 go and come in one call, straight from and into the slots of the [`Batch`];
//! elsewhere, and on request, one at a time behind the same interface.
//!
//! What a network can do to a socket never ends it: an ICMP message that nobody is there is a hint ([counted, and told
//! as an event](crate::TransportEvent::Unreachable)), since anybody can forge it; what the system refuses to send is one
//! lost datagram, which the connection above copes with anyway.
//!
//! A socket bound to `[::]` speaks both families; IPv4 peers have IPv4 addresses in both directions.

mod socket;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use mio::{Interest, Token};
use netloom_wire::Micros;

use crate::address::PeerAddress;
use crate::batch::{Batch, Datagram};
use crate::counters::Counters;
use crate::error::{ConfigError, TransportError, check_range};
use crate::events::EventQueue;
use crate::limits::{MTU_BYTES_DEFAULT, RECEIVE_ERRORS_MAX};
use crate::poll::{Poller, Waker, sleep_time};
use crate::transport::{
    Capabilities, PeerState, PeerStatus, Transport, TransportEvent, check_slots, refuse_too_long,
};
use socket::Socket;

const PROTOCOL: &str = "UDP";
const SOCKET: Token = Token(0);

/// The longest payload of a UDP datagram over IPv4.
const UDP_PAYLOAD_BYTES_LIMIT: usize = 65_507;

/// What a UDP socket is like.
#[derive(Clone, Debug)]
pub struct UdpConfig {
    /// The longest datagram that is sent or accepted.
    pub mtu_bytes: usize,
    /// What the system is asked to buffer of what arrives between two ticks. It may grant less:
    /// [`UdpTransport::receive_buffer_bytes`].
    pub receive_buffer_bytes: usize,
    /// What the system is asked to buffer of what is sent.
    pub send_buffer_bytes: usize,
    /// An IPv6 socket refuses IPv4 peers.
    pub is_v6_only: bool,
    /// Many datagrams in one system call, where the system can.
    pub batches_system_calls: bool,
}

impl Default for UdpConfig {
    fn default() -> UdpConfig {
        UdpConfig {
            mtu_bytes: MTU_BYTES_DEFAULT,
            receive_buffer_bytes: 2 << 20,
            send_buffer_bytes: 1 << 20,
            is_v6_only: false,
            batches_system_calls: true,
        }
    }
}

impl UdpConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_range("mtu_bytes", self.mtu_bytes, 1, UDP_PAYLOAD_BYTES_LIMIT)?;
        check_range("receive_buffer_bytes", self.receive_buffer_bytes, 1 << 12, 1 << 30)?;
        check_range("send_buffer_bytes", self.send_buffer_bytes, 1 << 12, 1 << 30)
    }
}

/// A UDP socket.
///
/// ```
/// use netloom_transport::{Batch, Micros, Transport, UdpConfig, UdpTransport};
///
/// let mut server = UdpTransport::bind("127.0.0.1:0".parse()?, UdpConfig::default())?;
/// let mut client = UdpTransport::connect(server.local_address(), UdpConfig::default())?;
/// let mut batch = Batch::new(64, server.capabilities().mtu_bytes)?;
///
/// batch.push(server.local_address(), b"hello");
/// client.send(Micros::ZERO, &mut batch)?;
/// server.wait(Micros::ZERO, Micros::from_secs(5))?;
/// server.receive(Micros::ZERO, &mut batch)?;
/// assert_eq!(batch.iter().next().expect("it was sent").bytes(), b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UdpTransport {
    socket: Socket,
    poller: Poller,
    local: PeerAddress,
    is_v6: bool,
    /// The one peer of a connected socket.
    peer: Option<PeerAddress>,
    mtu_bytes: usize,
    /// The last `receive` left something behind, or nobody knows.
    may_have_more: bool,
    /// The last `send` would have blocked, and the poller waits for room.
    is_blocked: bool,
    /// The poller watches the socket. It does so from the first `wait` on: a driver that looks in every tick never sleeps
    /// here, and each datagram that arrives at a watched socket costs a wake-up of nobody.
    is_watched: bool,
    receive_buffer_bytes: usize,
    events: EventQueue,
    counters: Counters,
}

impl UdpTransport {
    /// A socket at an address, for a server or for a client that may talk to several servers. Port 0 lets the system
    /// choose; `[::]` is every address that the machine has, of both families.
    pub fn bind(address: PeerAddress, config: UdpConfig) -> Result<UdpTransport, TransportError> {
        UdpTransport::new(address, None, config)
    }

    /// A socket for a client of one server. It hears nobody else, and it hears when nobody is there.
    pub fn connect(server: PeerAddress, config: UdpConfig) -> Result<UdpTransport, TransportError> {
        let any: SocketAddr = match server.to_socket_addr() {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        UdpTransport::new(any.into(), Some(server), config)
    }

    fn new(
        address: PeerAddress,
        peer: Option<PeerAddress>,
        config: UdpConfig,
    ) -> Result<UdpTransport, TransportError> {
        config.check()?;
        for address in [Some(address), peer].into_iter().flatten() {
            if let PeerAddress::Memory(_) = address {
                return Err(TransportError::WrongAddress { protocol: PROTOCOL, address });
            }
        }
        let bind_error = |source| TransportError::Bind { protocol: PROTOCOL, address, source };
        let (socket, receive_buffer_bytes) =
            Socket::bind(address.to_socket_addr(), &config).map_err(bind_error)?;
        if let Some(peer) = peer {
            let connected = socket.connect(peer.to_socket_addr());
            connected.map_err(|source| TransportError::Connect {
                protocol: PROTOCOL,
                address: peer,
                source,
            })?;
        }
        let poller = Poller::new(8).map_err(TransportError::system("making an event queue"))?;
        let local = socket.local_address().map_err(TransportError::system("asking for the local address"))?;
        Ok(UdpTransport {
            socket,
            poller,
            local: local.into(),
            is_v6: local.is_ipv6(),
            peer,
            mtu_bytes: config.mtu_bytes,
            may_have_more: true,
            is_blocked: false,
            is_watched: false,
            receive_buffer_bytes,
            events: EventQueue::hints(),
            counters: Counters::default(),
        })
    }

    /// What the system granted for what arrives between two ticks. On Linux, `net.core.rmem_max` limits it.
    pub fn receive_buffer_bytes(&self) -> usize {
        self.receive_buffer_bytes
    }

    /// How many datagrams at the front of a batch can be tried together.
    fn sendable(&self, batch: &Batch) -> usize {
        let is_sendable = |datagram: &&Datagram| {
            datagram.bytes().len() <= self.mtu_bytes && self.can_reach(datagram.address())
        };
        batch.iter().take_while(is_sendable).count()
    }

    fn can_reach(&self, to: PeerAddress) -> bool {
        match to {
            _ if self.peer.is_some() => self.peer == Some(to),
            PeerAddress::Memory(_) => false,
            PeerAddress::Socket(address) => address.port() != 0 && (address.is_ipv4() || self.is_v6),
        }
    }

    /// Whether an error says that nobody is there, as far as somebody else claims.
    fn note_unreachable(&mut self, error: &io::Error, peer: Option<PeerAddress>) -> bool {
        use io::ErrorKind::{ConnectionRefused, ConnectionReset, HostUnreachable, NetworkUnreachable};
        let is_report = matches!(
            error.kind(),
            ConnectionRefused | ConnectionReset | HostUnreachable | NetworkUnreachable
        );
        if is_report {
            self.counters.unreachable_reports += 1;
            if let Some(peer) = peer {
                self.events.hint(TransportEvent::Unreachable(peer));
            }
        }
        is_report
    }

    fn set_blocked(&mut self, is_blocked: bool) -> Result<(), TransportError> {
        if self.is_blocked == is_blocked {
            return Ok(());
        }
        self.is_blocked = is_blocked;
        if !self.is_watched {
            return Ok(());
        }
        let interest = self.interest();
        let registered = self.poller.registry().reregister(self.socket.source(), SOCKET, interest);
        registered.map_err(TransportError::system("waiting for room to send"))
    }

    fn interest(&self) -> Interest {
        if self.is_blocked { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE }
    }

    /// Has the poller watch the socket. What was there before is reported as if it had just come.
    fn watch(&mut self) -> Result<(), TransportError> {
        if !self.is_watched {
            let interest = self.interest();
            let registered = self.poller.registry().register(self.socket.source(), SOCKET, interest);
            registered.map_err(TransportError::system("registering a socket"))?;
            self.is_watched = true;
        }
        Ok(())
    }
}

impl Transport for UdpTransport {
    fn capabilities(&self) -> Capabilities {
        Capabilities { reliable: false, ordered: false, mtu_bytes: self.mtu_bytes, secure: false }
    }

    fn local_address(&self) -> PeerAddress {
        self.local
    }

    fn send(&mut self, _now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        let (mut sent, mut is_retry) = (0, false);
        while !batch.is_empty() {
            refuse_too_long(batch, self.mtu_bytes)?;
            let count = self.sendable(batch);
            let datagrams = batch.waiting().get(..count).unwrap_or_default();
            let Some(first) = datagrams.first().map(Datagram::address) else {
                self.counters.dropped_unroutable += 1;
                batch.consume(1);
                continue;
            };
            match self.socket.send(datagrams, self.is_v6, self.peer.is_some()) {
                Ok(count) => {
                    for datagram in datagrams.iter().take(count) {
                        self.counters.count_sent(datagram.bytes().len());
                    }
                    sent += count;
                    is_retry = false;
                    batch.consume(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.counters.would_block += 1;
                    self.set_blocked(true)?;
                    break;
                }
                Err(error) => {
                    // A report about an earlier datagram comes as the error of this one, which was not tried then.
                    let is_report = self.note_unreachable(&error, Some(first));
                    if is_report && !is_retry {
                        is_retry = true;
                        continue;
                    }
                    is_retry = false;
                    self.counters.dropped_by_system += 1;
                    batch.consume(1);
                }
            }
        }
        Ok(sent)
    }

    fn receive(&mut self, _now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        check_slots(batch, self.mtu_bytes)?;
        let (mut received, mut errors) = (0, 0);
        self.may_have_more = true;
        while !batch.is_full() && errors < RECEIVE_ERRORS_MAX {
            match self.socket.receive(batch.free_mut(), self.mtu_bytes, &mut self.counters) {
                Ok(outcome) => {
                    batch.extend(outcome.kept);
                    received += outcome.kept;
                    // Whoever sends only what is dropped must not keep this loop going.
                    errors += usize::from(outcome.kept == 0);
                    if outcome.is_drained {
                        self.may_have_more = false;
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.may_have_more = false;
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if self.note_unreachable(&error, self.peer) => errors += 1,
                Err(source) => return Err(TransportError::System { operation: "receiving", source }),
            }
        }
        Ok(received)
    }

    fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError> {
        if self.may_have_more {
            return Ok(());
        }
        self.watch()?;
        let (mut is_readable, mut is_writable) = (false, false);
        let waited = self.poller.wait(sleep_time(now, deadline), |event| {
            is_readable |= event.is_readable() || event.is_error();
            is_writable |= event.is_writable();
        });
        waited.map_err(TransportError::system("waiting"))?;
        self.may_have_more |= is_readable;
        if is_writable { self.set_blocked(false) } else { Ok(()) }
    }

    fn waker(&self) -> Waker {
        self.poller.waker()
    }

    fn poll_event(&mut self) -> Option<TransportEvent> {
        self.events.pop()
    }

    fn status(&self, peer: PeerAddress) -> PeerStatus {
        match self.can_reach(peer) {
            true => PeerStatus {
                state: PeerState::Connectionless,
                unsent_bytes: 0,
                room_bytes: if self.is_blocked { 0 } else { self.mtu_bytes },
            },
            false => PeerStatus::closed(),
        }
    }

    fn disconnect(&mut self, _peer: PeerAddress) {}

    fn counters(&self) -> Counters {
        self.counters
    }
}
