//! The complexity that an operation uses while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Selection;
use crate::request::{RequestHook, Spent};

/// The complexity that an operation has used so far, that is, the complexity of its completed
/// parts. It is reported once, even if the operation is dropped.
pub(crate) struct CostMeter {
    /// `None` once it is reported.
    metering: Option<Arc<dyn RequestHook>>,
    asked: u64,
    used: AtomicU64,
}

impl CostMeter {
    /// Starts metering an operation with its requested complexity; `used` is the part that it uses
    /// regardless of its results.
    pub(in crate::graphql) fn begin(metering: Arc<dyn RequestHook>, asked: u64, used: u64) -> Self {
        Self {
            metering: Some(metering),
            asked,
            used: AtomicU64::new(used),
        }
    }

    /// Counts completed objects.
    pub(in crate::graphql) fn objects(&self, selection: &Selection, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.used.fetch_add(
            selection.own_cost().saturating_mul(count),
            Ordering::Relaxed,
        );
    }

    /// Ends the metering. Returns the entry for the `extensions` of the response.
    pub(in crate::graphql) fn end(mut self) -> Option<(&'static str, serde_json::Value)> {
        self.tell()
    }

    fn tell(&mut self) -> Option<(&'static str, serde_json::Value)> {
        // A list without a limit may have more rows than it was counted with, but only the
        // requested complexity was admitted.
        let used = self.used.load(Ordering::Relaxed).min(self.asked);

        // Taken, so that the drop after `end` does not report a second time.
        self.metering.take()?.after_running(Spent {
            asked: self.asked,
            used,
        })
    }
}

impl Drop for CostMeter {
    fn drop(&mut self) {
        self.tell();
    }
}
