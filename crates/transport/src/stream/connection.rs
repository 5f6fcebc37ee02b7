//! One stream: bytes between the system and a codec.

use std::io::{self, Read, Write};
use std::net::Shutdown;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use netloom_wire::Micros;
use netloom_wire::bytes::KEPT_CAPACITY_BYTES;

use super::{Codec, Delivery, Ending, Side, TcpConfig};
use crate::address::PeerAddress;
use crate::counters::Counters;
use crate::limits::LEAVING_BYTES_MAX;
use crate::transport::{CloseReason, PeerState, PeerStatus};

/// Whether a connection has more for the same `receive`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    More,
    Drained,
}

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The stream is being made.
    Connecting,
    /// There is a stream, and the codec greets.
    Greeting,
    /// Datagrams pass.
    Open,
    /// All is said; it stays until the peer has read it, but not longer than this.
    Leaving { stay: Micros },
}

/// When a connection has taken too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deadline {
    Never,
    /// This much after the time is next known.
    In(Micros),
    At(Micros),
}

impl Deadline {
    /// When it is, if the time is this.
    pub fn begin(&mut self, now: Micros) -> Micros {
        if let Deadline::In(time) = *self {
            *self = Deadline::At(now + time);
        }
        match *self {
            Deadline::At(at) => at,
            _ => Micros::MAX,
        }
    }
}

#[derive(Debug)]
pub(super) struct Connection<C> {
    stream: TcpStream,
    pub peer: PeerAddress,
    side: Side,
    pub codec: C,
    mtu_bytes: usize,
    unsent_bytes_max: usize,
    is_made: bool,
    /// Has sent a datagram, and so is known above.
    has_spoken: bool,
    leaving: Option<Micros>,
    /// What arrived while leaving.
    forgotten_bytes: usize,
    /// The poller also watches for room to write.
    watches_room: bool,
    /// Stands in the queue of those that are ready.
    pub is_queued: bool,
    /// Stands in the list of those with something new to send.
    pub is_touched: bool,
    /// Was reported as slow, and has not read enough since.
    pub is_slow: bool,
    pub deadline: Deadline,
}

