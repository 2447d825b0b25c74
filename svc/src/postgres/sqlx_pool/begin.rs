//! The begin and the end of transactions of sqlx.

use sqlx::{AssertSqlSafe, PgPool, Postgres, Transaction};

use super::statement::arguments;
use super::{is_refused, untested, within};
use crate::postgres::{Database, DbError, Session};

impl Database {
    /// The pool of sqlx.
    pub(crate) fn sqlx_pool(&self) -> &PgPool {
        self.sqlx.pool()
    }

    /// Begins a transaction of sqlx with the session variables of a request.
    pub(crate) async fn begin_sqlx(&self, session: &Session) -> Result<Transaction<'static, Postgres>, DbError> {
        self.reached().await?;
        session.check()?;
        let pool = self.sqlx.pool();
        // Each connection of the pool may have died since it was last used.
        let mut left = pool.options().get_max_connections();
        loop {
            match untested(within(self.deadline, begin_on(pool, session))).await {
                Ok(transaction) => return Ok(transaction),
                Err(error) if DbError::is_closed(&error) && left > 0 => left -= 1,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

async fn begin_on(pool: &PgPool, session: &Session) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    let mut transaction = pool.begin().await?;
    if let Some(setup) = session.setup() {
        let arguments = arguments(setup)?;
        sqlx::query_with(AssertSqlSafe(&*setup.text), arguments).execute(&mut *transaction).await?;
    }
    Ok(transaction)
}

/// Commits a transaction.
///
/// # Errors
/// [`DbError::TransactionFailed`] when a statement of it has failed: PostgreSQL answers the commit of such a transaction
/// as if all were well, and undoes it. sqlx does not show how it was answered, so it is asked before.
pub(crate) async fn commit(mut transaction: Transaction<'static, Postgres>) -> Result<(), CommitError> {
    match sqlx::raw_sql("SELECT").execute(&mut *transaction).await {
        Err(error) if is_failed(&error) => return Err(CommitError::Refused(DbError::TransactionFailed)),
        // Nothing was asked to be kept.
        Err(error) => return Err(CommitError::Refused(error.into())),
        Ok(_) => {}
    }
    transaction.commit().await.map_err(|error| {
        if is_refused(&error) { CommitError::Refused(error.into()) } else { CommitError::InDoubt(error.into()) }
    })
}

/// A reason why a transaction was not committed, as far as that is known.
pub(crate) enum CommitError {
    /// Nothing of it is kept.
    Refused(DbError),
    /// It may have been committed, or not.
    InDoubt(DbError),
}

fn is_failed(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(error) if error.code().as_deref() == Some("25P02"))
}
