//! How many objects in a row are unchanged.
//!
//! With n = run + 1 and k = ⌊log₂ n⌋: token k, then the k low bits of n.

use crate::bits::{BitReader, BitWriter, bits_for};
use crate::entropy::{CodeTable, SymbolWriter};
use crate::error::{ReadError, WriteError};

/// The longest run: every slot of a connection.
pub const RUN_MAX: u32 = 65_535;

/// Classes 0 to 16.
pub const RUN_SYMBOLS: usize = 17;

/// Writes a run of 0 to [`RUN_MAX`].
pub fn write_run(run: u32, table: &impl SymbolWriter, writer: &mut BitWriter<'_>) {
    if run > RUN_MAX {
        return writer.fail(WriteError::OutOfRange);
    }
    let number = u64::from(run) + 1;
    let class = bits_for(number) - 1;
    table.write(class as u8, writer);
    writer.write_bits(number, class);
}

/// Reads a run of at most `max` objects, and never more than [`RUN_MAX`].
pub fn read_run(max: u32, table: &CodeTable, reader: &mut BitReader<'_>) -> Result<u32, ReadError> {
    let class = u32::from(table.read(reader)?);
    if class as usize >= RUN_SYMBOLS {
        return Err(ReadError::InvalidCode);
    }
    let run = ((1 << class) | reader.read_bits(class)? as u32) - 1;
    if run <= max.min(RUN_MAX) { Ok(run) } else { Err(ReadError::OutOfRange) }
}
