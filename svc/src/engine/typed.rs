//! Typed rows: whole rows read back into the user's structs, for resolvers and for computed fields.

use super::complete::{Piece, RowColumn, RowSource, complete_value};
use super::env::Env;
use super::path::Path;
use super::plan::{Leaf, OutType, PlanField};
use crate::db::{ColumnForm, Rows};
use crate::schema::{FieldKind, Model, Output, Shape, TypeExpr, TypeIndex, TypeKind};

/// The stored names and types of all fields of the rows, each name once.
pub(super) fn stored_fields(model: &Model, row: TypeIndex) -> Vec<(&'static str, OutType)> {
    let mut fields: Vec<(&'static str, OutType)> = Vec::new();
    for index in model.possible_types(row) {
        for field in model.object(*index).into_iter().flat_map(|object| object.fields.values()) {
            if let FieldKind::Stored { stored, .. } = field.kind
                && !fields.iter().any(|(known, _)| *known == stored)
            {
                fields.push((stored, out_type(model, &field.ty)));
            }
        }
    }
    fields
}

fn out_type(model: &Model, ty: &TypeExpr) -> OutType {
    match ty {
        TypeExpr::NonNull(inner) => out_type(model, inner),
        TypeExpr::List(inner) => OutType::List(Box::new(out_type(model, inner))),
        TypeExpr::Named(index) => match &model.types[*index].kind {
            TypeKind::Scalar { kind, .. } => OutType::Leaf(Leaf::Scalar(*kind)),
            TypeKind::Enum(def) => OutType::Leaf(Leaf::Enum(def.values.clone().into())),
            _ => OutType::Composite,
        },
    }
}

/// Rows as JSON objects.
pub(super) fn objects(
    rows: &Rows,
    fields: &[(&'static str, OutType)],
    sources: &[RowSource],
    type_name: Option<RowSource>,
    data: Option<(usize, ColumnForm)>,
) -> Vec<serde_json::Value> {
    let object = |row| {
        let cells = RowColumn { rows, row, data };
        let mut object = serde_json::Map::with_capacity(fields.len() + 1);
        if let Some(source) = type_name {
            object.insert("__typename".to_owned(), cells.value("__typename", source, None));
        }
        for ((stored, ty), source) in fields.iter().zip(sources) {
            object.insert((*stored).to_owned(), cells.value(stored, *source, Some(ty)));
        }
        serde_json::Value::Object(object)
    };
    (0..rows.len()).map(object).collect()
}

/// Completes typed rows as if a resolver had returned them.
pub(super) async fn complete_typed(
    env: &Env<'_>,
    field: &PlanField,
    row: TypeIndex,
    shape: Shape,
    rows: Vec<serde_json::Value>,
    path: &Path<'_>,
) -> Piece {
    let decode = env.model.decoders.get(&row);
    let decoded = rows.into_iter().map(|value| match decode {
        Some(decode) => decode(value).map_err(crate::Error::from),
        None => Err(crate::Error::internal("the row's type cannot be read from rows")),
    });
    let rows: Vec<Box<dyn Output>> = match decoded.collect() {
        Ok(rows) => rows,
        Err(error) => return Piece::failed(env, &error, field, path),
    };
    match shape {
        Shape::List => complete_value(env, field, crate::schema::Resolved::List(&Decoded(rows)), path).await,
        Shape::Optional | Shape::One => match rows.first() {
            Some(row) => complete_value(env, field, row.resolve(), path).await,
            None if shape == Shape::One => Piece::failed(env, &super::find::not_found(field), field, path),
            None => complete_value(env, field, crate::schema::Resolved::Null, path).await,
        },
    }
}

struct Decoded(Vec<Box<dyn Output>>);

impl crate::schema::Items for Decoded {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn get(&self, index: usize) -> crate::schema::Resolved<'_> {
        self.0[index].resolve()
    }
}
