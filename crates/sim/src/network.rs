//! A network that a seed reproduces.
//!
//! Protocol bugs live in orders of events that a real network produces once in a million: the acknowledgement that
//! arrives after the resend, the copy that arrives after the session. Here the network is a priority queue in virtual
//! time, every disturbance is drawn from a seed, and equal inputs give equal outputs to the byte.
//!
//! ```text
//!  node (socket 10.0.0.2:1)      NAT              path                      node (socket 10.0.0.1:1)
//!  send ───────────────────▶ external address ▶ link a→b: one `Link` ▶ heap by (arrival, order) ▶ poll
//! ```
//!
//! A node is known to itself by its *socket* address, which never changes, and to others by its *external* address,
//! which [`Network::rebind`] changes as a NAT does: datagrams leave with the new one and those to the old one vanish.
//! Links and partitions are between sockets, so they survive a rebinding. A datagram whose sender is no node has a
//! spoofed source: it travels over the default link, and replies to it vanish.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use netloom_wire::Micros;

pub use netloom_transport::link::{
    Bandwidth, Buffer, Counters, HEADER_OVERHEAD_BYTES, LinkConfig, LinkError, Loss,
};

use crate::rng::Rng;
use netloom_transport::link::Link;

/// Stands for all senders that are no nodes.
const SPOOFED: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// Why an address could not change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RebindError {
    /// No node has the old address.
    #[error("no node has the external address {0}")]
    Unknown(SocketAddr),
    /// Another node has the new address.
    #[error("the external address {0} belongs to another node")]
    Taken(SocketAddr),
}

/// A datagram's arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it arrived.
    pub at: Micros,
    /// When it was sent.
    pub sent_at: Micros,
    /// The sender's external address at that time.
    pub from: SocketAddr,
    /// The socket of the node that receives it.
    pub to: SocketAddr,
}

#[derive(Debug)]
struct InFlight {
    sent_at: Micros,
    from_external: SocketAddr,
    to_external: SocketAddr,
    link: (SocketAddr, SocketAddr),
    datagram: Vec<u8>,
}

/// Nodes, the links between them and what is on its way.
#[derive(Debug)]
pub struct Network {
    rng: Rng,
    default_link: LinkConfig,
    links: BTreeMap<(SocketAddr, SocketAddr), Link>,
    blocked: BTreeSet<(SocketAddr, SocketAddr)>,
    external_of: BTreeMap<SocketAddr, SocketAddr>,
    socket_of: BTreeMap<SocketAddr, SocketAddr>,
    // (arrival, order of sending, slot): the order breaks ties, so that a heap's inner layout never shows.
    arrivals: BinaryHeap<Reverse<(Micros, u64, usize)>>,
    slots: Vec<Option<InFlight>>,
    free_slots: Vec<usize>,
    spare: Vec<Vec<u8>>,
    order: u64,
}

impl Network {
    /// A network without nodes, whose links are `default_link` until [`Network::set_link`] says otherwise.
    pub fn new(seed: u64, default_link: LinkConfig) -> Result<Network, LinkError> {
        default_link.check()?;
        Ok(Network {
            rng: Rng::new(seed).fork("network"),
            default_link,
            links: BTreeMap::new(),
            blocked: BTreeSet::new(),
            external_of: BTreeMap::new(),
            socket_of: BTreeMap::new(),
            arrivals: BinaryHeap::new(),
            slots: Vec::new(),
            free_slots: Vec::new(),
            spare: Vec::new(),
            order: 0,
        })
    }

    /// Adds a node, whose external address is its socket until it is rebound.
    pub fn add_node(&mut self, socket: SocketAddr) {
        self.external_of.insert(socket, socket);
        self.socket_of.insert(socket, socket);
    }

    /// Replaces the direction from one socket to another, for datagrams sent from now on.
    pub fn set_link(
        &mut self,
        from: SocketAddr,
        to: SocketAddr,
        config: LinkConfig,
    ) -> Result<(), LinkError> {
        config.check()?;
        self.link(from, to).config = config;
        Ok(())
    }

    /// Makes everything sent from one socket to another vanish.
    pub fn block(&mut self, from: SocketAddr, to: SocketAddr) {
        self.blocked.insert((from, to));
    }

    /// Ends a [`Network::block`].
    pub fn unblock(&mut self, from: SocketAddr, to: SocketAddr) {
        self.blocked.remove(&(from, to));
    }

    /// Blocks both directions between two sockets.
    pub fn partition(&mut self, a: SocketAddr, b: SocketAddr) {
        self.block(a, b);
        self.block(b, a);
    }

