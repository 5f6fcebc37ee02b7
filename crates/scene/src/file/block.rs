//! Blocks: packed, checked, and readable up to the last whole one.

use std::io::{ErrorKind, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use netloom_wire::hash::fnv1a_32;

use super::{HEADER_BYTES_MAX, Header, MAGIC, VERSION};
use crate::SceneError;
use crate::error::Damage;

/// A block is written when it has so many bytes: enough for the packer to find what repeats.
const BLOCK_BYTES: usize = 1 << 18;
/// No block is longer, so that nobody who reads needs more memory. A tick that is longer takes several.
const BLOCK_BYTES_MAX: usize = 1 << 22;
/// The most by which packing makes bytes more: five for each 16 KiB and a few.
const PACKED_BYTES_MAX: usize = BLOCK_BYTES_MAX + BLOCK_BYTES_MAX / 1024 + 64;
/// Lengths and check.
const BLOCK_HEADER_BYTES: usize = 12;

/// Puts records into blocks and those into a file.
#[derive(Debug)]
pub(crate) struct BlockWriter<W: Write> {
    writer: W,
    records: Vec<u8>,
    offset: u64,
}

impl<W: Write> BlockWriter<W> {
    /// Begins a file.
    pub fn new(writer: W, header: &Header) -> Result<BlockWriter<W>, SceneError> {
        let mut blocks = BlockWriter { writer, records: Vec::new(), offset: 0 };
        let header = header.to_bytes();
        blocks.write(&MAGIC)?;
        blocks.write(&[VERSION])?;
        blocks.write(&(header.len() as u32).to_le_bytes())?;
        blocks.write(&fnv1a_32(&header).to_le_bytes())?;
        blocks.write(&header)?;
        Ok(blocks)
    }

    /// Where the next record is appended; [`BlockWriter::after_record`] follows.
    pub fn records(&mut self) -> &mut Vec<u8> {
        &mut self.records
    }

    /// A record is complete: writes the block if another one might not fit.
    pub fn after_record(&mut self, record_bytes_max: usize) -> Result<(), SceneError> {
        if self.records.len() + record_bytes_max > BLOCK_BYTES_MAX { self.end_block() } else { Ok(()) }
    }

    /// A tick is complete: writes the block if it is long enough.
    pub fn after_tick(&mut self) -> Result<(), SceneError> {
        if self.records.len() >= BLOCK_BYTES { self.end_block() } else { Ok(()) }
    }

    /// Writes what there is as a block, and passes everything on to the system.
    pub fn flush(&mut self) -> Result<(), SceneError> {
        self.end_block()?;
        self.writer.flush().map_err(|source| SceneError::Io { offset: self.offset, source })
    }

    /// Ends the file.
    pub fn finish(&mut self) -> Result<(), SceneError> {
        self.end_block()?;
        self.write(&[0; BLOCK_HEADER_BYTES])?;
        self.flush()
    }

    fn end_block(&mut self) -> Result<(), SceneError> {
        if self.records.is_empty() {
            return Ok(());
        }
        let mut packer = DeflateEncoder::new(Vec::new(), Compression::default());
        let packed = packer.write_all(&self.records).and_then(|()| packer.finish());
        let packed = packed.map_err(|source| SceneError::Io { offset: self.offset, source })?;
        let mut header = Vec::with_capacity(BLOCK_HEADER_BYTES);
        header.extend((packed.len() as u32).to_le_bytes());
        header.extend((self.records.len() as u32).to_le_bytes());
        header.extend(fnv1a_32(&packed).to_le_bytes());
        self.write(&header)?;
        self.write(&packed)?;
        self.records.clear();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), SceneError> {
        self.writer.write_all(bytes).map_err(|source| SceneError::Io { offset: self.offset, source })?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}

/// What comes after a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another one.
    Block,
    /// The end that was written.
    End,
    /// Nothing, or a part of a block.
    Cut,
}

/// Reads a file block by block.
#[derive(Debug)]
pub(crate) struct BlockReader<R: Read> {
    reader: R,
    offset: u64,
    /// Where the present block begins in the file.
    block_offset: u64,
    packed: Vec<u8>,
    block: Vec<u8>,
}

impl<R: Read> BlockReader<R> {
    /// Reads the header of a file.
    pub fn new(reader: R) -> Result<(BlockReader<R>, Header), SceneError> {
        let mut blocks =
            BlockReader { reader, offset: 0, block_offset: 0, packed: Vec::new(), block: Vec::new() };
        let mut magic = [0; MAGIC.len()];
        if blocks.fill(&mut magic)? < MAGIC.len() || magic != MAGIC {
            return Err(SceneError::NotAScene);
        }
        let ends = |offset| SceneError::Damaged { offset, what: Damage::HeaderEnds };
        let mut fixed = [0; 9];
        if blocks.fill(&mut fixed)? < fixed.len() {
            return Err(ends(blocks.offset));
        }
        let [version, l0, l1, l2, l3, c0, c1, c2, c3] = fixed;
        if version != VERSION {
            return Err(SceneError::Version { version, known: VERSION });
        }
        let offset = blocks.offset;
        let damaged = |what| SceneError::Damaged { offset, what };
        let length = u32::from_le_bytes([l0, l1, l2, l3]);
        if length > HEADER_BYTES_MAX {
            let (bytes, bytes_max) = (length.into(), HEADER_BYTES_MAX.into());
            return Err(damaged(Damage::BlockLength { bytes, bytes_max }));
        }
        if !blocks.fill_packed(length as usize)? {
            return Err(ends(blocks.offset));
        }
        if fnv1a_32(&blocks.packed) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Err(damaged(Damage::Checksum));
        }
        let header = Header::from_bytes(&blocks.packed).map_err(damaged)?;
        Ok((blocks, header))
    }

    /// The records of the present block.
    pub fn block(&self) -> &[u8] {
        &self.block
    }

    /// An error about the present block.
    pub fn damaged(&self, what: Damage) -> SceneError {
        SceneError::Damaged { offset: self.block_offset, what }
    }

    /// Goes on to the next block.
    pub fn next(&mut self) -> Result<Next, SceneError> {
        self.block_offset = self.offset;
        self.block.clear();
        let mut header = [0; BLOCK_HEADER_BYTES];
        if self.fill(&mut header)? < BLOCK_HEADER_BYTES {
            return Ok(Next::Cut);
        }
        if header == [0; BLOCK_HEADER_BYTES] {
            return Ok(Next::End);
        }
        let [packed, length, check] = [0, 4, 8]
            .map(|at| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]));
        for (bytes, bytes_max) in [(packed, PACKED_BYTES_MAX), (length, BLOCK_BYTES_MAX)] {
            if bytes as usize > bytes_max {
                let (bytes, bytes_max) = (bytes.into(), bytes_max as u64);
                return Err(self.damaged(Damage::BlockLength { bytes, bytes_max }));
            }
        }
        if !self.fill_packed(packed as usize)? {
            return Ok(Next::Cut);
        }
        if fnv1a_32(&self.packed) != check {
            return Err(self.damaged(Damage::Checksum));
        }
        // One byte more than there may be shows that there are too many.
        let unpacked =
            DeflateDecoder::new(&self.packed[..]).take(u64::from(length) + 1).read_to_end(&mut self.block);
        match unpacked {
            Ok(bytes) if bytes == length as usize => Ok(Next::Block),
            _ => {
                self.block.clear();
                Err(self.damaged(Damage::Packing))
            }
        }
    }

    /// Reads `length` bytes; false if the file ends before. Memory grows with what is there, not with what is claimed.
    fn fill_packed(&mut self, length: usize) -> Result<bool, SceneError> {
        self.packed.clear();
        let read = self.reader.by_ref().take(length as u64).read_to_end(&mut self.packed);
        let count = read.map_err(|source| SceneError::Io { offset: self.offset, source })?;
        self.offset += count as u64;
        Ok(count == length)
    }

    /// Reads as many bytes as there are, up to the length of `bytes`.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<usize, SceneError> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.reader.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(SceneError::Io { offset: self.offset, source }),
            }
        }
        self.offset += filled as u64;
        Ok(filled)
    }
}
