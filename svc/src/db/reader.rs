use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, AssertSqlSafe, PgConnection};

use super::{Database, DbError, Param, Rows, Session, Statement};

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
                match query.fetch_all(connection).await {
                    Ok(rows) => Ok(Rows::Transaction(rows)),
                    Err(error) => Err(database.error_of(statement, error.into()).await),
                }
            }
        }
    }
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
