//! Which fields changed: bit *i* of a u64 stands for field *i*, the hottest field first.
//!
//! Usually one or two of many fields change, so up to four are listed by index; more are sent as one bit per field.

use crate::bits::{BitReader, BitWriter, bits_for};
use crate::entropy::{CodeTable, SymbolWriter};
use crate::error::{ReadError, WriteError};

/// The most fields that are listed by index.
const LISTED_MAX: u32 = 4;

/// The symbol of a mask that is sent as a bit per field.
const BITMAP: u8 = LISTED_MAX as u8 + 1;

/// Symbols 0 to 4 say how many indexes follow, symbol 5 that a bitmap follows.
pub const MASK_SYMBOLS: usize = BITMAP as usize + 1;

/// The most fields that a mask has bits for.
pub const FIELDS_MAX: u32 = 64;

/// Writes which of `field_count` fields (1 to 64) changed. A bit beyond them is an error.
pub fn write_mask(mask: u64, field_count: u32, table: &impl SymbolWriter, writer: &mut BitWriter<'_>) {
    if !(1..=FIELDS_MAX).contains(&field_count) || mask.checked_shr(field_count).unwrap_or(0) != 0 {
        return writer.fail(WriteError::OutOfRange);
    }
    let changed = mask.count_ones();
    let index_bits = bits_for(u64::from(field_count - 1));
    if changed > LISTED_MAX || changed * index_bits >= field_count {
        table.write(BITMAP, writer);
        writer.write_bits(mask, field_count);
        return;
    }
    table.write(changed as u8, writer);
    let mut rest = mask;
    while rest != 0 {
        writer.append_bits(u64::from(rest.trailing_zeros()), index_bits);
        rest &= rest - 1;
    }
}

/// Reads which of `field_count` fields changed. Listed indexes must ascend and exist; either form is accepted.
pub fn read_mask(field_count: u32, table: &CodeTable, reader: &mut BitReader<'_>) -> Result<u64, ReadError> {
    if !(1..=FIELDS_MAX).contains(&field_count) {
        return Err(ReadError::InvalidField);
    }
    let symbol = table.read(reader)?;
    if symbol == BITMAP {
        return reader.read_bits(field_count);
    }
    if symbol > BITMAP {
        return Err(ReadError::InvalidCode);
    }
    let mut mask = 0u64;
    for _ in 0..symbol {
        let index = reader.read_ranged(u64::from(field_count - 1)).map_err(|error| match error {
            ReadError::OutOfRange => ReadError::InvalidField,
            other => other,
        })?;
        let bit = 1u64 << index;
        if bit <= mask {
            return Err(ReadError::InvalidField);
        }
        mask |= bit;
    }
    Ok(mask)
}
