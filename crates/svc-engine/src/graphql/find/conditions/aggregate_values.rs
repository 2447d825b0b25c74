//! The values computed by aggregate functions.

use crate::sql::Column;
use svc_core::Error;
use svc_core::schema::{AggregateFunction, FieldKind, Model, ScalarKind, TypeIndex};

/// Returns the column of the field with the Rust name `rust`, and the scalar type of the function's
/// result for it.
pub(in crate::graphql::find) fn of_function(
    model: &Model,
    row: TypeIndex,
    function: AggregateFunction,
    rust: &str,
) -> Result<(Column, ScalarKind), Error> {
    let object = model
        .possible_types(row)
        .first()
        .and_then(|index| model.object(*index));
    let field = object.and_then(|object| object.fields.values().find(|field| field.rust == rust));
    let found = field.and_then(|field| match field.kind {
        FieldKind::Stored { stored, .. } => Some((
            Column::of(stored),
            function.result(&model.types[field.ty.named()].kind)?,
        )),
        _ => None,
    });

    found.ok_or_else(|| {
        Error::internal(format!(
            "an aggregate names `{rust}`, of which there is none"
        ))
    })
}
