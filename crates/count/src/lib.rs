//! Counts heap allocations, so that "zero allocations in a steady tick" is a measured figure and not a promise.
//!
//! A program that names this crate has the counting allocator instead of the system's.
//!
//! The counter is per thread and not atomic: an atomic would cost the peers, which allocate for every packet, several
//! nanoseconds per allocation that they do not spend outside this program.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Constant initialisation without a destructor: reading it inside the allocator never allocates itself.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Allocations and reallocations made by the calling thread since it started.
pub fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

struct Counting;

#[global_allocator]
static GLOBAL: Counting = Counting;

fn count_one() {
    // A thread that is being torn down may still free and allocate; it has nothing left to measure.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get().wrapping_add(1)));
}

// SAFETY: every call is passed on unchanged to `System`, which keeps the contract of `GlobalAlloc`; counting touches no
// memory of the allocation, does not allocate and does not unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: the caller's promise about `layout` is the one `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count_one();
        // SAFETY: `block` came from `System` through this allocator with this `layout`; the caller vouches for `new_size`.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` came from `System` through this allocator with this `layout`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn every_allocation_and_growth_is_counted_and_arithmetic_is_not() {
        let before = allocations();
        let mut numbers: Vec<u64> = black_box(Vec::with_capacity(4));
        assert_eq!(allocations() - before, 1);
        numbers.extend_from_slice(black_box(&[1, 2, 3, 4]));
        assert_eq!(allocations() - before, 1, "within capacity");
        numbers.push(black_box(5));
        assert_eq!(allocations() - before, 2, "growth is a reallocation");
        black_box(numbers.iter().sum::<u64>());
        assert_eq!(allocations() - before, 2);
    }

    #[test]
    fn another_threads_allocations_are_not_counted_here() {
        let mine = std::thread::spawn(|| {
            let before = allocations();
            black_box(vec![0u8; 100]);
            allocations() - before
        });
        assert_eq!(mine.join().expect("the counting thread ends"), 1);
    }
}
