//! Full rows: all stored fields, for the user's structs.

use super::columns::Columns;
use crate::Error;
use crate::engine::complete::{Cells, RowColumn, RowNode, RowSource};
use crate::engine::plan::{Leaf, OutType};
use crate::json::{ExactJson, Fields};
use crate::postgres::{Catalogue, DbError};
use crate::scalar::LeafError;
use crate::schema::{FieldKind, Model, TypeExpr, TypeIndex, TypeKind, key_text};
use crate::sql::{ColumnForm, Selected};

/// Where the stored fields of a row come from.
pub(crate) struct FullRows {
    /// The type of the rows.
    pub(crate) row: TypeIndex,
    /// Whether it is an interface or a union.
    pub(crate) is_abstract: bool,
    /// The error of a row that is none of its type.
    pub(crate) no_object: Error,
    fields: Vec<(&'static str, Option<OutType>, RowSource)>,
    data: Option<(usize, ColumnForm)>,
}

impl FullRows {
    /// What is read of each row, and how it becomes an object.
    pub(super) fn new(model: &Model, catalogue: &Catalogue, row: TypeIndex) -> Result<(Vec<Selected>, Self), DbError> {
        let mut columns = Columns::new(model, catalogue, row)?;
        let is_abstract = matches!(model.types[row].kind, TypeKind::Abstract(_));
        let mut fields = Vec::new();
        if is_abstract {
            fields.push(("__typename", None, columns.stored("__typename", None)?));
        }
        for (stored, ty) in stored_fields(model, row) {
            // A member of an interface may store what the others do not.
            let source = match columns.stored(stored, ty.as_ref()) {
                Err(_) if is_abstract => RowSource::Nothing,
                Err(DbError::NoSource { source_name, field: key }) if ty.is_none() => {
                    return Err(DbError::NoKey { source_name, key, end: "from" });
                }
                source => source?,
            };
            fields.push((stored, ty, source));
        }
        let (list, data) = columns.finish();
        let no_object = Error::internal("a row is not an object of its type");
        Ok((list, Self { row, is_abstract, no_object, fields, data }))
    }

    /// A stored value as it was read.
    pub(crate) fn node<'a>(&'a self, cells: &Cells<'a>, stored: &str) -> Option<RowNode<'a>> {
        let (.., source) = self.fields.iter().find(|(known, ..)| *known == stored)?;
        Some(RowColumn { cells: cells.clone(), data: self.data }.node(stored, source))
    }

    /// A stored value that is a text or a number, as text.
    pub(crate) fn text(&self, cells: &Cells<'_>, stored: &str) -> Option<String> {
        let (_, ty, source) = self.fields.iter().find(|(known, ..)| *known == stored)?;
        let cells = RowColumn { cells: cells.clone(), data: self.data };
        key_text(&cells.value(stored, source, ty.as_ref()).ok()?)
    }

    /// A row as a JSON object with the stored names as keys.
    pub(crate) fn object(&self, cells: Cells<'_>) -> Result<ExactJson, Error> {
        let cells = RowColumn { cells, data: self.data };
        let mut object = Fields::with_capacity(self.fields.len());
        for (stored, ty, source) in &self.fields {
            let failed = |error: LeafError| Error::internal(format!("a row cannot be read: {stored}: {}", error.0));
            object.insert((*stored).to_owned(), cells.value(stored, source, ty.as_ref()).map_err(failed)?);
        }
        Ok(ExactJson::Object(object))
    }
}

/// The stored names and types of all fields of the rows, each name once; the keys of relations have no type.
fn stored_fields(model: &Model, row: TypeIndex) -> Vec<(&'static str, Option<OutType>)> {
    let objects = || model.possible_types(row).iter().filter_map(|index| model.object(*index));
    let fields = || objects().flat_map(|object| object.fields.values());
    let mut stored: Vec<(&'static str, Option<OutType>)> = Vec::new();
    for field in fields() {
        if let FieldKind::Stored { stored: name, .. } = field.kind
            && !stored.iter().any(|(known, _)| *known == name)
        {
            stored.push((name, Some(out_type(model, &field.ty))));
        }
    }
    for field in fields() {
        if let FieldKind::Relation(relation) = field.kind
            && !stored.iter().any(|(known, _)| *known == relation.from)
        {
            stored.push((relation.from, None));
        }
    }
    stored
}

fn out_type(model: &Model, ty: &TypeExpr) -> OutType {
    match ty {
        TypeExpr::NonNull(inner) => out_type(model, inner),
        TypeExpr::List(inner) => OutType::List(Box::new(out_type(model, inner))),
        TypeExpr::Named(index) => match &model.types[*index].kind {
            TypeKind::Scalar { kind, .. } => OutType::Leaf(Leaf::Scalar(*kind)),
            TypeKind::Enum(def) => OutType::Leaf(Leaf::Enum(def.values.clone())),
            _ => OutType::Composite,
        },
    }
}
