//! The values that functions of aggregates compute.

use crate::Error;
use crate::schema::{AggregateFunction, FieldKind, Model, ScalarKind, TypeIndex};
use crate::sql::Column;

/// The column of the field with a Rust name, and the scalar of what a function computes of it.
pub(super) fn of_function(
    model: &Model,
    row: TypeIndex,
    function: AggregateFunction,
    rust: &str,
) -> Result<(Column, ScalarKind), Error> {
    let object = model.possible_types(row).first().and_then(|index| model.object(*index));
    let field = object.and_then(|object| object.fields.values().find(|field| field.rust == rust));
    let found = field.and_then(|field| match field.kind {
        FieldKind::Stored { stored, .. } => {
            Some((Column::of(stored), function.result(&model.types[field.ty.named()].kind)?))
        }
        _ => None,
    });
    found.ok_or_else(|| Error::internal(format!("an aggregate names `{rust}`, of which there is none")))
}
