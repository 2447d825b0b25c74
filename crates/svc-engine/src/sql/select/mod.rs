//! Queries: the source, the conditions, the order, and nested queries.
//!
//! Nested rows are read as records, which PostgreSQL sends in its binary format: one statement
//! reads a tree, without any conversion to JSON.

mod data_subquery;
mod edge;
mod given_rows;
mod group;
mod group_join;
mod keyset;
mod output_types;
mod query;
mod related_aggregate;
mod row_rules;
mod select_list;
mod shape;
mod target_row;
mod tie_detection;

pub(super) use edge::Joined;
pub(crate) use given_rows::{GivenRows, GivenValues, may_be_permitted};
pub(super) use group_join::JoinedValue;
pub(crate) use output_types::record_types;
pub(crate) use query::{CheckedText, Keyset, Query, Selected, Subquery, Window};
pub(super) use row_rules::Ruled;
pub(crate) use row_rules::{Reuse, RowRule, RowRules, Subject};
pub(super) use shape::Checks;
pub(crate) use shape::StatementShape;
pub(crate) use target_row::{lock_row, permitted_row, permitted_rows};
pub(crate) use tie_detection::distinguishing_columns;

use std::fmt::Write as _;

use data_subquery::Reading;

use super::Builder;
use super::expr::{Operand, RowScope, Scope, Tie};
use super::ir::{Direction, Filter, Nulls, Order, Rank};
use svc_core::schema::Family;
use svc_postgres::{DbError, Param};

/// The parts of a query that its enclosing query, policies and the page determine.
#[derive(Clone, Copy)]
struct Frame<'f> {
    /// The order, including the unique last key.
    order: &'f [Order],
    /// The conditions of the enclosing query and of policies.
    ties: [Option<&'f str>; 2],
    /// The literal bound of the rows, if there is one.
    bound: Option<i64>,
}

impl<'a> Builder<'a> {
    /// Writes a subquery.
    pub(super) fn subquery(
        &mut self,
        part: &Subquery,
        depth: usize,
        tie: Option<Tie<'_>>,
    ) -> Result<(), DbError> {
        let (before, query, as_record, after) = match part {
            Subquery::Row(query) => ("(", query, true, " LIMIT 1)"),
            Subquery::Rows(query) => ("ARRAY(", query, true, ")"),
            Subquery::Count(query) => ("(", query, false, ")"),
            Subquery::Exists(query) => ("EXISTS (", query, false, ")"),
        };

        let scope = self.rows(query.row, depth)?;
        self.text.push_str(before);
        self.query(&scope, query, tie, as_record)?;
        self.text.push_str(after);

        Ok(())
    }

    /// Writes a whole query, which may be tied to its enclosing query.
    pub(super) fn query(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
        tie: Option<Tie<'_>>,
        as_record: bool,
    ) -> Result<(), DbError> {
        // The junction row and the joined values belong to one query; a nested query must not use
        // those of its enclosing query.
        let outer = std::mem::replace(&mut self.joined, tie.and_then(Joined::of));
        let outer_groups = std::mem::take(&mut self.group_values);
        let written = self.tied_query(rows, query, tie, as_record);
        (self.joined, self.group_values) = (outer, outer_groups);
        written
    }

    fn tied_query(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
        tie: Option<Tie<'_>>,
        as_record: bool,
    ) -> Result<(), DbError> {
        self.bind_source(query);
        let join = tie
            .map(|tie| self.joined_to(rows, tie.relation, tie.from))
            .transpose()?;
        let order = self.order_keys(&Scope::Row(rows.clone()), query);
        let permitted = self.permitted(rows)?;
        let frame = Frame {
            order: &order,
            ties: [join.as_deref(), permitted.as_deref()],
            bound: self.row_bound(rows, query, &order),
        };

        let Some(ranged) = self.ranged(rows, query, frame)? else {
            return self.whole_query(rows, query, tie, as_record, frame);
        };
        let Some(page) = query.page else {
            return self.ranged_row(rows, query, frame, &ranged);
        };

        self.text.push_str("SELECT ");
        self.select_list(rows, query, tie, as_record)?;
        self.ranged_page(rows, query, frame, &ranged, page)
    }

    /// The literal bound of a query's rows, if it has one. The condition of policies must be known.
    fn row_bound(&self, rows: &RowScope<'a>, query: &Query, order: &[Order]) -> Option<i64> {
        // A query that is planned for its values needs no bound.
        let replans =
            (query.filter.replans() && !query.sorts_by_aggregate()) || self.rule_replans(rows.row);
        let is_ordered = !order.is_empty() || numbered(rows, query);
        let is_bounded = is_ordered && query.group.is_empty() && !replans;
        let bound = query.page.filter(|_| is_bounded).and_then(bound)?;

        // The row before the page is within the bound already; only the row after it adds to it.
        Some(bound + i64::from(query.neighbours))
    }

