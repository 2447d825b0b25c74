//! The state of a tracker.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state of an error tracker.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorTrackerStatus {
    /// The number of errors that wait to be written.
    pub waiting: u64,
    /// The number of errors lost since the start, because a thousand others were waiting or
    /// because they could not be stored. As in `waiting`, an error that a request reports for
    /// several of its values counts once.
    pub dropped: u64,
    /// The error that currently prevents writing; `None` if there is none.
    pub failure: Option<String>,
}

/// The number of lost errors, and the error that currently prevents writing.
#[derive(Debug, Default)]
pub(super) struct Standing {
    dropped: AtomicU64,
    failure: Mutex<Option<String>>,
}

impl Standing {
    pub(super) fn status(&self, waiting: u64) -> ErrorTrackerStatus {
        ErrorTrackerStatus {
            waiting,
            dropped: self.dropped.load(Ordering::Relaxed),
            failure: self.failure().clone(),
        }
    }

    /// Counts lost errors.
    pub(super) fn drop_errors(&self, count: u64) {
        self.dropped.fetch_add(count, Ordering::Relaxed);
    }

    /// Records that writing currently fails.
    pub(super) fn failed(&self, why: &str) {
        let before = self.failure().replace(why.to_owned());

        // The task retries until it succeeds, so only the first failure of a series is logged.
        if before.is_none() {
            let hint = "the schema svc_errors is made by `svc::error_tracker::MIGRATION`";
            tracing::warn!(
                error = why,
                hint,
                "cannot write tracked errors; they are queued"
            );
        }
    }

    /// Records that writing succeeded.
    pub(super) fn written(&self) {
        if self.failure().take().is_some() {
            let dropped = self.dropped.load(Ordering::Relaxed);
            tracing::info!(dropped, "writing tracked errors again");
        }
    }

    fn failure(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
