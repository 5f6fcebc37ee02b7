//! The one interface, and what is told through it.

use std::io;

use netloom_wire::Micros;
use netloom_wire::message::FrameError;

use crate::address::PeerAddress;
use crate::batch::Batch;
use crate::counters::Counters;
use crate::error::TransportError;
use crate::poll::Waker;
use crate::websocket::{UpgradeError, WebSocketError};

/// What a transport promises about the datagrams that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// What was sent arrives, or the peer is closed. What is dropped before it is sent is counted.
    pub reliable: bool,
    /// What arrives from one peer arrives in the order in which it was sent.
    pub ordered: bool,
    /// The longest datagram that it carries.
    pub mtu_bytes: usize,
    /// Nobody between the peers can read or change what is sent. Without this, the connection above must encrypt.
    pub secure: bool,
}

/// Where a peer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerState {
    /// The transport has no connections: any address may be sent to, and nothing is known of who is there.
    Connectionless,
    /// A connection is being made. What is sent waits for it.
    Connecting,
    /// There is a connection.
    Connected,
    /// There is no connection.
    Closed,
}

/// What is known of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerStatus {
    /// Where it stands.
    pub state: PeerState,
    /// Bytes that were accepted for it and wait in this process.
    pub unsent_bytes: usize,
    /// How long a datagram may be for which there is room now; zero if there is none. On a stream, a sender of states
    /// waits until `unsent_bytes` is zero and then sends the newest instead of queueing what is old on arrival.
    pub room_bytes: usize,
}

impl PeerStatus {
    pub(crate) fn connectionless(room_bytes: usize) -> PeerStatus {
        PeerStatus { state: PeerState::Connectionless, unsent_bytes: 0, room_bytes }
    }

    /// Of a peer to whom there is no connection.
    pub fn closed() -> PeerStatus {
        PeerStatus { state: PeerState::Closed, unsent_bytes: 0, room_bytes: 0 }
    }
}

/// Why a connection ended that this side did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    /// The peer closed it.
    #[error("the peer closed the connection")]
    ByPeer,
    /// The peer closed it and said why.
    #[error("the peer closed the connection with the code {0}")]
    ByPeerWithCode(u16),
    /// It could not be made.
    #[error("the connection could not be made: {0}")]
    NotMade(io::ErrorKind),
    /// It broke.
    #[error("the connection broke: {0}")]
    Broken(io::ErrorKind),
    /// The peer sent what is no frame.
    #[error("the peer does not speak this protocol: {0}")]
    NotFrames(FrameError),
    /// The peer sent a frame that is no datagram.
    #[error("the peer does not speak this protocol: it sent a frame with the id {0}")]
    UnknownFrame(u16),
    /// The server did not switch to WebSocket.
    #[error("the server did not switch to WebSocket: {0}")]
    NotUpgraded(UpgradeError),
    /// The peer sent what a WebSocket must not.
    #[error("the peer does not speak this protocol: {0}")]
    NotWebSocket(WebSocketError),
    /// The peer sent no whole datagram in the time that it has for its first.
    #[error("the peer sent nothing")]
    Silent,
}

/// What became of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportEvent {
    /// A connection was made, by either side.
    Opened(PeerAddress),
    /// A connection ended, and not by [`Transport::disconnect`].
    Closed {
        /// Whose.
        peer: PeerAddress,
        /// Why.
        reason: CloseReason,
    },
    /// A peer reads too slowly: what is sent to it is dropped until it has read half of what waits. Told once each time.
    Slow {
        /// Who.
        peer: PeerAddress,
        /// What waits for it.
        unsent_bytes: usize,
    },
    /// Somebody says that there is nobody at this address. Anybody can say that: it is a hint, and nothing was closed.
    Unreachable(PeerAddress),
}

/// Carries datagrams. Client and server are the same.
///
/// Nothing here blocks but [`wait`](Self::wait). `now` is the driver's clock, the one that the core is given.
///
/// One turn of a driver, for an endpoint that is fed by `handle_datagram` and drained by `poll_transmit`:
///
/// ```text
///   receive ──▶ each datagram: handle_datagram ──▶ game ──▶ poll_transmit into next_slot, commit ──▶ send ──▶ wait
/// ```
pub trait Transport: Send {
    /// What it promises.
    fn capabilities(&self) -> Capabilities;

    /// Where it can be reached, with the port that the system chose if it was asked to choose.
    fn local_address(&self) -> PeerAddress;

    /// Sends from the front of a batch and returns how many were handed over. Those, and those that cannot be sent at
    /// all (they are counted), leave the batch; what is left would block: [`wait`](Self::wait) and send again, or forget it.
    fn send(&mut self, now: Micros, batch: &mut Batch) -> Result<usize, TransportError>;

    /// Receives into the free slots of a batch and returns how many there are more. Zero: nothing is there now. Where datagrams
    /// come by themselves and not on streams, fewer than there was room for means that, too.
    fn receive(&mut self, now: Micros, batch: &mut Batch) -> Result<usize, TransportError>;

    /// Sleeps until something may have arrived or may be sent that could not, until a [`Waker`] is used, or until
    /// `deadline`. It may return early.
    fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError>;

    /// Ends [`wait`](Self::wait) from another thread.
    fn waker(&self) -> Waker;

    /// What became of peers. Call until `None`, after receiving: what a closed peer had sent comes first.
    fn poll_event(&mut self) -> Option<TransportEvent>;

    /// What is known of a peer.
    fn status(&self, peer: PeerAddress) -> PeerStatus;

    /// Ends the connection of a peer, if there is one; what waits for it is sent if that needs no waiting.
    fn disconnect(&mut self, peer: PeerAddress);

    /// What happened so far.
    fn counters(&self) -> Counters;
}

impl<T: Transport + ?Sized> Transport for Box<T> {
    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
    }

    fn local_address(&self) -> PeerAddress {
        (**self).local_address()
    }

    fn send(&mut self, now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        (**self).send(now, batch)
    }

    fn receive(&mut self, now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        (**self).receive(now, batch)
    }

    fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError> {
        (**self).wait(now, deadline)
    }

    fn waker(&self) -> Waker {
        (**self).waker()
    }

    fn poll_event(&mut self) -> Option<TransportEvent> {
        (**self).poll_event()
    }

    fn status(&self, peer: PeerAddress) -> PeerStatus {
        (**self).status(peer)
    }

    fn disconnect(&mut self, peer: PeerAddress) {
        (**self).disconnect(peer);
    }

    fn counters(&self) -> Counters {
        (**self).counters()
    }
}

/// Refuses a batch that could not hold what the transport may deliver.
pub fn check_slots(batch: &Batch, mtu_bytes: usize) -> Result<(), TransportError> {
    match batch.slot_bytes() {
        slot_bytes if slot_bytes < mtu_bytes => Err(TransportError::ShortSlots { slot_bytes, mtu_bytes }),
        _ => Ok(()),
    }
}

/// Takes the first datagram out of a batch if it is too long, and says so.
pub fn refuse_too_long(batch: &mut Batch, mtu_bytes: usize) -> Result<(), TransportError> {
    let Some(datagram) = batch.front_mut().filter(|datagram| datagram.bytes().len() > mtu_bytes) else {
        return Ok(());
    };
    let (to, length) = (datagram.address(), datagram.bytes().len());
    batch.consume(1);
    Err(TransportError::TooLong { to, length, mtu_bytes })
}
