//! One stream: frames in, frames out.

use std::io::{self, Read, Write};
use std::net::Shutdown;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use netloom_wire::bytes::KEPT_CAPACITY_BYTES;
use netloom_wire::message::{FRAME_HEADER_BYTES, FrameError, FrameReader, FrameWriter, PayloadLimitError};
use netloom_wire::{ByteSink, Micros};

use super::{DATAGRAM_FRAME_ID, TcpConfig};
use crate::address::PeerAddress;
use crate::batch::Batch;
use crate::counters::Counters;
use crate::transport::{CloseReason, PeerState, PeerStatus};

/// What is read in one call at least, if it is there: several datagrams.
const READ_BYTES: usize = 16 << 10;

/// What one read may bring: the longest frame, or several short ones.
pub(super) fn read_bytes_max(mtu_bytes: usize) -> usize {
    READ_BYTES.max(FRAME_HEADER_BYTES + mtu_bytes)
}

/// Whether a connection has more for the same `receive`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Turn {
    More,
    Drained,
}

#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    pub peer: PeerAddress,
    reader: FrameReader,
    writer: FrameWriter,
    mtu_bytes: usize,
    unsent_bytes_max: usize,
    is_made: bool,
    /// The poller also watches for room to write.
    watches_room: bool,
    /// Stands in the queue of those that are ready.
    pub is_queued: bool,
    /// Stands in the list of those with something new to send.
    pub is_touched: bool,
    /// Was reported as slow, and has not read enough since.
    pub is_slow: bool,
    /// When it has taken too long to open. `None` after its first datagram.
    pub overdue_at: Option<Micros>,
}

impl Connection {
    pub fn new(stream: TcpStream, peer: PeerAddress, config: &TcpConfig) -> io::Result<Connection> {
        let limit = |error: PayloadLimitError| io::Error::new(io::ErrorKind::InvalidInput, error);
        let payload_bytes_max = read_bytes_max(config.mtu_bytes) - FRAME_HEADER_BYTES;
        stream.set_nodelay(true)?;
        #[cfg(target_os = "linux")]
        {
            let bytes = config.unsent_in_system_bytes_max as u32;
            socket2::SockRef::from(&stream).set_tcp_notsent_lowat(bytes)?;
        }
        Ok(Connection {
            stream,
            peer,
            reader: FrameReader::new(payload_bytes_max).map_err(limit)?,
            writer: FrameWriter::new(config.mtu_bytes, config.unsent_bytes_max).map_err(limit)?,
            mtu_bytes: config.mtu_bytes,
            unsent_bytes_max: config.unsent_bytes_max,
            is_made: false,
            watches_room: true,
            is_queued: false,
            is_touched: false,
            is_slow: false,
            overdue_at: None,
        })
    }

