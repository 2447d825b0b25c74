//! Groups of rows in SQL.

use super::query::Query;
use super::suffix;
use crate::sql::Builder;
use crate::sql::expr::{Operand, Scope};
use crate::sql::ir::{Column, Computed, GroupValue, Having, OfGroup};
use svc_core::schema::Period;
use svc_postgres::DbError;

impl<'a> Builder<'a> {
    /// Writes the grouping and the condition on groups.
    pub(super) fn groups(&mut self, scope: &Scope<'a>, query: &Query) -> Result<(), DbError> {
        for (index, value) in query.group.iter().enumerate() {
            self.text
                .push_str(if index == 0 { " GROUP BY " } else { ", " });
            let sql = self.group_value(scope, value)?.sql;
            self.text.push_str(&sql);
        }

        if let Some(having) = &query.having {
            self.text.push_str(" HAVING ");
            self.having(scope, having)?;
        }

        Ok(())
    }

    /// Writes the order of groups.
    pub(super) fn group_order(&mut self, scope: &Scope<'a>, query: &Query) -> Result<(), DbError> {
        for (index, key) in query.group_order.iter().enumerate() {
            self.text
                .push_str(if index == 0 { " ORDER BY " } else { ", " });
            let sql = match &key.of {
                OfGroup::Value(value) => self.group_value(scope, value)?.sql,
                OfGroup::Computed(Computed::Count) => "count(*)".to_owned(),
                OfGroup::Computed(Computed::Of(function, column, _)) => self
                    .operand(scope, column)?
                    .aggregate(*function, self.careful),
            };

            self.text.push_str(&sql);

            self.text.push_str(suffix(key.direction, key.nulls));
        }

        Ok(())
    }

    /// The column of a value in a group's key.
    pub(super) fn key_operand(
        &mut self,
        scope: &Scope<'a>,
        column: &Column,
    ) -> Result<Operand, DbError> {
        match self.joined_value(column) {
            Some(joined) => Ok(joined.clone()),
            None => self.operand(scope, column),
        }
    }

    /// The expression of a value in a group's key.
    pub(super) fn group_value(
        &mut self,
        scope: &Scope<'a>,
        value: &GroupValue,
    ) -> Result<Operand, DbError> {
        let operand = self.key_operand(scope, &value.column)?;
        Ok(match value.period {
            Some(period) => operand.period(period, self.careful),
            None => operand,
        })
    }

    fn having(&mut self, scope: &Scope<'a>, having: &Having) -> Result<(), DbError> {
        match having {
            Having::All(all) => self.joined(all, " AND ", "true", |builder, one| {
                builder.having(scope, one)
            }),
            Having::Any(any) => self.joined(any, " OR ", "false", |builder, one| {
                builder.having(scope, one)
            }),
            Having::Not(inner) => {
                self.text.push('(');
                self.having(scope, inner)?;
                self.text.push_str(") IS NOT TRUE");
                Ok(())
            }
            Having::Compare(of, operator, value) => {
                let (operand, name) = self.of_group(scope, of)?;
                self.compare_operand(operand, &name, *operator, value)
            }
        }
    }

    /// The expression in a condition on groups, and its name in messages.
    fn of_group(&mut self, scope: &Scope<'a>, of: &OfGroup) -> Result<(Operand, String), DbError> {
        Ok(match of {
            OfGroup::Value(value) => (self.group_value(scope, value)?, value.column.path.join(".")),
            OfGroup::Computed(value) => (self.computed(scope, value)?, value.name()),
        })
    }
}

impl Operand {
    /// The start of the period that contains the value, in UTC. With careful casts, null for a
    /// start before the first day of PostgreSQL's calendar or after the last of its timestamps.
    fn period(self, period: Period, careful: bool) -> Self {
        let (name, sql) = (period.name(), &self.sql);
        let (begins, bounds) = match self.cast.as_str() {
            "date" => (
                // `date_trunc` of a date would convert it to `timestamptz` in the time zone of the
                // session.
                format!("date_trunc('{name}', ({sql})::timestamp)::date"),
                "BETWEEN '4713-01-01 BC'::date AND '294276-12-31'::date",
            ),
            _ => (
                format!("date_trunc('{name}', ({sql})::timestamptz, 'UTC')"),
                ">= '4713-01-01 00:00:00+00 BC'::timestamptz",
            ),
        };

        if !careful {
            return Self {
                sql: begins,
                bare: None,
                ..self
            };
        }

        let text = self
            .text
            .clone()
            .unwrap_or_else(|| format!("({sql})::text"));
        let sql = format!("(CASE WHEN {sql} {bounds} OR NOT isfinite({sql}) THEN {begins} END)");

        Self {
            sql,
            text: Some(text),
            bare: None,
            ..self
        }
    }
}
