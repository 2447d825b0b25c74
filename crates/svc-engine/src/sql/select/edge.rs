//! The edge between a row and the row whose relation leads to it: their row in the junction view.

use super::query::Query;
use crate::sql::Builder;
use crate::sql::expr::join_table::equal;
use crate::sql::expr::{Operand, RowScope, Scope, Tie};
use crate::sql::ir::Column;
use svc_core::schema::{EDGE, Relation, TypeIndex};
use svc_postgres::{DbError, Source};

/// The relation of a query's rows through a junction view with a type, and the keys at which it
/// starts.
pub(in crate::sql) struct Joined {
    relation: Relation,
    from: Vec<String>,
}

impl Joined {
    pub(super) fn of(tie: Tie<'_>) -> Option<Self> {
        tie.relation.joining.map(|_| Self {
            relation: *tie.relation,
            from: tie.from.to_vec(),
        })
    }
}

impl<'a> Builder<'a> {
    /// The type and the view of the junction rows between the query's rows and its parent.
    pub(in crate::sql) fn joining(&self) -> Option<(TypeIndex, &'a Source)> {
        let relation = self.joined.as_ref()?.relation;
        let source = self.catalog.source(relation.through?.source)?;
        Some((relation.joining?, source))
    }

    /// Writes the record of the junction row between a row and the query's parent.
    pub(super) fn edge(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
        tie: Option<Tie<'_>>,
    ) -> Result<(), DbError> {
        let tie = tie.ok_or_else(|| DbError::Relation(EDGE.to_owned()))?;
        let (join, rest) = self.joining_row(rows, tie.relation, tie.from)?;
        self.text.push_str("(SELECT ");
        self.select_list(&join, query, None, true)?;
        self.text.extend([rest.as_str(), ")"]);
        Ok(())
    }

    /// The value of a junction row's field, for an order by it; `None` for a column of the rows
    /// themselves.
    pub(super) fn edge_operand(
        &mut self,
        scope: &Scope<'a>,
        column: &Column,
    ) -> Result<Option<Operand>, DbError> {
        let (Scope::Row(rows), Some(column)) = (scope, column.of_edge()) else {
            return Ok(None);
        };

        let Some(Joined { relation, from }) = self.joined.take() else {
            return Ok(None);
        };

        let (join, rest) = self.joining_row(rows, &relation, &from)?;
        self.joined = Some(Joined { relation, from });
        let operand = self.operand(&Scope::Row(join), &column)?;
        let first = |sql: &str| format!("(SELECT {sql}{rest})");

        Ok(Some(Operand {
            sql: first(&operand.sql),
            text: operand.text.as_deref().map(first),
            ..operand
        }))
    }

    /// The scope of the junction row between a row and the keys of the other side, and the clauses
    /// to follow a select list. If several rows join the same pair, one of them is used.
    fn joining_row(
        &mut self,
        rows: &RowScope<'a>,
        relation: &Relation,
        keys: &[String],
    ) -> Result<(RowScope<'a>, String), DbError> {
        let through = relation
            .through
            .ok_or_else(|| DbError::Relation(EDGE.to_owned()))?;
        let to = self.keys(&Scope::Row(rows.clone()), relation.to, "to")?;
        let join = self.join(rows, relation, through)?;
        let here = self.join_keys(&join, relation, through.here, "here")?;
        let there = self.join_keys(&join, relation, through.there, "there")?;
        let there: Vec<_> = there
            .into_iter()
            .zip(&to)
            .map(|(there, to)| self.as_type(there, &to.cast))
            .collect();

        let to: Vec<_> = to.into_iter().map(|to| to.sql).collect();
        let permitted = self.permitted_join(&join, relation)?;
        let (view, alias) = (&join.source.quoted, join.alias());
        let (here, there) = (equal(&here, keys), equal(&there, &to));
        let rest = format!(" FROM {view} AS {alias} WHERE {here} AND {there}{permitted} LIMIT 1");

        Ok((join, rest))
    }
}
