//! Transports in threads of their own, with rings of datagrams in between.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, Thread, ThreadId};

use netloom_transport::{Counters, PeerAddress, Transport, TransportError, Waker};
use netloom_wire::Micros;
use rtrb::{Consumer, Producer, RingBuffer};

use super::direct::Lane;
use super::{Arrival, sum, tagged, untagged};
use crate::clock::Clock;

/// Datagrams that a ring holds, in each direction and for each transport.
pub const RING_DATAGRAMS: usize = 1_024;
/// The longest datagram.
const DATAGRAM_BYTES: usize = netloom_proto::limits::DATAGRAM_MAX;
/// How long an I/O thread sleeps at most without being woken.
const IO_SLEEP_MAX: Micros = Micros::from_millis(50);
/// How often streams are asked whether they keep up.
const CONGESTION_INTERVAL: Micros = Micros::from_millis(10);

/// A datagram in a ring. An empty one says that the stream of the peer has ended, or on the way out that it is to be closed.
struct Packet {
    at: Micros,
    peer: SocketAddr,
    length: usize,
    bytes: [u8; DATAGRAM_BYTES],
}

/// What both threads look at.
struct Shared {
    is_stopping: AtomicBool,
    /// Who has unsent bytes on a stream. The I/O thread writes it a hundred times a second; the game reads it when it sends.
    congested: Mutex<BTreeSet<PeerAddress>>,
    has_congested: AtomicBool,
    counters: Mutex<Counters>,
    /// Datagrams that found the ring to the game full.
    dropped: AtomicU64,
    /// Who waits for what arrives: the thread that was the last to call [`Threaded::wait`]. It changes once, when a server
    /// that was built in one thread begins to run in another.
    game: Mutex<Thread>,
}

/// The game's end of one transport.
struct Lines {
    incoming: Consumer<Packet>,
    outgoing: Producer<Packet>,
    waker: Waker,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<(), TransportError>>>,
    /// Datagrams that found the ring to the transport full.
    dropped: u64,
    is_woken: bool,
    /// Streams that are to be closed as soon as the ring has room: nothing would ever say so again.
    closing: Vec<SocketAddr>,
}

/// Transports in threads of their own.
pub(crate) struct Threaded {
    lanes: Vec<Lines>,
    /// The thread that is woken when something arrives.
    game: ThreadId,
    slot: Box<[u8; DATAGRAM_BYTES]>,
}

impl Threaded {
    /// Starts a thread for each transport. The game's is the one that calls [`wait`](Threaded::wait).
    pub fn start(transports: Vec<Box<dyn Transport>>, clock: Clock) -> Result<Threaded, TransportError> {
        let lanes = transports.into_iter().map(Lane::new).collect::<Result<Vec<_>, _>>()?;
        let lanes = lanes.into_iter().enumerate().map(|(number, lane)| Lines::start(number, lane, clock));
        let game = std::thread::current().id();
        Ok(Threaded { lanes: lanes.collect(), game, slot: Box::new([0; DATAGRAM_BYTES]) })
    }

    pub fn receive(
        &mut self,
        mut handle: impl FnMut(Micros, SocketAddr, Arrival<'_>),
    ) -> Result<(), TransportError> {
        for lane in &mut self.lanes {
            // What arrives meanwhile waits for the next turn.
            for _ in 0..lane.incoming.slots() {
                let Ok(mut packet) = lane.incoming.pop() else { break };
                let (at, peer, length) = (packet.at, packet.peer, packet.length);
                match packet.bytes.get_mut(..length) {
                    Some([]) => handle(at, peer, Arrival::Broken),
                    Some(bytes) => handle(at, peer, Arrival::Datagram(bytes)),
                    None => {}
                }
            }
            if lane.thread.as_ref().is_some_and(JoinHandle::is_finished) {
                match lane.thread.take().map(JoinHandle::join) {
                    Some(Ok(ended)) => ended?,
                    Some(Err(_)) => {
                        tracing::error!("the thread of a transport panicked: nothing comes from it any more")
                    }
                    None => {}
                }
            }
        }
        Ok(())
    }

    pub fn send(
        &mut self,
        mut next: impl FnMut(&mut [u8]) -> Option<(SocketAddr, usize)>,
    ) -> Result<(), TransportError> {
        while let Some((peer, length)) = next(&mut self.slot[..]) {
            let (number, _) = untagged(peer);
            let Some(lane) = self.lanes.get_mut(number) else { continue };
            lane.push(Packet { at: Micros::ZERO, peer, length, bytes: *self.slot });
        }
        for lane in &mut self.lanes {
            lane.push_closing();
            if std::mem::take(&mut lane.is_woken) {
                lane.waker.wake();
            }
        }
        Ok(())
    }

    pub fn close(&mut self, peer: SocketAddr) {
        let (number, _) = untagged(peer);
        let Some(lane) = self.lanes.get_mut(number) else { return };
        lane.closing.push(peer);
        lane.push_closing();
    }

    /// Sleeps until an I/O thread has something, or until `deadline`.
    pub fn wait(&mut self, now: Micros, deadline: Micros) {
        let sleep = deadline.since(now).0.min(1_000_000);
        let is_empty = self.lanes.iter().all(|lane| lane.incoming.is_empty());
        let current = std::thread::current();
        if self.game != current.id() {
            self.game = current.id();
            for lane in &self.lanes {
                *lock(&lane.shared.game) = current.clone();
            }
            // What arrived before has woken another thread.
            return;
        }
        if sleep > 0 && is_empty {
            std::thread::park_timeout(std::time::Duration::from_micros(sleep));
        }
    }

    pub fn has_congested(&self) -> bool {
        self.lanes.iter().any(|lane| lane.shared.has_congested.load(Ordering::Relaxed))
    }

    pub fn is_congested(&self, peer: SocketAddr) -> bool {
        let (number, peer) = untagged(peer);
        self.lanes.get(number).is_some_and(|lane| lock(&lane.shared.congested).contains(&peer))
    }

    pub fn counters(&self) -> Counters {
        sum(self.lanes.iter().map(|lane| {
            let dropped = lane.dropped + lane.shared.dropped.load(Ordering::Relaxed);
            let counters = *lock(&lane.shared.counters);
            Counters { dropped_slow: counters.dropped_slow + dropped, ..counters }
        }))
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.shared.is_stopping.store(true, Ordering::Release);
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            // What it says now concerns nobody any more.
            drop(thread.join());
        }
    }
}

