//! Converts coerced arguments to conditions on aggregates of related rows, and to orders by them.

use async_graphql::{Name, Value};
use indexmap::IndexMap;

use super::{EmptyConditions, direction, empty_condition, where_filter};
use crate::graphql::find::conditions::aggregate_values::of_function;
use crate::sql::{
    AggregateComparison, AggregateFilter, Column, Computed, Filter, Order, OrderAggregate, asc,
};
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{AggregateFunction, Family, Model, Operator, TypeIndex, TypeKind, family};
use svc_core::{Error, ErrorCode};

type Fields = IndexMap<Name, Value>;

/// Reads the conditions on aggregates of the rows at the end of a path.
pub(super) fn aggregate_filter(
    model: &Model,
    row: TypeIndex,
    path: Column,
    fields: &Fields,
    empty: EmptyConditions,
) -> Result<Filter, Error> {
    if empty == EmptyConditions::Refused {
        check_parts(fields)?;
    }

    let mut having = Vec::new();
    for (name, value) in fields.iter().filter(|(name, _)| *name != "where") {
        let Value::Object(inner) = value else {
            return Err(null(name));
        };

        let Some(function) = AggregateFunction::named(name) else {
            compare(&mut having, &Computed::Count, Family::Ordered, inner)?;
            continue;
        };

        for (rust, operators) in inner {
            let Value::Object(operators) = operators else {
                return Err(null(rust));
            };

            let (column, result) = of_function(model, row, function, rust)?;
            let family = family(&TypeKind::Scalar {
                kind: result,
                specified_by: None,
            });

            compare(
                &mut having,
                &Computed::Of(function, column, result),
                family,
                operators,
            )?;
        }
    }

    // Without a comparison, the condition would match every row.
    if having.is_empty() {
        let name = path.path.last().map_or("", String::as_str);
        let message = format!(
            "the condition `{name}` compares nothing; ask for `count`, or for `sum` and others of a field"
        );
        return Err(Error::new(ErrorCode::BadUserInput, message));
    }

    Ok(Filter::Aggregate(
        path,
        Box::new(AggregateFilter {
            filter: rows(model, row, fields, empty)?,
            having,
        }),
    ))
}

/// Adds the orders by aggregates of the rows at the end of a path, in the order given by the
/// client.
pub(super) fn aggregate_orders(
    model: &Model,
    row: TypeIndex,
    path: &Column,
    fields: &Fields,
    order: &mut Vec<Order>,
) -> Result<(), Error> {
    let filter = rows(model, row, fields, EmptyConditions::Match)?;
    let mut add = |value: Computed, given: &str| {
        let by = Some(Box::new(OrderAggregate {
            value,
            filter: filter.clone(),
        }));
        order.push(direction(
            Order {
                column: path.clone(),
                aggregate: by,
                ..asc("id")
            },
            given,
        ));
    };

    for (name, value) in fields {
        match (AggregateFunction::named(name), value) {
            (None, Value::Enum(given)) => add(Computed::Count, given),
            (Some(function), Value::Object(inner)) => {
                for (rust, given) in inner {
                    let Value::Enum(given) = given else { continue };
                    let (column, result) = of_function(model, row, function, rust)?;
                    add(Computed::Of(function, column, result), given);
                }
            }
            _ => {}
        }
    }

    Ok(())
}

/// Rejects empty conditions on aggregates, and an empty `where` beside them.
fn check_parts(fields: &Fields) -> Result<(), Error> {
    for (name, value) in fields {
        let Value::Object(inner) = value else {
            continue;
        };

        if inner.is_empty() {
            return Err(empty_condition(name));
        }

        // The functions of fields have one more level.
        if AggregateFunction::named(name).is_some() {
            check_parts(inner)?;
        }
    }

    Ok(())
}

/// Returns the condition on the aggregated rows.
fn rows(
    model: &Model,
    row: TypeIndex,
    fields: &Fields,
    empty: EmptyConditions,
) -> Result<Filter, Error> {
    match fields.get("where") {
        None => Ok(Filter::All(Vec::new())),
        Some(Value::Object(fields)) => where_filter(model, row, fields, empty),
        Some(_) => Err(null("where")),
    }
}

fn compare(
    having: &mut Vec<AggregateComparison>,
    value: &Computed,
    family: Family,
    operators: &Fields,
) -> Result<(), Error> {
    for (name, operand) in operators {
        let unknown = || Error::internal(format!("there is no operator `{name}`"));
        let operator: Operator = family.operator(name).ok_or_else(unknown)?.operator;
        having.push(AggregateComparison {
            value: value.clone(),
            operator,
            operand: SqlValue::from_graphql(operand),
        });
    }

    Ok(())
}

fn null(name: &str) -> Error {
    Error::new(
        ErrorCode::BadUserInput,
        format!("the condition `{name}` is null; leave it out"),
    )
}
