//! Typed rows: whole rows read back into the user's structs, for computed fields.

use super::complete::{Piece, complete_value};
use super::env::Env;
use super::path::Path;
use super::plan::PlanField;
use crate::Error;
use crate::json::ExactJson;
use crate::schema::{Items, Model, Output, Resolved, Shape, TypeIndex};

/// Completes typed rows as if a resolver had returned them.
pub(super) async fn complete_typed(
    env: &Env<'_>,
    field: &PlanField,
    row: TypeIndex,
    shape: Shape,
    rows: Vec<Result<ExactJson, Error>>,
    path: &Path<'_>,
) -> Piece {
    let rows = Decoded::new(env.model, row, rows);
    match shape {
        Shape::List => complete_value(env, field, Resolved::List(&rows), path).await,
        Shape::One if rows.is_empty() => Piece::failed(env, &super::find::not_found(field), field, path),
        Shape::Optional if rows.is_empty() => complete_value(env, field, Resolved::Null, path).await,
        _ => complete_value(env, field, rows.get(0), path).await,
    }
}

/// Rows that were read back, or why one could not be.
pub(super) struct Decoded(Vec<Result<Box<dyn Output>, Error>>);

impl Decoded {
    /// Reads rows of type `row` back from their JSON.
    pub(super) fn new(model: &Model, row: TypeIndex, rows: Vec<Result<ExactJson, Error>>) -> Self {
        let decode = model.decoders.get(&row);
        let decoded = rows.into_iter().map(|row| match decode {
            Some(decode) => Ok(decode(row?)?),
            None => Err(Error::internal("the row's type cannot be read from rows")),
        });
        Self(decoded.collect())
    }
}

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
