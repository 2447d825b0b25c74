//! Values returned by resolvers.

use std::borrow::Cow;

use super::typed::{Decoded, TypedRow};
use super::{Node, PropagatedNull, RowNode, Walk, key, typename, value};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{Leaf, PlanField, PlanKind, Selection};
use crate::graphql::resolver::{Completed, Method, Outcome};
use crate::graphql::response::Path;
use svc_core::Error;
use svc_core::exact_json::write_text;
use svc_core::scalar::{LeafError, write_float, write_integer};
use svc_core::schema::{FieldDef, FieldKind, Model, Object, Relation, Resolved, TypeIndex};

/// A value to complete: one returned by application code, or one that a statement read instead.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Found<'a> {
    /// A value returned by application code.
    Value(Resolved<'a>),
    /// Rows, a row, or a value in one.
    Stored(&'a RowNode<'a>),
    /// Rows with methods.
    Rows(&'a [TypedRow<'a>]),
    /// A row with methods.
    Row(&'a TypedRow<'a>),
}

impl<'a> Found<'a> {
    /// The number of items, if this is a list that must be walked.
    pub(super) fn items(&self) -> Option<usize> {
        match self {
            Self::Value(Resolved::List(items)) => Some(items.len()),
            Self::Rows(rows) => Some(rows.len()),
            _ => None,
        }
    }

    /// The item at `index`, which must be less than [`items`](Self::items).
    pub(super) fn item(&self, index: usize) -> Self {
        match self {
            Self::Value(Resolved::List(items)) => Self::Value(items.get(index)),
            Self::Rows(rows) => Self::Row(&rows[index]),
            Self::Value(_) | Self::Stored(_) | Self::Row(_) => *self,
        }
    }
}

impl Decoded<'_> {
    /// All rows, as a list.
    pub(crate) fn all(&self) -> Found<'_> {
        Found::Rows(self.rows())
    }

    /// The first row, or null.
    pub(crate) fn first(&self) -> Found<'_> {
        self.rows()
            .first()
            .map_or(Found::Value(Resolved::Null), Found::Row)
    }
}

impl Node for Found<'_> {
    fn is_null(&self) -> bool {
        matches!(self, Self::Value(Resolved::Null))
    }

    fn failure(&self) -> Option<&Error> {
        match self {
            Self::Value(Resolved::Failed(error)) => Some(error),
            _ => None,
        }
    }

    fn stored(&self) -> Option<&RowNode<'_>> {
        match self {
            Self::Stored(node) => Some(node),
            _ => None,
        }
    }

    fn leaf(&self, _: &Leaf, out: &mut Vec<u8>) -> Result<(), LeafError> {
        let Self::Value(value) = self else {
            return Err(LeafError("expected a scalar".to_owned()));
        };

        match value {
            Resolved::Null => out.extend_from_slice(b"null"),
            Resolved::Int(value) => write_integer(out, *value),
            Resolved::Float(value) => write_float(out, *value)?,
            Resolved::Boolean(value) => {
                out.extend_from_slice(if *value { b"true" } else { b"false" });
            }
            Resolved::Str(text) => write_text(out, text),
            Resolved::Enum(name) => {
                out.push(b'"');
                out.extend_from_slice(name.as_bytes());
                out.push(b'"');
            }
            Resolved::Scalar(scalar) => scalar.write(out).map_err(LeafError)?,
            Resolved::List(_) | Resolved::Object(_) | Resolved::Key(_) | Resolved::Failed(_) => {
                return Err(LeafError("expected a scalar".to_owned()));
            }
        }

        Ok(())
    }

    fn each(
        &self,
        mut visit: impl FnMut(usize, Self) -> Result<(), PropagatedNull>,
    ) -> Option<Result<(), PropagatedNull>> {
        let items = self.items()?;
        Some((0..items).try_for_each(|index| visit(index, self.item(index))))
    }

    fn selection<'s>(
        &self,
        cx: &ExecutionContext<'_>,
        field: &'s PlanField,
    ) -> Result<&'s Selection, String> {
        match self {
            Self::Value(Resolved::Object(object)) => selection(cx, field, *object),
            Self::Row(row) => row_selection(cx, field, row),
            _ => Err("expected an object".to_owned()),
        }
    }

    fn fields(
        &self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        let Some(instance) = Instance::of(self) else {
            return Err(PropagatedNull);
        };

        for (index, field) in selection.fields.iter().enumerate() {
            key(out, index, field);
            let path = path.key(&field.key);
            match field.kind {
                PlanKind::Stored { index, stored, .. } => match instance.node(field, stored) {
                    Some(node) => value(walk, field, &field.ty, &node, &path, out)?,
                    None => value(
                        walk,
                        field,
                        &field.ty,
                        &Found::Value(instance.field(index)),
                        &path,
                        out,
                    )?,
                },
                PlanKind::Method(Method::Sync(run), _) => {
                    match (walk.cx.call_method(field), instance.object()) {
                        (Ok(call), Ok(object)) => {
                            outcome(walk, field, run(object.as_any(), call), &path, out)?;
                        }
                        (_, Err(error)) => walk.failed(error, field, &path, out)?,
                        (Err(error), _) => walk.failed(&error, field, &path, out)?,
                    }
                }
                PlanKind::Typename => typename(out, selection),
                // The fields below it run later.
                PlanKind::Query => out.extend_from_slice(b"null"),
                PlanKind::Denied => walk.denied(field, &path, out)?,
                // `Children::wait` sends selections with such fields to the tree walk.
                PlanKind::Method(Method::Async(_) | Method::Batch(_), _)
                | PlanKind::Relation(_)
                | PlanKind::Function(..)
                | PlanKind::Part(_)
                | PlanKind::Introspection
                | PlanKind::Checked(_)
                | PlanKind::Root(..) => {
                    let error =
                        Error::internal("a field that waits was met on the path that does not");
                    walk.failed(&error, field, &path, out)?;
                }
            }
        }

        Ok(())
    }
}

