//! Transports that the calling thread drives.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use netloom_proto::limits::DATAGRAM_MAX;
use netloom_transport::{Batch, Counters, PeerAddress, PeerState, Transport, TransportError, TransportEvent};
use netloom_wire::Micros;

use super::{Arrival, sum, tagged, untagged};

/// Datagrams per batch.
const BATCH: usize = 64;
/// Batches that one transport may deliver in a turn: a flood must not keep the game from its step.
const BATCHES_PER_TURN: usize = 32;
/// The longest sleep where several transports are to be looked at, and only one can be slept on.
const LOOK_AROUND: Micros = Micros::from_millis(1);

/// A transport, and what waits for it.
pub(super) struct Lane {
    pub transport: Box<dyn Transport>,
    pub batch: Batch,
    is_stream: bool,
    /// Who is connected, on a stream.
    open: BTreeSet<PeerAddress>,
}

impl Lane {
    pub fn new(transport: Box<dyn Transport>) -> Result<Lane, TransportError> {
        let capabilities = transport.capabilities();
        // What this side may send is one thing, what the other may is another.
        let batch = Batch::new(BATCH, capabilities.mtu_bytes.max(DATAGRAM_MAX))?;
        let is_stream = capabilities.reliable && capabilities.ordered;
        Ok(Lane { transport, batch, is_stream, open: BTreeSet::new() })
    }

    /// Who came and went; those whose streams ended by themselves are told.
    pub fn follow_peers(&mut self, mut broken: impl FnMut(PeerAddress)) {
        while let Some(event) = self.transport.poll_event() {
            match event {
                TransportEvent::Opened(peer) if self.is_stream => drop(self.open.insert(peer)),
                TransportEvent::Closed { peer, reason } => {
                    tracing::debug!(%peer, %reason, "a stream closed");
                    self.open.remove(&peer);
                    broken(peer);
                }
                TransportEvent::Slow { peer, unsent_bytes } => {
                    tracing::warn!(%peer, unsent_bytes, "a peer reads too slowly");
                }
                TransportEvent::Opened(_) | TransportEvent::Unreachable(_) => {}
            }
        }
    }

    /// Ends the stream of a peer.
    pub fn close(&mut self, peer: PeerAddress) {
        self.transport.disconnect(peer);
        self.open.remove(&peer);
    }

    /// Those on streams who have something unsent.
    pub fn congested(&self) -> impl Iterator<Item = PeerAddress> {
        self.open.iter().copied().filter(|peer| self.is_congested(*peer))
    }

    /// Sends what is in the batch. What would block is lost, as on any network: the connection sends it again.
    pub fn flush(&mut self, now: Micros) -> Result<(), TransportError> {
        while !self.batch.is_empty() {
            match self.transport.send(now, &mut self.batch) {
                Ok(0) => break,
                // It was taken out; those behind it wait.
                Ok(_) | Err(TransportError::TooLong { .. } | TransportError::WrongAddress { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.batch.clear();
        Ok(())
    }

    /// Whether a peer on a stream has something unsent.
    pub fn is_congested(&self, peer: PeerAddress) -> bool {
        if !self.is_stream {
            return false;
        }
        let status = self.transport.status(peer);
        status.state == PeerState::Connected && status.unsent_bytes > 0
    }
}

/// Transports of the calling thread.
pub(crate) struct Direct {
    lanes: Vec<Lane>,
    slot: Box<[u8]>,
}

impl Direct {
    pub fn new(transports: Vec<Box<dyn Transport>>) -> Result<Direct, TransportError> {
        let lanes: Vec<Lane> = transports.into_iter().map(Lane::new).collect::<Result<_, _>>()?;
        let longest = lanes.iter().map(|lane| lane.batch.slot_bytes()).max().unwrap_or(0);
        Ok(Direct { lanes, slot: vec![0; longest].into() })
    }

    pub fn receive(
        &mut self,
        now: Micros,
        mut handle: impl FnMut(Micros, SocketAddr, Arrival<'_>),
    ) -> Result<(), TransportError> {
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            for _ in 0..BATCHES_PER_TURN {
                let count = lane.transport.receive(now, &mut lane.batch)?;
                let has_more = count > 0 && (lane.is_stream || lane.batch.is_full());
                if lane.batch.len() > 1 {
                    lane.batch.iter().for_each(|datagram| {
                        handle(now, tagged(number, datagram.address()), Arrival::Next(datagram.bytes()));
                    });
                }
                for datagram in lane.batch.iter_mut() {
                    let from = tagged(number, datagram.address());
                    handle(now, from, Arrival::Datagram(datagram.bytes_mut()));
                }
                lane.batch.clear();
                if !has_more {
                    break;
                }
            }
            lane.follow_peers(|peer| handle(now, tagged(number, peer), Arrival::Broken));
        }
        Ok(())
    }

    pub fn send(
        &mut self,
        now: Micros,
        mut next: impl FnMut(&mut [u8]) -> Option<(SocketAddr, usize)>,
    ) -> Result<(), TransportError> {
        if let [lane] = &mut self.lanes[..] {
            // One transport: datagrams are written where they are sent from.
            loop {
                while let Some(slot) = lane.batch.next_slot()
                    && let Some((to, length)) = next(slot)
                {
                    lane.batch.commit(to.into(), length);
                }
                if lane.batch.is_empty() {
                    return Ok(());
                }
                lane.flush(now)?;
            }
        }
        while let Some((to, length)) = next(&mut self.slot) {
            let (number, peer) = untagged(to);
            let Some(lane) = self.lanes.get_mut(number) else { continue };
            lane.batch.push(peer, &self.slot[..length]);
            if lane.batch.is_full() {
                lane.flush(now)?;
            }
        }
        self.lanes.iter_mut().try_for_each(|lane| lane.flush(now))
    }

    pub fn close(&mut self, peer: SocketAddr) {
        let (number, peer) = untagged(peer);
        if let Some(lane) = self.lanes.get_mut(number) {
            lane.close(peer);
        }
    }

    pub fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError> {
        let several = self.lanes.len() > 1;
        let Some(lane) = self.lanes.first_mut() else { return Ok(()) };
        let deadline = if several { deadline.min(now + LOOK_AROUND) } else { deadline };
        lane.transport.wait(now, deadline)
    }

    pub fn has_congested(&self) -> bool {
        self.lanes.iter().any(|lane| !lane.open.is_empty())
    }

    pub fn is_congested(&self, peer: SocketAddr) -> bool {
        let (number, peer) = untagged(peer);
        self.lanes.get(number).is_some_and(|lane| lane.is_congested(peer))
    }

    pub fn counters(&self) -> Counters {
        sum(self.lanes.iter().map(|lane| lane.transport.counters()))
    }
}
