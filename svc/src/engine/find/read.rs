//! What a field asks for: rows of a type, which of them, in which order.

use async_graphql::Value;

use super::conditions::{declared_filter, orders, where_filter};
use crate::Error;
use crate::db::{DbError, Filter, FindSpec, Order, Page, Query, Selected, page};
use crate::engine::Limits;
use crate::engine::env::Env;
use crate::engine::plan::PlanField;
use crate::schema::{ArgRole, Model, PlannedMeta, Relation, Shape, TypeIndex};

/// Rows of a type: which of them, in which order.
#[derive(Clone)]
pub(super) struct Read {
    pub(super) row: TypeIndex,
    pub(super) shape: Shape,
    pub(super) filter: Filter,
    pub(super) order: Vec<Order>,
    pub(super) page: Option<Page>,
}

impl Read {
    /// What a resolver's query asks for.
    pub(super) fn find(model: &Model, limits: &Limits, find: FindSpec, shape: Shape) -> Result<Self, DbError> {
        let row = find.row(model)?;
        let page = Some(find.page(limits)?);
        Ok(Self { row, shape, filter: find.filter, order: find.order, page })
    }

    /// What the arguments of a field without a body ask for.
    pub(super) fn planned(
        env: &Env<'_>,
        field: &PlanField,
        planned: PlannedMeta,
        row: TypeIndex,
    ) -> Result<Self, DbError> {
        Self::arguments(env, field, row, planned.shape)
    }

    /// What the arguments of a relation ask for.
    pub(super) fn relation(env: &Env<'_>, field: &PlanField, relation: Relation) -> Result<Self, DbError> {
        let shape = if relation.many { Shape::List } else { Shape::Optional };
        let read = Self::arguments(env, field, relation.row, shape)?;
        // A relation to one row takes the first by itself.
        Ok(if relation.many { read } else { Self { page: None, ..read } })
    }

    fn arguments(env: &Env<'_>, field: &PlanField, row: TypeIndex, shape: Shape) -> Result<Self, DbError> {
        let values = env.arguments(&field.args).map_err(DbError::refused)?;
        let (mut filters, mut order, mut limit, mut offset) = (Vec::new(), Vec::new(), None, 0);
        for (arg, value) in field.args.iter().zip(values) {
            let Some(value) = value else { continue };
            apply(env.model, row, (arg.role, &arg.rust), &value, &mut filters, &mut order).map_err(DbError::refused)?;
            match (arg.role, value) {
                (ArgRole::Limit, Value::Number(number)) => limit = number.as_i64(),
                (ArgRole::Offset, Value::Number(number)) => offset = number.as_i64().unwrap_or(0),
                _ => {}
            }
        }
        let page = match shape {
            Shape::List => page(limit, offset, env.limits)?,
            _ => Page { limit: 1, offset: 0 },
        };
        Ok(Self { row, shape, filter: Filter::All(filters), order, page: Some(page) })
    }

    /// The query that reads `list`.
    pub(super) fn reading(self, list: Vec<Selected>) -> Query {
        Query { list, order: self.order, page: self.page, ..Query::new(self.row, self.filter) }
    }
}

/// Adds the conditions and the order that an argument stands for.
pub(super) fn apply(
    model: &Model,
    row: TypeIndex,
    (role, rust): (ArgRole, &str),
    value: &Value,
    filters: &mut Vec<Filter>,
    order: &mut Vec<Order>,
) -> Result<(), Error> {
    match (role, value) {
        (ArgRole::Declared, value) => filters.push(declared_filter(model, row, rust, value)?),
        (ArgRole::Where, Value::Object(fields)) => filters.push(where_filter(model, row, fields)?),
        (ArgRole::OrderBy, Value::List(keys)) => {
            for key in keys {
                orders(model, row, key, order)?;
            }
        }
        _ => {}
    }
    Ok(())
}
