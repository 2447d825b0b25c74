//! HTTP: the GraphQL endpoint and its envelope, GraphiQL, health.
//!
//! The endpoint follows GraphQL over HTTP (<https://graphql.github.io/graphql-over-http/draft/>).

mod body;
mod dev_auth;
mod endpoint;
#[cfg(feature = "graphiql")]
mod graphiql;
mod guard;
mod health;
mod negotiate;
mod parameters;
mod post;
mod reply;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, MethodRouter, get};

pub(crate) use dev_auth::DevAuth;
pub(crate) use health::ShuttingDown;

use crate::engine::Engine;
use crate::request::Transport;
use guard::guarded;
use negotiate::MediaType;
use post::Post;

/// The state that the handlers share.
#[derive(Debug)]
pub(crate) struct AppState {
    pub(crate) engine: Engine,
    pub(crate) name: String,
    /// Whether there is a `/graphql/rust`.
    pub(crate) rust_endpoint: bool,
    /// The password in front of `/graphql`, if there is one.
    pub(crate) dev_auth: Option<Arc<DevAuth>>,
    /// The time in which a client has to send a body.
    pub(crate) body_timeout: Duration,
    /// Stops when the last route is gone.
    #[cfg(feature = "embedded")]
    pub(crate) _embedded: Option<svc_embedded::Database>,
}

/// The routes of a service.
pub(crate) fn router(service: Arc<AppState>) -> Router {
    let graphql = MethodRouter::new()
        .get(endpoint::get)
        .on_service(MethodFilter::POST, Post::new(&service, Transport::HttpPost))
        .fallback(endpoint::other_method);
    let router = Router::new().route("/graphql", graphql);
    let router = if service.rust_endpoint {
        let planned = MethodRouter::new()
            .on_service(MethodFilter::POST, Post::new(&service, Transport::RustEndpoint))
            .fallback(endpoint::post_only);
        router.route("/graphql/rust", planned)
    } else {
        router
    };
    #[cfg(feature = "graphiql")]
    let router = if service.engine.development { router.merge(graphiql::routes()) } else { router };
    let router = match &service.dev_auth {
        Some(auth) => router.route_layer(from_fn_with_state(auth.clone(), dev_auth::check)),
        None => router,
    };
    let router = router
        .route("/health", get(|state| guarded(MediaType::Json, health::health(state))))
        .route("/ready", get(|state, stopping| guarded(MediaType::Json, health::ready(state, stopping))));
    router.with_state(service)
}
