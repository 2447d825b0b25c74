//! The state of a tracker.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state of an error tracker.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorTrackerStatus {
    /// The errors that wait to be written.
    pub waiting: u64,
    /// The errors that were lost since the start: those that came while a thousand others waited.
    pub dropped: u64,
    /// Why nothing can be written at the moment; `None` where it can.
    pub failure: Option<String>,
}

/// The errors that were lost, and the reason why nothing is written.
#[derive(Debug, Default)]
pub(super) struct Standing {
    dropped: AtomicU64,
    failure: Mutex<Option<String>>,
}

impl Standing {
    pub(super) fn status(&self, waiting: u64) -> ErrorTrackerStatus {
        ErrorTrackerStatus { waiting, dropped: self.dropped.load(Ordering::Relaxed), failure: self.failure().clone() }
    }

    /// Notes errors that are lost.
    pub(super) fn drop_errors(&self, count: u64) {
        self.dropped.fetch_add(count, Ordering::Relaxed);
    }

    /// Notes that nothing can be written at the moment.
    pub(super) fn failed(&self, why: &str) {
        let before = self.failure().replace(why.to_owned());
        if before.is_none() {
            let hint = "the schema svc_errors is made by `svc::error_tracker::MIGRATION`";
            tracing::warn!(error = why, hint, "errors cannot be tracked at the moment; they wait");
        }
    }

    /// Notes that something was written.
    pub(super) fn written(&self) {
        if self.failure().take().is_some() {
            let dropped = self.dropped.load(Ordering::Relaxed);
            tracing::info!(dropped, "errors are tracked again");
        }
    }

    fn failure(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
