//! Commits transactions of sqlx.

use sqlx::{Postgres, Transaction};

use super::is_refused;
use crate::DbError;

/// Commits a transaction.
///
/// # Errors
/// [`DbError::TransactionFailed`] when one of its statements has failed: PostgreSQL reports success
/// for the commit of such a transaction but rolls it back. sqlx does not expose that response, so
/// the state is checked first.
pub async fn commit(mut transaction: Transaction<'static, Postgres>) -> Result<(), CommitError> {
    match sqlx::raw_sql("SELECT").execute(&mut *transaction).await {
        Err(error) if is_failed(&error) => {
            return Err(CommitError::Refused(DbError::TransactionFailed));
        }
        // No commit was sent.
        Err(error) => return Err(CommitError::Refused(error.into())),
        Ok(_) => {}
    }

    transaction.commit().await.map_err(|error| {
        if is_refused(&error) {
            CommitError::Refused(error.into())
        } else {
            CommitError::InDoubt(error.into())
        }
    })
}

/// Why a transaction was not committed, as far as that can be determined.
pub enum CommitError {
    /// Nothing of it was kept.
    Refused(DbError),
    /// It may or may not have been committed.
    InDoubt(DbError),
}

fn is_failed(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(error) if error.code().as_deref() == Some("25P02"))
}
