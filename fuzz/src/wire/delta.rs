//! Runs, masks and residuals as they come, read with tables that both sides could agree on.

use std::sync::LazyLock;

use netloom_wire::delta::mask::{read_mask, write_mask};
use netloom_wire::delta::predict::{Baseline, extrapolate};
use netloom_wire::delta::residual::{read_residual, write_residual};
use netloom_wire::delta::run::{read_run, write_run};
use netloom_wire::entropy::{SET_BYTES, TableSet};
use netloom_wire::quantize::WordRange;
use netloom_wire::{BitReader, BitWriter, ReadError};

use crate::input::Input;

static GENERIC: LazyLock<TableSet> = LazyLock::new(TableSet::generic);

/// Reads a script of fields from coded bits.
pub fn wire_delta(data: &[u8]) {
    let mut input = Input::new(data);
    let shipped = match input.choice(2) {
        0 => None,
        _ => match TableSet::parse(input.bytes(SET_BYTES)) {
            Ok(tables) => Some(tables),
            Err(_) => return,
        },
    };
    let tables = shipped.as_ref().unwrap_or(&GENERIC);
    let coded = {
        let count = usize::from(input.u8());
        input.bytes(count)
    };
    let mut reader = BitReader::new(coded);
    while !input.is_empty() {
        let read = match input.choice(3) {
            0 => read_one_run(&mut input, tables, &mut reader),
            1 => read_one_mask(&mut input, tables, &mut reader),
            _ => read_one_residual(&mut input, tables, &mut reader),
        };
        if read.is_err() {
            return;
        }
    }
}

/// What `write` writes must be read by `read` as the same value, whichever of its forms came in.
fn assert_returns<T: PartialEq + std::fmt::Debug>(
    value: T,
    write: impl FnOnce(&mut BitWriter<'_>),
    read: impl FnOnce(&mut BitReader<'_>) -> Result<T, ReadError>,
) {
    let mut buffer = [0; 32];
    let mut writer = BitWriter::new(&mut buffer);
    write(&mut writer);
    let bits = writer.bit_len();
    writer.finish().expect("a value that was read can be written");
    let mut reader = BitReader::new(&buffer);
    assert_eq!(read(&mut reader), Ok(value));
    assert_eq!(reader.bit_position(), bits);
}

fn read_one_run(
    input: &mut Input<'_>,
    tables: &TableSet,
    reader: &mut BitReader<'_>,
) -> Result<(), ReadError> {
    let max = input.u32();
    let run = read_run(max, &tables.run, reader)?;
    assert!(run <= max);
    assert_returns(
        run,
        |writer| write_run(run, &tables.run, writer),
        |reader| read_run(max, &tables.run, reader),
    );
    Ok(())
}

fn read_one_mask(
    input: &mut Input<'_>,
    tables: &TableSet,
    reader: &mut BitReader<'_>,
) -> Result<(), ReadError> {
    let field_count = u32::from(input.u8() % 66);
    let mask = read_mask(field_count, &tables.mask, reader)?;
    assert_eq!(mask.checked_shr(field_count).unwrap_or(0), 0);
    assert_returns(
        mask,
        |writer| write_mask(mask, field_count, &tables.mask, writer),
        |reader| read_mask(field_count, &tables.mask, reader),
    );
    Ok(())
}

fn read_one_residual(
    input: &mut Input<'_>,
    tables: &TableSet,
    reader: &mut BitReader<'_>,
) -> Result<(), ReadError> {
    let (one, other) = (input.i32(), input.i32());
    let range = WordRange::new(one.min(other), one.max(other)).expect("ordered ends");
    let mut baseline = || Baseline { word: input.i32(), age: input.u32() };
    let (newer, older) = (baseline(), baseline());
    let predicted = extrapolate(newer, older, range);
    assert!(range.contains(predicted));
    let word = read_residual(predicted, range, &tables.residual, reader)?;
    assert!(range.contains(word));
    assert_returns(
        word,
        |writer| write_residual(word, predicted, range, &tables.residual, writer),
        |reader| read_residual(predicted, range, &tables.residual, reader),
    );
    Ok(())
}
