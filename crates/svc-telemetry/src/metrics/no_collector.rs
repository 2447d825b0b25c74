//! The collector of builds without the feature `metrics`: there is none, so nothing is counted.

use std::convert::Infallible;

use super::CacheType;

/// The collector of metrics; without the feature `metrics` there is none.
#[derive(Debug, Clone, Copy)]
pub struct Metrics(Infallible);

/// Returns the collector; without the feature `metrics` there is none.
pub fn get_metrics() -> Option<Metrics> {
    None
}

/// The slot in a plan that caches the series of its operation.
#[derive(Debug, Clone, Default)]
pub struct OperationSlot {}

/// The slot in a statement that caches its series.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StatementSlot {}

/// A running operation.
#[derive(Debug)]
pub struct RunningOperation(Infallible);

/// A running statement.
#[derive(Debug)]
pub struct RunningStatement(Infallible);

impl Metrics {
    /// Counts an operation.
    pub fn record_query(self, _: &str, _: &str, _: f64, _: bool) {
        match self.0 {}
    }

    /// Counts the root field of a mutation.
    pub fn record_mutation(self, _: &str, _: Result<&str, &str>) {
        match self.0 {}
    }

    /// Counts a statement.
    pub fn record_db_query(self, _: &str, _: &str, _: f64) {
        match self.0 {}
    }

    /// Counts a cache hit.
    pub fn record_cache_hit(self, _: &str) {
        match self.0 {}
    }

    /// Counts a cache miss.
    pub fn record_cache_miss(self, _: &str) {
        match self.0 {}
    }

    /// Counts an error.
    pub fn record_error(self, _: &str, _: &str, _: &str) {
        match self.0 {}
    }

    pub(crate) fn looked_up(self, _: CacheType, _: bool) {
        match self.0 {}
    }

    #[doc(hidden)]
    pub fn error(self, _: &str, _: &str) {
        match self.0 {}
    }

    #[doc(hidden)]
    pub fn operation(
        self,
        _: &OperationSlot,
        _: &'static str,
        _: Option<&str>,
        _: bool,
        _: std::time::Instant,
    ) -> RunningOperation {
        match self.0 {}
    }

    #[doc(hidden)]
    pub fn operation_name(self, _: &OperationSlot) -> Option<&'static str> {
        match self.0 {}
    }

    #[doc(hidden)]
    pub fn statement(self, _: &StatementSlot, _: &'static str, _: &str) -> RunningStatement {
        match self.0 {}
    }
}

impl RunningOperation {
    pub fn name(&self) -> &str {
        match self.0 {}
    }

    pub fn end(self, _: bool) {
        match self.0 {}
    }
}
