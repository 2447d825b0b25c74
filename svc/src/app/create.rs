use std::sync::Arc;
use std::time::Duration;

use axum::Router;

use super::config::check_url;
use super::{AppOptions, ConfigError, StartError, logging};
use crate::authz::Gate;
use crate::db::{Database, SessionVariables, Settings};
use crate::engine::{Engine, PersistedQueries, functions};
use crate::http;
use crate::schema::Model;

/// Builds the application: `/graphql`, `/health` and `/ready` as an [`axum::Router`], to which more can be added.
///
/// The database may be away; the service starts, says so once, and uses it when it comes.
///
/// Logs go to standard error unless the program has set up its own `tracing` subscriber; `RUST_LOG` filters them.
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
pub async fn create_svc_app(mut options: AppOptions) -> Result<Router, StartError> {
    logging::init();
    let model = Arc::new(options.model()?);
    check_context(&model, &options)?;
    #[cfg(feature = "embedded")]
    let embedded = match (&options.config.database_url, options.embedded.take()) {
        (None, Some(embedded)) => Some(svc_embedded::Database::start(embedded).await?),
        _ => None,
    };
    #[cfg(feature = "embedded")]
    if let Some(database) = &embedded {
        options.config.database_url = Some(database.url());
    }
    check_session_variables(&options.session_variables)?;
    let url = options.config.database_url.as_deref().ok_or(StartError::NoDatabase)?;
    let settings = Settings {
        connect: check_url("the database URL", url)?,
        max_connections: options.config.database_pool_size,
        acquire_timeout: options.config.pool_timeout(),
        statement_timeout: Duration::from_secs(options.config.query_timeout),
        setup: options.setup,
        constraints: options.constraints,
    };
    let called = functions(&model).map(|(_, _, spec)| spec).collect();
    let database = Database::new(settings, model.sources().map(str::to_owned).collect(), called);
    options.data.insert(options.context_values);
    let development = options.config.is_development();
    let engine = Engine {
        model,
        limits: Arc::new(options.limits),
        database,
        session_variables: options.session_variables,
        data: Arc::new(options.data),
        development,
        introspection: options.config.introspection.unwrap_or(development),
        persisted: options.config.persisted_queries.then(PersistedQueries::default),
        gate: Gate,
        documents: Default::default(),
    };
    Ok(http::router(Arc::new(http::Service {
        engine,
        name: options.config.service_name,
        rust_endpoint: options.config.enable_rust_endpoint,
        #[cfg(feature = "embedded")]
        _embedded: embedded,
    })))
}

fn check_session_variables(variables: &SessionVariables) -> Result<(), ConfigError> {
    variables.check().map_err(|bad| ConfigError {
        name: "a session variable".to_owned(),
        value: bad.value,
        allowed: bad.allowed.to_owned(),
    })
}

/// Every value that a function gets from the request has to be known.
fn check_context(model: &Model, options: &AppOptions) -> Result<(), StartError> {
    for (field, function, _) in functions(model) {
        if let Some(name) = function.context.iter().find(|name| !options.context_values.has(name)) {
            return Err(StartError::UnknownContext { path: field.path.clone(), name: (*name).to_owned() });
        }
    }
    Ok(())
}
