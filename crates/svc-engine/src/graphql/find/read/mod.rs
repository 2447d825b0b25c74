//! The read of a field: the type of the rows, their filter, order and page.

mod row_filter;
mod selection;

pub(in crate::graphql) use selection::argument_filter;

use std::sync::Arc;

use async_graphql::Value;

use row_filter::{check_scopes, restrict};

use super::conditions::{EmptyConditions, declared_filter, orders, where_filter};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::PlanField;
use crate::limits::Limits;
use crate::repository::{CursorPage, Db, FindSpec, page};
use crate::sql::{Filter, Order, Query, Selected, Window, asc, desc};
use svc_core::Error;
use svc_core::schema::{ArgRole, Model, OrderKey, Relation, Shape, TypeIndex};
use svc_postgres::{DbError, RowsCall};

/// A page of an ordered, filtered list.
#[derive(Clone)]
pub(super) struct PageRead {
    pub(super) read: Read,
    pub(super) page: CursorPage,
}

/// A read of rows of one type, with filter, order and page.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub(super) row: TypeIndex,
    pub(super) shape: Shape,
    pub(super) filter: Filter,
    pub(super) order: Vec<Order>,
    pub(super) page: Option<Window>,
    /// The source of the rows, if it is not the view.
    pub(super) from: Option<Arc<RowsCall>>,
    /// The type of the join table rows between these rows and their parent.
    pub(super) joining: Option<TypeIndex>,
}

impl Read {
    /// Restricts the read to the rows that the row filter of the root field allows. Every read of a
    /// root field passes through here: rows, single rows, pages, totals, `exists`, aggregates and
    /// groups.
    pub(super) fn filtered(mut self, db: &Db) -> Self {
        restrict(&mut self.filter, db, self.row);
        self
    }

    /// Returns the read of a resolver's query.
    pub(super) fn find(
        db: &Db,
        limits: &Limits,
        find: FindSpec,
        shape: Shape,
    ) -> Result<Self, DbError> {
        let page = Some(find.page(limits)?);
        Ok(Self {
            shape,
            page,
            ..Self::all(db, find)?
        })
    }

    /// Returns the read of all rows that a resolver's query matches, without its page.
    pub(super) fn all(db: &Db, find: FindSpec) -> Result<Self, DbError> {
        let model = &db.app.model;
        let row = find.row(model)?;
        check_scopes(db, row, &find.scoped)?;
        let (mut filters, mut order) = (vec![find.filter], find.order);
        let conditions = find.conditions.iter().map(|value| (ArgRole::Where, value));
        for (role, value) in
            conditions.chain(find.keys.iter().map(|value| (ArgRole::OrderBy, value)))
        {
            apply(
                model,
                (row, None),
                (role, ""),
                value,
                &mut filters,
                &mut order,
            )
            .map_err(DbError::refused)?;
        }

        add_defaults(&mut order, find.default_order.into_iter());
        let filter = if filters.len() == 1 {
            filters.remove(0)
        } else {
            Filter::All(filters)
        };

        Ok(Self {
            row,
            shape: Shape::List,
            filter,
            order,
            page: None,
            from: None,
            joining: None,
        }
        .filtered(db))
    }

    /// Returns the page of a connection without a body, from its arguments.
    pub(super) fn connection(
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        row: TypeIndex,
    ) -> Result<PageRead, DbError> {
        Ok(PageRead {
            read: Self::planned(cx, field, Shape::Connection, row)?,
            page: cursor_page(cx, field)?,
        })
    }

    /// Returns the page of a relation's rows, from its arguments.
    pub(super) fn page_beside(
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        relation: Relation,
    ) -> Result<PageRead, DbError> {
        let read = Self::beside(cx, field, relation)?.by_default(relation.order);
        Ok(PageRead {
            read,
            page: cursor_page(cx, field)?,
        })
    }

    /// Returns the read of a relation's connection or aggregate, from its arguments: all matching
    /// rows.
    pub(super) fn beside(
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        relation: Relation,
    ) -> Result<Self, DbError> {
        Ok(Self {
            page: None,
            ..Self::of_relation(cx, field, relation)?
        })
    }

    /// Returns the read of a root field without a body, from its arguments.
    pub(super) fn planned(
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        shape: Shape,
        row: TypeIndex,
    ) -> Result<Self, DbError> {
        // Like `filtered`, without moving the read.
        Self::arguments(cx, field, (row, None), shape, |filter| {
            restrict(filter, cx.context.db(), row);
        })
    }

    /// Returns the read of a relation, from its arguments.
    pub(super) fn relation(
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        relation: Relation,
    ) -> Result<Self, DbError> {
        let read = Self::of_relation(cx, field, relation)?;
        // A relation to one row has an implicit limit of one row.
        Ok(if relation.is_many() {
            read.by_default(relation.order)
        } else {
            Self { page: None, ..read }
        })
    }

    /// Sets a source of the rows other than the view.
    pub(super) fn reading_from(self, from: Option<Arc<RowsCall>>) -> Self {
        Self { from, ..self }
    }

