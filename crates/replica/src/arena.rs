//! Scratch memory for one tick.
//!
//! Encoding a tick needs room for pieces whose number and size are known only when they are made. Asking the heap for
//! each is slow and unbounded. An arena is one buffer, taken at construction: a piece is the next free bytes of it, and
//! all pieces are given back at once when the next tick begins.
//!
//! ```text
//!   0          24      40                  used                 capacity
//!   ├─ piece ──┼─ piece ┼─ ... ────────────┼───── free ─────────┤        every piece starts at a multiple of 8,
//!                                                                        the buffer at a multiple of 64
//! ```
//!
//! When it is full the answer is `None` and the tick is marked: the caller stops encoding, keeps what it deferred for
//! the next tick with its priorities, and may log once, for [`Arena::refused`] tells how much was deferred.

/// The smallest arena, and the default.
pub const ARENA_BYTES_MIN: usize = 64 * 1024;

/// The largest arena.
pub const ARENA_BYTES_MAX: usize = 256 * 1024;

/// What every piece begins at a multiple of.
pub(crate) const PIECE_ALIGN: usize = 8;
const BUFFER_ALIGN: usize = 64;

/// A buffer that is handed out in pieces and taken back whole.
#[derive(Debug)]
pub struct Arena {
    bytes: Box<[u8]>,
    /// Where the aligned part of the buffer begins.
    first: usize,
    capacity: usize,
    used: usize,
    /// Counts the resets, so that a piece of an earlier tick is recognised.
    epoch: u32,
    refused: u32,
    overflows: u64,
}

/// Some bytes of an [`Arena`], until its next reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaRange {
    start: u32,
    len: u32,
    epoch: u32,
}

impl ArenaRange {
    /// How many bytes it has.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl Default for Arena {
    fn default() -> Arena {
        Arena::new(ARENA_BYTES_MIN)
    }
}

impl Arena {
    /// An arena of `bytes`, which is brought into [`ARENA_BYTES_MIN`] to [`ARENA_BYTES_MAX`].
    pub fn new(bytes: usize) -> Arena {
        let capacity = bytes.clamp(ARENA_BYTES_MIN, ARENA_BYTES_MAX);
        let bytes = vec![0; capacity + BUFFER_ALIGN - 1].into_boxed_slice();
        // Where alignment cannot be told (an interpreter may answer so) any start is correct, only slower.
        let first = bytes.as_ptr().align_offset(BUFFER_ALIGN).min(BUFFER_ALIGN - 1);
        Arena { bytes, first, capacity, used: 0, epoch: 0, refused: 0, overflows: 0 }
    }

    /// The next `len` bytes, with whatever an earlier tick left in them; `None` if they do not fit, which is counted.
    pub fn alloc(&mut self, len: usize) -> Option<ArenaRange> {
        let start = self.used;
        let end = start.checked_add(len).filter(|&end| end <= self.capacity);
        let Some(end) = end else {
            self.refused = self.refused.saturating_add(1);
            self.overflows += 1;
            return None;
        };
        self.used = end.next_multiple_of(PIECE_ALIGN).min(self.capacity);
        Some(ArenaRange { start: start as u32, len: len as u32, epoch: self.epoch })
    }

    /// A copy of `bytes`; `None` if it does not fit, which is counted.
    pub fn store(&mut self, bytes: &[u8]) -> Option<ArenaRange> {
        let range = self.alloc(bytes.len())?;
        self.bytes_mut(range)?.copy_from_slice(bytes);
        Some(range)
    }

    /// Gives the end of the newest piece back: of `range` only the first `len` bytes stay. Pieces that are not the
    /// newest stay as they are.
    pub fn shrink(&mut self, range: ArenaRange, len: usize) -> ArenaRange {
        let end = (range.start as usize + range.len()).next_multiple_of(PIECE_ALIGN).min(self.capacity);
        if range.epoch != self.epoch || end != self.used || len >= range.len() {
            return range;
        }
        self.used = (range.start as usize + len).next_multiple_of(PIECE_ALIGN).min(self.capacity);
        ArenaRange { len: len as u32, ..range }
    }

    /// The bytes of a piece; `None` if it is of an earlier tick.
    pub fn bytes(&self, range: ArenaRange) -> Option<&[u8]> {
        let start = self.start_of(range)?;
        self.bytes.get(start..start + range.len())
    }

