//! One transaction: the write, what policies say of it, and the rows of the view.

use std::borrow::Cow;

use super::TableMutation;
use super::level::{Level, NewRow, WrittenRow};
use super::undone::Undone;
use super::work::Work;
use super::writer::{Writer, forbidden};
use crate::Error;
use crate::engine::function::{CallOutcome, fail, is_governed, succeed};
use crate::json::{ExactJson, Fields};
use crate::mutation::Response;
use crate::postgres::{DbError, Isolation, Statement};
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

    async fn update<'a>(&'a self, mut writer: Writer<'a>, level: &Level<'a>) -> Result<CallOutcome, Undone> {
        let keys = match self.keeps_rows_back() {
            true => Cow::Owned(self.lock(&mut writer, level).await?.keys(level)),
            false => Cow::Borrowed(&self.keys),
        };
        let mut rows = self.rows(level);
        writer.refer(level, &mut rows).await?;
        let (table, mut rows) = (&level.table, rows.into_iter());
        let row = rows.next().unwrap_or_else(|| level.row(Fields::default(), self.argument.to_owned()));
        let statement = match row.columns.len() {
            // The row stays as it is while others are written that refer to it.
            0 => table.find(&keys, level.to_many().next().is_some(), &level.returned),
            _ => table.update(&row.columns, &keys, &level.returned),
        };
        let values = self.one(writer.run(level, statement, &[]).await?)?;
        let ids: Vec<_> = values.first().cloned().into_iter().collect();
        writer.children(level, vec![WrittenRow { row, values, was_there: true }]).await?;
        if self.is_governed {
            self.permits_still(&writer.work, &ids).await?;
        }
        writer.permits_all().await?;
        self.finish(writer.work, "updated", &ids).await
    }

    /// The row is read before it is removed.
    async fn delete<'a>(&'a self, mut writer: Writer<'a>, level: &Level<'a>) -> Result<CallOutcome, Undone> {
        let row = self.lock(&mut writer, level).await?;
        let keys = row.keys(level);
        let outcome = self.read(writer.work.db(), "deleted", &[row.0]).await?;
        self.one(writer.run(level, level.table.delete(&keys), &[]).await?)?;
        match writer.work.into_transaction() {
            Some(transaction) => self.keep(transaction, outcome).await,
            None => Ok(outcome),
        }
    }

    /// Locks the row that the arguments choose among those that are permitted, and gives its key. Where the service may not
    /// lock it there is one snapshot, and what others have changed since cannot be written.
    async fn lock<'a>(&'a self, writer: &mut Writer<'a>, level: &Level<'a>) -> Result<ChosenRow, Undone> {
        let is_key = self.keys.iter().any(|(column, _)| *column == level.key);
        let keys = match self.keeps_rows_back() && !is_key {
            // Rows of others that have the same values are not locked.
            true => [self.choose(writer, level).await?.keys(level), self.keys.clone()].concat(),
            false => self.keys.clone(),
        };
        let find = |locks| level.table.find(&keys, locks, &[level.key]);
        let found = match writer.try_run(find(true)).await {
            Err(error) if error.is_of_lock() => {
                writer.in_snapshot();
                writer.try_run(find(false)).await
            }
            found => found,
        };
        self.permitted(writer, found.map_err(|error| self.undone(error))?).await
    }

    /// The key of the row that the arguments choose among those that are permitted, which may change meanwhile.
    async fn choose<'a>(&'a self, writer: &mut Writer<'a>, level: &Level<'a>) -> Result<ChosenRow, Undone> {
        let found = writer.try_run(level.table.find(&self.keys, false, &[level.key])).await;
        self.permitted(writer, found.map_err(|error| self.undone(error))?).await
    }

    /// The one row among these that is permitted: others may have rows of their own that the arguments fit, and a masked
    /// value fits nothing.
    async fn permitted(&self, writer: &Writer<'_>, mut found: Vec<Vec<String>>) -> Result<ChosenRow, Undone> {
        if self.keeps_rows_back() {
            let permitted = writer.visible_where(self.row, &ids(found.clone()), &self.masked).await?;
            found.retain(|values| values.first().is_some_and(|id| permitted.contains(id)));
        }
        self.one(found)?.into_iter().next().map(ChosenRow).ok_or_else(|| self.missing())
    }

    /// Whether the client may not find all rows by the arguments.
    fn keeps_rows_back(&self) -> bool {
        self.is_governed || !self.masked.is_empty()
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
    fn one(&self, mut rows: Vec<Vec<String>>) -> Result<Vec<String>, Undone> {
        match (rows.len(), rows.pop()) {
            (1, Some(row)) => Ok(row),
            (0, _) | (_, None) => Err(self.missing()),
            (several, _) => Err(Undone::Error(Error::internal(format!(
                "the arguments choose {several} rows of `{}`, and one is written; take a key of it",
                self.write.table
            )))),
        }
    }

    /// The policies permit a row as it was written, if the view still has it.
    async fn permits_still(&self, work: &Work<'_>, ids: &[String]) -> Result<(), Undone> {
        let catalogue = self.db.app.database.catalogue().await.map_err(|error| self.undone(error))?;
        for id in ids {
            let statement = Statement::permitted_row(work.db().views(&catalogue), self.row, id);
            let statement = statement.map_err(|error| self.undone(error))?;
            let rows = work.db().reader().fetch(&statement).await.map_err(|error| self.undone(error))?;
            if (0..rows.len()).any(|row| rows.cell(row, 0) != Some(&[1])) {
                return Err(forbidden(self.name(), None));
            }
        }
        Ok(())
    }

    /// The rows of the view, of which a client gets what it has selected.
    async fn read(&self, db: &Db, status: &str, ids: &[String]) -> Result<CallOutcome, Undone> {
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

    async fn keep(&self, transaction: Transaction, outcome: CallOutcome) -> Result<CallOutcome, Undone> {
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
    fn missing(&self) -> Undone {
        Undone::failure("not_found:", format!("there is no such `{}`", self.name()))
    }

    /// The error for a table that does not take what is written.
    pub(super) fn unwritable(&self, why: String) -> Undone {
        self.db.app.database.may_have_changed();
        Undone::Error(Error::internal(why))
    }

    fn undone(&self, error: DbError) -> Undone {
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

/// The key of a row that the arguments choose.
struct ChosenRow(String);

impl ChosenRow {
    /// The column and the value that choose this row alone.
    fn keys<'a>(&self, level: &Level<'a>) -> Vec<(&'a str, ExactJson)> {
        vec![(level.key, ExactJson::String(self.0.clone()))]
    }
}

/// The keys of rows.
pub(super) fn ids(rows: Vec<Vec<String>>) -> Vec<String> {
    rows.into_iter().filter_map(|row| row.into_iter().next()).collect()
}
