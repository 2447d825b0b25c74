//! Responses readable by pages of other origins (CORS).

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, Response, header};
use futures_util::future::Either;
use tower::{Layer, Service};
use tower_http::cors::{AllowOrigin, Cors, CorsLayer};

use super::csrf::PREFLIGHTED;
use svc_engine::request::REQUEST_ID;

/// The request headers allowed for every page that may read responses.
const SENT: [HeaderName; 4] = [
    header::ACCEPT,
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    REQUEST_ID,
];

/// The response headers that scripts can read in addition to the always readable ones.
const EXPOSED: [HeaderName; 7] = [
    header::RETRY_AFTER,
    header::WWW_AUTHENTICATE,
    REQUEST_ID,
    HeaderName::from_static("x-ratelimit-limit"),
    HeaderName::from_static("x-ratelimit-remaining"),
    HeaderName::from_static("x-ratelimit-reset"),
    HeaderName::from_static("x-ratelimit-window"),
];

/// The pages that may read responses. Shared, because axum clones a service for each request.
#[derive(Debug, Clone)]
pub(crate) struct CrossOriginRules(Arc<CorsLayer>);

impl CrossOriginRules {
    /// Returns `None` if no origin is given.
    pub(crate) fn new(
        origins: &[String],
        headers: &[HeaderName],
        credentials: bool,
        max_age: Duration,
    ) -> Option<Self> {
        if origins.is_empty() {
            return None;
        }

        let allowed = if origins.iter().any(|origin| origin == "*") {
            AllowOrigin::any()
        } else {
            AllowOrigin::list(
                origins
                    .iter()
                    .filter_map(|origin| HeaderValue::from_str(origin).ok()),
            )
        };

        let sent = SENT
            .into_iter()
            .chain(PREFLIGHTED)
            .chain(headers.iter().cloned());
        let layer = CorsLayer::new()
            .allow_origin(allowed)
            .allow_methods(methods())
            .allow_headers(sent.collect::<Vec<_>>())
            .allow_credentials(credentials)
            .expose_headers(EXPOSED)
            .max_age(max_age);

        Some(Self(Arc::new(layer)))
    }
}

/// Returns the methods of the endpoint and of the account routes.
fn methods() -> Vec<Method> {
    // Older versions of `http` have no constant for `QUERY`.
    [Method::GET, Method::POST, Method::DELETE]
        .into_iter()
        .chain(Method::from_bytes(b"QUERY"))
        .collect()
}

/// Adds the rules to a service; requests without an `Origin` bypass them.
#[derive(Debug, Clone)]
pub(in crate::http) struct CrossOriginLayer(pub(in crate::http) Option<CrossOriginRules>);

/// A service with the rules.
#[derive(Debug, Clone)]
pub(in crate::http) struct CrossOrigin<S> {
    inner: S,
    rules: Option<CrossOriginRules>,
}

impl<S> Layer<S> for CrossOriginLayer {
    type Service = CrossOrigin<S>;

    fn layer(&self, inner: S) -> CrossOrigin<S> {
        CrossOrigin {
            inner,
            rules: self.0.clone(),
        }
    }
}

impl<S: Service<Request, Response = Response<Body>, Error = Infallible> + Clone> Service<Request>
    for CrossOrigin<S>
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Either<<Cors<S> as Service<Request>>::Future, S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        match &self.rules {
            Some(CrossOriginRules(rules)) if request.headers().contains_key(header::ORIGIN) => {
                // The ready service handles the request; its clone takes its place.
                let clone = self.inner.clone();
                Either::Left(
                    rules
                        .layer(std::mem::replace(&mut self.inner, clone))
                        .call(request),
                )
            }
            _ => Either::Right(self.inner.call(request)),
        }
    }
}
