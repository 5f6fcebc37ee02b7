//! Many connections over one socket: who a datagram belongs to, who may come in, and whose turn it is.
//!
//! ```text
//!  handle_datagram ──▶ handshake ──▶ listener (stateless) ──▶ a seat
//!                  └─▶ session packet ──▶ by session id, alias or address ──▶ connection
//!  send ─────────────▶ connection
//!  poll_transmit ◀──── replies, then each connection whose time has come
//!  poll_event ◀─────── disconnects of any peer, then data, then new peers; in order within a peer
//! ```

/// What connections share, borrowed field by field so that a slot can be borrowed beside it.
macro_rules! context {
    ($endpoint:ident) => {
        Context {
            config: &$endpoint.config,
            table: &$endpoint.table,
            checksum: $endpoint.checksum,
            pool: &mut $endpoint.pool,
            entropy: &mut $endpoint.entropy,
        }
    };
}

pub(crate) mod admission;
mod books;
mod incoming;
mod listener;
mod resume;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::net::SocketAddr;

use netloom_wire::Micros;

use crate::channel::{SendError, Tag};
use crate::config::{Config, ConfigError, ListenConfig, Redundancy};
use crate::connection::{Connection, Context};
use crate::crypto::{Checksum, Entropy};
use crate::events::Event;
use crate::frame::ChannelTable;
use crate::handshake::ResumeToken;
use crate::packet::packet_type;
use crate::pool::BufferPool;
use crate::reason::{DisconnectReason, RejectReason};
use crate::state::State;
use crate::stats::{Allowance, Pulse, Stats};
use crate::validate::Rejections;
use listener::{Listener, Reply};
use resume::TokenDigest;

/// A peer of an endpoint. Never used again for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId {
    index: u16,
    generation: u32,
}

impl PeerId {
    /// The place of this peer, for tables: used again after the peer has gone.
    pub fn index(self) -> usize {
        self.index.into()
    }
}

impl std::fmt::Display for PeerId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}", self.index, self.generation)
    }
}

/// A connection could not be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// There is a connection to this address already.
    #[error("a connection to {0} exists already: disconnect it first")]
    AlreadyConnected(SocketAddr),
    /// Every place is taken.
    #[error("the endpoint holds as many peers as it can")]
    Full,
}

/// A datagram to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Where to.
    pub to: SocketAddr,
    /// How many bytes of the buffer.
    pub length: usize,
}

/// Small, since all of them are looked at in every tick.
#[derive(Debug, Default)]
struct Slot {
    connection: Option<Box<Connection>>,
    seat: Option<Box<TokenDigest>>,
    generation: u32,
    /// Counted among the peers: not yet disconnected.
    is_live: bool,
    /// Counted among those that have not confirmed their keys.
    is_accepting: bool,
    /// Stands in one of the queues of [`Ready`].
    is_queued: bool,
    /// Stands in the queue of those that ended, too.
    is_queued_as_ended: bool,
}

const _: () = assert!(size_of::<Slot>() == 24);

/// Session ids are random already.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }
}

/// Peers with something to tell, most urgent kind first.
#[derive(Debug, Default)]
struct Ready {
    ended: VecDeque<u16>,
    talking: VecDeque<u16>,
    new: VecDeque<u16>,
    /// Those that have used up this tick's limit.
    deferred: VecDeque<u16>,
}

impl Ready {
    fn is_empty(&self) -> bool {
        self.ended.is_empty() && self.talking.is_empty() && self.new.is_empty()
    }
}

