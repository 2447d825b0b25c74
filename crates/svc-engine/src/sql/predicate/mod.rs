//! Conditions: combining filters, and applying them to lists and relations.

mod bind;
mod compare;
mod json_path;
mod may_fail;
mod preread;
mod relation_key;
mod type_specific;

pub(super) use bind::bind;

use super::Builder;
use super::expr::{Named, Scope, named};
use super::ir::{Column, Filter};
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{Operator, Relation};
use svc_postgres::DbError;

/// The maximum number of conditions on related rows that PostgreSQL may plan as joins. It considers
/// all orders of such joins, including the tables behind each view: twelve conditions on views of
/// six joins took it 200 ms to a second to plan, and take 21 ms with this limit.
pub(super) const SEMI_JOINS: usize = 4;

impl Filter {
    /// Whether the filter selects a single id, so that there is nothing to order.
    pub(crate) fn is_one_row(&self) -> bool {
        match self {
            Self::All(all) => all.iter().any(Self::is_one_row),
            Self::Compare(column, Operator::Eq, value) => {
                *column == Column::of("id") && *value != SqlValue::Null
            }
            _ => false,
        }
    }

    /// Whether the filter begins with the filter of an authorizer.
    pub(in crate::sql) fn begins_strictly(&self) -> bool {
        match self {
            Self::Strict(_) => true,
            Self::All(all) => all.first().is_some_and(Self::begins_strictly),
            _ => false,
        }
    }

    /// Whether the best plan depends on the values.
    pub(super) fn replans(&self) -> bool {
        match self {
            Self::All(all) | Self::Any(all) => all.iter().any(Self::replans),
            Self::Not(inner) | Self::Some(_, inner) | Self::Strict(inner) => inner.replans(),
            Self::Aggregate(_, of) => of.filter.replans(),
            Self::Compare(_, operator, _) => value_replans(*operator),
        }
    }
}

/// Whether the best plan depends on the value of an operator, as it does for ranges and patterns.
fn value_replans(operator: Operator) -> bool {
    !matches!(
        operator,
        Operator::Eq | Operator::Ne | Operator::In | Operator::NotIn | Operator::IsNull
    )
}

impl<'a> Builder<'a> {
    pub(super) fn filter(&mut self, scope: &Scope<'a>, filter: &Filter) -> Result<(), DbError> {
        match filter {
            Filter::All(all) => self.joined(all, " AND ", "true", |builder, filter| {
                builder.filter(scope, filter)
            }),
            Filter::Any(any) => self.joined(any, " OR ", "false", |builder, filter| {
                builder.filter(scope, filter)
            }),
            Filter::Not(inner) => {
                self.text
                    .push_str(if self.is_ruling { "NOT (" } else { "(" });
                self.filter(scope, inner)?;
                self.text
                    .push_str(if self.is_ruling { ")" } else { ") IS NOT TRUE" });
                Ok(())
            }
            Filter::Strict(inner) => self.ruling(|builder| builder.filter(scope, inner)),
            Filter::Compare(column, operator, value) => {
                match self.through_relation(scope, column) {
                    Some((_, rest, relation)) if rest.path.is_empty() => {
                        self.compare_key(scope, (column, relation), *operator, value)
                    }
                    // A path through a relation matches if a related row does.
                    Some((path, rest, _)) => {
                        let inner = Filter::Compare(rest, *operator, value.clone());
                        self.some(scope, &path, &inner)
                    }
                    None => self.compare(scope, column, *operator, value),
                }
            }
            Filter::Some(column, inner) => self.some(scope, column, inner),
            Filter::Aggregate(column, of) => self.aggregated(scope, column, of),
        }
    }

    pub(super) fn joined<T>(
        &mut self,
        filters: &[T],
        with: &str,
        empty: &str,
        mut write: impl FnMut(&mut Self, &T) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        if filters.is_empty() {
            self.text.push_str(empty);
            return Ok(());
        }

        self.text.push('(');

        for (index, filter) in filters.iter().enumerate() {
            if index > 0 {
                self.text.push_str(with);
            }
            write(self, filter)?;
        }

        self.text.push(')');

        Ok(())
    }

