//! Writes that a constraint rejected, because another row has the same values or the referenced row
//! does not exist. If the given values violate a row policy or the authorizer's row filter by
//! themselves, only that denial is reported, as it would be without the constraint violation.

use std::collections::HashSet;
use std::sync::Arc;

use super::level::{Level, NewRow, Origin};
use super::tried::{Tried, TriedRow};
use super::undone::Undone;
use super::writer::{Writer, forbidden};
use crate::sql::{GivenRows, GivenValues, may_be_permitted};
use svc_core::exact_json::{ExactJson, Fields};
use svc_postgres::DbError;

impl<'a> Tried<'a> {
    /// The rows in the form that the policies are checked on. All rows have the same origin and
    /// give the same columns.
    fn given(&self, rows: &[TriedRow], filled: &HashSet<String>) -> GivenRows {
        let columns = rows
            .first()
            .into_iter()
            .flat_map(|row| row.columns.iter())
            .map(|(column, _)| column.to_owned());

        let mut known: HashSet<String> = columns.collect();
        let mut defaults = Vec::new();

        // With a trigger that runs before the insert, any column may differ from its default.
        if matches!(
            rows.first(),
            Some(TriedRow {
                origin: Origin::Added,
                ..
            })
        ) && !filled.contains("")
        {
            // The database itself gives these columns values, which are not known before the
            // insert.
            let is_left = |column: &str| !filled.contains(column) && column != self.key;
            for (column, default) in self
                .table
                .known_columns()
                .filter(|(column, _)| is_left(column))
            {
                if known.insert(column.to_owned()) {
                    defaults.extend(default.map(|default| (column.to_owned(), default.to_owned())));
                }
            }
        }

        if known.contains(self.key) {
            known.insert("id".to_owned());
        }

        GivenRows {
            row: self.ty,
            values: self.values(rows),
            known,
            defaults,
        }
    }

    /// The values of the rows, which all have the same origin.
    fn values(&self, rows: &[TriedRow]) -> GivenValues {
        let ids = rows.iter().map(|row| match &row.origin {
            Origin::There(id) => Some(id.clone()),
            Origin::Added | Origin::Either => None,
        });
        let ids = ids.collect::<Option<Vec<_>>>();

        if let (Some(ids), [first, others @ ..]) = (&ids, rows)
            && others
                .iter()
                .all(|row| Arc::ptr_eq(&row.columns, &first.columns))
        {
            return GivenValues::Same {
                values: self.document(&first.columns),
                ids: ids.clone(),
            };
        }

        let values = rows.iter().map(|row| self.document(&row.columns)).collect();
        match ids {
            Some(ids) => GivenValues::Existing { values, ids },
            None => GivenValues::New(values),
        }
    }

    /// The values of a row by the columns of its view.
    fn document(&self, columns: &Fields) -> String {
        let mut document = columns.clone();
        if let Some(key) = columns.get(self.key).cloned() {
            document.insert("id".to_owned(), key);
        }
        ExactJson::Object(document).to_string()
    }
}

impl<'a> Writer<'a> {
    /// Returns the failure of a write that an error has aborted: the denial, if the given values
    /// and the defaults alone violate a policy.
    pub(super) async fn stopped(
        &mut self,
        level: &Level<'a>,
        error: DbError,
        rows: &[NewRow<'a>],
    ) -> Undone {
        if !self.tried.is_empty() && tells_of_others(&error) {
            // The transaction is aborted already. An error of this check does not change the
            // reported failure. The rows are taken out, because a new transaction clears them.
            let tried = std::mem::take(&mut self.tried);
            if self.begin_again().await.is_ok()
                && let Ok(Some(denied)) = self.denied(tried).await
            {
                return denied;
            }
        }

        self.undone(level, error, rows)
    }

    /// Returns the failure of rows that the database skipped, with their path in the arguments: the
    /// denial, if the given values and the defaults alone violate a policy, because a constraint
    /// could have stopped the other rows first.
    pub(super) async fn left_out(&mut self, level: &Level<'a>, path: Option<&str>) -> Undone {
        let tried = std::mem::take(&mut self.tried);
        if !tried.is_empty()
            && self.begin_again().await.is_ok()
            && let Ok(Some(denied)) = self.denied(tried).await
        {
            return denied;
        }
        level.not_taken(path)
    }

    /// Returns the denial of the first row whose values violate a policy, in the order of the
    /// policy checks after a write.
    async fn denied(&mut self, mut tried: Vec<Tried<'a>>) -> Result<Option<Undone>, DbError> {
        while !tried.is_empty() {
            let ty = tried[0].ty;
            for part in tried
                .extract_if(.., |part| part.ty == ty)
                .collect::<Vec<_>>()
            {
                if let Some(row) = self.broken_row(&part).await? {
                    return Ok(Some(forbidden(part.name, row.path.as_deref())));
                }
            }
        }

        Ok(None)
    }

    async fn broken_row<'t>(
        &mut self,
        tried: &'t Tried<'a>,
    ) -> Result<Option<&'t TriedRow>, DbError> {
        let filled = self
            .try_run(tried.table.filled())
            .await?
            .into_iter()
            .flatten()
            .collect();

        for rows in tried.rows.chunk_by(TriedRow::is_like) {
            let given = tried.given(rows, &filled);
            let db = self.work.db();
            let row_filter = self.mutation.row_filter();
            let Some(statement) = may_be_permitted(db.views(self.catalog), row_filter, &given)?
            else {
                continue;
            };

            let permitted = db.reader().fetch(&statement).await?;
            let broken = (0..permitted.len()).find(|row| permitted.cell(*row, 0) != Some(&[1]));

            if let Some(broken) = broken.and_then(|row| rows.get(row)) {
                return Ok(Some(broken));
            }
        }

        Ok(None)
    }
}

impl TriedRow {
    /// Whether another row has the same origin and gives the same columns.
    fn is_like(&self, other: &Self) -> bool {
        let is_same_origin =
            std::mem::discriminant(&self.origin) == std::mem::discriminant(&other.origin);
        if Arc::ptr_eq(&self.columns, &other.columns) {
            return is_same_origin;
        }

        let same = self
            .columns
            .iter()
            .all(|(column, _)| other.columns.get(column).is_some());
        is_same_origin && same && self.columns.len() == other.columns.len()
    }
}

/// Whether an error reveals the existence of other rows: a violated unique or exclusion constraint,
/// or a foreign key.
fn tells_of_others(error: &DbError) -> bool {
    error.fault().is_some_and(|fault| {
        let of_others = ["23505", "23P01", "23503", "23001"];
        fault.is_of_reference || of_others.contains(&fault.code.as_str())
    })
}