/// Connections over one socket, as client, server or both. Does no I/O: bytes and time go in, bytes and events come out.
///
/// ```
/// use netloom_proto::{Config, Endpoint, Event, ListenConfig, Micros};
///
/// let server_address = "127.0.0.1:7777".parse().unwrap();
/// let client_address = "127.0.0.1:50000".parse().unwrap();
/// let mut server = Endpoint::new(Config::default(), Some(ListenConfig::default()), [1; 32]).unwrap();
/// let mut client = Endpoint::new(Config::default(), None, [2; 32]).unwrap();
/// let peer = client.connect(Micros::ZERO, server_address, None).unwrap();
///
/// let (mut buffer, mut now, mut greeted) = ([0; 1200], Micros::ZERO, false);
/// while !greeted {
///     now += Micros::from_millis(16);
///     client.begin_tick(now);
///     server.begin_tick(now);
///     while let Some(transmit) = client.poll_transmit(now, &mut buffer) {
///         server.handle_datagram(now, client_address, &mut buffer[..transmit.length]);
///     }
///     while let Some(transmit) = server.poll_transmit(now, &mut buffer) {
///         client.handle_datagram(now, server_address, &mut buffer[..transmit.length]);
///     }
///     while let Some((_, event)) = client.poll_event() {
///         if let Event::Connected { .. } = event {
///             client.send(peer, 1, b"hello").unwrap();
///             break;
///         }
///     }
///     while let Some((_, event)) = server.poll_event() {
///         if let Event::Message { channel: 1, data } = event {
///             assert_eq!(data, b"hello");
///             greeted = true;
///         }
///     }
/// }
/// ```
#[derive(Debug)]
#[repr(C)] // what every tick looks at comes first
pub struct Endpoint {
    now: Micros,
    tick: u64,
    cursor: usize,
    swept: usize,
    /// The slot that was sent to or polled last.
    worked_on: usize,
    /// When each slot wants to be polled again; zero after anything that may have given it something to send.
    wakes: Vec<Micros>,
    /// When a timer of each slot runs out.
    timers: Vec<Micros>,
    slots: Vec<Slot>,
    ready: Ready,
    replies: VecDeque<Reply>,
    listener: Option<Listener>,
    table: ChannelTable,
    checksum: Checksum,
    pool: BufferPool,
    config: Config,
    sessions: HashMap<u64, u16, BuildHasherDefault<IdHasher>>,
    addresses: BTreeMap<SocketAddr, u16>,
    free: VecDeque<u16>,
    live: usize,
    accepting: usize,
    entropy: Entropy,
    rejections: Rejections,
    refusals: [u64; RejectReason::ALL.len()],
}

impl Endpoint {
    /// An endpoint; one that is to accept connections needs a [`ListenConfig`]. The seed must be 32 bytes of secret
    /// randomness, used once (a simulation may hand in what it likes).
    pub fn new(
        config: Config,
        listen: Option<ListenConfig>,
        seed: [u8; 32],
    ) -> Result<Endpoint, ConfigError> {
        config.check()?;
        listen.as_ref().map_or(Ok(()), ListenConfig::check)?;
        let mut entropy = Entropy::new(&seed);
        let listener = listen.map(|listen| Listener::new(Micros::ZERO, listen, &mut entropy));
        Ok(Endpoint {
            table: ChannelTable::new(config.channels.iter().map(|channel| channel.kind)),
            checksum: Checksum::new(config.protocol_id),
            config,
            entropy,
            pool: BufferPool::default(),
            listener,
            slots: Vec::new(),
            free: VecDeque::new(),
            live: 0,
            accepting: 0,
            wakes: Vec::new(),
            timers: Vec::new(),
            sessions: HashMap::default(),
            addresses: BTreeMap::new(),
            replies: VecDeque::new(),
            rejections: Rejections::default(),
            refusals: [0; RejectReason::ALL.len()],
            ready: Ready::default(),
            tick: 0,
            now: Micros::ZERO,
            cursor: 0,
            swept: 0,
            worked_on: usize::MAX,
        })
    }

    /// What it was built with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Peers that are connecting, connected or disconnecting.
    pub fn peer_count(&self) -> usize {
        self.live
    }