impl Lines {
    fn push(&mut self, packet: Packet) {
        self.dropped += u64::from(self.outgoing.push(packet).is_err());
        self.is_woken = true;
    }

    fn push_closing(&mut self) {
        while !self.outgoing.is_full()
            && let Some(peer) = self.closing.pop()
        {
            self.push(Packet { at: Micros::ZERO, peer, length: 0, bytes: [0; DATAGRAM_BYTES] });
        }
    }

    fn start(number: usize, lane: Lane, clock: Clock) -> Lines {
        let (to_game, incoming) = RingBuffer::new(RING_DATAGRAMS);
        let (outgoing, from_game) = RingBuffer::new(RING_DATAGRAMS);
        let shared = Arc::new(Shared {
            is_stopping: AtomicBool::new(false),
            congested: Mutex::default(),
            has_congested: AtomicBool::new(false),
            counters: Mutex::default(),
            dropped: AtomicU64::new(0),
            game: Mutex::new(std::thread::current()),
        });
        let waker = lane.transport.waker();
        let io = Io { number, lane, to_game, from_game, shared: Arc::clone(&shared), clock };
        let thread = std::thread::Builder::new().name(format!("netloom-io-{number}")).spawn(|| io.run());
        let thread = thread.inspect_err(|error| tracing::error!(%error, "no thread for a transport")).ok();
        Lines { incoming, outgoing, waker, shared, thread, dropped: 0, is_woken: false, closing: Vec::new() }
    }
}

/// The thread of a transport.
struct Io {
    number: usize,
    lane: Lane,
    to_game: Producer<Packet>,
    from_game: Consumer<Packet>,
    shared: Arc<Shared>,
    clock: Clock,
}

impl Io {
    fn run(mut self) -> Result<(), TransportError> {
        let mut looked_at = Micros::ZERO;
        loop {
            let is_stopping = self.shared.is_stopping.load(Ordering::Acquire);
            self.send()?;
            if is_stopping {
                return Ok(());
            }
            if self.receive()? {
                lock(&self.shared.game).unpark();
            }
            let now = self.clock.now();
            if now.since(looked_at) >= CONGESTION_INTERVAL {
                looked_at = now;
                self.look_at_streams();
            }
            self.lane.transport.wait(now, now + IO_SLEEP_MAX)?;
        }
    }

    fn send(&mut self) -> Result<(), TransportError> {
        while let Ok(packet) = self.from_game.pop() {
            let (_, peer) = untagged(packet.peer);
            match packet.bytes.get(..packet.length) {
                Some([]) => {
                    // What was sent before goes out before.
                    self.lane.flush(self.clock.now())?;
                    self.lane.close(peer);
                }
                Some(bytes) => drop(self.lane.batch.push(peer, bytes)),
                None => {}
            }
            if self.lane.batch.is_full() {
                self.lane.flush(self.clock.now())?;
            }
        }
        self.lane.flush(self.clock.now())
    }

    /// Whether something arrived.
    fn receive(&mut self) -> Result<bool, TransportError> {
        let mut has_arrived = false;
        loop {
            let at = self.clock.now();
            let count = self.lane.transport.receive(at, &mut self.lane.batch)?;
            for datagram in self.lane.batch.iter() {
                let mut packet = Packet {
                    at,
                    peer: tagged(self.number, datagram.address()),
                    length: datagram.bytes().len(),
                    bytes: [0; DATAGRAM_BYTES],
                };
                let Some(place) = packet.bytes.get_mut(..packet.length) else { continue };
                place.copy_from_slice(datagram.bytes());
                if self.to_game.push(packet).is_err() {
                    self.shared.dropped.fetch_add(1, Ordering::Relaxed);
                }
            }
            self.lane.batch.clear();
            has_arrived |= self.follow_peers() || count > 0;
            // A full ring is the game's to empty: more would only be dropped.
            if count == 0 || self.to_game.is_full() {
                return Ok(has_arrived);
            }
        }
    }

    /// Whether somebody's stream ended. If the ring is full, silence will tell.
    fn follow_peers(&mut self) -> bool {
        let Io { number, lane, to_game, clock, .. } = self;
        let mut has_ended = false;
        lane.follow_peers(|peer| {
            let peer = tagged(*number, peer);
            let ended = Packet { at: clock.now(), peer, length: 0, bytes: [0; DATAGRAM_BYTES] };
            has_ended |= to_game.push(ended).is_ok();
        });
        has_ended
    }

    fn look_at_streams(&mut self) {
        *lock(&self.shared.counters) = self.lane.transport.counters();
        let mut congested = lock(&self.shared.congested);
        congested.clear();
        congested.extend(self.lane.congested());
        self.shared.has_congested.store(!congested.is_empty(), Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