impl<C: Codec> Connection<C> {
    pub fn new(
        stream: TcpStream,
        peer: PeerAddress,
        side: Side,
        codec: C,
        config: &TcpConfig,
    ) -> io::Result<Connection<C>> {
        stream.set_nodelay(true)?;
        #[cfg(target_os = "linux")]
        {
            let bytes = config.unsent_in_system_bytes_max as u32;
            socket2::SockRef::from(&stream).set_tcp_notsent_lowat(bytes)?;
        }
        let is_made = side == Side::Accepted;
        Ok(Connection {
            stream,
            peer,
            side,
            codec,
            mtu_bytes: config.mtu_bytes,
            unsent_bytes_max: config.unsent_bytes_max,
            is_made,
            has_spoken: false,
            leaving: None,
            forgotten_bytes: 0,
            // A connection that is to be made is made when there is room to write.
            watches_room: !is_made,
            is_queued: false,
            is_touched: false,
            is_slow: false,
            deadline: Deadline::Never,
        })
    }

    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.stream, token, interest(self.watches_room))
    }

    pub fn phase(&self) -> Phase {
        match (self.leaving, self.is_made, self.codec.is_open()) {
            (Some(stay), ..) => Phase::Leaving { stay },
            (None, false, _) => Phase::Connecting,
            (None, true, false) => Phase::Greeting,
            (None, true, true) => Phase::Open,
        }
    }

    pub fn is_accepted(&self) -> bool {
        self.side == Side::Accepted
    }

    /// Whether it was accepted and has sent no datagram yet, so that nothing above knows it.
    pub fn is_unknown_above(&self) -> bool {
        self.is_accepted() && !self.has_spoken
    }

    /// Whether the driver may know it: those that were accepted and still greet are nobody yet.
    pub fn takes_datagrams(&self) -> bool {
        match self.phase() {
            Phase::Connecting | Phase::Greeting => !self.is_accepted(),
            Phase::Open => true,
            Phase::Leaving { .. } => false,
        }
    }

    pub fn status(&self) -> PeerStatus {
        if !self.takes_datagrams() {
            return PeerStatus::closed();
        }
        let unsent_bytes = self.codec.unsent_bytes();
        let room = self.unsent_bytes_max.saturating_sub(unsent_bytes + C::HEADER_BYTES_MAX);
        let is_open = self.phase() == Phase::Open;
        PeerStatus {
            state: if is_open { PeerState::Connected } else { PeerState::Connecting },
            unsent_bytes,
            room_bytes: room.min(self.mtu_bytes),
        }
    }

    /// Whether what waits should go before another datagram joins it: more than this much memory would be given back each
    /// time, and allocated again. Not while the stream takes nothing.
    pub fn should_flush_before(&self, datagram_bytes: usize) -> bool {
        let would_wait = self.codec.unsent_bytes() + C::HEADER_BYTES_MAX + datagram_bytes;
        !self.watches_room && would_wait > KEPT_CAPACITY_BYTES.min(self.unsent_bytes_max)
    }

    /// Finds out whether it is made by now, and sends what waits.
    pub fn advance(
        &mut self,
        registry: &Registry,
        token: Token,
        counters: &mut Counters,
    ) -> Result<(), Ending> {
        if !self.is_made {
            let not_made = |error: io::Error| Ending::Gone(CloseReason::NotMade(error.kind()));
            if let Some(error) = self.stream.take_error().map_err(not_made)? {
                return Err(not_made(error));
            }
            match self.stream.peer_addr() {
                Ok(_) => self.is_made = true,
                Err(error) if error.kind() == io::ErrorKind::NotConnected => return Ok(()),
                Err(error) => return Err(not_made(error)),
            }
        }
        if self.watches_room { self.flush(registry, token, counters) } else { Ok(()) }
    }

    /// Writes as much as goes, and watches for room if that is not all.
    pub fn flush(
        &mut self,
        registry: &Registry,
        token: Token,
        counters: &mut Counters,
    ) -> Result<(), Ending> {
        if !self.is_made {
            return Ok(());
        }
        let broken = |kind| Ending::Gone(CloseReason::Broken(kind));
        let mut is_blocked = false;
        while !is_blocked && !self.codec.unsent().is_empty() {
            match self.stream.write(self.codec.unsent()) {
                Ok(0) => return Err(broken(io::ErrorKind::WriteZero)),
                Ok(count) => self.codec.consume(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => is_blocked = true,
                Err(error) => return Err(broken(error.kind())),
            }
        }
        counters.would_block += u64::from(is_blocked);
        self.is_slow &= self.codec.unsent_bytes() > self.unsent_bytes_max / 2;
        if self.leaving.is_some() && !is_blocked {
            // It may be shut down already, or by the peer.
            let _ = self.stream.shutdown(Shutdown::Write);
        }
        if self.watches_room != is_blocked {
            self.watches_room = is_blocked;
            let watched = registry.reregister(&mut self.stream, token, interest(is_blocked));
            watched.map_err(|error| broken(error.kind()))?;
        }
        Ok(())
    }

    /// Writes what the codec answered to what it read.
    pub fn flush_answers(
        &mut self,
        registry: &Registry,
        token: Token,
        counters: &mut Counters,
    ) -> Result<(), Ending> {
        let has_answers = !self.watches_room && !self.codec.unsent().is_empty();
        if has_answers { self.flush(registry, token, counters) } else { Ok(()) }
    }

    /// Delivers what has arrived, after at most one read.
    pub fn receive(
        &mut self,
        shared: &mut C::Shared,
        delivery: &mut Delivery<'_>,
        scratch: &mut [u8],
    ) -> Result<Turn, Ending> {
        if !self.is_made {
            return Ok(Turn::Drained);
        }
        self.deliver(shared, delivery)?;
        if !delivery.has_room() {
            return Ok(Turn::More);
        }
        // Not more than the codec takes: what it does not take would be lost.
        let room = scratch.len().saturating_sub(self.codec.buffered_bytes());
        match self.stream.read(scratch.get_mut(..room).unwrap_or_default()) {
            Ok(0) => Err(Ending::Gone(CloseReason::ByPeer)),
            Ok(count) => {
                self.take(scratch.get(..count).unwrap_or_default())?;
                self.deliver(shared, delivery)?;
                Ok(Turn::More)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Turn::More),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Turn::Drained),
            Err(error) => Err(Ending::Gone(CloseReason::Broken(error.kind()))),
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Ending> {
        if self.leaving.is_none() {
            self.codec.push(bytes);
            return Ok(());
        }
        self.forgotten_bytes += bytes.len();
        let is_too_much = self.forgotten_bytes > LEAVING_BYTES_MAX;
        if is_too_much { Err(Ending::Gone(CloseReason::ByPeer)) } else { Ok(()) }
    }

    fn deliver(&mut self, shared: &mut C::Shared, delivery: &mut Delivery<'_>) -> Result<(), Ending> {
        if self.leaving.is_some() {
            return Ok(());
        }
        let before = delivery.batch.len();
        let delivered = self.codec.deliver(shared, delivery);
        if delivery.batch.len() > before {
            self.has_spoken = true;
            self.deadline = Deadline::Never;
        }
        delivered
    }

    /// From now on nothing is delivered, and the peer reads the end after what waits.
    pub fn set_leaving(&mut self, stay: Micros) {
        self.leaving = Some(stay);
    }

    /// The end: what waits is written if that needs no waiting, and the peer reads the end after it.
    pub fn finish(mut self, registry: &Registry) {
        // The connection ends in any case; what cannot be written any more was going to be lost.
        let _ = self.stream.write(self.codec.unsent());
        let _ = self.stream.shutdown(Shutdown::Write);
        let _ = registry.deregister(&mut self.stream);
    }
}

fn interest(watches_room: bool) -> Interest {
    if watches_room { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE }
}
