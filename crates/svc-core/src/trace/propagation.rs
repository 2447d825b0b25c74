//! The context of a trace in headers: `traceparent`, `tracestate` and `baggage`.

use axum::http::{HeaderMap, HeaderName};
use opentelemetry::Context;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry_http::{HeaderExtractor, HeaderInjector};
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};

use super::provider::provider;

// Static names, so that they are not parsed for each request.
static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
static BAGGAGE: HeaderName = HeaderName::from_static("baggage");

/// Adds the context of the current trace to the headers of a request that the program sends:
/// `traceparent`, and `tracestate` and `baggage` if there are any. Outside of requests, and if
/// `setup_tracing` was not called, nothing is added.
///
/// ```
/// use svc::axum::http::HeaderMap;
///
/// let mut headers = HeaderMap::new();
/// svc::trace::inject_context(&mut headers);
/// assert!(headers.is_empty(), "there is no trace here");
/// ```
pub fn inject_context(headers: &mut HeaderMap) {
    if provider().is_none() {
        return;
    }
    let context = Context::current();
    TraceContextPropagator::new().inject_context(&context, &mut HeaderInjector(headers));
    BaggagePropagator::new().inject_context(&context, &mut HeaderInjector(headers));
}

/// Returns the context in a request's headers, if there is one.
pub(super) fn context_of(headers: &HeaderMap) -> Option<Context> {
    let (has_parent, has_baggage) = (
        headers.contains_key(&TRACEPARENT),
        headers.contains_key(&BAGGAGE),
    );
    if !has_parent && !has_baggage {
        return None;
    }

    let mut context = Context::new();
    if has_parent {
        context =
            TraceContextPropagator::new().extract_with_context(&context, &HeaderExtractor(headers));
    }

    if has_baggage {
        context =
            BaggagePropagator::new().extract_with_context(&context, &HeaderExtractor(headers));
    }

    Some(context)
}
