//! JSON from the SQL of a registered operation: stored documents, with related rows under their
//! response keys.

use super::json::Json;
use super::{Node, PropagatedNull, Walk, key, typename, value};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{Leaf, PlanField, PlanKind, Selection};
use crate::graphql::response::Path;
use svc_core::scalar::LeafError;

/// One value in this JSON.
struct Answer<'a>(Json<'a>);

/// Completes a field whose value is such JSON.
pub(crate) fn write_answer(
    walk: &mut Walk<'_>,
    field: &PlanField,
    json: &[u8],
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> Result<(), PropagatedNull> {
    value(walk, field, &field.ty, &Answer(Json::new(json)), path, out)
}

impl Node for Answer<'_> {
    fn is_null(&self) -> bool {
        self.0.is_null()
    }

    fn leaf(&self, leaf: &Leaf, out: &mut Vec<u8>) -> Result<(), LeafError> {
        self.0.leaf(leaf, out)
    }

    fn each(
        &self,
        mut visit: impl FnMut(usize, Self) -> Result<(), PropagatedNull>,
    ) -> Option<Result<(), PropagatedNull>> {
        self.0.each(|index, item| visit(index, Self(item)))
    }

    fn selection<'s>(
        &self,
        cx: &ExecutionContext<'_>,
        field: &'s PlanField,
    ) -> Result<&'s Selection, String> {
        self.0.selection(cx, field)
    }

    fn fields(
        &self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        let slots = self.0.slots(&selection.keys);
        for (index, field) in selection.fields.iter().enumerate() {
            key(out, index, field);
            let json = match field.kind {
                PlanKind::Typename => {
                    typename(out, selection);
                    continue;
                }
                // The same rows may be selected several times with different arguments, so they are
                // found by response key.
                PlanKind::Relation(_) | PlanKind::Part(_) | PlanKind::Function(..) => {
                    self.0.get(&field.key).unwrap_or(Json::NULL)
                }
                _ => selection
                    .keys
                    .of_field(index)
                    .and_then(|at| slots.get(at).copied())
                    .unwrap_or(Json::NULL),
            };

            value(
                walk,
                field,
                &field.ty,
                &Self(json),
                &path.key(&field.key),
                out,
            )?;
        }

        Ok(())
    }
}