/// An instance of an object type: a value from application code, or a row that may have been
/// decoded into one.
#[derive(Clone, Copy)]
pub(super) enum Instance<'a> {
    Object(&'a dyn Object),
    Row(&'a TypedRow<'a>),
}

impl<'a> Instance<'a> {
    pub(super) fn of(value: &Found<'a>) -> Option<Self> {
        match value {
            Found::Value(Resolved::Object(object)) => Some(Self::Object(*object)),
            Found::Row(row) => Some(Self::Row(row)),
            _ => None,
        }
    }

    /// Returns the selection for its type.
    pub(super) fn selection<'s>(
        self,
        cx: &ExecutionContext<'_>,
        field: &'s PlanField,
    ) -> Result<&'s Selection, String> {
        match self {
            Self::Object(object) => selection(cx, field, object),
            Self::Row(row) => row_selection(cx, field, row),
        }
    }

    /// Returns the receiver for methods, or the reason why there is none.
    pub(super) fn object(self) -> Result<&'a dyn Object, &'a Error> {
        match self {
            Self::Object(object) => Ok(object),
            Self::Row(row) => row.object(),
        }
    }

    /// Returns a stored value as a statement read it.
    pub(super) fn node(self, field: &PlanField, stored: &str) -> Option<RowNode<'a>> {
        match self {
            Self::Object(_) => None,
            Self::Row(row) => row.node(field, stored),
        }
    }

    /// Returns a stored value from the object.
    pub(super) fn field(self, index: usize) -> Resolved<'a> {
        match self.object() {
            Ok(object) => object.field(index),
            Err(error) => Resolved::Failed(error),
        }
    }

    /// Returns the `id` of its row.
    pub(super) fn id(self, model: &Model, type_index: TypeIndex) -> Option<String> {
        match self {
            // From the columns: the row has an id even if it could not be decoded into its struct.
            Self::Row(row) => row.key(&[ID]),
            Self::Object(object) => {
                let is_id = |field: &FieldDef| match field.kind {
                    FieldKind::Stored { stored: ID, index } => Some(index),
                    _ => None,
                };
                let index = model.object(type_index)?.fields.values().find_map(is_id)?;
                leaf_text(object.field(index))
            }
        }
    }

    /// Returns the key of a relation.
    pub(super) fn key(self, relation: Relation) -> Option<Cow<'a, str>> {
        match (self, self.object()) {
            (_, Ok(object)) => match object.field(relation.index) {
                Resolved::Key(key) => key.map(Cow::Borrowed),
                _ => None,
            },
            (Self::Row(row), Err(_)) => row.key(relation.from).map(Cow::Owned),
            (Self::Object(_), Err(_)) => None,
        }
    }
}

/// The column or key that identifies a row.
const ID: &str = "id";

/// Returns a scalar as text.
fn leaf_text(value: Resolved<'_>) -> Option<String> {
    match value {
        Resolved::Int(value) => Some(value.to_string()),
        Resolved::Str(text) => Some(text.to_owned()),
        Resolved::Scalar(scalar) => {
            // The id is compared as text, so the quotes of a JSON string have to go.
            let mut json = Vec::new();
            scalar.write(&mut json).ok()?;
            match serde_json::from_slice(&json).ok()? {
                serde_json::Value::Null => None,
                serde_json::Value::String(text) => Some(text),
                other => Some(other.to_string()),
            }
        }
        _ => None,
    }
}

fn row_selection<'s>(
    cx: &ExecutionContext<'_>,
    field: &'s PlanField,
    row: &TypedRow<'_>,
) -> Result<&'s Selection, String> {
    // Only a decoded object knows its Rust type; any other row has the type of its view or
    // `__typename`.
    if let Ok(object) = row.object() {
        return selection(cx, field, object);
    }

    let named = || {
        cx.model
            .type_named(&row.type_name()?)
            .map(|(index, _)| index)
    };

    let found = field
        .children
        .of(row.row())
        .or_else(|| field.children.of(named()?));

    found
        .map(AsRef::as_ref)
        .ok_or_else(|| "the row's `__typename` names no type that can stand here".to_owned())
}

/// Returns the selection for an object's type.
pub(super) fn selection<'s>(
    cx: &ExecutionContext<'_>,
    field: &'s PlanField,
    object: &dyn Object,
) -> Result<&'s Selection, String> {
    let index = cx.model.by_rust.get(&object.rust_type()).copied();
    let selection = index.and_then(|index| field.children.of(index));
    selection
        .map(AsRef::as_ref)
        .ok_or_else(|| "the value is of a type that the field cannot have".to_owned())
}

/// Completes the outcome of a synchronous method.
fn outcome(
    walk: &mut Walk<'_>,
    field: &PlanField,
    outcome: Outcome<'_>,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> Result<(), PropagatedNull> {
    match outcome {
        Ok(Completed::Value(answer)) => value(
            walk,
            field,
            &field.ty,
            &Found::Value(answer.resolve()),
            path,
            out,
        ),
        Ok(Completed::Query(_)) => {
            let error = Error::internal(format!(
                "`{}` returns a query, so it has to be an `async fn`",
                field.name
            ));
            walk.failed(&error, field, path, out)
        }
        Err(error) => walk.failed(&error, field, path, out),
    }
}
