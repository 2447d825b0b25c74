//! The end of transactions of sqlx.

use sqlx::{Postgres, Transaction};

use super::is_refused;
use crate::postgres::DbError;

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

/// Why a transaction was not committed, as far as that is known.
pub(crate) enum CommitError {
    /// Nothing of it is kept.
    Refused(DbError),
    /// It may have been committed, or not.
    InDoubt(DbError),
}

fn is_failed(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(error) if error.code().as_deref() == Some("25P02"))
}
