//! Upserts: finds the rows that already exist, and checks whether policies permit them.
//!
//! PostgreSQL compares stored values, and triggers, type lengths, defaults and collations can make
//! these differ from the given ones. A lookup by the given values therefore finds the rows only in
//! most cases, and decides nothing by itself: the write changes only rows that were found and
//! permitted. If it skips a row, PostgreSQL reports which rows a trial insert conflicts with. With a
//! trigger that may change the values, the lookup neither rejects a write nor finds a kept row.

use super::TableMutation;
use super::level::{Level, NewRow, Origin, WrittenRow};
use super::run::ids;
use super::undone::Undone;
use super::writer::{Writer, forbidden};
use crate::graphql::mutate::function::CallOutcome;
use crate::sql::{Filter, col};
use svc_core::exact_json::Fields;
use svc_core::{Error, ErrorCode};
use svc_postgres::{Conflict, ConflictAction, DbError, Statement};

/// The rows that an upsert may change.
#[derive(Clone, Copy)]
enum Changeable<'k> {
    All,
    /// Only the rows with these keys.
    Among(&'k [String]),
}

impl TableMutation<'_> {
    pub(super) async fn upsert<'a>(
        &'a self,
        mut writer: Writer<'a>,
        level: &Level<'a>,
    ) -> Result<CallOutcome, Undone> {
        let shown = self.shown_where();
        let written = match self.is_governed || !shown.is_empty() {
            true => self.put_permitted(&mut writer, level, &shown).await?,
            false => {
                let rows = self.rows(level);
                self.put(&mut writer, level, rows, Changeable::All)
                    .await?
                    .ok_or_else(|| level.not_taken(None))?
            }
        };

        let ids = written
            .iter()
            .filter_map(|written| written.values.first().cloned())
            .collect::<Vec<_>>();
        writer.children(level, written).await?;
        writer.permits_all().await?;

        self.finish(writer.work, "success", &ids).await
    }

    /// The conditions that a row fulfils if the client can see its conflict columns: a masked value
    /// is null to the client.
    fn shown_where(&self) -> Vec<Filter> {
        let is_masked = |column: &&&str| {
            self.db
                .rules
                .as_ref()
                .is_some_and(|rules| rules.mask(self.row, column).is_some())
        };

        let masked = self.write.conflict.iter().filter(is_masked);
        masked
            .map(|column| Filter::Not(Box::new(col(column).is_null())))
            .collect()
    }

    /// Writes the rows if the policies permit the existing ones.
    async fn put_permitted<'a>(
        &'a self,
        writer: &mut Writer<'a>,
        level: &Level<'a>,
        shown: &[Filter],
    ) -> Result<Vec<WrittenRow<'a>>, Undone> {
        // One snapshot: a row added since then makes the write fail, so that no row is changed
        // unseen.
        writer.in_snapshot();
        let rows = self.rows(level);
        let found = self.permitted_matches(writer, level, &rows, shown).await?;

        if let Some(written) = self
            .put(writer, level, rows, Changeable::Among(&found))
            .await?
        {
            return Ok(written);
        }

        // The write met a row that the lookup had not found.
        writer.begin_again().await?;

        // The rows that these refer to were rolled back as well, so they are written once more.
        let mut rows = self.rows(level);
        writer.refer(level, &mut rows).await?;
        let Some(met) = writer.met(level, &rows, self.write.conflict).await? else {
            return Err(writer.left_out(level, None).await);
        };

        self.permit_existing(writer, &met, shown).await?;

        match self
            .put(writer, level, rows, Changeable::Among(&met))
            .await?
        {
            Some(written) => Ok(written),
            None => Err(writer.left_out(level, None).await),
        }
    }

    /// Returns the keys of the existing rows with the given values. Rejects the write if the policies
    /// do not permit one of them, unless a trigger may change the values: the row may then be stored
    /// under another key, and only the permitted rows are returned.
    async fn permitted_matches<'a>(
        &self,
        writer: &mut Writer<'a>,
        level: &Level<'a>,
        rows: &[NewRow<'a>],
        shown: &[Filter],
    ) -> Result<Vec<String>, Undone> {
        let found = level
            .table
            .existing(&items_of(rows), self.write.conflict, &[level.key]);
        let mut found = ids(writer.run(level, found, rows).await?);
        let visible = writer.visible_where(self.row, &found, shown).await?;
        if found.iter().all(|key| visible.contains(key)) {
            return Ok(found);
        }

        let triggers = level.table.changing_triggers();
        if writer.run(level, triggers, rows).await?.is_empty() {
            return Err(forbidden(self.name(), None));
        }

        found.retain(|key| visible.contains(key));
        Ok(found)
    }

    /// Rejects the write if the policies do not permit one of the existing rows.
    async fn permit_existing(
        &self,
        writer: &Writer<'_>,
        keys: &[String],
        shown: &[Filter],
    ) -> Result<(), Undone> {
        let visible = writer.visible_where(self.row, keys, shown).await?;
        match keys.iter().all(|key| visible.contains(key)) {
            true => Ok(()),
            false => Err(forbidden(self.name(), None)),
        }
    }

    /// Adds rows or updates existing ones, after writing the rows that they refer to. Returns
    /// `None` if not every row was written.
    async fn put<'a>(
        &'a self,
        writer: &mut Writer<'a>,
        level: &Level<'a>,
        mut rows: Vec<NewRow<'a>>,
        changeable: Changeable<'_>,
    ) -> Result<Option<Vec<WrittenRow<'a>>>, Undone> {
        writer.refer(level, &mut rows).await?;
        rows.iter_mut().for_each(|row| row.origin = Origin::Either);
        let items = items_of(&rows);
        if self.write.replaces && !are_alike(&items) {
            let message = "give the same fields in each item: what one leaves out would be reset in a row that is there";
            return Err(Undone::Error(Error::new(ErrorCode::BadUserInput, message)));
        }

        let action = match (self.write.replaces, changeable) {
            (false, _) => ConflictAction::Keep,
            (true, Changeable::All) => ConflictAction::Replace,
            (true, Changeable::Among(keys)) => ConflictAction::ReplaceAmong(keys),
        };

        let conflict = Conflict {
            columns: self.write.conflict,
            action,
        };

        let mut values = writer
            .write(
                level,
                level.table.insert(&items, Some(conflict), &level.returned),
                &rows,
            )
            .await?;

        if !self.write.replaces && values.len() < rows.len() {
            values = self.kept(writer, level, &rows, &items).await?;
        }

        Ok((values.len() == rows.len()).then(|| writer.written(level, rows, values, true)))
    }

    /// Returns the values of all rows. Some of them existed already and stay unchanged.
    async fn kept<'a>(
        &self,
        writer: &mut Writer<'a>,
        level: &Level<'a>,
        rows: &[NewRow<'a>],
        items: &[Fields],
    ) -> Result<Vec<Vec<String>>, Undone> {
        let found =
            level
                .table
                .existing_without_triggers(items, self.write.conflict, &level.returned);
        let found = writer.run(level, found, rows).await?;
        if found.len() == rows.len() {
            return Ok(found);
        }

        let unreadable = || {
            let message = format!(
                "there is such a `{}` already, which cannot be read",
                level.name
            );
            Undone::failure("conflict:unreadable", message)
        };

        let met = writer
            .met(level, rows, self.write.conflict)
            .await?
            .ok_or_else(unreadable)?;

        // A trigger has skipped the others.
        if met.len() < rows.len() {
            return Err(writer.left_out(level, None).await);
        }

        let shown = self.shown_where();
        if self.is_governed || !shown.is_empty() {
            self.permit_existing(writer, &met, &shown).await?;
        }

        let values = writer
            .run(level, level.table.with_keys(&met, &level.returned), rows)
            .await?;

        if values.len() < rows.len() {
            Err(unreadable())
        } else {
            Ok(values)
        }
    }
}

