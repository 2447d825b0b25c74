//! Log lines that repeat.

use std::time::{Duration, Instant};

/// A limit on how often something is logged: at most once a minute.
#[derive(Debug, Default)]
pub(crate) struct LogThrottle {
    logged: Option<Instant>,
    times: u64,
}

impl LogThrottle {
    /// The least time between two lines of the log.
    const EVERY: Duration = Duration::from_secs(60);

    /// Counts an occurrence. Returns the number since the last line, when it is time for another one.
    pub(crate) fn occurred(&mut self) -> Option<u64> {
        self.times += 1;
        let now = Instant::now();
        if self.logged.is_some_and(|last| now.saturating_duration_since(last) < Self::EVERY) {
            return None;
        }
        self.logged = Some(now);
        Some(std::mem::take(&mut self.times))
    }
}
