use sqlx::postgres::{PgArguments, PgColumn};
use sqlx::{Arguments as _, AssertSqlSafe, Column as _, PgConnection, Row as _};

use super::{Database, DbError, Oid, Param, Rows, Session, Statement};

/// Where a statement of the repository runs.
pub(crate) enum Reader<'a> {
    /// On a connection of the pool, with the session variables of the request.
    Pool(&'a Database, &'a Session),
    /// In a transaction, which has them already.
    Transaction(&'a Database, &'a mut PgConnection),
}

impl Reader<'_> {
    pub(crate) async fn fetch(self, statement: &Statement) -> Result<Rows, DbError> {
        match self {
            Self::Pool(database, session) => database.fetch(session, statement).await,
            Self::Transaction(database, connection) => {
                let query = sqlx::query_with(AssertSqlSafe(&*statement.text), arguments(statement)?);
                let rows = match query.fetch_all(connection).await {
                    Ok(rows) => rows,
                    Err(error) => return Err(database.error_of(statement, error.into()).await),
                };
                let fits = rows.first().is_none_or(|row| statement.text.fits(row.columns().iter().map(oid)));
                if fits { Ok(Rows::Transaction(rows)) } else { Err(DbError::Changed) }
            }
        }
    }
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