    /// Returns the query for all matching rows.
    pub(super) fn matching(self) -> Query {
        Query {
            from: self.from,
            joining: self.joining,
            ..Query::new(self.row, self.filter)
        }
    }

    /// Returns the read with the default order, which breaks ties in the client's order.
    pub(super) fn by_default(mut self, order: &[OrderKey]) -> Self {
        self.add_default_order(order);
        self
    }

    /// Adds the default order, which breaks ties in the client's order.
    pub(super) fn add_default_order(&mut self, order: &[OrderKey]) {
        add_defaults(&mut self.order, order.iter().map(default_key));
    }

    /// Returns the read with the arguments of a relation.
    fn of_relation(
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        relation: Relation,
    ) -> Result<Self, DbError> {
        let rows = (relation.row, relation.joining);
        Self::arguments(cx, field, rows, relation.shape, |_| {})
    }

    /// Returns the read with the conditions, order and page of the arguments. `finish` changes its
    /// filter.
    fn arguments(
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        (row, joining): (TypeIndex, Option<TypeIndex>),
        shape: Shape,
        finish: impl FnOnce(&mut Filter),
    ) -> Result<Self, DbError> {
        let mut filters = Vec::with_capacity(field.args.len());
        let (mut order, mut limit, mut offset) = (Vec::new(), None, 0);
        for arg in field.args.iter() {
            let Some(value) = cx.argument(arg).map_err(DbError::refused)? else {
                continue;
            };

            apply(
                cx.model,
                (row, joining),
                (arg.role, &arg.rust),
                &value,
                &mut filters,
                &mut order,
            )
            .map_err(DbError::refused)?;

            match (arg.role, value.as_ref()) {
                (ArgRole::Limit, Value::Number(number)) => limit = number.as_i64(),
                (ArgRole::Offset, Value::Number(number)) => offset = number.as_i64().unwrap_or(0),
                _ => {}
            }
        }

        let page = match shape {
            Shape::List => page(limit, offset, cx.limits)?,
            _ => Window {
                limit: 1,
                offset: 0,
            },
        };

        let mut filter = Filter::All(filters);
        finish(&mut filter);

        Ok(Self {
            row,
            shape,
            filter,
            order,
            page: Some(page),
            from: None,
            joining,
        })
    }

    /// Returns the query that selects `list`.
    pub(super) fn reading(self, list: Vec<Selected>, careful: bool) -> Query {
        // Without an order of the client, rows keep the order in which their source returns them.
        let as_given = self.from.is_some() && self.order.is_empty();
        Query {
            list,
            order: self.order.clone(),
            page: self.page,
            careful,
            as_given,
            ..self.matching()
        }
    }
}

/// Returns the cursor page given by the arguments.
fn cursor_page(cx: &ExecutionContext<'_>, field: &PlanField) -> Result<CursorPage, DbError> {
    let mut page = CursorPage::default();
    for arg in field.args.iter() {
        let Some(value) = cx.argument(arg).map_err(DbError::refused)? else {
            continue;
        };

        let number = |value: &Value| match value {
            Value::Number(number) => number
                .as_i64()
                .and_then(|number| i32::try_from(number).ok()),
            _ => None,
        };

        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            _ => None,
        };

        match arg.role {
            ArgRole::First => page.first = number(&value),
            ArgRole::Last => page.last = number(&value),
            ArgRole::After => page.after = text(&value),
            ArgRole::Before => page.before = text(&value),
            _ => {}
        }
    }

    Ok(page)
}

/// Returns the order for a key of a field's default order.
pub(in crate::graphql) fn default_key(key: &OrderKey) -> Order {
    if key.descending {
        desc(key.column)
    } else {
        asc(key.column)
    }
}

/// Adds the keys of a default order that can still break a tie.
fn add_defaults(order: &mut Vec<Order>, defaults: impl Iterator<Item = Order>) {
    for key in defaults {
        let is_settled = |known: &Order| {
            // No key after the unique `id` can change the order.
            let is_unique = known.column.path == ["id"];
            known.is_of_value() && (known.column == key.column || is_unique)
        };
        if !order.iter().any(is_settled) {
            order.push(key);
        }
    }
}

/// Adds the conditions and the order given by an argument; `joining` is the type of the join table
/// rows, if there are any.
pub(super) fn apply(
    model: &Model,
    (row, joining): (TypeIndex, Option<TypeIndex>),
    (role, rust): (ArgRole, &str),
    value: &Value,
    filters: &mut Vec<Filter>,
    order: &mut Vec<Order>,
) -> Result<(), Error> {
    match (role, value) {
        (role, value) if role.ignores(value) => {}
        (ArgRole::Declared | ArgRole::DeclaredUnlessNull, value) => {
            filters.push(declared_filter(model, row, rust, value)?);
        }
        (ArgRole::Where, Value::Object(fields)) => {
            filters.push(where_filter(model, row, fields, EmptyConditions::Match)?);
        }
        (ArgRole::OrderBy, Value::List(keys)) => {
            for key in keys {
                orders(model, (row, joining), key, order)?;
            }
        }
        // A null `where` or `orderBy` counts as absent, and the callers read the other roles.
        _ => {}
    }

    Ok(())
}
