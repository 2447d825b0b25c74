//! Calls that act on a row: policies must permit the row before and after the call, in one
//! transaction.

use crate::repository::{Db, Transaction};
use crate::sql::{Subject, lock_row, permitted_row};
use svc_core::exact_json::ExactJson;
use svc_core::schema::{TargetRow, TypeIndex};
use svc_core::{Error, ErrorCode};
use svc_postgres::{ArgForm, Call, Called, DbError, Isolation};

/// The row that a call acts on.
pub(crate) struct ActedRow {
    row: TypeIndex,
    id: String,
}

impl ActedRow {
    /// Returns the row that an argument names, or `None` if no row policy applies to its type.
    ///
    /// # Errors
    /// A policy that cannot decide, or an argument that names no row.
    pub(super) fn of(
        db: &Db,
        acts_on: TargetRow,
        args: &[(ArgForm, Option<ExactJson>)],
    ) -> Result<Option<Self>, Error> {
        let unknown = || {
            Error::internal(format!(
                "the schema has no rows of `{}`",
                (acts_on.type_name)()
            ))
        };

        let row = *db
            .app
            .model
            .by_rust
            .get(&(acts_on.row)())
            .ok_or_else(unknown)?;

        let Some(rules) = &db.rules else {
            return Ok(None);
        };
        if rules.rule(Subject::Rows(row))?.is_none() {
            return Ok(None);
        }

        let id = match args
            .get(acts_on.argument)
            .and_then(|(_, value)| value.as_ref())
        {
            Some(ExactJson::String(id)) => id.clone(),
            None | Some(ExactJson::Null) => return Err(missing(db, row)),
            Some(other) => other.to_string(),
        };

        Ok(Some(Self { row, id }))
    }

    /// Calls a function. Its writes are kept only if the policies permit the row before the call
    /// and, if a row with that id still exists, after it.
    ///
    /// # Errors
    /// A denial, and the errors of the call.
    pub(super) async fn call(&self, db: &Db, call: &Call<'_>) -> Result<Called, DbError> {
        // Only the operation can run the transaction of several mutations again.
        if db.is_enclosed() {
            return self.call_within(db, call).await;
        }

        db.app
            .database
            .retrying(|| self.call_within(db, call))
            .await
    }

    async fn call_within(&self, db: &Db, call: &Call<'_>) -> Result<Called, DbError> {
        // Only the beginning follows a change of the views within this run: it writes nothing. After
        // the call, the whole transaction is rolled back before it is run again. In that of several
        // mutations, nothing can run after an error.
        let transaction = match db.is_enclosed() {
            true => self.begin(db).await?,
            false => db.app.database.following(|| self.begin(db)).await?,
        };
        let called = db
            .app
            .database
            .call(transaction.db().caller(), call)
            .await?;

        // A failing status has already rolled the transaction back.
        if !called.kept {
            return Ok(called);
        }

        // No row is no denial: the call may have deleted it.
        if self.is_permitted(&transaction).await? == Some(false) {
            let message = format!(
                "the `{}` would become one that is not allowed",
                self.name(db)
            );
            return Err(DbError::refused(Error::new(ErrorCode::Forbidden, message)));
        }

        transaction.keep().await?;

        Ok(called)
    }

    /// Begins a transaction in which the row is permitted and stays so: either the row is locked,
    /// or the transaction uses one snapshot, and the row cannot be written if others have changed
    /// it since then.
    async fn begin(&self, db: &Db) -> Result<Transaction, DbError> {
        let catalog = db.app.database.catalog().await?;
        let source = db.app.model.source(self.row).unwrap_or_default();

        // The transaction of several mutations uses one snapshot under row policies, and a lock that
        // fails would abort it.
        if db.is_enclosed() || !catalog.is_lockable(source) {
            return self
                .permitted(Transaction::begin(db, Isolation::Snapshot).await?)
                .await;
        }

        let transaction = Transaction::begin(db, Isolation::Default).await?;
        let lock = lock_row(db.views(&catalog), self.row, &self.id)?;

        match transaction.db().reader().fetch(&lock).await {
            Ok(rows) if rows.len() == 0 => Err(DbError::refused(missing(db, self.row))),
            Ok(_) => self.permitted(transaction).await,
            Err(error) if error.is_of_lock() => {
                if catalog.cannot_lock(source) {
                    tracing::info!(
                        %error,
                        view = source,
                        "cannot lock rows of this view; mutations act on them without a lock"
                    );
                }

                // The failed lock has aborted it. Its connection is returned before another is
                // taken, as a request that holds two can wait for itself.
                drop(transaction);
                self.permitted(Transaction::begin(db, Isolation::Snapshot).await?)
                    .await
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the transaction if the row is permitted now that it is locked: other data that a
    /// condition reads may have changed while another transaction held the lock.
    async fn permitted(&self, transaction: Transaction) -> Result<Transaction, DbError> {
        match self.is_permitted(&transaction).await? {
            Some(true) => Ok(transaction),
            _ => Err(DbError::refused(missing(transaction.db(), self.row))),
        }
    }

    fn name<'d>(&self, db: &'d Db) -> &'d str {
        &db.app.model.types[self.row].name
    }

    /// Whether the policies permit the row as it is in the transaction; `None` if the row does not
    /// exist.
    async fn is_permitted(&self, transaction: &Transaction) -> Result<Option<bool>, DbError> {
        let db = transaction.db();
        let catalog = db.app.database.catalog().await?;
        let statement = permitted_row(db.views(&catalog), self.row, &self.id)?;
        let rows = db.reader().fetch(&statement).await?;

        // A true Boolean is one byte in PostgreSQL's binary form.
        Ok((0..rows.len())
            .map(|row| rows.cell(row, 0) == Some(&[1]))
            .reduce(|all, one| all && one))
    }
}

/// The error for a row that is not permitted: the same as for a missing row.
fn missing(db: &Db, row: TypeIndex) -> Error {
    Error::new(
        ErrorCode::NotFound,
        format!(
            "there is no `{}` with this id",
            db.app.model.types[row].name
        ),
    )
}
