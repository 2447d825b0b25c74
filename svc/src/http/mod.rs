//! HTTP: the GraphQL endpoint and its envelope, GraphiQL, health.
//!
//! The endpoint follows GraphQL over HTTP (<https://graphql.github.io/graphql-over-http/draft/>).

mod body;
mod dev_auth;
mod endpoint;
mod get;
#[cfg(feature = "graphiql")]
mod graphiql;
mod health;
mod live;
mod panic_guard;
mod post;
mod protection;
mod reply;
mod streamed;
mod unread;
#[cfg(feature = "websocket")]
mod websocket;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, MethodRouter, any_service, get};

pub(crate) use body::{PendingBodies, PendingBounds};
pub(crate) use dev_auth::DevAuth;
pub(crate) use health::ShuttingDown;
pub use live::SubscriptionsConfig;
pub(crate) use live::{LiveConnections, LongLived};
#[cfg(feature = "native-auth")]
pub(crate) use protection::protect;
pub(crate) use protection::{CrossOriginRules, CsrfProtection, Overload, Protection};
pub use reply::GraphqlOverHttp;
pub(crate) use unread::{LargeAnswer, PendingResponses, Recipient, Taken};

use crate::health::HealthCheck;
use crate::rate_limit::RateLimitLayer;
use panic_guard::guarded;
use post::{OtherMethods, Post};
use protection::CrossOriginLayer;
#[cfg(feature = "compression")]
use protection::compression;
use reply::MediaType;
use svc_engine::graphql::Engine;
use svc_engine::request::Transport;
#[cfg(feature = "websocket")]
use svc_telemetry::request_log::RequestLog;
use tower::Layer as _;

/// The state shared by the handlers.
#[derive(Debug)]
pub(crate) struct HttpState {
    pub(crate) engine: Arc<Engine>,
    pub(crate) name: String,
    /// The application's own checks.
    pub(crate) health: Option<HealthCheck>,
    /// Whether `/graphql/rust` is served.
    pub(crate) rust_endpoint: bool,
    /// The password in front of `/graphql`, if there is one.
    pub(crate) dev_auth: Option<Arc<DevAuth>>,
    /// The draft that determines the statuses of responses.
    pub(crate) graphql_over_http: GraphqlOverHttp,
    pub(crate) protection: Arc<Protection>,
    /// The rate limits set in the application's options.
    pub(crate) rate_limits: Option<RateLimitLayer>,
    /// The maximum number of requests in a batch; 0 disables batches.
    pub(crate) batch_max: usize,
    /// The limits of uploaded files; `None` if uploads are disabled.
    #[cfg(feature = "upload")]
    pub(crate) uploads: Option<svc_engine::upload::UploadConfig>,
    /// The open sockets and streams.
    pub(crate) live: Arc<LiveConnections>,
    /// The request log; `None` if it is disabled.
    #[cfg(feature = "websocket")]
    pub(crate) request_log: Option<RequestLog>,
    /// The maximum time for a client to send a body.
    pub(crate) body_timeout: Duration,
    /// Stops when the last route is dropped.
    #[cfg(feature = "embedded")]
    pub(crate) embedded: Option<svc_embedded::Database>,
}

/// Parses the body of a `POST` request.
///
/// # Errors
/// The response to an invalid request.
#[cfg(feature = "testing")]
pub(crate) fn read_request(body: &[u8]) -> Result<svc_engine::graphql::Request<'_>, Vec<u8>> {
    endpoint::parameters::one_from_body(body).map_err(|refusal| refusal.body())
}

/// Returns the routes of a service.
pub(crate) fn router(service: Arc<HttpState>) -> Router {
    let limits = service.rate_limits.as_ref();

    // Attempts to guess the password count as well, which needs a layer around everything.
    let (limits, around) = if service.dev_auth.is_some() {
        (None, limits)
    } else {
        (limits, None)
    };

    let post = |transport| Post::new(&service, transport, limits.is_some());
    let protection = &*service.protection;
    let cross_origin = CrossOriginLayer(protection.cross_origin.clone());

    // The limits are around this service, so it does not apply them itself.
    let others = OtherMethods(Post::new(&service, Transport::HttpQuery, false));
    let graphql = any_service(others).get(get::get);
    let graphql = ruled(graphql, &cross_origin);
    let by_http = cross_origin.layer(post(Transport::HttpPost));
    let graphql = limited(graphql, limits).on_service(MethodFilter::POST, by_http);
    let router = Router::new().route("/graphql", graphql);
    let router = if service.rust_endpoint {
        let planned = limited(MethodRouter::new().fallback(endpoint::post_only), limits);
        let planned = planned.on_service(MethodFilter::POST, post(Transport::RustEndpoint));
        router.route("/graphql/rust", ruled(planned, &cross_origin))
    } else {
        router
    };

    #[cfg(feature = "compression")]
    let router = match protection.compression {
        Some(min_size) => router.layer(compression(min_size)),
        None => router,
    };

    #[cfg(feature = "graphiql")]
    let router = match (service.engine.development, limits) {
        (true, Some(limits)) => router.merge(graphiql::routes().layer(limits.clone())),
        (true, None) => router.merge(graphiql::routes()),
        (false, _) => router,
    };

    // After GraphiQL's assets, so that the password protects them as well.
    let router = match &service.dev_auth {
        Some(auth) => router.route_layer(from_fn_with_state(auth.clone(), dev_auth::check)),
        None => router,
    };

    let router = match around {
        Some(limits) => router.layer(limits.clone()),
        None => router,
    };

    // The probes are added last: a load balancer has no password, and no limit may make an instance
    // look unhealthy.
    with_probes(router).with_state(service)
}

/// Adds `/health` and `/ready`.
fn with_probes(router: Router<Arc<HttpState>>) -> Router<Arc<HttpState>> {
    router
        .route(
            "/health",
            get(|state| guarded(MediaType::Json, health::health(state))),
        )
        .route(
            "/ready",
            get(|state, stopping| guarded(MediaType::Json, health::ready(state, stopping))),
        )
}

/// Adds the rules for requests from other origins to routes, if there are any.
fn ruled<S: Clone + Send + Sync + 'static>(
    routes: MethodRouter<S>,
    rules: &CrossOriginLayer,
) -> MethodRouter<S> {
    match rules.0 {
        Some(_) => routes.layer(rules.clone()),
        None => routes,
    }
}

/// Adds the rate limits to routes, if there are any.
fn limited<S: Clone + Send + Sync + 'static>(
    routes: MethodRouter<S>,
    limits: Option<&RateLimitLayer>,
) -> MethodRouter<S> {
    match limits {
        Some(limits) => routes.layer(limits.clone()),
        None => routes,
    }
}
