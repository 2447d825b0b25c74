//! One transaction: the write, the policy checks, and the read of the view's rows.

use super::TableMutation;
use super::level::{Level, NewRow};
use super::undone::Undone;
use super::work::Work;
use super::writer::Writer;
use crate::graphql::mutate::function::{CallOutcome, fail, is_governed, succeed};
use crate::mutation_result::Response;
use crate::repository::{Db, Transaction};
use crate::sql::RowFilter;
use svc_core::Error;
use svc_core::exact_json::Fields;
use svc_core::schema::WriteVerb;
use svc_postgres::{DbError, Isolation};

impl TableMutation<'_> {
    /// Runs the mutation and returns the JSON of its value.
    ///
    /// # Errors
    /// A failure that the type cannot represent, and every error that is not a failure.
    pub(super) async fn run(&self) -> Result<CallOutcome, Error> {
        let database = &self.db.app.database;
        let mut retries = database.retries();
        let undone = loop {
            match self.run_once().await {
                Ok(outcome) => return Ok(outcome),
                // Only the operation can run the transaction of several mutations again.
                Err(undone) if self.db.is_enclosed() => break undone,
                // PostgreSQL has rolled all of it back, so running it again cannot write twice.
                Err(undone) if database.may_retry(&mut retries, undone.retry_cause()).await => {}
                Err(undone) => break undone,
            }
        };

        let result = self
            .target
            .ty
            .and_then(|ty| self.db.app.model.results.get(&ty).copied());

        match undone {
            Undone::Failure(failure) | Undone::Contention { failure, .. } => {
                fail(
                    self.db,
                    &self.target,
                    result,
                    *failure,
                    &Response::default(),
                )
                .await
            }
            Undone::Error(error) => Err(error),
        }
    }

    async fn run_once(&self) -> Result<CallOutcome, Undone> {
        if self.items.is_empty() && matches!(self.write.verb, WriteVerb::Insert | WriteVerb::Upsert)
        {
            return self.read(self.db, "created", &[]).await;
        }

        let catalog = self
            .db
            .app
            .database
            .catalog()
            .await
            .map_err(|error| self.undone(error))?;

        let level = Level::root(self, &catalog).map_err(|why| self.unwritable(why))?;
        let writer = Writer::new(self, &catalog, Isolation::Default);

        match (self.write.verb, &self.selection) {
            (WriteVerb::Insert, _) => self.insert(writer, &level).await,
            (WriteVerb::Update, None) => self.update(writer, &level).await,
            (WriteVerb::Update, Some(rows)) => self.update_all(writer, &level, rows).await,
            (WriteVerb::Upsert, _) => self.upsert(writer, &level).await,
            (WriteVerb::Delete, None) => self.delete(writer, &level).await,
            (WriteVerb::Delete, Some(rows)) => self.delete_all(writer, &level, rows).await,
        }
    }

    async fn insert<'a>(
        &'a self,
        mut writer: Writer<'a>,
        level: &Level<'a>,
    ) -> Result<CallOutcome, Undone> {
        let ids = ids(writer.insert(level, self.rows(level)).await?);
        writer.permits_all().await?;
        self.finish(writer.work, "created", &ids).await
    }

    /// The given rows.
    pub(super) fn rows<'a>(&'a self, level: &Level<'a>) -> Vec<NewRow<'a>> {
        let path = |index| match self.takes_list() {
            true => format!("{}[{index}]", self.argument),
            false => self.argument.to_owned(),
        };

        self.items
            .iter()
            .enumerate()
            .map(|(index, item)| level.row(item.clone(), path(index)))
            .collect()
    }

    /// Returns the columns of the selected row, which must be the only one.
    pub(super) fn one(&self, mut rows: Vec<Vec<String>>) -> Result<Vec<String>, Undone> {
        match (rows.len(), rows.pop()) {
            (1, Some(row)) => Ok(row),
            (0, _) | (_, None) => Err(self.missing()),
            (several, _) => Err(Undone::Error(Error::internal(format!(
                "the arguments choose {several} rows of `{}`, and one is written; take a key of it",
                self.write.table
            )))),
        }
    }

    /// Reads the rows of the view, limited to the client's selection.
    pub(super) async fn read(
        &self,
        db: &Db,
        status: &str,
        ids: &[String],
    ) -> Result<CallOutcome, Undone> {
        let result = self
            .target
            .ty
            .and_then(|ty| db.app.model.results.get(&ty).copied());
        let single = !self.takes_list();
        let list = serde_json::Value::from(ids).to_string();
        let entity = (!single).then(|| serde_json::from_str(&list)).transpose();
        let updated = (self.write.verb == WriteVerb::Update).then(|| {
            self.items
                .iter()
                .flat_map(Fields::iter)
                .map(|(name, _)| name.to_owned())
                .collect()
        });

        let response = Response {
            status: status.to_owned(),
            entity: entity.map_err(|error| Undone::Error(error.into()))?,
            entity_id: if single { ids.first().cloned() } else { None },
            updated_fields: updated,
            ..Response::default()
        };

        succeed(db, &self.target, result, &response)
            .await
            .map_err(Undone::Error)
    }

    /// Reads the rows and commits. The commit is sent together with the read of a single row,
    /// because only PostgreSQL decides whether that row can be read: values that do not fit their
    /// types are reported next to it. A list that cannot be read undoes the write, and so does a
    /// row with fields masked by policies.
    pub(super) async fn finish(
        &self,
        work: Work<'_>,
        status: &str,
        ids: &[String],
    ) -> Result<CallOutcome, Undone> {
        let Some(mut transaction) = work.into_transaction() else {
            return self.read(self.db, status, ids).await;
        };
        if !self.takes_list() && !is_governed(self.db, self.row).map_err(Undone::Error)? {
            transaction.end_with_next_read().await;
        }

        match self.read(transaction.db(), status, ids).await {
            Ok(outcome) => self.keep(transaction, outcome).await,
            Err(undone) => {
                transaction.give_up().await;
                Err(undone)
            }
        }
    }

    pub(super) async fn keep(
        &self,
        transaction: Transaction,
        outcome: CallOutcome,
    ) -> Result<CallOutcome, Undone> {
        match transaction.keep().await {
            Ok(()) => Ok(outcome),
            // The failed read has aborted the transaction.
            Err(DbError::TransactionFailed) => Err(Undone::Error(match outcome.unread {
                Some(unread) => unread.into_error(),
                None => DbError::TransactionFailed.into_error(),
            })),
            Err(error) => Err(self.undone(error)),
        }
    }

    /// Whether rows are written, and therefore also returned, as a list.
    fn takes_list(&self) -> bool {
        if self.selection.is_some() {
            return true;
        }

        let field = self
            .target
            .field
            .and_then(|field| self.db.app.model.field(super::ROOT, &field.name));
        field.is_some_and(|field| field.args.iter().any(|arg| arg.ty.is_list()))
    }

    pub(super) fn name(&self) -> &str {
        &self.db.app.model.types[self.row].name
    }

    /// The authorizer's row filter, if it restricts the rows that the mutation writes.
    pub(super) fn row_filter(&self) -> Option<&RowFilter> {
        self.selection.as_ref()?;
        let row_filter = self.db.row_filter.as_deref()?;
        row_filter
            .covers(&self.db.app.model, self.row)
            .then_some(row_filter)
    }

    /// The error for a row that is not permitted: the same as for a missing row.
    pub(super) fn missing(&self) -> Undone {
        Undone::failure("not_found:", format!("there is no such `{}`", self.name()))
    }

    /// The error for a table that the mutation cannot write.
    pub(super) fn unwritable(&self, why: String) -> Undone {
        self.db.app.database.may_have_changed();
        Undone::Error(Error::internal(why))
    }

    pub(super) fn undone(&self, error: DbError) -> Undone {
        self.undone_of(error, self.name())
    }

    /// Converts a database error about rows of a type.
    pub(super) fn undone_of(&self, error: DbError, type_name: &str) -> Undone {
        if error.shows_change() {
            self.db.app.database.may_have_changed();
        }
        Undone::of_database(error, type_name, &self.db.app.constraints)
    }
}

/// The keys of rows.
pub(super) fn ids(rows: Vec<Vec<String>>) -> Vec<String> {
    rows.into_iter()
        .filter_map(|row| row.into_iter().next())
        .collect()
}
