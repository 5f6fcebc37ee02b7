//! A bad line on purpose, around any transport.
//!
//! A game that was only ever played over loopback has never been played. The conditioner wraps a transport and does to
//! its datagrams what a line does: delay, jitter, loss, duplicates, disorder, damage, a bottleneck with its queue, or a
//! pulled plug; from a seed, adjustable while the game runs, and cheap enough for a production build, where it shows
//! what a player with such a line goes through.
//!
//! ```text
//!            ┌──────────────────── Conditioner ────────────────────┐
//!   send ──▶ │ outgoing link ──▶ on their way, by arrival ──▶ inner │ ──▶
//! receive ◀── │ on their way, by arrival ◀── incoming link ◀── inner │ ◀──
//!            └──────────────────────────────────────────────────────┘
//! ```
//!
//! Each direction is one [`Link`], shared by all peers: it is the line that *this* machine has. Latency counts in each
//! direction, so a round trip takes twice that.
//!
//! On a transport that is reliable and ordered nothing may vanish or overtake. There, a loss is what the player of a
//! stream sees of it: everything behind it to the same peer waits for one resend timeout. When too much is on its way,
//! [`send`](Transport::send) leaves the rest in the batch.

mod direction;
mod preset;

use std::time::Duration;

use netloom_wire::Micros;

pub use preset::{PRESETS, UnknownPreset, preset};

use crate::address::PeerAddress;
use crate::batch::Batch;
use crate::counters::Counters;
use crate::error::{TransportError, check_range};
use crate::link::{self, Link, LinkConfig, LinkError};
use crate::poll::{Waker, sleep_time};
use crate::rng::Rng;
use crate::transport::{Capabilities, PeerStatus, Transport, TransportEvent, check_slots, refuse_too_long};
use direction::{Admission, Direction};

/// Datagrams that are moved to and from the inner transport at a time.
const STAGED_DATAGRAMS: usize = 64;

/// How long a driver sleeps at most while a line of a stream is full, or unplugged.
const STALLED_SLEEP_MAX: Duration = Duration::from_millis(1);

/// How a conditioner begins.
#[derive(Clone, Debug)]
pub struct ConditionerConfig {
    /// What happens to what is sent.
    pub outgoing: LinkConfig,
    /// What happens to what is received.
    pub incoming: LinkConfig,
    /// Where every decision is drawn from.
    pub seed: u64,
    /// Datagrams on their way in each direction at most; their memory is allocated as it is needed, and kept. More are lost,
    /// as in a full queue, or on a stream have to wait.
    pub in_flight_max: usize,
}

impl ConditionerConfig {
    /// The same line in both directions.
    pub fn symmetric(line: LinkConfig, seed: u64) -> ConditionerConfig {
        ConditionerConfig { outgoing: line, incoming: line, seed, in_flight_max: 4_096 }
    }
}

/// Why a conditioner could not be made or changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConditionerError {
    /// A property that no line has.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A setting that cannot be.
    #[error(transparent)]
    Config(#[from] crate::error::ConfigError),
}

/// A transport on a bad line.
///
/// ```
/// use netloom_transport::{Conditioner, ConditionerConfig, UdpConfig, UdpTransport, preset};
///
/// let socket = UdpTransport::bind("127.0.0.1:0".parse()?, UdpConfig::default())?;
/// let mut transport = Conditioner::new(socket, ConditionerConfig::symmetric(preset("4G")?, 42))?;
/// transport.set_line(preset("awful")?)?; // while the game runs
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Conditioner<T> {
    inner: T,
    outgoing: Direction,
    incoming: Direction,
    /// What is due and the inner transport has not taken yet.
    due: Batch,
    /// What the inner transport has delivered and the link has not seen yet.
    arrived: Batch,
    is_unplugged: bool,
    /// Peers to be disconnected when what was sent to them has gone.
    leaving: Vec<PeerAddress>,
    /// An event that waits for what was received before it.
    held: Option<TransportEvent>,
    mtu_bytes: usize,
}

impl<T: Transport> Conditioner<T> {
    /// Puts a line before a transport.
    pub fn new(inner: T, config: ConditionerConfig) -> Result<Conditioner<T>, ConditionerError> {
        config.outgoing.check()?;
        config.incoming.check()?;
        check_range("in_flight_max", config.in_flight_max, 1, 65_536)?;
        let Capabilities { reliable, ordered, mtu_bytes, .. } = inner.capabilities();
        let rng = Rng::new(config.seed);
        let direction = |line, label| {
            let link = Link::new(line, rng.fork(label));
            Direction::new(link, reliable && ordered, config.in_flight_max, mtu_bytes)
        };
        Ok(Conditioner {
            outgoing: direction(config.outgoing, "outgoing"),
            incoming: direction(config.incoming, "incoming"),
            due: Batch::new(STAGED_DATAGRAMS, mtu_bytes)?,
            arrived: Batch::new(STAGED_DATAGRAMS, mtu_bytes)?,
            is_unplugged: false,
            leaving: Vec::new(),
            held: None,
            mtu_bytes,
            inner,
        })
    }

