//! The complexity that an operation uses while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Selection;
use crate::request::{RequestHook, Spent};

/// The complexity that an operation has used so far, that is, the complexity of its completed
/// parts. It is reported once, even if the operation is dropped.
pub(crate) struct CostMeter {
    /// `None` once it is reported.
    metering: Option<Arc<dyn RequestHook>>,
    asked: u64,
    used: AtomicU64,
    /// Whether a root field was admitted, so that its work may have begun.
    has_begun: AtomicBool,
}

impl CostMeter {
    /// Starts metering an operation with its requested complexity; `used` is the part that it uses
    /// regardless of its results.
    pub(in crate::graphql) fn begin(metering: Arc<dyn RequestHook>, asked: u64, used: u64) -> Self {
        Self {
            metering: Some(metering),
            asked,
            used: AtomicU64::new(used),
            has_begun: AtomicBool::new(false),
        }
    }

    /// Starts metering one root field separately. Its results have the complexity `asked`.
    pub(in crate::graphql) fn field(&self, asked: u64) -> FieldMeter<'_> {
        FieldMeter {
            operation: self,
            own: Self {
                metering: None,
                asked,
                used: AtomicU64::new(0),
                has_begun: AtomicBool::new(false),
            },
        }
    }

    /// Starts metering an attempt at all root fields separately.
    pub(in crate::graphql) fn attempt(&self) -> FieldMeter<'_> {
        self.field(self.asked)
    }

    /// Records that a root field was admitted.
    pub(in crate::graphql) fn begin_work(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
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

/// The complexity that the results of one root field have used so far, if the first error of the
/// operation may cut them off, or that of an attempt at all root fields. Counts for the operation
/// when dropped.
pub(crate) struct FieldMeter<'a> {
    operation: &'a CostMeter,
    own: CostMeter,
}

impl FieldMeter<'_> {
    /// The meter that counts the objects of the field.
    pub(in crate::graphql) fn objects(&self) -> &CostMeter {
        &self.own
    }

    /// Counts everything that the field requested if it was dropped after its work began.
    pub(in crate::graphql) fn dropped(&self) {
        if self.own.has_begun.load(Ordering::Relaxed) {
            self.count_all();
        }
    }

    /// Counts everything that the field requested if it failed after some of its objects were
    /// completed: the others were read as well.
    pub(in crate::graphql) fn failed(&self) {
        if self.own.used.load(Ordering::Relaxed) > 0 {
            self.count_all();
        }
    }

    /// Counts nothing of an attempt that is run again.
    pub(in crate::graphql) fn discard(&self) {
        self.own.used.store(0, Ordering::Relaxed);
    }

    fn count_all(&self) {
        self.own.used.fetch_max(self.own.asked, Ordering::Relaxed);
    }
}

impl Drop for FieldMeter<'_> {
    fn drop(&mut self) {
        let used = self.own.used.load(Ordering::Relaxed);
        self.operation.used.fetch_add(used, Ordering::Relaxed);
    }
}
