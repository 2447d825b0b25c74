//! Checks that the database has applied a write: triggers and rules can skip rows without an error.

use std::collections::HashSet;

use super::TableMutation;
use super::level::{Level, NewRow};
use super::undone::Undone;
use super::writer::Writer;
use svc_core::exact_json::{ExactJson, Fields};
use svc_postgres::{DbError, RowLock, Statement};

/// Rows to delete or unlink.
pub(super) struct Others<'k> {
    /// The referring column, and its values.
    pub(super) column: &'k str,
    pub(super) to: &'k [String],
    pub(super) keys: &'k [String],
    pub(super) kept: &'k [String],
    /// Whether it is enough that the view no longer contains them.
    pub(super) removes: bool,
}

impl TableMutation<'_> {
    /// Returns the failure of an update that affected no row: either there is none, or the database
    /// skipped it.
    pub(super) async fn unchanged<'a>(
        &self,
        writer: &mut Writer<'a>,
        level: &Level<'a>,
        keys: &[(&str, ExactJson)],
    ) -> Undone {
        // First undo anything that a trigger has done instead.
        if let Err(undone) = writer.begin_again().await {
            return undone;
        }

        match writer.find_locked(level, keys).await {
            Ok(found) if found.is_empty() => self.missing(),
            Ok(_) => level.not_taken(None),
            Err(error) => writer.undone(level, error, &[]),
        }
    }
}

impl<'a> Writer<'a> {
    /// Locks the rows selected by keys, and returns their keys. If the service may not lock them,
    /// the transaction uses one snapshot instead, and rows changed by others since then cannot be
    /// written.
    pub(super) async fn find_locked(
        &mut self,
        level: &Level<'a>,
        keys: &[(&str, ExactJson)],
    ) -> Result<Vec<Vec<String>>, DbError> {
        let find = |locks| level.table.find(keys, locks, &[level.key]);
        match self.try_run(find(true)).await {
            Err(error) if error.is_of_lock() => {
                // Nothing is written before the lock, so another transaction loses nothing.
                self.begin_unlocked().await?;
                self.try_run(find(false)).await
            }
            found => found,
        }
    }

    /// Like `find_locked`, for the rows with these keys. The keys are returned in order.
    pub(super) async fn find_all_locked(
        &mut self,
        level: &Level<'a>,
        keys: &[String],
        lock: RowLock,
    ) -> Result<Vec<Vec<String>>, DbError> {
        match self.try_run(level.table.find_all(keys, Some(lock))).await {
            Err(error) if error.is_of_lock() => {
                // A part has the isolation of its transaction: a snapshot only with row policies.
                let db = self.mutation.db;
                if db.is_enclosed() && db.rules.is_none() {
                    return Err(error);
                }

                self.begin_unlocked().await?;
                self.try_run(level.table.find_all(keys, None)).await
            }
            found => found,
        }
    }

    /// Updates existing rows, each selected by some columns of its item, and returns their values.
    pub(super) async fn change_each(
        &mut self,
        level: &Level<'a>,
        rows: &[NewRow<'a>],
        chosen: &[&str],
        returning: &[&str],
        hidden: &HashSet<String>,
    ) -> Result<Vec<Vec<String>>, Undone> {
        let items: Vec<Fields> = rows.iter().map(|row| row.columns.clone()).collect();
        let answers = self
            .write(
                level,
                level.table.update_each(&items, chosen, returning),
                rows,
            )
            .await?;

        if answers.len() < rows.len() {
            let found = self
                .run(level, level.table.find_each(&items, chosen, false), rows)
                .await?;
            level.each_changed(&answers, &found, rows, hidden)?;
        }

        level.by_item(answers, rows, hidden)
    }

    /// Deletes or unlinks all rows except the kept ones.
    pub(super) async fn change_others(
        &mut self,
        level: &Level<'a>,
        statement: Statement,
        others: Others<'_>,
    ) -> Result<(), Undone> {
        let Others {
            column,
            to,
            keys,
            kept,
            removes,
        } = others;

        let kept_keys: HashSet<_> = kept.iter().collect();
        let expected = keys.iter().filter(|key| !kept_keys.contains(key)).count();
        let changed = self
            .work
            .count(statement)
            .await
            .map_err(|error| self.undone(level, error, &[]))?;

        if usize::try_from(changed).is_ok_and(|changed| changed == expected) {
            return Ok(());
        }

        // The count may differ without a failure: rows may disappear together with another, and a
        // key may be given in another form than it is stored in.
        let left = self
            .run(level, level.table.left(column, to, keys, kept), &[])
            .await?;
        let left: Vec<_> = left.into_iter().flatten().collect();
        let is_there = match (removes, level.of) {
            (true, Some(of)) => !self.visible(of, &left).await?.is_empty(),
            // Without a type, it is unclear which rows exist.
            (true, None) => false,
            (false, _) => !left.is_empty(),
        };

        if is_there {
            Err(level.not_taken(Some(&level.place)))
        } else {
            Ok(())
        }
    }
}

impl<'a> Level<'a> {
    /// Checks that every existing row was changed.
    fn each_changed(
        &self,
        answers: &[Vec<String>],
        found: &[Vec<String>],
        rows: &[NewRow<'a>],
        hidden: &HashSet<String>,
    ) -> Result<(), Undone> {
        let changed: HashSet<_> = answers.iter().filter_map(|answer| answer.first()).collect();
        let mut seen = HashSet::new();
        for row in found {
            let [number, key] = row.as_slice() else {
                continue;
            };

            let Some(given) = number
                .parse()
                .ok()
                .and_then(|number: usize| rows.get(number.wrapping_sub(1)))
            else {
                continue;
            };

            // Different texts can be the same key, such as a uuid in upper and in lower case.
            if !seen.insert(key) {
                return Err(self.given_twice(given));
            }

            if !changed.contains(number) && !hidden.contains(key) {
                return Err(self.not_taken(Some(&given.path)));
            }
        }

        Ok(())
    }
}