    /// A connection that is to be made is made when there is room to write, so that is watched from the start.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.stream, token, interest(self.watches_room))
    }

    pub fn set_accepted(&mut self) {
        self.is_made = true;
        self.watches_room = false;
    }

    pub fn is_made(&self) -> bool {
        self.is_made
    }

    pub fn unsent_bytes(&self) -> usize {
        self.writer.as_bytes().len()
    }

    pub fn status(&self) -> PeerStatus {
        let unsent_bytes = self.unsent_bytes();
        let room = self.unsent_bytes_max.saturating_sub(unsent_bytes + FRAME_HEADER_BYTES);
        PeerStatus {
            state: if self.is_made { PeerState::Connected } else { PeerState::Connecting },
            unsent_bytes,
            room_bytes: room.min(self.mtu_bytes),
        }
    }

    /// Whether what waits should go before another datagram joins it: more than this much memory would be given back each
    /// time, and allocated again. Not while the stream takes nothing.
    pub fn should_flush_before(&self, datagram_bytes: usize) -> bool {
        let would_wait = self.unsent_bytes() + FRAME_HEADER_BYTES + datagram_bytes;
        !self.watches_room && would_wait > KEPT_CAPACITY_BYTES.min(self.unsent_bytes_max)
    }

    /// Adds a frame to what is to be sent, whole or not at all.
    pub fn queue(&mut self, datagram: &[u8]) -> bool {
        self.writer.start_message(DATAGRAM_FRAME_ID).write_bytes(datagram);
        self.writer.end_message().is_ok()
    }

    /// Finds out whether it is made by now, and sends what waits.
    pub fn advance(
        &mut self,
        registry: &Registry,
        token: Token,
        counters: &mut Counters,
    ) -> Result<(), CloseReason> {
        if !self.is_made {
            let not_made = |error: io::Error| CloseReason::NotMade(error.kind());
            if let Some(error) = self.stream.take_error().map_err(not_made)? {
                return Err(not_made(error));
            }
            match self.stream.peer_addr() {
                Ok(_) => (self.is_made, self.overdue_at) = (true, None),
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
    ) -> Result<(), CloseReason> {
        if !self.is_made {
            return Ok(());
        }
        let mut is_blocked = false;
        while !is_blocked && !self.writer.as_bytes().is_empty() {
            match self.stream.write(self.writer.as_bytes()) {
                Ok(0) => return Err(CloseReason::Broken(io::ErrorKind::WriteZero)),
                Ok(count) => self.writer.consume(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => is_blocked = true,
                Err(error) => return Err(CloseReason::Broken(error.kind())),
            }
        }
        counters.would_block += u64::from(is_blocked);
        self.is_slow &= self.unsent_bytes() > self.unsent_bytes_max / 2;
        if self.watches_room != is_blocked {
            self.watches_room = is_blocked;
            let watched = registry.reregister(&mut self.stream, token, interest(is_blocked));
            watched.map_err(|error| CloseReason::Broken(error.kind()))?;
        }
        Ok(())
    }

    /// Delivers what has arrived, after at most one read.
    pub fn receive(
        &mut self,
        batch: &mut Batch,
        scratch: &mut [u8],
        counters: &mut Counters,
    ) -> Result<Turn, CloseReason> {
        if !self.is_made {
            return Ok(Turn::Drained);
        }
        self.deliver(batch, counters)?;
        if batch.is_full() {
            return Ok(Turn::More);
        }
        // Not more than the reader takes: what it does not take would be lost.
        let room = scratch.len().saturating_sub(self.reader.buffered());
        match self.stream.read(scratch.get_mut(..room).unwrap_or_default()) {
            Ok(0) => Err(CloseReason::ByPeer),
            Ok(count) => {
                self.reader.push(scratch.get(..count).unwrap_or_default());
                self.deliver(batch, counters)?;
                Ok(Turn::More)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Turn::More),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Turn::Drained),
            Err(error) => Err(CloseReason::Broken(error.kind())),
        }
    }

    /// Moves whole frames into the batch while it has room.
    fn deliver(&mut self, batch: &mut Batch, counters: &mut Counters) -> Result<(), CloseReason> {
        while !batch.is_full() {
            let Some(frame) = self.reader.poll_frame().map_err(CloseReason::NotFrames)? else {
                break;
            };
            let length = frame.payload.len();
            if frame.id != DATAGRAM_FRAME_ID {
                return Err(CloseReason::UnknownFrame(frame.id));
            }
            if length > self.mtu_bytes {
                let oversize = FrameError::Oversize { length: length as u32, max: self.mtu_bytes };
                return Err(CloseReason::NotFrames(oversize));
            }
            if batch.push(self.peer, frame.payload) {
                counters.count_received(length);
            }
            self.overdue_at = None;
        }
        Ok(())
    }

    /// Says goodbye: what waits is written if that needs no waiting, and the peer reads the end after it.
    pub fn finish(mut self: Box<Self>, registry: &Registry) {
        // The connection ends in any case; what cannot be written any more was going to be lost.
        let _ = self.stream.write(self.writer.as_bytes());
        let _ = self.stream.shutdown(Shutdown::Write);
        let _ = registry.deregister(&mut self.stream);
    }
}

fn interest(watches_room: bool) -> Interest {
    if watches_room { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE }
}
