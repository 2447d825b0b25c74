//! The creation of an application from its options.

use std::sync::{Arc, Weak};

use axum::Router;

use super::database_config::read_url;
use super::open_operations::warn_of_open;
use super::view_check::start_findings;
use super::{
    AppOptions, DatabaseConfig, OperationsConfig, StartError, describe, rate_limits, row_rules,
};
use crate::application::{Application, LimitMode, Limits, RequestDeadlines};
use crate::authz::Gate;
use crate::engine::{
    DocumentCache, Engine, OperationRegistry, PersistedQueries, RegisteredOnly, database_needs,
    describe_all, functions, note_findings, read_folder, read_manifests, row_sources,
};
use crate::http;
use crate::metrics::application_made;
use crate::postgres::{CheckError, ConnectConfig, Database, Enforcement, RowSecurity, Settings};
use crate::rate_limit::{self, AddressRule};
use crate::request::SessionVariables;
use crate::request_log::RequestLog;
use crate::schema::{Model, RootFieldMeta, SchemaError};
use crate::security_log::init_security_logger;
use crate::settings::{ConfigError, LONGEST_TIMEOUT, variable};

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

/// Returns the router of an application, and its state.
pub(crate) async fn assemble(
    mut options: AppOptions,
) -> Result<(Router, Arc<http::AppState>), StartError> {
    #[cfg(unix)]
    let _start = super::FirstProcess::listen();
    #[cfg(feature = "logging")]
    super::logging::init(options.config.log.format);
    options.note_unknown_settings();
    let model = Arc::new(options.model()?);
    check_context(&model, &options)?;
    warn_of_open(&model, &options);
    let has_checks = note_checks(&model);
    rate_limits::note_rate_limits(&options);
    let is_authorized = options.authorizer.is_some() || !options.tried_rules.is_empty();
    options
        .note_unused_settings(is_authorized || has_checks || has_authorizers(&options.operations));
    let decides_fields = decides_fields(&model, is_authorized);
    let authorizer = options.take_authorizer();
    let row_policies = std::mem::take(&mut options.row_policies);
    let row_policies = row_rules::row_policies(&model, row_policies)?;
    #[cfg(feature = "auth")]
    let user_database = options.user_database.clone();
    #[cfg(feature = "auth")]
    let authentication = super::authentication::from_options(&mut options)?;

    #[cfg(not(feature = "auth"))]
    super::authentication::refuse(&options.config.auth)?;
    #[cfg(not(feature = "redis"))]
    options.config.redis.refuse()?;
    #[cfg(feature = "redis")]
    options.redis_client()?;
    init_security_logger(options.config.security_log.clone());
    let clients = options.config.rate_limit.clients();
    let protection = super::protection::protection(&options.config, &clients)?;
    let rate_limits = options
        .rate_limiting
        .take()
        .map(rate_limit::layer)
        .transpose()?
        .flatten();

    #[cfg(not(feature = "upload"))]
    super::uploads::refuse(&options.config.uploads)?;
    let (responses, response_keys) = super::response_cache::response_cache(&model, &mut options)?;
    let limits = Arc::new(std::mem::take(&mut options.config.limits));
    let operations = register(&model, &limits, &mut options)?;

    check_session_variables(&options.session_variables)?;
    if let Some(file) = variable(describe::VARIABLE) {
        describe_and_end(&model, &options.config.database, &file).await?;
    }

    #[cfg(feature = "embedded")]
    let embedded = match (&options.config.database.url, options.embedded.take()) {
        (None, Some(embedded)) => Some(svc_embedded::Database::start(embedded).await?),
        _ => None,
    };

    #[cfg(feature = "embedded")]
    let (given, owner) = embedded.as_ref().map_or(Ok((None, None)), |database| {
        use_embedded(database, &mut options)
    })?;
    #[cfg(not(feature = "embedded"))]
    let (given, owner) = (None, None);
    let connect = given.map_or_else(|| connect(&options), Ok)?;
    #[cfg(feature = "native-auth")]
    options
        .accounts
        .iter()
        .for_each(|accounts| accounts.bind(&connect));
    let persisted = options
        .config
        .operations
        .persisted_queries
        .then(|| persisted_queries(&options))
        .transpose()?;

    let enforcement = enforcement(&options);
    let settings = Settings {
        connect: connect.clone(),
        max_connections: options.config.database.pool_size,
        acquire_timeout: options.config.database.pool_limit(),
        statement_timeout: options.config.database.query_timeout,
        catalogue_poll: options.config.database.poll(),
        schema_version: responses
            .as_deref()
            .map(|responses| responses.schema_version().clone()),
        owner,
        statement_cache: usize::try_from(options.config.database.statement_cache)
            .unwrap_or(usize::MAX),
        reset_session: options.config.database.reset_session,
        retries: options.config.database.retries,
        connections_of_one: options.config.database.request_connections,
        setup: options.setup.take(),
        row_security: RowSecurity::new(enforcement),
        tells_reason: options.config.is_development(),
    };

    let database = Database::new(settings, database_needs(&model)).map_err(StartError::Proxy)?;
    if enforcement == Enforcement::Refuse {
        refuse_unbound(&database).await?;
    }

    tokio::spawn(describe_all(Arc::downgrade(&database), operations.all()));
    tokio::spawn(note_findings(Arc::downgrade(&database), model.clone()));
    let events = super::event_hub::event_hub(&mut options, connect, &database, responses.as_ref())?;
    responses
        .iter()
        .for_each(|responses| responses.start(&events));
    options.data.insert(options.context_values);
    let development = options.config.is_development();
    let introspection = options.config.schema.introspection.unwrap_or(development);
    let document_cache = options.config.operations.document_cache_size << 20;
    let app = Arc::new(Application {
        model,
        limits,
        database,
        data: options.data,
        constraints: options.constraints,
        events,
        responses,
        deadlines: options.config.request_limit().map(RequestDeadlines::new),
        clients: clients.clone(),
    });

    let session_variables = Arc::new(options.session_variables);
    #[cfg(feature = "auth")]
    user_database.set(&app, &session_variables);
    let engine = Engine {
        app,
        request_data: Arc::new(options.request_data),
        session_variables,
        development,
        introspection,
        persisted,
        operations,
        registered_only: RegisteredOnly::of(&options.config.operations),
        #[cfg(feature = "auth")]
        authentication,
        decides_fields,
        shares_requests: authorizer.is_some()
            || has_authorizers(&options.operations)
            || has_checks
            || !row_policies.is_empty(),
        response_keys,
        row_policies: (!row_policies.is_empty()).then(|| Arc::new(row_policies)),
        gate: Gate::new(
            authorizer,
            options.config.authorization_timeout.min(LONGEST_TIMEOUT),
        ),
        hooks: options.hooks,
        documents: DocumentCache::new(document_cache, introspection),
    };

    let names_addresses =
        options.config.rate_limit.trusted_proxies.is_none() && rate_limits.is_none();
    if names_addresses
        && cfg!(feature = "websocket")
        && options.config.subscriptions.max_connections_per_address > 0
    {
        const OPEN: &str = "clients may name their own address in X-Forwarded-For and X-Real-IP, so they can pass the bound \
            of sockets per address or use up that of another address; set SVC_TRUSTED_PROXIES to the proxies in front, or \
            to none";
        if development {
            tracing::info!("{OPEN}");
        } else {
            tracing::warn!("{OPEN}");
        }
    }

    let live = http::LiveConnections::new(
        options.config.subscriptions,
        AddressRule::of(&options.config.rate_limit),
        #[cfg(feature = "auth")]
        engine
            .authentication
            .as_ref()
            .and_then(|authentication| authentication.revocation.clone()),
    );

    let health = options
        .health
        .inspect(|health| health.bind(&engine.app.database));
    let pools: Weak<Database> = Arc::downgrade(&engine.app.database);
    application_made(pools, development);
    let request_log = RequestLog::of(&options.config.log);
    let state = Arc::new(http::AppState {
        engine: Arc::new(engine),
        live,
        #[cfg(feature = "upload")]
        uploads: options
            .config
            .uploads
            .enabled
            .then_some(options.config.uploads)
            .inspect(crate::upload::sweep),
        name: options.config.service_name,
        health,
        rust_endpoint: options.config.operations.rust_endpoint,
        dev_auth: super::authentication::dev_auth(&options.config.auth, &clients),
        protection: protection.clone(),
        rate_limits: rate_limits.clone(),
        #[cfg(feature = "websocket")]
        request_log: request_log.clone(),
        batch_max: options.config.protection.batch_max,
        body_timeout: options.config.http.bounded().body_timeout,
        #[cfg(feature = "embedded")]
        embedded,
    });

    let others = Router::new();
    #[cfg(feature = "native-auth")]
    let others = super::native_accounts::mount(
        options.native.as_ref(),
        &options.config.accounts.path,
        &protection,
        others,
    );

    let router = http::router(state.clone());
    let router = router.merge(match rate_limits {
        Some(limits) => others.layer(limits),
        None => others,
    });
    let router = match request_log {
        Some(log) => router.layer(log),
        None => router,
    };

    Ok((router, state))
}