    /// Splits a path after its first relation: the path up to the relation, the rest, and the
    /// relation.
    fn through_relation(
        &self,
        scope: &Scope<'a>,
        column: &Column,
    ) -> Option<(Column, Column, &'a Relation)> {
        let mut object = scope.object();
        for (at, name) in column.path.iter().enumerate() {
            match named(self.model, object, name)? {
                Named::Relation(relation) => {
                    let (path, rest) = column.path.split_at(at + 1);
                    return Some((Column::at(path.to_vec()), column.behind(rest), relation));
                }
                Named::Stored(stored) => object = stored.named,
            }
        }

        None
    }

    /// Writes the condition that at least one element of an embedded list, or one related row,
    /// matches.
    pub(super) fn some(
        &mut self,
        scope: &Scope<'a>,
        column: &Column,
        inner: &Filter,
    ) -> Result<(), DbError> {
        let (first, rest) = column
            .path
            .split_first()
            .ok_or_else(|| self.unknown(scope, column))?;
        match named(self.model, scope.object(), first) {
            Some(Named::Relation(relation)) if rest.is_empty() => {
                let relation = *relation;
                self.some_row(scope, &relation, inner)
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
                self.some(&inside, &column.behind(rest), inner)
            }
            Some(Named::Stored(stored)) if rest.is_empty() && stored.list => {
                let json = self
                    .json(scope, first)
                    .ok_or_else(|| self.unknown(scope, column))?;
                let json = self.masked(scope, first, json)?;
                let depth = scope.depth() + 1;

                // `jsonb_array_elements` fails for any value but a list, and PostgreSQL may
                // evaluate it before a condition that excludes the row.
                let array = format!("CASE WHEN jsonb_typeof({json}) = 'array' THEN {json} END");

                self.text.push_str(&format!(
                    "EXISTS (SELECT FROM jsonb_array_elements({array}) AS e{depth}(v) WHERE "
                ));
                self.filter(
                    &Scope::Json {
                        sql: format!("e{depth}.v"),
                        object: stored.named,
                        depth,
                    },
                    inner,
                )?;

                self.text.push(')');

                Ok(())
            }
            _ => Err(self.unknown(scope, column)),
        }
    }

    fn some_row(
        &mut self,
        scope: &Scope<'a>,
        relation: &Relation,
        inner: &Filter,
    ) -> Result<(), DbError> {
        self.related_conditions += 1;
        let is_joined = self.related_conditions <= SEMI_JOINS;
        let (rows, join) = self.related(scope, relation)?;
        let mut reading = self.filter_reading(&rows, inner);

        // A related row that a policy hides must not decide whether this row matches.
        let permitted = self.permitted(&rows)?;
        let (from, data) = (
            &rows.source.quoted,
            reading.join(self, permitted.as_deref()),
        );

        self.text.push_str(&format!(
            "EXISTS (SELECT FROM {from} AS {}{data} WHERE {join}",
            rows.alias()
        ));
        if let Some(permitted) = &permitted {
            self.text.extend([" AND ", permitted]);
        }

        if *inner != Filter::All(Vec::new()) {
            self.text.push_str(" AND ");
            self.shielded(&mut reading, permitted.as_deref(), inner)?;
        }

        // `IS TRUE` does not change the result, but it prevents PostgreSQL from turning the
        // subquery into a join.
        self.text
            .push_str(if is_joined { ")" } else { ") IS TRUE" });

        Ok(())
    }

    pub(super) fn unknown(&self, scope: &Scope<'_>, column: &Column) -> DbError {
        DbError::UnknownColumn {
            source_name: self.source_name(scope),
            column: column.path.join("."),
        }
    }

    pub(super) fn no_key(&self, scope: &Scope<'_>, key: &str, end: &'static str) -> DbError {
        DbError::NoKey {
            source_name: self.source_name(scope),
            key: key.to_owned(),
            end,
        }
    }

    pub(super) fn source_name(&self, scope: &Scope<'_>) -> String {
        match scope {
            Scope::Row(row) => row.source.name.clone(),
            Scope::Json { object, .. } => self.model.types[*object].path.clone(),
        }
    }
}
