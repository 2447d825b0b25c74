//! Writes rows of a table and the nested rows of other tables, with one statement for each level
//! and kind.

use std::any::TypeId;
use std::collections::HashSet;

use tokio_postgres::Row;

use super::TableMutation;
use super::columns::NestedField;
use super::level::{Level, NewRow, WrittenRow};
use super::tried::Tried;
use super::undone::Undone;
use super::work::Work;
use crate::graphql::find::typed_rows;
use crate::graphql::mutate::function::id_of;
use crate::repository::{Db, FindSpec};
use crate::sql::{Filter, col};
use svc_core::Error;
use svc_core::exact_json::ExactJson;
use svc_core::schema::{BoxFuture, TypeIndex};
use svc_postgres::{Catalog, DbError, Isolation, Statement, cell};

/// A write in progress.
pub(super) struct Writer<'a> {
    pub(super) mutation: &'a TableMutation<'a>,
    pub(super) catalog: &'a Catalog,
    pub(super) work: Work<'a>,
    /// The rows that policies must permit in the end.
    pending: Vec<Pending<'a>>,
    /// The rows under policies that statements have attempted to write so far.
    pub(super) tried: Vec<Tried<'a>>,
}

/// Rows that a policy has to permit.
struct Pending<'a> {
    ty: TypeIndex,
    name: &'a str,
    /// The key of each row, and its path in the arguments if it belongs to a nested table.
    rows: Vec<(String, Option<String>)>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        mutation: &'a TableMutation<'a>,
        catalog: &'a Catalog,
        isolation: Isolation,
    ) -> Self {
        Self {
            mutation,
            catalog,
            work: Work::new(mutation.db, isolation),
            pending: Vec::new(),
            tried: Vec::new(),
        }
    }

    /// Starts a new transaction in one snapshot.
    pub(super) fn in_snapshot(&mut self) {
        self.work = Work::new(self.mutation.db, Isolation::Snapshot);
    }

    /// Rolls back everything written so far, which holds locks, and starts a new transaction in one
    /// snapshot.
    pub(super) async fn begin_again(&mut self) -> Result<(), Undone> {
        let begun = std::mem::replace(
            &mut self.work,
            Work::new(self.mutation.db, Isolation::Snapshot),
        );
        self.pending.clear();
        self.tried.clear();

        match begun.into_transaction() {
            Some(transaction) => transaction.undo().await.map_err(Undone::Error),
            None => Ok(()),
        }
    }

    /// Starts a new transaction in one snapshot, after a statement that failed before anything was
    /// written.
    pub(super) async fn begin_unlocked(&mut self) -> Result<(), DbError> {
        let begun = std::mem::replace(
            &mut self.work,
            Work::new(self.mutation.db, Isolation::Snapshot),
        );

        match begun.into_transaction() {
            Some(transaction) => transaction.undo_part().await,
            None => Ok(()),
        }
    }

    /// Inserts rows with all their nested rows, and returns columns of each.
    pub(super) fn insert<'s>(
        &'s mut self,
        level: &'s Level<'a>,
        rows: Vec<NewRow<'a>>,
    ) -> BoxFuture<'s, Result<Vec<Vec<String>>, Undone>> {
        Box::pin(async move {
            let written = self.insert_rows(level, rows).await?;
            let values = written
                .iter()
                .map(|written| written.values.clone())
                .collect();
            self.children(level, written).await?;
            Ok(values)
        })
    }

    /// Inserts rows, after the rows that they refer to.
    pub(super) async fn insert_rows(
        &mut self,
        level: &Level<'a>,
        mut rows: Vec<NewRow<'a>>,
    ) -> Result<Vec<WrittenRow<'a>>, Undone> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }

        self.refer(level, &mut rows).await?;
        let items: Vec<_> = rows.iter().map(|row| row.columns.clone()).collect();
        let values = self
            .write(
                level,
                level.table.insert(&items, None, &level.returned),
                &rows,
            )
            .await?;

        // `RETURNING` omits rows that a trigger or a rule has skipped.
        if values.len() != rows.len() {
            let path = match rows.as_slice() {
                [row] => &row.path,
                _ => &level.place,
            };
            return Err(self
                .left_out(level, level.is_nested().then_some(path.as_str()))
                .await);
        }

        Ok(self.written(level, rows, values, false))
    }

    /// Inserts the nested rows that these rows refer to, and sets the references.
    pub(super) async fn refer(
        &mut self,
        level: &Level<'a>,
        rows: &mut [NewRow<'a>],
    ) -> Result<(), Undone> {
        for nested in level.to_one() {
            self.refer_by(level, rows, nested).await?;
        }
        Ok(())
    }

    async fn refer_by(
        &mut self,
        level: &Level<'a>,
        rows: &mut [NewRow<'a>],
        (field, nested): NestedField<'a>,
    ) -> Result<(), Undone> {
        let inner = level.nested(self.mutation, self.catalog, (field, nested))?;
        let (mut referring, mut referred) = (Vec::new(), Vec::new());
        for row in rows {
            let Some(ExactJson::Object(document)) = row.take(&field.rust) else {
                continue;
            };

            if row.has(nested.column) {
                let other = level.field_of(nested.column).unwrap_or(nested.column);
                let message = format!(
                    "`{}`: give `{}` or `{other}`, not both",
                    row.path, field.name
                );
                return Err(Undone::failure("validation:given_twice", message));
            }

            referred.push(inner.nested_row(document, format!("{}.{}", row.path, field.name)));

            referring.push(row);
        }

        if referred.is_empty() {
            return Ok(());
        }

        // The inserted rows come back in the order of the items, so they can be paired with the
        // referring rows.
        let column = nested.references.unwrap_or(nested.key);
        for (row, values) in referring
            .into_iter()
            .zip(self.insert(&inner, referred).await?)
        {
            let value = inner.value(&values, column).cloned().unwrap_or_default();
            row.columns
                .insert(nested.column.to_owned(), ExactJson::String(value));
        }

        Ok(())
    }

    /// Runs a statement and returns its rows as texts.
    pub(super) async fn try_run(
        &mut self,
        statement: Statement,
    ) -> Result<Vec<Vec<String>>, DbError> {
        self.work.run(statement).await.map(|rows| texts(&rows))
    }

    /// Runs a statement about rows of a level and returns its rows as texts.
    pub(super) async fn run(
        &mut self,
        level: &Level<'a>,
        statement: Statement,
        rows: &[NewRow<'a>],
    ) -> Result<Vec<Vec<String>>, Undone> {
        let answered = self.try_run(statement).await;
        answered.map_err(|error| self.undone(level, error, rows))
    }

    /// Runs a statement that writes rows of a level, and returns its rows as texts.
    pub(super) async fn write(
        &mut self,
        level: &Level<'a>,
        statement: Statement,
        rows: &[NewRow<'a>],
    ) -> Result<Vec<Vec<String>>, Undone> {
        self.tried.extend(Tried::new(level, rows));
        self.write_noted(level, statement, rows).await
    }

    /// Like `write`, for rows that are already recorded as tried.
    pub(super) async fn write_noted(
        &mut self,
        level: &Level<'a>,
        statement: Statement,
        rows: &[NewRow<'a>],
    ) -> Result<Vec<Vec<String>>, Undone> {
        match self.try_run(statement).await {
            Ok(answers) => Ok(answers),
            Err(error) => Err(self.stopped(level, error, rows).await),
        }
    }

    pub(super) fn undone(&self, level: &Level<'a>, error: DbError, rows: &[NewRow<'a>]) -> Undone {
        if let Some(required) = self.required(level, &error, rows) {
            return required;
        }

        let place = level.place_of(&error, rows);
        let undone = self.mutation.undone_of(error, level.name);
        if level.is_nested() {
            undone.at(&place)
        } else {
            undone
        }
    }

    /// The failure of a column without a value, unless the program declares a message for it.
    fn required(&self, level: &Level<'a>, error: &DbError, rows: &[NewRow<'a>]) -> Option<Undone> {
        let column = error
            .fault()
            .filter(|fault| fault.code == "23502" && !fault.is_of_reference)?
            .constraint?;
        let is_declared = self
            .mutation
            .db
            .app
            .constraints
            .contains_key(column.as_str());

        if is_declared {
            None
        } else {
            level.required(&column, rows)
        }
    }

    /// Pairs written rows with their returned values, and records the rows for the final policy
    /// check.
    pub(super) fn written(
        &mut self,
        level: &Level<'a>,
        rows: Vec<NewRow<'a>>,
        values: Vec<Vec<String>>,
        was_there: bool,
    ) -> Vec<WrittenRow<'a>> {
        if let Some(ty) = level.governed {
            let path = |row: &NewRow<'a>| level.is_nested().then(|| row.path.clone());
            let rows = rows
                .iter()
                .zip(&values)
                .filter_map(|(row, values)| Some((values.first()?.clone(), path(row))));
            self.pending.push(Pending {
                ty,
                name: level.name,
                rows: rows.collect(),
            });
        }

        rows.into_iter()
            .zip(values)
            .map(|(row, values)| WrittenRow {
                row,
                values,
                was_there,
            })
            .collect()
    }

    /// Checks that the policies permit all rows as written, with one read for each type.
    pub(super) async fn permits_all(&mut self) -> Result<(), Undone> {
        let mut pending = std::mem::take(&mut self.pending);
        while !pending.is_empty() {
            let Pending { ty, name, mut rows } = pending.remove(0);
            let same = pending.extract_if(.., |other| other.ty == ty);
            rows.extend(same.flat_map(|other| other.rows));
            let ids: Vec<_> = rows.iter().map(|(id, _)| id.clone()).collect();
            let visible = self.visible(ty, &ids).await?;
            if let Some((_, path)) = rows.iter().find(|(id, _)| !visible.contains(id)) {
                return Err(forbidden(name, path.as_deref()));
            }
        }

        Ok(())
    }

    /// The Rust type of rows.
    pub(super) fn row_type(&self, ty: TypeIndex) -> Result<TypeId, Undone> {
        let mut types = self.mutation.db.app.model.by_rust.iter();
        let row = types.find(|(_, index)| **index == ty).map(|(row, _)| *row);
        row.ok_or_else(|| {
            Undone::Error(Error::internal(
                "the type of the written rows is not in the schema",
            ))
        })
    }

    /// Returns the keys among `ids` whose rows the policies permit.
    pub(super) async fn visible(
        &self,
        ty: TypeIndex,
        ids: &[String],
    ) -> Result<HashSet<String>, Undone> {
        self.visible_where(ty, ids, &[]).await
    }

    /// Like `visible`, for rows that also fulfil conditions, as the policies show them.
    pub(super) async fn visible_where(
        &self,
        ty: TypeIndex,
        ids: &[String],
        conditions: &[Filter],
    ) -> Result<HashSet<String>, Undone> {
        self.visible_to(self.work.db(), ty, ids, conditions).await
    }

    /// Like `visible_where`, for another handle of the transaction.
    pub(super) async fn visible_to(
        &self,
        db: &Db,
        ty: TypeIndex,
        ids: &[String],
        conditions: &[Filter],
    ) -> Result<HashSet<String>, Undone> {
        let mut visible = HashSet::new();
        // There may be more rows than a query returns at once.
        for ids in ids.chunks(self.mutation.db.app.limits.max_page.max(1) as usize) {
            visible.extend(self.visible_of(db, ty, ids, conditions).await?);
        }
        Ok(visible)
    }

    async fn visible_of(
        &self,
        db: &Db,
        ty: TypeIndex,
        ids: &[String],
        conditions: &[Filter],
    ) -> Result<Vec<String>, Undone> {
        let row = self.row_type(ty)?;
        let among = col("id").is_in(ids.to_vec());
        let filter = Filter::All(
            [among]
                .into_iter()
                .chain(conditions.iter().cloned())
                .collect(),
        );

        let find = FindSpec {
            filter,
            ..FindSpec::new(row)
        };

        let rows = typed_rows(db, db.reader(), &find, Some(&["id"]))
            .await
            .map_err(Undone::Error)?;

        Ok(rows
            .iter()
            .filter_map(|row| id_of(&row.to_string()))
            .collect())
    }
}

/// The error for a row that would not be allowed in its new form.
pub(super) fn forbidden(name: &str, path: Option<&str>) -> Undone {
    let message = format!("the `{name}` would become one that is not allowed");
    Undone::failure(
        "forbidden:",
        match path {
            Some(path) => format!("`{path}`: {message}"),
            None => message,
        },
    )
}

/// The columns of rows, as texts.
fn texts(rows: &[Row]) -> Vec<Vec<String>> {
    let text = |row: &Row, column| {
        String::from_utf8_lossy(cell(row, column).unwrap_or_default()).into_owned()
    };
    rows.iter()
        .map(|row| (0..row.len()).map(|column| text(row, column)).collect())
        .collect()
}
