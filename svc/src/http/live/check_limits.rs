//! The limits on checks of users.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::SubscriptionsConfig;

/// The maximum number of checks at once. Checks must not crowd out requests: a provider may have a
/// limit, too.
const MAX_CHECKS: usize = 32;
/// The number of further checks of a user before a connection ends because of an outage.
const RETRIES: u32 = 4;

/// The limits on checks, shared by all connections.
#[derive(Debug)]
pub(in crate::http) struct CheckLimits {
    /// The interval between two checks of a user.
    pub(super) interval: Duration,
    /// The time for which a user is kept that cannot be checked.
    pub(super) outage: Duration,
    permits: Semaphore,
}

impl CheckLimits {
    pub(super) fn new(config: &SubscriptionsConfig) -> Self {
        Self {
            interval: config.user_interval,
            outage: config.user_outage,
            permits: Semaphore::new(MAX_CHECKS),
        }
    }

    /// Returns the time after which a failed check is repeated.
    pub(super) fn retry(&self) -> Duration {
        (self.outage / RETRIES).min(self.interval)
    }

    /// Waits for the permit of a check; `None` if there is none within an interval.
    pub(super) async fn permit(&self) -> Option<SemaphorePermit<'_>> {
        let permit = tokio::time::timeout(self.interval, self.permits.acquire()).await;
        permit.ok()?.ok()
    }
}
