//! Traces: the work of a request, as spans that OpenTelemetry collects.
//!
//! A request whose trace is sampled has its context attached while it is polled, so everything that
//! runs in it finds its parent there; until [`setup_tracing`](crate::setup_tracing) is called, a
//! request only checks for that and does nothing else. Without the feature `tracing-otel` there are
//! no spans, and the compiler removes the code that would create them.

mod config;
#[cfg(feature = "tracing-otel")]
mod drawn;
#[cfg(feature = "tracing-otel")]
mod http_client;
#[cfg(feature = "tracing-otel")]
mod layer;
mod own_span;
#[cfg(feature = "tracing-otel")]
mod propagation;
#[cfg(feature = "tracing-otel")]
mod provider;
#[cfg_attr(not(feature = "tracing-otel"), path = "no_spans.rs")]
mod spans;
#[cfg(feature = "tracing-otel")]
mod zipkin;

pub use config::{ExportFormat, ExportProtocol, TracingConfig};
pub use own_span::{
    OwnSpan, trace_cache_operation, trace_database_query, trace_graphql_operation,
    trace_graphql_query,
};
#[cfg(feature = "tracing-otel")]
pub use propagation::inject_context;
#[cfg(not(feature = "tracing-otel"))]
pub use spans::inject_context;
pub use spans::{span_id, trace_id};
pub use svc_macros::{trace_database_query, trace_graphql_operation};

#[cfg(feature = "tracing-otel")]
pub(crate) use layer::TracingLayer;
#[cfg(feature = "tracing-otel")]
pub(crate) use provider::set_provider;
pub(crate) use spans::{OpenSpan, SpanLink, StatementSpan, flush, note_error};
