//! A blog over PostgreSQL views: users, posts and comments. Run with `cargo run -p blog`.
//!
//! A module is a noun of the schema; `db/` has the tables, the views, the functions and the seed.

pub mod comment;
pub mod entry;
pub mod feed;
pub mod me;
pub mod policy;
pub mod post;
pub mod publishing;
pub mod search;
pub mod slug;
pub mod statistics;
pub mod user;

use svc::accounts::MIGRATION;
use svc::axum::Router;
use svc::db::AssertSqlSafe;
use svc::prelude::*;
use svc::rate_limit::RateLimiting;
use svc::{
    AuthProviderKind, Constraint, MetricsConfig, TracingConfig, embedded, setup_metrics,
    setup_rate_limiting, setup_tracing,
};

/// Tables, views, functions and the seed. It can be run again and again; the seed is sown once.
pub const SETUP_SQL: &str = concat!(
    include_str!("../db/tables.sql"),
    include_str!("../db/views.sql"),
    include_str!("../db/projection.sql"),
    include_str!("../db/functions.sql"),
    include_str!("../../../crates/svc-engine/src/events/svc_notify.sql"),
    include_str!("../db/events.sql"),
    include_str!("../db/seed.sql"),
);

/// The blog with the settings of the environment. Unless they name a database, it runs an embedded
/// one in `.svc/blog`. With a provider of users (`SVC_AUTH_PROVIDER`) there is a query `me` for
/// those who have a token, and a policy; with `native` also the routes below `/auth` that give one.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> Result<AppOptions> {
    let config = SvcConfig::from_env()?;
    let (users, is_cached) = (
        config.auth.provider,
        config.response_cache.enabled == Some(true),
    );
    let options = AppOptions::new()
        .config(config)
        .embedded_database(embedded::Options::new(".svc/blog"));
    let options = with_blog(options);
    let options = if is_cached {
        options.response_cache(feed::response_cache())
    } else {
        options
    };

    let options = match users {
        AuthProviderKind::None => return Ok(options),
        AuthProviderKind::Native => {
            options.setup_sql(AssertSqlSafe(format!("{SETUP_SQL}\n;{MIGRATION}")))
        }
        _ => options,
    };

    Ok(policy::with_policy(options.queries(queries![me::me])))
}

/// The blog with rate limits, where the environment asks for them (`SVC_RATE_LIMIT_ENABLED=true`).
///
/// # Errors
/// A setting that is wrong.
pub fn limited(app: Router) -> Result<Router> {
    if SvcConfig::from_env()?.rate_limit.enabled != Some(true) {
        return Ok(app);
    }
    Ok(setup_rate_limiting(app, RateLimiting::from_env()?)?)
}

/// The blog with metrics, where the environment asks for them (`SVC_METRICS_ENABLED=true`).
///
/// # Errors
/// A setting that is wrong.
pub fn measured(app: Router) -> Result<Router> {
    let config = MetricsConfig::from_env()?;
    if config.enabled != Some(true) {
        return Ok(app);
    }
    Ok(setup_metrics(app, config)?)
}

/// The blog with traces, where the environment says where they go (`OTEL_EXPORTER_OTLP_ENDPOINT`).
///
/// # Errors
/// A setting that is wrong.
pub fn traced(app: Router) -> Result<Router> {
    if std::env::var_os("OTEL_EXPORTER_OTLP_ENDPOINT").is_none() {
        return Ok(app);
    }
    Ok(setup_tracing(app, TracingConfig::from_env()?)?)
}

/// Adds the blog's schema and set-up to options that say where the database is.
pub fn with_blog(options: AppOptions) -> AppOptions {
    options
        .auto_camel_case(true)
        .setup_sql(SETUP_SQL)
        .queries(queries![
            user::users,
            user::user,
            user::user_by_slug,
            user::staff
        ])
        .queries(queries![
            post::posts,
            post::post,
            post::posts_by,
            comment::comments,
            comment::comment
        ])
        .queries(queries![
            entry::entries,
            entry::entry,
            search::search,
            feed::feed
        ])
        .queries(queries![
            statistics::statistics,
            statistics::months,
            statistics::user_statistics
        ])
        .mutations(mutations![comment::create_comment])
        .subscriptions(subscriptions![post::post_changed, comment::comment_added])
        .operations_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/operations"))
        .mutations(mutations![
            publishing::create_post,
            publishing::update_post,
            publishing::delete_post
        ])
        .constraint(
            Constraint::new("tb_post_identifier_key", "this slug is taken")
                .field("slug")
                .identifier("slug_taken"),
        )
}

#[cfg(test)]
mod tests {
    use super::{AppOptions, with_blog};

    #[test]
    fn the_schema_is_valid() {
        let sdl = with_blog(AppOptions::new())
            .sdl()
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(sdl.contains("union SearchResult = User | Post"), "{sdl}");
    }
}
