//! The service: `types`, `queries` and `mutations` define its schema, and `db/` its tables and views.

pub mod mutations;
pub mod queries;
pub mod types;

use svc::prelude::*;

/// Returns the options of the service, with the settings of the environment. `svc dev` reads them from `.env`.
///
/// # Errors
/// If a setting is not valid.
pub fn options() -> Result<AppOptions> {
    Ok(with_schema(AppOptions::from_env()?))
}

/// Adds the schema to the options. Everything that affects the schema is set here and not by settings, so that the
/// schema is the same everywhere.
pub fn with_schema(options: AppOptions) -> AppOptions {
    mutations::add(queries::add(options.auto_camel_case(true)))
}
