//! Bit-granular reading and writing.
//!
//! Most replicated values need far fewer than eight bits, and a snapshot is a run of thousands of them: a codec that
//! loops over bits, or branches on byte borders, costs more than everything around it. Here a value of up to 56 bits
//! is one shift, one OR and one unaligned 8-byte store; at most seven bits are carried to the next call.
//!
//! Bit order is little-endian throughout: the first bit written is the lowest bit of the first byte, and a value's
//! low bits come first.
//!
//! ```text
//!  write_bits(0b101, 3); write_bits(0b11, 2); write_bits(0x1ff, 9)
//!
//!  byte 0: 1 1 1 1 1 1 0 1      byte 1: 0 0 1 1 1 1 1 1
//!          └─9..─┘ └2┘ └─3─┘            pad └──9────┘
//!  (bytes are shown with bit 7 on the left)
//! ```

use crate::error::{ReadError, WriteError};

/// The most bits that one store can take besides the seven that may be pending.
const STORE_BITS_MAX: u32 = 56;

/// The number of bits that hold every value in `0..=max`.
pub const fn bits_for(max: u64) -> u32 {
    u64::BITS - max.leading_zeros()
}

const fn low_mask(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// At most eight bytes as one word.
#[inline]
fn last_word(bytes: &[u8]) -> Option<u64> {
    if let Some(word) = bytes.first_chunk() {
        return Some(u64::from_le_bytes(*word));
    }
    let mut word = [0; 8];
    word.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(word))
}

/// Writes bits into storage that the caller owns.
///
/// The first failure sticks: later writes do nothing, and [`BitWriter::finish`] reports it. Bytes of the storage after
/// the written ones may be zeroed.
#[derive(Debug)]
pub struct BitWriter<'a> {
    buffer: &'a mut [u8],
    /// Whole bytes written.
    byte: usize,
    /// The bits after the last whole byte, already stored as well.
    pending: u64,
    /// How many of them: at most seven.
    pending_count: u32,
    fault: Option<WriteError>,
}

