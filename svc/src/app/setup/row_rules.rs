//! Checks of row rules at the start of the service.

use crate::app::StartError;
use svc_core::schema::Model;
use svc_engine::authz::{RowPolicies, RowPolicy};
use svc_engine::graphql::{functions, written_tables};

/// Returns the program's row policies and masks, resolved for its schema.
///
/// # Errors
/// The policy, or the mutation that acts on a row, whose type has no rows.
pub(in crate::app) fn row_policies(
    model: &Model,
    policies: Vec<RowPolicy>,
) -> Result<RowPolicies, StartError> {
    check_acted(model).map_err(StartError::RowPolicy)?;
    check_nested(model, !policies.is_empty()).map_err(StartError::RowPolicy)?;
    let policies = RowPolicies::new(model, policies).map_err(StartError::RowPolicy)?;
    for twins in policies.ungoverned_twins(model) {
        let (view, governed, open) = (twins.view, twins.governed, twins.open);
        tracing::warn!(
            view,
            governed,
            open,
            "types read the same view, but only some have a row policy; add one to the others, or \
             they return the rows that it hides"
        );
    }

    Ok(policies)
}

/// Checks that every table whose rows come from an input object has a type whose row policies apply
/// to them, if there are any row policies.
fn check_nested(model: &Model, has_policies: bool) -> Result<(), String> {
    for written in written_tables(model) {
        let Some((holder, nested)) = &written.holder else {
            continue;
        };

        let of = nested.of.map(|of| model.by_rust.get(&of()));
        if of.is_some_and(|of| of.is_none_or(|of| model.source(*of).is_none())) {
            return Err(format!(
                "`{holder}` writes rows of a type of which the schema has none; let `of` name one with a `sql_source` that an \
                 operation or another type uses, or that is listed in `.types(…)`"
            ));
        }

        if has_policies && of.is_none() {
            return Err(format!(
                "`{holder}` writes to `{}`, and there are row policies; name the type that reads its rows, as in \
                 `of = OrderLine`, and its policies hold for what is written",
                written.table
            ));
        }
    }

    Ok(())
}

fn check_acted(model: &Model) -> Result<(), String> {
    for (field, function, _) in functions(model) {
        let Some(acts_on) = function.acts_on else {
            continue;
        };

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
