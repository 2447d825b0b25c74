//! The service: `types`, `queries` and `mutations` make its schema, and `db/` its tables and views.

pub mod mutations;
pub mod queries;
pub mod types;

use svc::prelude::*;

/// The service with the settings of the environment, which `svc dev` takes from `.env`.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> Result<AppOptions> {
    Ok(with_schema(AppOptions::from_env()?))
}

/// Adds the schema to options that say where the database is. What decides the schema is here and not in settings, so
/// that it is the same everywhere.
pub fn with_schema(options: AppOptions) -> AppOptions {
    mutations::add(queries::add(options.auto_camel_case(true)))
}
