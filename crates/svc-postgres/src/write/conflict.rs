//! Existing rows that conflict with inserted ones: how to find them, and how to handle them.

use super::{ITEMS, Table, list};
use crate::statement::quote;
use crate::{Param, Statement};
use svc_core::exact_json::Fields;

/// How existing rows are handled.
#[derive(Debug, Clone, Copy)]
pub struct Conflict<'a> {
    /// The columns that determine whether a row already exists.
    pub columns: &'a [&'static str],
    pub action: ConflictAction<'a>,
}

/// The action on an existing row.
#[derive(Debug, Clone, Copy)]
pub enum ConflictAction<'a> {
    /// It stays unchanged.
    Keep,
    Replace,
    /// It is changed if it has one of these keys, and otherwise stays unchanged. PostgreSQL
    /// compares the key of the row it has found, before the change, so no other row can be changed.
    ReplaceAmong(&'a [String]),
    /// It stays unchanged, and its key is recorded until the transaction or savepoint ends.
    Note,
}

/// The setting that keys are recorded in.
const NOTED: &str = "svc.matched";

impl Table<'_> {
    /// Selects columns of the rows that the items conflict with by their given values, in the order
    /// of the items. PostgreSQL itself compares the stored values, which may differ because of
    /// triggers, lengths and defaults.
    pub fn existing(&self, items: &[Fields], columns: &[&str], returning: &[&str]) -> Statement {
        self.matching(items, columns, returning, "")
    }

    /// Selects like [`existing`](Self::existing), but selects nothing if a trigger may change a row
    /// before it is inserted: the row may then conflict with another row than its given values do.
    pub fn existing_without_triggers(
        &self,
        items: &[Fields],
        columns: &[&str],
        returning: &[&str],
    ) -> Statement {
        let condition = format!(" WHERE NOT {}", self.may_be_changed());
        self.matching(items, columns, returning, &condition)
    }

    /// Selects one row if a trigger may change a row before it is inserted, and otherwise none.
    pub fn changing_triggers(&self) -> Statement {
        let text = format!("SELECT ''::text WHERE {}", self.may_be_changed());
        self.statement("select", text, Vec::new())
    }

    /// The condition that a trigger may change a row before it is inserted. The triggers behind a
    /// view are unknown.
    fn may_be_changed(&self) -> String {
        if !self.source.is_table {
            return "true".to_owned();
        }

        let relation = self.source.relation;

        // The bits for row-level `BEFORE INSERT` triggers, which partitions may have on their own.
        format!(
            "EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE (tgrelid = {relation} OR tgrelid IN \
             (SELECT relid FROM pg_catalog.pg_partition_tree({relation}))) \
             AND NOT tgisinternal AND tgenabled <> 'D' AND tgtype & 7 = 7)"
        )
    }

    fn matching(
        &self,
        items: &[Fields],
        columns: &[&str],
        returning: &[&str],
        condition: &str,
    ) -> Statement {
        let is_given = |column: &str| items.first().is_some_and(|item| item.get(column).is_some());
        let value = |column: &str| match self.source.defaults.get(column) {
            Some(default) if !is_given(column) => format!("({default})"),
            _ => self.value("i.v", column),
        };

        let same = columns
            .iter()
            .map(|column| format!("t.{} = {}", quote(column), value(column)));
        let (table, same) = (&self.source.quoted, same.collect::<Vec<_>>().join(" AND "));
        let returned = self.returned("t.", returning);
        let text = format!(
            "SELECT {returned} FROM {ITEMS} JOIN {table} AS t ON {same}{condition} ORDER BY i.n"
        );

        self.statement("select", text, vec![list(items)])
    }

    /// Selects the recorded keys, as a JSON list, in the order in which PostgreSQL met the rows.
    pub fn noted(&self) -> Statement {
        self.statement("select", format!("SELECT {}", noted()), Vec::new())
    }

    /// Selects columns of the rows with these keys, in the order of the keys.
    pub fn with_keys(&self, keys: &[String], returning: &[&str]) -> Statement {
        let (table, key, cast) = (&self.source.quoted, &self.key.quoted, self.key.cast());
        let returned = self.returned("t.", returning);
        let text = format!(
            "SELECT {returned} FROM unnest($1::text[]) WITH ORDINALITY AS u(v, n) \
             JOIN {table} AS t ON t.{key} = u.v::{cast} ORDER BY u.n"
        );
        self.statement("select", text, vec![Param::Texts(keys.to_vec())])
    }

    /// The clause after the values of inserted rows; its keys are bound after those values. The
    /// table's alias is `t`.
    pub(super) fn on_conflict(
        &self,
        Conflict { columns, action }: Conflict<'_>,
        given: &[&str],
        bound: &mut Vec<Param>,
    ) -> String {
        let names = self.names(columns);
        let key = format!("t.{}::text", self.key.quoted);
        let among = match action {
            ConflictAction::Keep => return format!(" ON CONFLICT ({names}) DO NOTHING"),
            ConflictAction::Replace => String::new(),
            ConflictAction::ReplaceAmong(keys) => {
                // The keys are byte-exact texts, and a collation of the column may find others
                // equal.
                bound.push(Param::Texts(keys.to_vec()));
                format!(
                    " WHERE ({key} COLLATE \"C\") = ANY (${}::text[])",
                    bound.len()
                )
            }
            // `set_config` never returns null, so no row is changed and no update trigger runs.
            ConflictAction::Note => {
                let all = format!("{}::jsonb || to_jsonb({key})", noted());
                format!(" WHERE set_config('{NOTED}', ({all})::text, true) IS NULL")
            }
        };

        let others: Vec<_> = given
            .iter()
            .filter(|column| !columns.contains(*column))
            .copied()
            .collect();

        // `DO NOTHING` would not return the existing row, so its equal columns are set again.
        let set = if others.is_empty() { columns } else { &others };
        let set = set
            .iter()
            .map(|column| format!("{0} = EXCLUDED.{0}", quote(column)))
            .collect::<Vec<_>>();

        format!(
            " ON CONFLICT ({names}) DO UPDATE SET {}{among}",
            set.join(", ")
        )
    }
}

/// The recorded keys, as the text of a list.
pub(crate) fn noted() -> String {
    format!("COALESCE(NULLIF(current_setting('{NOTED}', true), ''), '[]')")
}
