//! Metrics: the work of the service, counted in series that Prometheus scrapes.

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

pub use applications::{PoolStatus, Pools, application_made, in_production};
#[cfg(feature = "metrics")]
pub use collector::{Format, set_collector};
pub use collector::{OperationSlot, RunningOperation, RunningStatement, StatementSlot};
pub use error_type::error_type;
#[cfg(feature = "metrics")]
pub use layer::MetricsLayer;

/// A cache, for the label `cache_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheType {
    /// Prepared documents.
    Document,
    /// Documents that clients have persisted, by hash.
    PersistedQuery,
    /// Decisions of the authorizer.
    Decision,
    /// Responses of queries.
    Response,
}

impl CacheType {
    /// All cache types, in the order of their discriminants.
    #[cfg(feature = "metrics")]
    pub(crate) const ALL: [Self; 4] = [
        Self::Document,
        Self::PersistedQuery,
        Self::Decision,
        Self::Response,
    ];

    /// Returns the value of the label.
    #[cfg(feature = "metrics")]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::PersistedQuery => "persisted_query",
            Self::Decision => "decision",
            Self::Response => "response",
        }
    }

    /// Counts a look-up, if metrics are enabled.
    pub fn looked_up(self, is_hit: bool) {
        if let Some(metrics) = get_metrics() {
            metrics.looked_up(self, is_hit);
        }
    }
}
