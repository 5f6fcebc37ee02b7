use super::*;
use proptest::prelude::*;

fn written(table: &CodeTable, symbols: &[u8]) -> Vec<u8> {
    let mut buffer = vec![0; symbols.len() * 2 + 8];
    let mut writer = BitWriter::new(&mut buffer);
    for &symbol in symbols {
        table.write(symbol, &mut writer);
    }
    let length = writer.finish().unwrap();
    buffer.truncate(length);
    buffer
}

#[test]
fn the_example_of_the_module_is_true() {
    let table = CodeTable::from_lengths(&[2, 1, 3, 3]).unwrap();
    assert_eq!(written(&table, &[2, 0, 1]), [0b00_1011]);
}

#[test]
fn lengths_that_are_no_complete_code_are_refused() {
    assert_eq!(CodeTable::from_lengths(&[1]), Err(CodeError::SymbolCount { count: 1 }));
    assert_eq!(CodeTable::from_lengths(&[8; 257]), Err(CodeError::SymbolCount { count: 257 }));
    assert_eq!(CodeTable::from_lengths(&[1, 0]), Err(CodeError::Length { symbol: 1, bits: 0 }));
    assert_eq!(CodeTable::from_lengths(&[1, 13]), Err(CodeError::Length { symbol: 1, bits: 13 }));
    assert_eq!(CodeTable::from_lengths(&[1, 2]), Err(CodeError::Kraft { filled: 3072 }), "incomplete");
    assert_eq!(CodeTable::from_lengths(&[1, 1, 1]), Err(CodeError::Kraft { filled: 6144 }), "over-full");
}

#[test]
fn codes_that_the_table_lacks_are_refused() {
    let table = CodeTable::from_lengths(&[1, 1]).unwrap();
    let mut buffer = [0; 4];
    let mut writer = BitWriter::new(&mut buffer);
    table.write(2, &mut writer);
    assert_eq!(writer.finish(), Err(WriteError::OutOfRange));
    assert_eq!(table.bit_len(2), None);
    assert_eq!(table.read(&mut BitReader::new(&[])), Err(ReadError::UnexpectedEnd));
}

#[test]
fn skewed_counts_stay_within_the_limit() {
    let fibonacci: Vec<u64> = (0..40)
        .scan((1u64, 1u64), |state, _| {
            *state = (state.1, state.0 + state.1);
            Some(state.0)
        })
        .collect();
    let table = CodeTable::from_counts(&fibonacci).unwrap();
    assert_eq!(table.lengths().max(), Some(12));
    assert!(table.bit_len(39) < table.bit_len(0));
}

#[test]
fn known_counts_get_their_huffman_lengths() {
    let table = CodeTable::from_counts(&[45, 13, 12, 16, 9, 5]).unwrap();
    assert_eq!(table.lengths().collect::<Vec<_>>(), [1, 3, 3, 3, 4, 4]);
    let even = CodeTable::from_counts(&[0; 256]).unwrap();
    assert!(even.lengths().all(|bits| bits == 8));
}

#[test]
fn equal_lengths_mean_equal_ids_and_others_differ() {
    let a = CodeTable::from_lengths(&[1, 2, 2]).unwrap();
    assert_eq!(a.id(), CodeTable::from_lengths(&[1, 2, 2]).unwrap().id());
    assert_ne!(a.id(), CodeTable::from_lengths(&[2, 1, 2]).unwrap().id());
}

#[test]
fn the_generic_set_survives_its_serialized_form() {
    let generic = TableSet::generic();
    let bytes = generic.serialize();
    assert_eq!(bytes.len(), SET_BYTES);
    assert_eq!(TableSet::parse(&bytes), Ok(generic.clone()));
    assert_eq!(TableSet::parse(&bytes).unwrap().id(), generic.id());
}

#[test]
fn broken_table_sets_are_refused_with_their_reason() {
    let good = TableSet::generic().serialize();
    assert!(matches!(TableSet::parse(&[]), Err(TableSetError::Length { length: 0, .. })));
    assert!(matches!(TableSet::parse(&good[..good.len() - 1]), Err(TableSetError::Length { .. })));
    assert!(matches!(TableSet::parse(&[&good[..], &[0]].concat()), Err(TableSetError::Length { .. })));
    let with = |at: usize, byte: u8| {
        let mut bad = good.clone();
        bad[at] = byte;
        TableSet::parse(&bad)
    };
    assert_eq!(with(0, 2), Err(TableSetError::Version { version: 2 }));
    assert!(matches!(with(1, 0x11), Err(TableSetError::Code(CodeError::Kraft { .. }))));
    let run_end = 1 + 9 + 8;
    assert_eq!(with(run_end, good[run_end] | 0x10), Err(TableSetError::Padding));
}

proptest! {
    #[test]
    fn any_symbols_return_under_any_counts(counts in proptest::collection::vec(0u64..100_000, 2..=256), picks in proptest::collection::vec(any::<u16>(), 0..60)) {
        let table = CodeTable::from_counts(&counts).unwrap();
        let symbols: Vec<u8> = picks.iter().map(|pick| (usize::from(*pick) % counts.len()) as u8).collect();
        let bytes = written(&table, &symbols);
        let mut reader = BitReader::new(&bytes);
        for symbol in symbols {
            prop_assert_eq!(table.read(&mut reader), Ok(symbol));
        }
        prop_assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn any_bytes_parse_or_are_refused_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(set) = TableSet::parse(&bytes) {
            prop_assert_eq!(set.serialize(), bytes);
        }
    }
}