impl<'a> BitWriter<'a> {
    /// A writer that starts at the first bit of `buffer`.
    pub fn new(buffer: &'a mut [u8]) -> BitWriter<'a> {
        BitWriter { buffer, byte: 0, pending: 0, pending_count: 0, fault: None }
    }

    /// Bits written so far.
    pub fn bit_len(&self) -> usize {
        self.byte * 8 + self.pending_count as usize
    }

    /// Bits that still fit; zero after a failure.
    pub fn remaining_bits(&self) -> usize {
        if self.fault.is_some() { 0 } else { self.buffer.len() * 8 - self.bit_len() }
    }

    /// Writes the low `count` bits of `value`, 0 to 64 of them.
    #[inline]
    pub fn write_bits(&mut self, value: u64, count: u32) {
        debug_assert!(count <= 64, "a value has at most 64 bits");
        self.append_bits(value & low_mask(count), count.min(64));
    }

    /// Appends a run of at most 64 bits that was encoded before. Bits of `run` from `count` upwards must be zero.
    #[inline]
    pub fn append_bits(&mut self, run: u64, count: u32) {
        debug_assert!(count <= 64 && run & !low_mask(count) == 0, "bits above the count must be zero");
        if count <= STORE_BITS_MAX {
            self.store(run, count);
        } else {
            self.store(run & low_mask(32), 32);
            self.store(run >> 32, count - 32);
        }
    }

    /// Appends a run of at most 56 bits if it fits, and says whether it did. One that does not fit is no failure.
    #[inline]
    pub fn try_append(&mut self, run: u64, count: u32) -> bool {
        debug_assert!(
            count <= STORE_BITS_MAX && run & !low_mask(count) == 0,
            "bits above the count must be zero"
        );
        let fits = self.bit_len() + count as usize <= self.buffer.len() * 8;
        if fits {
            self.store(run, count);
        }
        fits
    }

    /// Appends runs of at most 56 bits each while there is room for another of any length, and returns how many. Asks
    /// for a run only when it will be written. What is left, and the last bytes of the storage, are for
    /// [`try_append`](BitWriter::try_append).
    #[inline]
    pub fn append_many(&mut self, mut runs: impl Iterator<Item = (u64, u32)>) -> usize {
        if self.fault.is_some() {
            return 0;
        }
        // In locals, so that a loop of thousands keeps them in registers.
        let (mut byte, mut pending, mut pending_count) = (self.byte, self.pending, self.pending_count);
        let mut appended = 0;
        while let Some(slot) = self.buffer.get_mut(byte..byte + 8) {
            let Some((run, count)) = runs.next() else { break };
            debug_assert!(count <= STORE_BITS_MAX && run & !low_mask(count) == 0, "bits above must be zero");
            let word = pending | run << pending_count;
            slot.copy_from_slice(&word.to_le_bytes());
            let total = pending_count + count;
            byte += (total / 8) as usize;
            pending = word >> (total & !7);
            pending_count = total % 8;
            appended += 1;
        }
        (self.byte, self.pending, self.pending_count) = (byte, pending, pending_count);
        appended
    }

    /// Appends the first `bit_count` bits of `bytes`, which hold a run that was encoded before.
    pub fn append_slice(&mut self, bytes: &[u8], bit_count: usize) {
        if bit_count.div_ceil(8) > bytes.len() {
            self.fail(WriteError::OutOfRange);
            return;
        }
        let words = self.append_words(bytes, bit_count / 64);
        let count = (bit_count - words * 64) as u32;
        if let Some(word) = bytes.get(words * 8..).and_then(last_word)
            && count < 64
        {
            return self.append_bits(word & low_mask(count), count);
        }
        let rest =
            bytes.get(words * 8..).and_then(|rest| BitReader::with_bit_len(rest, bit_count - words * 64));
        let Some(mut source) = rest else { return };
        loop {
            let count = source.remaining_bits().min(STORE_BITS_MAX as usize) as u32;
            match source.read_bits(count) {
                Ok(run) if count > 0 => self.store(run, count),
                _ => return,
            }
        }
    }

    /// Appends words of 64 bits, at most so many, while there is room for one and a byte; returns how many.
    #[inline]
    fn append_words(&mut self, bytes: &[u8], words: usize) -> usize {
        if self.fault.is_some() {
            return 0;
        }
        let (mut byte, mut pending) = (self.byte, self.pending);
        let mut appended = 0;
        for word in bytes.as_chunks::<8>().0.iter().take(words) {
            let room = self.buffer.get_mut(byte..).and_then(|room| room.first_chunk_mut::<9>());
            let Some([slot @ .., after]) = room else { break };
            let word = u64::from_le_bytes(*word);
            *slot = (pending | word << self.pending_count).to_le_bytes();
            // In two shifts, because nothing may be left over, and 64 is no distance to shift by.
            pending = word >> 1 >> (63 - self.pending_count);
            *after = pending as u8;
            byte += 8;
            appended += 1;
        }
        (self.byte, self.pending) = (byte, pending);
        appended
    }

    /// Writes one bit.
    #[inline]
    pub fn write_bool(&mut self, value: bool) {
        self.store(u64::from(value), 1);
    }

    /// Writes `value` in two's complement of `count` bits; a value that does not fit is an error.
    pub fn write_signed(&mut self, value: i64, count: u32) {
        let spare = 64 - count.min(64);
        let fits = spare < 64 && (value << spare) >> spare == value;
        if fits || (count == 0 && value == 0) {
            self.write_bits(value as u64, count);
        } else {
            self.fail(WriteError::OutOfRange);
        }
    }

    /// Writes a value of `0..=max` in [`bits_for`]`(max)` bits; a larger one is an error.
    #[inline]
    pub fn write_ranged(&mut self, value: u64, max: u64) {
        if value <= max {
            self.append_bits(value, bits_for(max));
        } else {
            self.fail(WriteError::OutOfRange);
        }
    }

    /// Writes a value of `min..=max` as its distance from `min`; any other one is an error.
    pub fn write_ranged_signed(&mut self, value: i64, min: i64, max: i64) {
        if min <= value && value <= max {
            self.append_bits(value.wrapping_sub(min) as u64, bits_for(max.wrapping_sub(min) as u64));
        } else {
            self.fail(WriteError::OutOfRange);
        }
    }

    /// Fills the last byte with zero bits.
    pub fn align(&mut self) {
        self.store(0, (8 - self.pending_count) % 8);
    }

    /// Records a failure of the caller's own encoding; the first one wins.
    #[cold]
    pub fn fail(&mut self, error: WriteError) {
        self.fault.get_or_insert(error);
    }

    /// The number of bytes written, the last one padded with zero bits; or the first failure.
    pub fn finish(self) -> Result<usize, WriteError> {
        match self.fault {
            None => Ok(self.byte + usize::from(self.pending_count > 0)),
            Some(error) => Err(error),
        }
    }

    /// The bytes written, as [`finish`](BitWriter::finish) counts them.
    pub fn into_bytes(self) -> Result<&'a mut [u8], WriteError> {
        let length = self.byte + usize::from(self.pending_count > 0);
        match self.fault {
            None => self.buffer.get_mut(..length).ok_or(WriteError::BufferFull),
            Some(error) => Err(error),
        }
    }

