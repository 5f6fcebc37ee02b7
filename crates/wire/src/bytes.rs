//! Byte-granular reading and writing: little-endian, typed, bounded.
//!
//! Messages that are not snapshots (chat, lobby, handshakes, property blocks) want plain typed values rather than bit
//! packing. [`ByteSink`] is the writing vocabulary, shared by [`ByteWriter`] (fixed storage of the caller, no
//! allocation) and [`MessageBuffer`] (grows up to a limit, for streams); [`ByteReader`] is the reading side.
//!
//! ```text
//!  write_u16(300)      2C 01
//!  write_f32(10.5)     00 00 28 41
//!  write_str("hi", _)  02 68 69          varint length, then UTF-8
//!  write_name("hi")    da c3 5e b5 07 5f ba 08    FNV-1a 64; in debug form the string follows
//! ```

use crate::error::{ReadError, WriteError};
use crate::name::{NAME_BYTES_MAX, Name, NameMode, Resolve};
use crate::varint;

/// Typed little-endian writing over some byte storage.
///
/// The first failure sticks: later writes do nothing, and finishing reports it.
pub trait ByteSink {
    /// Appends raw bytes.
    fn write_bytes(&mut self, bytes: &[u8]);

    /// Records a failure; the first one wins.
    fn fail(&mut self, error: WriteError);

    /// How names are written.
    fn name_mode(&self) -> NameMode;

    /// Writes one byte.
    fn write_u8(&mut self, value: u8) {
        self.write_bytes(&[value]);
    }

    /// Writes two bytes.
    fn write_u16(&mut self, value: u16) {
        self.write_bytes(&value.to_le_bytes());
    }

    /// Writes four bytes.
    fn write_u32(&mut self, value: u32) {
        self.write_bytes(&value.to_le_bytes());
    }

    /// Writes eight bytes.
    fn write_u64(&mut self, value: u64) {
        self.write_bytes(&value.to_le_bytes());
    }

    /// Writes one byte in two's complement.
    fn write_i8(&mut self, value: i8) {
        self.write_bytes(&value.to_le_bytes());
    }

    /// Writes two bytes in two's complement.
    fn write_i16(&mut self, value: i16) {
        self.write_bytes(&value.to_le_bytes());
    }

    /// Writes four bytes in two's complement.
    fn write_i32(&mut self, value: i32) {
        self.write_bytes(&value.to_le_bytes());
    }

    /// Writes eight bytes in two's complement.
    fn write_i64(&mut self, value: i64) {
        self.write_bytes(&value.to_le_bytes());
    }

    /// Writes the four bytes of an IEEE 754 single.
    fn write_f32(&mut self, value: f32) {
        self.write_bytes(&value.to_le_bytes());
    }

    /// Writes the eight bytes of an IEEE 754 double.
    fn write_f64(&mut self, value: f64) {
        self.write_bytes(&value.to_le_bytes());
    }

    /// Writes one byte, 0 or 1.
    fn write_bool(&mut self, value: bool) {
        self.write_bytes(&[u8::from(value)]);
    }

    /// Writes 1 to 10 bytes, see [`varint`].
    fn write_varint(&mut self, value: u64) {
        let mut bytes = [0; varint::MAX_LEN];
        let length = varint::write(value, &mut bytes).unwrap_or_default();
        self.write_bytes(bytes.get(..length).unwrap_or_default());
    }

    /// Writes the length as a varint, then the bytes; more than `bytes_max` of them is an error.
    fn write_blob(&mut self, bytes: &[u8], bytes_max: usize) {
        if bytes.len() > bytes_max {
            self.fail(WriteError::TooLong);
            return;
        }
        self.write_varint(bytes.len() as u64);
        self.write_bytes(bytes);
    }

    /// Writes a string as its UTF-8 [blob](ByteSink::write_blob).
    fn write_str(&mut self, text: &str, bytes_max: usize) {
        self.write_blob(text.as_bytes(), bytes_max);
    }

    /// Writes a name: its hash, and in [`NameMode::WithText`] the text that `names` knows for it (or an empty one).
    fn write_name(&mut self, name: Name, names: &dyn Resolve) {
        self.write_u64(name.0);
        if self.name_mode() == NameMode::WithText {
            self.write_str(names.resolve(name).unwrap_or_default(), NAME_BYTES_MAX);
        }
    }
}

