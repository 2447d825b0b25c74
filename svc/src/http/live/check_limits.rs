//! The limits on checks of users.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::SubscriptionsConfig;

/// The maximum number of checks at once. Checks must not crowd out requests: a provider may have a
/// limit, too.
const MAX_CHECKS: usize = 32;

/// The limits on checks, shared by all connections.
#[derive(Debug)]
pub(in crate::http) struct CheckLimits {
    /// The interval between two checks of a user.
    pub(super) interval: Duration,
    permits: Semaphore,
}

impl CheckLimits {
    pub(super) fn new(config: &SubscriptionsConfig) -> Self {
        Self {
            interval: config.user_interval,
            permits: Semaphore::new(MAX_CHECKS),
        }
    }

    /// Waits for the permit of a check; `None` if there is none within an interval.
    pub(super) async fn permit(&self) -> Option<SemaphorePermit<'_>> {
        let permit = tokio::time::timeout(self.interval, self.permits.acquire()).await;
        permit.ok()?.ok()
    }
}
