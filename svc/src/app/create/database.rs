//! The database of an application.

use std::sync::Arc;

use super::operations::Operations;
use crate::app::config::read_url;
use crate::app::setup::{database_channels, event_hub};
use crate::app::{AppOptions, StartError};
use svc_core::schema::Model;
#[cfg(feature = "embedded")]
use svc_core::settings::ConfigError;
use svc_core::settings::variable;
use svc_engine::events::Hub;
use svc_engine::graphql::{database_needs, describe_all, note_findings};
use svc_engine::response_cache::Responses;
use svc_postgres::{CheckError, ConnectConfig, Database, Enforcement, RowSecurity, Settings};

/// The pools of the database, and its events.
pub(super) struct OpenDatabase {
    pub(super) database: Arc<Database>,
    pub(super) events: Arc<Hub>,
    /// The server, if the program starts its own.
    #[cfg(feature = "embedded")]
    pub(super) embedded: Option<svc_embedded::Database>,
}

impl OpenDatabase {
    /// Opens the database of the options, and starts to watch it. `hides_rows` is true if the
    /// application has authorizers or row policies.
    ///
    /// # Errors
    /// The setting that cannot be used, an embedded database that does not start, or the policies
    /// of row-level security that do not bind the service.
    pub(super) async fn open(
        options: &mut AppOptions,
        model: &Arc<Model>,
        operations: &Operations,
        hides_rows: bool,
    ) -> Result<Self, StartError> {
        #[cfg(feature = "embedded")]
        let embedded = start_embedded(options).await?;
        #[cfg(feature = "embedded")]
        let (given, owner) = embedded
            .as_ref()
            .map_or(Ok((None, None)), |database| use_embedded(database, options))?;
        #[cfg(not(feature = "embedded"))]
        let (given, owner) = (None, None);
        let connect = given.map_or_else(|| connect(options), Ok)?;
        #[cfg(feature = "native-auth")]
        options
            .accounts
            .iter()
            .for_each(|accounts| accounts.bind(&connect));

        let responses = operations.responses.as_ref();
        let settings = settings(options, connect.clone(), owner, responses, hides_rows);
        let needs = database_needs(model, database_channels(options));
        let database = Database::new(settings, needs).map_err(StartError::Proxy)?;
        if enforcement(options) == Enforcement::Refuse {
            refuse_unbound(&database).await?;
        }

        // In the background, because the database may be away at the start. The tasks must not keep
        // the pool of an application that was dropped.
        let registered = operations.registry.all();
        tokio::spawn(describe_all(Arc::downgrade(&database), registered));
        tokio::spawn(note_findings(Arc::downgrade(&database), model.clone()));
        let events = event_hub(options, connect, &database, responses)?;
        if let Some(responses) = responses {
            responses.start(&events);
        }

        Ok(Self {
            database,
            events,
            #[cfg(feature = "embedded")]
            embedded,
        })
    }
}

/// Starts the embedded database, if the options have one and name no other.
#[cfg(feature = "embedded")]
async fn start_embedded(
    options: &mut AppOptions,
) -> Result<Option<svc_embedded::Database>, svc_embedded::Error> {
    match (&options.config.database.url, options.embedded.take()) {
        (None, Some(embedded)) => svc_embedded::Database::start(embedded).await.map(Some),
        _ => Ok(None),
    }
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

    // The setup may end with a `--` comment or without a semicolon, so a line end and a semicolon
    // come before the grants.
    options.setup = Some(format!("{}\n;{grants}", options.setup.take().unwrap_or_default()).into());
    Ok((Some(read(&url)?), Some(owner)))
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

/// Returns the settings of the pools, with the setup of the options.
fn settings(
    options: &mut AppOptions,
    connect: ConnectConfig,
    owner: Option<ConnectConfig>,
    responses: Option<&Arc<Responses>>,
    hides_rows: bool,
) -> Settings {
    let row_security = RowSecurity::new(enforcement(options));
    let config = &options.config.database;

    Settings {
        connect,
        max_connections: config.pool_size,
        acquire_timeout: config.pool_limit(),
        statement_timeout: config.query_timeout,
        catalogue_poll: config.poll(),
        schema_version: responses.map(|responses| responses.schema_version().clone()),
        owner,
        statement_cache: usize::try_from(config.statement_cache).unwrap_or(usize::MAX),
        reset_session: config.reset_session,
        retries: config.retries,
        connections_of_one: config.request_connections,
        setup: options.setup.take(),
        row_security,
        hides_rows,
        tells_reason: options.config.is_development(),
    }
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
