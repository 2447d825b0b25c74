//! The rows that a subscription has sent.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;

/// The most rows that a subscription remembers.
const MOST: usize = 100;

/// The rows that a subscription has sent, and its client may hold, by their ids.
pub(super) struct SentRows(Mutex<LruCache<Box<str>, LastLook>>);

/// The last look at a row that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLook {
    /// It was sent; a hash of what was.
    Sent(u64),
    /// The subscriber did not see it any more: it was gone, or is another's.
    Unseen,
}

impl SentRows {
    pub(super) fn new() -> Self {
        // Room is made as rows come.
        let mut rows = LruCache::unbounded();
        rows.resize(NonZeroUsize::new(MOST).unwrap_or(NonZeroUsize::MIN));
        Self(Mutex::new(rows))
    }

    pub(super) fn put(&self, id: &str, hash: u64) {
        self.rows().put(id.into(), LastLook::Sent(hash));
    }

    /// Notes that a row is not seen any more, if it was sent.
    pub(super) fn lose(&self, id: &str) {
        if let Some(last) = self.rows().peek_mut(id) {
            *last = LastLook::Unseen;
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<LastLook> {
        self.rows().peek(id).copied()
    }

    /// Forgets a row, and returns the last look at it.
    pub(super) fn forget(&self, id: &str) -> Option<LastLook> {
        self.rows().pop(id)
    }

    /// The ids, those that were sent first in front.
    pub(super) fn ids(&self) -> Vec<String> {
        self.rows().iter().rev().map(|(id, _)| id.to_string()).collect()
    }

    fn rows(&self) -> MutexGuard<'_, LruCache<Box<str>, LastLook>> {
        // Nothing under the lock can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