    /// Those peers.
    pub fn peers(&self) -> impl Iterator<Item = PeerId> + '_ {
        let live = self.slots.iter().enumerate().filter(|(_, slot)| slot.is_live);
        live.map(|(index, slot)| PeerId { index: index as u16, generation: slot.generation })
    }

    /// Datagrams dropped, by reason.
    pub fn rejections(&self) -> &Rejections {
        &self.rejections
    }

    /// How often somebody was told that there is no connection for it, by reason.
    pub fn refusals(&self) -> impl Iterator<Item = (RejectReason, u64)> {
        RejectReason::ALL.iter().copied().zip(self.refusals)
    }

    /// Where a peer stands.
    pub fn state(&self, peer: PeerId) -> State {
        self.connection(peer).map_or(State::Disconnected, Connection::state)
    }

    /// Where a peer's packets go.
    pub fn address(&self, peer: PeerId) -> Option<SocketAddr> {
        self.connection(peer).map(Connection::address)
    }

    /// What was measured of a peer.
    pub fn stats(&self, peer: PeerId) -> Option<Stats> {
        self.connection(peer).map(Connection::stats)
    }

    /// What of that says how much may be sent now.
    pub fn allowance(&self, peer: PeerId) -> Option<Allowance> {
        self.connection(peer).map(Connection::allowance)
    }

    /// What of that says how the connection is.
    pub fn pulse(&self, peer: PeerId) -> Option<Pulse> {
        self.connection(peer).map(Connection::pulse)
    }

    /// The smoothed round trip to a peer; zero before the first sample.
    pub fn rtt(&self, peer: PeerId) -> Option<Micros> {
        self.connection(peer).map(Connection::smoothed_rtt)
    }

    /// Asks for the memory of a peer's connection that sending needs, ahead of [`send`](Self::send): see
    /// [`netloom_cpu::fetch`](mod@netloom_cpu::fetch).
    pub fn fetch(&self, peer: PeerId) {
        self.connection(peer).into_iter().for_each(Connection::fetch);
    }

    /// Asks for what a channel of it needs besides, once [`fetch`](Self::fetch) has come.
    pub fn fetch_channel(&self, peer: PeerId, channel: u8) {
        self.connection(peer).into_iter().for_each(|connection| connection.fetch_channel(channel));
    }

    /// Whether a peer's packets are sealed.
    pub fn is_sealed(&self, peer: PeerId) -> bool {
        self.connection(peer).is_some_and(Connection::is_sealed)
    }

    /// A number that both sides share if and only if they share their keys; `None` for plain connections. Players who
    /// compare it over another line know that nobody sits between them.
    pub fn key_fingerprint(&self, peer: PeerId) -> Option<u64> {
        self.connection(peer).and_then(Connection::key_fingerprint)
    }

    /// Starts connecting; the outcome is an event. A token takes up a lost session.
    pub fn connect(
        &mut self,
        now: Micros,
        to: SocketAddr,
        resume: Option<ResumeToken>,
    ) -> Result<PeerId, ConnectError> {
        let now = self.advance(now);
        if self.addresses.get(&to).is_some_and(|&index| self.slots[usize::from(index)].is_live) {
            return Err(ConnectError::AlreadyConnected(to));
        }
        let index = self.allocate().ok_or(ConnectError::Full)?;
        let alias = self.listener.is_some().then_some(index);
        let mut context = context!(self);
        let connection = Connection::connecting(now, to, alias, resume, &mut context);
        self.addresses.insert(to, index);
        Ok(self.occupy(index, connection))
    }

    /// Hands a message over for sending on a channel.
    pub fn send(&mut self, peer: PeerId, channel: u8, message: &[u8]) -> Result<(), SendError> {
        self.send_with(peer, channel, message, None)
    }

    /// The same on an unreliable channel, with a tag by which [`Event::Outcome`] tells what became of it, soon or
    /// [when it can](Tag::that_can_wait).
    pub fn send_tagged(
        &mut self,
        peer: PeerId,
        channel: u8,
        message: &[u8],
        tag: impl Into<Tag>,
    ) -> Result<(), SendError> {
        self.send_with(peer, channel, message, Some(tag.into()))
    }

    /// Bytes that wait on a channel to be sent or acknowledged.
    pub fn pending_bytes(&self, peer: PeerId, channel: u8) -> usize {
        self.connection(peer).map_or(0, |connection| connection.pending_bytes(channel))
    }

    /// The largest message that travels unfragmented.
    pub fn whole_message_max(&self) -> usize {
        crate::connection::whole_message_max(self.config.mtu)
    }

    /// Limits the bytes per second that go to a peer, within the configured range.
    pub fn set_rate_max(&mut self, peer: PeerId, bytes_per_second: u64) {
        if let Some(connection) = self.connection_mut(peer) {
            connection.set_rate_max(bytes_per_second);
        }
    }

    /// Changes how small reliable messages to a peer are repeated: more while many are lost, less when they arrive.
    /// Nothing has to be agreed on, for a receiver understands every form.
    pub fn set_redundancy(&mut self, peer: PeerId, redundancy: Redundancy) {
        if let Some(connection) = self.connection_mut(peer) {
            connection.set_redundancy(redundancy);
        }
    }

    /// Says goodbye to a peer. A connection attempt is cancelled.
    pub fn disconnect(&mut self, now: Micros, peer: PeerId, reason: DisconnectReason) {
        let now = self.advance(now);
        if self.connection(peer).is_none() {
            return;
        }
        let index = peer.index;
        let Endpoint { slots, config, .. } = self;
        if let Some(connection) = &mut slots[usize::from(index)].connection {
            connection.disconnect(now, reason, config);
        }
        self.settle(index);
    }

    /// Whoever was at this address cannot be reached there any more: the stream below is gone. Connections that were made
    /// are lost at once instead of after a silence; their seats can be taken up again.
    pub fn handle_broken(&mut self, now: Micros, address: SocketAddr) {
        let now = self.advance(now);
        let Some(&index) = self.addresses.get(&address) else { return };
        let connection = self.slots[usize::from(index)].connection.as_ref();
        if connection.is_some_and(|connection| connection.state() == State::Connected) {
            self.end(now, index, DisconnectReason::Broken);
        }
    }

    /// Whether there is a connection at an address, or one is being made.
    pub fn is_in_use(&self, address: SocketAddr) -> bool {
        self.addresses.get(&address).is_some_and(|&index| self.slots[usize::from(index)].is_live)
    }

    /// Begins a tick: event limits start anew, timeouts are looked at.
    pub fn begin_tick(&mut self, now: Micros) {
        let now = self.advance(now);
        self.tick += 1;
        if !self.ready.deferred.is_empty() {
            self.ready.talking.append(&mut self.ready.deferred);
        }
        if let Some(listener) = &mut self.listener {
            listener.handle_timeout(now, &mut self.entropy);
        }
        for index in 0..self.slots.len() as u16 {
            if self.timers[usize::from(index)] <= now {
                self.handle_timeout(index);
            }
        }
    }

    /// Takes in a datagram; it is opened in place.
    pub fn handle_datagram(&mut self, now: Micros, from: SocketAddr, datagram: &mut [u8]) {
        let now = self.advance(now);
        let handled = match packet_type(datagram) {
            Err(reason) => Err(reason),
            Ok(kind) if kind.is_handshake() => self.handle_handshake(now, from, kind, datagram),
            Ok(_) => self.handle_session_packet(now, from, datagram),
        };
        if let Err(reason) = handled {
            self.rejections.count(reason);
        }
    }

    /// The next datagram to send now, in `out`, which must hold [`Config::mtu`] bytes. Call until `None`.
    pub fn poll_transmit(&mut self, now: Micros, out: &mut [u8]) -> Option<Transmit> {
        let now = self.advance(now);
        if let Some(reply) = self.replies.pop_front() {
            let length = reply.bytes().len();
            out.get_mut(..length)?.copy_from_slice(reply.bytes());
            return Some(Transmit { to: reply.to, length });
        }
        while self.swept < self.slots.len() {
            let index = if self.cursor < self.slots.len() { self.cursor } else { 0 };
            if self.wakes[index] <= now
                && let Some(transmit) = self.poll_slot(now, index, out)
            {
                return Some(transmit);
            }
            self.cursor = index + 1;
            self.swept += 1;
        }
        self.swept = 0;
        None
    }

    /// When [`begin_tick`](Self::begin_tick) and [`poll_transmit`](Self::poll_transmit) will have something to do, for
    /// drivers that wait; `None` if nothing ever will by itself.
    pub fn poll_timeout(&self) -> Option<Micros> {
        if !self.replies.is_empty() {
            return Some(self.now);
        }
        self.wakes.iter().copied().min().filter(|&wake| wake != Micros::MAX)
    }

    /// The next event. Call until `None`; what this tick's limits hold back comes in the next.
    #[inline]
    pub fn poll_event(&mut self) -> Option<(PeerId, Event<'_>)> {
        // Every tick ends with a call that finds nothing.
        if self.ready.is_empty() { None } else { self.poll_ready() }
    }

    #[inline(never)]
    fn poll_ready(&mut self) -> Option<(PeerId, Event<'_>)> {
        let index = self.next_ready()?;
        let (now, tick) = (self.now, self.tick);
        let mut context = context!(self);
        let slot = &mut self.slots[usize::from(index)];
        let peer = PeerId { index, generation: slot.generation };
        let connection = slot.connection.as_mut()?;
        if connection.has_one_event() && self.ready.talking.front() == Some(&index) {
            // The usual case, one message a tick: the next call need not look at this peer again.
            self.ready.talking.pop_front();
            slot.is_queued = false;
        }
        let event = connection.poll_event(now, tick, &mut context)?;
        Some((peer, event))
    }

    /// Ends every connection, telling the peers why.
    pub fn shutdown(&mut self, now: Micros) {
        let peers: Vec<PeerId> = self.peers().collect();
        for peer in peers {
            self.disconnect(now, peer, DisconnectReason::Shutdown);
        }
    }

    /// Time as the endpoint sees it never goes back, whatever the driver's clock does.
    fn advance(&mut self, now: Micros) -> Micros {
        self.now = self.now.max(now);
        self.now
    }

    fn connection(&self, peer: PeerId) -> Option<&Connection> {
        let slot = self.slots.get(peer.index()).filter(|slot| slot.generation == peer.generation)?;
        slot.connection.as_deref()
    }

    fn connection_mut(&mut self, peer: PeerId) -> Option<&mut Connection> {
        let slot = self.slots.get_mut(peer.index()).filter(|slot| slot.generation == peer.generation)?;
        slot.connection.as_deref_mut()
    }

    fn send_with(
        &mut self,
        peer: PeerId,
        channel: u8,
        message: &[u8],
        tag: Option<Tag>,
    ) -> Result<(), SendError> {
        let mut context = context!(self);
        let slot = self.slots.get_mut(peer.index()).filter(|slot| slot.generation == peer.generation);
        let connection = slot.and_then(|slot| slot.connection.as_mut()).ok_or(SendError::NotConnected)?;
        connection.send(channel, message, tag, &mut context)?;
        self.wakes[peer.index()] = Micros::ZERO;
        self.fetch_after(peer.index());
        Ok(())
    }

    /// Asks for the connections behind one that is worked on, the first time in a row that it is: whoever sends to many does so in
    /// their order.
    #[inline]
    fn fetch_after(&mut self, index: usize) {
        if std::mem::replace(&mut self.worked_on, index) == index {
            return;
        }
        let behind = |distance: usize| self.slots.get(index + distance)?.connection.as_deref();
        behind(2).into_iter().for_each(Connection::fetch);
        behind(1).into_iter().for_each(Connection::fetch_channels);
    }

    #[inline(never)] // beside the call that finds nothing, which every tick ends with
    fn poll_slot(&mut self, now: Micros, index: usize, out: &mut [u8]) -> Option<Transmit> {
        if self.timers[index] <= now {
            self.handle_timeout(index as u16);
        }
        let mut context = context!(self);
        let connection = self.slots[index].connection.as_mut()?;
        let transmit = connection.poll_transmit(now, out, &mut context);
        let deadline = connection.deadline(now, &context);
        self.wakes[index] = match transmit {
            Some(_) if deadline <= now => Micros::ZERO,
            // Never in the past: a driver that waits for it must get on.
            _ => deadline.max(now + Micros(500)),
        };
        self.timers[index] = self.wakes[index];
        transmit.map(|(to, length)| Transmit { to, length })
    }

    fn handle_timeout(&mut self, index: u16) {
        let now = self.now;
        let mut context = context!(self);
        let Some(connection) = &mut self.slots[usize::from(index)].connection else {
            return;
        };
        connection.handle_timeout(now, &mut context);
        self.timers[usize::from(index)] = now + Micros(500);
        self.settle(index);
    }

    fn end(&mut self, now: Micros, index: u16, reason: DisconnectReason) {
        let Some(connection) = &mut self.slots[usize::from(index)].connection else {
            return;
        };
        connection.end(now, reason, None);
        self.settle(index);
    }
}
