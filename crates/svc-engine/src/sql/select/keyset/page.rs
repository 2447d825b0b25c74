//! Pages that read several ranges of an order, and the check for rows beyond a page.
//!
//! An index can start at a comparison of its keys with those of a cursor, but not at comparisons
//! joined with `OR`: PostgreSQL would read all rows before the cursor. Each range of the rows past
//! the cursor is therefore a query of its own, with the order and the limit of the page.

use std::fmt::{Display, Write as _};

use super::directed;
use super::range::{Key, Range, past_ranges};
use crate::sql::Builder;
use crate::sql::expr::{Named, RowScope, Scope, named};
use crate::sql::ir::{Filter, Order};
use crate::sql::select::query::{Keyset, Query, Window};
use crate::sql::select::{FIRST, Frame, suffix};
use svc_postgres::{DbError, Param};

/// The maximum number of ranges of a page. Each costs a search in the index, and without an index
/// a scan.
const MAX_RANGES: usize = 4;
/// The maximum number of comparisons in a filter that PostgreSQL plans once for each range.
const MAX_COMPARISONS: usize = 16;

/// The ranges of the rows past a cursor.
pub(in crate::sql::select) struct Ranged<'q> {
    keyset: &'q Keyset,
    /// The order in which the rows follow the cursor.
    order: Vec<Order>,
    /// The nearest first.
    ranges: Vec<Range>,
}

impl Query {
    /// The cursor at which the rows begin, or else the one at which they end.
    fn start(&self) -> Option<&Keyset> {
        self.past
            .iter()
            .find(|keyset| keyset.before == self.backward)
            .or(self.past.first())
    }
}

