//! Checks the schema of options against a database, for tests.

use std::borrow::Cow;
use std::sync::Arc;

use super::event_hub::database_channels;
use crate::app::config::read_url;
use crate::app::{AppOptions, DatabaseConfig};
use svc_core::schema::Model;
use svc_core::settings::variable;
use svc_core::{Error, ErrorCode, Result};
use svc_engine::graphql::{Finding, database_needs, findings, findings_beside_nulls};
use svc_postgres::{Catalog, CheckError, Database, DbError, Enforcement, RowSecurity, Settings};

/// Returns all mismatches between the schema of `options` and the database at `url`.
///
/// These are the checks of a service's start: fields without a column or key, keys of relations,
/// default orders, functions and their arguments, and, as hints, nulls in columns of non-null
/// fields, labels of enums, and channels that nothing notifies. Faults come first. The setup SQL of
/// the options runs before.
///
/// ```no_run
/// use svc::prelude::*;
/// use svc::testing::check_views;
///
/// # async fn example(options: AppOptions) -> svc::Result<()> {
/// let findings = check_views(&options, "postgres://postgres@localhost/test").await?;
/// assert!(findings.is_empty(), "{findings:#?}");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the schema cannot be served, or the database cannot be used.
pub async fn check_views(options: &AppOptions, url: &str) -> Result<Vec<Finding>> {
    let model = options.model()?;
    let (config, setup) = (&options.config.database, options.setup.clone());
    let (database, catalog) = look(&model, config, setup, database_channels(options), url).await?;
    Ok(findings(&model, &database, &catalog))
}

/// Returns all findings of a start on the database at `url`, except findings that the CLI detects
/// itself. Runs no setup there.
pub(in crate::app) async fn start_findings(
    model: &Model,
    config: &DatabaseConfig,
    channels: Vec<String>,
    url: &str,
) -> Result<Vec<Finding>> {
    let (database, catalog) = look(model, config, None, channels, url).await?;
    Ok(findings_beside_nulls(model, &database, &catalog))
}

/// Reads the catalog of the database at `url` for the objects named by the schema.
async fn look(
    model: &Model,
    config: &DatabaseConfig,
    setup: Option<Cow<'static, str>>,
    channels: Vec<String>,
    url: &str,
) -> Result<(Arc<Database>, Arc<Catalog>)> {
    let settings = Settings {
        connect: read_url("the database URL", url, &variable)?,
        max_connections: 1,
        acquire_timeout: config.pool_limit(),
        statement_timeout: config.query_timeout,
        catalogue_poll: None,
        schema_version: None,
        owner: None,
        statement_cache: 0,
        reset_session: None,
        retries: 0,
        connections_of_one: None,
        setup,
        row_security: RowSecurity::new(Enforcement::Off),
        hides_rows: false,
        tells_reason: true,
    };

    let database = Database::new(settings, database_needs(model, channels))?;
    let unusable = |error: CheckError| Error::new(ErrorCode::ServiceUnavailable, error.to_string());
    database.check().await.map_err(unusable)?;
    let catalog = database.catalog().await.map_err(DbError::into_error)?;

    Ok((database, catalog))
}
