//! Code tables, changed masks, residuals, runs, predictions.

use super::{case, file, refused, refused_as, written};
use netloom_wire::delta::mask::{read_mask, write_mask};
use netloom_wire::delta::predict::{Baseline, extrapolate};
use netloom_wire::delta::residual::{read_residual, write_residual};
use netloom_wire::delta::run::{read_run, write_run};
use netloom_wire::entropy::{CodeError, CodeTable, TableSet, TableSetError};
use netloom_wire::quantize::WordRange;
use netloom_wire::{BitReader, BitWriter};
use serde_json::{Value, json};

pub fn vectors() -> Vec<crate::VectorFile> {
    vec![
        ("wire_code_table", tables()),
        ("wire_changed_mask", masks()),
        ("wire_residual", residuals()),
        ("wire_run", runs()),
        ("wire_predict", predictions()),
    ]
}

fn bits_of(write: impl FnOnce(&TableSet, &mut BitWriter<'_>)) -> Vec<u8> {
    written(|out| {
        let mut writer = BitWriter::new(out);
        write(&TableSet::generic(), &mut writer);
        writer.finish()
    })
}

fn described(table: &CodeTable) -> Value {
    json!({ "id": table.id(), "lengths": table.lengths().collect::<Vec<u8>>() })
}

fn table_reason(error: TableSetError) -> &'static str {
    match error {
        TableSetError::Length { .. } => "Length",
        TableSetError::Version { .. } => "Version",
        TableSetError::Padding => "Padding",
        TableSetError::Code(CodeError::SymbolCount { .. }) => "SymbolCount",
        TableSetError::Code(CodeError::Length { .. }) => "CodeLength",
        TableSetError::Code(CodeError::Kraft { .. }) => "Kraft",
    }
}

fn tables() -> Value {
    let flat_residual: Vec<u8> = (0..18).map(|symbol| if symbol < 14 { 4 } else { 5 }).collect();
    let flat_run: Vec<u8> = (0..17).map(|symbol| if symbol < 15 { 4 } else { 5 }).collect();
    let flat =
        TableSet::from_lengths(&flat_residual, &flat_run, &[2, 2, 3, 3, 3, 3]).expect("complete codes");
    let mut cases: Vec<Value> = [("generic", TableSet::generic()), ("flat", flat)]
        .into_iter()
        .map(|(name, set)| {
            let value = json!({
                "id": set.id(), "residual": described(&set.residual), "run": described(&set.run), "mask": described(&set.mask),
            });
            case(name, Value::Null, &set.serialize(), value)
        })
        .collect();
    let good = TableSet::generic().serialize();
    let last_of_run = 1 + 9 + 8;
    let patched = |at: usize, byte: u8| {
        let mut bad = good.clone();
        bad[at] = byte;
        bad
    };
    for (name, bytes) in [
        ("another version", patched(0, 2)),
        ("an over-full code", patched(1, 0x11)),
        ("an incomplete code", patched(1, 0x44)),
        ("a code of no bits", patched(1, 0x30)),
        ("a code of 13 bits", patched(1, 0x3d)),
        ("padding that is not zero", patched(last_of_run, good[last_of_run] | 0x10)),
        ("cut off", good[..good.len() - 1].to_vec()),
        ("too long", [&good[..], &[0]].concat()),
        ("empty", Vec::new()),
    ] {
        let error = TableSet::parse(&bytes).expect_err("a broken table set");
        cases.push(refused_as(name, Value::Null, &bytes, table_reason(error)));
    }
    file("Serialized table sets, their ids, and the code lengths and id of each table.", cases)
}

fn masks() -> Value {
    let table = TableSet::generic().mask;
    let masks = [
        (1, 0u64),
        (1, 1),
        (3, 0b111),
        (12, 0),
        (12, 1),
        (12, 0b1000_0000_0001),
        (12, 0b1111),
        (64, 1 << 63 | 1 << 40 | 2),
        (64, u64::MAX),
    ];
    let mut cases: Vec<Value> = masks
        .into_iter()
        .map(|(field_count, mask)| {
            let bytes = bits_of(|tables, writer| write_mask(mask, field_count, &tables.mask, writer));
            assert_eq!(read_mask(field_count, &table, &mut BitReader::new(&bytes)), Ok(mask));
            let given = json!({ "field_count": field_count });
            case(&format!("{mask:#x} of {field_count}"), given, &bytes, json!({ "mask": mask.to_string() }))
        })
        .collect();
    let listed = |indexes: &[u64]| {
        bits_of(|tables, writer| {
            tables.mask.write(indexes.len() as u8, writer);
            indexes.iter().for_each(|&index| writer.write_bits(index, 4));
        })
    };
    for (name, bytes) in [
        ("an index that does not exist", listed(&[12])),
        ("descending indexes", listed(&[5, 1])),
        ("an index twice", listed(&[5, 5])),
        ("empty", Vec::new()),
    ] {
        let read = read_mask(12, &table, &mut BitReader::new(&bytes));
        cases.push(refused(name, json!({ "field_count": 12 }), &bytes, read));
    }
    file("Changed masks under the generic table.", cases)
}

