//! `setup_tracing` traces requests and sends their spans to a collector.

use axum::Router;

use crate::app::StartError;
use svc_core::TracingConfig;

/// Traces the service's work from now on, and sends the spans to a collector.
///
/// Traces the requests to all routes that the router has now, but not to routes added later. A
/// process has one tracer provider for all its applications. If this function is called several
/// times, the first call's settings apply, except for the excluded paths, which are set per router.
///
/// Spans wait in a queue of bounded length, and a thread sends them in batches, so no request waits
/// for the collector; spans that do not fit are dropped. Without the feature `tracing-otel`,
/// nothing is traced, and the log says so.
///
/// ```no_run
/// use svc::prelude::*;
/// use svc::{TracingConfig, setup_tracing};
///
/// #[svc::query]
/// fn hello() -> &'static str {
///     "world"
/// }
///
/// #[tokio::main]
/// async fn main() -> svc::Result<()> {
///     let app = create_svc_app(AppOptions::from_env()?.queries(queries![hello])).await?;
///     svc::serve(setup_tracing(app, TracingConfig::from_env()?)?).await
/// }
/// ```
///
/// # Errors
/// A setting that cannot be used, or a call outside of a tokio runtime.
pub fn setup_tracing(app: Router, config: TracingConfig) -> Result<Router, StartError> {
    config.check()?;
    config.note_use();
    if !config.enabled {
        return Ok(app);
    }
    Ok(traced(app, config)?)
}

#[cfg(feature = "tracing-otel")]
fn traced(app: Router, config: TracingConfig) -> Result<Router, svc_core::ConfigError> {
    use svc_core::trace::{TracingLayer, set_provider};
    let provider = set_provider(&config)?;
    Ok(app.layer(TracingLayer::new(provider, config.exclude_paths)))
}

#[cfg(not(feature = "tracing-otel"))]
fn traced(app: Router, _: TracingConfig) -> Result<Router, svc_core::ConfigError> {
    tracing::warn!("`setup_tracing` has no effect: enable the feature `tracing-otel` of svc");
    Ok(app)
}