    /// Unblocks both directions between two sockets.
    pub fn heal(&mut self, a: SocketAddr, b: SocketAddr) {
        self.unblock(a, b);
        self.unblock(b, a);
    }

    /// Gives the node behind `old_external` another external address, as a NAT does that forgot its mapping.
    pub fn rebind(&mut self, old_external: SocketAddr, new_external: SocketAddr) -> Result<(), RebindError> {
        if self.socket_of.contains_key(&new_external) {
            return Err(RebindError::Taken(new_external));
        }
        let socket = self.socket_of.remove(&old_external).ok_or(RebindError::Unknown(old_external))?;
        self.socket_of.insert(new_external, socket);
        self.external_of.insert(socket, new_external);
        Ok(())
    }

    /// The address that others see for a node; the socket itself if it is no node.
    pub fn external(&self, socket: SocketAddr) -> SocketAddr {
        self.external_of.get(&socket).copied().unwrap_or(socket)
    }

    /// Sends a datagram from a node's socket to an external address.
    pub fn send(&mut self, now: Micros, from: SocketAddr, to: SocketAddr, datagram: &[u8]) {
        let from_external = self.external(from);
        let to_socket = self.socket_of.get(&to).copied().unwrap_or(to);
        let from_socket = if self.external_of.contains_key(&from) { from } else { SPOOFED };
        let key = (from_socket, to_socket);
        let is_blocked = self.blocked.contains(&key);
        let copies = self.link(from_socket, to_socket).admit(now, datagram.len(), is_blocked);
        for mut copy in copies.into_iter().flatten() {
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.clear();
            bytes.extend_from_slice(datagram);
            if copy.is_damaged {
                let length = self.link(from_socket, to_socket).damage(&mut bytes, &mut copy.rng);
                bytes.truncate(length);
            }
            let in_flight =
                InFlight { sent_at: now, from_external, to_external: to, link: key, datagram: bytes };
            self.enqueue(copy.at, in_flight);
        }
    }

    /// When the next datagram arrives.
    pub fn next_delivery(&self) -> Option<Micros> {
        self.arrivals.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next datagram that has arrived by `now`; its bytes replace those in `datagram`.
    pub fn poll_delivery(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<Delivery> {
        while self.next_delivery().is_some_and(|at| at <= now) {
            let Reverse((at, _, slot)) = self.arrivals.pop()?;
            let mut arrived = self.slots[slot].take()?;
            self.free_slots.push(slot);
            let socket = self.socket_of.get(&arrived.to_external).copied();
            let counters = &mut self.link(arrived.link.0, arrived.link.1).counters;
            let Some(to) = socket else {
                counters.lost_unroutable += 1;
                self.spare.push(arrived.datagram);
                continue;
            };
            counters.delivered += 1;
            counters.delivered_bytes += arrived.datagram.len() as u64;
            // Swapped, not copied: the caller's old storage carries a later datagram.
            std::mem::swap(datagram, &mut arrived.datagram);
            self.spare.push(arrived.datagram);
            return Some(Delivery { at, sent_at: arrived.sent_at, from: arrived.from_external, to });
        }
        None
    }

    /// How long a datagram sent now would wait in the bottleneck's queue.
    pub fn queue_delay(&self, now: Micros, from: SocketAddr, to: SocketAddr) -> Micros {
        self.links.get(&(from, to)).map_or(Micros::ZERO, |link| link.queue_delay(now))
    }

    /// How many datagrams are on their way.
    pub fn in_flight(&self) -> usize {
        self.arrivals.len()
    }

    /// What happened between two sockets in one direction.
    pub fn link_counters(&self, from: SocketAddr, to: SocketAddr) -> Counters {
        self.links.get(&(from, to)).map_or_else(Counters::default, |link| link.counters)
    }

    /// What happened on all links together.
    pub fn counters(&self) -> Counters {
        let mut total = Counters::default();
        for link in self.links.values() {
            total.add(&link.counters);
        }
        total
    }

    fn link(&mut self, from: SocketAddr, to: SocketAddr) -> &mut Link {
        self.links.entry((from, to)).or_insert_with(|| {
            let rng = self.rng.fork(&format!("{from}>{to}"));
            Link::new(self.default_link, rng)
        })
    }

    fn enqueue(&mut self, at: Micros, in_flight: InFlight) {
        let slot = match self.free_slots.pop() {
            Some(slot) => {
                self.slots[slot] = Some(in_flight);
                slot
            }
            None => {
                self.slots.push(Some(in_flight));
                self.slots.len() - 1
            }
        };
        self.arrivals.push(Reverse((at, self.order, slot)));
        self.order += 1;
    }
}

#[cfg(test)]
mod tests;
