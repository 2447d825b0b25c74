//! Programs that use features of svc that they have not switched on.

use crate::templates::Project;

const METHODS: &str = "\
//! Methods of features.

use svc::prelude::*;

/// Of users.
#[svc::query]
pub fn name(ctx: &Context<'_>) -> Result<String> {
    Ok(ctx.require_user()?.user_id.clone())
}

/// Of sessions.
#[svc::query]
pub fn theme(ctx: &Context<'_>) -> Result<Option<String>> {
    ctx.session()?.get(\"theme\")
}

/// The options.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> svc::Result<svc::AppOptions> {
    let options = svc::AppOptions::from_env()?.queries(queries![name, theme]);
    options.redis_client()?;
    Ok(options.auth_required(true))
}
";

const GUARDED: &str = "\
//! A guard.

use svc::prelude::*;

/// Drafts.
#[svc::query]
#[svc::requires_role(\"editor\")]
pub fn drafts() -> i32 {
    0
}

/// The options.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> svc::Result<svc::AppOptions> {
    Ok(svc::AppOptions::from_env()?.queries(queries![drafts]))
}
";

const HELPERS: &str = "\
//! Helpers that do nothing without their features.

use svc::metrics::with_metrics;
use svc::prelude::*;
use svc::trace::{trace_cache_operation, trace_database_query, trace_graphql_operation};

/// With a span.
///
/// # Errors
/// None.
#[trace_graphql_operation(\"query\", \"one\")]
pub async fn one() -> Result<i32> {
    Ok(trace_cache_operation(\"get\", \"one\").around(async { 1 }).await)
}

/// Counted.
///
/// # Errors
/// None.
#[with_metrics]
pub async fn two() -> Result<i32> {
    Ok(trace_database_query(\"SELECT\", \"tb_one\", None).around(one()).await? + 1)
}

/// With the context of a trace.
#[svc::query]
pub async fn three() -> Result<i32> {
    svc::trace::inject_context(&mut svc::axum::http::HeaderMap::new());
    let ids = [svc::trace::trace_id(), svc::trace::span_id()];
    let has_any = svc::get_metrics().is_some() || ids.iter().any(Option::is_some);
    Ok(two().await? + i32::from(!has_any))
}

/// The routes.
///
/// # Errors
/// A setting that is wrong.
pub fn routes(app: svc::axum::Router) -> Result<svc::axum::Router> {
    let app = svc::setup_metrics(app, svc::MetricsConfig::default())?;
    Ok(svc::setup_tracing(app, svc::TracingConfig::default())?)
}

/// The options.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> Result<AppOptions> {
    Ok(AppOptions::from_env()?.queries(queries![three]))
}
";

/// The messages of the compiler about a program, which does not compile.
fn mistakes(project: &Project) -> String {
    let checked = project.cargo(&["check"]);
    assert_eq!(checked.code, Some(101), "{}", checked.err);
    checked.err
}

#[test]
fn the_compiler_names_the_feature_that_a_program_lacks() {
    let project = Project::new("basic", "new_featureless");
    project.edit("Cargo.toml", ", features = [\"auth\"]", "");
    // No other program of the tests has svc without `auth`, so that it is only checked here.
    project.unify("dependencies");
    project.write("src/lib.rs", METHODS);
    let methods = mistakes(&project);
    project.write("src/lib.rs", GUARDED);
    let guarded = mistakes(&project);
    project.write("src/lib.rs", HELPERS);
    project.cargo(&["check"]).good();

    let project = Project::new("basic", "new_helpers");
    project.write("src/lib.rs", HELPERS);
    project.svc(&["check"]).good();

    for feature in ["auth", "redis", "sessions"] {
        for words in [
            format!("needs the feature `{feature}` of svc"),
            format!("switch it on: cargo add svc --features {feature}"),
        ] {
            assert!(methods.contains(&words), "no {words} in {methods}");
        }
    }
    // Nothing else is said about what the program does with the results.
    let mut errors = methods.lines().filter(|line| line.starts_with("error["));
    assert!(
        errors.all(|error| error.starts_with("error[E0277]: this method of ")),
        "{methods}"
    );

    let words = "guards need the feature `auth` of svc: cargo add svc --features auth";
    assert!(guarded.contains(words), "{guarded}");
    assert!(guarded.contains("#[svc::requires_role("), "{guarded}");
}
