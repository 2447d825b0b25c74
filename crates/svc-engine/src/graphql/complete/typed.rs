//! Typed rows: whole rows decoded into the user's structs, for computed fields. Stored fields are
//! completed from the values that the statement read, so that a value that does not match its type
//! fails only its own field, and only methods need the complete row.

use super::{Cells, FullRows, RowNode};
use crate::graphql::plan::{Calls, PlanField};
use svc_core::Error;
use svc_core::schema::{KeyNames, Model, Object, Output, Resolved, joined};

/// Rows decoded into the user's structs.
pub(crate) struct Decoded<'a>(Vec<TypedRow<'a>>);

impl<'a> Decoded<'a> {
    /// Decodes rows.
    pub(crate) fn new(
        model: &Model,
        whole: &'a FullRows,
        rows: impl Iterator<Item = Cells<'a>>,
    ) -> Self {
        let decode = model.decoders.get(&whole.row);
        let decoded = rows.map(|cells| {
            let object = match decode {
                Some(decode) => whole
                    .object(cells.clone())
                    .and_then(|json| Ok(decode(json)?)),
                None => Err(Error::internal("the row's type cannot be read from rows")),
            };

            TypedRow {
                whole,
                cells,
                object,
            }
        });

        Self(decoded.collect())
    }

    pub(crate) fn none() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn rows(&self) -> &[TypedRow<'a>] {
        &self.0
    }
}

/// A row, and the user's struct decoded from it, or the error if it could not be decoded.
pub(crate) struct TypedRow<'a> {
    whole: &'a FullRows,
    cells: Cells<'a>,
    object: Result<Box<dyn Output>, Error>,
}

impl TypedRow<'_> {
    /// Returns the struct.
    pub(crate) fn object(&self) -> Result<&dyn Object, &Error> {
        match self.object.as_ref()?.resolve() {
            Resolved::Object(object) => Ok(object),
            Resolved::Failed(error) => Err(error),
            // Decoders exist only for types with rows.
            _ => Err(&self.whole.no_object),
        }
    }

    /// The name of the row's type, if rows can have several types.
    pub(crate) fn type_name(&self) -> Option<String> {
        self.whole.text(&self.cells, "__typename")
    }

    /// The type of the rows.
    pub(crate) fn row(&self) -> svc_core::schema::TypeIndex {
        self.whole.row
    }

    /// Returns a stored value as the statement read it. `None` if the struct must provide it, as
    /// for members of an interface and for objects with selected methods.
    pub(crate) fn node(&self, field: &PlanField, stored: &str) -> Option<RowNode<'_>> {
        let is_plain = !self.whole.is_abstract && field.children.waits() == Calls::None;
        is_plain
            .then(|| self.whole.node(&self.cells, stored))
            .flatten()
    }

    /// Returns the key of a relation.
    pub(crate) fn key(&self, from: KeyNames) -> Option<String> {
        joined(from.iter().map(|from| self.whole.text(&self.cells, from)))
    }
}

impl std::fmt::Debug for TypedRow<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TypedRow")
            .field("cells", &self.cells)
            .finish_non_exhaustive()
    }
}
