//! Fields that database functions should compute from rows, but cannot.

use super::{Finding, Severity};
use crate::graphql::find::{call_fault, field_spec, row_functions};
use svc_core::schema::Model;
use svc_postgres::{Catalog, Database};

/// The fields whose function is missing, does not accept the row and the arguments, or returns
/// another type.
pub(super) fn broken_row_functions(
    model: &Model,
    database: &Database,
    catalog: &Catalog,
) -> Vec<Finding> {
    let broken = row_functions(model).filter_map(|(row, field, function)| {
        let spec = field_spec(model, row, field, function);

        // A missing view is reported elsewhere.
        let view = spec.row_of.clone().filter(|view| catalog.source(view).is_some())?;
        let unfit = || call_fault(catalog, model, &spec, &field.ty);
        let cause = database.function_fault(&spec).or_else(unfit)?;

        Some(Finding {
            severity: Severity::Fault,
            source: spec.name,
            field: format!("{}.{}", model.types[row].name, field.name),
            cause,
            remedy: format!(
                "make a STABLE or IMMUTABLE function that takes a row of `{view}` and then the arguments of the field in \
                 their order, returns what the field has, and may be called by the role of the service",
            ),
        })
    });
    broken.collect()
}
