//! A histogram of times, which threads share without waiting for each other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::exemplar::Exemplars;
use super::shard::{SHARDS, shard};

/// The upper bounds of the buckets, in microseconds.
const BOUNDS: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
];

/// The number of samples in each bucket.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    shards: [Shard; SHARDS],
    exemplars: Exemplars,
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct Shard {
    /// The last bucket counts the samples above all bounds.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

/// A snapshot of a histogram.
#[derive(Debug)]
pub(super) struct Distribution {
    /// The upper bound of each bucket in seconds, and the number of samples in that bucket alone.
    pub(super) buckets: Vec<(f64, u64)>,
    pub(super) count: u64,
    /// The sum, in seconds.
    pub(super) sum: f64,
    /// The text of an exemplar for each bucket.
    pub(super) exemplars: Vec<String>,
}

impl Histogram {
    /// Counts a time.
    pub(super) fn observe(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);

        // A bucket includes its bound, as its label `le` requires.
        let bucket = BOUNDS.partition_point(|bound| bound * 1_000 < nanoseconds);
        let shard = &self.shards[shard()];
        shard.buckets[bucket].fetch_add(1, Ordering::Relaxed);

        // The two additions are not atomic together: a scrape in between may count a sample without
        // its time, but no thread waits for another.
        shard.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        self.exemplars.note(bucket, time);
    }

    /// Returns the number of samples.
    pub(super) fn count(&self) -> u64 {
        (0..=BOUNDS.len()).map(|bucket| self.bucket(bucket)).sum()
    }

    /// Returns a snapshot of the histogram.
    pub(super) fn distribution(&self) -> Distribution {
        let bounds = BOUNDS
            .iter()
            .map(|bound| Duration::from_micros(*bound).as_secs_f64())
            .chain([f64::INFINITY]);
        let buckets: Vec<_> = bounds
            .enumerate()
            .map(|(index, bound)| (bound, self.bucket(index)))
            .collect();
        let nanoseconds = self
            .shards
            .iter()
            .map(|shard| shard.nanoseconds.load(Ordering::Relaxed))
            .sum();

        Distribution {
            // The count must equal the last cumulative bucket, so it is not read a second time.
            count: buckets.iter().map(|(_, count)| count).sum(),
            sum: Duration::from_nanos(nanoseconds).as_secs_f64(),
            exemplars: self.exemplars.texts(buckets.len()),
            buckets,
        }
    }

    fn bucket(&self, index: usize) -> u64 {
        self.shards
            .iter()
            .map(|shard| shard.buckets[index].load(Ordering::Relaxed))
            .sum()
    }
}
