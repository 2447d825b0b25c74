//! A counter that threads share without waiting for each other.

use std::sync::atomic::{AtomicU64, Ordering};

use super::shard::{SHARDS, shard};

/// A counter.
#[derive(Debug, Default)]
pub(super) struct Counter([Cell; SHARDS]);

/// A part of a counter, alone in its line of the processor's cache.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Cell(AtomicU64);

impl Counter {
    /// Counts one more.
    pub(super) fn increment(&self) {
        self.0[shard()].0.fetch_add(1, Ordering::Relaxed);
    }

    /// The count so far.
    pub(super) fn get(&self) -> u64 {
        self.0.iter().map(|cell| cell.0.load(Ordering::Relaxed)).sum()
    }
}
