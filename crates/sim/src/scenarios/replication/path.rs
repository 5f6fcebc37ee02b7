//! What lies between a replicating server and one client: numbered snapshots down, acknowledgements and requests up.
//!
//! Replication is told what became of its snapshots by whoever carries them. Here that carrier is as small as one can
//! be that behaves like a connection: it loses acknowledgements as well as snapshots, so what is called lost may have
//! arrived, and what is called arrived certainly did.
//!
//! ```text
//!   down   sequence u64 │ refusals heard u32 │ snapshot
//!   up     newest u64 │ 64 bits │ first refusal u32 │ count u8, ticks u32 … │ count u8, regions u16 …
//!          │ [write: identity u64, field u8, value u32]
//! ```
//!
//! Refusals are repeated until they were heard, as on a reliable channel. Regions whose digest was another, and writes,
//! are told once and may get lost.

use std::collections::{BTreeSet, VecDeque};

use netloom_wire::{ByteReader, ByteSink, ByteWriter, Micros, ReadError, Tick};

/// A snapshot that so many later ones overtook is lost.
const OVERTAKEN_BY: u64 = 3;

/// A snapshot without news for so long is lost.
const AGE_MAX: Micros = Micros::from_millis(1_500);

/// Refusals in one datagram.
const REFUSALS_MAX: usize = 32;

/// Regions in one datagram.
const REGIONS_MAX: usize = 8;

/// Bytes before the snapshot.
pub const DOWN_HEADER_BYTES: usize = 12;

/// The most that goes up in one datagram.
pub const UP_BYTES_MAX: usize = 8 + 8 + 4 + 1 + 4 * REFUSALS_MAX + 1 + 2 * REGIONS_MAX + 13;

/// The server's end.
#[derive(Debug, Default)]
pub struct Sender {
    next: u64,
    in_flight: VecDeque<InFlight>,
    acked_ticks: BTreeSet<u32>,
    refusals_heard: u32,
}

#[derive(Clone, Copy, Debug)]
struct InFlight {
    sequence: u64,
    tick: u32,
    sent_at: Micros,
}

/// What a client asks of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRequest {
    /// The object.
    pub identity: u64,
    /// Its field.
    pub field: u8,
    /// The value, whatever the field makes of it.
    pub value: u32,
}

/// What a datagram from a client says.
#[derive(Debug)]
pub struct Up {
    newest: Option<u64>,
    bits: u64,
    first_refusal: u32,
    refusals: Vec<Tick>,
    /// Regions in which the client holds something else than the server's digest says.
    pub mismatches: Vec<u16>,
    /// A write that the client asks for.
    pub write: Option<WriteRequest>,
}

impl Sender {
    /// Numbers the next snapshot.
    pub fn next_sequence(&self) -> u64 {
        self.next
    }

    /// The snapshot of that number was sent: its header.
    pub fn handle_sent(&mut self, now: Micros, tick: u32) -> [u8; DOWN_HEADER_BYTES] {
        let mut header = [0; DOWN_HEADER_BYTES];
        header[..8].copy_from_slice(&self.next.to_le_bytes());
        header[8..].copy_from_slice(&self.refusals_heard.to_le_bytes());
        self.in_flight.push_back(InFlight { sequence: self.next, tick, sent_at: now });
        self.next += 1;
        header
    }

    /// Takes in what a client acknowledged; `decide` hears of every snapshot whose fate that settles.
    pub fn handle_ack(&mut self, up: &Up, mut decide: impl FnMut(u64, bool)) {
        let Some(newest) = up.newest else { return };
        let Sender { in_flight, acked_ticks, .. } = self;
        in_flight.retain(|&InFlight { sequence, tick, .. }| {
            let behind = newest.checked_sub(sequence);
            let is_acked = match behind {
                Some(0) => true,
                Some(behind @ 1..=64) => up.bits >> (behind - 1) & 1 != 0,
                _ => false,
            };
            let is_lost = behind.is_some_and(|behind| behind >= OVERTAKEN_BY);
            if is_acked {
                acked_ticks.insert(tick);
            }
            if is_acked || is_lost {
                decide(sequence, is_acked);
            }
            !(is_acked || is_lost)
        });
    }

    /// Whether a snapshot of this tick is known to have arrived.
    pub fn has_acked(&self, tick: u32) -> bool {
        self.acked_ticks.contains(&tick)
    }

    /// Gives up what is too old; `decide` hears of it.
    pub fn expire(&mut self, now: Micros, mut decide: impl FnMut(u64)) {
        while let Some(&InFlight { sequence, sent_at, .. }) = self.in_flight.front()
            && now.since(sent_at) >= AGE_MAX
        {
            self.in_flight.pop_front();
            decide(sequence);
        }
    }

    /// The refusals that were not heard before.
    pub fn hear_refusals<'a>(&mut self, up: &'a Up) -> &'a [Tick] {
        let known = self.refusals_heard.saturating_sub(up.first_refusal) as usize;
        let fresh = up.refusals.get(known..).unwrap_or_default();
        self.refusals_heard += fresh.len() as u32;
        fresh
    }
}

/// The client's end.
#[derive(Debug, Default)]
pub struct Receiver {
    newest: Option<u64>,
    bits: u64,
    refusals: VecDeque<Tick>,
    first_refusal: u32,
    mismatches: VecDeque<u16>,
}

