//! Transactions in resolvers.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio_postgres::Row;

use super::atomic::Part;
use super::sql_text::SqlText;
use super::transaction_command::ends_transaction;
use crate::mutation_result::failed_call;
use crate::repository::Db;
use svc_core::Error;
use svc_core::exact_json::ExactJson;
use svc_postgres::{
    DbError, DriverError, Isolation, OpenTransaction, Param, Retries, Statement, has_nul,
};

/// The error of SQL that would end a transaction unnoticed.
const ENDS: &str = "SQL must not end a transaction; use `commit` or `rollback`, or a savepoint \
    with a name other than `svc_part`";

/// A transaction; made by [`Db::transaction`].
///
/// It owns a connection with the request's session variables set. Dropping it without
/// [`commit`](Self::commit) rolls it back. After a failed statement, all later statements and the
/// commit fail as well.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction {
    /// The database handle whose statements run in the transaction.
    db: Db,
    open: Arc<Mutex<OpenTransaction>>,
    /// Whether the commit is sent with the next read.
    ends_with_read: bool,
    /// Set if it is a part of the transaction of an operation with `@atomic`.
    part: Option<Part>,
}

/// The transaction passed to the closure of [`Db::transaction_with_retries`], which commits it.
///
/// The lifetime is that of the closure's borrows.
#[derive(Debug)]
pub struct RetriedTransaction<'a> {
    transaction: Transaction,
    /// Bounds the lifetime of references to the transaction, so that the compiler can see that the
    /// closure's borrows outlive them.
    scope: PhantomData<&'a ()>,
}

/// One attempt at a transaction.
pub(crate) type Run<'t, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 't>>;

impl Deref for RetriedTransaction<'_> {
    type Target = Transaction;

    fn deref(&self) -> &Transaction {
        &self.transaction
    }
}

impl DerefMut for RetriedTransaction<'_> {
    fn deref_mut(&mut self) -> &mut Transaction {
        &mut self.transaction
    }
}

impl Db {
    /// Begins a transaction, with the request's session variables set. Its calls, statements and
    /// reads take effect together or not at all.
    ///
    /// ```
    /// use svc::prelude::*;
    /// use svc::serde_json::json;
    ///
    /// #[svc::mutation]
    /// async fn move_all(ctx: &Context<'_>, from: Uuid, to: Uuid) -> Result<bool> {
    ///     let mut tx = ctx.db().transaction().await?;
    ///     let moved: bool = tx.call("app.move_orders", [json!(from), json!(to)]).await?;
    ///     tx.execute("DELETE FROM tb_shop WHERE id = $1", [json!(from)]).await?;
    ///     tx.commit().await?;
    ///     Ok(moved)
    /// }
    /// ```
    ///
    /// It holds a connection of the pool until it ends. With the feature `sqlx`, `sqlx_transaction`
    /// returns one of sqlx.
    ///
    /// In an operation with `@atomic`, it is a part of the transaction of all mutations: its commit
    /// takes effect with theirs, and rolling it back undoes all of them. Its settings, such as those
    /// of `SET LOCAL`, last until its own end. Until then, only its own statements run.
    ///
    /// # Errors
    /// If the database is unreachable or all connections are busy, and in an operation with
    /// `@atomic` while another transaction of it is open.
    pub async fn transaction(&self) -> Result<Transaction, Error> {
        let mut transaction = Transaction::begin(self, Isolation::Default)
            .await
            .map_err(DbError::into_error)?;

        // PostgreSQL cannot undo only its writes: statements outside of it may run in between.
        if let Some(part) = &mut transaction.part {
            part.undo_on_drop();
        }

        Ok(transaction)
    }

