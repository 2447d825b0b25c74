//! Rows of other tables that refer to written rows: adds new rows, updates given ones, and deletes
//! the remaining ones.

use std::collections::HashSet;

use super::columns::NestedField;
use super::level::{Level, NewRow, Origin, WrittenRow};
use super::taken::Others;
use super::undone::Undone;
use super::writer::Writer;
use svc_core::exact_json::{ExactJson, Fields};
use svc_core::schema::{BoxFuture, NestedVerb};
use svc_postgres::DbError;

/// The rows nested in a field, from all rows of the level above.
#[derive(Default)]
pub(super) struct Held<'a> {
    /// The referenced values of outer rows that exist already: the rows that refer to these values
    /// are replaced.
    pub(super) replaced: Vec<String>,
    /// The rows given with the key of an existing row.
    pub(super) given: Vec<NewRow<'a>>,
    pub(super) new: Vec<NewRow<'a>>,
}

impl<'a> Writer<'a> {
    /// Writes the nested rows that refer to written rows.
    pub(super) fn children<'s>(
        &'s mut self,
        level: &'s Level<'a>,
        mut written: Vec<WrittenRow<'a>>,
    ) -> BoxFuture<'s, Result<(), Undone>> {
        Box::pin(async move {
            // Input objects may nest their own type, so descending without rows would never end.
            let fields = level
                .to_many()
                .filter(|_| !written.is_empty())
                .collect::<Vec<_>>();
            for nested in fields {
                let inner = level.nested(self.mutation, self.catalog, nested)?;
                let held = inner.held(level, nested, &mut written);
                match nested.1.verb {
                    NestedVerb::Links => self.link(&inner, nested, held).await?,
                    _ => self.replace(&inner, nested, held).await?,
                }
            }

            Ok(())
        })
    }

    /// Deletes the rows that are not given, updates the given ones, and adds the new ones.
    async fn replace(
        &mut self,
        level: &Level<'a>,
        (_, nested): NestedField<'a>,
        held: Held<'a>,
    ) -> Result<(), Undone> {
        let mut written = Vec::new();
        if !held.replaced.is_empty() {
            let there = self.there(level, nested.column, &held, &[]).await?;
            self.check_given(level, &held.given, &there.visible).await?;

            // Deleted first, so that given and new rows can take the unique values of the deleted
            // ones.
            if !there.visible.is_empty() {
                let kept = held.keys(level);
                let removing = level.table.delete_others(&there.visible, &kept);
                let (column, to, keys) = (
                    nested.column,
                    held.replaced.as_slice(),
                    there.visible.as_slice(),
                );

                self.change_others(
                    level,
                    removing,
                    Others {
                        column,
                        to,
                        keys,
                        kept: &kept,
                        removes: true,
                    },
                )
                .await?;
            }

            written.extend(
                self.change(level, nested.column, held.given, &there.hidden)
                    .await?,
            );
        }

        written.extend(self.insert_rows(level, held.new).await?);

        self.children(level, written).await
    }

    /// Rejects keys that no permitted row has, before a constraint or a trigger can reveal the
    /// contents of other rows.
    async fn check_given(
        &mut self,
        level: &Level<'a>,
        rows: &[NewRow<'a>],
        visible: &[String],
    ) -> Result<(), Undone> {
        if level.governed.is_none() || rows.is_empty() {
            return Ok(());
        }

        let items: Vec<_> = rows.iter().map(|row| row.columns.clone()).collect();
        let found = self
            .run(
                level,
                level.table.find_each(&items, &[level.key], false),
                rows,
            )
            .await?;

        let hidden = found
            .iter()
            .filter_map(|answer| answer.get(1))
            .filter(|key| !visible.contains(key))
            .cloned();

        let hidden = hidden.collect();

        level.by_item(found, rows, &hidden).map(drop)
    }

    /// Updates existing rows.
    async fn change(
        &mut self,
        level: &Level<'a>,
        column: &str,
        mut rows: Vec<NewRow<'a>>,
        hidden: &HashSet<String>,
    ) -> Result<Vec<WrittenRow<'a>>, Undone> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }

        // `UPDATE … FROM` applies one of several items for the same row, and it is not defined
        // which.
        level.each_once(&rows)?;
        self.refer(level, &mut rows).await?;
        let values = self
            .change_each(level, &rows, &[level.key, column], &level.returned, hidden)
            .await?;

        Ok(self.written(level, rows, values, true))
    }

    /// Finds the rows that refer to the replaced values. Rows that the policies permit are locked,
    /// hidden ones are not. Rows with the keys in `linked` are locked and found together with them.
    pub(super) async fn there(
        &mut self,
        level: &Level<'a>,
        column: &str,
        held: &Held<'a>,
        linked: &[String],
    ) -> Result<There, Undone> {
        let Some(ty) = level.governed else {
            let visible = self
                .referring(level, column, held, (None, Some(linked)))
                .await?;
            return Ok(There {
                visible,
                hidden: HashSet::new(),
            });
        };

        // Rows that the client may not see must not be locked, and a permitted row may become
        // another's before it is locked.
        let keys = self.referring(level, column, held, (None, None)).await?;
        let permitted = self.visible(ty, &keys).await?;
        let (mut visible, mut hidden): (Vec<_>, HashSet<_>) = (Vec::new(), HashSet::new());

        for key in keys {
            if permitted.contains(&key) {
                visible.push(key);
            } else {
                _ = hidden.insert(key);
            }
        }

        if visible.is_empty() {
            return Ok(There { visible, hidden });
        }

        let locked = self
            .referring(level, column, held, (Some(&visible), Some(linked)))
            .await?;
        let permitted = self.visible(ty, &locked).await?;
        let (visible, lost): (Vec<_>, Vec<_>) =
            locked.into_iter().partition(|key| permitted.contains(key));
        hidden.extend(lost);

        Ok(There { visible, hidden })
    }

    /// Returns the keys of the rows that refer to the replaced values, optionally only those in
    /// `among`. If `locked` is given, they are locked together with the rows with these keys.
    async fn referring(
        &mut self,
        level: &Level<'a>,
        column: &str,
        held: &Held<'a>,
        (among, locked): (Option<&[String]>, Option<&[String]>),
    ) -> Result<Vec<String>, Undone> {
        let (table, to) = (&level.table, &held.replaced);
        let (statement, rows) = match locked {
            Some(linked @ [_, ..]) => (
                table.lock_links(column, to, among, linked),
                held.given.as_slice(),
            ),
            _ => (
                table.referring(column, to, among, locked.is_some()),
                &held.given[..0],
            ),
        };

        let keys = self.run(level, statement, rows).await?;

        Ok(keys
            .into_iter()
            .filter_map(|key| key.into_iter().next())
            .collect())
    }
}

