//! The result types of a statement, which detect a changed view before a value is read.
//!
//! PostgreSQL rejects a prepared statement if the types of its columns have changed, and a record
//! includes the types of its values. Every column that affects the response must therefore expose
//! its type in one of the two ways. A column that is only sorted, grouped or aggregated by, or read
//! as text, does not, and gets a guard: a null of its type, which costs next to nothing per row.

use tokio_postgres::types::Type;

use super::query::{CheckedText, Query, Selected, Subquery};
use crate::sql::expr::{ColumnForm, Operand, RowScope, Scope, Select};
use crate::sql::ir::{Column, Computed, Having, OfGroup, Order};
use crate::sql::{Builder, Views};
use svc_postgres::{DbError, Oid};

/// A null with the type of a column that a query sorts, groups or aggregates by.
pub(super) struct Guard {
    pub(super) sql: String,
    ty: Oid,
}

/// The types of the values in a query's records.
///
/// # Errors
/// If the view is unknown.
pub(crate) fn record_types(views: Views<'_>, query: &Query) -> Result<Box<[Oid]>, DbError> {
    let mut builder = Builder::new(views);
    builder.careful = query.careful;
    let rows = builder.rows(query.row, 0)?;
    Ok(builder.types(&rows, query, true)?.into())
}

impl Subquery {
    /// The type of the subquery's column.
    pub(in crate::sql) fn oid(&self) -> Oid {
        match self {
            Self::Row(_) => Type::RECORD.oid(),
            Self::Rows(_) => Type::RECORD_ARRAY.oid(),
            Self::Count(_) => Type::INT8.oid(),
            Self::Exists(_) => Type::BOOL.oid(),
        }
    }
}

impl<'a> Builder<'a> {
    /// The types of the columns in a query's rows.
    pub(in crate::sql) fn row_types(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
    ) -> Result<Vec<Oid>, DbError> {
        self.types(rows, query, false)
    }

    fn types(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
        in_record: bool,
    ) -> Result<Vec<Oid>, DbError> {
        let selected = |selected: &Selected| match selected {
            Selected::Column(name, Select::Plain) => {
                let column = rows.source.columns.get(name);

                // A record contains the declared type of a column, even a domain; a result column
                // and the `CASE` of a mask have its base type.
                let is_declared = in_record && self.mask(rows, name).is_none();
                column.map_or(0, |column| {
                    if is_declared {
                        column.declared
                    } else {
                        column.base
                    }
                })
            }
            // As the `CASE` of a mask.
            Selected::Utf8(CheckedText::Column(name, Select::Plain)) => {
                let column = rows.source.columns.get(name);
                column.map_or(0, |column| column.base)
            }
            Selected::Column(_, Select::Text)
            | Selected::Call(_, Select::Text)
            | Selected::Utf8(CheckedText::Column(_, Select::Text)) => Type::TEXT.oid(),
            Selected::Column(_, Select::Json)
            | Selected::Call(_, Select::Json)
            | Selected::Key(_)
            | Selected::Utf8(CheckedText::Column(_, Select::Json) | CheckedText::Key(_)) => {
                Type::JSONB.oid()
            }
            Selected::Call(call, Select::Plain) => {
                self.catalog.row_function(&call.spec).map_or(0, |function| {
                    if in_record {
                        function.result.declared
                    } else {
                        function.result.base
                    }
                })
            }
            Selected::Related(_, part) => part.oid(),
            Selected::Edge(_) => Type::RECORD.oid(),
            Selected::Rows(_) => Type::RECORD_ARRAY.oid(),
            Selected::OrderKeys => Type::TEXT_ARRAY.oid(),
            Selected::Value(_, form) | Selected::Aggregate(_, _, form) => form.oid(),
            Selected::Count => ColumnForm::Int8.oid(),
            Selected::BadKey(_) | Selected::Bad(_) | Selected::NotUtf8(_) => Type::BOOL.oid(),
        };

        let empty = query.list.is_empty().then(|| Type::INT4.oid());
        let selected: Vec<Oid> = query.list.iter().map(selected).collect();
        let guards = self.guards(rows, query)?;

        Ok(empty
            .into_iter()
            .chain(selected)
            .chain(guards.iter().map(|guard| guard.ty))
            .collect())
    }

