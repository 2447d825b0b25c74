//! Statements of the repository in a transaction of sqlx.

use sqlx::postgres::{PgArguments, PgColumn};
use sqlx::{Arguments as _, AssertSqlSafe, Column as _, PgConnection, Row as _};

use crate::postgres::{Database, DbError, Oid, Param, Rows, Statement};

/// The rows of a statement.
pub(in crate::postgres) async fn fetch(
    database: &Database,
    connection: &mut PgConnection,
    statement: &Statement,
) -> Result<Rows, DbError> {
    // Clients shape it with their filters, and sqlx bounds what it keeps prepared by number, not by size.
    let query = sqlx::query_with(AssertSqlSafe(&*statement.text), arguments(statement)?).persistent(false);
    let rows = match query.fetch_all(connection).await {
        Ok(rows) => rows,
        Err(error) => return Err(database.error_of(statement, error.into()).await),
    };
    let fits = rows.first().is_none_or(|row| statement.text.fits(row.columns().iter().map(oid)));
    if fits { Ok(Rows::Sqlx(rows)) } else { Err(DbError::Changed) }
}

/// The type of a column.
fn oid(column: &PgColumn) -> Oid {
    column.type_info().oid().map_or(0, |oid| oid.0)
}

/// The values of a statement, for sqlx.
pub(super) fn arguments(statement: &Statement) -> Result<PgArguments, sqlx::Error> {
    let mut arguments = PgArguments::default();
    for param in &statement.params {
        match param {
            Param::Text(text) | Param::Pattern(_, text) => arguments.add(text),
            Param::Texts(texts) => arguments.add(texts),
            Param::Int(value) => arguments.add(value),
            Param::Variable(value) => arguments.add(value.to_string()),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}
