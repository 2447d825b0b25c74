//! The schema of options beside a database, for tests.

use std::borrow::Cow;
use std::sync::Arc;

use super::database_config::read_url;
use super::{AppOptions, DatabaseConfig};
use crate::engine::{Finding, database_needs, findings, findings_beside_nulls};
use crate::postgres::{Catalogue, CheckError, Database, DbError, Enforcement, RowSecurity, Settings};
use crate::schema::Model;
use crate::settings::variable;
use crate::{Error, ErrorCode, Result};

/// All that the schema of `options` and the database at `url` disagree about.
///
/// It is what the service looks at when it starts: fields without a column or key, keys of relations, orders by
/// default, functions and their arguments, and, as hints, nulls behind fields that have none and labels of enums. Faults
/// come first. The set-up SQL of the options is run before.
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
    let (database, catalogue) = look(&model, &options.config.database, options.setup.clone(), url).await?;
    Ok(findings(&model, &database, &catalogue))
}

/// All that a start on the database at `url` would find and the tool does not see for itself. Nothing is set up there.
pub(super) async fn start_findings(model: &Model, config: &DatabaseConfig, url: &str) -> Result<Vec<Finding>> {
    let (database, catalogue) = look(model, config, None, url).await?;
    Ok(findings_beside_nulls(model, &database, &catalogue))
}

/// Reads what the database at `url` has of the things that the schema names.
async fn look(
    model: &Model,
    config: &DatabaseConfig,
    setup: Option<Cow<'static, str>>,
    url: &str,
) -> Result<(Arc<Database>, Arc<Catalogue>)> {
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
        tells_reason: true,
    };
    let database = Database::new(settings, database_needs(model))?;
    let unusable = |error: CheckError| Error::new(ErrorCode::ServiceUnavailable, error.to_string());
    database.check().await.map_err(unusable)?;
    let catalogue = database.catalogue().await.map_err(DbError::into_error)?;
    Ok((database, catalogue))
}
