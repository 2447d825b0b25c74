//! Traces: the work of a request, as spans that OpenTelemetry collects.
//!
//! A request whose trace is sampled has its context attached while it is polled, so everything that
//! runs in it finds its parent there; until [`setup_tracing`](crate::setup_tracing) is called, a
//! request only checks for that and does nothing else. Without the feature `tracing-otel` there are
//! no spans, and the compiler removes the code that would create them.

#[doc(inline)]
pub use svc_core::trace::{
    ExportFormat, ExportProtocol, OwnSpan, TracingConfig, inject_context, span_id,
    trace_cache_operation, trace_database_query, trace_graphql_operation, trace_graphql_query,
    trace_id,
};
