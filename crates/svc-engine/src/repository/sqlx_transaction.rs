//! Transactions and connections of sqlx, for handwritten SQL.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use sqlx::{PgConnection, Postgres};

use crate::repository::Db;
use svc_core::Error;
use svc_postgres::{CommitError, DbError, EffectLog};

/// The error of a transaction of sqlx in an operation whose mutations share one transaction.
const NOT_ATOMIC: &str = "an operation with `@atomic` has one transaction, and sqlx would begin another; \
    use `transaction`";

/// A transaction of sqlx; made by [`Db::sqlx_transaction`].
///
/// It dereferences to the [`sqlx::PgConnection`] on which the statements run. Dropping it without
/// [`commit`](Self::commit) rolls it back.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct SqlxTransaction(
    pub(crate) sqlx::Transaction<'static, Postgres>,
    Option<Arc<EffectLog>>,
);

impl SqlxTransaction {
    /// Commits the transaction.
    ///
    /// # Errors
    /// If a statement of the transaction has failed, a deferred constraint is violated, or the
    /// database is unreachable.
    pub async fn commit(self) -> Result<(), Error> {
        // Recorded before the commit: if the request is dropped meanwhile, the outcome is unknown.
        let ledger = self.1.as_deref().inspect(|ledger| ledger.sent());
        let committed = svc_postgres::commit_sqlx(self.0).await;
        if !matches!(committed, Err(CommitError::InDoubt(_))) {
            ledger.inspect(|ledger| ledger.answered(committed.is_ok()));
        }
        committed.map_err(
            |(CommitError::Refused(error) | CommitError::InDoubt(error))| error.into_error(),
        )
    }

    /// Rolls the transaction back.
    ///
    /// # Errors
    /// If the database is unreachable.
    pub async fn rollback(self) -> Result<(), Error> {
        Ok(self.0.rollback().await?)
    }

    async fn begin(db: &Db) -> Result<Self, DbError> {
        if db.is_enclosed() {
            return Err(DbError::refused(Error::internal(NOT_ATOMIC)));
        }

        Ok(Self(
            db.app.database.begin_sqlx(db.session()).await?,
            db.ledger.clone(),
        ))
    }
}

impl Deref for SqlxTransaction {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.0
    }
}

impl DerefMut for SqlxTransaction {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.0
    }
}

impl std::fmt::Debug for SqlxTransaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlxTransaction").finish_non_exhaustive()
    }
}

/// A connection of sqlx; made by [`Db::sqlx_connection`].
///
/// It dereferences to the [`sqlx::PgConnection`] on which the statements run. It uses a
/// transaction, because session variables last for one. Dropping the connection without
/// [`close`](Self::close) therefore discards its changes, and after a failed statement PostgreSQL
/// rejects all later ones.
#[derive(Debug)]
#[must_use = "what is done on a connection is kept when it is closed"]
pub struct SqlxConnection(SqlxTransaction);

impl SqlxConnection {
    /// Commits the changes and returns the connection to the pool.
    ///
    /// # Errors
    /// If a statement has failed, a deferred constraint is violated, or the database is
    /// unreachable.
    pub async fn close(self) -> Result<(), Error> {
        self.0.commit().await
    }
}

impl Deref for SqlxConnection {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.0
    }
}

impl DerefMut for SqlxConnection {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.0
    }
}

impl Db {
    /// Begins a transaction of sqlx, for handwritten SQL, with the request's session variables set.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// #[svc::mutation]
    /// async fn rename(ctx: &Context<'_>, id: Uuid, name: String) -> Result<bool> {
    ///     let mut tx = ctx.db().sqlx_transaction().await?;
    ///     let update = svc::sqlx::query("UPDATE tb_user SET name = $2 WHERE id = $1").bind(id).bind(name);
    ///     let done = update.execute(&mut *tx).await?;
    ///     tx.commit().await?;
    ///     Ok(done.rows_affected() == 1)
    /// }
    /// ```
    ///
    /// # Errors
    /// If the database is unreachable or all connections are busy, and in an operation with
    /// `@atomic`, whose mutations share a transaction of svc.
    pub async fn sqlx_transaction(&self) -> Result<SqlxTransaction, Error> {
        SqlxTransaction::begin(self)
            .await
            .map_err(DbError::into_error)
    }

    /// Returns a connection of sqlx, for handwritten SQL, with the request's session variables set.
    /// It is a transaction that [`SqlxConnection::close`] commits.
    ///
    /// # Errors
    /// The errors of [`sqlx_transaction`](Self::sqlx_transaction).
    pub async fn sqlx_connection(&self) -> Result<SqlxConnection, Error> {
        self.sqlx_transaction().await.map(SqlxConnection)
    }

    /// Returns the connection pool of sqlx, for handwritten SQL. The request's session variables
    /// are not set on its connections; use [`sqlx_transaction`](Self::sqlx_transaction) or
    /// [`sqlx_connection`](Self::sqlx_connection) if you need them. Writes through the pool are not
    /// tracked either: if a mutation fails afterwards, its error says that the mutation may or may
    /// not have taken effect.
    pub fn pool(&self) -> &sqlx::PgPool {
        if let Some(ledger) = &self.ledger {
            ledger.unseen();
        }
        self.app.database.sqlx_pool()
    }
}
