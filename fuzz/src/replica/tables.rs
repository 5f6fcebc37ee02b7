//! Files of code tables as they come, and bits that are read with any of them.

use netloom_replica::ClassId;
use netloom_replica::codec::{Baseline, Codes, GROUPS, TABLE_BYTES_MAX, decode, read_gap};
use netloom_wire::hash::Fnv32;
use netloom_wire::schema::Audience;
use netloom_wire::{BitReader, Profile};

use super::{CLASSES, codes, table};
use crate::input::Input;

/// Tables whose codes are moved about before bits are read with them.
const MOVED_MAX: usize = 32;

/// A file is code tables or has an error, and what it is says the same when it is written again. Whatever bits are read with
/// whatever tables end in a state or in an error.
pub fn replica_tables(data: &[u8]) {
    let mut input = Input::new(data);
    match input.choice(3) {
        0 => parse(input.rest()),
        1 => parse(&with_header(input.rest())),
        _ => {
            let codes = moved(&mut input);
            read(&codes, input.rest());
        }
    }
}

fn parse(file: &[u8]) {
    let Ok(codes) = Codes::parse(file) else { return };
    let bytes = codes.serialize();
    assert!(bytes.len() <= TABLE_BYTES_MAX);
    let again = Codes::parse(&bytes).expect("what was written can be read");
    assert_eq!((again.id(), again.name(), again.lengths()), (codes.id(), codes.name(), codes.lengths()));
    read(&codes, file);
}

/// A file with these lengths and the id that belongs to them, if all of them are said once: what comes after a good header.
fn with_header(packed: &[u8]) -> Vec<u8> {
    let good = codes().serialize();
    let header = good.len().min(6 + codes().name().len());
    let layout = &good[header..header + 4];
    let lengths: Vec<u8> =
        packed.iter().flat_map(|pair| [pair & 15, pair >> 4]).take(codes().lengths().len()).collect();
    let id = Fnv32::new().with(layout).with(&lengths).value();
    [&good[..header], layout, &id.to_le_bytes(), packed].concat()
}

/// Other codes for the same symbols: those of some tables moved by some places, so that they are complete as before.
fn moved(input: &mut Input<'_>) -> Codes {
    let mut lengths = codes().lengths().to_vec();
    let tables: Vec<(usize, usize)> = GROUPS
        .iter()
        .flat_map(|group| std::iter::repeat_n(group.symbols, group.tables))
        .scan(0, |next, symbols| {
            *next += symbols;
            Some((*next - symbols, symbols))
        })
        .collect();
    for _ in 0..input.choice(MOVED_MAX) {
        let (first, symbols) = tables[usize::from(input.u16()) % tables.len()];
        lengths[first..first + symbols].rotate_left(input.choice(symbols));
    }
    Codes::from_lengths("moved", &lengths).expect("complete codes in another order")
}

fn read(codes: &Codes, bits: &[u8]) {
    let _gap = read_gap(codes, &mut BitReader::new(bits), 65_534);
    for number in 0..CLASSES as u8 {
        let class = table().class(ClassId(number), Profile::Standard).expect("one of the classes");
        let visible = class.visible(Audience::Owner);
        // Rotations that drop the last component and are no turn at all, everything else zero.
        let newer = vec![0; class.word_count()];
        let older: Vec<i32> = (0..newer.len() as i32).map(|word| word % 4).collect();
        let mut words = vec![0; class.word_count()];
        for older in [None, Some(Baseline { words: &older, age: 6 })] {
            let newer = Baseline { words: &newer, age: 3 };
            let mut reader = BitReader::new(bits);
            // As a snapshot has them: one after the other, until one cannot be read or says nothing.
            loop {
                let before = reader.bit_position();
                let mut nobody = |_: usize, _: &[u8]| {};
                let read = decode(class, visible, newer, older, codes, &mut reader, &mut words, &mut nobody);
                if read.is_err() || reader.bit_position() == before {
                    break;
                }
            }
        }
    }
}
