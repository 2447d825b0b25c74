//! The layer around a router: it starts the trace of each request.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{self, Poll};

use axum::extract::{MatchedPath, Request};
use axum::http::{StatusCode, Version, header};
use axum::response::Response;
use axum::routing::Route;
use axum::routing::future::RouteFuture;
use opentelemetry::trace::{SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue};
use tower::{Layer, Service};

use super::drawn;
use super::propagation::context_of;
use super::provider::Provider;

/// Traces the requests to the routes of a router.
#[derive(Debug, Clone, Copy)]
pub struct TracingLayer {
    provider: &'static Provider,
    excluded: &'static BTreeSet<String>,
}

/// A route whose requests are traced.
#[derive(Debug, Clone)]
pub struct TracedRoute {
    inner: Route,
    layer: TracingLayer,
}

/// The response to a request, whose span ends with the response, or when it is dropped.
pub struct TracedResponse {
    inner: RouteFuture<Infallible>,
    /// The context of the request; `None` if its path is excluded.
    context: Option<Context>,
    is_answered: bool,
}

impl TracingLayer {
    pub fn new(provider: &'static Provider, excluded: BTreeSet<String>) -> Self {
        // Leaked: it lives as long as the provider, and requests need not count references shared
        // by all threads.
        Self {
            provider,
            excluded: Box::leak(Box::new(excluded)),
        }
    }

    /// Returns the context of a request with its span; if the trace is not sampled, the span
    /// records nothing.
    fn begin(&self, request: &Request) -> Option<Context> {
        if self.excluded.contains(request.uri().path()) {
            return None;
        }

        let parent = match context_of(request.headers()) {
            Some(parent) => parent,
            None => match drawn::unsampled(&self.provider.sampler) {
                Some(context) => return Some(context),
                None => Context::new(),
            },
        };

        let method = method(request);
        let tracer = &self.provider.tracer;
        let span = tracer
            .span_builder(method)
            .with_kind(SpanKind::Server)
            .start_with_context(tracer, &parent);
        let context = parent.with_span(span);

        // The attributes are texts, which a span that is not sampled would discard.
        if context.span().is_recording() {
            describe(&context, request, method);
        }

        Some(context)
    }
}

/// Returns the method, `_OTHER` for non-standard ones.
fn method(request: &Request) -> &'static str {
    const KNOWN: [&str; 10] = [
        "GET", "POST", "QUERY", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE",
    ];
    KNOWN
        .into_iter()
        .find(|known| request.method() == *known)
        // The semantic conventions prescribe this value for all other methods.
        .unwrap_or("_OTHER")
}

/// Adds the attributes of a request. The query of the URL is left out, as it may contain variables.
fn describe(context: &Context, request: &Request, method: &'static str) {
    let span = context.span();
    span.set_attribute(KeyValue::new("http.request.method", method));
    span.set_attribute(KeyValue::new("url.path", request.uri().path().to_owned()));
    span.set_attribute(KeyValue::new(
        "url.scheme",
        request.uri().scheme_str().unwrap_or("http").to_owned(),
    ));
    if let Some(route) = request.extensions().get::<MatchedPath>() {
        // Names must have few values, so the route is used and not the path with its identifiers.
        span.update_name(format!("{method} {}", route.as_str()));
        span.set_attribute(KeyValue::new("http.route", route.as_str().to_owned()));
    }

    if let Some(version) = version(request.version()) {
        span.set_attribute(KeyValue::new("network.protocol.version", version));
    }

    let agent = request
        .headers()
        .get(header::USER_AGENT)
        .and_then(|agent| agent.to_str().ok());

    if let Some(agent) = agent {
        span.set_attribute(KeyValue::new("user_agent.original", agent.to_owned()));
    }
}

fn version(version: Version) -> Option<&'static str> {
    match version {
        Version::HTTP_10 => Some("1.0"),
        Version::HTTP_11 => Some("1.1"),
        Version::HTTP_2 => Some("2"),
        _ => None,
    }
}

impl Layer<Route> for TracingLayer {
    type Service = TracedRoute;

    fn layer(&self, inner: Route) -> TracedRoute {
        TracedRoute {
            inner,
            layer: *self,
        }
    }
}

impl Service<Request> for TracedRoute {
    type Response = Response;
    type Error = Infallible;
    type Future = TracedResponse;

    fn poll_ready(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request>::poll_ready(&mut self.inner, cx)
    }

    fn call(&mut self, request: Request) -> TracedResponse {
        let context = self.layer.begin(&request);
        let _attached = context.clone().map(Context::attach);
        TracedResponse {
            inner: self.inner.call(request),
            context,
            is_answered: false,
        }
    }
}

impl Future for TracedResponse {
    type Output = Result<Response, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        // Attached for each poll only, because the thread runs other tasks in between.
        let _attached = self.context.clone().map(Context::attach);
        let polled = Pin::new(&mut self.inner).poll(cx);
        if let Poll::Ready(Ok(response)) = &polled {
            self.answered(Some(response.status()));
        }
        polled
    }
}

impl Drop for TracedResponse {
    fn drop(&mut self) {
        if !self.is_answered {
            self.answered(None);
        }
    }
}

impl TracedResponse {
    /// Ends the span: with a status, or because the client has disconnected.
    fn answered(&mut self, status: Option<StatusCode>) {
        self.is_answered = true;
        let Some(context) = &self.context else { return };
        let span = context.span();
        if !span.is_recording() {
            return;
        }

        match status {
            None => span.set_attribute(KeyValue::new("error.type", "client_gone")),
            Some(status) => {
                span.set_attribute(KeyValue::new(
                    "http.response.status_code",
                    i64::from(status.as_u16()),
                ));

                // The semantic conventions leave the status of a server's span unset for 4xx, which
                // are errors of the client.
                if status.is_server_error() {
                    span.set_attribute(KeyValue::new("error.type", status.as_str().to_owned()));
                    span.set_status(Status::error(""));
                }
            }
        }

        // Ended explicitly, because tasks of the request may hold the context for longer.
        span.end();
    }
}
