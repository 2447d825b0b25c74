//! Statements of a resolver's own that see the request's session variables.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use sqlx::postgres::{PgDatabaseError, PgSeverity};
use sqlx::{AssertSqlSafe, PgConnection, Postgres};

use super::database::within;
use super::reader::{Reader, arguments};
use super::{Db, DbError, Find, FindOne, Session, sqlx_pool};
use crate::Error;
use crate::mutation::Ledger;
use crate::schema::SvcType;

/// A transaction, for SQL of your own; made by [`Db::transaction`].
///
/// It is the [`sqlx::PgConnection`] on which the statements run. Dropping it without [`commit`](Self::commit) rolls
/// it back.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction(sqlx::Transaction<'static, Postgres>, Option<Arc<Ledger>>);

impl Transaction {
    /// Keeps what was done.
    ///
    /// # Errors
    /// When the database is away, or a constraint that was deferred does not hold.
    pub async fn commit(self) -> Result<(), Error> {
        let ledger = self.1.as_deref().inspect(|ledger| ledger.sent());
        let committed = self.0.commit().await;
        // A commit that is refused has undone the transaction; of any other that fails nothing is known.
        if committed.as_ref().err().is_none_or(is_refused) {
            ledger.inspect(|ledger| ledger.answered(committed.is_ok()));
        }
        Ok(committed?)
    }

    /// Undoes what was done.
    ///
    /// # Errors
    /// When the database is away.
    pub async fn rollback(self) -> Result<(), Error> {
        Ok(self.0.rollback().await?)
    }

    /// The typed rows of a query, as the transaction sees them.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// # #[svc_type(sql_source = "v_user")]
    /// # struct User { id: Uuid, name: String }
    /// #[svc::mutation]
    /// async fn rename(ctx: &Context<'_>, id: Uuid, name: String) -> Result<Option<User>> {
    ///     let mut tx = ctx.db().transaction().await?;
    ///     let update = svc::sqlx::query("UPDATE tb_user SET name = $2 WHERE id = $1").bind(id).bind(name);
    ///     update.execute(&mut *tx).await?;
    ///     let user = tx.row(ctx.db().find_one().filter(col("id").eq(id))).await?;
    ///     tx.commit().await?;
    ///     Ok(user)
    /// }
    /// ```
    ///
    /// # Errors
    /// Those of awaiting the query.
    pub async fn rows<T: SvcType>(&mut self, query: Find<T>) -> Result<Vec<T>, Error> {
        let (db, spec) = query.into_parts();
        let rows = crate::engine::typed_rows(&db, Reader::Transaction(&db.app.database, &mut self.0), &spec).await?;
        rows.into_iter().map(|row| Ok(T::from_stored(row)?)).collect()
    }

    /// The typed row of a query, if there is one, as the transaction sees it.
    ///
    /// # Errors
    /// Those of awaiting the query.
    pub async fn row<T: SvcType>(&mut self, query: FindOne<T>) -> Result<Option<T>, Error> {
        Ok(self.rows(query.into_find()).await?.into_iter().next())
    }

    pub(super) async fn begin(db: &Db) -> Result<Self, Error> {
        Self::try_begin(db).await.map_err(DbError::into_error)
    }

    async fn try_begin(db: &Db) -> Result<Self, DbError> {
        db.app.database.reached().await?;
        db.session().check()?;
        let pool = db.app.database.pool();
        // Each connection of the pool may have died since it was last used.
        let mut left = pool.options().get_max_connections();
        loop {
            let begun = sqlx_pool::untested(within(db.app.database.deadline, begin_on(pool, db.session())));
            match begun.await {
                Ok(transaction) => return Ok(Self(transaction, db.ledger.clone())),
                Err(error) if DbError::is_closed(&error) && left > 0 => left -= 1,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Whether PostgreSQL answered with an error that leaves the connection as it is.
fn is_refused(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    let severity = error.try_downcast_ref::<PgDatabaseError>().map(PgDatabaseError::severity);
    severity == Some(PgSeverity::Error)
}

async fn begin_on(pool: &sqlx::PgPool, session: &Session) -> Result<sqlx::Transaction<'static, Postgres>, sqlx::Error> {
    let mut transaction = pool.begin().await?;
    if let Some(setup) = session.setup() {
        let arguments = arguments(setup)?;
        sqlx::query_with(AssertSqlSafe(&*setup.text), arguments).execute(&mut *transaction).await?;
    }
    Ok(transaction)
}

impl Deref for Transaction {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.0
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.0
    }
}

impl std::fmt::Debug for Transaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction").finish_non_exhaustive()
    }
}

/// A connection, for SQL of your own; made by [`Db::connection`].
///
/// It is the [`sqlx::PgConnection`] on which the statements run. Session variables last for a transaction, so there
/// is one under it: nothing of a connection that is dropped without [`close`](Self::close) is kept, and after a
/// statement that fails PostgreSQL refuses those that follow.
#[derive(Debug)]
#[must_use = "what is done on a connection is kept when it is closed"]
pub struct SqlConnection(Transaction);

impl SqlConnection {
    /// Keeps what was done and gives the connection back.
    ///
    /// # Errors
    /// When the database is away, or a constraint that was deferred does not hold.
    pub async fn close(self) -> Result<(), Error> {
        self.0.commit().await
    }

    pub(super) async fn open(db: &Db) -> Result<Self, Error> {
        Transaction::begin(db).await.map(Self)
    }
}

impl Deref for SqlConnection {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.0
    }
}

impl DerefMut for SqlConnection {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.0
    }
}