/// Writes into storage that the caller owns.
#[derive(Debug)]
pub struct ByteWriter<'a> {
    buffer: &'a mut [u8],
    position: usize,
    name_mode: NameMode,
    fault: Option<WriteError>,
}

impl<'a> ByteWriter<'a> {
    /// A writer that starts at the first byte of `buffer`.
    pub fn new(buffer: &'a mut [u8]) -> ByteWriter<'a> {
        ByteWriter { buffer, position: 0, name_mode: NameMode::Hashed, fault: None }
    }

    /// The same writer with another form of names.
    #[must_use]
    pub fn with_names(self, name_mode: NameMode) -> ByteWriter<'a> {
        ByteWriter { name_mode, ..self }
    }

    /// Bytes written so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Bytes that still fit; zero after a failure.
    pub fn remaining(&self) -> usize {
        if self.fault.is_some() { 0 } else { self.buffer.len() - self.position }
    }

    /// The number of bytes written, or the first failure.
    pub fn finish(self) -> Result<usize, WriteError> {
        match self.fault {
            None => Ok(self.position),
            Some(error) => Err(error),
        }
    }
}

impl ByteSink for ByteWriter<'_> {
    #[inline]
    fn write_bytes(&mut self, bytes: &[u8]) {
        if self.fault.is_some() {
            return;
        }
        match self.buffer.get_mut(self.position..).and_then(|rest| rest.get_mut(..bytes.len())) {
            Some(slot) => {
                slot.copy_from_slice(bytes);
                self.position += bytes.len();
            }
            None => self.fail(WriteError::BufferFull),
        }
    }

    fn fail(&mut self, error: WriteError) {
        self.fault.get_or_insert(error);
    }

    fn name_mode(&self) -> NameMode {
        self.name_mode
    }
}

/// Reads what a [`ByteSink`] wrote. A failed read leaves the position where it was.
#[derive(Clone, Debug)]
pub struct ByteReader<'a> {
    bytes: &'a [u8],
    position: usize,
    name_mode: NameMode,
}

impl<'a> ByteReader<'a> {
    /// A reader that starts at the first of `bytes`.
    pub fn new(bytes: &'a [u8]) -> ByteReader<'a> {
        ByteReader { bytes, position: 0, name_mode: NameMode::Hashed }
    }

    /// The same reader with another form of names.
    #[must_use]
    pub fn with_names(self, name_mode: NameMode) -> ByteReader<'a> {
        ByteReader { name_mode, ..self }
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The bytes not yet read.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// How many bytes are not yet read.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Reads `count` raw bytes.
    #[inline]
    pub fn read_bytes(&mut self, count: usize) -> Result<&'a [u8], ReadError> {
        let bytes = self.rest().get(..count).ok_or(ReadError::UnexpectedEnd)?;
        self.position += count;
        Ok(bytes)
    }