/// Returns the store of the documents that clients persist, with Redis behind it if the program
/// shares one.
fn persisted_queries(options: &AppOptions) -> Result<PersistedQueries, StartError> {
    let persisted = PersistedQueries::default();
    #[cfg(feature = "redis")]
    let persisted = match options.redis_client()? {
        Some(redis) => persisted.shared_in(&redis),
        None => persisted,
    };

    #[cfg(not(feature = "redis"))]
    let _ = options;
    Ok(persisted)
}

impl RegisteredOnly {
    fn of(config: &OperationsConfig) -> Self {
        match (config.registered_only, config.registered_only_mode) {
            (false, _) => Self::Off,
            (true, LimitMode::Enforce) => Self::Enforced,
            (true, LimitMode::Warn) => Self::Tried,
        }
    }
}

/// Writes the description and exits: the CLI wants the schema, not a server.
#[expect(clippy::exit, reason = "the program would go on to serve")]
async fn describe_and_end(
    model: &Model,
    config: &DatabaseConfig,
    file: &str,
) -> Result<std::convert::Infallible, StartError> {
    let found = match variable(describe::DATABASE) {
        Some(url) => Some(start_findings(model, config, &url).await),
        None => None,
    };
    describe::write(model, found, file)?;
    std::process::exit(0)
}

