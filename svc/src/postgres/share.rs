//! The share of the pool that one request has.

use tokio::sync::{Semaphore, SemaphorePermit};

/// The connections that one request may use at the same time for reads and calls. One document can ask for a hundred
/// statements, which would otherwise keep all others waiting. Transactions are not counted: a resolver that has one open
/// may read outside of it.
#[derive(Debug)]
pub(crate) struct Share(Semaphore);

impl Share {
    /// A share of this many connections.
    pub(crate) fn new(connections: u32) -> Self {
        Self(Semaphore::new(usize::try_from(connections).unwrap_or(Semaphore::MAX_PERMITS).max(1)))
    }

    /// Waits until fewer are used; the connection counts for as long as the value lives.
    pub(super) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.0.acquire().await.ok()
    }
}