    /// Reads an array of raw bytes.
    #[inline]
    pub fn read_array<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let bytes = self.rest().first_chunk::<N>().ok_or(ReadError::UnexpectedEnd)?;
        self.position += N;
        Ok(*bytes)
    }

    /// Reads one byte.
    pub fn read_u8(&mut self) -> Result<u8, ReadError> {
        self.read_array().map(u8::from_le_bytes)
    }

    /// Reads two bytes.
    pub fn read_u16(&mut self) -> Result<u16, ReadError> {
        self.read_array().map(u16::from_le_bytes)
    }

    /// Reads four bytes.
    pub fn read_u32(&mut self) -> Result<u32, ReadError> {
        self.read_array().map(u32::from_le_bytes)
    }

    /// Reads eight bytes.
    pub fn read_u64(&mut self) -> Result<u64, ReadError> {
        self.read_array().map(u64::from_le_bytes)
    }

    /// Reads one byte in two's complement.
    pub fn read_i8(&mut self) -> Result<i8, ReadError> {
        self.read_array().map(i8::from_le_bytes)
    }

    /// Reads two bytes in two's complement.
    pub fn read_i16(&mut self) -> Result<i16, ReadError> {
        self.read_array().map(i16::from_le_bytes)
    }

    /// Reads four bytes in two's complement.
    pub fn read_i32(&mut self) -> Result<i32, ReadError> {
        self.read_array().map(i32::from_le_bytes)
    }

    /// Reads eight bytes in two's complement.
    pub fn read_i64(&mut self) -> Result<i64, ReadError> {
        self.read_array().map(i64::from_le_bytes)
    }

    /// Reads an IEEE 754 single of any kind, infinities and NaN included.
    pub fn read_f32(&mut self) -> Result<f32, ReadError> {
        self.read_array().map(f32::from_le_bytes)
    }

    /// Reads an IEEE 754 single and refuses infinities and NaN.
    pub fn read_finite_f32(&mut self) -> Result<f32, ReadError> {
        let bytes = self.clone().read_f32()?;
        if !bytes.is_finite() {
            return Err(ReadError::NonFinite);
        }
        self.read_f32()
    }

    /// Reads an IEEE 754 double of any kind, infinities and NaN included.
    pub fn read_f64(&mut self) -> Result<f64, ReadError> {
        self.read_array().map(f64::from_le_bytes)
    }

    /// Reads one byte and refuses all but 0 and 1.
    pub fn read_bool(&mut self) -> Result<bool, ReadError> {
        let value = match self.rest().first() {
            Some(0) => false,
            Some(1) => true,
            Some(_) => return Err(ReadError::InvalidBool),
            None => return Err(ReadError::UnexpectedEnd),
        };
        self.position += 1;
        Ok(value)
    }

    /// Reads a varint in its shortest form.
    pub fn read_varint(&mut self) -> Result<u64, ReadError> {
        let rest = self.rest();
        match varint::read(rest) {
            Some((value, length)) => {
                self.position += length;
                Ok(value)
            }
            None if rest.len() < varint::MAX_LEN && rest.iter().all(|byte| byte & 0x80 != 0) => {
                Err(ReadError::UnexpectedEnd)
            }
            None => Err(ReadError::InvalidVarint),
        }
    }

    /// Reads a varint of at most `max`.
    pub fn read_varint_up_to(&mut self, max: u64) -> Result<u64, ReadError> {
        let mut ahead = self.clone();
        let value = ahead.read_varint()?;
        if value > max {
            return Err(ReadError::TooLong);
        }
        *self = ahead;
        Ok(value)
    }

    /// Reads a length and as many bytes; a length above `bytes_max` is refused before anything else is looked at.
    pub fn read_blob(&mut self, bytes_max: usize) -> Result<&'a [u8], ReadError> {
        let mut ahead = self.clone();
        let length = ahead.read_varint_up_to(bytes_max as u64)?;
        let bytes = ahead.read_bytes(length as usize)?;
        *self = ahead;
        Ok(bytes)
    }

    /// Reads a string of at most `bytes_max` bytes of UTF-8.
    pub fn read_str(&mut self, bytes_max: usize) -> Result<&'a str, ReadError> {
        let mut ahead = self.clone();
        let bytes = ahead.read_blob(bytes_max)?;
        let text = core::str::from_utf8(bytes).map_err(|_| ReadError::InvalidUtf8)?;
        *self = ahead;
        Ok(text)
    }

    /// Reads a name, and in [`NameMode::WithText`] its text, which must hash to the name. An empty text means that
    /// the sender did not know it.
    pub fn read_name(&mut self) -> Result<(Name, Option<&'a str>), ReadError> {
        let mut ahead = self.clone();
        let name = Name(ahead.read_u64()?);
        let text = match self.name_mode {
            NameMode::Hashed => "",
            NameMode::WithText => ahead.read_str(NAME_BYTES_MAX)?,
        };
        if !text.is_empty() && Name::of(text) != name {
            return Err(ReadError::NameMismatch(name));
        }
        *self = ahead;
        Ok((name, (!text.is_empty()).then_some(text)))
    }

    /// Reads a name and looks up its text; an unregistered one is [`ReadError::UnknownName`], even if text came along.
    pub fn read_known_name<'r>(&mut self, names: &'r dyn Resolve) -> Result<(Name, &'r str), ReadError> {
        let mut ahead = self.clone();
        let (name, _) = ahead.read_name()?;
        let text = names.resolve(name).ok_or(ReadError::UnknownName(name))?;
        *self = ahead;
        Ok((name, text))
    }

    /// Checks that every byte was read.
    pub fn finish(self) -> Result<(), ReadError> {
        if self.remaining() == 0 { Ok(()) } else { Err(ReadError::TrailingData) }
    }
}

mod buffer;
#[cfg(test)]
mod tests;

pub use buffer::{KEPT_CAPACITY_BYTES, MessageBuffer};
