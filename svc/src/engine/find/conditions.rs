//! From coerced arguments to filters and orders.

use async_graphql::Value;

use crate::Error;
use crate::db::{Comparison, Direction, Filter, Nulls, Order, SqlValue, col};
use crate::schema::{EnumValue, FieldKind, Model, TypeIndex, TypeKind};

/// A field of a row type by its Rust name: what it is stored as, and its enum's stored values.
struct Stored<'a> {
    name: &'static str,
    values: Option<&'a [EnumValue]>,
}

impl<'a> Stored<'a> {
    fn of(model: &'a Model, row: TypeIndex, rust: &str) -> Result<Self, Error> {
        let object = model.possible_types(row).first().and_then(|index| model.object(*index));
        let field = object.and_then(|object| object.fields.values().find(|field| field.rust == rust));
        match field.map(|field| (field, field.kind)) {
            Some((field, FieldKind::Stored { stored, .. })) => {
                let values = match &model.types[field.ty.named()].kind {
                    TypeKind::Enum(def) => Some(def.values.as_slice()),
                    _ => None,
                };
                Ok(Self { name: stored, values })
            }
            // A filter that names nothing must never become "all rows".
            _ => Err(Error::internal(format!(
                "a filter names `{rust}`, which `{}` does not store",
                model.types[row].path
            ))),
        }
    }

    /// The value as it is stored: enum values by their stored text.
    fn value(&self, value: &Value) -> SqlValue {
        match (self.values, value) {
            (Some(values), Value::Enum(name)) => {
                let stored = values.iter().find(|value| value.name == name.as_str()).map(|value| value.stored);
                SqlValue::Text(stored.unwrap_or(name).to_owned())
            }
            (Some(_), Value::List(items)) => SqlValue::List(items.iter().map(|item| self.value(item)).collect()),
            (_, value) => SqlValue::from_graphql(value),
        }
    }
}

pub(super) fn declared_filter(model: &Model, row: TypeIndex, rust: &str, value: &Value) -> Result<Filter, Error> {
    let stored = Stored::of(model, row, rust)?;
    let value = stored.value(value);
    let column = col(stored.name);
    Ok(if matches!(value, SqlValue::List(_)) {
        Filter::Compare(column, Comparison::In, value)
    } else {
        column.eq(value)
    })
}

type Fields = indexmap::IndexMap<async_graphql::Name, Value>;

pub(super) fn where_filter(model: &Model, row: TypeIndex, fields: &Fields) -> Result<Filter, Error> {
    let mut all = Vec::new();
    for (rust, value) in fields {
        match (rust.as_str(), value) {
            // An absent condition and a null one both ask nothing.
            (_, Value::Null) => {}
            ("AND", Value::List(items)) => all.push(Filter::All(where_filters(model, row, items)?)),
            ("OR", Value::List(items)) => all.push(Filter::Any(where_filters(model, row, items)?)),
            ("NOT", Value::Object(fields)) => all.push(where_filter(model, row, fields)?.not()),
            (rust, Value::Object(operators)) => {
                let stored = Stored::of(model, row, rust)?;
                for (operator, value) in operators {
                    all.push(operator_filter(&stored, operator, value)?);
                }
            }
            (rust, _) => return Err(Error::internal(format!("the condition on `{rust}` is no object"))),
        }
    }
    Ok(Filter::All(all))
}

fn where_filters(model: &Model, row: TypeIndex, items: &[Value]) -> Result<Vec<Filter>, Error> {
    let filters = items.iter().map(|item| match item {
        Value::Object(fields) => where_filter(model, row, fields),
        _ => Err(Error::internal("a condition is no object")),
    });
    filters.collect()
}

fn operator_filter(stored: &Stored<'_>, operator: &str, value: &Value) -> Result<Filter, Error> {
    let comparison = match operator {
        "eq" => Comparison::Eq,
        "neq" => Comparison::Ne,
        "gt" => Comparison::Gt,
        "gte" => Comparison::Gte,
        "lt" => Comparison::Lt,
        "lte" => Comparison::Lte,
        "in" => Comparison::In,
        "nin" => Comparison::NotIn,
        "isnull" => Comparison::IsNull,
        other => return Err(Error::internal(format!("there is no operator `{other}`"))),
    };
    Ok(Filter::Compare(col(stored.name), comparison, stored.value(value)))
}

pub(super) fn orders(model: &Model, row: TypeIndex, key: &Value, order: &mut Vec<Order>) -> Result<(), Error> {
    let Value::Object(fields) = key else { return Err(Error::internal("an order is no object")) };
    for (rust, direction) in fields {
        let Value::Enum(direction) = direction else { continue };
        let (direction, nulls) = match direction.as_str() {
            "ASC" | "ASC_NULLS_LAST" => (Direction::Asc, Nulls::Last),
            "ASC_NULLS_FIRST" => (Direction::Asc, Nulls::First),
            "DESC" | "DESC_NULLS_FIRST" => (Direction::Desc, Nulls::First),
            _ => (Direction::Desc, Nulls::Last),
        };
        order.push(Order { column: col(Stored::of(model, row, rust)?.name), direction, nulls });
    }
    Ok(())
}
