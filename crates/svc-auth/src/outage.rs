//! Logs outages of providers and stores.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::AuthError;

/// The minimum time between two log lines.
const PAUSE: Duration = Duration::from_secs(1);

/// An outage of a provider or a store: it affects every request, and is logged once a second.
#[derive(Debug, Default)]
pub struct OutageLog(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    /// The affected requests that are not yet logged.
    requests: u64,
}

impl OutageLog {
    /// Counts a request affected by the outage, and logs the count if the last line is at least a
    /// second old.
    pub(super) fn record(&self, error: &AuthError, consequence: &'static str) {
        let Some(requests) = self.count(Instant::now()) else {
            return;
        };

        let mut why = error.to_string();

        // The text of an `AuthError` already contains that of its direct source.
        let mut source = std::error::Error::source(error).and_then(std::error::Error::source);
        while let Some(error) = source {
            why.push_str(": ");
            why.push_str(&error.to_string());
            source = error.source();
        }

        tracing::error!(requests, error = why, "{consequence}");
    }

    /// The number of requests to log now; `None` if the last line is too recent.
    fn count(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests += 1;

        if state
            .last
            .is_some_and(|last| now.saturating_duration_since(last) < PAUSE)
        {
            return None;
        }

        state.last = Some(now);

        Some(std::mem::take(&mut state.requests))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_counts_all_requests() {
        let (log, start) = (OutageLog::default(), Instant::now());
        let counts =
            [0, 1, 999, 1_000, 1_500, 2_000].map(|at| log.count(start + Duration::from_millis(at)));
        assert_eq!(counts, [Some(1), None, None, Some(3), None, Some(2)]);
    }
}