    /// Changes both directions, for what is sent and received from now on.
    pub fn set_line(&mut self, line: LinkConfig) -> Result<(), LinkError> {
        self.set_outgoing(line)?;
        self.set_incoming(line)
    }

    /// Changes what happens to what is sent.
    pub fn set_outgoing(&mut self, line: LinkConfig) -> Result<(), LinkError> {
        line.check()?;
        self.outgoing.link.config = line;
        Ok(())
    }

    /// Changes what happens to what is received.
    pub fn set_incoming(&mut self, line: LinkConfig) -> Result<(), LinkError> {
        line.check()?;
        self.incoming.link.config = line;
        Ok(())
    }

    /// Pulls the plug, or puts it back. On a stream, what is sent meanwhile waits.
    pub fn set_unplugged(&mut self, is_unplugged: bool) {
        self.is_unplugged = is_unplugged;
    }

    /// What the line did to what was sent.
    pub fn outgoing(&self) -> &link::Counters {
        &self.outgoing.link.counters
    }

    /// What the line did to what was received.
    pub fn incoming(&self) -> &link::Counters {
        &self.incoming.link.counters
    }

    /// The transport behind the line.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// Hands over to the inner transport what is due.
    fn pump(&mut self, now: Micros) -> Result<(), TransportError> {
        loop {
            self.outgoing.release(now, &mut self.due);
            if self.due.is_empty() {
                break;
            }
            self.inner.send(now, &mut self.due)?;
            if !self.due.is_empty() {
                return Ok(());
            }
        }
        let Conditioner { inner, outgoing, leaving, .. } = self;
        leaving.retain(|&peer| {
            let is_waiting = outgoing.holds(peer);
            if !is_waiting {
                inner.disconnect(peer);
            }
            is_waiting
        });
        Ok(())
    }

    /// Puts what has arrived on its way along the incoming link.
    fn pull(&mut self, now: Micros) -> Result<(), TransportError> {
        // As often as fills the line: a flood must not keep the driver here.
        for _ in 0..=self.incoming.in_flight_max() / STAGED_DATAGRAMS {
            while let Some(datagram) = self.arrived.front_mut() {
                if self.incoming.admit(now, datagram, self.is_unplugged) == Admission::NoRoom {
                    return Ok(());
                }
                self.arrived.consume(1);
            }
            if self.inner.receive(now, &mut self.arrived)? == 0 {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl<T: Transport> Transport for Conditioner<T> {
    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        // A datagram transport that keeps order does so no longer.
        Capabilities { ordered: inner.reliable && inner.ordered, ..inner }
    }

    fn local_address(&self) -> PeerAddress {
        self.inner.local_address()
    }

    fn send(&mut self, now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        let mut sent = 0;
        while !batch.is_empty() {
            refuse_too_long(batch, self.mtu_bytes)?;
            if let Some(datagram) = batch.front_mut()
                && self.outgoing.admit(now, datagram, self.is_unplugged) == Admission::NoRoom
            {
                break;
            }
            batch.consume(1);
            sent += 1;
        }
        self.pump(now)?;
        Ok(sent)
    }

    fn receive(&mut self, now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        check_slots(batch, self.mtu_bytes)?;
        self.pump(now)?;
        self.pull(now)?;
        let before = batch.len();
        self.incoming.release(now, batch);
        Ok(batch.len() - before)
    }

    fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError> {
        // What is due and was not taken waits for the inner transport, which knows when to wake.
        let next_outgoing = self.outgoing.next_at().filter(|_| self.due.is_empty());
        let next = [next_outgoing, self.incoming.next_at()].into_iter().flatten().min();
        let deadline = next.map_or(deadline, |next| deadline.min(next));
        if self.arrived.is_empty() {
            return self.inner.wait(now, deadline);
        }
        // The line takes nothing more, and the inner transport would not sleep, because it has more.
        std::thread::sleep(sleep_time(now, deadline).min(STALLED_SLEEP_MAX));
        Ok(())
    }

    fn waker(&self) -> Waker {
        self.inner.waker()
    }

    fn poll_event(&mut self) -> Option<TransportEvent> {
        let event = self.held.take().or_else(|| self.inner.poll_event())?;
        match event {
            TransportEvent::Closed { peer, .. } if self.incoming.holds(peer) => {
                self.held = Some(event);
                None
            }
            _ => Some(event),
        }
    }

    fn status(&self, peer: PeerAddress) -> PeerStatus {
        self.inner.status(peer)
    }

    fn disconnect(&mut self, peer: PeerAddress) {
        let is_waiting =
            self.outgoing.holds(peer) || self.due.iter().any(|datagram| datagram.address() == peer);
        if is_waiting {
            self.leaving.push(peer);
        } else {
            self.inner.disconnect(peer);
        }
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}
