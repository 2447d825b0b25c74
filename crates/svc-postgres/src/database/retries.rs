//! Retries transactions that PostgreSQL has rolled back because of concurrent ones, or because one
//! of their statements was prepared before a view changed.
//!
//! This never repeats work with an unknown outcome: PostgreSQL itself has reported that nothing of
//! the transaction was kept. A transaction whose connection was lost is never retried.

use std::time::Duration;

use uuid::Uuid;

use crate::{Database, DbError, RetryCause};

/// The number of retries for statements prepared before a view changed. One renews them on its
/// connection; the others are for further connections and changes.
const FOR_STALE_PLANS: u32 = 3;
/// The maximum wait before the first retry; it doubles with each further one.
const FIRST: Duration = Duration::from_millis(20);
/// The maximum wait before any retry.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// The remaining retries of a transaction.
#[derive(Debug)]
pub struct Retries {
    left: u32,
    left_for_stale_plans: u32,
    /// The maximum wait before the next one.
    wait: Duration,
}

impl Retries {
    /// Retries for any cause.
    pub fn new(most: u32) -> Self {
        Self {
            left: most,
            left_for_stale_plans: 0,
            wait: FIRST,
        }
    }

    /// Waits before the next retry. Returns whether there is one. A request that reaches its deadline
    /// is dropped meanwhile.
    pub async fn next(&mut self, cause: RetryCause) -> bool {
        if cause == RetryCause::StalePlan && self.left_for_stale_plans > 0 {
            self.left_for_stale_plans -= 1;
            tracing::debug!(?cause, "a rolled back transaction is run again");
            return true;
        }

        if self.left == 0 {
            return false;
        }

        tracing::debug!(
            ?cause,
            left = self.left,
            "a rolled back transaction is run again"
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
    /// The configured retries for svc's own transactions, and [`FOR_STALE_PLANS`] more, which a user
    /// need not configure: changes of views are rare.
    pub fn retries(&self) -> Retries {
        Retries {
            left_for_stale_plans: FOR_STALE_PLANS,
            ..Retries::new(self.retries)
        }
    }

    /// Waits before the next retry of one of svc's own transactions, and inspects changed views.
    /// Returns whether there is one.
    pub async fn may_retry(&self, retries: &mut Retries, cause: Option<RetryCause>) -> bool {
        let Some(cause) = cause else {
            return false;
        };

        // Boxed, as futures of this size would be moved with each mutation.
        Box::pin(async {
            let may_retry = retries.next(cause).await;
            if may_retry && cause == RetryCause::StalePlan {
                self.look().await;
            }

            may_retry
        })
        .await
    }

    /// Runs a whole transaction, and retries it if PostgreSQL has rolled it back because of
    /// concurrent ones or of a statement prepared before a view changed.
    pub async fn retrying<T, F>(&self, run: impl Fn() -> F) -> Result<T, DbError>
    where
        F: Future<Output = Result<T, DbError>>,
    {
        let mut retries = self.retries();
        loop {
            match run().await {
                Err(error) if self.may_retry(&mut retries, error.retry_cause()).await => {}
                result => return result,
            }
        }
    }
}
