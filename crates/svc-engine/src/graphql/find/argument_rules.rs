//! Checks of arguments, for fields resolved by the SQL of a registered operation.

use async_graphql::Value;

use super::aggregate::{GroupArguments, check_aggregate};
use super::columns::size;
use super::read::{Read, argument_filter};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{PlanField, PlanKind};
use crate::repository::{CursorPage, page};
use svc_core::Error;
use svc_core::schema::{ArgRole, Part, Shape};
use svc_postgres::DbError;

/// Rejects the arguments that would also be rejected without this SQL: pages that are too large or
/// negative, invalid conditions and orders, required arguments without a value.
///
/// # Errors
/// The error that the field would have.
pub(crate) fn check_arguments(cx: &ExecutionContext<'_>, field: &PlanField) -> Result<(), Error> {
    check_field(cx, field).map_err(DbError::into_error)
}

fn check_field(cx: &ExecutionContext<'_>, field: &PlanField) -> Result<(), DbError> {
    // A read checks all of its arguments while it is built, so the reads are built as usual and
    // dropped.
    match field.kind {
        PlanKind::Root(root) => match root.planned() {
            Some((Shape::Connection, row)) => {
                size(&Read::connection(cx, field, row)?.page, cx.limits)?;
            }
            Some((shape @ Shape::Aggregate, row)) => {
                check_aggregate(cx, field, Read::planned(cx, field, shape, row)?)?;
            }
            Some((shape, row)) => drop(Read::planned(cx, field, shape, row)?),
            None => match root.filtered_rows() {
                Some(row) => drop(argument_filter(cx, field, row).map_err(DbError::refused)?),
                None => check_resolver(cx, field)?,
            },
        },
        PlanKind::Relation(relation) => match relation.shape {
            Shape::Connection => {
                size(&Read::page_beside(cx, field, relation)?.page, cx.limits)?;
            }
            Shape::Aggregate => check_aggregate(cx, field, Read::beside(cx, field, relation)?)?,
            _ => drop(Read::relation(cx, field, relation)?),
        },
        PlanKind::Part(Part::Groups) => {
            GroupArguments::of(cx, field)?;
            check_page(
                cx,
                field,
                |role, _| role == ArgRole::Limit,
                |role, _| role == ArgRole::Offset,
            )?;
        }
        _ => {}
    }

    field
        .children
        .iter()
        .flat_map(|selection| &selection.fields)
        .try_for_each(|field| check_field(cx, field))
}

/// Checks the arguments declared by `Page` and `CursorPage`.
fn check_resolver(cx: &ExecutionContext<'_>, field: &PlanField) -> Result<(), DbError> {
    let mut cursors = CursorPage::default();
    for arg in field.args.iter() {
        let value = cx.argument(arg).map_err(DbError::refused)?;
        let Some(Value::Number(number)) = value.as_deref().filter(|_| arg.spread) else {
            continue;
        };

        let number = number
            .as_i64()
            .and_then(|number| i32::try_from(number).ok());

        match arg.rust.as_str() {
            "first" => cursors.first = number,
            "last" => cursors.last = number,
            _ => {}
        }
    }

    size(&cursors, cx.limits)?;

    check_page(
        cx,
        field,
        |_, rust| rust == "limit",
        |_, rust| rust == "offset",
    )
}

/// Checks a page by offset; the functions identify its arguments.
fn check_page(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    is_limit: fn(ArgRole, &str) -> bool,
    is_offset: fn(ArgRole, &str) -> bool,
) -> Result<(), DbError> {
    let number = |is_it: fn(ArgRole, &str) -> bool| {
        let arg = field
            .args
            .iter()
            .find(|arg| (arg.spread || !arg.role.is_declared()) && is_it(arg.role, &arg.rust));
        let value = arg
            .map(|arg| cx.argument(arg))
            .transpose()
            .map_err(DbError::refused)?
            .flatten();

        Ok::<_, DbError>(match value.as_deref() {
            Some(Value::Number(number)) => number.as_i64(),
            _ => None,
        })
    };

    page(
        number(is_limit)?,
        number(is_offset)?.unwrap_or(0),
        cx.limits,
    )
    .map(drop)
}
