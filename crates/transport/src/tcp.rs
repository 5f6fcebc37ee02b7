//! Datagrams over TCP, for networks that let nothing else through.
//!
//! A stream loses nothing and keeps everything in order, and that is its fault: what is sent to a peer that does not read
//! piles up, and what arrives in the end is old. So little is allowed to pile up: in the system by `TCP_NOTSENT_LOWAT`, in
//! this process by [`TcpConfig::unsent_bytes_max`] for each peer. Beyond it datagrams are dropped whole, and the peer is
//! [reported as slow](crate::TransportEvent::Slow); [`status`](crate::Transport::status) tells the room before that. A sender of states
//! should wait until nothing is unsent and then send the newest.
//!
//! ```text
//!   send ──▶ frame, frame, …  ≤ unsent_bytes_max ──▶ write ──▶ stream ──▶ read ──▶ frames ──▶ slots of the batch
//! ```
//!
//! Frames are those of [`netloom_wire::message`], one datagram each, with the id [`DATAGRAM_FRAME_ID`]. Anything else ends
//! the connection. A peer that is gone without a word is noticed by the connection above; here only those are closed
//! that never sent a whole datagram, since nothing above knows them.

use std::io;

use netloom_wire::message::{FRAME_HEADER_BYTES, FrameError, FrameReader, FrameWriter, PayloadLimitError};
use netloom_wire::{ByteSink, Micros};

use crate::address::PeerAddress;
use crate::error::TransportError;
pub use crate::stream::TcpConfig;
use crate::stream::{Codec, Delivery, Ending, Side, Streams, read_bytes_max, transport_over_streams};
use crate::transport::CloseReason;

/// The id of the frames that datagrams are in.
pub const DATAGRAM_FRAME_ID: u16 = 1;

/// Connections over TCP: those that a listener accepted, or the one that was asked for.
///
/// ```
/// use netloom_transport::{Batch, Micros, TcpConfig, TcpTransport, Transport};
///
/// let mut server = TcpTransport::listen("127.0.0.1:0".parse()?, TcpConfig::default())?;
/// let mut client = TcpTransport::connect(server.local_address(), TcpConfig::default())?;
/// let mut batch = Batch::new(64, server.capabilities().mtu_bytes)?;
///
/// batch.push(server.local_address(), b"hello"); // waits for the connection
/// client.send(Micros::ZERO, &mut batch)?;
/// while server.receive(Micros::ZERO, &mut batch)? == 0 {
///     client.receive(Micros::ZERO, &mut Batch::new(1, 1_200)?)?;
///     server.wait(Micros::ZERO, Micros::from_millis(10))?;
/// }
/// assert_eq!(batch.iter().next().expect("it was sent").bytes(), b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TcpTransport {
    streams: Streams<FrameCodec>,
}

impl TcpTransport {
    /// A listener at an address. Port 0 lets the system choose; `[::]` is every address of both families.
    pub fn listen(address: PeerAddress, config: TcpConfig) -> Result<TcpTransport, TransportError> {
        Ok(TcpTransport { streams: Streams::listen(address, config, ())? })
    }

    /// A connection to a server. What is sent to it before it is made waits; when it has ended, the next thing that is sent
    /// makes another one.
    pub fn connect(server: PeerAddress, config: TcpConfig) -> Result<TcpTransport, TransportError> {
        Ok(TcpTransport { streams: Streams::connect(server, config, ())? })
    }
}

transport_over_streams!(TcpTransport);

/// Frames in, frames out.
#[derive(Debug)]
struct FrameCodec {
    reader: FrameReader,
    writer: FrameWriter,
    mtu_bytes: usize,
}

impl Codec for FrameCodec {
    type Shared = ();

    const PROTOCOL: &'static str = "TCP";
    const HEADER_BYTES_MAX: usize = FRAME_HEADER_BYTES;

    fn new((): &mut (), config: &TcpConfig, _side: Side) -> io::Result<FrameCodec> {
        let limit = |error: PayloadLimitError| io::Error::new(io::ErrorKind::InvalidInput, error);
        let payload_bytes_max = read_bytes_max(FRAME_HEADER_BYTES, config.mtu_bytes) - FRAME_HEADER_BYTES;
        Ok(FrameCodec {
            reader: FrameReader::new(payload_bytes_max).map_err(limit)?,
            writer: FrameWriter::new(config.mtu_bytes, config.unsent_bytes_max).map_err(limit)?,
            mtu_bytes: config.mtu_bytes,
        })
    }

    fn greeting_timeout((): &()) -> Micros {
        Micros::MAX
    }

    fn is_open(&self) -> bool {
        true
    }

    fn unsent(&self) -> &[u8] {
        self.writer.as_bytes()
    }

    fn unsent_bytes(&self) -> usize {
        self.writer.as_bytes().len()
    }

    fn consume(&mut self, count: usize) {
        self.writer.consume(count);
    }

    fn queue(&mut self, (): &mut (), datagram: &[u8]) -> bool {
        self.writer.start_message(DATAGRAM_FRAME_ID).write_bytes(datagram);
        self.writer.end_message().is_ok()
    }

    fn buffered_bytes(&self) -> usize {
        self.reader.buffered()
    }

    fn push(&mut self, bytes: &[u8]) {
        self.reader.push(bytes);
    }

    fn deliver(&mut self, (): &mut (), delivery: &mut Delivery<'_>) -> Result<(), Ending> {
        while delivery.has_room() {
            let frame =
                self.reader.poll_frame().map_err(|error| Ending::Closed(CloseReason::NotFrames(error)))?;
            let Some(frame) = frame else {
                break;
            };
            let length = frame.payload.len();
            if frame.id != DATAGRAM_FRAME_ID {
                return Err(Ending::Closed(CloseReason::UnknownFrame(frame.id)));
            }
            if length > self.mtu_bytes {
                let oversize = FrameError::Oversize { length: length as u32, max: self.mtu_bytes };
                return Err(Ending::Closed(CloseReason::NotFrames(oversize)));
            }
            delivery.datagram(frame.payload);
        }
        Ok(())
    }

    fn say_goodbye(&mut self, (): &mut (), _ending: Option<Ending>) -> Option<Micros> {
        None
    }
}
