//! The values of statements, for sqlx.

use sqlx::Arguments as _;
use sqlx::postgres::PgArguments;

use crate::{Param, Statement};

/// The values of a statement, for sqlx.
pub(crate) fn arguments(statement: &Statement) -> Result<PgArguments, sqlx::Error> {
    let mut arguments = PgArguments::default();
    for param in &statement.params {
        match param {
            Param::Text(text) | Param::Pattern(_, text) | Param::CursorKey(text) => {
                arguments.add(text)
            }
            Param::Texts(texts) => arguments.add(texts),
            Param::Int(value) => arguments.add(value),
            Param::Variable(value) => arguments.add(value.to_string()),
        }
        .map_err(sqlx::Error::Encode)?;
    }

    Ok(arguments)
}
