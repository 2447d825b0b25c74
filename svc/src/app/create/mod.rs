//! The creation of an application from its options.

mod database;
mod engine;
mod entrance;
mod operations;
mod policies;
mod routes;
mod schema;

use std::sync::Arc;

use axum::Router;

use super::setup::{database_channels, start_findings};
use super::{AppOptions, DatabaseConfig, StartError, describe};
use crate::http::HttpState;
use database::OpenDatabase;
use engine::{engine, shared_state};
use entrance::Entrance;
use operations::Operations;
use policies::Policies;
use routes::routes;
use schema::Schema;
use svc_core::schema::Model;
use svc_core::settings::{ConfigError, variable};
use svc_engine::request::SessionVariables;

/// Builds the application: `/graphql`, `/health` and `/ready` as an [`axum::Router`]; more routes
/// can be added to it.
///
/// The database may be unreachable: the service starts, logs this once, and uses the database when
/// it becomes available.
///
/// Logs go to standard error unless the program has set up its own `tracing` subscriber; `RUST_LOG`
/// filters them. Without the feature `logging`, only such a subscriber receives them.
///
/// ```no_run
/// use svc::prelude::*;
///
/// #[svc::query]
/// fn hello() -> &'static str {
///     "world"
/// }
///
/// #[tokio::main]
/// async fn main() -> svc::Result<()> {
///     let app = create_svc_app(AppOptions::from_env()?.queries(queries![hello])).await?;
///     svc::serve(app).await
/// }
/// ```
///
/// # Errors
/// A [`StartError`] when a setting or the schema cannot be used.
pub async fn create_svc_app(options: AppOptions) -> Result<Router, StartError> {
    Ok(assemble(options).await?.0)
}

/// Returns the router of an application, and its state. The order of the steps decides which of
/// several errors is returned.
pub(crate) async fn assemble(
    mut options: AppOptions,
) -> Result<(Router, Arc<HttpState>), StartError> {
    #[cfg(unix)]
    let _start = super::FirstProcess::listen();
    #[cfg(feature = "logging")]
    super::logging::init(options.config.log.format);
    options.note_unknown_settings();

    let schema = Schema::of(&options)?;
    let policies = Policies::take(&mut options, &schema)?;
    #[cfg(feature = "auth")]
    let authentication = super::setup::authentication::from_options(&mut options)?;
    #[cfg(not(feature = "auth"))]
    super::setup::authentication::refuse(&options.config.auth)?;
    let entrance = Entrance::take(&mut options)?;
    let operations = Operations::take(&mut options, &schema.model)?;

    check_session_variables(&options.session_variables)?;

    // After all checks of the options, and before the database is opened: the CLI describes
    // programs whose database is not running.
    if let Some(file) = variable(describe::VARIABLE) {
        let channels = database_channels(&options);
        let config = &options.config.database;
        describe_and_end(&schema.model, &operations, config, channels, &file).await?;
    }

    // The same rules that hold on to requests may hide rows.
    let hides_rows = policies.shares_requests;
    let opened = OpenDatabase::open(&mut options, &schema.model, &operations, hides_rows).await?;
    let clients = entrance.clients.clone();
    let app = shared_state(&mut options, schema.model, &operations, &opened, clients);
    let engine = engine(
        &mut options,
        app,
        policies,
        operations,
        #[cfg(feature = "auth")]
        authentication,
    );

    Ok(routes(
        options,
        engine,
        entrance,
        #[cfg(feature = "embedded")]
        opened.embedded,
    ))
}

/// Writes the description and exits: the CLI wants the schema, not a server.
#[expect(clippy::exit, reason = "the program would go on to serve")]
async fn describe_and_end(
    model: &Model,
    operations: &Operations,
    config: &DatabaseConfig,
    channels: Vec<String>,
    file: &str,
) -> Result<std::convert::Infallible, StartError> {
    let found = match variable(describe::DATABASE) {
        Some(url) => Some(start_findings(model, config, channels, &url).await),
        None => None,
    };
    let Operations {
        registry, limits, ..
    } = operations;
    describe::write(model, registry, limits, found, file)?;
    std::process::exit(0)
}

fn check_session_variables(variables: &SessionVariables) -> Result<(), ConfigError> {
    variables
        .check()
        .map_err(|bad| ConfigError::new("a session variable", bad.value, bad.allowed))
}
