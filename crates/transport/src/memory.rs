//! Peers in one process.
//!
//! The server's own player, offline games and tests want the whole stack without sockets, ports and timing of a real
//! network. Members of a [`MemoryNetwork`] send to each other by number; any number of clients reach one server. Datagrams
//! arrive in order and once, unless the queue of the receiver is full: then they are dropped and counted, as a socket's
//! buffer does, so that a receiver that sleeps never costs memory without bound.
//!
//! ```text
//!   member 1 ── batch ──▶ [ queue of member 0, bounded ] ──▶ batch ── member 0
//!   member 2 ── batch ──▶       buffers are traded, not copied
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use netloom_wire::Micros;

use crate::address::PeerAddress;
use crate::batch::{Batch, Datagram, SLOT_BYTES_LIMIT};
use crate::counters::Counters;
use crate::error::{ConfigError, TransportError, check_range};
use crate::events::EventQueue;
use crate::limits::MTU_BYTES_DEFAULT;
use crate::poll::{Bell, Waker, sleep_time};
use crate::transport::{Capabilities, PeerStatus, Transport, TransportEvent, check_slots, refuse_too_long};

/// What a network in memory is like.
#[derive(Clone, Debug)]
pub struct MemoryConfig {
    /// The longest datagram.
    pub mtu_bytes: usize,
    /// How many datagrams wait for one member at most; their memory is allocated with the member.
    pub queue_datagrams_max: usize,
    /// How many members there may be at a time.
    pub peers_max: usize,
}

impl Default for MemoryConfig {
    fn default() -> MemoryConfig {
        MemoryConfig { mtu_bytes: MTU_BYTES_DEFAULT, queue_datagrams_max: 512, peers_max: 4_096 }
    }
}

impl MemoryConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_range("mtu_bytes", self.mtu_bytes, 1, SLOT_BYTES_LIMIT)?;
        check_range("queue_datagrams_max", self.queue_datagrams_max, 1, 65_536)?;
        check_range("peers_max", self.peers_max, 1, 65_536)
    }
}

/// What waits for a member, and the buffers that wait for it.
#[derive(Debug)]
struct Queue {
    waiting: VecDeque<Datagram>,
    spare: Vec<Datagram>,
}

#[derive(Debug)]
struct Inbox {
    queue: Mutex<Queue>,
    bell: Arc<Bell>,
}

impl Inbox {
    fn new(config: &MemoryConfig) -> Inbox {
        let spare = (0..config.queue_datagrams_max).map(|_| Datagram::new(config.mtu_bytes)).collect();
        let waiting = VecDeque::with_capacity(config.queue_datagrams_max);
        Inbox { queue: Mutex::new(Queue { waiting, spare }), bell: Arc::default() }
    }

    /// A thread that panicked with the lock held has left whole datagrams behind: each change is one push or one pop.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Members {
    inboxes: BTreeMap<u32, Arc<Inbox>>,
    next_id: u32,
}

/// A network inside the process. Clones are the same network.
///
/// ```
/// use netloom_transport::{Batch, MemoryConfig, MemoryNetwork, Micros, Transport};
///
/// let network = MemoryNetwork::new(MemoryConfig::default())?;
/// let (mut server, mut client) = (network.join()?, network.join()?);
/// let mut batch = Batch::new(64, server.capabilities().mtu_bytes)?;
///
/// batch.push(server.local_address(), b"hello");
/// client.send(Micros::ZERO, &mut batch)?;
/// server.receive(Micros::ZERO, &mut batch)?;
/// let datagram = batch.iter().next().expect("it was sent");
/// assert_eq!((datagram.address(), datagram.bytes()), (client.local_address(), &b"hello"[..]));
/// # Ok::<(), netloom_transport::TransportError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryNetwork {
    config: Arc<MemoryConfig>,
    members: Arc<RwLock<Members>>,
}

