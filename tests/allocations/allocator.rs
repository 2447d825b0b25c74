//! The allocator of this program: the system's, which counts the allocations of chosen threads.
//!
//! The published allocators that count do so for the whole process, leave out reallocations, or
//! cannot show the place of an allocation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crate::counter::{Counter, Kind};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// The counter of the thread. Its initial value is constant, and it needs no drop, so that
    /// reading it never allocates.
    static COUNTER: Cell<Option<&'static Counter>> = const { Cell::new(None) };
}

/// Counts the allocations of this thread from now on.
pub(crate) fn count_this_thread(counter: &'static Counter) {
    COUNTER.set(Some(counter));
}

/// Counts an allocation of this thread. The counter is taken away meanwhile: tracing an allocation
/// allocates too.
fn note(kind: Kind, bytes: usize) {
    let counter = COUNTER.try_with(Cell::take).ok().flatten();
    if let Some(counter) = counter {
        counter.note(kind, bytes);
        COUNTER.set(Some(counter));
    }
}

struct Counting;

// SAFETY: every call is passed to the system's allocator with the same arguments. Counting neither
// panics nor uses the memory.
#[expect(
    unsafe_code,
    reason = "an allocator has no safe form, and the calls go to the system's allocator unchanged"
)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(Kind::Allocation, layout.size());
        // SAFETY: the caller's promises are those that `System` needs.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(Kind::Allocation, layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(Kind::Reallocation, size.saturating_sub(layout.size()));
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}
