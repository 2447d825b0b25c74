//! Transactions that PostgreSQL has undone because of others that ran at the same time, and that are run again.
//!
//! This is no second try of something whose outcome is unknown: PostgreSQL itself has said that nothing of the transaction
//! is kept. A transaction whose connection was lost is never run again.

use std::time::Duration;

use uuid::Uuid;

use super::{Database, DbError};

/// The longest wait before the first retry; it doubles with each further one.
const FIRST: Duration = Duration::from_millis(20);
/// The longest wait of all.
const LONGEST: Duration = Duration::from_millis(500);

/// The retries that a transaction has left.
#[derive(Debug)]
pub(crate) struct Retries {
    left: u32,
    /// The longest wait before the next one.
    wait: Duration,
}

impl Retries {
    pub(crate) fn new(most: u32) -> Self {
        Self { left: most, wait: FIRST }
    }

    /// Waits before the next retry; whether there is one. A request that has reached its deadline is dropped meanwhile.
    pub(crate) async fn next(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        tracing::debug!(left = self.left, "a transaction is run again, as others have changed the same data");
        tokio::time::sleep(self.wait.mul_f64(fraction())).await;
        self.left -= 1;
        self.wait = LONGEST.min(self.wait * 2);
        true
    }
}

/// A random number from 0 to 1: those who have met once would else meet again.
fn fraction() -> f64 {
    f64::from(Uuid::new_v4().as_fields().0) / f64::from(u32::MAX)
}

impl Database {
    /// The retries of a transaction of svc's own, by the setting.
    pub(crate) fn retries(&self) -> Retries {
        Retries::new(self.retries)
    }

    /// Runs a transaction as a whole, and again where PostgreSQL has undone it because of others.
    pub(crate) async fn retrying<T, F>(&self, run: impl Fn() -> F) -> Result<T, DbError>
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
