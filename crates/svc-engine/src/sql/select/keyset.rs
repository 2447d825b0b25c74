//! Cursor pages: only rows past the keys of another row.

use crate::sql::Builder;
use crate::sql::expr::{Named, Scope, named};
use crate::sql::ir::{Computed, Direction, Nulls, Order};
use svc_core::schema::TypeIndex;
use svc_postgres::{DbError, Param};

/// The keys of a row in the order of the list, as text; `None` is null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keyset {
    pub(crate) keys: Vec<Option<String>>,
    /// Selects the rows before the keys instead of after them.
    pub(crate) before: bool,
    /// Selects the complement: the row with the keys, and the rows on its other side.
    pub(crate) inverted: bool,
}

impl<'a> Builder<'a> {
    /// Writes the condition for rows past the keys: a comparison of whole rows, which an index can
    /// serve, if all keys have the same direction and none is ever null; otherwise key by key.
    pub(super) fn past(
        &mut self,
        scope: &Scope<'a>,
        order: &[Order],
        past: &Keyset,
    ) -> Result<(), DbError> {
        if order.len() != past.keys.len() {
            return Err(DbError::BadCursor);
        }

        let flipped: Vec<Order>;
        let order = if past.before {
            flipped = order.iter().cloned().map(Order::flipped).collect();
            &flipped
        } else {
            order
        };

        self.text.push('(');
        let one_way = order
            .windows(2)
            .all(|pair| pair[0].direction == pair[1].direction);
        let certain = order
            .iter()
            .zip(&past.keys)
            .all(|(key, value)| value.is_some() && self.is_certain(scope, key));
        if one_way && certain {
            self.whole(scope, order, &past.keys)?;
        } else {
            self.key_by_key(scope, order, &past.keys)?;
        }

        // Rows for which the comparison is null belong to the complement, so that the two sides
        // contain all rows.
        self.text
            .push_str(if past.inverted { ") IS NOT TRUE" } else { ")" });

        Ok(())
    }

    /// Whether a key is declared non-null in all possible types of the rows.
    fn is_certain(&self, scope: &Scope<'_>, key: &Order) -> bool {
        // With careful casts, unreadable values become null; and a path may lead to no row.
        let ([name], false) = (key.column.path.as_slice(), self.careful) else {
            return false;
        };
        if let Some(by) = &key.aggregate {
            return by.value == Computed::Count;
        }

        let is_non_null = |member: &TypeIndex| match named(self.model, *member, name) {
            Some(Named::Stored(stored)) => stored.non_null,
            _ => false,
        };

        let is_value = key.rank.is_none() && key.column.call.is_none();

        is_value
            && self
                .model
                .possible_types(scope.object())
                .iter()
                .all(is_non_null)
    }

    fn whole(
        &mut self,
        scope: &Scope<'a>,
        order: &[Order],
        values: &[Option<String>],
    ) -> Result<(), DbError> {
        let (mut keys, mut bound) = (Vec::new(), Vec::new());
        for (key, value) in order.iter().zip(values) {
            let operand = self.order_operand(scope, key)?;
            bound.push(self.bind_key(&operand.cast, value.clone().unwrap_or_default()));
            keys.push(operand.sql);
        }

        let operator = if order
            .first()
            .is_some_and(|key| key.direction == Direction::Desc)
        {
            "<"
        } else {
            ">"
        };

        let text = match keys.as_slice() {
            [key] => format!("{key} {operator} {}", bound[0]),
            _ => format!("({}) {operator} ({})", keys.join(", "), bound.join(", ")),
        };

        self.text.push_str(&text);

        Ok(())
    }

    /// Binds a key as a value of a type.
    fn bind_key(&mut self, cast: &str, value: String) -> String {
        let placeholder = self.bind(Param::CursorKey(value));
        // A cast to text cannot fail.
        if cast != "text" {
            self.casts.push((self.params.len(), cast.to_owned()));
        }
        format!("{placeholder}::{cast}")
    }

    /// `a past x OR a = x AND (b past y OR b = y AND …)`.
    fn key_by_key(
        &mut self,
        scope: &Scope<'a>,
        order: &[Order],
        values: &[Option<String>],
    ) -> Result<(), DbError> {
        let mut open = 0;
        for (index, (key, value)) in order.iter().zip(values).enumerate() {
            let operand = self.order_operand(scope, key)?;
            let sql = &operand.sql;
            let bound = value
                .clone()
                .map(|value| self.bind_key(&operand.cast, value));
            let operator = if key.direction == Direction::Desc {
                "<"
            } else {
                ">"
            };

            // With nulls last, the nulls follow every value; with nulls first, no null follows a
            // value.
            let past = match (&bound, key.nulls) {
                (Some(bound), Nulls::Last) => {
                    format!("({sql} {operator} {bound} OR {sql} IS NULL)")
                }
                (Some(bound), Nulls::First) => format!("{sql} {operator} {bound}"),
                (None, Nulls::First) => format!("{sql} IS NOT NULL"),
                (None, Nulls::Last) => "false".to_owned(),
            };

            self.text.push_str(&past);

            if index + 1 < order.len() {
                let same = bound.map_or_else(
                    || format!("{sql} IS NULL"),
                    |bound| format!("{sql} = {bound}"),
                );
                self.text.push_str(&format!(" OR {same} AND ("));
                open += 1;
            }
        }

        self.text.push_str(&")".repeat(open));

        Ok(())
    }
}
