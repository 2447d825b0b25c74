//! Reads of `data`, and the subquery that combines many of them into one.
//!
//! A view may compute `data`, and PostgreSQL does so for each condition that refers to it; a
//! document that is stored compressed is decompressed as often. A query that refers to it many
//! times therefore reads it in a subquery, once per row. An index on an expression over `data`
//! cannot serve expressions over that subquery, so the first few reads stay direct.

use super::query::{Query, Selected};
use crate::sql::Builder;
use crate::sql::expr::{Named, RowScope, Scope, named};
use crate::sql::ir::{Column, Computed, Filter, Having};
use svc_postgres::DbError;

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

    /// The subquery, to follow the view in the `FROM` clause. A document that PostgreSQL may fail to
    /// compute is computed for permitted rows only.
    pub(in crate::sql) fn join(&self, builder: &Builder<'_>, permitted: Option<&str>) -> String {
        let Some((once, data)) = self
            .once
            .as_ref()
            .and_then(|once| Some((once, once.source.data()?)))
        else {
            return String::new();
        };

        let (column, alias) = (self.rows.column("data"), once.data_alias());
        // `||` decompresses a compressed document; the bare column would be passed on compressed.
        let unpacked = if data.name == "json" {
            builder.as_jsonb(&column)
        } else {
            format!("{column} || '{{}}'::jsonb")
        };

        let document = match permitted.filter(|_| data.may_fail) {
            Some(permitted) => format!("CASE WHEN {permitted} THEN {unpacked} END"),
            None => unpacked,
        };

        // `OFFSET 0` prevents PostgreSQL from merging the subquery into the query, which would
        // compute the document for each reference again.
        format!(", LATERAL (SELECT {document} AS data OFFSET 0) AS {alias}")
    }
}

impl<'a> Builder<'a> {
    /// The column `data` of a row as `jsonb`, if the view has one.
    pub(in crate::sql) fn data(&self, row: &RowScope<'_>) -> Option<String> {
        let data = row.source.data()?;
        if row.once {
            return Some(format!("{}.data", row.data_alias()));
        }

        let column = format!("{}.data", row.alias());

        Some(if data.name == "json" {
            self.as_jsonb(&column)
        } else {
            column
        })
    }

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

        // The filter of an authorizer cannot precede the subquery.
        let may_fail = rows.source.data().is_some_and(|data| data.may_fail);
        let is_direct = may_fail && query.filter.begins_strictly();

        Self::reading_of(rows, if is_direct { 0 } else { reads })
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

    /// Writes the condition on rows. The parts of a conjunction choose their source separately, so
    /// that an index can serve one of them.
    ///
    /// A part that may fail is not evaluated for rows that a policy (`permitted`) or the filter of
    /// an authorizer hides, because the error would reveal that such a row exists. PostgreSQL
    /// orders conditions by their cost.
    pub(in crate::sql) fn shielded(
        &mut self,
        reading: &mut Reading<'a>,
        permitted: Option<&str>,
        filter: &Filter,
    ) -> Result<(), DbError> {
        let Filter::All(all) = filter else {
            return self.shielded_parts(reading, permitted, std::slice::from_ref(filter));
        };

        if all.is_empty() {
            self.text.push_str("true");
            return Ok(());
        }

        self.text.push('(');
        let start = self.text.len();
        let (mut guard, mut rest) = (permitted.map(str::to_owned), all.as_slice());

        // The filter of an authorizer comes first.
        if let [first, others @ ..] = rest
            && first.begins_strictly()
        {
            self.shielded(reading, permitted, first)?;
            let strict = &self.text[start..];

            // The text of the filter is repeated in each guard; its placeholders are repeated with
            // it, so that its values are bound once.
            guard = Some(match permitted {
                Some(permitted) => format!("{permitted} AND {strict}"),
                None => strict.to_owned(),
            });
            rest = others;
        }

        for parts in self.parts(reading, guard.as_deref(), rest) {
            if self.text.len() > start {
                self.text.push_str(" AND ");
            }
            match parts {
                [part] => self.shielded(reading, guard.as_deref(), part)?,
                parts => self.shielded_parts(reading, guard.as_deref(), parts)?,
            }
        }

        self.text.push(')');

        Ok(())
    }

    /// The parts of a conjunction: adjacent ones that have to wait share a guard.
    fn parts<'f>(
        &self,
        reading: &Reading<'a>,
        guard: Option<&str>,
        all: &'f [Filter],
    ) -> Vec<&'f [Filter]> {
        let waits = |part: &Filter| {
            guard.is_some()
                && !matches!(part, Filter::All(_))
                && self.filter_may_fail(&reading.rows, part)
        };
        all.chunk_by(|one, next| waits(one) && waits(next))
            .collect()
    }

    /// Writes conditions that all must hold, after the guard if one of them may fail.
    fn shielded_parts(
        &mut self,
        reading: &mut Reading<'a>,
        guard: Option<&str>,
        all: &[Filter],
    ) -> Result<(), DbError> {
        let may_fail = |part: &Filter| self.filter_may_fail(&reading.rows, part);
        let guard = guard.filter(|_| all.iter().any(may_fail));

        // PostgreSQL evaluates the operands of `AND` in any order; only `CASE` guarantees that the
        // guard comes first.
        if let Some(guard) = guard {
            self.text.extend(["CASE WHEN ", guard, " THEN "]);
        }

        for (index, part) in all.iter().enumerate() {
            if index > 0 {
                self.text.push_str(" AND ");
            }
            let scope = reading.scope(self.filter_reads(&reading.rows, part));
            self.filter(&scope, part)?;
        }

        if guard.is_some() {
            self.text.push_str(" END");
        }

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
