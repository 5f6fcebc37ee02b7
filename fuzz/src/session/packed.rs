//! Snapshots that were made smaller.

use netloom_session::packed::{PACKED_BYTES_MAX, SNAPSHOT_BYTES_MAX, pack, unpack};

use crate::input::Input;

/// Unpacks what arrives, or packs a snapshot and unpacks it again.
pub fn session_packed(data: &[u8]) {
    let mut input = Input::new(data);
    match input.choice(2) {
        0 => unpack_anything(input.rest()),
        _ => pack_and_unpack(input.rest()),
    }
}

/// Whatever arrives gives what the format says, or nothing.
fn unpack_anything(packed: &[u8]) {
    let mut out = [0; SNAPSHOT_BYTES_MAX];
    let unpacked = unpack(packed, &mut out).ok();
    assert_eq!(unpacked, model(packed).as_deref());
}

fn pack_and_unpack(snapshot: &[u8]) {
    let (mut out, mut back) = ([0; PACKED_BYTES_MAX], [0; SNAPSHOT_BYTES_MAX]);
    if let Some(packed) = pack(snapshot, &mut out) {
        assert!(packed.len() <= snapshot.len() + 1, "it is no longer than the message that it stands for");
        assert_eq!(unpack(&packed[1..], &mut back), Ok(snapshot));
        assert_eq!(model(&packed[1..]).as_deref(), Some(snapshot));
    }
}

/// The format by the letter: a length, then literals and copies in turn, literals last.
fn model(packed: &[u8]) -> Option<Vec<u8>> {
    let (length, mut block) = packed.split_first_chunk()?;
    let length = usize::from(u16::from_le_bytes(*length));
    if !(1..=SNAPSHOT_BYTES_MAX).contains(&length) {
        return None;
    }
    let mut out = Vec::new();
    loop {
        let (&token, rest) = block.split_first()?;
        let (literals, rest) = long(token >> 4, rest)?;
        let (literals, rest) = rest.split_at_checked(literals)?;
        out.extend_from_slice(literals);
        if rest.is_empty() {
            return (out.len() == length).then_some(out);
        }
        let (offset, rest) = rest.split_first_chunk()?;
        let (copied, rest) = long(token & 15, rest)?;
        let from =
            out.len().checked_sub(u16::from_le_bytes(*offset).into()).filter(|from| *from < out.len())?;
        if out.len() + copied + 4 > length {
            return None;
        }
        (from..from + copied + 4).for_each(|at| out.push(out[at]));
        block = rest;
    }
}

/// A length of four bits, and the bytes that continue it.
fn long(nibble: u8, mut rest: &[u8]) -> Option<(usize, &[u8])> {
    let (mut length, mut goes_on) = (usize::from(nibble), nibble == 15);
    while goes_on {
        let (&byte, after) = rest.split_first()?;
        length += usize::from(byte);
        (rest, goes_on) = (after, byte == 255);
    }
    Some((length, rest))
}
