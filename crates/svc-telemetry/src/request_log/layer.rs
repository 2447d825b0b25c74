//! The layer around a router: it creates the record of each request, and writes its line.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use axum::routing::Route;
use axum::routing::future::RouteFuture;
use tower::{Layer, Service};

use super::RequestLog;
use super::notes::{End, Notes};
use super::record::Record;
use svc_core::request_id::{HEADER, RequestId};

/// The paths of probes, which are called every few seconds and are not worth logging.
const PROBES: [&str; 3] = ["/health", "/ready", "/metrics"];

/// A route whose requests are logged.
#[derive(Debug, Clone)]
pub struct LoggedRoute {
    inner: Route,
    log: RequestLog,
}

/// The response to a request, whose line is written with the response, or when its record is
/// dropped.
pub struct LoggedResponse {
    inner: RouteFuture<Infallible>,
    /// `None` if the request is not logged, or has been already.
    record: Option<Arc<Record>>,
}

impl Layer<Route> for RequestLog {
    type Service = LoggedRoute;

    fn layer(&self, inner: Route) -> LoggedRoute {
        LoggedRoute {
            inner,
            log: self.clone(),
        }
    }
}

impl LoggedRoute {
    /// Creates the record of a request; `None` for a probe, and if an outer layer has created one.
    fn record(&self, request: &Request) -> Option<Arc<Record>> {
        let path = request
            .extensions()
            .get::<MatchedPath>()
            .map(MatchedPath::as_str);
        if path.is_some_and(|path| PROBES.contains(&path)) || Record::current().is_some() {
            return None;
        }

        let record = Record::new(self.log.0.clone(), "http");
        let (request_id, method) = (RequestId::given(request.headers()), method(request));
        *record.notes() = Notes {
            request_id,
            method: Some(method),
            path: path.map(Box::from),
            ..Notes::default()
        };

        Some(Arc::new(record))
    }
}

/// Returns the method, unless it is non-standard.
fn method(request: &Request) -> &'static str {
    const KNOWN: [&str; 8] = [
        "GET", "POST", "QUERY", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS",
    ];

    // A method can be any token, which clients may choose to confuse readers of the log.
    KNOWN
        .into_iter()
        .find(|known| request.method() == *known)
        .unwrap_or("other")
}

impl Service<Request> for LoggedRoute {
    type Response = Response;
    type Error = Infallible;
    type Future = LoggedResponse;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request>::poll_ready(&mut self.inner, cx)
    }

    fn call(&mut self, request: Request) -> LoggedResponse {
        let record = self.record(&request);

        // Layers inside may already add to the record in `call`, before the first poll.
        let inner = match &record {
            Some(record) => record.within(|| self.inner.call(request)),
            None => self.inner.call(request),
        };
        LoggedResponse { inner, record }
    }
}

impl Future for LoggedResponse {
    type Output = Result<Response, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(record) = &this.record else {
            return Pin::new(&mut this.inner).poll(cx);
        };

        let polled = record.within(|| Pin::new(&mut this.inner).poll(cx));
        if let Poll::Ready(Ok(response)) = &polled {
            record.answered(response);
            this.record = None;
        }

        polled
    }
}

impl Record {
    fn answered(&self, response: &Response) {
        // If the request has no usable identifier, the endpoint generates one.
        if let Some(id) = RequestId::said(response.headers().get(HEADER)) {
            self.notes().request_id = Some(id);
        }
        self.end(End::Status(response.status().as_u16()));
    }
}
