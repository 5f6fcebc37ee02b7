//! Sessions, and what waits for and from them: what both threads look at.
//!
//! ```text
//!   caller's thread   fetch ◀── inbox ◀── deliver   transport's thread
//!                     poll  ◀── events ◀─ open, close
//!                     queue ──▶ QUIC's own queue, at once
//! ```
//!
//! One lock holds all of it. Neither side does anything with it but copy.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use netloom_transport::toolkit::{Bell, refuse_too_long};
use netloom_transport::{
    Batch, CloseReason, Counters, PeerAddress, PeerState, PeerStatus, TransportError, TransportEvent,
};
use tokio::sync::Notify;
use wtransport::Connection;

use crate::config::WebTransportConfig;
use crate::limits::{EARLY_DATAGRAMS_MAX, MTU_BYTES, RECEIVED_BYTES_MAX, SESSION_BYTES_MAX, UNPROVEN_MAX};

/// A datagram that waits to be fetched, or to be sent.
struct Held {
    peer: PeerAddress,
    /// The session that it came from; another may have its address by now.
    number: u64,
    length: usize,
    bytes: [u8; RECEIVED_BYTES_MAX],
}

impl Held {
    fn new(peer: PeerAddress, number: u64, datagram: &[u8]) -> Option<Held> {
        let mut bytes = [0; RECEIVED_BYTES_MAX];
        bytes.get_mut(..datagram.len())?.copy_from_slice(datagram);
        Some(Held { peer, number, length: datagram.len(), bytes })
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

struct Session {
    number: u64,
    connection: Connection,
    /// Of its datagrams, how many are in the inbox.
    waiting: usize,
    /// Was reported as slow, and has not read enough since.
    is_slow: bool,
    /// Tells its task to close it.
    leave: Arc<Notify>,
}

impl Session {
    fn unsent_bytes(&self, config: &WebTransportConfig) -> usize {
        let room = self.connection.quic_connection().datagram_send_buffer_space();
        config.unsent_bytes_max.saturating_sub(room)
    }
}

/// What a client knows of the session that is not there.
struct Dialing {
    server: PeerAddress,
    is_connecting: bool,
    early: VecDeque<Held>,
}

/// What one network has here.
#[derive(Clone, Copy, Default)]
struct Share {
    sessions: usize,
    handshakes: usize,
}

struct State {
    sessions: HashMap<PeerAddress, Session>,
    shares: HashMap<IpAddr, Share>,
    handshakes: usize,
    unproven: usize,
    inbox: VecDeque<Held>,
    events: VecDeque<TransportEvent>,
    counters: Counters,
    numbers: u64,
    dialing: Option<Dialing>,
}

/// Sessions, and what waits.
pub(crate) struct Table {
    pub config: WebTransportConfig,
    pub bell: Arc<Bell>,
    /// Wakes the task that dials.
    pub dial: Notify,
    state: Mutex<State>,
}

/// What to do with somebody's first packet.
pub(crate) enum Admission {
    /// Shake hands; the ticket counts it for as long as it is held.
    Admitted(Ticket),
    /// Ask for a proof that somebody is there.
    Unproven,
    /// There are too many.
    Refused,
}

/// A handshake that goes on.
pub(crate) struct Ticket {
    table: Arc<Table>,
    /// Of an address that has proven that it is there.
    proven: Option<IpAddr>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.table.lock();
        state.handshakes -= 1;
        match self.proven {
            Some(network) => state.release(network, |share| &mut share.handshakes),
            None => state.unproven -= 1,
        }
    }
}

impl Table {
    pub fn new(config: WebTransportConfig, server: Option<PeerAddress>) -> Table {
        let inbox = VecDeque::with_capacity(config.inbox_datagrams_max);
        let dialing = server.map(|server| Dialing { server, is_connecting: true, early: VecDeque::new() });
        let state = Mutex::new(State {
            sessions: HashMap::new(),
            shares: HashMap::new(),
            handshakes: 0,
            unproven: 0,
            inbox,
            events: VecDeque::with_capacity(64),
            counters: Counters::default(),
            numbers: 0,
            dialing,
        });
        Table { config, bell: Arc::default(), dial: Notify::new(), state }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides about a first packet.
    pub fn admit(self: &Arc<Table>, peer: PeerAddress, is_proven: bool) -> Admission {
        let mut state = self.lock();
        let config = &self.config;
        let is_full = state.sessions.len() + state.handshakes >= config.sessions_max
            || state.handshakes >= config.handshakes_max
            || state.events.len() >= config.events_waiting_max();
        // Whoever forges addresses must not use up what belongs to those who live there: only proven ones count for a network.
        if !is_proven && !is_full && state.unproven >= UNPROVEN_MAX.min(config.handshakes_max) {
            return Admission::Unproven;
        }
        let share = state.shares.get(&peer.network()).copied().unwrap_or_default();
        let has_too_many = share.sessions >= config.sessions_per_address_max
            || is_proven && share.handshakes >= config.handshakes_per_address_max;
        if is_full || has_too_many {
            state.counters.connections_refused += 1;
            return Admission::Refused;
        }
        state.handshakes += 1;
        match is_proven {
            true => state.shares.entry(peer.network()).or_default().handshakes += 1,
            false => state.unproven += 1,
        }
        drop(state);
        Admission::Admitted(Ticket { table: Arc::clone(self), proven: is_proven.then(|| peer.network()) })
    }

    /// Counts a handshake that came to nothing.
    pub fn fail_greeting(&self) {
        self.lock().counters.greetings_failed += 1;
    }

    /// Notes a session that is open, and gives its number and what tells its task to close it. `None`: there are too many.
    pub fn open(&self, peer: PeerAddress, connection: Connection) -> Option<(u64, Arc<Notify>)> {
        let mut state = self.lock();
        let share = state.shares.get(&peer.network()).map_or(0, |share| share.sessions);
        let is_client = state.dialing.is_some();
        let is_known = state.sessions.contains_key(&peer);
        if !is_client && !is_known && share >= self.config.sessions_per_address_max {
            state.counters.connections_refused += 1;
            return None;
        }
        if let Some(old) = state.remove(peer) {
            // The peer has begun anew before the end of the old session was noticed.
            old.leave.notify_one();
            state.events.push_back(TransportEvent::Closed { peer, reason: CloseReason::ByPeer });
        }
        state.numbers += 1;
        let (number, leave) = (state.numbers, Arc::new(Notify::new()));
        state.shares.entry(peer.network()).or_default().sessions += 1;
        let session = Session { number, connection, waiting: 0, is_slow: false, leave: Arc::clone(&leave) };
        state.sessions.insert(peer, session);
        state.counters.connections_opened += 1;
        state.events.push_back(TransportEvent::Opened(peer));
        let early = state.dialing.as_mut().map(|dialing| {
            dialing.is_connecting = false;
            std::mem::take(&mut dialing.early)
        });
        for datagram in early.into_iter().flatten() {
            state.queue(&self.config, peer, datagram.bytes());
        }
        drop(state);
        self.bell.ring();
        Some((number, leave))
    }

    /// Notes that a session could not be made.
    pub fn fail_dial(&self, kind: io::ErrorKind) {
        let mut state = self.lock();
        if let Some(dialing) = &mut state.dialing {
            dialing.is_connecting = false;
            let lost = dialing.early.len();
            let peer = dialing.server;
            dialing.early.clear();
            state.counters.dropped_unroutable += lost as u64;
            state.events.push_back(TransportEvent::Closed { peer, reason: CloseReason::NotMade(kind) });
        }
        drop(state);
        self.bell.ring();
    }

    /// Takes a datagram that arrived, or drops it and counts that.
    pub fn deliver(&self, peer: PeerAddress, number: u64, datagram: &[u8]) {
        let mut state = self.lock();
        let is_full = state.inbox.len() >= self.config.inbox_datagrams_max;
        let State { sessions, inbox, counters, .. } = &mut *state;
        let Some(session) = sessions.get_mut(&peer).filter(|session| session.number == number) else {
            return;
        };
        if is_full || session.waiting >= self.config.inbox_per_session_max {
            counters.dropped_slow += 1;
            return;
        }
        let Some(held) = Held::new(peer, number, datagram) else {
            counters.dropped_truncated += 1;
            return;
        };
        session.waiting += 1;
        counters.count_received(datagram.len());
        inbox.push_back(held);
        drop(state);
        self.bell.ring();
    }

    /// Notes that a session ended, unless it is another one's by now.
    pub fn close(&self, peer: PeerAddress, number: u64, reason: CloseReason) {
        let mut state = self.lock();
        if state.sessions.get(&peer).is_some_and(|session| session.number == number) {
            state.remove(peer);
            state.events.push_back(TransportEvent::Closed { peer, reason });
            drop(state);
            self.bell.ring();
        }
    }

    /// Ends a session; its task says goodbye.
    pub fn disconnect(&self, peer: PeerAddress) {
        if let Some(session) = self.lock().remove(peer) {
            session.leave.notify_one();
        }
    }

    /// Whether nothing waits to be sent any more.
    pub fn is_flushed(&self) -> bool {
        self.lock().sessions.values().all(|session| session.unsent_bytes(&self.config) == 0)
    }

    /// Moves what arrived into the free slots of a batch.
    pub fn fetch(&self, batch: &mut Batch) -> usize {
        let mut state = self.lock();
        let before = batch.len();
        while !batch.is_full()
            && let Some(held) = state.inbox.pop_front()
        {
            if let Some(session) =
                state.sessions.get_mut(&held.peer).filter(|session| session.number == held.number)
            {
                session.waiting -= 1;
            }
            if !batch.push(held.peer, held.bytes()) {
                state.counters.dropped_truncated += 1;
            }
        }
        batch.len() - before
    }

    /// Sends the datagrams of a batch, each to its peer's session; how many were handed over.
    pub fn send(&self, batch: &mut Batch) -> Result<usize, TransportError> {
        let mut state = self.lock();
        let mut sent = 0;
        let mut should_dial = false;
        let refused = loop {
            if let Err(error) = refuse_too_long(batch, MTU_BYTES) {
                break Err(error);
            }
            let Some(datagram) = batch.iter().next() else {
                break Ok(());
            };
            let (peer, bytes) = (datagram.address(), datagram.bytes());
            let is_queued = match state.sessions.contains_key(&peer) {
                true => state.queue(&self.config, peer, bytes),
                false => state.keep_early(peer, bytes, &mut should_dial),
            };
            sent += usize::from(is_queued);
            batch.consume(1);
        };
        drop(state);
        if should_dial {
            self.dial.notify_one();
        }
        refused.map(|()| sent)
    }

    /// Whether there is something to fetch. Events have rung the bell, once: whoever does not poll them must not be kept awake.
    pub fn has_datagrams(&self) -> bool {
        !self.lock().inbox.is_empty()
    }

    pub fn poll_event(&self) -> Option<TransportEvent> {
        self.lock().events.pop_front()
    }

    pub fn counters(&self) -> Counters {
        self.lock().counters
    }

    pub fn status(&self, peer: PeerAddress) -> PeerStatus {
        let state = self.lock();
        if let Some(session) = state.sessions.get(&peer) {
            let unsent_bytes = session.unsent_bytes(&self.config);
            let room = session.connection.quic_connection().datagram_send_buffer_space();
            let room_bytes = room.saturating_sub(SESSION_BYTES_MAX).min(MTU_BYTES);
            return PeerStatus { state: PeerState::Connected, unsent_bytes, room_bytes };
        }
        match &state.dialing {
            Some(dialing) if dialing.server == peer && dialing.is_connecting => {
                let has_room = dialing.early.len() < EARLY_DATAGRAMS_MAX;
                PeerStatus {
                    state: PeerState::Connecting,
                    unsent_bytes: dialing.early.iter().map(|held| held.length).sum(),
                    room_bytes: if has_room { MTU_BYTES } else { 0 },
                }
            }
            _ => PeerStatus::closed(),
        }
    }
}

impl State {
    fn release(&mut self, network: IpAddr, count: impl FnOnce(&mut Share) -> &mut usize) {
        if let Some(share) = self.shares.get_mut(&network) {
            *count(share) -= 1;
            if share.sessions + share.handshakes == 0 {
                self.shares.remove(&network);
            }
        }
    }