    /// The guards of a query, which follow its select list.
    pub(super) fn guards(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
    ) -> Result<Vec<Guard>, DbError> {
        let scope = Scope::Row(rows.clone());
        let mut guards: Vec<Guard> = Vec::new();
        let mut add = |guard: Option<Guard>| {
            guards.extend(guard.filter(|guard| guards.iter().all(|known| known.sql != guard.sql)));
        };

        for key in &query.order {
            add(self.order_guard(&scope, query, key)?);
        }

        for value in query.group.iter().filter(|value| value.period.is_none()) {
            add(Guard::of(&self.key_operand(&scope, &value.column)?));
        }

        for selected in &query.list {
            // A column that is read as text or JSON does not expose its own type.
            if let Selected::Column(name, Select::Text | Select::Json)
            | Selected::Utf8(CheckedText::Column(name, Select::Text | Select::Json)) = selected
            {
                add(Guard::of(&self.operand(&scope, &Column::of(name))?));
            }
        }

        let selected = query.list.iter().filter_map(|selected| match selected {
            Selected::Aggregate(_, column, _) => Some(column),
            _ => None,
        });
        let periods = query
            .group
            .iter()
            .filter(|value| value.period.is_some())
            .map(|value| &value.column);

        let ordered = query.group_order.iter().filter_map(|key| match &key.of {
            OfGroup::Computed(Computed::Of(_, column, _)) => Some(column),
            _ => None,
        });
        let compared = query.having.iter().flat_map(Having::columns);
        for column in selected.chain(periods).chain(ordered).chain(compared) {
            add(Guard::of_aggregate(
                rows,
                column,
                &self.operand(&scope, column)?,
            ));
        }

        Ok(guards)
    }

    /// Returns the guard of an order key, unless the key needs none or is selected itself.
    fn order_guard(
        &mut self,
        scope: &Scope<'a>,
        query: &Query,
        key: &Order,
    ) -> Result<Option<Guard>, DbError> {
        if key.rank.is_some() || key.column.call.is_some() {
            return Ok(None);
        }

        if let (Some(joining), Some(column)) = (query.joining, key.column.of_edge()) {
            let join = self.rows(joining, scope.depth() + 1)?;
            let operand = self.operand(&Scope::Row(join.clone()), &column)?;
            return Ok(Guard::of_aggregate(&join, &column, &operand));
        }

        if let Some(by) = &key.aggregate {
            let Computed::Of(_, column, _) = &by.value else {
                return Ok(None);
            };

            let (rows, _) = self.aggregate_value(scope, &key.column, by)?;
            let operand = self.operand(&Scope::Row(rows.clone()), column)?;
            return Ok(Guard::of_aggregate(&rows, column, &operand));
        }

        if query
            .list
            .iter()
            .any(|selected| shows(selected, &key.column))
        {
            return Ok(None);
        }

        Ok(Guard::of(&self.operand(scope, &key.column)?))
    }
}

/// Whether a selected value is the bare column.
fn shows(selected: &Selected, column: &Column) -> bool {
    matches!(selected, Selected::Column(name, Select::Plain) if *column == Column::of(name))
}

impl Guard {
    /// The result type of `CASE` is a domain's base type. Its branch is never planned.
    fn of(operand: &Operand) -> Option<Self> {
        Some(Self {
            sql: format!("CASE WHEN false THEN {} END", operand.sql),
            ty: operand.bare?,
        })
    }

    /// Next to aggregates, a value has to come from its own subquery.
    fn of_aggregate(rows: &RowScope<'_>, column: &Column, operand: &Operand) -> Option<Self> {
        let [_] = column.path.as_slice() else {
            return None;
        };

        let (from, alias) = (&rows.source.quoted, rows.alias());
        let sql = format!(
            "CASE WHEN false THEN (SELECT {} FROM {from} AS {alias}) END",
            operand.sql
        );

        Some(Self {
            sql,
            ty: operand.bare?,
        })
    }
}
