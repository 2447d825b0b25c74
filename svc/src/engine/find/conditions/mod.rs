//! Converts coerced arguments to filters and orders.

mod related_aggregates;

use async_graphql::{Name, Value};
use indexmap::IndexMap;

use super::row_call::{asked_call, computed_field};
use crate::json::ExactJson;
use crate::scalar::sql_value::SqlValue;
use crate::schema::{
    EDGE, EnumValue, Family, FieldKind, Model, Operand, Operator, Relation, SEARCH, TypeIndex,
    TypeKind, family,
};
use crate::sql::{Column, Direction, Filter, Nulls, Order, Rank};
use crate::{Error, ErrorCode};
use related_aggregates::{aggregate_filter, aggregate_orders};

type Fields = IndexMap<Name, Value>;

/// The field with a function's arguments, next to the operators on its value.
const ARGS: &str = "args";

/// A stored field of a row or of an embedded object.
pub(super) struct Stored<'a> {
    pub(super) column: Column,
    pub(super) named: TypeIndex,
    list: bool,
    /// The values of an enum.
    values: Option<&'a [EnumValue]>,
}

impl<'a> Stored<'a> {
    /// Returns the field with the Rust name `rust`, below `path`.
    pub(super) fn of(
        model: &'a Model,
        object: TypeIndex,
        path: &[String],
        rust: &str,
    ) -> Result<Self, Error> {
        let def = model
            .possible_types(object)
            .first()
            .and_then(|index| model.object(*index));
        let field = def.and_then(|object| object.fields.values().find(|field| field.rust == rust));
        let Some((field, FieldKind::Stored { stored, .. })) =
            field.map(|field| (field, field.kind))
        else {
            // A filter with an unknown field must never become "all rows".
            let path = &model.types[object].path;
            return Err(Error::internal(format!(
                "a filter names `{rust}`, which `{path}` does not store"
            )));
        };

        let named = field.ty.named();
        let values = enum_values(model, named);
        let mut column = path.to_vec();

        column.push(stored.to_owned());

        Ok(Self {
            column: Column::at(column),
            named,
            list: field.ty.is_list(),
            values,
        })
    }

    /// Returns the field with the Rust name `rust` below `path`, if a function computes it from the
    /// row. The function's arguments come from `asked`, where they are next to the operators or the
    /// direction.
    fn computed(
        model: &'a Model,
        object: TypeIndex,
        path: &[String],
        rust: &str,
        asked: &Value,
    ) -> Result<Option<Self>, Error> {
        let Some((field, function)) = computed_field(model, object, rust) else {
            return Ok(None);
        };

        let args = match asked {
            Value::Object(asked) => asked.get(ARGS),
            _ => None,
        };

        let args = match args {
            Some(Value::Object(args)) => Some(args),
            _ => None,
        };

        let call = Some(asked_call(model, object, (field, function), args)?);
        let column = Column {
            path: [path, &[rust.to_owned()]].concat(),
            call,
        };

        let named = field.ty.named();

        Ok(Some(Self {
            column,
            named,
            list: field.ty.is_list(),
            values: enum_values(model, named),
        }))
    }

    /// Returns the key of a relation, by the names of the relation and of the field in its rows. A
    /// comparison with the relation itself compares its key.
    fn key(
        model: &'a Model,
        object: TypeIndex,
        path: &[String],
        rust: (&str, &str),
    ) -> Result<Self, Error> {
        let unknown = || {
            Error::internal(format!(
                "a filter names the key of `{}`, which is not a relation",
                rust.0
            ))
        };

        let relation = relation(model, object, rust.0).ok_or_else(unknown)?;
        let there = Self::of(model, relation.row, &[], rust.1)?;
        Ok(Self {
            column: Column::at([path, &[rust.0.to_owned()]].concat()),
            ..there
        })
    }

    /// Returns the value in its stored form; enum values become their stored text.
    fn value(&self, value: &Value) -> SqlValue {
        match (self.values, value) {
            (Some(values), Value::Enum(name)) => {
                let stored = values
                    .iter()
                    .find(|value| value.name == name.as_str())
                    .map(|value| value.stored);
                SqlValue::Text(stored.unwrap_or(name).to_owned())
            }
            (Some(_), Value::List(items)) => {
                SqlValue::List(items.iter().map(|item| self.value(item)).collect())
            }
            (_, value) => SqlValue::from_graphql(value),
        }
    }

