//! A table and its indexes, as described in the catalog. Every role may read that, so hints need
//! no privilege on the table.

use std::collections::HashMap;

use serde::Deserialize;

use super::expression::{Condition, Key, SortKey};
use crate::{Param, Statement};

/// A table; for a partition, the partitioned table at its root.
#[derive(Debug, Deserialize)]
pub(in crate::explain) struct Table {
    /// The name for SQL.
    pub(super) name: String,
    columns: HashMap<String, ColumnKind>,
    indexes: Vec<Index>,
}

/// The parts of a column's type that decide which indexes help.
#[derive(Debug, Deserialize)]
struct ColumnKind {
    /// The name of its type.
    name: String,
    /// The category of its type in `pg_type`.
    category: String,
}

#[derive(Debug, Deserialize)]
struct Index {
    method: String,
    /// The condition of a partial index.
    predicate: Option<String>,
    keys: Vec<IndexKey>,
}

#[derive(Debug, Deserialize)]
struct IndexKey {
    text: String,
    class: String,
    /// Whether texts in it sort by their bytes.
    is_c: bool,
    descending: bool,
    nulls_first: bool,
}

/// The name, columns and indexes of a table.
const LOOKUP: &str = "\
    WITH t AS ( \
        SELECT coalesce(pg_partition_root(c.oid), c.oid)::oid AS oid \
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1 AND c.relname = $2 \
    ) SELECT json_build_object( \
        'name', format('%I.%I', n.nspname, c.relname), \
        'columns', (SELECT json_object_agg(quote_ident(a.attname), \
            json_build_object('name', y.typname, 'category', y.typcategory)) \
            FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid \
            WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), \
        'indexes', (SELECT coalesce(json_agg(json_build_object('method', m.amname, \
            'predicate', pg_get_expr(i.indpred, i.indrelid), 'keys', ( \
            SELECT json_agg(json_build_object( \
                'text', pg_get_indexdef(i.indexrelid, k, false), 'class', o.opcname, \
                'is_c', coalesce((SELECT collcollate IN ('C', 'POSIX') FROM pg_collation \
                    WHERE oid = i.indcollation[k - 1]), false), \
                'descending', i.indoption[k - 1] & 1 = 1, 'nulls_first', i.indoption[k - 1] & 2 = 2 \
            ) ORDER BY k) FROM generate_series(1, i.indnkeyatts) AS k \
            JOIN pg_opclass o ON o.oid = i.indclass[k - 1]))), '[]') \
            FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam \
            WHERE i.indrelid = c.oid AND i.indisvalid))::text \
    FROM t JOIN pg_class c ON c.oid = t.oid JOIN pg_namespace n ON n.oid = c.relnamespace";

/// The statement that reads a table of this schema and name, as JSON.
pub(super) fn lookup(schema: &str, table: &str) -> Statement {
    Statement::new(
        LOOKUP,
        vec![
            Param::Text(schema.to_owned()),
            Param::Text(table.to_owned()),
        ],
    )
}

impl Table {
    /// Whether an index finds the rows of a condition, which is one of the conditions in `asked`.
    pub(super) fn has_index_for(&self, condition: &Condition, asked: &str) -> bool {
        let key = self.key(&condition.key);
        self.indexes
            .iter()
            .filter(|index| index.covers(asked))
            .any(|index| {
                match (index.method.as_str(), index.keys.first()) {
                    ("btree", Some(first)) => first.is(key) && first.compares(&condition.operator),
                    ("hash", Some(first)) => first.is(key) && condition.operator == "=",
                    // The other methods can use each of their keys, with the operators they
                    // support.
                    (_, _) => index.keys.iter().any(|one| one.is(key)),
                }
            })
    }

    /// Whether an index returns rows in an order, at least by its first key. Each key in `equal`
    /// has a single value, and `asked` has all conditions on the rows.
    pub(super) fn has_order(&self, order: &[SortKey], equal: &[&Key], asked: &str) -> bool {
        let Some(wanted) = order.first() else {
            return true;
        };

        let is_equal = |key: &&IndexKey| equal.iter().any(|equal| key.is(self.key(equal)));
        let mut indexes = self
            .indexes
            .iter()
            .filter(|index| index.method == "btree" && index.covers(asked));

        indexes.any(|index| {
            // Keys with a single value do not affect the order, so they may precede the wanted one.
            let found = index
                .keys
                .iter()
                .find(|key| key.is(self.key(&wanted.key)) || !is_equal(key));
            found.is_some_and(|key| key.is(self.key(&wanted.key)) && key.runs_like(wanted))
        })
    }

    /// The text of a key; for a `varchar` cast to text, the column.
    pub(super) fn key<'a>(&self, key: &'a Key) -> &'a str {
        match &key.column {
            Some(column) if !key.is_text_of_column || self.is_varchar(column) => column,
            _ => &key.text,
        }
    }

    /// Whether values of a key are ranges, addresses or shapes, the types served by GiST.
    pub(super) fn is_spatial(&self, key: &Key) -> bool {
        let kind = key
            .column
            .as_ref()
            .and_then(|column| self.columns.get(column));
        kind.is_some_and(|kind| matches!(kind.category.as_str(), "R" | "I" | "G"))
    }

    /// The operator class that GiST requires for a key.
    pub(super) fn spatial_class(&self, key: &Key) -> &'static str {
        let kind = key
            .column
            .as_ref()
            .and_then(|column| self.columns.get(column));
        if kind.is_some_and(|kind| kind.category == "I") {
            " inet_ops"
        } else {
            ""
        }
    }

    fn is_varchar(&self, column: &str) -> bool {
        self.columns
            .get(column)
            .is_some_and(|kind| kind.name == "varchar")
    }
}

impl Index {
    /// Whether it contains all rows that match these conditions: its own predicate is one of them.
    fn covers(&self, asked: &str) -> bool {
        let asked = plain(asked);
        let parts = self
            .predicate
            .iter()
            .flat_map(|predicate| predicate.split(" AND "));
        parts.into_iter().all(|part| asked.contains(&plain(part)))
    }
}

/// A text without its parentheses and spaces, which are ignored in comparisons.
fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '(' | ')' | ' '))
        .collect()
}

impl IndexKey {
    fn is(&self, key: &str) -> bool {
        plain(&self.text) == plain(key)
    }

    /// Whether it may serve an operator: patterns only if texts sort by their bytes.
    fn compares(&self, operator: &str) -> bool {
        match operator {
            "=" | "<" | "<=" | ">" | ">=" => {
                !self.class.ends_with("pattern_ops") || operator == "="
            }
            "~~" | "~" | "^@" => self.is_c || self.class.ends_with("pattern_ops"),
            _ => false,
        }
    }

    /// Whether it runs in the direction of a sort key, forwards or backwards.
    fn runs_like(&self, wanted: &SortKey) -> bool {
        let own = (self.descending, self.nulls_first);
        own == (wanted.descending, wanted.nulls_first)
            || own == (!wanted.descending, !wanted.nulls_first)
    }
}
