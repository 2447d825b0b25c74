//! A counter that threads share without waiting for each other.

use std::sync::atomic::{AtomicU64, Ordering};

use super::shard::{SHARDS, shard};

/// A counter.
#[derive(Debug, Default)]
pub(super) struct Counter([Cell; SHARDS]);

/// A part of a counter, in a separate cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Cell(AtomicU64);

impl Counter {
    /// Adds one.
    pub(super) fn increment(&self) {
        self.0[shard()].0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the count.
    pub(super) fn get(&self) -> u64 {
        self.0
            .iter()
            .map(|cell| cell.0.load(Ordering::Relaxed))
            .sum()
    }
}
