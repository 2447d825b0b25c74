//! Changes and removals of the one row that arguments choose.

use std::borrow::Cow;

use super::TableMutation;
use super::level::{Level, NewRow, Origin, WrittenRow};
use super::run::ids;
use super::tried::Tried;
use super::undone::Undone;
use super::work::Work;
use super::writer::{Writer, forbidden};
use crate::engine::function::CallOutcome;
use crate::json::{ExactJson, Fields};
use crate::postgres::Statement;

impl TableMutation<'_> {
    pub(super) async fn update<'a>(&'a self, mut writer: Writer<'a>, level: &Level<'a>) -> Result<CallOutcome, Undone> {
        let chosen = match self.keeps_rows_back() {
            true => Some(self.lock(&mut writer, level).await?),
            false => None,
        };
        let keys = chosen.as_ref().map_or(Cow::Borrowed(&self.keys), |row| Cow::Owned(row.keys(level)));
        let mut rows = self.rows(level);
        if rows.is_empty() {
            rows.push(level.row(Fields::default(), self.argument.to_owned()));
        }
        rows[0].origin = Origin::There(chosen.as_ref().map(|ChosenRow(key)| key.clone()).unwrap_or_default());
        writer.tried.extend(Tried::new(level, &rows));
        writer.refer(level, &mut rows).await?;

        let values = match rows[0].columns.len() {
            // The row stays as it is while others are written that refer to it.
            0 => {
                let find = level.table.find(&keys, level.to_many().next().is_some(), &level.returned);
                self.one(writer.run(level, find, &[]).await?)?
            }
            _ => self.change(&mut writer, level, &rows, (keys.as_slice(), chosen.as_ref())).await?,
        };
        let ids: Vec<_> = values.first().cloned().into_iter().collect();
        let rows = rows.into_iter().take(1).map(|row| WrittenRow { row, values: values.clone(), was_there: true });
        writer.children(level, rows.collect()).await?;
        if self.is_governed {
            self.permits_still(&writer.work, &ids).await?;
        }
        writer.permits_all().await?;
        self.finish(writer.work, "updated", &ids).await
    }

    /// Changes the row that the keys choose, and gives columns of it.
    async fn change<'a>(
        &'a self,
        writer: &mut Writer<'a>,
        level: &Level<'a>,
        rows: &[NewRow<'a>],
        (keys, chosen): (&[(&str, ExactJson)], Option<&ChosenRow>),
    ) -> Result<Vec<String>, Undone> {
        let columns = &rows[0].columns;
        let changed = writer.write_noted(level, level.table.update(columns, keys, &level.returned), rows).await?;
        if changed.is_empty() {
            return Err(match chosen {
                Some(_) => level.not_taken(None),
                None => self.unchanged(writer, level, keys).await,
            });
        }
        let values = self.one(changed)?;
        // A trigger of a view can answer with another row than the one that was chosen.
        let is_other = chosen.is_some_and(|ChosenRow(key)| values.first() != Some(key));
        if is_other && !level.table.is_table() && columns.get(level.key).is_none() {
            return Err(forbidden(self.name(), None));
        }
        Ok(values)
    }

    /// The row is read before it is removed.
    pub(super) async fn delete<'a>(&'a self, mut writer: Writer<'a>, level: &Level<'a>) -> Result<CallOutcome, Undone> {
        let row = self.lock(&mut writer, level).await?;
        let (keys, ids) = (row.keys(level), [row.0]);
        let outcome = self.read(writer.work.db(), "deleted", &ids).await?;
        let deleted = writer.run(level, level.table.delete(&keys), &[]).await?;
        if !deleted.is_empty() {
            self.one(deleted)?;
        } else if !writer.visible(self.row, &ids).await?.is_empty() {
            // A trigger that marks rows as deleted leaves them in the table, where the view no longer has them.
            return Err(level.not_taken(None));
        }
        match writer.work.into_transaction() {
            Some(transaction) => self.keep(transaction, outcome).await,
            None => Ok(outcome),
        }
    }

    /// Locks the row that the arguments choose among those that are permitted, and gives its key. Where the service may not
    /// lock it there is one snapshot, and what others have changed since cannot be written.
    async fn lock<'a>(&'a self, writer: &mut Writer<'a>, level: &Level<'a>) -> Result<ChosenRow, Undone> {
        let keys = match self.keeps_rows_back() {
            // Rows of others that have the same values are not locked.
            true => [self.choose(writer, level).await?.keys(level), self.keys.clone()].concat(),
            false => self.keys.clone(),
        };
        let found = writer.find_locked(level, &keys).await.map_err(|error| self.undone(error))?;
        self.permitted(writer, found).await
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
}

/// The key of a row that the arguments choose.
struct ChosenRow(String);

impl ChosenRow {
    /// The column and the value that choose this row alone.
    fn keys<'a>(&self, level: &Level<'a>) -> Vec<(&'a str, ExactJson)> {
        vec![(level.key, ExactJson::String(self.0.clone()))]
    }
}
