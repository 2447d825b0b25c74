//! Retries transactions that PostgreSQL has rolled back because of concurrent ones.
//!
//! This never repeats work with an unknown outcome: PostgreSQL itself has reported that nothing of
//! the transaction was kept. A transaction whose connection was lost is never retried.

use std::time::Duration;

use uuid::Uuid;

use crate::{Database, DbError};

/// The maximum wait before the first retry; it doubles with each further one.
const FIRST: Duration = Duration::from_millis(20);
/// The maximum wait before any retry.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// The remaining retries of a transaction.
#[derive(Debug)]
pub struct Retries {
    left: u32,
    /// The maximum wait before the next one.
    wait: Duration,
}

impl Retries {
    pub fn new(most: u32) -> Self {
        Self {
            left: most,
            wait: FIRST,
        }
    }

    /// Waits before the next retry. Returns whether there is one. A request that reaches its
    /// deadline is dropped meanwhile.
    pub async fn next(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }

        tracing::debug!(
            left = self.left,
            "a transaction is run again, as others have changed the same data"
        );
        tokio::time::sleep(self.wait.mul_f64(fraction())).await;
        self.left -= 1;
        self.wait = MAX_WAIT.min(self.wait * 2);

        true
    }
}

/// A random number from 0 to 1: without it, transactions that conflicted once would conflict again.
fn fraction() -> f64 {
    f64::from(Uuid::new_v4().as_fields().0) / f64::from(u32::MAX)
}

impl Database {
    /// The configured retries for svc's own transactions.
    pub fn retries(&self) -> Retries {
        Retries::new(self.retries)
    }

    /// Runs a whole transaction, and retries it if PostgreSQL has rolled it back because of
    /// concurrent ones.
    pub async fn retrying<T, F>(&self, run: impl Fn() -> F) -> Result<T, DbError>
    where
        F: Future<Output = Result<T, DbError>>,
    {
        let mut retries = self.retries();
        loop {
            match run().await {
                Err(error) if error.is_of_concurrency() && retries.next().await => {}
                result => return result,
            }
        }
    }
}
