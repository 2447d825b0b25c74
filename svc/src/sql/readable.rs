//! Values of clients that PostgreSQL may not be able to read, which it reads before all rows.
//!
//! PostgreSQL reads a pattern, a key of a cursor, and a value of a type that has rules of its own, when it applies it.
//! Whether it ever does depends on its plan and so on its statistics, which rows that a policy keeps back change as well:
//! the error of a bad value would tell of them.

use std::collections::BTreeMap;

use super::Builder;
use crate::postgres::Param;

impl Builder<'_> {
    /// Puts before the conditions of the outermost query those that read such values. They name no column, so PostgreSQL
    /// looks at them once.
    pub(super) fn read_values_first(&mut self) {
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

    /// The conditions that read each value which may not be readable.
    fn readable(&self) -> Vec<String> {
        let casts: BTreeMap<_, _> = self.casts.iter().map(|(number, cast)| (*number, cast.as_str())).collect();
        let readable = self.params.iter().zip(1..).filter_map(|(param, number)| {
            // Nothing has looked at the keys of a cursor.
            let is_unchecked = matches!(param, Param::CursorKey(_));
            let cast = casts.get(&number).filter(|cast| is_unchecked || !is_always_read(cast));
            Some(match (param, cast) {
                (Param::Pattern(language, _), _) => language.condition(&format!("${number}")),
                (Param::Texts(_), Some(cast)) => format!("${number}::{cast}[] IS NOT NULL"),
                (_, Some(cast)) => format!("${number}::{cast} IS NOT NULL"),
                (_, None) => return None,
            })
        });
        readable.collect()
    }
}

/// Whether PostgreSQL can read all values of a type that get as far as a statement, which are those that the scalars of
/// the schema and the checks of comparisons let through.
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
    let numbers = ["int8", "bigint", "numeric", "float4", "float8", "real", "double precision"];
    let times = ["date", "time", "timestamp", "timestamptz"];
    names.contains(&cast) || numbers.contains(&cast) || times.contains(&cast)
}
