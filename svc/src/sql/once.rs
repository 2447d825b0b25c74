//! Reads of `data`, and the subquery that makes many of them one.
//!
//! A view may compute `data`, and PostgreSQL does so for each condition that names it; a document that is stored
//! compressed is unpacked as often. So a query that names it many times reads it in a subquery, once for each row. An
//! index on an expression over `data` cannot serve what reads that subquery, so the first few reads stay as they are.

use super::Builder;
use super::filter::{Column, Computed, Filter};
use super::grouping::Having;
use super::query::{Query, Selected};
use super::scope::{Named, RowScope, Scope, named};
use crate::postgres::DbError;

/// Reads of `data` that an index may serve.
const DIRECT: usize = 4;

/// From where each part of a query reads `data`.
pub(super) struct Reading<'a> {
    rows: RowScope<'a>,
    /// The same rows with `data` from the subquery, when the query has one.
    once: Option<RowScope<'a>>,
    /// The reads that may still be direct.
    direct: usize,
}

impl<'a> Reading<'a> {
    /// The scope for a part that reads `data` this many times.
    pub(super) fn scope(&mut self, reads: usize) -> Scope<'a> {
        match &self.once {
            Some(once) if reads > self.direct => Scope::Row(once.clone()),
            _ => {
                self.direct = self.direct.saturating_sub(reads);
                Scope::Row(self.rows.clone())
            }
        }
    }

    /// The rows for what is computed over all of them, which no index serves.
    pub(super) fn computed(&self) -> &RowScope<'a> {
        self.once.as_ref().unwrap_or(&self.rows)
    }

    /// The subquery, to stand behind the view.
    pub(super) fn join(&self) -> String {
        let Some((once, data)) = self.once.as_ref().and_then(|once| Some((once, once.source.data()?))) else {
            return String::new();
        };
        // `||` unpacks what is stored compressed, where the column alone would be passed on as it is.
        let unpacked = if data.name == "json" { "::jsonb" } else { " || '{}'::jsonb" };
        let (column, alias) = (self.rows.column("data"), once.data_alias());
        format!(", LATERAL (SELECT {column}{unpacked} AS data OFFSET 0) AS {alias}")
    }
}

impl<'a> Builder<'a> {
    /// From where a query reads `data`.
    pub(super) fn reading(&self, rows: &RowScope<'a>, query: &Query) -> Reading<'a> {
        let listed = query.list.iter().map(|selected| match selected {
            Selected::Aggregate(_, column, _) => self.reads(rows, column),
            Selected::Bad(value) => self.reads(rows, &value.column),
            _ => 0,
        });
        let compared = query.having.iter().flat_map(Having::columns);
        let of_groups = query.group.iter().map(|value| &value.column).chain(compared);
        let of_groups = of_groups.map(|column| self.reads(rows, column));
        let ordered = query.order.iter().map(|key| self.reads(rows, &key.column));
        let reads = listed.chain(of_groups).chain(ordered).sum::<usize>() + self.filter_reads(rows, &query.filter);
        Self::reading_of(rows, reads)
    }

    /// From where a condition on rows reads `data`.
    pub(super) fn filter_reading(&self, rows: &RowScope<'a>, filter: &Filter) -> Reading<'a> {
        Self::reading_of(rows, self.filter_reads(rows, filter))
    }

    /// From where aggregates of rows that match read `data`.
    pub(super) fn aggregate_reading<'c>(
        &self,
        rows: &RowScope<'a>,
        filter: &Filter,
        computed: impl Iterator<Item = &'c Computed>,
    ) -> Reading<'a> {
        let computed = computed.map(|value| match value {
            Computed::Count => 0,
            Computed::Of(_, column, _) => self.reads(rows, column),
        });
        Self::reading_of(rows, computed.sum::<usize>() + self.filter_reads(rows, filter))
    }

    fn reading_of(rows: &RowScope<'a>, reads: usize) -> Reading<'a> {
        let once = (reads > DIRECT).then(|| RowScope { once: true, ..rows.clone() });
        Reading { rows: rows.clone(), once, direct: DIRECT }
    }

    /// Writes a condition, each of those that must all hold by itself, as an index serves one of them.
    pub(super) fn conditions(&mut self, reading: &mut Reading<'a>, filter: &Filter) -> Result<(), DbError> {
        let Filter::All(all) = filter else {
            let scope = reading.scope(self.filter_reads(&reading.rows, filter));
            return self.filter(&scope, filter);
        };
        // The filter of an authorizer comes first.
        if let [strict @ Filter::Strict(_), rest @ ..] = all.as_slice()
            && rest.iter().any(Filter::may_fail)
        {
            self.text.push_str("CASE WHEN ");
            self.conditions(reading, strict)?;
            self.text.push_str(" THEN ");
            self.joined(rest, " AND ", "true", |builder, filter| builder.conditions(reading, filter))?;
            self.text.push_str(" END");
            return Ok(());
        }
        self.joined(all, " AND ", "true", |builder, filter| builder.conditions(reading, filter))
    }

    /// Writes the conditions of a client, which are not applied to rows that a policy keeps back where they may fail: the
    /// error would tell that such a row is there. PostgreSQL chooses the order of conditions by their cost.
    pub(super) fn shielded(
        &mut self,
        reading: &mut Reading<'a>,
        permitted: Option<&str>,
        filter: &Filter,
    ) -> Result<(), DbError> {
        let Some(permitted) = permitted.filter(|_| filter.may_fail()) else { return self.conditions(reading, filter) };
        self.text.extend(["CASE WHEN ", permitted, " THEN "]);
        self.conditions(reading, filter)?;
        self.text.push_str(" END");
        Ok(())
    }

    fn filter_reads(&self, rows: &RowScope<'a>, filter: &Filter) -> usize {
        match filter {
            Filter::All(all) | Filter::Any(all) => all.iter().map(|filter| self.filter_reads(rows, filter)).sum(),
            Filter::Not(inner) | Filter::Strict(inner) => self.filter_reads(rows, inner),
            Filter::Compare(column, ..) => self.reads(rows, column),
            // Whether it is a list, and what is in it.
            Filter::Some(column, _) => 2 * self.reads(rows, column),
            Filter::Aggregate(column, _) => self.reads(rows, column),
        }
    }

    /// The reads of `data` for a column: one, or none where the view has the column; for a relation, those of its keys.
    pub(super) fn reads(&self, rows: &RowScope<'a>, column: &Column) -> usize {
        // A function gets the row as it is.
        let (Some(first), None) = (column.path.first(), &column.call) else { return 0 };
        if self.joined.is_some() && column.of_edge().is_some() {
            return 0;
        }
        let is_read = |key: &str| usize::from(!rows.source.columns.contains_key(key));
        match named(self.model, rows.row, first) {
            Some(Named::Relation(relation)) => relation.from.iter().map(|key| is_read(key)).sum(),
            _ => is_read(first),
        }
    }
}
