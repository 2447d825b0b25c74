//! A wait for another program, which says after a moment what it waits for.

use std::time::{Duration, Instant};

use tokio::time::sleep;

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(5);
/// The time after which a person wonders what it waits for.
const SILENCE: Duration = Duration::from_secs(1);

/// A wait that ends.
#[derive(Debug)]
pub(crate) struct Wait {
    begun: Instant,
    limit: Duration,
    said: bool,
}

/// The wait has taken too long.
#[derive(Debug)]
pub(crate) struct TooLong;

impl Wait {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { begun: Instant::now(), limit, said: false }
    }

    /// Waits a little; `what` is said once it has been a while.
    pub(crate) async fn pause(&mut self, what: impl FnOnce() -> String) -> Result<(), TooLong> {
        let waited = self.begun.elapsed();
        if waited > self.limit {
            return Err(TooLong);
        }
        if waited > SILENCE && !self.said {
            self.said = true;
            tracing::warn!("waiting for {}; for {} s at most", what(), self.limit.as_secs());
        }
        sleep(LOOK).await;
        Ok(())
    }
}
