//! Seeds for snapshots that were made smaller: packed ones, and ones to pack.

use netloom_session::packed::{PACKED_BYTES_MAX, pack};

use crate::seeds::{Seed, seed};

const TARGET: &str = "session_packed";

fn packed(snapshot: &[u8]) -> Vec<u8> {
    let mut out = [0; PACKED_BYTES_MAX];
    pack(snapshot, &mut out).expect("this gets shorter")[1..].to_vec()
}

pub fn seeds() -> Vec<Seed> {
    let records: Vec<u8> = (0..600u32).map(|at| if at % 11 == 0 { at as u8 } else { 7 }).collect();
    let counted: Vec<u8> = (0..=255u8).chain(0..=255).collect();
    vec![
        seed(TARGET, "unpack_records", &[&[0], &packed(&records)]),
        seed(TARGET, "unpack_run", &[&[0], &packed(&[5; 1_200])]),
        seed(TARGET, "unpack_far", &[&[0], &packed(&counted)]),
        seed(TARGET, "unpack_literals", &[&[0], &[3, 0, 0x30, 1, 2, 3]]),
        seed(TARGET, "unpack_overlap", &[&[0], &[14, 0, 0x26, 1, 2, 2, 0, 0x20, 3, 4]]),
        seed(TARGET, "unpack_before", &[&[0], &[8, 0, 0x10, 1, 2, 0, 0x30, 1, 2, 3]]),
        seed(TARGET, "unpack_nowhere", &[&[0], &[8, 0, 0x10, 1, 0, 0, 0x30, 1, 2, 3]]),
        seed(TARGET, "unpack_endless", &[&[0], &[200, 0, 0xf0, 0xff, 0xff]]),
        seed(TARGET, "pack_records", &[&[1], &records]),
        seed(TARGET, "pack_counted", &[&[1], &counted]),
    ]
}
