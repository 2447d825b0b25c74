//! The complexity that an operation uses while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::plan::Selection;
use crate::request::{RequestHook, Spent};

/// The complexity that an operation has used so far: that of what was completed. It is told once, also of an operation
/// that is dropped.
pub(crate) struct Spending {
    /// `None` once it was told.
    metering: Option<Arc<dyn RequestHook>>,
    asked: u64,
    used: AtomicU64,
}

impl Spending {
    /// That of an operation which begins with what it asks for, and uses `used` whatever it finds.
    pub(super) fn begin(metering: Arc<dyn RequestHook>, asked: u64, used: u64) -> Self {
        Self { metering: Some(metering), asked, used: AtomicU64::new(used) }
    }

    /// Counts objects that are completed.
    pub(super) fn objects(&self, selection: &Selection, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.used.fetch_add(selection.own_cost().saturating_mul(count), Ordering::Relaxed);
    }

    /// Ends it; what the answer says about it in its `extensions`.
    pub(super) fn end(mut self) -> Option<(&'static str, serde_json::Value)> {
        self.tell()
    }

    fn tell(&mut self) -> Option<(&'static str, serde_json::Value)> {
        let used = self.used.load(Ordering::Relaxed).min(self.asked);
        self.metering.take()?.after_running(Spent { asked: self.asked, used })
    }
}

impl Drop for Spending {
    fn drop(&mut self) {
        self.tell();
    }
}
