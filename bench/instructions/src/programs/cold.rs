//! Caches that forget, as those of a server do that sleeps between two ticks on a machine with others.

use std::hint::black_box;

/// What others use of them: more than there is.
const BYTES: usize = 4 << 20;
const LINE_BYTES: usize = 64;

/// Memory that drives everything else out.
pub struct Cold(Vec<u8>);

impl Cold {
    pub fn new() -> Cold {
        Cold(vec![0; BYTES])
    }

    /// Nothing that was used before is in a cache any more.
    pub fn forget_all(&mut self) {
        self.0.iter_mut().step_by(LINE_BYTES).for_each(|byte| *byte = byte.wrapping_add(1));
        black_box(&mut self.0);
    }
}
