//! What a frame of cubes consists of.

use netloom_replica::codec::{Codes, Tally};

use super::coder::{Coder, Film, SKIPPED};
use crate::table::{Figure, Row, Target};

/// A byte in every one of 60 frames a second.
pub const KBIT_PER_S_OF_A_BYTE: f64 = 8.0 * 60.0 / 1000.0;

/// The groups of tables, what they say, and the keys of their figures.
const PARTS: [(&[&str], &str, &str); 4] = [
    (&["gap"], "codes: which cubes begin to move", "part_gaps_kbit_per_s"),
    (&["symbol", "mask", "residual"], "codes: unusual forms and other fields", "part_forms_kbit_per_s"),
    (&["head", "place"], "codes: positions", "part_positions_kbit_per_s"),
    (&["lead", "rest"], "codes: rotations", "part_rotations_kbit_per_s"),
];

/// Counts the symbols of all frames.
pub fn count(film: &Film, coder: &Coder, tally: &mut Tally) {
    let mut late = Vec::new();
    for at in SKIPPED..film.len() {
        coder.code(film, at, &mut late, tally);
    }
}

/// What the codes of each part take, and the bits that follow codes.
pub fn rows(film: &Film, codes: &Codes) -> Vec<Row> {
    let mut tally = Tally::new(codes);
    count(film, &Coder::new(false), &mut tally);
    let frames = (film.len() - SKIPPED) as f64;
    let kbit_per_s = |bits: u64| bits as f64 / 8.0 / frames * KBIT_PER_S_OF_A_BYTE;
    let savings = tally.savings(codes);
    let mut left = tally.bits(codes);
    let row = |label, key, bits: u64| Row {
        label,
        unit: "kbit/s",
        decimals: 2,
        target: Target::None,
        figures: vec![Figure::new(key, kbit_per_s(bits))],
    };
    let mut rows = Vec::new();
    for (groups, label, key) in PARTS {
        let of_part = savings.iter().filter(|saving| groups.contains(&saving.group.name));
        let bits = of_part.map(|saving| saving.bits_after).sum();
        left -= bits;
        rows.push(row(label, key, bits));
    }
    rows.push(row("bits that follow codes", "part_plain_kbit_per_s", left));
    rows
}