    /// Stores up to [`STORE_BITS_MAX`] bits.
    #[inline]
    fn store(&mut self, run: u64, count: u32) {
        if self.fault.is_some() {
            return;
        }
        let word = self.pending | (run << self.pending_count);
        let total = self.pending_count + count;
        if let Some(slot) = self.buffer.get_mut(self.byte..self.byte + 8) {
            slot.copy_from_slice(&word.to_le_bytes());
        } else if !self.store_at_the_end(word, total) {
            return;
        }
        let whole_bytes = total / 8;
        self.byte += whole_bytes as usize;
        self.pending = word >> (whole_bytes * 8);
        self.pending_count = total % 8;
    }

    /// The last seven bytes of the storage have no room for an 8-byte store.
    #[cold]
    fn store_at_the_end(&mut self, word: u64, bit_count: u32) -> bool {
        let tail = self.buffer.get_mut(self.byte..).unwrap_or_default();
        let needed = bit_count.div_ceil(8) as usize;
        if needed > tail.len() {
            self.fail(WriteError::BufferFull);
            return false;
        }
        for (slot, byte) in tail.iter_mut().zip(word.to_le_bytes()).take(needed) {
            *slot = byte;
        }
        true
    }
}

/// Reads bits in the order in which [`BitWriter`] wrote them. A failed read leaves the position where it was.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    bit: usize,
    bit_end: usize,
}

