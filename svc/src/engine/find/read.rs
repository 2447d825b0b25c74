//! What a field asks for: rows of a type, which of them, in which order.

use async_graphql::Value;

use super::conditions::{declared_filter, orders, where_filter};
use crate::Error;
use crate::db::{DbError, Filter, FindSpec, Order, Page, SelectList, Source, Statement, Total, page};
use crate::engine::Limits;
use crate::engine::env::Env;
use crate::engine::plan::PlanField;
use crate::schema::{ArgRole, Model, PlannedMeta, Shape, TypeIndex, TypeKind};

/// Rows of a type: which of them, in which order.
pub(super) struct Read {
    pub(super) row: TypeIndex,
    pub(super) shape: Shape,
    filter: Filter,
    order: Vec<Order>,
    page: Page,
}

impl Read {
    /// What a resolver's query asks for.
    pub(super) fn find(model: &Model, limits: &Limits, find: FindSpec, shape: Shape) -> Result<Self, DbError> {
        let unknown = || DbError::UnknownSource("a type that is not in the schema".to_owned());
        let row = model.by_rust.get(&find.row).copied().ok_or_else(unknown)?;
        let page = find.page(limits)?;
        Ok(Self { row, shape, filter: find.filter, order: find.order, page })
    }

    /// What the arguments of a field without a body ask for.
    pub(super) fn planned(
        env: &Env<'_>,
        field: &PlanField,
        planned: PlannedMeta,
        row: TypeIndex,
    ) -> Result<Self, Error> {
        let values = env.arguments(&field.args)?;
        let (mut filters, mut order, mut limit, mut offset) = (Vec::new(), Vec::new(), None, 0);
        for (arg, value) in field.args.iter().zip(values) {
            let Some(value) = value else { continue };
            match (arg.role, value) {
                (ArgRole::Declared, value) => filters.push(declared_filter(env.model, row, &arg.rust, &value)?),
                (ArgRole::Where, Value::Object(fields)) => filters.push(where_filter(env.model, row, &fields)?),
                (ArgRole::OrderBy, Value::List(keys)) => {
                    for key in &keys {
                        orders(env.model, row, key, &mut order)?;
                    }
                }
                (ArgRole::Limit, Value::Number(number)) => limit = number.as_i64(),
                (ArgRole::Offset, Value::Number(number)) => offset = number.as_i64().unwrap_or(0),
                _ => {}
            }
        }
        let page = match planned.shape {
            Shape::List => page(limit, offset, env.limits).map_err(DbError::into_error)?,
            Shape::Optional | Shape::One => Page { limit: 1, offset: 0 },
        };
        Ok(Self { row, shape: planned.shape, filter: Filter::All(filters), order, page })
    }

    /// The view or table with the rows.
    pub(super) fn source(&self, model: &Model) -> Result<&'static str, DbError> {
        let source = match &model.types[self.row].kind {
            TypeKind::Object(object) => object.source,
            TypeKind::Abstract(abstraction) => abstraction.source,
            _ => None,
        };
        source.ok_or_else(|| DbError::UnknownSource(model.types[self.row].path.clone()))
    }

    /// The statement that asks all matching rows together; the page does not matter.
    pub(super) fn total(&self, model: &Model, source: &Source, total: Total) -> Result<Statement, DbError> {
        Statement::total(model, source, self.row, total, &self.filter)
    }

    /// The statement that reads `list`.
    pub(super) fn statement(&self, model: &Model, source: &Source, list: &SelectList) -> Result<Statement, DbError> {
        Statement::select(model, source, self.row, list, &self.filter, &self.order, Some(self.page))
    }
}
