//! Typed rows: whole rows read back into the user's structs, for resolvers and for computed fields.

use serde_json::{Map, Value};

use super::complete::{Piece, RowColumn, RowSource, complete_value};
use super::env::Env;
use super::path::Path;
use super::plan::{Leaf, OutType, PlanField};
use crate::Error;
use crate::db::{ColumnForm, Rows};
use crate::scalar::LeafError;
use crate::schema::{FieldKind, Items, Model, Output, Resolved, Shape, TypeExpr, TypeIndex, TypeKind};

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

/// Rows as JSON objects; a row that breaks its type fails alone.
pub(super) fn objects(
    rows: &Rows,
    fields: &[(&'static str, OutType)],
    sources: &[RowSource],
    type_name: Option<RowSource>,
    data: Option<(usize, ColumnForm)>,
) -> Vec<Result<Value, Error>> {
    let object = |row| {
        let cells = RowColumn { rows, row, data };
        let mut object = Map::with_capacity(fields.len() + 1);
        let typed = type_name.map(|source| ("__typename", source, None));
        let stored = fields.iter().zip(sources).map(|((stored, ty), source)| (*stored, *source, Some(ty)));
        for (stored, source, ty) in typed.into_iter().chain(stored) {
            let failed = |error: LeafError| Error::internal(format!("a row cannot be read: {stored}: {}", error.0));
            object.insert(stored.to_owned(), cells.value(stored, source, ty).map_err(failed)?);
        }
        Ok(Value::Object(object))
    };
    (0..rows.len()).map(object).collect()
}

/// Completes typed rows as if a resolver had returned them.
pub(super) async fn complete_typed(
    env: &Env<'_>,
    field: &PlanField,
    row: TypeIndex,
    shape: Shape,
    rows: Vec<Result<Value, Error>>,
    path: &Path<'_>,
) -> Piece {
    let decode = env.model.decoders.get(&row);
    let decoded = rows.into_iter().map(|row| match decode {
        Some(decode) => Ok(decode(row?)?),
        None => Err(Error::internal("the row's type cannot be read from rows")),
    });
    let rows = Decoded(decoded.collect());
    match shape {
        Shape::List => complete_value(env, field, Resolved::List(&rows), path).await,
        Shape::One if rows.is_empty() => Piece::failed(env, &super::find::not_found(field), field, path),
        Shape::Optional if rows.is_empty() => complete_value(env, field, Resolved::Null, path).await,
        Shape::Optional | Shape::One => complete_value(env, field, rows.get(0), path).await,
    }
}

/// Rows that were read back, or why one could not be.
struct Decoded(Vec<Result<Box<dyn Output>, Error>>);

impl Items for Decoded {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn get(&self, index: usize) -> Resolved<'_> {
        match &self.0[index] {
            Ok(row) => row.resolve(),
            Err(error) => Resolved::Failed(error),
        }
    }
}