    /// Whether it is JSON, or a list of JSON.
    fn holds_json(&self, model: &Model) -> bool {
        family(&model.types[self.named].kind) == Family::Json
    }

    fn family(&self, model: &Model) -> Family {
        if self.list {
            Family::List
        } else {
            family(&model.types[self.named].kind)
        }
    }
}

/// The values of an enum.
fn enum_values(model: &Model, named: TypeIndex) -> Option<&[EnumValue]> {
    match &model.types[named].kind {
        TypeKind::Enum(def) => Some(&def.values[..]),
        _ => None,
    }
}

/// Returns the relation with the Rust name `rust`.
pub(super) fn relation(model: &Model, object: TypeIndex, rust: &str) -> Option<Relation> {
    let def = model
        .possible_types(object)
        .first()
        .and_then(|index| model.object(*index))?;
    def.fields
        .values()
        .find(|field| field.rust == rust)
        .and_then(|field| match field.kind {
            FieldKind::Relation(relation) => Some(relation),
            _ => None,
        })
}

/// Returns the error for a null condition, which is ambiguous: the client must state "no condition"
/// or "no value".
pub(super) fn null_condition(rust: &str) -> Error {
    let message =
        format!("the condition `{rust}` is null; leave it out, or ask for `isnull: true`");
    Error::new(ErrorCode::BadUserInput, message)
}

/// Returns a JSON value as text for PostgreSQL to parse as `jsonb`.
fn json_value(value: &Value) -> SqlValue {
    if *value == Value::Null {
        return SqlValue::Null;
    }
    SqlValue::Text(ExactJson::of_argument(value.clone()).to_string())
}

/// Returns the items of a list as JSON texts.
fn json_values(value: &Value) -> SqlValue {
    match value {
        Value::List(items) => SqlValue::List(items.iter().map(json_value).collect()),
        other => json_value(other),
    }
}

/// Returns the equality comparison for an argument of a function without a body.
pub(super) fn declared_filter(
    model: &Model,
    row: TypeIndex,
    rust: &str,
    value: &Value,
) -> Result<Filter, Error> {
    let stored = Stored::of(model, row, &[], rust)?;
    if stored.family(model) == Family::Json {
        return Ok(Filter::Compare(
            stored.column,
            Operator::Eq,
            json_value(value),
        ));
    }

    let value = match stored.list && stored.holds_json(model) {
        true => json_values(value),
        false => stored.value(value),
    };

    let operator = match (&value, stored.list) {
        (SqlValue::List(_), true) => Operator::Overlaps,
        (SqlValue::List(_), false) => Operator::In,
        _ => Operator::Eq,
    };

    Ok(Filter::Compare(stored.column, operator, value))
}

/// Reads a `where` argument.
pub(super) fn where_filter(
    model: &Model,
    row: TypeIndex,
    fields: &Fields,
) -> Result<Filter, Error> {
    Where {
        model,
        object: row,
        path: Vec::new(),
    }
    .all(fields)
}

/// Reads the conditions on one object: the row itself, an embedded object, or an element of an
/// embedded list.
struct Where<'a> {
    model: &'a Model,
    object: TypeIndex,
    path: Vec<String>,
}