impl<'a> BitReader<'a> {
    /// A reader of all bits of `bytes`.
    pub fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, bit: 0, bit_end: bytes.len().saturating_mul(8) }
    }

    /// A reader of the first `bit_len` bits of `bytes`; `None` if there are fewer.
    pub fn with_bit_len(bytes: &'a [u8], bit_len: usize) -> Option<BitReader<'a>> {
        (bit_len <= bytes.len().saturating_mul(8)).then_some(BitReader { bytes, bit: 0, bit_end: bit_len })
    }

    /// Bits read so far.
    pub fn bit_position(&self) -> usize {
        self.bit
    }

    /// Bits not yet read.
    pub fn remaining_bits(&self) -> usize {
        self.bit_end - self.bit
    }

    /// Reads `count` bits, 0 to 64 of them.
    #[inline]
    pub fn read_bits(&mut self, count: u32) -> Result<u64, ReadError> {
        debug_assert!(count <= 64, "a value has at most 64 bits");
        let count = count.min(64);
        if count as usize > self.remaining_bits() {
            return Err(ReadError::UnexpectedEnd);
        }
        let value = if count <= STORE_BITS_MAX {
            self.load() & low_mask(count)
        } else {
            let low = self.load() & low_mask(32);
            let mut rest = self.clone();
            rest.bit += 32;
            low | ((rest.load() & low_mask(count - 32)) << 32)
        };
        self.bit += count as usize;
        Ok(value)
    }

    /// The next `count` bits (at most 56) without moving; past the end they read as zero.
    // Every code that is read begins here: a call would take as long as the rest.
    #[inline(always)]
    pub fn peek_bits(&self, count: u32) -> u64 {
        let available = self.remaining_bits().min(count.min(STORE_BITS_MAX) as usize) as u32;
        self.load() & low_mask(available)
    }

    /// Moves on by `count` bits.
    #[inline]
    pub fn skip_bits(&mut self, count: usize) -> Result<(), ReadError> {
        if count > self.remaining_bits() {
            return Err(ReadError::UnexpectedEnd);
        }
        self.bit += count;
        Ok(())
    }

    /// Reads one bit.
    #[inline]
    pub fn read_bool(&mut self) -> Result<bool, ReadError> {
        Ok(self.read_bits(1)? != 0)
    }

    /// Reads a two's complement value of `count` bits.
    pub fn read_signed(&mut self, count: u32) -> Result<i64, ReadError> {
        let spare = 64 - count.min(64);
        let raw = self.read_bits(count)? as i64;
        Ok(if spare == 64 { 0 } else { (raw << spare) >> spare })
    }

    /// Reads a value of `0..=max` and refuses a larger one.
    #[inline]
    pub fn read_ranged(&mut self, max: u64) -> Result<u64, ReadError> {
        let start = self.bit;
        let value = self.read_bits(bits_for(max))?;
        if value <= max {
            Ok(value)
        } else {
            self.bit = start;
            Err(ReadError::OutOfRange)
        }
    }

    /// Reads a value of `min..=max` and refuses any other one.
    pub fn read_ranged_signed(&mut self, min: i64, max: i64) -> Result<i64, ReadError> {
        let offset = self.read_ranged(max.wrapping_sub(min) as u64)?;
        Ok(min.wrapping_add(offset as i64))
    }

    /// Moves to the next byte border and refuses padding that is not zero.
    pub fn align(&mut self) -> Result<(), ReadError> {
        let start = self.bit;
        let padding = (8 - self.bit % 8) % 8;
        match self.read_bits(padding as u32)? {
            0 => Ok(()),
            _ => {
                self.bit = start;
                Err(ReadError::ReservedBits)
            }
        }
    }

    /// Checks that nothing but the zero padding of the last byte is left.
    pub fn finish(mut self) -> Result<(), ReadError> {
        if self.remaining_bits() >= 8 {
            return Err(ReadError::TrailingData);
        }
        let rest = self.remaining_bits() as u32;
        if self.read_bits(rest)? == 0 { Ok(()) } else { Err(ReadError::ReservedBits) }
    }

    /// At least 57 bits from the current position, zero past the end of the bytes.
    #[inline]
    fn load(&self) -> u64 {
        let byte = self.bit / 8;
        let word = match self.bytes.get(byte..byte + 8).and_then(|slot| slot.try_into().ok()) {
            Some(slot) => u64::from_le_bytes(slot),
            None => self.load_at_the_end(byte),
        };
        word >> (self.bit % 8)
    }

    #[cold]
    fn load_at_the_end(&self, byte: usize) -> u64 {
        let mut slot = [0; 8];
        for (to, from) in slot.iter_mut().zip(self.bytes.get(byte..).unwrap_or_default()) {
            *to = *from;
        }
        u64::from_le_bytes(slot)
    }
}

#[cfg(test)]
mod tests;
