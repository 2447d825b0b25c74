//! Updates and deletes of the single row selected by the arguments, or of the rows selected by the
//! client's filter.

mod many;

use std::borrow::Cow;

use super::TableMutation;
use super::level::{Level, NewRow, Origin, WrittenRow};
use super::run::ids;
use super::tried::Tried;
use super::undone::Undone;
use super::work::Work;
use super::writer::{Writer, forbidden};
use crate::graphql::mutate::function::CallOutcome;
use crate::sql::permitted_rows;
use svc_core::exact_json::{ExactJson, Fields};

impl TableMutation<'_> {
    pub(super) async fn update<'a>(
        &'a self,
        mut writer: Writer<'a>,
        level: &Level<'a>,
    ) -> Result<CallOutcome, Undone> {
        // Without policies, the update finds and locks the row by itself, which saves a round trip.
        let chosen = match self.keeps_rows_back() {
            true => Some(self.lock(&mut writer, level).await?),
            false => None,
        };

        let keys = chosen
            .as_ref()
            .map_or(Cow::Borrowed(&self.keys), |row| Cow::Owned(row.keys(level)));
        let mut rows = self.rows(level);
        if rows.is_empty() {
            rows.push(level.row(Fields::default(), self.argument.to_owned()));
        }

        rows[0].origin = Origin::There(
            chosen
                .as_ref()
                .map(|ChosenRow(key)| key.clone())
                .unwrap_or_default(),
        );

        writer.tried.extend(Tried::new(level, &rows));
        writer.refer(level, &mut rows).await?;

        let values = match rows[0].columns.len() {
            // The row itself stays unchanged, and only rows that refer to it are written.
            0 => {
                let find =
                    level
                        .table
                        .find(&keys, level.to_many().next().is_some(), &level.returned);
                self.one(writer.run(level, find, &[]).await?)?
            }
            _ => {
                self.change(
                    &mut writer,
                    level,
                    &rows,
                    (keys.as_slice(), chosen.as_ref()),
                )
                .await?
            }
        };

        let ids: Vec<_> = values.first().cloned().into_iter().collect();
        let rows = rows.into_iter().take(1).map(|row| WrittenRow {
            row,
            values: values.clone(),
            was_there: true,
        });

        writer.children(level, rows.collect()).await?;
        if self.is_governed {
            self.permits_still(&writer.work, &ids).await?;
        }

        writer.permits_all().await?;

        self.finish(writer.work, "updated", &ids).await
    }

    /// Updates the row selected by the keys, and returns columns of it.
    async fn change<'a>(
        &'a self,
        writer: &mut Writer<'a>,
        level: &Level<'a>,
        rows: &[NewRow<'a>],
        (keys, chosen): (&[(&str, ExactJson)], Option<&ChosenRow>),
    ) -> Result<Vec<String>, Undone> {
        let columns = &rows[0].columns;
        let changed = writer
            .write_noted(
                level,
                level.table.update(columns, keys, &level.returned),
                rows,
            )
            .await?;

        if changed.is_empty() {
            return Err(match chosen {
                // The row is locked, so it exists.
                Some(_) => level.not_taken(None),
                None => self.unchanged(writer, level, keys).await,
            });
        }

        let values = self.one(changed)?;

        // A trigger on a view can return a different row from the selected one.
        let is_other = chosen.is_some_and(|ChosenRow(key)| values.first() != Some(key));
        if is_other && !level.table.is_table() && columns.get(level.key).is_none() {
            return Err(forbidden(self.name(), None));
        }

        Ok(values)
    }

    /// Reads the row for the response, then deletes it.
    pub(super) async fn delete<'a>(
        &'a self,
        mut writer: Writer<'a>,
        level: &Level<'a>,
    ) -> Result<CallOutcome, Undone> {
        let row = self.lock(&mut writer, level).await?;
        let (keys, ids) = (row.keys(level), [row.0]);
        let outcome = self.read(writer.work.db(), "deleted", &ids).await?;
        let deleted = writer.run(level, level.table.delete(&keys), &[]).await?;

        if !deleted.is_empty() {
            self.one(deleted)?;
        } else if !writer.visible(self.row, &ids).await?.is_empty() {
            // A trigger that marks rows as deleted keeps them in the table, but the view no longer
            // contains them.
            return Err(level.not_taken(None));
        }

        match writer.work.into_transaction() {
            Some(transaction) => self.keep(transaction, outcome).await,
            None => Ok(outcome),
        }
    }

    /// Locks the permitted row that the arguments select, and returns its key. If the service may
    /// not lock it, the transaction uses one snapshot instead, and the row cannot be written if
    /// others have changed it since then.
    async fn lock<'a>(
        &'a self,
        writer: &mut Writer<'a>,
        level: &Level<'a>,
    ) -> Result<ChosenRow, Undone> {
        let keys = match self.keeps_rows_back() {
            // Rows with the same values that the client may not see must not be locked.
            true => [
                self.choose(writer, level).await?.keys(level),
                // The row may have changed between the lookup and the lock, so the arguments still
                // have to fit.
                self.keys.clone(),
            ]
            .concat(),
            false => self.keys.clone(),
        };

        let found = writer
            .find_locked(level, &keys)
            .await
            .map_err(|error| self.undone(error))?;

        self.permitted(writer, found).await
    }

    /// Returns the key of the permitted row that the arguments select. The row is not locked and
    /// may change meanwhile.
    async fn choose<'a>(
        &'a self,
        writer: &mut Writer<'a>,
        level: &Level<'a>,
    ) -> Result<ChosenRow, Undone> {
        let found = writer
            .try_run(level.table.find(&self.keys, false, &[level.key]))
            .await;
        self.permitted(writer, found.map_err(|error| self.undone(error))?)
            .await
    }

    /// Returns the single permitted row among these: the arguments may also match rows that the
    /// client may not see, and a masked value matches nothing.
    async fn permitted(
        &self,
        writer: &Writer<'_>,
        mut found: Vec<Vec<String>>,
    ) -> Result<ChosenRow, Undone> {
        if self.keeps_rows_back() {
            let permitted = writer
                .visible_where(self.row, &ids(found.clone()), &self.masked)
                .await?;
            found.retain(|values| values.first().is_some_and(|id| permitted.contains(id)));
        }

        self.one(found)?
            .into_iter()
            .next()
            .map(ChosenRow)
            .ok_or_else(|| self.missing())
    }

    /// Whether row policies or masks limit the rows that the client may find by the arguments.
    fn keeps_rows_back(&self) -> bool {
        self.is_governed || !self.masked.is_empty()
    }

    /// Checks that the policies permit the rows as written, as far as the view still contains them.
    async fn permits_still(&self, work: &Work<'_>, ids: &[String]) -> Result<(), Undone> {
        if ids.is_empty() {
            return Ok(());
        }

        let catalog = self
            .db
            .app
            .database
            .catalog()
            .await
            .map_err(|error| self.undone(error))?;

        let statement = permitted_rows(work.db().views(&catalog), self.row, ids);
        let statement = statement.map_err(|error| self.undone(error))?;
        let rows = work
            .db()
            .reader()
            .fetch(&statement)
            .await
            .map_err(|error| self.undone(error))?;

        if (0..rows.len()).any(|row| rows.cell(row, 0) != Some(&[1])) {
            return Err(forbidden(self.name(), None));
        }

        Ok(())
    }
}

/// The key of the row that the arguments select.
struct ChosenRow(String);

impl ChosenRow {
    /// The key column and its value, which select only this row.
    fn keys<'a>(&self, level: &Level<'a>) -> Vec<(&'a str, ExactJson)> {
        vec![(level.key, ExactJson::String(self.0.clone()))]
    }
}
