//! Typed rows: whole rows read back into the user's structs, for computed fields. What is stored is completed from what
//! the statement read, so that a value that breaks its type fails where it is asked for, and the methods alone need all.

use super::complete::{Cells, CompletedValue, Found, RowNode, complete_value};
use super::execution_context::ExecutionContext;
use super::find::FullRows;
use super::path::Path;
use super::plan::{Calls, PlanField};
use crate::Error;
use crate::schema::{Model, Object, Output, Resolved, Shape};

/// Completes typed rows as if a resolver had returned them.
pub(super) async fn complete_typed(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    shape: Shape,
    rows: &Decoded<'_>,
    path: &Path<'_>,
) -> CompletedValue {
    match shape {
        Shape::List => complete_value(cx, field, rows.all(), path).await,
        Shape::One if rows.0.is_empty() => CompletedValue::failed(cx, &super::find::not_found(field), field, path),
        _ => complete_value(cx, field, rows.first(), path).await,
    }
}

/// Rows that were read back.
pub(super) struct Decoded<'a>(Vec<TypedRow<'a>>);

impl<'a> Decoded<'a> {
    /// Reads rows back.
    pub(super) fn new(model: &Model, whole: &'a FullRows, rows: impl Iterator<Item = Cells<'a>>) -> Self {
        let decode = model.decoders.get(&whole.row);
        let decoded = rows.map(|cells| {
            let object = match decode {
                Some(decode) => whole.object(cells.clone()).and_then(|json| Ok(decode(json)?)),
                None => Err(Error::internal("the row's type cannot be read from rows")),
            };
            TypedRow { whole, cells, object }
        });
        Self(decoded.collect())
    }

    pub(super) fn none() -> Self {
        Self(Vec::new())
    }

    pub(super) fn rows(&self) -> &[TypedRow<'a>] {
        &self.0
    }

    /// All rows, as a list.
    pub(super) fn all(&self) -> Found<'_> {
        Found::Rows(&self.0)
    }

    /// The first row, or null.
    pub(super) fn first(&self) -> Found<'_> {
        self.0.first().map_or(Found::Value(Resolved::Null), Found::Row)
    }
}

/// A row, and the user's struct that it is, or why it is none.
pub(crate) struct TypedRow<'a> {
    whole: &'a FullRows,
    cells: Cells<'a>,
    object: Result<Box<dyn Output>, Error>,
}

impl TypedRow<'_> {
    /// The struct.
    pub(crate) fn object(&self) -> Result<&dyn Object, &Error> {
        match self.object.as_ref()?.resolve() {
            Resolved::Object(object) => Ok(object),
            Resolved::Failed(error) => Err(error),
            // The decoders are those of types with rows.
            _ => Err(&self.whole.no_object),
        }
    }

    /// The name of the row's type, where rows have several.
    pub(crate) fn type_name(&self) -> Option<String> {
        self.whole.text(&self.cells, "__typename")
    }

    /// The type of the rows.
    pub(crate) fn row(&self) -> crate::schema::TypeIndex {
        self.whole.row
    }

    /// A stored value as the statement read it; `None` where the struct has to tell, as for members of an interface and
    /// for objects whose methods are called.
    pub(crate) fn node(&self, field: &PlanField, stored: &str) -> Option<RowNode<'_>> {
        let is_plain = !self.whole.is_abstract && field.children.waits() == Calls::None;
        is_plain.then(|| self.whole.node(&self.cells, stored)).flatten()
    }

    /// The key of a relation.
    pub(crate) fn key(&self, from: &str) -> Option<String> {
        self.whole.text(&self.cells, from)
    }
}

impl std::fmt::Debug for TypedRow<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TypedRow").field("cells", &self.cells).finish_non_exhaustive()
    }
}
