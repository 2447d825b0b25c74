//! Reads of `data`, and the subquery that combines many of them into one.
//!
//! A view may compute `data`, and PostgreSQL does so for each condition that refers to it; a
//! document that is stored compressed is decompressed as often. A query that refers to it many
//! times therefore reads it in a subquery, once per row. An index on an expression over `data`
//! cannot serve expressions over that subquery, so the first few reads stay direct.

use super::query::{Query, Selected};
use crate::postgres::DbError;
use crate::sql::Builder;
use crate::sql::expr::{Named, RowScope, Scope, named};
use crate::sql::ir::{Column, Computed, Filter, Having};

/// The maximum number of direct reads of `data`, which an index may serve.
const DIRECT: usize = 4;

/// The source of `data` for each part of a query.
pub(in crate::sql) struct Reading<'a> {
    rows: RowScope<'a>,
    /// The same rows with `data` from the subquery, if the query has one.
    once: Option<RowScope<'a>>,
    /// The number of reads that may still be direct.
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

    /// The rows for aggregates, which no index serves.
    pub(super) fn computed(&self) -> &RowScope<'a> {
        self.once.as_ref().unwrap_or(&self.rows)
    }

    /// The subquery, to follow the view in the `FROM` clause.
    pub(in crate::sql) fn join(&self) -> String {
        let Some((once, data)) = self
            .once
            .as_ref()
            .and_then(|once| Some((once, once.source.data()?)))
        else {
            return String::new();
        };

        // `||` decompresses a compressed document; the bare column would be passed on compressed.
        let unpacked = if data.name == "json" {
            "::jsonb"
        } else {
            " || '{}'::jsonb"
        };

        let (column, alias) = (self.rows.column("data"), once.data_alias());
        format!(", LATERAL (SELECT {column}{unpacked} AS data OFFSET 0) AS {alias}")
    }
}

impl<'a> Builder<'a> {
    /// The source of `data` for a query.
    pub(super) fn reading(&self, rows: &RowScope<'a>, query: &Query) -> Reading<'a> {
        let listed = query.list.iter().map(|selected| match selected {
            Selected::Aggregate(_, column, _) => self.reads(rows, column),
            Selected::Bad(value) => self.reads(rows, &value.column),
            _ => 0,
        });

        let compared = query.having.iter().flat_map(Having::columns);
        let of_groups = query
            .group
            .iter()
            .map(|value| &value.column)
            .chain(compared);

        let of_groups = of_groups.map(|column| self.reads(rows, column));
        let ordered = query.order.iter().map(|key| self.reads(rows, &key.column));
        let reads = listed.chain(of_groups).chain(ordered).sum::<usize>()
            + self.filter_reads(rows, &query.filter);

        Self::reading_of(rows, reads)
    }

    /// The source of `data` for a condition on rows.
    pub(in crate::sql) fn filter_reading(
        &self,
        rows: &RowScope<'a>,
        filter: &Filter,
    ) -> Reading<'a> {
        Self::reading_of(rows, self.filter_reads(rows, filter))
    }

    /// The source of `data` for aggregates of matching rows.
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
        Self::reading_of(
            rows,
            computed.sum::<usize>() + self.filter_reads(rows, filter),
        )
    }

    fn reading_of(rows: &RowScope<'a>, reads: usize) -> Reading<'a> {
        let once = (reads > DIRECT).then(|| RowScope {
            once: true,
            ..rows.clone()
        });
        Reading {
            rows: rows.clone(),
            once,
            direct: DIRECT,
        }
    }

    /// Writes a condition. The parts of a conjunction choose their source separately, so that an
    /// index can serve one of them.
    pub(super) fn conditions(
        &mut self,
        reading: &mut Reading<'a>,
        filter: &Filter,
    ) -> Result<(), DbError> {
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
            self.joined(rest, " AND ", "true", |builder, filter| {
                builder.conditions(reading, filter)
            })?;
            self.text.push_str(" END");
            return Ok(());
        }

        self.joined(all, " AND ", "true", |builder, filter| {
            builder.conditions(reading, filter)
        })
    }

    /// Writes a client's conditions. If they may fail, they are not evaluated for rows that a
    /// policy hides, because the error would reveal that such a row exists. PostgreSQL orders
    /// conditions by their cost.
    pub(in crate::sql) fn shielded(
        &mut self,
        reading: &mut Reading<'a>,
        permitted: Option<&str>,
        filter: &Filter,
    ) -> Result<(), DbError> {
        let Some(permitted) = permitted.filter(|_| filter.may_fail()) else {
            return self.conditions(reading, filter);
        };
        self.text.extend(["CASE WHEN ", permitted, " THEN "]);
        self.conditions(reading, filter)?;
        self.text.push_str(" END");
        Ok(())
    }

    fn filter_reads(&self, rows: &RowScope<'a>, filter: &Filter) -> usize {
        match filter {
            Filter::All(all) | Filter::Any(all) => all
                .iter()
                .map(|filter| self.filter_reads(rows, filter))
                .sum(),
            Filter::Not(inner) | Filter::Strict(inner) => self.filter_reads(rows, inner),
            Filter::Compare(column, ..) => self.reads(rows, column),
            // One read checks that the value is a list, and one reads its elements.
            Filter::Some(column, _) => 2 * self.reads(rows, column),
            Filter::Aggregate(column, _) => self.reads(rows, column),
        }
    }

    /// The number of reads of `data` for a column: one, or none if the view has the column. For a
    /// relation, the reads of its keys.
    pub(super) fn reads(&self, rows: &RowScope<'a>, column: &Column) -> usize {
        // A function receives the whole row.
        let (Some(first), None) = (column.path.first(), &column.call) else {
            return 0;
        };
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