    /// Runs a transaction and commits it. If PostgreSQL rolls it back because of concurrent
    /// transactions (a deadlock or a serialization failure) or because a view has changed since a
    /// statement was prepared, runs it again, at most `retries` times.
    ///
    /// ```
    /// use svc::prelude::*;
    /// use svc::serde_json::json;
    ///
    /// #[svc::mutation]
    /// async fn transfer(ctx: &Context<'_>, from: Uuid, to: Uuid, amount: i32) -> Result<bool> {
    ///     let add = "UPDATE tb_account SET balance = balance + $2 WHERE id = $1";
    ///     let run = ctx.db().transaction_with_retries(3, |tx| {
    ///         Box::pin(async move {
    ///             tx.execute(add, [json!(from), json!(-amount)]).await?;
    ///             tx.execute(add, [json!(to), json!(amount)]).await?;
    ///             Ok(true)
    ///         })
    ///     });
    ///     run.await
    /// }
    /// ```
    ///
    /// A retry runs the whole closure, so it repeats any side effects outside the transaction as
    /// well. Errors of the closure itself and a lost connection are not retried. The wait before a
    /// retry is random and grows with each attempt. In an operation with `@atomic` there are no
    /// retries, because other mutations share the transaction.
    ///
    /// # Errors
    /// Returns the errors of the closure and of the commit.
    pub async fn transaction_with_retries<'a, T>(
        &self,
        retries: u32,
        mut run: impl for<'t> FnMut(&'t mut RetriedTransaction<'a>) -> Run<'t, T> + Send,
    ) -> Result<T, Error> {
        let mut retries = Retries::new(if self.is_enclosed() { 0 } else { retries });
        loop {
            let mut retried = RetriedTransaction {
                transaction: self.transaction().await?,
                scope: PhantomData,
            };

            let open = retried.transaction.open.clone();
            let result = match run(&mut retried).await {
                Ok(value) => retried.transaction.commit().await.map(|()| value),
                Err(error) => {
                    drop(retried);
                    Err(error)
                }
            };

            // The closure may replace the error, so the transaction itself shows whether it can run
            // again.
            let cause = match &result {
                Ok(_) => None,
                Err(_) => open.lock().await.retry_cause(),
            };

            // Release the connection before waiting.
            drop(open);

            match cause {
                Some(cause) if retries.next(cause).await => {}
                _ => return result,
            }
        }
    }
}

impl Transaction {
    /// Commits the transaction.
    ///
    /// # Errors
    /// If a statement of the transaction has failed, a deferred constraint is violated, or the
    /// database is unreachable.
    pub async fn commit(self) -> Result<(), Error> {
        let db = self.db.clone();
        self.keep()
            .await
            .map_err(|error| failed_call(error, &db.app.constraints))
    }

    /// Like [`commit`](Self::commit), but returns the database's own error.
    pub(crate) async fn keep(mut self) -> Result<(), DbError> {
        if let Some(part) = self.part.take() {
            let (session, database) = (self.db.session(), &self.db.app.database);
            return part.keep(&self.open, session, database).await;
        }

        // Recorded before the commit is sent: if the request is dropped meanwhile, the outcome is
        // unknown. A commit with the last read is recorded by `end_with_next_read`.
        let ledger = self.db.ledger.as_deref();
        if !self.ends_with_read {
            ledger.inspect(|ledger| ledger.sent());
        }

        let committed = self.open.lock().await.commit().await;

        // A rejected commit has rolled the transaction back; the outcome of any other failed commit
        // is unknown.
        if !matches!(committed, Err(DriverError::OutcomeUnknown)) {
            ledger.inspect(|ledger| ledger.answered(committed.is_ok()));
        }

        committed.map_err(|error| self.db.app.database.noted(error))
    }

    /// Rolls the transaction back.
    ///
    /// # Errors
    /// If the database is unreachable.
    pub async fn rollback(self) -> Result<(), Error> {
        // Dropping the part undoes the whole.
        if self.part.is_some() {
            return Ok(());
        }

        self.open
            .lock()
            .await
            .roll_back()
            .await
            .map_err(|error| self.failed(error))
    }

    /// Runs a statement and returns the number of rows that it wrote.
    ///
    /// The text is a `&'static str`, or wrapped in [`AssertSqlSafe`](super::AssertSqlSafe). It
    /// refers to the values as `$1`, `$2` and so on. PostgreSQL converts each value to the type that
    /// it infers for the parameter.
    ///
    /// ```
    /// use svc::prelude::*;
    /// use svc::serde_json::json;
    ///
    /// #[svc::mutation]
    /// async fn rename(ctx: &Context<'_>, id: Uuid, name: String) -> Result<bool> {
    ///     let mut tx = ctx.db().transaction().await?;
    ///     let renamed = tx.execute("UPDATE tb_user SET name = $2 WHERE id = $1", [json!(id), json!(name)]).await?;
    ///     tx.execute("INSERT INTO tb_log (what) VALUES ($1)", [json!("rename")]).await?;
    ///     tx.commit().await?;
    ///     Ok(renamed == 1)
    /// }
    /// ```
    ///
    /// # Errors
    /// The same errors as for a function call: an exception raised as `P0001` or a constraint with
    /// a message. All other errors are masked. SQL that would end the transaction, such as `COMMIT`,
    /// is not sent.
    pub async fn execute(
        &mut self,
        sql: impl SqlText,
        values: impl IntoIterator<Item = serde_json::Value>,
    ) -> Result<u64, Error> {
        let sql = sql.into_text();
        let values: Vec<_> = values.into_iter().map(ExactJson::from).collect();

        // PostgreSQL texts cannot contain NUL, and its error would abort the transaction.
        if values.iter().any(has_nul) {
            return Err(DbError::Nul.into_error());
        }
        if ends_transaction(&sql) {
            return Err(Error::internal(ENDS));
        }

        let params = values.into_iter().map(Param::Variable).collect();
        let statement = Statement::new(sql.into_owned(), params);
        let written = self.count_written(&statement).await;
        written.map_err(|error| failed_call(error, &self.db.app.constraints))
    }

