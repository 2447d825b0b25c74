//! Conditions on aggregates of related rows, and orders by them.

use crate::sql::Builder;
use crate::sql::expr::{Named, Operand, RowScope, Scope, named};
use crate::sql::ir::{AggregateFilter, Column, Computed, Filter, OrderAggregate};
use svc_core::schema::{AggregateFunction, Family, Relation, ScalarKind};
use svc_postgres::DbError;

/// The end of a path through to-one relations and embedded objects: a scope and a relation in it.
struct End<'a, 's> {
    scope: &'s Scope<'a>,
    relation: Relation,
}

impl<'a> Builder<'a> {
    /// Writes conditions on aggregates of related rows: one subquery for all of them.
    pub(in crate::sql) fn aggregated(
        &mut self,
        scope: &Scope<'a>,
        column: &Column,
        of: &AggregateFilter,
    ) -> Result<(), DbError> {
        self.at_end(scope, column, |builder, end| {
            let (rows, join) = builder.related(end.scope, &end.relation)?;
            let mut reading = builder.aggregate_reading(
                &rows,
                &of.filter,
                of.having.iter().map(|having| &having.value),
            );

            let listed = Scope::Row(reading.computed().clone());
            builder.text.push_str("(SELECT ");

            for (index, having) in of.having.iter().enumerate() {
                builder.text.push_str(if index == 0 { "" } else { " AND " });
                let value = builder.computed(&listed, &having.value)?;
                builder.compare_operand(
                    value,
                    &having.value.name(),
                    having.operator,
                    &having.operand,
                )?;
            }

            builder.related_rows(&rows, &join, &mut reading, &of.filter)?;

            // A comparison with null is a constant; without `HAVING` PostgreSQL would return it for
            // each row instead of once.
            builder.text.push_str(" HAVING true)");

            Ok(())
        })
    }

    /// The expression of an order by an aggregate of related rows.
    pub(super) fn aggregate_operand(
        &mut self,
        scope: &Scope<'a>,
        column: &Column,
        by: &OrderAggregate,
    ) -> Result<Operand, DbError> {
        let (first, rest) = column
            .path
            .split_first()
            .ok_or_else(|| self.unknown(scope, column))?;
        if let Some(Named::Relation(relation)) = named(self.model, scope.object(), first)
            && !rest.is_empty()
            && !relation.is_many()
        {
            let (rows, join) = self.related(scope, relation)?;
            let (from, alias) = (rows.source.quoted.clone(), rows.alias());
            let permitted = self
                .permitted(&rows)?
                .map(|rule| format!(" AND {rule}"))
                .unwrap_or_default();
            let value =
                self.aggregate_operand(&Scope::Row(rows), &Column::at(rest.to_vec()), by)?;
            let sql = format!(
                "(SELECT {} FROM {from} AS {alias} WHERE {join}{permitted} LIMIT 1)",
                value.sql
            );

            return Ok(Operand { sql, ..value });
        }

        self.at_end(scope, column, |builder, end| {
            let (rows, join) = builder.related(end.scope, &end.relation)?;
            let mut reading = builder.aggregate_reading(&rows, &by.filter, [&by.value].into_iter());
            let value = builder.computed(&Scope::Row(reading.computed().clone()), &by.value)?;
            let outer = std::mem::take(&mut builder.text);
            builder.related_rows(&rows, &join, &mut reading, &by.filter)?;
            let from = std::mem::replace(&mut builder.text, outer);
            Ok(Operand {
                sql: format!("(SELECT {}{from})", value.sql),
                ..value
            })
        })
    }

    /// The operand of an order by an aggregate, without its subquery, for its type; with the scope
    /// of the aggregated rows.
    pub(super) fn aggregate_value(
        &mut self,
        scope: &Scope<'a>,
        column: &Column,
        by: &OrderAggregate,
    ) -> Result<(RowScope<'a>, Operand), DbError> {
        let (first, rest) = column
            .path
            .split_first()
            .ok_or_else(|| self.unknown(scope, column))?;
        if let Some(Named::Relation(relation)) = named(self.model, scope.object(), first)
            && !rest.is_empty()
        {
            let rows = Scope::Row(self.rows(relation.row, scope.depth() + 1)?);
            return self.aggregate_value(&rows, &Column::at(rest.to_vec()), by);
        }

        self.at_end(scope, column, |builder, end| {
            let rows = builder.rows(end.relation.row, end.scope.depth() + 1)?;
            let value = builder.computed(&Scope::Row(rows.clone()), &by.value)?;
            Ok((rows, value))
        })
    }

