//! The routes of an application.

use std::sync::{Arc, Weak};

use axum::Router;

use super::entrance::Entrance;
use crate::app::AppOptions;
use crate::app::setup::authentication::dev_auth;
use crate::http::{self, HttpState, LiveConnections};
use crate::rate_limit::AddressRule;
use svc_engine::graphql::Engine;
use svc_postgres::Database;
use svc_telemetry::metrics::application_made;
use svc_telemetry::request_log::RequestLog;

/// The warning if no setting says which proxies write the addresses of clients.
const OPEN: &str = "clients can claim any address in X-Forwarded-For and X-Real-IP, and so bypass \
    the limit of sockets per address or use up that of another address; set SVC_TRUSTED_PROXIES \
    to the proxies in front, or to none";

/// Returns the router of an application, and its state.
pub(super) fn routes(
    options: AppOptions,
    engine: Engine,
    entrance: Entrance,
    #[cfg(feature = "embedded")] embedded: Option<svc_embedded::Database>,
) -> (Router, Arc<HttpState>) {
    warn_of_named_addresses(&options, entrance.rate_limits.is_some());
    let others = Router::new();
    #[cfg(feature = "native-auth")]
    let others = crate::app::setup::native_accounts::mount(
        options.native.as_ref(),
        &options.config.accounts.path,
        &entrance.protection,
        others,
    );

    // The routes of the state limit their requests themselves.
    let others = match entrance.rate_limits.clone() {
        Some(limits) => others.layer(limits),
        None => others,
    };

    // Added after the limits, so that it runs before them: they need the user.
    #[cfg(feature = "native-auth")]
    let others = if entrance.rate_limits.is_some() {
        let path = &options.config.accounts.path;
        crate::app::setup::native_accounts::identify(options.native.as_ref(), path, others)
    } else {
        others
    };

    let (state, request_log) = state(
        options,
        engine,
        entrance,
        #[cfg(feature = "embedded")]
        embedded,
    );

    let router = http::router(state.clone()).merge(others);
    let router = match request_log {
        Some(log) => router.layer(log),
        None => router,
    };

    (router, state)
}

/// Returns the state of the handlers, and the request log if it is enabled. From now on, health
/// checks and metrics have the database.
fn state(
    options: AppOptions,
    engine: Engine,
    entrance: Entrance,
    #[cfg(feature = "embedded")] embedded: Option<svc_embedded::Database>,
) -> (Arc<HttpState>, Option<RequestLog>) {
    let live = LiveConnections::new(
        options.config.subscriptions,
        AddressRule::of(&options.config.rate_limit),
        #[cfg(feature = "auth")]
        engine
            .authentication
            .as_ref()
            .and_then(|authentication| authentication.live_revocation.clone()),
    );

    let health = options
        .health
        .inspect(|health| health.bind(&engine.app.database));
    let pools: Weak<Database> = Arc::downgrade(&engine.app.database);
    application_made(pools, engine.development);
    let request_log = RequestLog::of(&options.config.log);
    let state = Arc::new(HttpState {
        engine: Arc::new(engine),
        live,
        #[cfg(feature = "upload")]
        uploads: options
            .config
            .uploads
            .enabled
            .then_some(options.config.uploads)
            .inspect(svc_engine::upload::sweep),
        name: options.config.service_name,
        health,
        rust_endpoint: options.config.operations.rust_endpoint,
        dev_auth: dev_auth(&options.config.auth, &entrance.clients),
        graphql_over_http: options.config.graphql_over_http,
        protection: entrance.protection,
        rate_limits: entrance.rate_limits,
        #[cfg(feature = "websocket")]
        request_log: request_log.clone(),
        batch_max: options.config.protection.batch_max,
        body_timeout: options.config.http.bounded().body_timeout,
        #[cfg(feature = "embedded")]
        embedded,
    });

    (state, request_log)
}

/// Warns that clients may choose the address by which their sockets are bounded.
fn warn_of_named_addresses(options: &AppOptions, has_rate_limits: bool) {
    let config = &options.config;

    // Rate limits warn of this themselves.
    let is_known = config.rate_limit.trusted_proxies.is_some() || has_rate_limits;
    let has_bound =
        cfg!(feature = "websocket") && config.subscriptions.max_connections_per_address > 0;
    if is_known || !has_bound || options.is_quiet {
        return;
    }

    if config.is_development() {
        tracing::info!("{OPEN}");
    } else {
        tracing::warn!("{OPEN}");
    }
}
