//! One transaction: the write, what policies say of it, and the rows of the view.

use super::TableMutation;
use super::level::{Level, NewRow};
use super::undone::Undone;
use super::work::Work;
use super::writer::Writer;
use crate::Error;
use crate::engine::function::{CallOutcome, fail, is_governed, succeed};
use crate::json::Fields;
use crate::mutation::Response;
use crate::postgres::{DbError, Isolation};
use crate::repository::{Db, Transaction};
use crate::schema::WriteVerb;

impl TableMutation<'_> {
    /// Runs it, and gives the JSON of its value.
    ///
    /// # Errors
    /// A failure that the type has no place for, and whatever is not the author's word.
    pub(super) async fn run(&self) -> Result<CallOutcome, Error> {
        let mut retries = self.db.app.database.retries();
        let undone = loop {
            match self.run_once().await {
                Ok(outcome) => return Ok(outcome),
                Err(undone) if undone.may_repeat() && retries.next().await => {}
                Err(undone) => break undone,
            }
        };
        let result = self.target.ty.and_then(|ty| self.db.app.model.results.get(&ty).copied());
        match undone {
            Undone::Failure(failure) | Undone::Contention { failure, .. } => {
                fail(self.db, &self.target, result, *failure, &Response::default()).await
            }
            Undone::Error(error) => Err(error),
        }
    }

    async fn run_once(&self) -> Result<CallOutcome, Undone> {
        if self.items.is_empty() && matches!(self.write.verb, WriteVerb::Insert | WriteVerb::Upsert) {
            return self.read(self.db, "created", &[]).await;
        }
        let catalogue = self.db.app.database.catalogue().await.map_err(|error| self.undone(error))?;
        let level = Level::root(self, &catalogue).map_err(|why| self.unwritable(why))?;
        let writer = Writer::new(self, &catalogue, Isolation::Default);
        match self.write.verb {
            WriteVerb::Insert => self.insert(writer, &level).await,
            WriteVerb::Update => self.update(writer, &level).await,
            WriteVerb::Upsert => self.upsert(writer, &level).await,
            WriteVerb::Delete => self.delete(writer, &level).await,
        }
    }

    async fn insert<'a>(&'a self, mut writer: Writer<'a>, level: &Level<'a>) -> Result<CallOutcome, Undone> {
        let ids = ids(writer.insert(level, self.rows(level)).await?);
        writer.permits_all().await?;
        self.finish(writer.work, "created", &ids).await
    }

    /// The rows that are given.
    pub(super) fn rows<'a>(&'a self, level: &Level<'a>) -> Vec<NewRow<'a>> {
        let path = |index| match self.takes_list() {
            true => format!("{}[{index}]", self.argument),
            false => self.argument.to_owned(),
        };
        self.items.iter().enumerate().map(|(index, item)| level.row(item.clone(), path(index))).collect()
    }

    /// The columns of the one row that was chosen.
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

    /// The rows of the view, of which a client gets what it has selected.
    pub(super) async fn read(&self, db: &Db, status: &str, ids: &[String]) -> Result<CallOutcome, Undone> {
        let result = self.target.ty.and_then(|ty| db.app.model.results.get(&ty).copied());
        let single = !self.takes_list();
        let list = serde_json::Value::from(ids).to_string();
        let entity = (!single).then(|| serde_json::from_str(&list)).transpose();
        let updated = (self.write.verb == WriteVerb::Update)
            .then(|| self.items.iter().flat_map(Fields::iter).map(|(name, _)| name.to_owned()).collect());
        let response = Response {
            status: status.to_owned(),
            entity: entity.map_err(|error| Undone::Error(error.into()))?,
            entity_id: if single { ids.first().cloned() } else { None },
            updated_fields: updated,
            ..Response::default()
        };
        succeed(db, &self.target, result, &response).await.map_err(Undone::Error)
    }

    /// Reads the rows and commits. The commit goes out with the read of a single row, of which PostgreSQL alone decides
    /// whether it can be read: values that break their types are told of beside it. A list that cannot be read here undoes
    /// the write, and so does a row of which policies mask fields.
    pub(super) async fn finish(&self, work: Work<'_>, status: &str, ids: &[String]) -> Result<CallOutcome, Undone> {
        let Some(mut transaction) = work.into_transaction() else { return self.read(self.db, status, ids).await };
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

    pub(super) async fn keep(&self, transaction: Transaction, outcome: CallOutcome) -> Result<CallOutcome, Undone> {
        match transaction.keep().await {
            Ok(()) => Ok(outcome),
            // What could not be read has failed the transaction.
            Err(DbError::TransactionFailed) => Err(Undone::Error(match outcome.unread {
                Some(unread) => unread.into_error(),
                None => DbError::TransactionFailed.into_error(),
            })),
            Err(error) => Err(self.undone(error)),
        }
    }

    /// Whether rows are written as a list, and so answered with as one.
    fn takes_list(&self) -> bool {
        let field = self.target.field.and_then(|field| self.db.app.model.field(super::ROOT, &field.name));
        field.is_some_and(|field| field.args.iter().any(|arg| arg.ty.is_list()))
    }

    pub(super) fn name(&self) -> &str {
        &self.db.app.model.types[self.row].name
    }

    /// The error for a row that is not permitted, which is that for one which is not there.
    pub(super) fn missing(&self) -> Undone {
        Undone::failure("not_found:", format!("there is no such `{}`", self.name()))
    }

    /// The error for a table that does not take what is written.
    pub(super) fn unwritable(&self, why: String) -> Undone {
        self.db.app.database.may_have_changed();
        Undone::Error(Error::internal(why))
    }

    pub(super) fn undone(&self, error: DbError) -> Undone {
        self.undone_of(error, self.name())
    }

    /// The meaning of an error about rows of a type.
    pub(super) fn undone_of(&self, error: DbError, type_name: &str) -> Undone {
        if error.shows_change() {
            self.db.app.database.may_have_changed();
        }
        Undone::of_database(error, type_name, &self.db.app.constraints)
    }
}

/// The keys of rows.
pub(super) fn ids(rows: Vec<Vec<String>>) -> Vec<String> {
    rows.into_iter().filter_map(|row| row.into_iter().next()).collect()
}
