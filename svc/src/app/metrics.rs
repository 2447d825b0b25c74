//! `setup_metrics`: requests are counted, and the series are served.

use std::io;
use std::net::SocketAddr;

use axum::Router;
#[cfg(feature = "metrics")]
use axum::http::HeaderMap;
use axum::http::{HeaderName, header};
use axum::routing::{MethodRouter, get};

use super::{Server, StartError};
use crate::MetricsConfig;
use crate::metrics::in_production;
use crate::settings::{tell_overridden, use_group};

/// Counts what the service does from now on, and serves the series to Prometheus.
///
/// The requests to all routes that the router has by now are counted; those to routes that are added later are not. So call
/// it last, after [`setup_rate_limiting`](crate::setup_rate_limiting) too, or else what that refuses is not counted. The
/// series are served at `metrics_path`: on a port of their own where `address` is set, or else beside `/graphql`. There
/// they are public, so in production they are served there only where `enabled` is set to `true`.
///
/// A process has one collector, which counts for all its applications. Where this is called several times, the first
/// call's settings of series count.
///
/// Without the feature `metrics` nothing is counted, and a placeholder is served.
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
/// A setting that cannot be used, or a port that is taken.
pub fn setup_metrics(app: Router, config: MetricsConfig) -> Result<Router, StartError> {
    if cfg!(feature = "metrics") {
        use_group(&config).into_iter().for_each(tell_overridden);
    }
    if config.enabled == Some(false) {
        return Ok(app);
    }
    config.check()?;
    let MetricsConfig { enabled, address, .. } = config;
    let path = config.metrics_path.clone();
    let (app, scrape) = counted(app, config);
    match address {
        Some(address) => {
            listen(address, Router::new().route(&path, scrape))
                .map_err(|source| StartError::BindMetrics { address: address.to_string(), source })?;
            Ok(app)
        }
        None if in_production() && enabled.is_none() => {
            tracing::info!(
                "metrics are counted, and served nowhere: set SVC_METRICS_ADDR to a port of their own, or \
                 SVC_METRICS_ENABLED=true to serve them beside /graphql"
            );
            Ok(app)
        }
        // Not merged, as a router that is merged brings its own answer to what no route matches.
        None => Ok(app.route(&path, scrape)),
    }
}

/// The router whose requests are counted, and what serves the series.
#[cfg(feature = "metrics")]
fn counted(app: Router, config: MetricsConfig) -> (Router, MethodRouter) {
    use crate::metrics::{MetricsLayer, set_collector};
    let metrics = set_collector(&config);
    let app = app.layer(MetricsLayer::new(metrics, config.exclude_paths));
    let scrape = move |headers: HeaderMap| async move {
        let format = wanted(&headers);
        // Writing to a text does not fail.
        (no_store(format.content_type()), metrics.encode(format).unwrap_or_default())
    };
    (app, get(scrape))
}

#[cfg(not(feature = "metrics"))]
fn counted(app: Router, _: MetricsConfig) -> (Router, MethodRouter) {
    let scrape = || async {
        let text = "# Nothing is counted: the program is built without the feature `metrics` of svc.\n";
        (no_store("text/plain; version=0.0.4; charset=utf-8"), text)
    };
    (app, get(scrape))
}

fn no_store(content_type: &'static str) -> [(HeaderName, &'static str); 2] {
    [(header::CONTENT_TYPE, content_type), (header::CACHE_CONTROL, "no-store")]
}

/// The form that a scraper asks for. Prometheus prefers OpenMetrics; whoever asks for nothing gets plain text.
#[cfg(feature = "metrics")]
fn wanted(headers: &HeaderMap) -> crate::metrics::Format {
    use crate::metrics::Format;
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = accepted.flat_map(|value| value.split(',')).map(str::trim);
    if kinds.any(|kind| kind.starts_with("application/openmetrics-text")) { Format::OpenMetrics } else { Format::Text }
}

/// Serves the series on a port of their own, for as long as the process runs.
fn listen(address: SocketAddr, router: Router) -> io::Result<()> {
    let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let server = Server::on(tokio::net::TcpListener::from_std(listener)?)?;
    tracing::info!(address = %server.local_addr(), "serving metrics");
    runtime.spawn(server.run_beside(router, std::future::pending()));
    Ok(())
}