impl Where<'_> {
    fn all(&self, fields: &Fields) -> Result<Filter, Error> {
        let filters = fields.iter().map(|(rust, value)| self.one(rust, value));
        Ok(Filter::All(filters.collect::<Result<_, _>>()?))
    }

    fn one(&self, rust: &str, value: &Value) -> Result<Filter, Error> {
        match (rust, value) {
            (_, Value::Null) => Err(null_condition(rust)),
            ("AND", Value::List(items)) => Ok(Filter::All(self.each(items)?)),
            ("OR", Value::List(items)) => Ok(Filter::Any(self.each(items)?)),
            ("NOT", Value::Object(fields)) => Ok(self.all(fields)?.not()),
            (rust, Value::Object(fields)) => {
                if let Some(relation) = relation(self.model, self.object, rust) {
                    return self.related(rust, relation, fields);
                }

                if let Some(key) = rust.split_once('.') {
                    return self.operators(
                        &Stored::key(self.model, self.object, &self.path, key)?,
                        fields,
                    );
                }

                if let Some(computed) =
                    Stored::computed(self.model, self.object, &self.path, rust, value)?
                {
                    return self.operators(&computed, fields);
                }

                let stored = Stored::of(self.model, self.object, &self.path, rust)?;

                match &self.model.types[stored.named].kind {
                    TypeKind::Object(_) if stored.list => {
                        let element = Where {
                            model: self.model,
                            object: stored.named,
                            path: Vec::new(),
                        };
                        self.quantified(&stored.column, &element, fields)
                    }
                    TypeKind::Object(_) => Where {
                        model: self.model,
                        object: stored.named,
                        path: stored.column.path,
                    }
                    .all(fields),
                    _ => self.operators(&stored, fields),
                }
            }
            (rust, _) => Err(Error::internal(format!(
                "the condition on `{rust}` is not an object"
            ))),
        }
    }

    fn each(&self, items: &[Value]) -> Result<Vec<Filter>, Error> {
        let filters = items.iter().map(|item| match item {
            Value::Object(fields) => self.all(fields),
            _ => Err(Error::internal("a condition is not an object")),
        });
        filters.collect()
    }

    /// Reads conditions on related rows.
    fn related(&self, rust: &str, relation: Relation, fields: &Fields) -> Result<Filter, Error> {
        let mut column = self.path.clone();
        column.push(rust.to_owned());
        let inner = Where {
            model: self.model,
            object: relation.row,
            path: Vec::new(),
        };

        match relation.is_many() {
            true if relation.is_beside() => {
                aggregate_filter(self.model, relation.row, Column::at(column), fields)
            }
            true => self.quantified(&Column::at(column), &inner, fields),
            false => Ok(Filter::Some(
                Column::at(column),
                Box::new(inner.all(fields)?),
            )),
        }
    }

    /// Reads `some`, `every` and `none` of an embedded list or a relation.
    fn quantified(
        &self,
        column: &Column,
        element: &Where<'_>,
        quantifiers: &Fields,
    ) -> Result<Filter, Error> {
        let filters = quantifiers.iter().map(|(quantifier, value)| {
            let Value::Object(fields) = value else {
                return self.one(quantifier, &Value::Null);
            };
            let inner = element.all(fields)?;
            let some = |filter: Filter| Filter::Some(column.clone(), Box::new(filter));
            Ok(match quantifier.as_str() {
                "every" => some(inner.not()).not(),
                "none" => some(inner).not(),
                _ => some(inner),
            })
        });
        Ok(Filter::All(filters.collect::<Result<_, _>>()?))
    }

    fn operators(&self, stored: &Stored<'_>, operators: &Fields) -> Result<Filter, Error> {
        let family = stored.family(self.model);
        let conditions = operators
            .iter()
            .filter(|(name, _)| stored.column.call.is_none() || *name != ARGS);
        let filters = conditions.map(|(name, value)| {
            let unknown = || Error::internal(format!("there is no operator `{name}`"));
            let def = family.operator(name).ok_or_else(unknown)?;
            let value = match (family, def.operand) {
                (Family::Json, Operand::Same | Operand::Json) => json_value(value),
                (Family::List, Operand::Same | Operand::List) if stored.holds_json(self.model) => {
                    json_values(value)
                }
                (_, Operand::Range) => SqlValue::range(value),
                _ => stored.value(value),
            };

            Ok(Filter::Compare(stored.column.clone(), def.operator, value))
        });

        Ok(Filter::All(filters.collect::<Result<_, Error>>()?))
    }
}

/// Adds the keys of one object of `orderBy`, in the order given by the client. Rows reached through
/// a join table can also be ordered by the fields of the join table rows.
pub(super) fn orders(
    model: &Model,
    (row, joining): (TypeIndex, Option<TypeIndex>),
    key: &Value,
    order: &mut Vec<Order>,
) -> Result<(), Error> {
    let (Some(joining), Value::Object(fields)) = (joining, key) else {
        return order_keys(model, row, &[], key, order);
    };

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
            if let (true, Value::Object(fields)) = (relation.is_beside(), direction) {
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

/// Returns the order with the client's direction.
pub(super) fn direction(order: Order, given: &str) -> Order {
    let (direction, nulls) = match given {
        "ASC" | "ASC_NULLS_LAST" => (Direction::Asc, Nulls::Last),
        "ASC_NULLS_FIRST" => (Direction::Asc, Nulls::First),
        "DESC" | "DESC_NULLS_FIRST" => (Direction::Desc, Nulls::First),
        _ => (Direction::Desc, Nulls::Last),
    };

    Order {
        direction,
        nulls,
        ..order
    }
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