    /// Writes a query whose rows come from one `FROM` clause.
    fn whole_query(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
        tie: Option<Tie<'_>>,
        as_record: bool,
        frame: Frame<'_>,
    ) -> Result<(), DbError> {
        let bound = frame.bound;

        // PostgreSQL eliminates a query that only passes on the columns of another one.
        let is_plain = !as_record
            && query
                .list
                .iter()
                .all(|selected| matches!(selected, Selected::Column(..)));

        // PostgreSQL also computes the select list for the rows before a page, unless a subquery
        // selects the page first.
        let is_chosen_below =
            !is_plain && !query.is_computed() && query.page.is_some_and(|page| page.offset != 0);
        self.text.push_str(if bound.is_some() && is_plain {
            "SELECT * FROM (SELECT "
        } else {
            "SELECT "
        });

        let mut reading = self.reading(rows, query);

        // Values of single rows are only read for the rows of the page.
        let listed = if query.is_computed() {
            reading.computed().clone()
        } else {
            rows.clone()
        };

        let group_joins = self.group_joins(&listed, query)?;
        self.select_list(&listed, query, tie, as_record)?;
        let alias = rows.alias();

        // Writing to a String cannot fail.
        let _ = match (is_chosen_below, bound.is_some() && !is_plain) {
            (true, true) => write!(self.text, " FROM (SELECT * FROM (SELECT {alias}.* FROM "),
            (true, false) | (false, true) => write!(self.text, " FROM (SELECT {alias}.* FROM "),
            (false, false) => write!(self.text, " FROM "),
        };

        self.matching(&mut reading, query, &group_joins, frame)?;
        if let Some(bound) = bound {
            let _ = write!(self.text, " LIMIT {bound}) AS {alias}");
        }

        if let Some(page) = query.page {
            self.page(page, query.neighbours);
        }

        if is_chosen_below {
            let _ = write!(self.text, ") AS {alias}");
        }

        Ok(())
    }

    /// Writes the rows of a query in their order, combined into groups if there are any. `joins`
    /// follows the rows in the `FROM` clause.
    fn matching(
        &mut self,
        reading: &mut Reading<'a>,
        query: &Query,
        joins: &str,
        frame: Frame<'_>,
    ) -> Result<(), DbError> {
        let order = frame.order;
        let rows = reading.computed().clone();
        let numbered = numbered(&rows, query);
        let source = match &query.from {
            None => &*rows.source.quoted,
            Some(from) if numbered => &*from.numbered,
            Some(from) => &*from.sql,
        };

        let data = reading.join(self, frame.ties[1]);
        let _ = write!(self.text, "{source} AS {}{data}{joins}", rows.alias());

        let reads = order.iter().map(|key| self.reads(&rows, &key.column)).sum();

        // Groups are ordered by the expressions that they are grouped by.
        let scope = if query.is_computed() {
            Scope::Row(rows.clone())
        } else {
            reading.scope(reads)
        };

        if rows.depth == 0 {
            self.outermost = Some(self.text.len());
        }

        let past: Vec<&Keyset> = query.past.iter().collect();
        self.where_clause(reading, &scope, query, frame, &past)?;
        self.groups(&Scope::Row(rows.clone()), query)?;

        if query.backward {
            let flipped: Vec<_> = order.iter().cloned().map(Order::flipped).collect();
            self.order(&scope, &flipped)?;
        } else {
            self.order(&scope, order)?;
        }

        if numbered {
            let _ = write!(self.text, " ORDER BY {}.ordinality", rows.alias());
        }

        self.group_order(&Scope::Row(rows), query)
    }

    /// Writes the conditions on single rows: the ties, the filter, and the cursors. `scope` is the
    /// source of the order keys.
    fn where_clause(
        &mut self,
        reading: &mut Reading<'a>,
        scope: &Scope<'a>,
        query: &Query,
        frame: Frame<'_>,
        past: &[&Keyset],
    ) -> Result<(), DbError> {
        let ties = frame.ties;
        let (conditions, mut word) = (self.text.len(), " WHERE ");
        for tie in ties.into_iter().flatten() {
            let _ = write!(self.text, "{word}{tie}");
            word = " AND ";
        }

        if query.filter != Filter::All(Vec::new()) {
            self.text.push_str(word);

            // The sort determines the cost, so the values of the filter do not require a plan for
            // each request.
            let replan = self.replan;
            self.shielded(reading, ties[1], &query.filter)?;
            if query.sorts_by_aggregate() {
                self.replan = replan;
            }
            word = " AND ";
        }

        let waits = !past.is_empty() && self.waits(reading.computed(), query, frame);
        let before = self.text[conditions..]
            .strip_prefix(" WHERE ")
            .filter(|_| waits);
        let (when, end) = before.map_or((String::new(), ""), |before| {
            (format!("CASE WHEN {before} THEN "), " END")
        });
        for past in past {
            self.text.extend([word, &when]);
            self.past(scope, frame.order, past)?;
            self.text.push_str(end);
            word = " AND ";
        }

        Ok(())
    }

    /// Whether conditions on the order keys have to wait until hidden rows are excluded: PostgreSQL
    /// orders conditions by their cost, and the error of a function would reveal that such a row
    /// exists.
    fn waits(&self, rows: &RowScope<'a>, query: &Query, frame: Frame<'_>) -> bool {
        let keeps_back = frame.ties[1].is_some() || query.filter.begins_strictly();
        keeps_back && frame.order.iter().any(|key| self.order_may_fail(rows, key))
    }

