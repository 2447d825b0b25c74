//! Client values that PostgreSQL may fail to parse. Statements make it parse them before it looks
//! at any row.
//!
//! PostgreSQL parses a pattern, a key of a cursor, and a value of a type with its own input rules
//! when it applies the value. Whether it ever does depends on its plan, and therefore on statistics
//! that hidden rows also influence. The error of an invalid value would reveal something about
//! these rows.

use std::collections::BTreeMap;

use crate::sql::Builder;
use svc_postgres::Param;

impl Builder<'_> {
    /// Inserts the conditions that parse such values before the conditions of the outermost query.
    /// They refer to no column, so PostgreSQL evaluates them once.
    pub(in crate::sql) fn read_values_first(&mut self) {
        let Some(at) = self.outermost else { return };
        let conditions = self.readable().join(" AND ");
        if conditions.is_empty() {
            return;
        }

        let rest = self.text.split_off(at);
        self.text.extend([" WHERE ", &conditions]);

        match rest.strip_prefix(" WHERE ") {
            Some(others) => self.text.extend([" AND ", others]),
            None => self.text.push_str(&rest),
        }
    }

    /// The conditions that parse each value that may be invalid.
    fn readable(&self) -> Vec<String> {
        let casts: BTreeMap<_, _> = self
            .casts
            .iter()
            .map(|(number, cast)| (*number, cast.as_str()))
            .collect();

        let readable = self.params.iter().zip(1..).filter_map(|(param, number)| {
            // The keys of a cursor have not been checked before.
            let is_unchecked = matches!(param, Param::CursorKey(_));
            let cast = casts
                .get(&number)
                .filter(|cast| is_unchecked || !is_always_read(cast));

            Some(match (param, cast) {
                // The condition of a pattern includes the cast of its placeholder.
                (Param::Pattern(language, _), _) => language.condition(&format!("${number}")),
                (Param::Texts(_), Some(cast)) => format!("${number}::{cast}[] IS NOT NULL"),
                (_, Some(cast)) => format!("${number}::{cast} IS NOT NULL"),
                (_, None) => return None,
            })
        });

        readable.collect()
    }
}

/// Whether PostgreSQL can parse every value of a type that reaches a statement, given the checks of
/// the schema's scalars and of comparisons.
fn is_always_read(cast: &str) -> bool {
    let names = [
        "text",
        "character varying",
        "citext",
        "bpchar",
        "bool",
        "boolean",
        "uuid",
        "json",
        "jsonb",
        "inet",
        "macaddr",
        "macaddr8",
    ];

    let numbers = [
        "int8",
        "bigint",
        "numeric",
        "float4",
        "float8",
        "real",
        "double precision",
    ];

    let times = ["date", "time", "timestamp", "timestamptz"];
    names.contains(&cast) || numbers.contains(&cast) || times.contains(&cast)
}
