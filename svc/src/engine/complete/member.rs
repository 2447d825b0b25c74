//! A member of a mutation's result whose entity could not be read: what is known is answered all the same.

use super::json::Json;
use super::{Node, PropagatedNull, Walk, key, typename, value};
use crate::Error;
use crate::engine::execution_context::ExecutionContext;
use crate::engine::path::Path;
use crate::engine::plan::{Leaf, PlanField, PlanKind, Selection};
use crate::scalar::LeafError;

/// The entity of a result that could not be read.
#[derive(Debug)]
pub(crate) struct Unread {
    /// The name of its field.
    pub(crate) field: String,
    pub(crate) error: Error,
}

struct Member<'a> {
    json: Json<'a>,
    unread: &'a Unread,
}

/// Completes a field whose value is such a member.
pub(crate) fn write_member(
    walk: &mut Walk<'_>,
    field: &PlanField,
    json: &str,
    unread: &Unread,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> Result<(), PropagatedNull> {
    value(walk, field, &field.ty, &Member { json: Json::new(json.as_bytes()), unread }, path, out)
}

impl Node for Member<'_> {
    fn is_null(&self) -> bool {
        self.json.is_null()
    }

    fn leaf(&self, leaf: &Leaf, out: &mut Vec<u8>) -> Result<(), LeafError> {
        self.json.leaf(leaf, out)
    }

    fn each(&self, _: impl FnMut(usize, Self) -> Result<(), PropagatedNull>) -> Option<Result<(), PropagatedNull>> {
        None
    }

    fn selection<'s>(&self, cx: &ExecutionContext<'_>, field: &'s PlanField) -> Result<&'s Selection, String> {
        self.json.selection(cx, field)
    }

    fn fields(
        &self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        let slots = self.json.slots(&selection.keys);
        for (index, field) in selection.fields.iter().enumerate() {
            key(out, index, field);
            let path = path.key(&field.key);
            match field.kind {
                PlanKind::Typename => typename(out, selection),
                PlanKind::Stored { .. } if field.name == self.unread.field => {
                    walk.failed(&self.unread.error, field, &path, out)?;
                }
                PlanKind::Stored { .. } => {
                    let slot = selection.keys.of_field(index).and_then(|at| slots.get(at).copied());
                    value(walk, field, &field.ty, &slot.unwrap_or(Json::NULL), &path, out)?;
                }
                // A method gets the whole member.
                _ => walk.failed(&Error::internal("the member has no entity"), field, &path, out)?,
            }
        }
        Ok(())
    }
}
