//! Links existing rows of other tables to the written rows.

use std::collections::HashSet;

use super::columns::NestedField;
use super::level::Level;
use super::nested::Held;
use super::taken::Others;
use super::undone::Undone;
use super::writer::Writer;

impl<'a> Writer<'a> {
    /// Makes the given rows refer to the written rows. Rows that referred to them but are no longer
    /// given get a null reference.
    pub(super) async fn link(
        &mut self,
        level: &Level<'a>,
        (_, nested): NestedField<'a>,
        held: Held<'a>,
    ) -> Result<(), Undone> {
        level.each_once(&held.given)?;
        let items: Vec<_> = held.given.iter().map(|row| row.columns.clone()).collect();
        if level.governed.is_some() && !items.is_empty() {
            // Rows that the client may not see must not be locked.
            let found = self
                .run(
                    level,
                    level.table.find_each(&items, &[level.key], false),
                    &held.given,
                )
                .await?;
            let hidden = self.hidden(level, &found).await?;
            level.by_item(found, &held.given, &hidden)?;
        }

        // First, because a unique reference must be free before another row gets it.
        self.unlink(level, nested.column, &held).await?;

        let rows = held.given;
        if rows.is_empty() {
            return Ok(());
        }

        let locked = self
            .run(
                level,
                level.table.find_each(&items, &[level.key], true),
                &rows,
            )
            .await?;

        // Checked again: another transaction may have changed a row before it was locked.
        let hidden = self.hidden(level, &locked).await?;
        level.by_item(locked, &rows, &hidden)?;
        let values = self
            .change_each(level, &rows, &[level.key], &[level.key], &hidden)
            .await?;
        self.written(level, rows, values, true);

        Ok(())
    }

    /// Sets the reference to null in the rows that referred to the written rows but are no longer
    /// given.
    async fn unlink(
        &mut self,
        level: &Level<'a>,
        column: &str,
        held: &Held<'a>,
    ) -> Result<(), Undone> {
        if held.replaced.is_empty() {
            return Ok(());
        }

        let kept = held.keys(level);
        let there = self.there(level, column, held, &kept).await?;
        let kept_keys: HashSet<_> = kept.iter().collect();
        if there.visible.iter().all(|key| kept_keys.contains(key)) {
            return Ok(());
        }

        let unlinking = level.table.unlink_others(column, &there.visible, &kept);
        let others = Others {
            column,
            to: &held.replaced,
            keys: &there.visible,
            kept: &kept,
            removes: false,
        };

        self.change_others(level, unlinking, others).await
    }

    /// Returns the keys in the result that the policies do not permit.
    async fn hidden(
        &self,
        level: &Level<'a>,
        answers: &[Vec<String>],
    ) -> Result<HashSet<String>, Undone> {
        let Some(ty) = level.governed else {
            return Ok(HashSet::new());
        };

        let keys: Vec<_> = answers
            .iter()
            .filter_map(|answer| answer.get(1).cloned())
            .collect();
        let visible = self.visible(ty, &keys).await?;
        Ok(keys
            .into_iter()
            .filter(|key| !visible.contains(key))
            .collect())
    }
}
