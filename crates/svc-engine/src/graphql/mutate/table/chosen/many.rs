//! Updates and deletes of all rows that the client's filter selects.

use std::collections::HashSet;
use std::slice;

use crate::graphql::complete::Cells;
use crate::graphql::find::typed_statement;
use crate::graphql::mutate::function::CallOutcome;
use crate::graphql::mutate::table::level::{Level, Origin};
use crate::graphql::mutate::table::run::ids;
use crate::graphql::mutate::table::tried::Tried;
use crate::graphql::mutate::table::undone::Undone;
use crate::graphql::mutate::table::writer::{Writer, forbidden};
use crate::graphql::mutate::table::{Selection, TableMutation};
use crate::repository::{Db, FindSpec};
use svc_core::Error;
use svc_core::error::sqlstate::is_contention;
use svc_core::exact_json::Fields;
use svc_postgres::{DbError, Fault, RowLock};

impl TableMutation<'_> {
    /// Writes the same values to all selected rows.
    pub(in crate::graphql::mutate::table) async fn update_all<'a>(
        &'a self,
        mut writer: Writer<'a>,
        level: &Level<'a>,
        selection: &Selection,
    ) -> Result<CallOutcome, Undone> {
        let mut keys = self
            .select(&mut writer, level, selection, RowLock::Update)
            .await?;

        // Without values, the rows stay as they are.
        let new = self.items.first().filter(|new| new.len() != 0);
        if let (Some(new), false) = (new, keys.is_empty()) {
            keys = self.change_all(&mut writer, level, new, keys).await?;
        }

        if self.is_governed {
            self.permits_still(&writer.work, &keys).await?;
        }

        self.stays_filtered(&writer, &keys).await?;

        self.finish(writer.work, "updated", &keys).await
    }

    /// Updates the rows with these keys, and returns the keys of the written rows.
    async fn change_all<'a>(
        &'a self,
        writer: &mut Writer<'a>,
        level: &Level<'a>,
        new: &Fields,
        keys: Vec<String>,
    ) -> Result<Vec<String>, Undone> {
        // One row represents all in errors: they get the same values, and the error names no key.
        let mut one = level.row(new.clone(), self.argument.to_owned());
        one.origin = Origin::There(String::new());

        writer.tried.extend(Tried::same(level, new, &keys));
        let update = level.table.update_all(new, &keys, &level.returned);
        let written = writer
            .write_noted(level, update, slice::from_ref(&one))
            .await?;
        let changed = ids(written);

        // The rows are locked, so they exist.
        if changed.len() < keys.len() {
            return Err(writer.left_out(level, None).await);
        }

        let written: HashSet<&String> = changed.iter().collect();
        if keys.iter().all(|key| written.contains(key)) {
            return Ok(keys);
        }

        // A trigger on a view can return different rows from the selected ones.
        if !level.table.is_table() {
            return Err(forbidden(self.name(), None));
        }

        // A trigger has changed keys, and the rows came back in the order of their updates.
        let ordered = level.table.find_all(&changed, None);
        Ok(ids(writer.run(level, ordered, &[]).await?))
    }

    /// Reads the selected rows for the response, then deletes them.
    pub(in crate::graphql::mutate::table) async fn delete_all<'a>(
        &'a self,
        mut writer: Writer<'a>,
        level: &Level<'a>,
        selection: &Selection,
    ) -> Result<CallOutcome, Undone> {
        let keys = self
            .select(&mut writer, level, selection, RowLock::Delete)
            .await?;
        let outcome = self.read(writer.work.db(), "deleted", &keys).await?;

        if !keys.is_empty() {
            let delete = level.table.delete_all(&keys);
            let deleted = ids(writer.run(level, delete, &[]).await?);
            let deleted: HashSet<_> = deleted.into_iter().collect();
            let left: Vec<_> = keys
                .into_iter()
                .filter(|key| !deleted.contains(key))
                .collect();

            // A trigger that marks rows as deleted keeps them in the table, but the view no longer
            // contains them.
            if !writer.visible(self.row, &left).await?.is_empty() {
                return Err(level.not_taken(None));
            }
        }

        match writer.work.into_transaction() {
            Some(transaction) => self.keep(transaction, outcome).await,
            None => Ok(outcome),
        }
    }

    /// Locks the permitted rows that fit the filter, and returns their keys in order.
    async fn select<'a>(
        &'a self,
        writer: &mut Writer<'a>,
        level: &Level<'a>,
        selection: &Selection,
        lock: RowLock,
    ) -> Result<Vec<String>, Undone> {
        let found = self.matching(writer, selection).await?;
        if found.is_empty() {
            return Ok(found);
        }

        if found.len() > selection.max_rows as usize {
            let most = selection.max_rows;
            let message =
                format!("the filter selects too many rows: at most {most} can be written at once");
            return Err(Undone::failure("validation:too_many_rows", message));
        }

        let locked = self.locked(writer, level, &found, lock).await?;
        let keys: HashSet<_> = locked.iter().collect();

        // Other transactions may have changed the rows before they were locked.
        let conditions = slice::from_ref(&selection.filter);
        let fitting = writer.visible_where(self.row, &locked, conditions).await?;
        if fitting.iter().any(|id| !keys.contains(id)) {
            return Err(Undone::Error(self.misfit(level)));
        }

        // A row that the filter still selects was not deleted, so it was not locked for another
        // reason, such as row-level security.
        let rest: Vec<_> = found
            .iter()
            .filter(|id| !keys.contains(id))
            .cloned()
            .collect();
        let left = writer.visible_where(self.row, &rest, conditions).await?;
        if !left.is_empty() {
            return Err(level.not_taken(None));
        }

        Ok(locked
            .into_iter()
            .filter(|key| fitting.contains(key))
            .collect())
    }

    /// Locks the rows with these ids, and returns their keys in order.
    async fn locked<'a>(
        &self,
        writer: &mut Writer<'a>,
        level: &Level<'a>,
        found: &[String],
        lock: RowLock,
    ) -> Result<Vec<String>, Undone> {
        let locked = writer.find_all_locked(level, found, lock).await;
        let locked = ids(locked.map_err(|error| self.not_locked(level, error))?);
        if locked.iter().collect::<HashSet<_>>().len() < locked.len() {
            return Err(Undone::Error(Error::internal(format!(
                "several rows of `{}` have the same `{}`, so that it is no key",
                self.write.table, level.key
            ))));
        }

        Ok(locked)
    }

    /// Returns the keys of the rows that fit the filter and that the client may see, up to one more
    /// than may be written. The rows are not locked.
    async fn matching(
        &self,
        writer: &mut Writer<'_>,
        selection: &Selection,
    ) -> Result<Vec<String>, Undone> {
        let find = FindSpec {
            filter: selection.filter.clone(),
            limit: Some(i64::from(selection.max_rows) + 1),
            ..FindSpec::new(writer.row_type(self.row)?)
        };

        let statement = typed_statement(self.db, writer.catalog, find, &["id"]);
        let (statement, whole) = statement.map_err(|error| self.unread(error))?;
        let rows = writer.work.read(statement).await;
        let rows = rows.map_err(|error| self.unread(error))?;

        let keys = (0..rows.len()).map(|row| whole.text(&Cells::Nth(&rows, row), "id"));
        keys.collect::<Option<_>>().ok_or_else(|| {
            Undone::Error(Error::internal(format!(
                "a selected `{}` has no `id`, so that its row cannot be written",
                self.name()
            )))
        })
    }

    /// Checks that the authorizer's row filter permits the rows as written, as far as the view still
    /// contains them.
    async fn stays_filtered(&self, writer: &Writer<'_>, keys: &[String]) -> Result<(), Undone> {
        if self.row_filter().is_none() {
            return Ok(());
        }

        let unfiltered = Db {
            row_filter: None,
            ..writer.work.db().clone()
        };

        let there = writer.visible_to(&unfiltered, self.row, keys, &[]).await?;
        if there.is_subset(&writer.visible(self.row, keys).await?) {
            Ok(())
        } else {
            Err(forbidden(self.name(), None))
        }
    }

    /// Converts a database error about the locks. The keys come from the view, so a text that is no
    /// key is not the client's mistake.
    fn not_locked(&self, level: &Level<'_>, error: DbError) -> Undone {
        if error.is_of_data() {
            Undone::Error(self.misfit(level).with_source(error))
        } else {
            self.undone(error)
        }
    }

    /// The error of a view whose ids do not have the form of the keys.
    fn misfit(&self, level: &Level<'_>) -> Error {
        Error::internal(format!(
            "the `id` of `{}` and the column `{}` of `{}` have different forms as texts, so that rows \
             of the one cannot be found in the other",
            self.name(),
            level.key,
            self.write.table
        ))
    }

    /// Converts a database error about the filter. Only conflicts with other transactions are
    /// failures of the mutation; a value that cannot be compared is an error, as in a list.
    fn unread(&self, error: DbError) -> Undone {
        let is_contended = |fault: Fault| is_contention(&fault.code);
        if error.fault().is_some_and(is_contended) {
            return self.undone(error);
        }

        if error.shows_change() {
            self.db.app.database.may_have_changed();
        }
        Undone::Error(error.into_error())
    }
}
