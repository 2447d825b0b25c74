//! Cursor pages: only rows past the keys of another row.

mod page;
mod range;

use crate::sql::Builder;
use crate::sql::expr::{Named, Scope, named};
use crate::sql::ir::{Computed, Order};
use crate::sql::select::query::Keyset;
use range::{Key, KeyForm, past_ranges};
use svc_core::schema::TypeIndex;
use svc_postgres::{DbError, Param};

impl<'a> Builder<'a> {
    /// Writes the condition for rows past the keys: a comparison of whole rows, which an index can
    /// serve, if all keys have the same direction and no null is past the cursor; otherwise key by
    /// key, bounded by the first key.
    pub(super) fn past(
        &mut self,
        scope: &Scope<'a>,
        order: &[Order],
        past: &Keyset,
    ) -> Result<(), DbError> {
        let order = directed(order, past.before);
        let keys = self.cursor_keys(scope, &order, past)?;
        let forms: Vec<KeyForm> = keys.iter().map(|key| key.form).collect();

        let condition = past_ranges(&forms, 1)
            .first()
            .map_or_else(|| "false".to_owned(), |range| range.condition(&keys));

        // Rows for which the comparison is null belong to the complement, so that the two sides
        // contain all rows.
        let end = if past.inverted { ") IS NOT TRUE" } else { ")" };
        self.text.extend(["(", &condition, end]);

        Ok(())
    }

    /// The properties of the keys that determine the ranges of the rows past them.
    ///
    /// # Errors
    /// If the cursor has another number of keys.
    fn key_forms(
        &self,
        scope: &Scope<'_>,
        order: &[Order],
        past: &Keyset,
    ) -> Result<Vec<KeyForm>, DbError> {
        if order.len() != past.keys.len() {
            return Err(DbError::BadCursor);
        }

        let forms = order.iter().zip(&past.keys).map(|(key, value)| KeyForm {
            direction: key.direction,
            nulls: key.nulls,
            is_certain: self.is_certain(scope, key),
            is_null: value.is_none(),
        });

        Ok(forms.collect())
    }

    /// The keys, with their values bound.
    fn cursor_keys(
        &mut self,
        scope: &Scope<'a>,
        order: &[Order],
        past: &Keyset,
    ) -> Result<Vec<Key>, DbError> {
        let forms = self.key_forms(scope, order, past)?;
        let mut keys = Vec::with_capacity(forms.len());
        for ((key, value), form) in order.iter().zip(&past.keys).zip(forms) {
            let operand = self.order_operand(scope, key)?;
            let value = value
                .clone()
                .map(|value| self.bind_key(&operand.cast, value));
            keys.push(Key {
                form,
                sql: operand.sql,
                value,
            });
        }

        Ok(keys)
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

    /// Binds a key as a value of a type.
    fn bind_key(&mut self, cast: &str, value: String) -> String {
        let placeholder = self.bind(Param::CursorKey(value));
        // A cast to text cannot fail.
        if cast != "text" {
            self.casts.push((self.params.len(), cast.to_owned()));
        }
        format!("{placeholder}::{cast}")
    }
}

/// An order, or its reverse.
fn directed(order: &[Order], is_reversed: bool) -> Vec<Order> {
    let order = order.iter().cloned();
    if is_reversed {
        order.map(Order::flipped).collect()
    } else {
        order.collect()
    }
}