/// Whether access to any field is decided separately.
fn decides_fields(model: &Model, is_authorized: bool) -> bool {
    let has_rules = || {
        model
            .fields()
            .any(|field| !field.guards.is_empty() || field.is_checked())
    };
    model.has_gates && (is_authorized || has_rules())
}

/// Logs the fields that filters, orders, groups and aggregates of the schema leave out because
/// their checks decide object by object. Returns whether there are any.
fn note_checks(model: &Model) -> bool {
    let fields = model.checked_fields().collect::<Vec<_>>();
    if !fields.is_empty() {
        let fields = fields.join(", ");
        tracing::info!(
            fields,
            "these fields have checks, so filters, orders, groups and aggregates leave them out"
        );
    }

    !fields.is_empty()
}

/// Whether an operation has its own authorizer.
fn has_authorizers(operations: &[&'static RootFieldMeta]) -> bool {
    operations
        .iter()
        .any(|operation| operation.rules.authorizer.is_some())
}

/// Returns the configuration of the database named by the settings.
fn connect(options: &AppOptions) -> Result<ConnectConfig, StartError> {
    let url = options
        .config
        .database
        .url
        .as_deref()
        .ok_or(StartError::NoDatabase)?;
    Ok(read_url("the database URL", url, &variable)?)
}

/// Returns the configurations of an embedded database: for requests, and for its owner. If it has a
/// role for requests, the owner runs the setup, which ends with the grants of that role.
#[cfg(feature = "embedded")]
fn use_embedded(
    database: &svc_embedded::Database,
    options: &mut AppOptions,
) -> Result<(Option<ConnectConfig>, Option<ConnectConfig>), ConfigError> {
    // The environment describes other servers, so its variables do not apply to this one.
    let read = |url: &str| read_url("the URL of the embedded database", url, &|_| None);
    let owner = read(&database.url())?;
    let (Some(url), Some(grants)) = (database.role_url(), database.role_grants()) else {
        return Ok((Some(owner), None));
    };
    options.setup = Some(format!("{}\n;{grants}", options.setup.take().unwrap_or_default()).into());
    Ok((Some(read(&url)?), Some(owner)))
}

/// Registers the operations of the program and of the directory.
fn register(
    model: &Arc<Model>,
    limits: &Arc<Limits>,
    options: &mut AppOptions,
) -> Result<OperationRegistry, StartError> {
    let mut operations = std::mem::take(&mut options.registered);
    if let Some(folder) = &options.config.operations.dir {
        operations.extend(read_folder(folder).map_err(StartError::Operations)?);
    }

    if let Some(place) = &options.config.operations.trusted_documents {
        operations.extend(read_manifests(place).map_err(StartError::Operations)?);
    }

    let most = usize::try_from(options.config.operations.max).unwrap_or(usize::MAX);
    let registry = std::mem::take(&mut options.registry);
    registry
        .start(model, limits, most, operations)
        .map_err(StartError::Operations)?;
    let all = registry.all();
    let with_sql = all
        .iter()
        .filter(|operation| operation.sql.is_some())
        .count();
    if !all.is_empty() {
        tracing::info!(
            operations = all.len(),
            with_sql,
            "operations are registered"
        );
    } else if options.config.operations.registered_only {
        tracing::warn!("only registered operations are answered, and none is registered yet");
    }

    Ok(registry)
}

/// Returns the consequence of policies that do not bind the service: none, unless the service sets
/// variables for them.
fn enforcement(options: &AppOptions) -> Enforcement {
    if options.session_variables.is_empty() {
        Enforcement::Off
    } else if options.config.is_development() || options.config.database.allow_unbound_policies {
        Enforcement::Warn
    } else {
        Enforcement::Refuse
    }
}

/// Checks the policies now. If the database is unreachable, they are checked when it becomes
/// available, before it is used.
async fn refuse_unbound(database: &Database) -> Result<(), StartError> {
    match database.check().await {
        Err(CheckError::Unbound(unbound)) => Err(StartError::UnboundPolicies(
            unbound.0.iter().map(ToString::to_string).collect(),
        )),
        _ => Ok(()),
    }
}

fn check_session_variables(variables: &SessionVariables) -> Result<(), ConfigError> {
    variables.check().map_err(|bad| ConfigError {
        name: "a session variable".to_owned(),
        value: bad.value,
        allowed: bad.allowed.to_owned(),
    })
}

/// Every context value that a database function takes must be registered.
fn check_context(model: &Model, options: &AppOptions) -> Result<(), StartError> {
    let called = functions(model).map(|(field, function, _)| (field, function.context));
    let read = row_sources(model).map(|(field, _, source)| (field, source.context));
    let names = called
        .chain(read)
        .flat_map(|(field, context)| context.iter().map(move |name| (field, *name)));
    let unknown = names
        .filter(|(_, name)| !options.context_values.has(name))
        .map(|(field, name)| SchemaError::UnknownContext {
            path: field.path.clone(),
            name: name.to_owned(),
        });

    match unknown.collect::<Vec<_>>() {
        unknown if unknown.is_empty() => Ok(()),
        unknown => Err(StartError::Schema(unknown)),
    }
}
