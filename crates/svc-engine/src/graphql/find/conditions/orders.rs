//! Converts the arguments of an `orderBy` to orders.

use async_graphql::Value;

use super::related_aggregates::aggregate_orders;
use super::stored::Stored;
use super::{Fields, direction, relation};
use crate::sql::{Column, Direction, Nulls, Order, Rank};
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{EDGE, Family, Model, SEARCH, TypeIndex};
use svc_core::{Error, ErrorCode};

/// Adds the keys of one object of `orderBy`, in the order given by the client. Rows reached through
/// a join table can also be ordered by the fields of the join table rows.
pub(in crate::graphql::find) fn orders(
    model: &Model,
    (row, joining): (TypeIndex, Option<TypeIndex>),
    key: &Value,
    order: &mut Vec<Order>,
) -> Result<(), Error> {
    let (Some(joining), Value::Object(fields)) = (joining, key) else {
        return order_keys(model, row, &[], key, order);
    };

    // One key at a time: the client may put keys of the edge between others.
    for (rust, direction) in fields {
        if rust != EDGE {
            let key = Value::Object(Fields::from([(rust.clone(), direction.clone())]));
            order_keys(model, row, &[], &key, order)?;
        } else if !matches!(direction, Value::Null) {
            order_keys(model, joining, &[EDGE.to_owned()], direction, order)?;
        }
    }

    Ok(())
}

fn order_keys(
    model: &Model,
    object: TypeIndex,
    path: &[String],
    key: &Value,
    order: &mut Vec<Order>,
) -> Result<(), Error> {
    let Value::Object(fields) = key else {
        return Err(Error::internal("an order is not an object"));
    };

    for (rust, direction) in fields {
        if let Some(relation) = relation(model, object, rust) {
            let mut path = path.to_vec();
            path.push(rust.to_string());
            if let (true, Value::Object(fields)) = (relation.is_derived(), direction) {
                aggregate_orders(model, relation.row, &Column::at(path), fields, order)?;
            } else if !matches!(direction, Value::Null) {
                order_keys(model, relation.row, &path, direction, order)?;
            }
            continue;
        }

        if let Some(computed) = Stored::computed(model, object, path, rust, direction)? {
            order.extend(computed_order(computed.column, direction));
            continue;
        }

        let stored = Stored::of(model, object, path, rust)?;
        let Value::Enum(direction) = direction else {
            if stored.family(model) == Family::Search {
                order.extend(rank(stored.column, direction)?);
            } else if !matches!(direction, Value::Null) {
                order_keys(model, stored.named, &stored.column.path, direction, order)?;
            }
            continue;
        };

        let key = Order {
            column: stored.column,
            direction: Direction::Asc,
            nulls: Nulls::Last,
            rank: None,
            aggregate: None,
        };

        order.push(self::direction(key, direction));
    }

    Ok(())
}

/// Returns the order by a computed value, given as a direction, or as a direction with arguments.
fn computed_order(column: Column, given: &Value) -> Option<Order> {
    let given = match given {
        Value::Object(fields) => fields.get("direction")?,
        given => given,
    };

    let Value::Enum(given) = given else {
        return None;
    };

    Some(direction(
        Order {
            column,
            direction: Direction::Asc,
            nulls: Nulls::Last,
            rank: None,
            aggregate: None,
        },
        given,
    ))
}

/// Returns the order by full-text rank, given as a query in one of the query languages, and a
/// direction.
fn rank(column: Column, key: &Value) -> Result<Option<Order>, Error> {
    let Value::Object(fields) = key else {
        return Ok(None);
    };

    let queries = SEARCH
        .iter()
        .filter_map(|def| Some((def.operator, fields.get(def.name)?)));
    let given = match fields.get("direction") {
        Some(Value::Enum(given)) => given.as_str(),
        // The best matches have the highest rank, so they come first by default.
        _ => "DESC_NULLS_LAST",
    };

    match queries.collect::<Vec<_>>().as_slice() {
        [(operator, query)] if **query != Value::Null => {
            let rank = Some(Rank {
                operator: *operator,
                query: SqlValue::from_graphql(query),
            });
            let order = Order {
                column,
                direction: Direction::Desc,
                nulls: Nulls::Last,
                rank,
                aggregate: None,
            };

            Ok(Some(direction(order, given)))
        }
        _ => Err(Error::new(
            ErrorCode::BadUserInput,
            "an order by rank takes exactly one query, which is not null",
        )),
    }
}
