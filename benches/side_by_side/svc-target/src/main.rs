//! The workloads served by svc: `svc-target LAYOUT PORT`, LAYOUT one of
//!   columns  views with a column for each field (`c_*` of columns.sql)
//!   data     views with few columns and the rest in `data` (`v_user`, and `d_*` of data.sql)
//!   tv       projection tables: as `data`, but stored (`tv_*`)
//!   text     as `tv`, but `data` is `json` (`tj_*`)
//!
//! Queries are fields without a body, and the mutation calls its function. `BENCH_VARIABLES` has it
//! set two session variables for each request: from `headers`, or from the `user`.
//! `BENCH_AUTHORIZER` has it ask an authorizer, which `allows` at once; whose decision is `cached`;
//! or which `filters` rows. `SVC_RATE_LIMIT_ENABLED=true` has it count requests by limits that
//! nothing reaches, with `BENCH_RATE_LIMITS=around` by a layer around its router;
//! `SVC_METRICS_ENABLED=true` has it count what it does, `OTEL_EXPORTER_OTLP_ENDPOINT` has it send
//! traces; `SVC_RESPONSE_CACHE=true` has it keep the answers of `keptUser`. `BENCH_PING=true` adds
//! a route of axum that does nothing.

mod layout;

use std::time::Duration;

use svc::authz::AuthorizationCacheConfig;
use svc::axum::Router;
use svc::axum::routing::get;
use svc::db::SessionVariables;
use svc::prelude::*;
use svc::rate_limit::{RateLimit, RateLimitRule, RateLimiting};
use svc::{
    Limits, MetricsConfig, Server, TracingConfig, setup_metrics, setup_rate_limiting, setup_tracing,
};

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The score above which the authorizer that filters lets rows be read.
const SCORE: i32 = 100;
/// A hundred rows of eight fields cost 900; posts with their comments more.
const COMPLEXITY: u64 = 100_000;
/// The answer of the route that does nothing; it begins as all others do.
const PONG: &str = r#"{"data":null}"#;

#[tokio::main(worker_threads = 2)]
async fn main() -> svc::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let layout = arguments.next().unwrap_or_default();
    let port = arguments
        .next()
        .and_then(|port| port.parse().ok())
        .unwrap_or(54_906);
    let config = SvcConfig {
        schema: svc::SchemaConfig {
            auto_camel_case: true,
            ..SvcConfig::from_env()?.schema
        },
        ..SvcConfig::from_env()?
    };
    let options = AppOptions::new().config(config).limits(Limits {
        complexity: COMPLEXITY,
        ..Limits::default()
    });
    let options = match layout.as_str() {
        "columns" => layout::columns::operations(options),
        "data" => layout::data::operations(options),
        "tv" => layout::tv::operations(options),
        "text" => layout::text::operations(options),
        other => {
            return Err(Error::internal(format!(
                "{other:?} is not a layout; give columns, data, tv or text"
            )));
        }
    };
    let options = with_authorizer(options.session_variables(session_variables()?))?;
    let app = with_rate_limits(options).await?;
    let metrics = MetricsConfig::from_env()?;
    let app = if metrics.enabled == Some(true) {
        setup_metrics(app, metrics)?
    } else {
        app
    };
    let app = if is("BENCH_PING", "true") {
        app.route("/ping", get(async || PONG))
    } else {
        app
    };
    let is_traced = std::env::var_os("OTEL_EXPORTER_OTLP_ENDPOINT").is_some();
    let app = if is_traced {
        setup_tracing(app, TracingConfig::from_env()?)?
    } else {
        app
    };
    Server::bind(([127, 0, 0, 1], port))
        .await?
        .run(app, std::future::pending())
        .await;
    Ok(())
}

/// The application, with limits where they are switched on: as an option, or
/// `BENCH_RATE_LIMITS=around` it.
async fn with_rate_limits(options: AppOptions) -> svc::Result<Router> {
    if !is("SVC_RATE_LIMIT_ENABLED", "true") {
        return Ok(create_svc_app(options).await?);
    }
    let limiting = wide(RateLimiting::from_env()?);
    if is("BENCH_RATE_LIMITS", "around") {
        return Ok(setup_rate_limiting(
            create_svc_app(options).await?,
            limiting,
        )?);
    }
    Ok(create_svc_app(options.rate_limiting(limiting)).await?)
}

/// Whether a variable has a value.
fn is(name: &str, value: &str) -> bool {
    std::env::var(name).is_ok_and(|set| set == value)
}

/// As many counts for each request as the defaults have.
fn wide(limiting: RateLimiting) -> RateLimiting {
    let wide = RateLimit::requests(50_000_000);
    let rule = RateLimitRule::new("/graphql/*", wide.per_minute()).and(wide.per_hour());
    limiting
        .rules([rule])
        .kinds(wide, wide, wide)
        .tiers(wide, wide, wide)
}

/// The same variables from one source or the other; none, if none is named.
fn session_variables() -> svc::Result<SessionVariables> {
    let variables = SessionVariables::new();
    match std::env::var("BENCH_VARIABLES").as_deref() {
        Err(_) => Ok(variables),
        Ok("headers") => Ok(variables
            .header("app.user_id", "x-user-id")
            .header("app.tenant_id", "x-tenant-id")),
        Ok("user") => Ok(variables
            .user_id("app.user_id")
            .claim("app.tenant_id", "tenant")),
        Ok(other) => Err(Error::internal(format!(
            "BENCH_VARIABLES is {other:?}; it must be headers or user"
        ))),
    }
}

/// The options with the authorizer that is named, if one is.
fn with_authorizer(options: AppOptions) -> svc::Result<AppOptions> {
    let allows = async |_: AuthorizationRequest| true;
    match std::env::var("BENCH_AUTHORIZER").as_deref() {
        Err(_) => Ok(options),
        Ok("allows") => Ok(options.authorizer(allows)),
        Ok("cached") => {
            let cache = AuthorizationCacheConfig::new(|_| Some("user".to_owned()))
                .ttl(Duration::from_secs(3_600));
            Ok(options.authorizer(allows).authorization_cache(cache))
        }
        Ok("filters") => Ok(options.authorizer(async |_: AuthorizationRequest| {
            AuthorizationDecision::allow_where(col("score").gt(SCORE))
        })),
        Ok(other) => Err(Error::internal(format!(
            "BENCH_AUTHORIZER is {other:?}; it must be allows, cached or filters"
        ))),
    }
}