impl Receiver {
    /// Takes in a datagram; returns the snapshot in it.
    pub fn handle_datagram<'a>(&mut self, datagram: &'a [u8]) -> Result<&'a [u8], ReadError> {
        let mut reader = ByteReader::new(datagram);
        let (sequence, heard) = (reader.read_u64()?, reader.read_u32()?);
        while self.first_refusal < heard && self.refusals.pop_front().is_some() {
            self.first_refusal += 1;
        }
        match self.newest.map(|newest| sequence.wrapping_sub(newest) as i64) {
            None => self.newest = Some(sequence),
            Some(ahead) if ahead > 0 => {
                let shifted = if ahead < 64 { self.bits << ahead } else { 0 };
                let own = if ahead <= 64 { 1 << (ahead - 1) } else { 0 };
                self.bits = shifted | own;
                self.newest = Some(sequence);
            }
            Some(0) => {}
            Some(behind) if behind >= -64 => self.bits |= 1 << (-behind - 1),
            Some(_) => {}
        }
        Ok(reader.rest())
    }

    /// The server must hear of a snapshot that could not be read.
    pub fn refuse(&mut self, tick: Tick) {
        self.refusals.push_back(tick);
    }

    /// The server must hear of a region that is not as its digest says.
    pub fn mismatch(&mut self, region: u16) {
        self.mismatches.push_back(region);
    }

    /// What goes up now; returns its length.
    pub fn write(&mut self, write: Option<WriteRequest>, out: &mut [u8; UP_BYTES_MAX]) -> usize {
        let mut writer = ByteWriter::new(out);
        writer.write_u64(self.newest.unwrap_or(u64::MAX));
        writer.write_u64(self.bits);
        writer.write_u32(self.first_refusal);
        let count = self.refusals.len().min(REFUSALS_MAX);
        writer.write_u8(count as u8);
        self.refusals.iter().take(count).for_each(|tick| writer.write_u32(tick.0));
        let count = self.mismatches.len().min(REGIONS_MAX);
        writer.write_u8(count as u8);
        self.mismatches.drain(..count).for_each(|region| writer.write_u16(region));
        if let Some(write) = write {
            writer.write_u64(write.identity);
            writer.write_u8(write.field);
            writer.write_u32(write.value);
        }
        writer.finish().unwrap_or(0)
    }
}

impl Up {
    /// Reads what a client sent.
    pub fn read(datagram: &[u8]) -> Result<Up, ReadError> {
        let mut reader = ByteReader::new(datagram);
        let newest = Some(reader.read_u64()?).filter(|&newest| newest != u64::MAX);
        let (bits, first_refusal) = (reader.read_u64()?, reader.read_u32()?);
        let count = reader.read_u8()?;
        let refusals = (0..count).map(|_| reader.read_u32().map(Tick)).collect::<Result<_, _>>()?;
        let count = reader.read_u8()?;
        let mismatches = (0..count).map(|_| reader.read_u16()).collect::<Result<_, _>>()?;
        let write = match reader.rest().is_empty() {
            true => None,
            false => {
                let (identity, field, value) = (reader.read_u64()?, reader.read_u8()?, reader.read_u32()?);
                Some(WriteRequest { identity, field, value })
            }
        };
        Ok(Up { newest, bits, first_refusal, refusals, mismatches, write })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(sender: &mut Sender, now_ms: u64) -> [u8; DOWN_HEADER_BYTES] {
        sender.handle_sent(Micros::from_millis(now_ms), 7)
    }

    fn up(receiver: &mut Receiver, write: Option<WriteRequest>) -> Up {
        let mut out = [0; UP_BYTES_MAX];
        let length = receiver.write(write, &mut out);
        Up::read(&out[..length]).unwrap()
    }

    #[test]
    fn what_arrived_is_acked_once_and_what_was_overtaken_is_lost() {
        let (mut sender, mut receiver) = (Sender::default(), Receiver::default());
        let sent: Vec<_> = (0..6).map(|_| send(&mut sender, 0)).collect();
        for number in [0, 5, 3, 3] {
            receiver.handle_datagram(&sent[number]).unwrap();
        }
        let mut fates = Vec::new();
        sender.handle_ack(&up(&mut receiver, None), |sequence, acked| fates.push((sequence, acked)));
        assert_eq!(fates, [(0, true), (1, false), (2, false), (3, true), (5, true)]);
        sender.handle_ack(&up(&mut receiver, None), |sequence, _| panic!("{sequence} is settled"));
        let mut expired = Vec::new();
        sender.expire(AGE_MAX, |sequence| expired.push(sequence));
        assert_eq!(expired, [4]);
    }

    #[test]
    fn refusals_are_repeated_until_they_were_heard() {
        let (mut sender, mut receiver) = (Sender::default(), Receiver::default());
        receiver.refuse(Tick(7));
        receiver.refuse(Tick(9));
        let first = up(&mut receiver, None);
        assert_eq!(sender.hear_refusals(&first), [Tick(7), Tick(9)]);
        receiver.refuse(Tick(11));
        assert_eq!(sender.hear_refusals(&up(&mut receiver, None)), [Tick(11)]);
        let heard = send(&mut sender, 0);
        receiver.handle_datagram(&heard).unwrap();
        assert!(up(&mut receiver, None).refusals.is_empty());
    }

    #[test]
    fn a_write_travels_with_the_acknowledgement() {
        let write = WriteRequest { identity: u64::MAX - 3, field: 4, value: 77 };
        assert_eq!(up(&mut Receiver::default(), Some(write)).write, Some(write));
        assert_eq!(up(&mut Receiver::default(), None).write, None);
    }
}
