//! A request's share of the pool.

use tokio::sync::{Semaphore, SemaphorePermit};

/// The connections that one request may use at the same time for reads and calls. A single document
/// can require a hundred statements, which would otherwise block all other requests. Transactions
/// are not counted: a resolver with an open transaction may read outside of it.
#[derive(Debug)]
pub struct RequestQuota(Semaphore);

impl RequestQuota {
    /// A share with this many connections.
    pub(crate) fn new(connections: u32) -> Self {
        Self(Semaphore::new(
            usize::try_from(connections)
                .unwrap_or(Semaphore::MAX_PERMITS)
                .max(1),
        ))
    }

    /// Waits until fewer are in use; the connection counts until the permit is dropped.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.0.acquire().await.ok()
    }
}
