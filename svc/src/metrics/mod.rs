//! Metrics: what the service does, counted in series that Prometheus reads.
//!
//! One collector counts for the whole process, so that whatever runs in it finds it without being handed one; until
//! [`setup_metrics`](crate::setup_metrics) makes it, a request asks for it and does nothing else. Without the feature
//! `metrics` there never is one, and the compiler removes what would count.

mod applications;
#[cfg_attr(not(feature = "metrics"), path = "no_collector.rs")]
mod collector;
mod config;
mod error_type;
#[cfg(feature = "metrics")]
mod layer;
mod with_metrics;

pub use collector::{Metrics, get_metrics};
pub use config::MetricsConfig;
pub use svc_macros::with_metrics;
pub use with_metrics::with_metrics;

pub(crate) use applications::{PoolStatus, Pools, application_made, in_production};
#[cfg(feature = "metrics")]
pub(crate) use collector::{Format, set_collector};
pub(crate) use collector::{OperationSlot, RunningOperation, RunningStatement, StatementSlot};
pub(crate) use error_type::error_type;
#[cfg(feature = "metrics")]
pub(crate) use layer::MetricsLayer;

/// A cache, for the label `cache_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheType {
    /// Prepared documents.
    Document,
    /// Documents that clients have persisted, by their hashes.
    PersistedQuery,
    /// Decisions of the authorizer.
    Decision,
    /// Answers of queries.
    Response,
}

impl CacheType {
    /// All of them, in the order of their numbers.
    #[cfg(feature = "metrics")]
    pub(crate) const ALL: [Self; 4] = [Self::Document, Self::PersistedQuery, Self::Decision, Self::Response];

    /// The value of the label.
    #[cfg(feature = "metrics")]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::PersistedQuery => "persisted_query",
            Self::Decision => "decision",
            Self::Response => "response",
        }
    }

    /// Counts a look-up, where somebody counts.
    pub(crate) fn looked_up(self, is_hit: bool) {
        if let Some(metrics) = get_metrics() {
            metrics.looked_up(self, is_hit);
        }
    }
}
