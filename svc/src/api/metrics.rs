//! Metrics: the work of the service, counted in series that Prometheus scrapes.
//!
//! One collector counts for the whole process, so that all code finds it without having it passed;
//! until [`setup_metrics`](crate::setup_metrics) creates it, a request only checks for it and does
//! nothing else. Without the feature `metrics` there is no collector, and the compiler removes the
//! code that would count.

#[doc(inline)]
pub use svc_telemetry::metrics::{Metrics, MetricsConfig, get_metrics, with_metrics};
