//! Checks of the rules about rows, when the service starts.

use super::StartError;
use crate::authz::{RowPolicies, RowPolicy};
use crate::engine::functions;
use crate::schema::Model;

/// The row policies and masks of a program for its schema.
///
/// # Errors
/// The policy, or the mutation that acts on a row, whose type has no rows.
pub(super) fn row_policies(model: &Model, policies: Vec<RowPolicy>) -> Result<RowPolicies, StartError> {
    check_acted(model).map_err(StartError::RowPolicy)?;
    let policies = RowPolicies::new(model, policies).map_err(StartError::RowPolicy)?;
    for twins in policies.ungoverned_twins(model) {
        let (view, governed, open) = (twins.view, twins.governed, twins.open);
        tracing::warn!(
            view,
            governed,
            open,
            "types read the same view, and only some have a row policy; give the others one, or rows that it keeps back \
             are read by them"
        );
    }
    Ok(policies)
}

fn check_acted(model: &Model) -> Result<(), String> {
    for (field, function, _) in functions(model) {
        let Some(acts_on) = function.acts_on else { continue };
        let row = model.by_rust.get(&(acts_on.row)());
        if row.is_none_or(|row| model.source(*row).is_none()) {
            return Err(format!(
                "the mutation `{}` acts on `{}`, of which the schema has no rows; name a type with a `sql_source` that an \
                 operation or another type uses, or that is listed in `.types(…)`",
                field.name,
                (acts_on.type_name)()
            ));
        }
    }
    Ok(())
}