    /// The bytes of a piece, to write; `None` if it is of an earlier tick.
    pub fn bytes_mut(&mut self, range: ArenaRange) -> Option<&mut [u8]> {
        let start = self.start_of(range)?;
        self.bytes.get_mut(start..start + range.len())
    }

    /// Begins a tick: everything is free again and the tick is not marked. The total of overflows stays.
    pub fn reset(&mut self) {
        self.used = 0;
        self.refused = 0;
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Whether something did not fit since the last reset.
    pub fn overflowed(&self) -> bool {
        self.refused > 0
    }

    /// How many pieces did not fit since the last reset.
    pub fn refused(&self) -> u32 {
        self.refused
    }

    /// How many pieces ever did not fit.
    pub fn overflows(&self) -> u64 {
        self.overflows
    }

    /// Bytes handed out since the last reset, gaps for alignment included.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Bytes in all.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    fn start_of(&self, range: ArenaRange) -> Option<usize> {
        (range.epoch == self.epoch).then_some(self.first + range.start as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_size_is_clamped_and_the_buffer_aligned() {
        for (asked, capacity) in [(0, 65_536), (65_537, 65_537), (usize::MAX, 262_144)] {
            let mut arena = Arena::new(asked);
            assert_eq!(arena.capacity(), capacity);
            let range = arena.alloc(1).unwrap();
            assert_eq!(arena.bytes(range).unwrap().as_ptr().align_offset(64), 0);
        }
        assert_eq!(Arena::default().capacity(), ARENA_BYTES_MIN);
    }

    #[test]
    fn records_fit_as_often_as_alignment_allows() {
        for (record, fit) in [(14, 4_096), (16, 4_096), (19, 2_730)] {
            let mut arena = Arena::default();
            let count = std::iter::from_fn(|| arena.alloc(record)).count();
            assert_eq!(count, fit, "not the 4,681 that ignoring alignment promises");
        }
    }

    #[test]
    fn an_overflow_marks_its_tick_and_is_counted_for_good() {
        let mut arena = Arena::default();
        arena.alloc(65_000).unwrap();
        assert!(!arena.overflowed());
        assert_eq!(arena.alloc(537), None);
        assert_eq!(arena.alloc(usize::MAX), None, "the end of the piece would wrap around");
        assert_eq!((arena.overflowed(), arena.refused(), arena.overflows()), (true, 2, 2));
        assert!(arena.alloc(536).is_some(), "what fits is still given");
        arena.reset();
        assert_eq!((arena.overflowed(), arena.used(), arena.overflows()), (false, 0, 2));
    }

    #[test]
    fn a_piece_of_an_earlier_tick_is_gone() {
        let mut arena = Arena::default();
        let old = arena.store(b"old").unwrap();
        assert_eq!(arena.bytes(old), Some(&b"old"[..]));
        arena.reset();
        arena.store(b"new").unwrap();
        assert_eq!(arena.bytes(old), None);
        assert_eq!(arena.bytes_mut(old), None);
    }

    #[test]
    fn only_the_newest_piece_shrinks() {
        let mut arena = Arena::default();
        let first = arena.alloc(100).unwrap();
        let second = arena.alloc(100).unwrap();
        assert_eq!(arena.shrink(first, 10), first);
        let second = arena.shrink(second, 10);
        assert_eq!((second.len(), arena.used()), (10, 104 + 16));
    }

    proptest! {
        #[test]
        fn pieces_never_overlap_and_start_at_multiples_of_eight(sizes in proptest::collection::vec(0usize..5_000, 1..60)) {
            let mut arena = Arena::default();
            let mut pieces = Vec::new();
            for (number, size) in sizes.into_iter().enumerate() {
                if let Some(piece) = arena.alloc(size) {
                    prop_assert_eq!(piece.start % 8, 0);
                    arena.bytes_mut(piece).unwrap().fill(number as u8);
                    pieces.push((piece, number as u8, size));
                }
            }
            for (piece, fill, size) in pieces {
                let bytes = arena.bytes(piece).unwrap();
                prop_assert!(bytes.len() == size && bytes.iter().all(|&byte| byte == fill));
            }
        }
    }
}
