//! The rows that a subscription has sent.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of rows that a subscription remembers.
const MOST: usize = 100;

/// The rows that a subscription has sent and its client may hold, by id. They are few, so a list in sending order is
/// searched as fast as a table, and takes no memory before the first row.
#[derive(Default)]
pub(super) struct SentRows(Mutex<Vec<(Box<str>, LastLook)>>);

/// The last look at a row that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLook {
    /// It was sent, with the hash of its response.
    Sent(u64),
    /// The subscriber no longer saw it: the row was deleted, or is no longer visible to the subscriber.
    Unseen,
}

impl SentRows {
    pub(super) fn put(&self, id: &str, hash: u64) {
        let mut rows = self.rows();
        let id = match position(&rows, id) {
            Some(at) => rows.remove(at).0,
            None => id.into(),
        };
        if rows.len() >= MOST {
            rows.remove(0);
        }
        rows.push((id, LastLook::Sent(hash)));
    }

    /// Marks a row as no longer seen, if it was sent.
    pub(super) fn lose(&self, id: &str) {
        let mut rows = self.rows();
        if let Some(at) = position(&rows, id) {
            rows[at].1 = LastLook::Unseen;
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<LastLook> {
        let rows = self.rows();
        position(&rows, id).map(|at| rows[at].1)
    }

    /// Forgets a row, and returns the last look at it.
    pub(super) fn forget(&self, id: &str) -> Option<LastLook> {
        let mut rows = self.rows();
        position(&rows, id).map(|at| rows.remove(at).1)
    }

    /// The ids, in sending order.
    pub(super) fn ids(&self) -> Vec<String> {
        self.rows().iter().map(|(id, _)| id.to_string()).collect()
    }

    fn rows(&self) -> MutexGuard<'_, Vec<(Box<str>, LastLook)>> {
        // Nothing under the lock can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The position of a row, which is usually one of the last.
fn position(rows: &[(Box<str>, LastLook)], id: &str) -> Option<usize> {
    rows.iter().rposition(|(known, _)| **known == *id)
}
