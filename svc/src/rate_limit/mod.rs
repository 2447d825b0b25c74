//! Rate limits: how often a client may send requests, how much complexity it may use, and the
//! response to requests beyond that.
//!
//! [`setup_rate_limiting`] puts them around a router. A request is counted for its path before its
//! body is read, and its operation for its kind, its complexity and its root fields once the
//! operation has been selected. Counts are stored in the memory of the process, or in Redis for all
//! instances.
//!
//! ```no_run
//! use svc::prelude::*;
//! use svc::rate_limit::RateLimiting;
//! use svc::setup_rate_limiting;
//!
//! #[svc::query]
//! fn hello() -> &'static str {
//!     "world"
//! }
//!
//! #[tokio::main]
//! async fn main() -> svc::Result<()> {
//!     let app = create_svc_app(AppOptions::from_env()?.queries(queries![hello])).await?;
//!     svc::serve(setup_rate_limiting(app, RateLimiting::from_env()?)?).await
//! }
//! ```

mod address_rule;
mod audit;
mod client;
mod config;
mod layer;
mod limit;
mod limited_request;
mod limiter;
mod rate_limiting;
mod response;
mod store;
mod strategy;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;

pub(crate) use address_rule::AddressRule;
pub(crate) use client::network_of;
pub use client::{ClientList, ForwardedHeader, TrustedProxies};
pub use config::{RateLimitConfig, WindowType};
pub use limit::{RateLimit, RateLimitRule, create_default_rate_limit_rules};
pub use rate_limiting::{RateLimitRequest, RateLimiting};
pub use strategy::RateLimitStrategy;

pub(crate) use layer::{Answer, LimitedFuture, RateLimitLayer};
use limiter::Limiter;
use svc_core::ConfigError;
use svc_telemetry::request_log;

/// Limits the requests to all routes that the router has by now; routes that are added later are
/// not limited. `/health`, `/ready` and `/metrics` are never limited.
///
/// # Errors
/// Returns a [`ConfigError`] with the name of the limit and its allowed values.
pub fn setup_rate_limiting(app: Router, limiting: RateLimiting) -> Result<Router, ConfigError> {
    Ok(match layer(limiting)? {
        Some(layer) => request_log::around(app.layer(layer)),
        None => app,
    })
}

/// Whether the program has configured rate limits, including disabling them.
static IS_SET_UP: AtomicBool = AtomicBool::new(false);

/// Whether the program has configured rate limits, including disabling them.
pub(crate) fn is_set_up() -> bool {
    IS_SET_UP.load(Ordering::Relaxed)
}

/// Returns the layer that limits requests; `None` if rate limits are disabled.
///
/// # Errors
/// Returns a [`ConfigError`] with the name of the limit and its allowed values.
pub(crate) fn layer(limiting: RateLimiting) -> Result<Option<RateLimitLayer>, ConfigError> {
    IS_SET_UP.store(true, Ordering::Relaxed);
    limiting.note_use();
    if !limiting.is_enabled() {
        return Ok(None);
    }

    let limiter = Arc::new(Limiter::new(limiting)?);
    if limiter.config.trusted_proxies.is_none() {
        tracing::warn!(
            "clients can claim any address in X-Forwarded-For and X-Real-IP, and so bypass rate \
             limits; set SVC_TRUSTED_PROXIES to the proxies in front, or to none"
        );
    }

    Ok(Some(RateLimitLayer(limiter)))
}