    /// Runs a writing statement and returns its rows.
    pub(crate) async fn written(&self, statement: &Statement) -> Result<Vec<Row>, DbError> {
        let mut rows = Vec::new();
        let written = self.open.lock().await.write(statement, &mut rows).await;
        written
            .map(|_| rows)
            .map_err(|error| self.db.app.database.noted_in(statement, error))
    }

    /// Runs a writing statement and returns the number of rows that it wrote.
    pub(crate) async fn count_written(&self, statement: &Statement) -> Result<u64, DbError> {
        let written = self
            .open
            .lock()
            .await
            .write(statement, &mut Vec::new())
            .await;
        written.map_err(|error| self.db.app.database.noted_in(statement, error))
    }

    /// Makes the next read the last statement and sends the commit along with it.
    /// [`keep`](Self::keep) returns the outcome of that commit, or sends the commit itself if
    /// nothing was read.
    pub(crate) async fn end_with_next_read(&mut self) {
        if self.part.is_some() {
            return;
        }

        self.db.ledger.as_deref().inspect(|ledger| ledger.sent());
        self.ends_with_read = true;
        self.open.lock().await.end_with_next_read();
    }

    /// Abandons the transaction after its last read has failed.
    pub(crate) async fn give_up(self) {
        // The commit was sent with the failed read, and only its own result shows what was kept.
        let ended = self.open.lock().await.take_end();
        if self.ends_with_read && !matches!(ended, Some(Err(DriverError::OutcomeUnknown))) {
            self.db
                .ledger
                .as_deref()
                .inspect(|ledger| ledger.answered(matches!(ended, Some(Ok(())))));
        }
    }

    /// The database handle whose statements run in the transaction.
    #[doc(hidden)]
    pub fn db(&self) -> &Db {
        &self.db
    }

    pub(crate) async fn begin(db: &Db, isolation: Isolation) -> Result<Self, DbError> {
        if let Some(part) = Self::begin_part(db).await? {
            return Ok(part);
        }

        Ok(Self::of(
            db,
            db.app.database.begin(db.session(), isolation).await?,
        ))
    }

    /// Undoes everything since the beginning, after a failed statement too.
    pub(crate) async fn undo(self) -> Result<(), Error> {
        if self.part.is_some() {
            self.undo_part().await.map_err(DbError::into_error)
        } else {
            self.rollback().await
        }
    }

    /// Undoes everything since [`begin_part`](Self::begin_part). Any other transaction is rolled
    /// back in the background.
    pub(crate) async fn undo_part(mut self) -> Result<(), DbError> {
        if self.part.is_none() {
            return Ok(());
        }

        let mut open = self.open.lock().await;
        let undone = open.undo_part().await;

        // While the lock is held, so that a statement that waits for it meets no open part.
        drop(self.part.take());
        drop(open);

        undone.map_err(|error| self.db.app.database.noted(error))
    }

    /// Begins a part of the transaction of an operation with `@atomic`; `None` in any other
    /// operation.
    pub(crate) async fn begin_part(db: &Db) -> Result<Option<Self>, DbError> {
        let Some((whole, open)) = db.enclosing() else {
            return Ok(None);
        };

        db.session().check()?;

        let part = Part::begin(whole, db.session()).await;
        let part = part.map_err(|error| db.app.database.noted(error))?;

        Ok(Some(Self {
            part: Some(part),
            ..Self::on(db, open.clone())
        }))
    }

    /// Begins a transaction with its first statement, which may write, and returns the statement's
    /// rows.
    pub(crate) async fn begin_with(
        db: &Db,
        isolation: Isolation,
        statement: &Statement,
    ) -> Result<(Self, Vec<Row>), DbError> {
        let mut rows = Vec::new();
        let open = db
            .app
            .database
            .begin_with(db.session(), isolation, statement, &mut rows)
            .await?;
        Ok((Self::of(db, open), rows))
    }

    fn of(db: &Db, open: OpenTransaction) -> Self {
        Self::on(db, Arc::new(Mutex::new(open)))
    }

    fn on(db: &Db, open: Arc<Mutex<OpenTransaction>>) -> Self {
        Self {
            db: Db {
                transaction: Some(open.clone()),
                ..db.clone()
            },
            open,
            ends_with_read: false,
            part: None,
        }
    }

    fn failed(&self, error: DriverError) -> Error {
        let database = &self.db.app.database;
        failed_call(database.noted(error), &self.db.app.constraints)
    }
}

impl std::fmt::Debug for Transaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction").finish_non_exhaustive()
    }
}
