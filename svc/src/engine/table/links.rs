//! Rows of other tables that are there, and refer to what was written from now on.

use std::collections::HashSet;

use super::columns::NestedField;
use super::level::Level;
use super::nested::Held;
use super::undone::Undone;
use super::writer::Writer;

impl<'a> Writer<'a> {
    /// Has rows refer to what was written, and those that did, but are not given, to nothing.
    pub(super) async fn link(
        &mut self,
        level: &Level<'a>,
        (_, nested): NestedField<'a>,
        held: Held<'a>,
    ) -> Result<(), Undone> {
        if !held.replaced.is_empty() {
            let there = self.there(level, nested.column, &held).await?;
            if !there.visible.is_empty() {
                let kept = held.keys(level);
                self.run(level, level.table.unlink_others(nested.column, &there.visible, &kept), &[]).await?;
            }
        }
        let rows = held.given;
        if rows.is_empty() {
            return Ok(());
        }
        level.each_once(&rows)?;
        let items: Vec<_> = rows.iter().map(|row| row.columns.clone()).collect();
        let locked = self.run(level, level.table.lock_each(&items, level.key), &rows).await?;
        let hidden = self.hidden(level, &locked).await?;
        level.by_item(locked, &rows, &hidden)?;
        let statement = level.table.update_each(&items, &[level.key], &[level.key]);
        let values = level.by_item(self.run(level, statement, &rows).await?, &rows, &hidden)?;
        self.written(level, rows, values, true);
        Ok(())
    }

    /// The keys among answers that the policies do not permit.
    async fn hidden(&self, level: &Level<'a>, answers: &[Vec<String>]) -> Result<HashSet<String>, Undone> {
        let Some(ty) = level.governed else { return Ok(HashSet::new()) };
        let keys: Vec<_> = answers.iter().filter_map(|answer| answer.get(1).cloned()).collect();
        let visible = self.visible(ty, &keys).await?;
        Ok(keys.into_iter().filter(|key| !visible.contains(key)).collect())
    }
}