impl<'a> Builder<'a> {
    /// The ranges in which a query reads the rows past its cursor; `None` if one condition suffices
    /// or no index can have the order.
    pub(in crate::sql::select) fn ranged<'q>(
        &self,
        rows: &RowScope<'a>,
        query: &'q Query,
        frame: Frame<'_>,
    ) -> Result<Option<Ranged<'q>>, DbError> {
        let Some(keyset) = query.start() else {
            return Ok(None);
        };

        let is_page = query.page.is_some_and(|page| page.offset == 0);
        if is_page == keyset.inverted
            || !self.may_have_index(rows, query, frame.order)
            || self.waits(rows, query, frame)
        {
            return Ok(None);
        }

        let order = directed(frame.order, keyset.before != keyset.inverted);
        let forms = self.key_forms(&Scope::Row(rows.clone()), &order, keyset)?;
        let mut ranges = past_ranges(&forms, MAX_RANGES);
        if keyset.inverted {
            // The row of the cursor usually still exists, and its `id` has an index even if the
            // order has none.
            ranges.insert(0, Range::of_cursor(forms.len()));
        }

        Ok((ranges.len() > 1).then_some(Ranged {
            keyset,
            order,
            ranges,
        }))
    }

    /// Whether an index may serve the order: its keys are stored values of the rows, and the filter
    /// is small enough to be planned for each range.
    fn may_have_index(&self, rows: &RowScope<'a>, query: &Query, order: &[Order]) -> bool {
        let mut reading = self.reading(rows, query);
        let reads = order.iter().map(|key| self.reads(rows, &key.column)).sum();
        let is_direct = matches!(reading.scope(reads), Scope::Row(rows) if !rows.once);

        // The ranges add columns with such names to the rows.
        let mut names = rows.source.columns.keys();
        let is_free = !names.any(|name| name.starts_with('#'));

        is_direct
            && is_free
            && !self.careful
            && query.from.is_none()
            && comparisons(&query.filter) <= MAX_COMPARISONS
            && order.iter().all(|key| self.is_stored_key(rows, key))
    }

    /// Whether a key is a stored value of the rows that no mask changes.
    fn is_stored_key(&self, rows: &RowScope<'a>, key: &Order) -> bool {
        let path = key.column.path.as_slice();
        let is_of_edge = self.joined.is_some() && key.column.of_edge().is_some();
        let is_masked = path
            .first()
            .is_some_and(|first| self.mask(rows, first).is_some());

        let mut object = rows.row;
        let is_stored = |name: &String| match named(self.model, object, name) {
            Some(Named::Relation(_)) => false,
            Some(Named::Stored(stored)) => {
                object = stored.named;
                true
            }
            None => true,
        };

        key.is_of_value() && !is_of_edge && !is_masked && path.iter().all(is_stored)
    }

    /// Writes the rest of a page after its select list: the rows of all ranges in their order.
    pub(in crate::sql::select) fn ranged_page(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
        frame: Frame<'_>,
        ranged: &Ranged<'_>,
        page: Window,
    ) -> Result<(), DbError> {
        let limit = if page == FIRST {
            "1".to_owned()
        } else {
            self.bind(Param::Int(page.limit))
        };
        let bound = match frame.bound {
            Some(bound) => bound.to_string(),
            None => limit.clone(),
        };

        let (clauses, keys) = self.shared_clauses(rows, query, frame, ranged)?;
        let alias = rows.alias();
        let order = directed(frame.order, query.backward);
        let by_keys = order_by(&order, keys.iter().map(|key| key.sql.as_str()));

        // As columns, the keys show PostgreSQL that each range is sorted already, so that it merges
        // them and reads no more rows than the page has.
        let names = (1..=keys.len()).map(|number| format!("{alias}.\"#{number}\""));
        let by_names = order_by(&order, names);
        let columns = keys
            .iter()
            .zip(1..)
            .map(|(key, number)| format!(", {} AS \"#{number}\"", key.sql))
            .collect::<String>();

        let part = |range: &Range| {
            let condition = range.condition(&keys);
            let part = format!(
                "(SELECT {alias}.*{columns} FROM {clauses}({condition}){by_keys} LIMIT {bound})"
            );

            // PostgreSQL sorts a range with equal keys once more, and reads all of its rows for
            // that.
            match range.equal {
                0 => part,
                _ => format!("(SELECT * FROM {part} AS {alias} LIMIT {limit})"),
            }
        };

        let parts = ranged.ranges.iter().map(part).collect::<Vec<_>>();

        // Writing to a String cannot fail.
        let _ = write!(
            self.text,
            " FROM (SELECT {alias}.* FROM ({}) AS {alias}{by_names} LIMIT {bound}) AS {alias} LIMIT {limit}",
            parts.join(" UNION ALL ")
        );

        Ok(())
    }

    /// Writes a query that has a row if one is in any of the ranges.
    pub(in crate::sql::select) fn ranged_row(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
        frame: Frame<'_>,
        ranged: &Ranged<'_>,
    ) -> Result<(), DbError> {
        let (clauses, keys) = self.shared_clauses(rows, query, frame, ranged)?;
        let by_keys = order_by(&ranged.order, keys.iter().map(|key| key.sql.as_str()));

        // In `EXISTS` itself, PostgreSQL ignores an order and a limit, and prefers a sequential scan
        // that may find the only row at the end.
        let part = |range: &Range| {
            let condition = range.condition(&keys);
            format!("(SELECT 1 FROM {clauses}({condition}){by_keys} LIMIT 1)")
        };

        let parts = ranged.ranges.iter().map(part).collect::<Vec<_>>();
        let _ = write!(
            self.text,
            "SELECT FROM ({}) AS {}",
            parts.join(" UNION ALL "),
            rows.alias()
        );

        Ok(())
    }

    /// The `FROM` and `WHERE` clauses of each range, up to its own condition, and the keys of the
    /// cursor. The values in the clauses are bound once.
    fn shared_clauses(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
        frame: Frame<'_>,
        ranged: &Ranged<'_>,
    ) -> Result<(String, Vec<Key>), DbError> {
        let outer = std::mem::take(&mut self.text);
        let mut reading = self.reading(rows, query);
        let data = reading.join(self, frame.ties[1]);
        let _ = write!(
            self.text,
            "{} AS {}{data}",
            rows.source.quoted,
            rows.alias()
        );

        let reads = frame
            .order
            .iter()
            .map(|key| self.reads(rows, &key.column))
            .sum();
        let scope = reading.scope(reads);
        let others: Vec<&Keyset> = query
            .past
            .iter()
            .filter(|other| *other != ranged.keyset)
            .collect();

        let before = self.text.len();
        self.where_clause(&mut reading, &scope, query, frame, &others)?;
        let word = if self.text.len() == before {
            " WHERE "
        } else {
            " AND "
        };
        self.text.push_str(word);

        let keys = self.cursor_keys(&scope, &ranged.order, ranged.keyset)?;

        Ok((std::mem::replace(&mut self.text, outer), keys))
    }
}

/// An `ORDER BY` clause over expressions for the keys of an order.
fn order_by(order: &[Order], keys: impl Iterator<Item = impl Display>) -> String {
    let keys: Vec<String> = order
        .iter()
        .zip(keys)
        .map(|(order, key)| format!("{key}{}", suffix(order.direction, order.nulls)))
        .collect();
    format!(" ORDER BY {}", keys.join(", "))
}

fn comparisons(filter: &Filter) -> usize {
    match filter {
        Filter::All(all) | Filter::Any(all) => all.iter().map(comparisons).sum(),
        Filter::Not(inner) | Filter::Some(_, inner) | Filter::Strict(inner) => comparisons(inner),
        Filter::Aggregate(_, of) => of.having.len() + comparisons(&of.filter),
        Filter::Compare(..) => 1,
    }
}
