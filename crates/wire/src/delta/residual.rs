//! A word as its difference from a prediction.
//!
//! ```text
//!   difference 0          token 0
//!   ±1                    token 1, sign
//!   ±2, ±3                token 2, sign, 1 bit
//!   ±(2^(k-1) … 2^k - 1)  token k, sign, the k-1 low bits of the magnitude       k up to 16
//!   anything              token 17, the word's distance from the field's smallest word
//! ```
//!
//! The escape carries the word itself: a jump costs no more than a full value, and any two words of 32 bits have a
//! valid encoding.

use crate::bits::{BitReader, BitWriter, bits_for};
use crate::entropy::{CodeTable, SymbolWriter};
use crate::error::{ReadError, WriteError};
use crate::quantize::WordRange;

/// The largest magnitude class.
const CLASS_MAX: u8 = 16;

/// The symbol of a word that is sent as it is.
const ESCAPE: u8 = CLASS_MAX + 1;

/// Seventeen magnitude classes and the escape.
pub const RESIDUAL_SYMBOLS: usize = ESCAPE as usize + 1;

/// Writes `word`, which must lie in `range`, as its difference from `predicted`, in the shorter of the two forms.
#[inline]
pub fn write_residual(
    word: i32,
    predicted: i32,
    range: WordRange,
    table: &impl SymbolWriter,
    writer: &mut BitWriter<'_>,
) {
    if !range.contains(word) {
        return writer.fail(WriteError::OutOfRange);
    }
    let difference = i64::from(word) - i64::from(predicted);
    let magnitude = difference.unsigned_abs();
    let class = bits_for(magnitude);
    let cost = |symbol: u8, raw_bits: u32| table.bit_len(symbol).unwrap_or(0) + raw_bits;
    if class > u32::from(CLASS_MAX) || cost(class as u8, class) > cost(ESCAPE, range.bit_width()) {
        table.write(ESCAPE, writer);
        writer.append_bits(u64::from(word.wrapping_sub(range.min()) as u32), range.bit_width());
        return;
    }
    table.write(class as u8, writer);
    if class > 0 {
        writer.write_bool(difference < 0);
        writer.write_bits(magnitude, class - 1);
    }
}

/// Reads a word of `range` that was written against the same prediction.
#[inline]
pub fn read_residual(
    predicted: i32,
    range: WordRange,
    table: &CodeTable,
    reader: &mut BitReader<'_>,
) -> Result<i32, ReadError> {
    let symbol = table.read(reader)?;
    let value = match symbol {
        0 => i64::from(predicted),
        1..=CLASS_MAX => {
            let negative = reader.read_bool()?;
            let class = u32::from(symbol);
            let magnitude = (1i64 << (class - 1)) | reader.read_bits(class - 1)? as i64;
            i64::from(predicted) + if negative { -magnitude } else { magnitude }
        }
        ESCAPE => i64::from(range.min()) + reader.read_bits(range.bit_width())? as i64,
        _ => return Err(ReadError::InvalidCode),
    };
    match i32::try_from(value) {
        Ok(word) if range.contains(word) => Ok(word),
        _ => Err(ReadError::OutOfRange),
    }
}
