//! Responses in the memory of the process, bounded by their bytes.

use std::sync::Arc;

use ahash::RandomState;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::Entry;

/// The initial capacity in responses. It also bounds the number of the cache's shards, each with
/// its share of the capacity.
const EXPECTED: usize = 256;
/// The largest share of the cache for one response, as a divisor.
const SHARE: u64 = 16;
/// The bytes that a response takes in addition to its key and its body.
const BASE_WEIGHT: usize = 320;

/// Responses by their keys.
#[derive(Debug)]
pub(super) struct Memory {
    entries: Cache<Arc<[u8]>, Arc<Entry>, ByWeight, RandomState>,
    /// The maximum size of one response in bytes.
    share: u64,
}

#[derive(Debug, Clone)]
struct ByWeight;

impl Weighter<Arc<[u8]>, Arc<Entry>> for ByWeight {
    fn weight(&self, key: &Arc<[u8]>, entry: &Arc<Entry>) -> u64 {
        weight(key, entry)
    }
}

fn weight(key: &[u8], entry: &Entry) -> u64 {
    (BASE_WEIGHT + key.len() + entry.body().len()) as u64
}

impl Memory {
    /// An empty cache for `capacity` bytes.
    pub(super) fn new(capacity: u64) -> Self {
        let entries = Cache::with(
            EXPECTED,
            capacity,
            ByWeight,
            RandomState::new(),
            Default::default(),
        );

        Self {
            entries,
            share: capacity / SHARE,
        }
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<Arc<Entry>> {
        self.entries.get(key)
    }

    /// Caches a response, unless it is too large.
    pub(super) fn insert(&self, key: &Arc<[u8]>, entry: &Arc<Entry>) {
        // One large response must not evict many others.
        if weight(key, entry) <= self.share {
            self.entries.insert(key.clone(), entry.clone());
        }
    }

    /// Removes a response, unless it was replaced.
    pub(super) fn remove(&self, key: &[u8], entry: &Arc<Entry>) {
        self.entries
            .remove_if(key, |known| Arc::ptr_eq(known, entry));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::super::changes::Changes;
    use super::{Entry, Memory};

    #[test]
    fn keys_and_bodies_count_towards_the_bound() {
        let (memory, moment) = (Memory::new(1 << 20), Changes::new(0).now());
        let until = Instant::now() + Duration::from_secs(60);
        for (key, body) in [(8, 10_000), (10_000, 8)] {
            for number in 0..1_000_usize {
                let key: Arc<[u8]> = number
                    .to_le_bytes()
                    .into_iter()
                    .chain(vec![0; key])
                    .collect();
                memory.insert(
                    &key,
                    &Arc::new(Entry::new(vec![0; body].into(), moment, until)),
                );
            }

            assert!(
                memory.entries.weight() <= 1 << 20,
                "{}",
                memory.entries.weight()
            );

            assert!(
                (20..=104).contains(&memory.entries.len()),
                "{}",
                memory.entries.len()
            );
        }
    }

    #[test]
    fn a_large_answer_is_not_kept() {
        let (memory, moment) = (Memory::new(1 << 20), Changes::new(0).now());
        let key: Arc<[u8]> = Arc::from(*b"key");
        memory.insert(
            &key,
            &Arc::new(Entry::new(vec![0; 100_000].into(), moment, Instant::now())),
        );
        assert!(memory.get(&key).is_none());
    }
}
