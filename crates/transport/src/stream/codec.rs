//! What the bytes of a stream mean: the part in which transports over streams differ.

use std::fmt;
use std::io;

use netloom_wire::Micros;

use super::TcpConfig;
use crate::address::PeerAddress;
use crate::batch::Batch;
use crate::counters::Counters;
use crate::transport::CloseReason;

/// Which end of a connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The one that was connected to.
    Accepted,
    /// The one that connects, to this address.
    Connecting(PeerAddress),
}

/// Where a codec puts what it has read.
pub(crate) struct Delivery<'a> {
    pub now: Micros,
    pub peer: PeerAddress,
    pub batch: &'a mut Batch,
    pub counters: &'a mut Counters,
}

impl Delivery<'_> {
    pub fn has_room(&self) -> bool {
        !self.batch.is_full()
    }

    pub fn datagram(&mut self, bytes: &[u8]) {
        if self.batch.push(self.peer, bytes) {
            self.counters.count_received(bytes.len());
        }
    }
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The stream is over: nothing can be said any more.
    Gone(CloseReason),
    /// This side is done with it, or the peer said goodbye.
    Closed(CloseReason),
    /// It never became a connection of a peer, and what waits to be sent says why.
    Refused,
    /// It never was to become one: it asked for something, and what waits to be sent is the answer.
    Answered,
}

/// What the bytes of a stream mean.
pub(crate) trait Codec: fmt::Debug + Send + Sized {
    /// What all connections of a transport share.
    type Shared: fmt::Debug + Send;

    /// How errors call it.
    const PROTOCOL: &'static str;

    /// What it adds to a datagram at most.
    const HEADER_BYTES_MAX: usize;

    fn new(shared: &mut Self::Shared, config: &TcpConfig, side: Side) -> io::Result<Self>;

    /// How long the greeting may take.
    fn greeting_timeout(shared: &Self::Shared) -> Micros;

    /// Whether the greeting is over, so that datagrams may be sent.
    fn is_open(&self) -> bool;

    /// The next bytes to be written. More may wait behind them.
    fn unsent(&self) -> &[u8];

    /// All that waits.
    fn unsent_bytes(&self) -> usize;

    /// Forgets the first bytes of [`unsent`](Self::unsent): they were written.
    fn consume(&mut self, count: usize);

    /// Adds a datagram to what waits, whole or not at all.
    fn queue(&mut self, shared: &mut Self::Shared, datagram: &[u8]) -> bool;

    /// What has arrived and was not delivered.
    fn buffered_bytes(&self) -> usize;

    /// Takes what has arrived, which is at most [`read_bytes_max`](super::read_bytes_max) together with what is buffered.
    fn push(&mut self, bytes: &[u8]);

    /// Delivers datagrams while there is room for them.
    fn deliver(&mut self, shared: &mut Self::Shared, delivery: &mut Delivery<'_>) -> Result<(), Ending>;

    /// Adds to what waits what is to be said last, and tells how long to stay so that the peer reads it; `None`: not at all.
    /// Without a reason the caller wants it to end.
    fn say_goodbye(&mut self, shared: &mut Self::Shared, ending: Option<Ending>) -> Option<Micros>;
}

/// The interface of a transport that is a table of streams in the field `streams`.
macro_rules! transport_over_streams {
    ($transport:ty) => {
        impl $crate::transport::Transport for $transport {
            fn capabilities(&self) -> $crate::transport::Capabilities {
                self.streams.capabilities()
            }

            fn local_address(&self) -> $crate::address::PeerAddress {
                self.streams.local_address()
            }

            fn send(
                &mut self,
                _now: netloom_wire::Micros,
                batch: &mut $crate::batch::Batch,
            ) -> Result<usize, $crate::error::TransportError> {
                self.streams.send(batch)
            }

            fn receive(
                &mut self,
                now: netloom_wire::Micros,
                batch: &mut $crate::batch::Batch,
            ) -> Result<usize, $crate::error::TransportError> {
                self.streams.receive(now, batch)
            }

            fn wait(
                &mut self,
                now: netloom_wire::Micros,
                deadline: netloom_wire::Micros,
            ) -> Result<(), $crate::error::TransportError> {
                self.streams.wait(now, deadline)
            }

            fn waker(&self) -> $crate::poll::Waker {
                self.streams.waker()
            }

            fn poll_event(&mut self) -> Option<$crate::transport::TransportEvent> {
                self.streams.poll_event()
            }

            fn status(&self, peer: $crate::address::PeerAddress) -> $crate::transport::PeerStatus {
                self.streams.status(peer)
            }

            fn disconnect(&mut self, peer: $crate::address::PeerAddress) {
                self.streams.disconnect(peer);
            }

            fn counters(&self) -> $crate::counters::Counters {
                self.streams.counters()
            }
        }
    };
}
pub(crate) use transport_over_streams;