/// The keys of existing rows.
pub(super) struct There {
    pub(super) visible: Vec<String>,
    /// The rows that the policies hide from the client.
    pub(super) hidden: HashSet<String>,
}

impl<'a> Level<'a> {
    /// Returns the rows of this level that are nested in a field.
    fn held(
        &self,
        outer: &Level<'a>,
        (field, nested): NestedField<'a>,
        written: &mut [WrittenRow<'a>],
    ) -> Held<'a> {
        let mut held = Held::default();
        for WrittenRow {
            row,
            values,
            was_there,
        } in written
        {
            let Some(ExactJson::Array(items)) = row.take(&field.rust) else {
                continue;
            };

            let referred = outer
                .value(values, nested.references.unwrap_or(outer.key))
                .cloned()
                .unwrap_or_default();
            if *was_there {
                held.replaced.push(referred.clone());
            }

            for (index, item) in items.into_iter().enumerate() {
                let path = format!("{}.{}[{index}]", row.path, field.name);
                let document = match item {
                    ExactJson::Object(document) => document,
                    key => {
                        let mut document = Fields::default();
                        document.insert("id".to_owned(), key);
                        document
                    }
                };

                let mut inner = self.nested_row(document, path);
                inner.columns.insert(
                    nested.column.to_owned(),
                    ExactJson::String(referred.clone()),
                );

                // A new outer row has no rows yet, so a key given there is the key of a row to add.
                let is_there =
                    nested.verb == NestedVerb::Links || (*was_there && inner.has(self.key));
                if is_there {
                    inner.origin =
                        Origin::There(inner.columns.get(self.key).map(text_of).unwrap_or_default());
                }

                if is_there {
                    held.given.push(inner);
                } else {
                    held.new.push(inner);
                }
            }
        }

        held
    }

