//! Counts heap allocations of all threads.
//!
//! `netloom-count` counts by thread and for free; some contenders here work in threads of their own, so this one is
//! atomic. It costs every contender the same for each allocation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static GLOBAL: Counting = Counting;

/// Allocations and reallocations so far, and the bytes that they asked for.
pub fn counts() -> (u64, u64) {
    (ALLOCATIONS.load(Relaxed), BYTES.load(Relaxed))
}

fn count(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes as u64, Relaxed);
}

struct Counting;

// SAFETY: every call is passed on unchanged to `System`, which keeps the contract of `GlobalAlloc`; counting touches no
// memory of the allocation, does not allocate and does not unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise about `layout` is the one `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size);
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

    #[test]
    fn what_another_thread_allocates_is_counted_too() {
        let (before, _) = counts();
        std::thread::spawn(|| std::hint::black_box(vec![0_u8; 1000]))
            .join()
            .expect("a thread that allocates");
        let (after, bytes) = counts();
        assert!(after > before && bytes >= 1000);
    }
}
