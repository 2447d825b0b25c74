//! `setup_metrics` counts requests and serves the series.

use std::io;
use std::net::SocketAddr;

use axum::Router;
#[cfg(feature = "metrics")]
use axum::http::HeaderMap;
use axum::http::{HeaderName, header};
use axum::routing::{MethodRouter, get};

use crate::app::{Server, StartError};
use svc_core::settings::{tell_overridden, use_group};
use svc_telemetry::MetricsConfig;
use svc_telemetry::metrics::in_production;

/// Counts the service's work from now on, and serves the series to Prometheus.
///
/// Counts the requests to all routes that the router has now, but not to routes added later. So
/// call it last, also after [`setup_rate_limiting`](crate::setup_rate_limiting); otherwise
/// rate-limited requests are not counted. The series are served at `metrics_path`: on a separate
/// port if `address` is set, otherwise beside `/graphql`. There they are public, so in production
/// they are served there only if `enabled` is set to `true`.
///
/// A process has one collector, which counts for all its applications. If this function is called
/// several times, the first call's series settings apply.
///
/// Without the feature `metrics`, nothing is counted, a placeholder is served, and the log says so.
///
/// ```no_run
/// use svc::prelude::*;
/// use svc::{MetricsConfig, setup_metrics};
///
/// #[svc::query]
/// fn hello() -> &'static str {
///     "world"
/// }
///
/// #[tokio::main]
/// async fn main() -> svc::Result<()> {
///     let app = create_svc_app(AppOptions::from_env()?.queries(queries![hello])).await?;
///     svc::serve(setup_metrics(app, MetricsConfig::from_env()?)?).await
/// }
/// ```
///
/// # Errors
/// A setting that cannot be used, or a port that is already in use.
pub fn setup_metrics(app: Router, config: MetricsConfig) -> Result<Router, StartError> {
    if cfg!(feature = "metrics") {
        use_group(&config).into_iter().for_each(tell_overridden);
    }

    if config.enabled == Some(false) {
        return Ok(app);
    }

    config.check()?;
    let MetricsConfig {
        enabled, address, ..
    } = config;
    let path = config.metrics_path.clone();
    let (app, scrape) = counted(app, config);

    match address {
        Some(address) => {
            listen(address, Router::new().route(&path, scrape)).map_err(|source| {
                StartError::BindMetrics {
                    address: address.to_string(),
                    source,
                }
            })?;
            Ok(app)
        }
        None if in_production() && enabled.is_none() => {
            tracing::info!(
                "metrics are collected but not served: set SVC_METRICS_ADDR to a separate port, \
                 or SVC_METRICS_ENABLED=true to serve them beside /graphql"
            );
            Ok(app)
        }
        // Not merged: a merged router brings its own fallback for unmatched routes.
        None => Ok(app.route(&path, scrape)),
    }
}

/// Returns the router that counts its requests, and the handler that serves the series.
#[cfg(feature = "metrics")]
fn counted(app: Router, config: MetricsConfig) -> (Router, MethodRouter) {
    use svc_telemetry::metrics::{MetricsLayer, set_collector};

    let metrics = set_collector(&config);
    let app = app.layer(MetricsLayer::new(metrics, config.exclude_paths));
    let scrape = move |headers: HeaderMap| async move {
        let format = wanted(&headers);
        // Writing to a string cannot fail.
        (
            no_store(format.content_type()),
            metrics.encode(format).unwrap_or_default(),
        )
    };

    (app, get(scrape))
}

#[cfg(not(feature = "metrics"))]
fn counted(app: Router, _: MetricsConfig) -> (Router, MethodRouter) {
    tracing::warn!("`setup_metrics` has no effect: enable the feature `metrics` of svc");
    let scrape = || async {
        let text =
            "# Nothing is counted: the program is built without the feature `metrics` of svc.\n";
        (no_store("text/plain; version=0.0.4; charset=utf-8"), text)
    };
    (app, get(scrape))
}

fn no_store(content_type: &'static str) -> [(HeaderName, &'static str); 2] {
    [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, "no-store"),
    ]
}

/// Returns the format that a scraper accepts. Prometheus prefers OpenMetrics; without an `Accept`
/// header, the format is plain text.
#[cfg(feature = "metrics")]
fn wanted(headers: &HeaderMap) -> svc_telemetry::metrics::Format {
    use svc_telemetry::metrics::Format;

    let accepted = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let mut kinds = accepted.flat_map(|value| value.split(',')).map(str::trim);
    if kinds.any(|kind| kind.starts_with("application/openmetrics-text")) {
        Format::OpenMetrics
    } else {
        Format::Text
    }
}

/// Serves the series on a separate port, for as long as the process runs.
fn listen(address: SocketAddr, router: Router) -> io::Result<()> {
    let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
    let listener = std::net::TcpListener::bind(address)?;

    // tokio expects a non-blocking socket: a blocking `accept` would stop the runtime's thread.
    listener.set_nonblocking(true)?;
    let server = Server::on(tokio::net::TcpListener::from_std(listener)?)?;
    tracing::info!(address = %server.local_addr(), "serving metrics");
    runtime.spawn(server.run_beside(router, std::future::pending()));
    Ok(())
}
