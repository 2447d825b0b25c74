//! The series of operations.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::counter::Counter;
use super::family::OTHER;
use super::histogram::Histogram;
use super::{Collector, Metrics};

/// The name of anonymous operations.
const ANONYMOUS: &str = "anonymous";

/// The series of one operation.
#[derive(Debug)]
pub(crate) struct OperationSeries {
    /// The name, as in the label.
    name: Box<str>,
    pub(super) duration: Histogram,
    pub(super) success: Counter,
    pub(super) errors: Counter,
}

impl OperationSeries {
    pub(super) fn new([_, name]: [&str; 2]) -> Self {
        let (duration, success, errors) = Default::default();
        Self {
            name: name.into(),
            duration,
            success,
            errors,
        }
    }

    pub(super) fn record(&self, time: Duration, is_success: bool) {
        self.duration.observe(time);
        if is_success {
            self.success.increment();
        } else {
            self.errors.increment();
        }
    }
}

/// The slot in a plan that caches the series of its operation.
#[derive(Debug, Clone, Default)]
pub struct OperationSlot(OnceLock<&'static OperationSeries>);

/// A running operation. It is counted once: when it ends, or when it is dropped, as when its client
/// disconnects.
#[derive(Debug)]
pub struct RunningOperation {
    series: &'static OperationSeries,
    began: Instant,
    is_success: bool,
}

impl RunningOperation {
    /// Returns the name, as in the label.
    pub fn name(&self) -> &'static str {
        &self.series.name
    }

    /// Ends the operation.
    pub fn end(mut self, is_success: bool) {
        // The drop that follows counts the operation.
        self.is_success = is_success;
    }
}

impl Drop for RunningOperation {
    fn drop(&mut self) {
        self.series.record(self.began.elapsed(), self.is_success);
    }
}

impl Metrics {
    /// Starts an operation that was received at `began`. `is_kept` means that its name is chosen by
    /// the program, as that of a registered operation.
    #[doc(hidden)]
    pub fn operation(
        self,
        slot: &OperationSlot,
        kind: &'static str,
        name: Option<&str>,
        is_kept: bool,
        began: Instant,
    ) -> RunningOperation {
        let series = slot
            .0
            .get_or_init(|| self.0.operation(kind, name.unwrap_or(ANONYMOUS), is_kept));
        RunningOperation {
            series,
            began,
            // An operation that is dropped before its end counts as an error.
            is_success: false,
        }
    }
}

impl Metrics {
    /// Returns the name of the operation whose series are cached in a slot.
    #[doc(hidden)]
    pub fn operation_name(self, slot: &OperationSlot) -> Option<&'static str> {
        slot.0.get().map(|series| &*series.name)
    }
}

impl Collector {
    fn operation(&self, kind: &str, name: &str, is_kept: bool) -> &'static OperationSeries {
        if is_kept {
            return self.operations.kept([kind, name], OperationSeries::new);
        }
        self.operations
            .get([kind, name], [kind, OTHER], OperationSeries::new)
    }
}
