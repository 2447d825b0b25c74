//! Traces: the work of a request, as spans that OpenTelemetry collects.

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
pub use layer::TracingLayer;
#[cfg(feature = "tracing-otel")]
pub use provider::set_provider;
pub(crate) use spans::note_error;
pub use spans::{OpenSpan, SpanLink, StatementSpan, flush};