impl MemoryNetwork {
    /// A network without members.
    pub fn new(config: MemoryConfig) -> Result<MemoryNetwork, ConfigError> {
        config.check()?;
        Ok(MemoryNetwork { config: Arc::new(config), members: Arc::default() })
    }

    /// A new member. The first has the address `memory:0`; no address is used twice.
    pub fn join(&self) -> Result<MemoryTransport, TransportError> {
        let mut members = self.members.write().unwrap_or_else(PoisonError::into_inner);
        let full = TransportError::Full { field: "peers_max", peers_max: self.config.peers_max };
        let id = members.next_id;
        let Some(next_id) = id.checked_add(1).filter(|_| members.inboxes.len() < self.config.peers_max)
        else {
            return Err(full);
        };
        members.next_id = next_id;
        let inbox = Arc::new(Inbox::new(&self.config));
        members.inboxes.insert(id, Arc::clone(&inbox));
        drop(members);
        let (network, events) = (self.clone(), EventQueue::hints());
        Ok(MemoryTransport { network, id, inbox, events, counters: Counters::default() })
    }
}

/// A member of a [`MemoryNetwork`]; it leaves when it is dropped.
#[derive(Debug)]
pub struct MemoryTransport {
    network: MemoryNetwork,
    id: u32,
    inbox: Arc<Inbox>,
    events: EventQueue,
    counters: Counters,
}

impl Drop for MemoryTransport {
    fn drop(&mut self) {
        let mut members = self.network.members.write().unwrap_or_else(PoisonError::into_inner);
        members.inboxes.remove(&self.id);
    }
}

impl MemoryTransport {
    /// Hands the first datagram over to whom it is for.
    fn deliver(&mut self, datagram: &mut Datagram, members: &Members) -> bool {
        let to = datagram.address();
        let inbox = match to {
            PeerAddress::Memory(id) => members.inboxes.get(&id),
            PeerAddress::Socket(_) => None,
        };
        let Some(inbox) = inbox else {
            self.counters.dropped_unroutable += 1;
            self.events.hint(TransportEvent::Unreachable(to));
            return false;
        };
        let mut queue = inbox.lock();
        let Some(mut buffer) = queue.spare.pop() else {
            self.counters.dropped_slow += 1;
            return false;
        };
        let length = datagram.bytes().len();
        buffer.take_over(datagram);
        buffer.address = PeerAddress::Memory(self.id);
        let was_empty = queue.waiting.is_empty();
        queue.waiting.push_back(buffer);
        drop(queue);
        if was_empty {
            inbox.bell.ring();
        }
        self.counters.count_sent(length);
        true
    }
}

impl Transport for MemoryTransport {
    fn capabilities(&self) -> Capabilities {
        let mtu_bytes = self.network.config.mtu_bytes;
        Capabilities { reliable: false, ordered: true, mtu_bytes, secure: true }
    }

    fn local_address(&self) -> PeerAddress {
        PeerAddress::Memory(self.id)
    }

    fn send(&mut self, _now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        let network = self.network.clone();
        let members = network.members.read().unwrap_or_else(PoisonError::into_inner);
        let mut sent = 0;
        while !batch.is_empty() {
            refuse_too_long(batch, network.config.mtu_bytes)?;
            if let Some(datagram) = batch.front_mut() {
                sent += usize::from(self.deliver(datagram, &members));
            }
            batch.consume(1);
        }
        Ok(sent)
    }

    fn receive(&mut self, _now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        check_slots(batch, self.network.config.mtu_bytes)?;
        let mut queue = self.inbox.lock();
        let mut received = 0;
        while let Some(slot) = batch.next_datagram() {
            let Some(mut datagram) = queue.waiting.pop_front() else {
                break;
            };
            self.counters.count_received(datagram.bytes().len());
            slot.take_over(&mut datagram);
            queue.spare.push(datagram);
            batch.extend(1);
            received += 1;
        }
        Ok(received)
    }

    fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError> {
        if self.inbox.lock().waiting.is_empty() {
            self.inbox.bell.wait(sleep_time(now, deadline));
        }
        Ok(())
    }

    fn waker(&self) -> Waker {
        self.inbox.bell.waker()
    }

    fn poll_event(&mut self) -> Option<TransportEvent> {
        self.events.pop()
    }

    fn status(&self, _peer: PeerAddress) -> PeerStatus {
        PeerStatus::connectionless(self.network.config.mtu_bytes)
    }

    fn disconnect(&mut self, _peer: PeerAddress) {}

    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::PeerState;

    fn network(config: MemoryConfig) -> (MemoryTransport, MemoryTransport, MemoryNetwork) {
        let network = MemoryNetwork::new(config).unwrap();
        (network.join().unwrap(), network.join().unwrap(), network)
    }

    #[test]
    fn clients_reach_a_server_in_the_same_process_and_are_answered() {
        let (mut server, mut client, _) = network(MemoryConfig::default());
        let mut batch = Batch::new(4, 1_200).unwrap();
        assert!(batch.push(server.local_address(), b"hello"));
        assert_eq!(client.send(Micros::ZERO, &mut batch).unwrap(), 1);
        assert_eq!(server.receive(Micros::ZERO, &mut batch).unwrap(), 1);
        assert_eq!(batch.iter().next().unwrap().address(), client.local_address());
        assert_eq!(server.send(Micros::ZERO, &mut batch).unwrap(), 1);
        assert_eq!(client.receive(Micros::ZERO, &mut batch).unwrap(), 1);
        assert_eq!(batch.iter().next().unwrap().bytes(), b"hello");
        assert_eq!(client.status(server.local_address()).state, PeerState::Connectionless);
    }

    #[test]
    fn a_full_queue_drops_what_is_new_and_keeps_what_is_old() {
        let (mut server, mut client, _) =
            network(MemoryConfig { queue_datagrams_max: 2, ..MemoryConfig::default() });
        let mut batch = Batch::new(4, 1_200).unwrap();
        for content in [b"1", b"2", b"3"] {
            assert!(batch.push(server.local_address(), content));
        }
        assert_eq!(client.send(Micros::ZERO, &mut batch).unwrap(), 2);
        assert_eq!((client.counters().dropped_slow, batch.len()), (1, 0));
        assert_eq!(server.receive(Micros::ZERO, &mut batch).unwrap(), 2);
        assert_eq!(batch.iter().map(Datagram::bytes).collect::<Vec<_>>(), [b"1", b"2"]);
    }

    #[test]
    fn who_has_left_is_unreachable_and_the_address_is_not_given_away_again() {
        let (server, mut client, network) = network(MemoryConfig::default());
        let gone = server.local_address();
        drop(server);
        let mut batch = Batch::new(4, 1_200).unwrap();
        assert!(batch.push(gone, b"1") && batch.push(gone, b"2"));
        assert_eq!(client.send(Micros::ZERO, &mut batch).unwrap(), 0);
        assert_eq!(client.counters().dropped_unroutable, 2);
        assert_eq!(client.poll_event(), Some(TransportEvent::Unreachable(gone)));
        assert_eq!(client.poll_event(), None, "told once");
        assert_ne!(network.join().unwrap().local_address(), gone);
    }

    #[test]
    fn members_are_limited_and_impossible_settings_named() {
        let (_server, client, full) = network(MemoryConfig { peers_max: 2, ..MemoryConfig::default() });
        let message = full.join().unwrap_err().to_string();
        assert_eq!(message, "there are 2 peers already, which is the limit (`peers_max`)");
        drop(client);
        assert!(full.join().is_ok());
        let error = MemoryNetwork::new(MemoryConfig { mtu_bytes: 0, ..MemoryConfig::default() }).unwrap_err();
        assert_eq!(error.field, "mtu_bytes");
    }
}
