//! Joins the values of root fields in the response body.

use super::size::AnswerSize;
use crate::graphql::complete::{CompletedValue, join_after, key};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::PlanField;
use crate::graphql::response::{BEGIN, FieldError, Response};

/// The approximate length of a response key with its punctuation.
const KEY: usize = 32;

/// The value of a single root field, in the response body.
pub(in crate::graphql) fn only(field: &PlanField, value: CompletedValue) -> CompletedValue {
    value.between([BEGIN, b"{", field.first_prefix()], b'}')
}

/// The values of root fields, in the response body, and the errors that follow a null that ends the
/// response, which are withheld from clients.
pub(super) fn joined(
    cx: &ExecutionContext<'_>,
    fields: &[PlanField],
    completed: Vec<CompletedValue>,
) -> (CompletedValue, Vec<FieldError>) {
    let mut size = AnswerSize::default();
    let mut completed: Vec<_> = fields
        .iter()
        .zip(completed)
        .map(|(field, value)| size.fit(cx, field, value))
        .collect();

    if let (1, [field]) = (completed.len(), fields) {
        return (only(field, completed.remove(0)), Vec::new());
    }

    let withheld = withheld(&mut completed);
    let write = |out: &mut Vec<u8>, index: usize, bytes: &[u8]| {
        key(out, index, &fields[index]);
        out.extend_from_slice(bytes);
    };

    let size = completed
        .iter()
        .flat_map(|value| &value.bytes)
        .map(|bytes| bytes.len() + KEY)
        .sum();

    (
        join_after(Response::begin(size), completed, write, *b"{}"),
        withheld,
    )
}

/// Takes out the errors that follow the first value that propagates null.
pub(super) fn withheld(completed: &mut [CompletedValue]) -> Vec<FieldError> {
    let shown = completed
        .iter()
        .position(|value| value.bytes.is_err())
        .map_or(completed.len(), |null| null + 1);

    completed[shown..]
        .iter_mut()
        .flat_map(|value| std::mem::take(&mut value.errors))
        .collect()
}