fn residuals() -> Value {
    let table = TableSet::generic().residual;
    let i16_words = WordRange::symmetric(32_767);
    let small = WordRange::new(0, 100).expect("a valid range");
    let words = [
        (i16_words, 1000, 1000),
        (i16_words, 1000, 1001),
        (i16_words, 1000, 999),
        (i16_words, 1000, 1003),
        (i16_words, 0, -300),
        (i16_words, 32_767, -32_767),
        (small, 50, 100),
        (small, 100, 100),
        (WordRange::ALL, i32::MIN, i32::MAX),
        (WordRange::ALL, i32::MAX, i32::MIN),
        (WordRange::ALL, 0, 65_535),
        (WordRange::ALL, 0, -65_536),
    ];
    let given = |range: WordRange, predicted: i32| json!({ "min": range.min(), "max": range.max(), "predicted": predicted });
    let mut cases: Vec<Value> = words
        .into_iter()
        .map(|(range, predicted, word)| {
            let bytes =
                bits_of(|tables, writer| write_residual(word, predicted, range, &tables.residual, writer));
            assert_eq!(read_residual(predicted, range, &table, &mut BitReader::new(&bytes)), Ok(word));
            let name = format!("{word} against {predicted} in {}..={}", range.min(), range.max());
            case(&name, given(range, predicted), &bytes, json!({ "word": word }))
        })
        .collect();
    let plus_one = bits_of(|tables, writer| write_residual(1, 0, small, &tables.residual, writer));
    let read = read_residual(100, small, &table, &mut BitReader::new(&plus_one));
    cases.push(refused("a difference that leaves the range", given(small, 100), &plus_one, read));
    let escaped = bits_of(|tables, writer| {
        tables.residual.write(17, writer);
        writer.write_bits(101, 7);
    });
    let read = read_residual(0, small, &table, &mut BitReader::new(&escaped));
    cases.push(refused("an escaped word above the range", given(small, 0), &escaped, read));
    cases.push(refused(
        "empty",
        given(small, 0),
        &[],
        read_residual(0, small, &table, &mut BitReader::new(&[])),
    ));
    file("Residuals under the generic table.", cases)
}

fn runs() -> Value {
    let table = TableSet::generic().run;
    let mut cases: Vec<Value> = [0, 1, 2, 3, 10, 254, 255, 65_534, 65_535]
        .into_iter()
        .map(|run| {
            let bytes = bits_of(|tables, writer| write_run(run, &tables.run, writer));
            assert_eq!(read_run(65_535, &table, &mut BitReader::new(&bytes)), Ok(run));
            case(&run.to_string(), json!({ "max": 65_535 }), &bytes, json!({ "run": run }))
        })
        .collect();
    let ten = bits_of(|tables, writer| write_run(10, &tables.run, writer));
    cases.push(refused(
        "longer than what is left",
        json!({ "max": 9 }),
        &ten,
        read_run(9, &table, &mut BitReader::new(&ten)),
    ));
    file("Run lengths under the generic table. given.max: the longest run that is possible.", cases)
}

fn predictions() -> Value {
    let all = WordRange::ALL;
    let baselines = [
        (all, (10, 1), (5, 2)),
        (all, (1, 1), (0, 3)),
        (all, (-1, 1), (0, 3)),
        (all, (1, 1), (0, 4)),
        (all, (100, 3), (93, 10)),
        (all, (-100, 7), (93, 1_023)),
        (all, (i32::MAX, 1_022), (i32::MIN, 1_023)),
        (all, (i32::MIN, 1_022), (i32::MAX, 1_023)),
        (WordRange::symmetric(95), (90, 1), (80, 2)),
        (all, (7, 2), (3, 2)),
        (all, (7, 1), (3, 1_024)),
        (all, (7, 0), (3, 5)),
    ];
    let cases = baselines.map(|(range, newer, older): (WordRange, (i32, u32), (i32, u32))| {
        let baseline = |(word, age): (i32, u32)| Baseline { word, age };
        let predicted = extrapolate(baseline(newer), baseline(older), range);
        let describe = |(word, age): (i32, u32)| json!({ "word": word, "age": age });
        let given = json!({ "min": range.min(), "max": range.max(), "newer": describe(newer), "older": describe(older) });
        case(&format!("{newer:?} after {older:?} within {}", range.max()), given, &[], json!({ "predicted": predicted }))
    });
    file("Extrapolation from two baselines (no bytes).", cases.to_vec())
}
