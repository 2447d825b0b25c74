//! The related rows that supply values of a group's key.
//!
//! Each relation is joined once, regardless of how many of its values are in the key, and
//! PostgreSQL caches the rows that it has found (Memoize). As an expression, the look-up would run
//! for each value of each row.

use super::query::Query;
use crate::sql::Builder;
use crate::sql::expr::{Named, Operand, RowScope, Scope, named};
use crate::sql::ir::Column;
use svc_core::schema::Relation;
use svc_postgres::DbError;

/// A value of a group's key that comes from a joined row.
#[derive(Clone)]
pub(in crate::sql) struct JoinedValue {
    column: Column,
    operand: Operand,
}

impl<'a> Builder<'a> {
    /// The joins for the key of a query's groups, to follow the rows in the `FROM` clause.
    /// Afterwards, the values refer to the joined rows. A value that a mask may hide stays an
    /// expression, so that it is not read for masked rows.
    pub(super) fn group_joins(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
    ) -> Result<String, DbError> {
        let mut joins = String::new();
        for value in &query.group {
            let [first, _, ..] = value.column.path.as_slice() else {
                continue;
            };

            let is_known =
                self.joined_value(&value.column).is_some() || self.mask(rows, first).is_some();
            if let Some(Named::Relation(relation)) = named(self.model, rows.row, first)
                && !is_known
                && !relation.is_many()
            {
                joins.push_str(&self.group_join(rows, (first, relation), query)?);
            }
        }

        Ok(joins)
    }

    /// Joins the row of one relation, with all values of the key that come from it.
    fn group_join(
        &mut self,
        rows: &RowScope<'a>,
        (name, relation): (&str, &Relation),
        query: &Query,
    ) -> Result<String, DbError> {
        let joined = format!("g{}_{}", rows.depth, self.group_values.len());
        let (rows, join) = self.related(&Scope::Row(rows.clone()), relation)?;
        let (from, alias) = (rows.source.quoted.clone(), rows.alias());
        let permitted = self
            .permitted(&rows)?
            .map(|rule| format!(" AND {rule}"))
            .unwrap_or_default();
        let there = Scope::Row(rows);
        let mut list = Vec::new();
        let mut read = |sql: String| {
            list.push(format!("{sql} AS k{}", list.len()));
            format!("{joined}.k{}", list.len() - 1)
        };

        for column in query.group.iter().map(|value| &value.column) {
            let Some((_, rest)) = column
                .path
                .split_first()
                .filter(|(first, _)| *first == name)
            else {
                continue;
            };

            if rest.is_empty() || self.joined_value(column).is_some() {
                continue;
            }

            let operand = self.operand(&there, &column.behind(rest))?;
            let (sql, text) = (read(operand.sql), operand.text.map(&mut read));
            let operand = Operand {
                sql,
                text,
                ..operand
            };

            self.group_values.push(JoinedValue {
                column: column.clone(),
                operand,
            });
        }

        let list = list.join(", ");

        // `LEFT` keeps the rows without a related row, and `LIMIT 1` counts each row once even if
        // the related key is not unique.
        Ok(format!(
            " LEFT JOIN LATERAL (SELECT {list} FROM {from} AS {alias} WHERE {join}{permitted} LIMIT 1) AS {joined} ON true"
        ))
    }

    /// A value of the key that comes from a joined row.
    pub(super) fn joined_value(&self, column: &Column) -> Option<&Operand> {
        self.group_values
            .iter()
            .find(|known| known.column == *column)
            .map(|known| &known.operand)
    }
}
