//! The answers of root fields, joined in the body.

use crate::engine::complete::{CompletedValue, join_after, key};
use crate::engine::plan::PlanField;
use crate::engine::response::Response;

/// About how long a response key is, with what stands around it.
const KEY: usize = 32;

/// The answer of a single root field, in the body.
pub(super) fn only(field: &PlanField, value: CompletedValue) -> CompletedValue {
    let mut head = Response::begin(KEY);
    head.push(b'{');
    key(&mut head, 0, field);
    value.between(&head, b'}')
}

/// The answers of root fields, in the body.
pub(super) fn joined(fields: &[PlanField], mut completed: Vec<CompletedValue>) -> CompletedValue {
    if let (1, [field]) = (completed.len(), fields) {
        return only(field, completed.remove(0));
    }
    let write = |out: &mut Vec<u8>, index: usize, bytes: &[u8]| {
        key(out, index, &fields[index]);
        out.extend_from_slice(bytes);
    };
    let size = completed.iter().flat_map(|value| &value.bytes).map(|bytes| bytes.len() + KEY).sum();
    join_after(Response::begin(size), completed, write, *b"{}")
}
