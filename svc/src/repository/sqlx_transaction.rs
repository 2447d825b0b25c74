//! Transactions and connections of sqlx, for SQL of a program's own.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use sqlx::{PgConnection, Postgres};

use crate::Error;
use crate::postgres::{CommitError, DbError, Ledger};
use crate::repository::Db;

/// A transaction of sqlx; made by [`Db::sqlx_transaction`].
///
/// It is the [`sqlx::PgConnection`] on which the statements run. Dropping it without [`commit`](Self::commit) rolls
/// it back.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct SqlxTransaction(pub(crate) sqlx::Transaction<'static, Postgres>, Option<Arc<Ledger>>);

impl SqlxTransaction {
    /// Keeps what was done.
    ///
    /// # Errors
    /// When a statement of the transaction has failed, a constraint that was deferred does not hold, or the database
    /// cannot be reached.
    pub async fn commit(self) -> Result<(), Error> {
        let ledger = self.1.as_deref().inspect(|ledger| ledger.sent());
        let committed = crate::postgres::commit_sqlx(self.0).await;
        if !matches!(committed, Err(CommitError::InDoubt(_))) {
            ledger.inspect(|ledger| ledger.answered(committed.is_ok()));
        }
        committed.map_err(|(CommitError::Refused(error) | CommitError::InDoubt(error))| error.into_error())
    }

    /// Undoes what was done.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn rollback(self) -> Result<(), Error> {
        Ok(self.0.rollback().await?)
    }

    async fn begin(db: &Db) -> Result<Self, DbError> {
        Ok(Self(db.app.database.begin_sqlx(db.session()).await?, db.ledger.clone()))
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
/// It is the [`sqlx::PgConnection`] on which the statements run. Session variables last for a transaction, so there
/// is one under it: nothing of a connection that is dropped without [`close`](Self::close) is kept, and after a
/// statement that fails PostgreSQL refuses those that follow.
#[derive(Debug)]
#[must_use = "what is done on a connection is kept when it is closed"]
pub struct SqlxConnection(SqlxTransaction);

impl SqlxConnection {
    /// Keeps what was done and gives the connection back.
    ///
    /// # Errors
    /// When a statement has failed, a constraint that was deferred does not hold, or the database cannot be reached.
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
    /// Begins a transaction of sqlx, for SQL of your own, with the request's session variables set.
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
    /// When the database cannot be reached or all connections are busy.
    pub async fn sqlx_transaction(&self) -> Result<SqlxTransaction, Error> {
        SqlxTransaction::begin(self).await.map_err(DbError::into_error)
    }

    /// Returns a connection of sqlx, for SQL of your own, with the request's session variables set: a transaction that
    /// ends with [`SqlxConnection::close`].
    ///
    /// # Errors
    /// When the database cannot be reached or all connections are busy.
    pub async fn sqlx_connection(&self) -> Result<SqlxConnection, Error> {
        self.sqlx_transaction().await.map(SqlxConnection)
    }

    /// Returns the connection pool of sqlx, for SQL of your own. Its connections do not know the request's session
    /// variables; those of [`sqlx_transaction`](Self::sqlx_transaction) and [`sqlx_connection`](Self::sqlx_connection)
    /// do. Nor is it known what a mutation has written here: one that fails afterwards tells its client that it may
    /// have been done, or not.
    pub fn pool(&self) -> &sqlx::PgPool {
        if let Some(ledger) = &self.ledger {
            ledger.unseen();
        }
        self.app.database.sqlx_pool()
    }
}
