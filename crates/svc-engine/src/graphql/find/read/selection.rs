//! The rows that a mutation writes, if the client's filter selects them.

use async_graphql::Value;

use super::apply;
use crate::graphql::context::ExecutionContext;
use crate::graphql::find::conditions::{EmptyConditions, where_filter};
use crate::graphql::plan::{ArgPlan, PlanField, RootField};
use crate::sql::Filter;
use svc_core::schema::{ArgRole, TypeIndex};
use svc_core::{Error, ErrorCode};

/// Returns the conditions on the written rows in the arguments of a mutation by filter.
///
/// # Errors
/// An invalid condition, an empty filter of a mutation that does not allow it, or a filter that may
/// have lost a condition: an omitted one would select more rows than the client intends to write.
pub(in crate::graphql) fn argument_filter(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    row: TypeIndex,
) -> Result<Filter, Error> {
    let allows_empty = field.root().is_some_and(RootField::allows_empty_filter);
    let (mut filters, mut order) = (Vec::new(), Vec::new());
    for arg in field.args.iter() {
        if arg.role == ArgRole::Where {
            check_variables(cx, arg)?;
        }

        let Some(value) = cx.argument(arg)? else {
            continue;
        };

        if let (ArgRole::Where, Value::Object(fields)) = (arg.role, value.as_ref()) {
            if fields.is_empty() && !allows_empty {
                return Err(empty_filter(arg));
            }

            let refused = EmptyConditions::Refused;
            filters.push(where_filter(cx.model, row, fields, refused)?);
            continue;
        }

        apply(
            cx.model,
            (row, None),
            (arg.role, &arg.rust),
            &value,
            &mut filters,
            &mut order,
        )?;
    }

    Ok(Filter::All(filters))
}

/// Returns the error for an empty filter of a mutation that does not allow it.
fn empty_filter(arg: &ArgPlan) -> Error {
    let message = format!(
        "argument `{}`: an empty filter would select all rows; give a condition",
        arg.name
    );
    Error::new(ErrorCode::BadUserInput, message)
}

/// Rejects a filter that contains a variable without a value. Elsewhere, GraphQL treats its place
/// as omitted.
fn check_variables(cx: &ExecutionContext<'_>, arg: &ArgPlan) -> Result<(), Error> {
    match arg.absent_variable(cx.variables) {
        Some(variable) => Err(Error::new(
            ErrorCode::BadUserInput,
            format!(
                "argument `{}`: the variable `${variable}` has no value, so a condition would be \
                 omitted",
                arg.name
            ),
        )),
        None => Ok(()),
    }
}