    /// Binds the arguments of the source of the rows before all other values, so that its
    /// placeholders come first. All queries of a statement that read from it share them.
    fn bind_source(&mut self, query: &Query) {
        if let (Some(from), true) = (&query.from, self.params.is_empty()) {
            self.params.extend(from.params.iter().cloned());
            if self.probes.is_empty() {
                self.probes.extend(from.probe.clone());
            }
        }
    }

    fn page(&mut self, page: Window, neighbours: bool) {
        // A literal limit shows PostgreSQL that the plan is for one row, also in a generic plan.
        if page == FIRST {
            self.text
                .push_str(if neighbours { " LIMIT 2" } else { " LIMIT 1" });
            return;
        }

        let read = if neighbours {
            page.with_neighbours()
        } else {
            page
        };

        let limit = self.bind(Param::Int(read.limit));
        let _ = write!(self.text, " LIMIT {limit}");

        if page.offset != 0 {
            let offset = self.bind(Param::Int(read.offset));
            let _ = write!(self.text, " OFFSET {offset}");
        }
    }

    /// The order, including the unique last key that makes the order of a page stable. This key has
    /// the same direction as the key before it, so that one index serves both.
    pub(super) fn order_keys(&mut self, scope: &Scope<'a>, query: &Query) -> Vec<Order> {
        let mut keys = query.order.clone();
        let unique = super::col("id");

        // A cursor includes the last key even for a page of at most one row, because the next page
        // may have another filter.
        let has_cursor = query
            .list
            .iter()
            .any(|selected| matches!(selected, Selected::OrderKeys));
        let is_complete = query.neighbours
            || query.as_given
            || query.is_computed()
            || (query.past.is_empty()
                && !has_cursor
                && (query.page.is_none() || query.filter.is_one_row()))
            || keys.iter().any(|key| key.column == unique);

        // A view without an `id` has no unique key.
        if !is_complete && self.operand(scope, &unique).is_ok() {
            let (direction, nulls) = keys.last().map_or((Direction::Asc, Nulls::Last), |last| {
                (last.direction, last.nulls)
            });
            keys.push(Order {
                column: unique,
                direction,
                nulls,
                rank: None,
                aggregate: None,
            });
        }

        keys
    }

    fn order(&mut self, scope: &Scope<'a>, order: &[Order]) -> Result<(), DbError> {
        for (index, key) in order.iter().enumerate() {
            self.text
                .push_str(if index == 0 { " ORDER BY " } else { ", " });
            let sql = self.order_operand(scope, key)?.sql;
            self.text.push_str(&sql);
            self.text.push_str(suffix(key.direction, key.nulls));
        }
        Ok(())
    }

    /// The expression of an order key.
    pub(super) fn order_operand(
        &mut self,
        scope: &Scope<'a>,
        key: &Order,
    ) -> Result<Operand, DbError> {
        if let Some(by) = &key.aggregate {
            return self.aggregate_operand(scope, &key.column, by);
        }

        let operand = match self.edge_operand(scope, &key.column)? {
            Some(operand) => operand,
            None => self.operand(scope, &key.column)?,
        };

        match &key.rank {
            Some(Rank { operator, query }) => {
                let sql = self.rank(&operand, *operator, query)?;
                let (text, bare) = (None, None);
                Ok(Operand {
                    sql,
                    cast: "float4".to_owned(),
                    fallback: None,
                    family: Family::Ordered,
                    text,
                    bare,
                    is_nondeterministic: false,
                })
            }
            None => Ok(operand),
        }
    }
}

/// The page of a query for one row.
pub(super) const FIRST: Window = Window {
    limit: 1,
    offset: 0,
};

/// Whether the rows of the source are numbered, to keep their order.
fn numbered(rows: &RowScope<'_>, query: &Query) -> bool {
    query.as_given && query.from.is_some() && !rows.source.columns.contains_key("ordinality")
}

/// A round number of rows that covers a page.
///
/// PostgreSQL plans a bound `LIMIT` as if it were a tenth of the table, unless it plans the
/// statement again for each request. With a literal bound on the rows, one plan is right for all
/// pages of about this size. There are only a few bounds, so that a client cannot fill the server
/// with statements.
pub(super) fn bound(page: Window) -> Option<i64> {
    let last = page.limit.checked_add(page.offset)?;
    [8, 32, 128, 512, 2_048, 8_192]
        .into_iter()
        .find(|bound| *bound >= last && page != FIRST)
}

pub(super) fn suffix(direction: Direction, nulls: Nulls) -> &'static str {
    match (direction, nulls) {
        (Direction::Asc, Nulls::Last) => "",
        (Direction::Asc, Nulls::First) => " ASC NULLS FIRST",
        (Direction::Desc, Nulls::First) => " DESC",
        (Direction::Desc, Nulls::Last) => " DESC NULLS LAST",
    }
}