    /// Checks that no row is given twice.
    pub(super) fn each_once(&self, rows: &[NewRow<'a>]) -> Result<(), Undone> {
        let mut seen = HashSet::new();
        match rows
            .iter()
            .find(|row| !seen.insert(row.columns.get(self.key).map(ToString::to_string)))
        {
            Some(row) => Err(self.given_twice(row)),
            None => Ok(()),
        }
    }

    /// The failure of a row that is given a second time.
    pub(super) fn given_twice(&self, row: &NewRow<'a>) -> Undone {
        let message = format!(
            "`{}`: the same `{}` is given before; give each once",
            row.path, self.name
        );
        Undone::failure("validation:given_twice", message)
    }

    /// Returns the values of each row, from result rows that start with the item's number. A
    /// missing or hidden row is a `not_found` failure.
    pub(super) fn by_item(
        &self,
        answers: Vec<Vec<String>>,
        rows: &[NewRow<'a>],
        hidden: &HashSet<String>,
    ) -> Result<Vec<Vec<String>>, Undone> {
        let mut values = vec![Vec::new(); rows.len()];
        for mut answer in answers {
            let number = answer.remove(0).parse::<usize>().unwrap_or_default();

            // Items are numbered from 1, and 0 wraps to an index without a place.
            if let Some(place) = values.get_mut(number.wrapping_sub(1)) {
                *place = answer;
            }
        }

        let is_missing = |values: &[String]| values.first().is_none_or(|key| hidden.contains(key));
        match rows
            .iter()
            .zip(&values)
            .find(|(_, values)| is_missing(values))
        {
            Some((row, _)) => {
                let message = format!("`{}`: there is no such `{}`", row.path, self.name);
                Err(Undone::failure("not_found:", message))
            }
            None => Ok(values),
        }
    }

    pub(super) fn is_nested(&self) -> bool {
        self.place.contains('.')
    }

    /// Returns the path in the arguments that an error refers to, as precisely as possible.
    pub(super) fn place_of(&self, error: &DbError, rows: &[NewRow<'a>]) -> String {
        // For a missing value (23502), a fault has the column, as `table.column`, in place of a
        // constraint.
        let column = error
            .fault()
            .filter(|fault| fault.code == "23502" && !fault.is_of_reference)
            .and_then(|fault| fault.constraint);
        let column = column
            .as_deref()
            .and_then(|column| column.rsplit('.').next());
        let lacking =
            column.and_then(|column| Some((column, rows.iter().find(|row| !row.has(column))?)));
        match (lacking, rows) {
            (Some((column, row)), _) => match self.field_of(column) {
                Some(field) => format!("{}.{field}", row.path),
                None => row.path.clone(),
            },
            (None, [row]) => row.path.clone(),
            _ => self.place.clone(),
        }
    }
}

impl Held<'_> {
    /// The keys of the given rows.
    pub(super) fn keys(&self, level: &Level<'_>) -> Vec<String> {
        self.given
            .iter()
            .filter_map(|row| row.columns.get(level.key).map(text_of))
            .collect()
    }
}

/// The text of a key.
fn text_of(key: &ExactJson) -> String {
    key.as_str().map_or_else(|| key.to_string(), str::to_owned)
}
