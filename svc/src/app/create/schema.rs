//! The schema of an application.

use std::sync::Arc;

use crate::app::options::note_rate_limits;
use crate::app::setup::{warn_of_open, warn_of_row_bounds};
use crate::app::{AppOptions, StartError};
use svc_core::schema::{Model, SchemaError};
use svc_engine::graphql::{functions, row_sources};

/// The schema, checked against the options.
pub(super) struct Schema {
    pub(super) model: Arc<Model>,
    /// Whether the checks of some fields decide object by object.
    pub(super) has_checks: bool,
}

impl Schema {
    /// Returns the schema of the options. Warns of operations without access control, and of
    /// mutations that a limit restricts further than they declare.
    ///
    /// # Errors
    /// All mistakes in the schema, or else the context values that are missing.
    pub(super) fn of(options: &AppOptions) -> Result<Self, StartError> {
        let model = Arc::new(options.model()?);
        check_context(&model, options)?;
        warn_of_open(&model, options);
        warn_of_row_bounds(&model, options.config.limits.max_page);
        let has_checks = note_checks(&model);
        note_rate_limits(options);

        Ok(Self { model, has_checks })
    }
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

/// Logs the fields that filters, orders, groups and aggregates of the schema leave out because
/// their checks decide object by object. Returns whether there are any.
fn note_checks(model: &Model) -> bool {
    let fields = model.checked_fields().collect::<Vec<_>>();
    if !fields.is_empty() {
        let fields = fields.join(", ");
        tracing::info!(
            fields,
            "these fields have checks, so filters, orders, groups and aggregates do not include them"
        );
    }

    !fields.is_empty()
}
