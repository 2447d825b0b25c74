//! Planned rows with selected methods.

use crate::graphql::complete::{CompletedValue, Decoded, complete_value};
use crate::graphql::context::ExecutionContext;
use crate::graphql::find::not_found;
use crate::graphql::plan::PlanField;
use crate::graphql::response::Path;
use svc_core::schema::Shape;

/// Completes typed rows as if a resolver had returned them.
pub(in crate::graphql::find) async fn complete_typed(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    shape: Shape,
    rows: &Decoded<'_>,
    path: &Path<'_>,
) -> CompletedValue {
    match shape {
        Shape::List => complete_value(cx, field, rows.all(), path).await,
        Shape::One if rows.rows().is_empty() => {
            CompletedValue::failed(cx, &not_found(field), field, path)
        }
        _ => complete_value(cx, field, rows.first(), path).await,
    }
}
