//! The shards of counters: processors that count in one place wait for each other.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of shards of each counter.
pub(super) const SHARDS: usize = 8;

/// The shard in which this thread counts.
pub(super) fn shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static SHARD: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS;
    }
    SHARD.with(|shard| *shard)
}
