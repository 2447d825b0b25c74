//! One transaction: the write, what policies say of it, and the rows of the view.

use std::collections::HashSet;

use tokio_postgres::Row;

use super::columns::Column;
use super::undone::Undone;
use crate::engine::find::typed_rows;
use crate::engine::function::{CallOutcome, Target, fail, id_of, succeed};
use crate::json::{ExactJson, Fields};
use crate::mutation::Response;
use crate::postgres::{Catalogue, Conflict, DbError, Isolation, Statement, Table, cell};
use crate::repository::{Db, FindSpec, Transaction};
use crate::schema::{TypeIndex, WriteMeta, WriteVerb};
use crate::sql::col;
use crate::{Error, ErrorCode};

/// A mutation of a table with its values.
pub(super) struct TableMutation<'a> {
    pub(super) db: &'a Db,
    pub(super) write: WriteMeta,
    /// The type of the rows of the view.
    pub(super) row: TypeIndex,
    pub(super) target: Target<'a>,
    pub(super) columns: Vec<Column<'a>>,
    /// The rows to write, by their columns.
    pub(super) items: Vec<Fields>,
    /// The columns that choose a row.
    pub(super) keys: Vec<(&'a str, ExactJson)>,
    /// Whether policies keep rows of the type back.
    pub(super) is_governed: bool,
}

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
        let table = self.table(&catalogue)?;
        match self.write.verb {
            WriteVerb::Insert => self.insert(&table).await,
            WriteVerb::Update => self.update(&table).await,
            WriteVerb::Upsert => self.upsert(&table).await,
            WriteVerb::Delete => self.delete(&table).await,
        }
    }

    fn table<'c>(&self, catalogue: &'c Catalogue) -> Result<Table<'c>, Undone> {
        let table = Table::new(catalogue, self.write.table, self.write.key, &self.columns);
        table.map_err(|why| {
            self.db.app.database.may_have_changed();
            Undone::Error(Error::internal(why))
        })
    }

    async fn insert(&self, table: &Table<'_>) -> Result<CallOutcome, Undone> {
        let transaction = self.begin(Isolation::Default).await?;
        let ids = self.write(&transaction, table.insert(&self.items, None)).await?;
        if ids.len() != self.items.len() {
            let message = format!("`{}` has not taken what was inserted", self.write.table);
            return Err(Undone::Error(Error::internal(message)));
        }
        self.permits_all(&transaction, &ids).await?;
        self.finish(transaction, "created", &ids).await
    }

    async fn update(&self, table: &Table<'_>) -> Result<CallOutcome, Undone> {
        let new = self.items.first().cloned().unwrap_or_default();
        let transaction = match self.is_governed {
            true => self.locked(table).await?.0,
            false => self.begin(Isolation::Default).await?,
        };
        let statement = match new.len() {
            0 => table.find(&self.keys, false),
            _ => table.update(&new, &self.keys),
        };
        let ids = self.one(self.write(&transaction, statement).await?)?;
        if self.is_governed {
            self.permits_still(&transaction, &ids).await?;
        }
        self.finish(transaction, "updated", &ids).await
    }

    /// The row is read before it is removed.
    async fn delete(&self, table: &Table<'_>) -> Result<CallOutcome, Undone> {
        let (transaction, ids) = self.locked(table).await?;
        let outcome = self.read(transaction.db(), "deleted", &ids).await?;
        self.one(self.write(&transaction, table.delete(&self.keys)).await?)?;
        self.keep(transaction, outcome).await
    }

    async fn upsert(&self, table: &Table<'_>) -> Result<CallOutcome, Undone> {
        if self.write.replaces && !are_alike(&self.items) {
            let message =
                "give the same fields in each item: what one leaves out would be reset in a row that is there";
            return Err(Undone::Error(Error::new(ErrorCode::BadUserInput, message)));
        }
        let conflict = Conflict { columns: self.write.conflict, replaces: self.write.replaces };
        // One snapshot: a row that has come since then makes the write fail, so that no row is changed unseen.
        let isolation = if self.is_governed { Isolation::Snapshot } else { Isolation::Default };
        let transaction = self.begin(isolation).await?;
        if self.is_governed {
            let existing = self.write(&transaction, table.existing(&self.items, conflict.columns)).await?;
            self.permits_all(&transaction, &existing).await?;
        }
        let mut ids = self.write(&transaction, table.insert(&self.items, Some(conflict))).await?;
        if !conflict.replaces && ids.len() < self.items.len() {
            ids = self.write(&transaction, table.existing(&self.items, conflict.columns)).await?;
        }
        if ids.len() < self.items.len() {
            let message = format!("there is such a `{}` already, which cannot be read", self.name());
            return Err(Undone::failure("conflict:unreadable", message));
        }
        self.permits_all(&transaction, &ids).await?;
        self.finish(transaction, "success", &ids).await
    }

    async fn begin(&self, isolation: Isolation) -> Result<Transaction, Undone> {
        Transaction::begin(self.db, isolation).await.map_err(|error| self.undone(error))
    }

    /// A transaction in which the row is locked, and permitted. Where the service may not lock it there is one snapshot, and
    /// what others have changed since cannot be written.
    async fn locked(&self, table: &Table<'_>) -> Result<(Transaction, Vec<String>), Undone> {
        let mut transaction = self.begin(Isolation::Default).await?;
        let found = match transaction.written(&self.unreset(table.find(&self.keys, true))).await {
            Err(error) if error.is_of_lock() => {
                drop(transaction);
                transaction = self.begin(Isolation::Snapshot).await?;
                transaction.written(&self.unreset(table.find(&self.keys, false))).await
            }
            found => found,
        };
        let ids = self.one(ids(&found.map_err(|error| self.undone(error))?))?;
        if self.is_governed && self.visible(&transaction, &ids).await?.is_empty() {
            return Err(self.missing());
        }
        Ok((transaction, ids))
    }

    async fn write(&self, transaction: &Transaction, statement: Statement) -> Result<Vec<String>, Undone> {
        let rows = transaction.written(&self.unreset(statement)).await.map_err(|error| self.undone(error))?;
        Ok(ids(&rows))
    }

    /// A statement that is not followed by a reset of the session where nothing can have set anything for it.
    fn unreset(&self, statement: Statement) -> Statement {
        Statement { keeps_session: self.db.app.database.leaves_session(), ..statement }
    }

    /// The id of the one row that was chosen.
    fn one(&self, ids: Vec<String>) -> Result<Vec<String>, Undone> {
        match ids.len() {
            0 => Err(self.missing()),
            1 => Ok(ids),
            several => Err(Undone::Error(Error::internal(format!(
                "the arguments choose {several} rows of `{}`, and one is written; take a key of it",
                self.write.table
            )))),
        }
    }

    /// The policies permit all rows as they are.
    async fn permits_all(&self, transaction: &Transaction, ids: &[String]) -> Result<(), Undone> {
        if !self.is_governed {
            return Ok(());
        }
        let visible = self.visible(transaction, ids).await?;
        if ids.iter().all(|id| visible.contains(id)) { Ok(()) } else { Err(self.forbidden()) }
    }

    /// The policies permit a row as it was written, if the view still has it.
    async fn permits_still(&self, transaction: &Transaction, ids: &[String]) -> Result<(), Undone> {
        let catalogue = self.db.app.database.catalogue().await.map_err(|error| self.undone(error))?;
        for id in ids {
            let statement = Statement::permitted_row(transaction.db().views(&catalogue), self.row, id);
            let statement = statement.map_err(|error| self.undone(error))?;
            let rows = transaction.db().reader().fetch(&statement).await.map_err(|error| self.undone(error))?;
            if (0..rows.len()).any(|row| rows.cell(row, 0) != Some(&[1])) {
                return Err(self.forbidden());
            }
        }
        Ok(())
    }

    /// The rows among these that the policies permit.
    async fn visible(&self, transaction: &Transaction, ids: &[String]) -> Result<HashSet<String>, Undone> {
        let (db, model) = (transaction.db(), &self.db.app.model);
        let row = model.by_rust.iter().find(|(_, index)| **index == self.row).map(|(row, _)| *row);
        let row = row.ok_or_else(|| Undone::Error(Error::internal("the schema has no rows of what is written")))?;
        let find = FindSpec { filter: col("id").is_in(ids.to_vec()), ..FindSpec::new(row) };
        let rows = typed_rows(db, db.reader(), &find, Some(&["id"])).await.map_err(Undone::Error)?;
        Ok(rows.iter().filter_map(|row| id_of(&row.to_string())).collect())
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

    async fn finish(&self, transaction: Transaction, status: &str, ids: &[String]) -> Result<CallOutcome, Undone> {
        let outcome = self.read(transaction.db(), status, ids).await?;
        self.keep(transaction, outcome).await
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

    fn name(&self) -> &str {
        &self.db.app.model.types[self.row].name
    }

    /// The error for a row that is not permitted, which is that for one which is not there.
    fn missing(&self) -> Undone {
        Undone::failure("not_found:", format!("there is no such `{}`", self.name()))
    }

    fn forbidden(&self) -> Undone {
        Undone::failure("forbidden:", format!("the `{}` would become one that is not allowed", self.name()))
    }

    fn undone(&self, error: DbError) -> Undone {
        if error.shows_change() {
            self.db.app.database.may_have_changed();
        }
        Undone::of_database(error, self.name(), &self.db.app.constraints)
    }
}

/// Whether all items give the same columns.
fn are_alike(items: &[Fields]) -> bool {
    let same = |one: &Fields, other: &Fields| {
        one.len() == other.len() && one.iter().all(|(column, _)| other.get(column).is_some())
    };
    items.windows(2).all(|pair| same(&pair[0], &pair[1]))
}

/// The keys that a statement gave.
fn ids(rows: &[Row]) -> Vec<String> {
    rows.iter().filter_map(|row| cell(row, 0)).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}
