//! Asks for memory ahead of its use.
//!
//! A server sleeps between two ticks, and meanwhile others use its caches. So a tick finds nothing of its memory there, and fetches
//! it line by line: each takes 50 to 130 ns on a machine with busy neighbours, while a processor that is told of many lines at once
//! fetches a dozen of them at the same time, 8 to 15 ns each.
//!
//! ```text
//!   asked for when needed      line ▓▓▓▓ work line ▓▓▓▓ work line ▓▓▓▓ work
//!   asked for ahead            line ▓▓▓▓
//!                              line ▓▓▓▓
//!                              line ▓▓▓▓ work work work
//! ```
//!
//! A processor does that by itself for memory that is read in order. What it cannot know are the places behind pointers, of which every
//! peer of a server has a dozen. Whoever is about to go through many peers asks for all of them first.
//!
//! Asking is free to be ignored, reads nothing and never fails, whatever is at the address.

/// What is fetched at once.
const LINE_BYTES: usize = 64;

/// Asks for all of something.
///
/// ```
/// let rows = vec![[0u8; 256]; 16];
/// for row in &rows {
///     netloom_cpu::fetch(row);
/// }
/// assert!(rows.iter().all(|row| row.iter().all(|byte| *byte == 0))); // and now they are read
/// ```
#[inline(always)]
pub fn fetch<T: ?Sized>(what: &T) {
    fetch_bytes(std::ptr::from_ref(what).cast(), size_of_val(what));
}

/// Asks for the first `bytes` of something, of which the rest is not needed now.
#[inline(always)]
pub fn fetch_first<T>(what: &T, bytes: usize) {
    fetch_bytes(std::ptr::from_ref(what).cast(), bytes.min(size_of::<T>()));
}

/// Asks for what lies behind something in a list: the place of the next one, which may not be there yet.
#[inline(always)]
pub fn fetch_next<T>(what: &T) {
    fetch_bytes(std::ptr::from_ref(what).wrapping_add(1).cast(), size_of::<T>());
}

#[inline(always)]
fn fetch_bytes(address: *const u8, bytes: usize) {
    let into_line = address.addr() % LINE_BYTES;
    for line in 0..(into_line + bytes).div_ceil(LINE_BYTES) {
        fetch_line(address.wrapping_add(line * LINE_BYTES));
    }
}

#[inline(always)]
fn fetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction is a hint. It takes any address, also one where nothing is.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_place_can_be_asked_for() {
        fetch(&[0u64; 100]);
        fetch::<[u8]>(&[]);
        fetch_first(&[0u8; 10], 1_000);
        fetch_next(&[0u8; 4_096]);
        fetch_bytes(std::ptr::null(), 64);
        fetch_bytes(std::ptr::without_provenance(usize::MAX), 128);
    }
}
