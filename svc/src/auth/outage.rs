//! The log of what is away.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::AuthError;

/// The time between two lines of the log.
const PAUSE: Duration = Duration::from_secs(1);

/// An outage of a provider or a store: each request meets it, and the log says so once a second.
#[derive(Debug, Default)]
pub(crate) struct OutageLog(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    /// The requests that the log has not counted yet.
    requests: u64,
}

impl OutageLog {
    /// Counts a request that has met the outage, and logs those so far if the last line is a second old.
    pub(super) fn record(&self, error: &AuthError, consequence: &'static str) {
        let Some(requests) = self.count(Instant::now()) else { return };
        let mut why = error.to_string();
        let mut source = std::error::Error::source(error).and_then(std::error::Error::source);
        while let Some(error) = source {
            why.push_str(": ");
            why.push_str(&error.to_string());
            source = error.source();
        }
        tracing::error!(requests, error = why, "{consequence}");
    }

    /// The requests to log now; `None` when it is too early.
    fn count(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests += 1;
        if state.last.is_some_and(|last| now.saturating_duration_since(last) < PAUSE) {
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
        let counts = [0, 1, 999, 1_000, 1_500, 2_000].map(|at| log.count(start + Duration::from_millis(at)));
        assert_eq!(counts, [Some(1), None, None, Some(3), None, Some(2)]);
    }
}
