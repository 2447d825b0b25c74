//! The layer around a router. It limits requests before their bodies are read.

mod future;

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{Method, Response, header};
use tower::{Layer, Service};

pub(crate) use future::{Answer, LimitedFuture};

use super::RateLimitRequest;
use super::client::Client;
use super::limited_request::LimitedRequest;
use super::limiter::{Access, Limiter};
use svc_engine::request::{Hooked, RequestHook};

/// The paths of probes, which are never limited. Compared exactly: another spelling of a path may
/// lead elsewhere.
const EXEMPT: [&str; 3] = ["/health", "/ready", "/metrics"];

/// Limits the requests to a router.
#[derive(Debug, Clone)]
pub(crate) struct RateLimitLayer(pub(super) Arc<Limiter>);

/// A rate-limited service.
#[derive(Debug, Clone)]
pub(crate) struct Limited<S> {
    inner: S,
    limiter: Arc<Limiter>,
}

impl<S> Layer<S> for RateLimitLayer {
    type Service = Limited<S>;

    fn layer(&self, inner: S) -> Limited<S> {
        Limited {
            inner,
            limiter: self.0.clone(),
        }
    }
}

impl<S> Service<Request> for Limited<S>
where
    S: Service<Request, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = LimitedFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> LimitedFuture<S::Future> {
        if EXEMPT.contains(&request.uri().path()) {
            return LimitedFuture::Free {
                answering: self.inner.call(request),
            };
        }

        let is_graphql = is_graphql(&request);
        let limited = match admit(&self.limiter, &request, is_graphql && !is_upgrade(&request)) {
            Admitted::Free => {
                return LimitedFuture::Free {
                    answering: self.inner.call(request),
                };
            }
            Admitted::Refused(response) => return LimitedFuture::answered(response),
            Admitted::Limited(limited) => limited,
        };

        if is_graphql {
            // The endpoint has more information about the client and the operation, and counts
            // before it reads the body.
            request.extensions_mut().insert(Hooked(limited.clone()));

            // The hook of a handshake is for the operations on its socket; the handshake itself is
            // counted below.
            if !is_upgrade(&request) {
                return LimitedFuture::Inside {
                    answering: self.inner.call(request),
                    limited,
                };
            }
        }

        // Call the service that is ready and leave its clone in its place.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let answering = async move {
            match limited.count(&of_http(&limited, &request)).await {
                Ok(()) => Ok(limited.with_headers(inner.call(request).await?)),
                Err(refusal) => Ok(limited.with_headers(refusal.response())),
            }
        };

        LimitedFuture::Counted {
            answering: Box::pin(answering),
        }
    }
}

impl RateLimitLayer {
    /// Handles a request of the endpoint and passes the hook directly: without a layer in between,
    /// it need not be looked up.
    pub(crate) fn around<F: Future<Output = Answer>>(
        &self,
        request: Request,
        answer: impl FnOnce(Request, Option<Arc<dyn RequestHook>>) -> F,
    ) -> LimitedFuture<F> {
        match admit(&self.0, &request, !is_upgrade(&request)) {
            Admitted::Free => LimitedFuture::Free {
                answering: answer(request, None),
            },
            Admitted::Refused(response) => LimitedFuture::answered(response),
            Admitted::Limited(limited) => LimitedFuture::Inside {
                answering: answer(request, Some(limited.clone())),
                limited,
            },
        }
    }
}

/// A request whose client is so far identified by its address alone.
enum Admitted {
    /// The client is on the whitelist.
    Free,
    /// The client is on the blacklist.
    Refused(Response<Body>),
    /// The client may be limited.
    Limited(Arc<LimitedRequest>),
}

/// Admits a request or rejects it. Requests with a document are rejected by the endpoint itself, in
/// the form of GraphQL.
fn admit(limiter: &Arc<Limiter>, request: &Request, has_document: bool) -> Admitted {
    let address = limiter.address(request.headers(), request.extensions());
    let access = limiter.access(&address, None);
    if access == Access::Free {
        return Admitted::Free;
    }

    let limited = LimitedRequest::new(limiter.clone(), request.uri().path(), address);
    if access == Access::Refused && !has_document {
        let client = Client::at(address.counted, limiter.config.ipv6_prefix);
        return Admitted::Refused(limited.refused(&client).response());
    }

    Admitted::Limited(Arc::new(limited))
}

/// Whether a request goes to the GraphQL endpoint, which calls the hook of the request.
fn is_graphql(request: &Request) -> bool {
    let matched = request.extensions().get::<MatchedPath>();
    matched.is_some_and(|path| {
        ["/graphql", "/graphql/rust"]
            .iter()
            .any(|known| path.as_str().ends_with(known))
    })
}

/// Whether a request opens a WebSocket, whose operations are counted as they arrive.
fn is_upgrade(request: &Request) -> bool {
    request.method() == Method::GET && request.headers().contains_key(header::UPGRADE)
}

/// A request outside of GraphQL, as passed to the key function.
fn of_http<'a>(limited: &'a LimitedRequest, request: &'a Request) -> RateLimitRequest<'a> {
    RateLimitRequest {
        headers: request.headers(),
        path: limited.path(),
        address: limited.address.counted,
        #[cfg(feature = "auth")]
        user: request.extensions().get(),
    }
}