    fn remove(&mut self, peer: PeerAddress) -> Option<Session> {
        let session = self.sessions.remove(&peer)?;
        self.release(peer.network(), |share| &mut share.sessions);
        self.counters.connections_closed += 1;
        Some(session)
    }

    /// Hands a datagram to QUIC. `false`: it was dropped and counted.
    fn queue(&mut self, config: &WebTransportConfig, peer: PeerAddress, bytes: &[u8]) -> bool {
        let Some(session) = self.sessions.get_mut(&peer) else {
            self.counters.dropped_unroutable += 1;
            return false;
        };
        let room = session.connection.quic_connection().datagram_send_buffer_space();
        if room < bytes.len() + SESSION_BYTES_MAX {
            // QUIC would drop older ones instead, and not say how many.
            self.counters.dropped_slow += 1;
            if !std::mem::replace(&mut session.is_slow, true)
                && self.events.len() < config.events_waiting_max()
            {
                let unsent_bytes = session.unsent_bytes(config);
                self.events.push_back(TransportEvent::Slow { peer, unsent_bytes });
            }
            return false;
        }
        session.is_slow &= room < config.unsent_bytes_max / 2;
        match session.connection.send_datagram(bytes) {
            Ok(()) => {
                self.counters.count_sent(bytes.len());
                true
            }
            // The path carries less than it did, or the session has just ended.
            Err(_) => {
                self.counters.dropped_by_system += 1;
                false
            }
        }
    }

    /// Keeps a datagram until the session is there that it is for. `false`: it was dropped and counted.
    fn keep_early(&mut self, peer: PeerAddress, bytes: &[u8], should_dial: &mut bool) -> bool {
        let Some(dialing) = self.dialing.as_mut().filter(|dialing| dialing.server == peer) else {
            self.counters.dropped_unroutable += 1;
            return false;
        };
        *should_dial |= !std::mem::replace(&mut dialing.is_connecting, true);
        if dialing.early.len() >= EARLY_DATAGRAMS_MAX {
            // The newest is worth most.
            dialing.early.pop_front();
            self.counters.dropped_slow += 1;
        }
        dialing.early.extend(Held::new(peer, 0, bytes));
        true
    }
}
