//! Full rows: all stored fields, for the user's structs.

use super::{Cells, RowColumn, RowNode, RowSource};
use crate::graphql::plan::OutType;
use crate::sql::ColumnForm;
use svc_core::Error;
use svc_core::exact_json::{ExactJson, Fields};
use svc_core::scalar::LeafError;
use svc_core::schema::{TypeIndex, key_text};

/// The sources of all stored fields of a row.
pub(crate) struct FullRows {
    /// The type of the rows.
    pub(crate) row: TypeIndex,
    /// Whether the type is an interface or a union.
    pub(crate) is_abstract: bool,
    /// The error for a row that does not resolve to an object.
    pub(crate) no_object: Error,
    pub(crate) fields: Vec<(&'static str, Option<OutType>, RowSource)>,
    pub(crate) data: Option<(usize, ColumnForm)>,
}

impl FullRows {
    /// Returns a stored value as it was read.
    pub(crate) fn node<'a>(&'a self, cells: &Cells<'a>, stored: &str) -> Option<RowNode<'a>> {
        let (.., source) = self.fields.iter().find(|(known, ..)| *known == stored)?;
        Some(
            RowColumn {
                cells: cells.clone(),
                data: self.data,
            }
            .node(stored, source),
        )
    }

    /// Returns a stored string or number as text.
    pub(crate) fn text(&self, cells: &Cells<'_>, stored: &str) -> Option<String> {
        let (_, ty, source) = self.fields.iter().find(|(known, ..)| *known == stored)?;
        let cells = RowColumn {
            cells: cells.clone(),
            data: self.data,
        };
        key_text(&cells.value(stored, source, ty.as_ref()).ok()?)
    }

    /// Returns a row as a JSON object with the stored names as keys.
    pub(crate) fn object(&self, cells: Cells<'_>) -> Result<ExactJson, Error> {
        let (object, errors) = self.partial(cells);
        let Some((stored, error)) = errors.first() else {
            return Ok(object);
        };

        let id = object
            .get("id")
            .and_then(key_text)
            .map_or_else(String::new, |id| format!(" with the id {id}"));

        Err(Error::internal(format!(
            "a row{id} cannot be read: {stored}: {}",
            error.0
        )))
    }

    /// Returns the readable values of a row, and the errors of the values that do not match their
    /// types.
    pub(crate) fn partial(&self, cells: Cells<'_>) -> (ExactJson, Vec<(&'static str, LeafError)>) {
        let cells = RowColumn {
            cells,
            data: self.data,
        };

        let (mut object, mut errors) = (Fields::with_capacity(self.fields.len()), Vec::new());
        for (stored, ty, source) in &self.fields {
            match cells.value(stored, source, ty.as_ref()) {
                Ok(value) => object.insert((*stored).to_owned(), value),
                Err(error) => errors.push((*stored, error)),
            }
        }

        (ExactJson::Object(object), errors)
    }
}
