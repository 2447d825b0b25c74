//! A bounded wait for another program that logs its reason after a second.

use std::time::{Duration, Instant};

use tokio::time::sleep;

/// Interval between two checks.
const LOOK: Duration = Duration::from_millis(5);
/// Time after which the reason of the wait is logged.
const SILENCE: Duration = Duration::from_secs(1);

/// A wait with a time limit.
#[derive(Debug)]
pub(crate) struct Wait {
    begun: Instant,
    limit: Duration,
    said: bool,
}

/// The error of a wait that exceeded its limit.
#[derive(Debug)]
pub(crate) struct TooLong;

impl Wait {
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            begun: Instant::now(),
            limit,
            said: false,
        }
    }

    /// Sleeps until the next check. Logs `what` once, when the wait exceeds [`SILENCE`].
    pub(crate) async fn pause(&mut self, what: impl FnOnce() -> String) -> Result<(), TooLong> {
        let waited = self.begun.elapsed();
        if waited > self.limit {
            return Err(TooLong);
        }

        if waited > SILENCE && !self.said {
            self.said = true;
            tracing::warn!(
                "waiting for {}, for at most {} s",
                what(),
                self.limit.as_secs()
            );
        }

        sleep(LOOK).await;

        Ok(())
    }
}
