//! The layer around a router: it counts the requests to each route.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::Route;
use axum::routing::future::RouteFuture;
use tower::{Layer, Service};

use super::Metrics;
use super::collector::EndpointSeries;

/// Counts the requests to the routes of a router.
#[derive(Debug, Clone)]
pub struct MetricsLayer(Arc<Endpoints>);

/// The series of a route; `None` if it is not counted.
type Counted = Option<Arc<EndpointSeries>>;

/// The series of the routes, by path.
#[derive(Debug)]
struct Endpoints {
    metrics: Metrics,
    excluded: BTreeSet<String>,
    known: Mutex<HashMap<Option<Box<str>>, Counted>>,
}

/// A route whose requests are counted.
#[derive(Debug, Clone)]
pub struct CountedRoute {
    inner: Route,
    shared: Arc<Shared>,
}

/// The part of a route that its clones share.
#[derive(Debug)]
struct Shared {
    endpoints: Arc<Endpoints>,
    /// Set by the first request.
    series: OnceLock<Counted>,
}

/// The response to a request, which is counted with the response, or when this is dropped.
pub struct CountedResponse {
    inner: RouteFuture<Infallible>,
    request: Option<CountedRequest>,
}

struct CountedRequest {
    shared: Arc<Shared>,
    method: Method,
    began: Instant,
}

impl MetricsLayer {
    pub fn new(metrics: Metrics, excluded: BTreeSet<String>) -> Self {
        Self(Arc::new(Endpoints {
            metrics,
            excluded,
            known: Mutex::default(),
        }))
    }
}

impl Endpoints {
    fn series(&self, path: Option<&str>) -> Counted {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_counted = path.is_none_or(|path| !self.excluded.contains(path));
        let make = || is_counted.then(|| Arc::new(EndpointSeries::new(path)));
        known
            .entry(path.map(Box::from))
            .or_insert_with(make)
            .clone()
    }
}

impl Layer<Route> for MetricsLayer {
    type Service = CountedRoute;

    fn layer(&self, inner: Route) -> CountedRoute {
        CountedRoute {
            inner,
            shared: Arc::new(Shared {
                endpoints: self.0.clone(),
                series: OnceLock::new(),
            }),
        }
    }
}

impl Service<Request> for CountedRoute {
    type Response = Response;
    type Error = Infallible;
    type Future = CountedResponse;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request>::poll_ready(&mut self.inner, cx)
    }

    fn call(&mut self, request: Request) -> CountedResponse {
        let path = || {
            request
                .extensions()
                .get::<MatchedPath>()
                .map(MatchedPath::as_str)
        };

        // The router adds the path to each request; a layer does not know it when it wraps the
        // route.
        let is_counted = self
            .shared
            .series
            .get_or_init(|| self.shared.endpoints.series(path()))
            .is_some();

        let counted = is_counted.then(|| CountedRequest {
            shared: self.shared.clone(),
            method: request.method().clone(),
            began: Instant::now(),
        });

        CountedResponse {
            inner: self.inner.call(request),
            request: counted,
        }
    }
}

impl Future for CountedResponse {
    type Output = Result<Response, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.inner).poll(cx);

        // Taken, so that the drop does not count the request again.
        if let (Poll::Ready(Ok(response)), Some(request)) =
            (&polled, self.request.take_if(|_| polled.is_ready()))
        {
            request.count(Some(response.status()));
        }
        polled
    }
}

impl Drop for CountedResponse {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            // Dropped before the response: the client has disconnected.
            request.count(None);
        }
    }
}

impl CountedRequest {
    fn count(&self, status: Option<StatusCode>) {
        if let Some(Some(series)) = self.shared.series.get() {
            series.record(
                self.shared.endpoints.metrics,
                &self.method,
                status,
                self.began.elapsed(),
            );
        }
    }
}
