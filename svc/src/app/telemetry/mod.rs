//! Metrics and traces, set up around an application.

mod metrics;
mod traces;

pub use metrics::setup_metrics;
pub use traces::setup_tracing;
