//! Values of resolvers.

use super::{Node, Nulled, RowNode, Walk, key, typename, value};
use crate::Error;
use crate::engine::call::{Completed, Outcome};
use crate::engine::env::Env;
use crate::engine::path::Path;
use crate::engine::plan::{Leaf, PlanField, PlanKind, Selection};
use crate::scalar::{LeafError, write_float, write_integer, write_text};
use crate::schema::{Method, Object, Resolved};

impl<'v> Node for Resolved<'v> {
    fn is_null(&self) -> bool {
        matches!(self, Resolved::Null)
    }

    fn failure(&self) -> Option<&Error> {
        match self {
            Resolved::Failed(error) => Some(error),
            _ => None,
        }
    }

    fn stored(&self) -> Option<&RowNode<'_>> {
        match self {
            Resolved::Row(stored) => Some(stored.0),
            _ => None,
        }
    }

    fn leaf(&self, _: &Leaf, out: &mut Vec<u8>) -> Result<(), LeafError> {
        match self {
            Resolved::Null => out.extend_from_slice(b"null"),
            Resolved::Int(value) => write_integer(out, *value),
            Resolved::Float(value) => write_float(out, *value)?,
            Resolved::Boolean(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Resolved::Str(text) => write_text(out, text),
            Resolved::Enum(name) => {
                out.push(b'"');
                out.extend_from_slice(name.as_bytes());
                out.push(b'"');
            }
            Resolved::Scalar(scalar) => scalar.write(out).map_err(LeafError)?,
            Resolved::List(_) | Resolved::Object(_) | Resolved::Key(_) | Resolved::Row(_) | Resolved::Failed(_) => {
                return Err(LeafError("expected a scalar".to_owned()));
            }
        }
        Ok(())
    }

    fn each(&self, mut visit: impl FnMut(usize, Self) -> Result<(), Nulled>) -> Option<Result<(), Nulled>> {
        let Resolved::List(items) = self else { return None };
        Some((0..items.len()).try_for_each(|index| visit(index, items.get(index))))
    }

    fn selection<'s>(&self, env: &Env<'_>, field: &'s PlanField) -> Result<&'s Selection, String> {
        let Resolved::Object(object) = self else { return Err("expected an object".to_owned()) };
        selection(env, field, *object)
    }

    fn fields(
        &self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Nulled> {
        let Resolved::Object(object) = self else { return Err(Nulled) };
        for (index, field) in selection.fields.iter().enumerate() {
            key(out, index, field);
            let path = path.key(&field.key);
            match field.kind {
                PlanKind::Stored { index, .. } => value(walk, field, &field.ty, &object.field(index), &path, out)?,
                PlanKind::Method(Method::Sync(run)) => match walk.env.call(field) {
                    Ok(call) => outcome(walk, field, run(object.as_any(), call), &path, out)?,
                    Err(error) => walk.failed(&error, field, &path, out)?,
                },
                PlanKind::Typename => typename(out, selection),
                PlanKind::Method(Method::Async(_))
                | PlanKind::Relation(_)
                | PlanKind::Part(_)
                | PlanKind::Introspection
                | PlanKind::Root(..) => {
                    let error = Error::internal("a field that waits was met on the path that does not");
                    walk.failed(&error, field, &path, out)?;
                }
            }
        }
        Ok(())
    }
}

/// The selection for an object's type.
pub(super) fn selection<'s>(env: &Env<'_>, field: &'s PlanField, object: &dyn Object) -> Result<&'s Selection, String> {
    let index = env.model.by_rust.get(&object.rust_type()).copied();
    let selection = index.and_then(|index| field.children.of(index));
    selection.map(AsRef::as_ref).ok_or_else(|| "the value is of a type that the field cannot have".to_owned())
}

/// Completes what a plain method gave back.
fn outcome(
    walk: &mut Walk<'_>,
    field: &PlanField,
    outcome: Outcome<'_>,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Nulled> {
    match outcome {
        Ok(Completed::Value(answer)) => value(walk, field, &field.ty, &answer.resolve(), path, out),
        Ok(Completed::Find(_) | Completed::Connection(_) | Completed::Aggregate(_)) => {
            let error = Error::internal(format!("`{}` returns a query, so it has to be an `async fn`", field.name));
            walk.failed(&error, field, path, out)
        }
        Err(error) => walk.failed(&error, field, path, out),
    }
}
