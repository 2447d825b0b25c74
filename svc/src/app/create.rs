use std::sync::Arc;
use std::time::Duration;

use axum::Router;

use super::config::{read_url, variable};
use super::{AppOptions, ConfigError, StartError, logging};
use crate::authz::Gate;
use crate::db::{Database, Proxy, SessionVariables, Settings};
use crate::engine::{
    Application, Engine, Limits, OperationRegistry, PersistedQueries, describe_all, functions, read_folder,
};
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
    let limits = Arc::new(std::mem::take(&mut options.limits));
    let operations = register(&model, &limits, &mut options)?;
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
    let connect = read_url("the database URL", url, &variable)?;
    let settings = Settings {
        proxy: Proxy::for_sqlx(&connect).map_err(StartError::Proxy)?,
        connect,
        max_connections: options.config.database_pool_size,
        acquire_timeout: options.config.pool_timeout(),
        statement_timeout: Duration::from_secs(options.config.query_timeout),
        setup: options.setup,
        constraints: options.constraints,
    };
    let called = functions(&model).map(|(_, _, spec)| spec).collect();
    let database = Database::new(settings, model.sources().map(str::to_owned).collect(), called);
    tokio::spawn(describe_all(Arc::downgrade(&database), operations.all()));
    options.data.insert(options.context_values);
    let development = options.config.is_development();
    let engine = Engine {
        app: Arc::new(Application { model, limits, database, data: options.data }),
        session_variables: options.session_variables,
        development,
        introspection: options.config.introspection.unwrap_or(development),
        persisted: options.config.persisted_queries.then(PersistedQueries::default),
        operations,
        registered_only: options.config.registered_only,
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

/// Registers the operations of the program and of the folder.
fn register(
    model: &Arc<Model>,
    limits: &Arc<Limits>,
    options: &mut AppOptions,
) -> Result<OperationRegistry, StartError> {
    let mut operations = std::mem::take(&mut options.registered);
    if let Some(folder) = &options.config.operations_dir {
        operations.extend(read_folder(folder).map_err(StartError::Operations)?);
    }
    let most = usize::try_from(options.config.max_operations).unwrap_or(usize::MAX);
    let registry = std::mem::take(&mut options.registry);
    registry.start(model, limits, most, operations).map_err(StartError::Operations)?;
    let all = registry.all();
    let with_sql = all.iter().filter(|operation| operation.sql.is_some()).count();
    if !all.is_empty() {
        tracing::info!(operations = all.len(), with_sql, "operations are registered");
    } else if options.config.registered_only {
        tracing::warn!("only registered operations are answered, and none is registered yet");
    }
    Ok(registry)
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
