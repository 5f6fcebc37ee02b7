//! Code tables from anywhere, and what they decode.

use netloom_wire::entropy::{CODE_BITS_MAX, CodeTable, SYMBOLS_MAX, TableSet};
use netloom_wire::{BitReader, BitWriter};

use super::same_bits;
use crate::input::Input;

/// Parses a table set, or builds a table and decodes the rest with it.
pub fn wire_entropy(data: &[u8]) {
    let mut input = Input::new(data);
    match input.choice(3) {
        0 => {
            let bytes = input.rest();
            if let Ok(set) = TableSet::parse(bytes) {
                assert_eq!(set.serialize(), bytes);
            }
        }
        1 => {
            let count = usize::from(input.u16()) % (SYMBOLS_MAX + 2);
            let lengths: Vec<u8> = (0..count).map(|_| input.u8()).collect();
            if let Ok(table) = CodeTable::from_lengths(&lengths) {
                assert!(table.lengths().eq(lengths));
                decode(&table, input.rest());
            }
        }
        _ => {
            // Training takes time by the square of the symbols; few show as much as many.
            let counts: Vec<u64> =
                (0..2 + input.choice(40)).map(|_| input.u64() >> (input.u8() % 64)).collect();
            let table = CodeTable::from_counts(&counts).expect("counts always make a code");
            assert!(table.lengths().all(|bits| u32::from(bits) <= CODE_BITS_MAX));
            decode(&table, input.rest());
        }
    }
}

/// A complete code decodes everything, and one spelling is one sequence of symbols.
fn decode(table: &CodeTable, bytes: &[u8]) {
    let mut again = vec![0; bytes.len() + 8];
    let mut writer = BitWriter::new(&mut again);
    let mut reader = BitReader::new(bytes);
    while let Ok(symbol) = table.read(&mut reader) {
        table.write(symbol, &mut writer);
    }
    assert!(reader.remaining_bits() < CODE_BITS_MAX as usize);
    let bits = reader.bit_position();
    assert_eq!(writer.bit_len(), bits);
    assert!(writer.finish().is_ok());
    assert!(same_bits(bytes, &again, bits));
}
