//! Filters and orders without an index in a plan, and the indexes that would help.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Hint;
use super::expression::{Condition, Key, SortKey};
use super::plan::{Plan, Scan, Sort};
use super::table::{Table, lookup};
use crate::Statement;

/// The maximum number of tables examined per statement.
const MAX_TABLES: usize = 16;
/// The minimum number of rows that make sorting matter when an index has found the rows.
const MANY: f64 = 1_000.0;

/// A table whose filter or order may have no index.
#[derive(Debug)]
pub(in crate::explain) struct Candidate {
    schema: String,
    table: String,
    /// The conditions that filter its rows, if no index finds any of them.
    filter: Vec<Condition>,
    /// All conditions of the request on it.
    conditions: Vec<Condition>,
    order: Option<Sort>,
    /// The text of all conditions on its rows.
    asked: String,
}

/// The tables to examine, based on a plan that avoids sequential scans and a plan that avoids sorts
/// as well.
pub(in crate::explain) fn candidates(filters: &Value, orders: &Value) -> Vec<Candidate> {
    let Plan { scans, .. } = Plan::of(filters);
    let Plan { sorts, .. } = Plan::of(orders);
    let mut sorts: BTreeMap<String, Sort> = sorts
        .into_iter()
        .map(|sort| (sort.alias.clone(), sort))
        .collect();
    let candidate = |scan: Scan| {
        let order = sorts.remove(&scan.alias);
        let Scan {
            schema,
            table,
            uses_index,
            filter,
            conditions,
            asked,
            ..
        } = scan;

        let filter = if uses_index { Vec::new() } else { filter };
        let is_one = order.is_some() || !filter.is_empty();

        is_one.then_some(Candidate {
            schema,
            table,
            filter,
            conditions,
            order,
            asked,
        })
    };

    scans
        .into_iter()
        .filter_map(candidate)
        .take(MAX_TABLES)
        .collect()
}

impl Candidate {
    /// The statement that reads the table's catalog data.
    pub(in crate::explain) fn lookup(&self) -> Statement {
        lookup(&self.schema, &self.table)
    }

    /// The indexes that would help.
    pub(in crate::explain) fn hints(&self, table: &Table) -> Vec<Hint> {
        let is_equal = |condition: &&Condition| condition.operator == "=";
        let equal: Vec<&Key> = self
            .conditions
            .iter()
            .filter(is_equal)
            .map(|condition| &condition.key)
            .collect();

        let has_index = self
            .filter
            .iter()
            .any(|condition| table.has_index_for(condition, &self.asked));
        let filter = if has_index {
            &[]
        } else {
            self.filter.as_slice()
        };

        // Sorting the few rows that an index has found costs less than another index.
        let order = self.order.as_ref().filter(|sort| {
            let counts = !filter.is_empty() || self.conditions.is_empty() || sort.rows >= MANY;
            counts && !table.has_order(&sort.keys, &equal, &self.asked)
        });
        let order = order.map_or(&[][..], |sort| &sort.keys);
        if filter.iter().any(|condition| condition.operator == "=") || filter.is_empty() {
            return self
                .joint(table, filter, &equal, order)
                .into_iter()
                .collect();
        }

        let by_filter = filter
            .iter()
            .find_map(|condition| filter_hint(table, condition));

        by_filter
            .into_iter()
            .chain(self.joint(table, &[], &[], order))
            .collect()
    }

    /// One index for the equality conditions and the order after them.
    fn joint(
        &self,
        table: &Table,
        filter: &[Condition],
        equal: &[&Key],
        order: &[SortKey],
    ) -> Option<Hint> {
        if filter.is_empty() && order.is_empty() {
            return None;
        }

        // The compared keys come first: rows with equal values in them are in the order of the keys
        // behind.
        let mut keys: Vec<String> = Vec::new();
        for key in equal {
            let key = index_key(table, key);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }

        let filtered = keys.clone();

        // An index can be read backwards as well, so directions matter only if they differ.
        let is_mixed = order
            .iter()
            .any(|key| key.descending != order[0].descending);
        for key in order
            .iter()
            .filter(|key| !filtered.contains(&index_key(table, &key.key)))
        {
            let plain = key.descending == key.nulls_first;
            keys.push(index_key(table, &key.key) + suffix(key, is_mixed || !plain));
        }

        let what = match (filter.is_empty(), order.is_empty()) {
            (false, true) => "the filter".to_owned(),
            (true, _) => format!("the order by {}", names(table, order)),
            (false, false) => format!("the filter and the order by {}", names(table, order)),
        };

        let on = if filter.is_empty() {
            String::new()
        } else {
            format!(" on {}", filtered.join(", "))
        };

        let sql = format!("CREATE INDEX ON {} ({})", table.name, keys.join(", "));

        Some(Hint {
            message: format!("{} has no index for {what}{on}", table.name),
            sql,
        })
    }
}

/// An index for a single condition.
fn filter_hint(table: &Table, condition: &Condition) -> Option<Hint> {
    let key = index_key(table, &condition.key);
    let (index, note) = match condition.operator.as_str() {
        "<" | "<=" | ">" | ">=" => (format!("({key})"), ""),
        "~~" | "~~*" | "~" | "~*" => (
            format!("USING gin ({key} gin_trgm_ops)"),
            "; it needs the extension pg_trgm",
        ),
        "@>" | "<@" | "&&" | "<<" | ">>" | "<<=" | ">>=" if table.is_spatial(&condition.key) => (
            format!("USING gist ({key}{})", table.spatial_class(&condition.key)),
            "",
        ),
        "@>" | "<@" | "&&" | "@@" | "@?" | "?" | "?|" | "?&" => (format!("USING gin ({key})"), ""),
        _ => return None,
    };

    let message = format!("{} has no index for the filter on {key}{note}", table.name);
    Some(Hint {
        message,
        sql: format!("CREATE INDEX ON {} {index}", table.name),
    })
}

/// A key as accepted by `CREATE INDEX`: expressions in parentheses.
fn index_key(table: &Table, key: &Key) -> String {
    let text = table.key(key);
    if key.column.as_deref() == Some(text) {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

fn names(table: &Table, order: &[SortKey]) -> String {
    order
        .iter()
        .map(|key| index_key(table, &key.key))
        .collect::<Vec<_>>()
        .join(", ")
}

fn suffix(key: &SortKey, matters: bool) -> &'static str {
    match (key.descending, key.nulls_first) {
        _ if !matters => "",
        (false, false) => "",
        (false, true) => " NULLS FIRST",
        (true, true) => " DESC",
        (true, false) => " DESC NULLS LAST",
    }
}