    /// Calls `write` with the relation at the end of a path through embedded objects.
    fn at_end<T>(
        &mut self,
        scope: &Scope<'a>,
        column: &Column,
        write: impl FnOnce(&mut Self, End<'a, '_>) -> Result<T, DbError>,
    ) -> Result<T, DbError> {
        let (first, rest) = column
            .path
            .split_first()
            .ok_or_else(|| self.unknown(scope, column))?;
        match named(self.model, scope.object(), first) {
            Some(Named::Relation(relation)) if rest.is_empty() && relation.is_many() => {
                let relation = *relation;
                write(self, End { scope, relation })
            }
            Some(Named::Stored(stored)) if !rest.is_empty() && !stored.list => {
                let sql = self
                    .json(scope, first)
                    .ok_or_else(|| self.unknown(scope, column))?;
                let sql = self.masked(scope, first, sql)?;
                let inside = Scope::Json {
                    sql,
                    object: stored.named,
                    depth: scope.depth(),
                };

                let (relation, inside) = self.embedded_end(inside, rest)?;

                write(
                    self,
                    End {
                        scope: &inside,
                        relation,
                    },
                )
            }
            _ => Err(self.unknown(scope, column)),
        }
    }

    fn embedded_end(
        &mut self,
        scope: Scope<'a>,
        path: &[String],
    ) -> Result<(Relation, Scope<'a>), DbError> {
        let unknown = |builder: &Self| builder.unknown(&scope, &Column::at(path.to_vec()));
        let (first, rest) = path.split_first().ok_or_else(|| unknown(self))?;
        match named(self.model, scope.object(), first) {
            Some(Named::Relation(relation)) if rest.is_empty() && relation.is_many() => {
                Ok((*relation, scope))
            }
            Some(Named::Stored(stored)) if !rest.is_empty() && !stored.list => {
                // Only the fields of rows have masks, and `at_end` has applied the mask of the
                // first field.
                let sql = self.json(&scope, first).ok_or_else(|| unknown(self))?;
                let inside = Scope::Json {
                    sql,
                    object: stored.named,
                    depth: scope.depth(),
                };
                self.embedded_end(inside, rest)
            }
            _ => Err(unknown(self)),
        }
    }

    /// An aggregate of rows, for a comparison.
    pub(super) fn computed(
        &mut self,
        scope: &Scope<'a>,
        value: &Computed,
    ) -> Result<Operand, DbError> {
        Ok(match value {
            Computed::Count => Operand::computed("count(*)".to_owned(), "int8"),
            Computed::Of(function, column, result) => {
                self.operand(scope, column)?
                    .result(*function, *result, self.careful)
            }
        })
    }

    /// Writes the `FROM` and `WHERE` clauses for the related rows that match a filter, to follow
    /// the select list.
    fn related_rows(
        &mut self,
        rows: &RowScope<'a>,
        join: &str,
        reading: &mut super::data_subquery::Reading<'a>,
        filter: &Filter,
    ) -> Result<(), DbError> {
        let permitted = self.permitted(rows)?;
        let (from, alias) = (&rows.source.quoted, rows.alias());
        let data = reading.join(self, permitted.as_deref());
        self.text
            .push_str(&format!(" FROM {from} AS {alias}{data} WHERE {join}"));
        if let Some(permitted) = &permitted {
            self.text.extend([" AND ", permitted]);
        }

        if *filter != Filter::All(Vec::new()) {
            self.text.push_str(" AND ");
            self.shielded(reading, permitted.as_deref(), filter)?;
        }

        Ok(())
    }
}

impl Computed {
    /// The column, for messages.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Count => "count".to_owned(),
            Self::Of(_, column, _) => column.path.join("."),
        }
    }
}

impl Operand {
    fn computed(sql: String, cast: &str) -> Self {
        Self {
            sql,
            cast: cast.to_owned(),
            fallback: None,
            family: Family::Ordered,
            text: None,
            bare: None,
            is_nondeterministic: false,
        }
    }

    /// An aggregate of the values, for a comparison: in the type that clients see.
    fn result(self, function: AggregateFunction, result: ScalarKind, careful: bool) -> Self {
        let sql = self.aggregate(function, careful);
        let cast = match (function, result) {
            (AggregateFunction::Min | AggregateFunction::Max, _) => {
                return Self {
                    sql,
                    text: None,
                    bare: None,
                    ..self
                };
            }
            (_, ScalarKind::Int) => "int8",
            // With careful casts, a sum may exceed a double.
            (_, ScalarKind::Float) if !careful => "float8",
            _ => "numeric",
        };

        Self::computed(format!("({sql})::{cast}"), cast)
    }
}
