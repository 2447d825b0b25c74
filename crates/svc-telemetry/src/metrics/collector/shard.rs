//! The shards of counters: processors that update the same cache line would wait for each other.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of shards of each counter.
pub(super) const SHARDS: usize = 8;

/// Returns the shard that this thread counts in.
pub(super) fn shard() -> usize {
    // In turn and not by a hash of the thread's id: the first eight threads never share a shard.
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static SHARD: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS;
    }
    SHARD.with(|shard| *shard)
}
