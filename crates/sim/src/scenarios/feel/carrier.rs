//! What goes over the link: what [`path`](super::super::replication::path) carries, and beside it what a connection would.
//!
//! ```text
//!   down   path header │ echo u64, held µs u32 │ count u8, (event u32, time u64) … │ snapshot
//!   up     length u16, path │ stamp u64 │ events heard u32 │ [inputs]
//! ```
//!
//! The echo of the newest stamp measures the round trip. Events are repeated until they were heard, in order and once, as
//! on a reliable channel.

use std::collections::VecDeque;

use netloom_wire::{ByteReader, ByteSink, ByteWriter, Micros, ReadError};

/// Events in one datagram.
const EVENTS_MAX: usize = 16;
/// Bytes beside the snapshot and the header of the path.
pub const DOWN_EXTRA_BYTES_MAX: usize = 8 + 4 + 1 + 12 * EVENTS_MAX;

/// Something that happens once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happening {
    /// Counted from zero.
    pub number: u32,
    /// The server time at which it happened.
    pub time: Micros,
}

/// The server's end.
#[derive(Debug, Default)]
pub struct ServerCarrier {
    unheard: VecDeque<Happening>,
    next: u32,
    /// The newest stamp, and when it came.
    stamp: Option<(u64, Micros)>,
}

impl ServerCarrier {
    /// Something happened.
    pub fn happen(&mut self, time: Micros) {
        self.unheard.push_back(Happening { number: self.next, time });
        self.next += 1;
    }

    /// How much has happened.
    pub fn count(&self) -> u32 {
        self.next
    }

    /// What goes before a snapshot.
    pub fn write(&self, now: Micros, out: &mut [u8]) -> usize {
        let mut writer = ByteWriter::new(out);
        let (stamp, came) = self.stamp.unwrap_or((u64::MAX, now));
        writer.write_u64(stamp);
        writer.write_u32(now.since(came).0 as u32);
        let count = self.unheard.len().min(EVENTS_MAX);
        writer.write_u8(count as u8);
        for happening in self.unheard.iter().take(count) {
            writer.write_u32(happening.number);
            writer.write_u64(happening.time.0);
        }
        writer.finish().unwrap_or(0)
    }

    /// Takes in what a client said.
    pub fn handle(&mut self, up: &Up<'_>, now: Micros) {
        if self.stamp.is_none_or(|(newest, _)| up.stamp > newest) {
            self.stamp = Some((up.stamp, now));
        }
        while self.unheard.pop_front_if(|happening| happening.number < up.heard).is_some() {}
    }
}

/// A datagram from a client.
#[derive(Debug)]
pub struct Up<'a> {
    /// For the path.
    pub path: &'a [u8],
    stamp: u64,
    heard: u32,
    /// For the input queue; empty if there are none.
    pub inputs: &'a [u8],
}

impl<'a> Up<'a> {
    /// Reads one.
    pub fn read(datagram: &'a [u8]) -> Result<Up<'a>, ReadError> {
        let mut reader = ByteReader::new(datagram);
        let length = reader.read_u16()?;
        let path = reader.read_bytes(length.into())?;
        let (stamp, heard) = (reader.read_u64()?, reader.read_u32()?);
        Ok(Up { path, stamp, heard, inputs: reader.rest() })
    }

    /// Writes one.
    pub fn write(path: &[u8], now: Micros, heard: u32, inputs: &[u8], out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&(path.len() as u16).to_le_bytes());
        out.extend_from_slice(path);
        out.extend_from_slice(&now.0.to_le_bytes());
        out.extend_from_slice(&heard.to_le_bytes());
        out.extend_from_slice(inputs);
    }
}

/// What a datagram from the server has before its snapshot.
#[derive(Debug)]
pub struct Down<'a> {
    /// The round trip, by our clock, if there is an echo.
    pub rtt: Option<Micros>,
    /// Events, some of which are known.
    pub happenings: Vec<Happening>,
    /// The rest.
    pub snapshot: &'a [u8],
}

impl<'a> Down<'a> {
    /// Reads what follows the header of the path.
    pub fn read(payload: &'a [u8], now: Micros) -> Result<Down<'a>, ReadError> {
        let mut reader = ByteReader::new(payload);
        let (stamp, held) = (reader.read_u64()?, Micros(reader.read_u32()?.into()));
        let rtt = (stamp != u64::MAX).then(|| now.since(Micros(stamp)).since(held));
        let mut happenings = Vec::new();
        for _ in 0..reader.read_u8()? {
            happenings.push(Happening { number: reader.read_u32()?, time: Micros(reader.read_u64()?) });
        }
        Ok(Down { rtt, happenings, snapshot: reader.rest() })
    }
}