impl<'a> Writer<'a> {
    /// Returns the keys of the rows that PostgreSQL meets when it inserts these, in their order,
    /// and undoes the insert. Returns `None` if the service may not change the table.
    async fn met(
        &mut self,
        level: &Level<'a>,
        rows: &[NewRow<'a>],
        columns: &[&'static str],
    ) -> Result<Option<Vec<String>>, Undone> {
        let conflict = Conflict {
            columns,
            action: ConflictAction::Note,
        };

        let noting = level
            .table
            .insert(&items_of(rows), Some(conflict), &[level.key]);

        // Only the trial insert is undone, not the rows that were written before it.
        self.run(level, Statement::new("SAVEPOINT svc_met", Vec::new()), &[])
            .await?;
        let met = match self.try_run(noting).await {
            Ok(_) => {
                let noted = self
                    .run(level, level.table.noted(), &[])
                    .await?
                    .into_iter()
                    .flatten()
                    .next();
                let keys = serde_json::from_str(&noted.unwrap_or_default());
                Some(keys.map_err(|error| Undone::Error(error.into()))?)
            }
            Err(error) if may_not_change(&error) => None,
            Err(error) => return Err(self.stopped(level, error, rows).await),
        };

        // Also after an error: this makes the aborted transaction usable again.
        self.run(
            level,
            Statement::new("ROLLBACK TO SAVEPOINT svc_met", Vec::new()),
            &[],
        )
        .await?;

        Ok(met)
    }
}

/// Whether the service lacks a privilege, or only the database may change a column.
fn may_not_change(error: &DbError) -> bool {
    error
        .fault()
        .is_some_and(|fault| matches!(fault.code.as_str(), "42501" | "428C9"))
}

fn items_of(rows: &[NewRow<'_>]) -> Vec<Fields> {
    rows.iter().map(|row| row.columns.clone()).collect()
}

/// Whether all items give the same columns.
fn are_alike(items: &[Fields]) -> bool {
    let same = |one: &Fields, other: &Fields| {
        one.len() == other.len() && one.iter().all(|(column, _)| other.get(column).is_some())
    };
    items.windows(2).all(|pair| same(&pair[0], &pair[1]))
}
