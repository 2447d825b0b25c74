//! Converts coerced arguments to filters and orders.

pub(super) mod aggregate_values;
mod orders;
mod related_aggregates;
mod stored;

pub(super) use orders::orders;

use async_graphql::{Name, Value};
use indexmap::IndexMap;

use crate::sql::{Column, Direction, Filter, Nulls, Order};
use related_aggregates::aggregate_filter;
use stored::Stored;
use svc_core::exact_json::ExactJson;
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{
    Family, FieldKind, Model, Operand, Operator, Relation, TypeIndex, TypeKind,
};
use svc_core::{Error, ErrorCode};

type Fields = IndexMap<Name, Value>;

/// The field with a function's arguments, next to the operators on its value.
const ARGS: &str = "args";

/// Returns the relation with the Rust name `rust`.
pub(super) fn relation(model: &Model, object: TypeIndex, rust: &str) -> Option<Relation> {
    // Every member of an interface has its fields, so any of them gives the definition.
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

/// Returns the error for an empty condition of a filter that must not have any.
fn empty_condition(rust: &str) -> Error {
    let message =
        format!("the condition `{rust}` is empty; leave it out, or state the comparison in it");
    Error::new(ErrorCode::BadUserInput, message)
}

fn has_empty_object(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty() || fields.values().any(has_empty_object),
        Value::List(items) => items.iter().any(has_empty_object),
        _ => false,
    }
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

    // A list is one value of a JSON field here, and not a choice between values.
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

/// The treatment of empty conditions below the top level of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EmptyConditions {
    /// They match all rows.
    Match,
    /// They are errors, except `some: {}` and `none: {}`. A client that omits undefined values may
    /// have lost the comparisons in them.
    Refused,
}

/// Reads a `where` argument.
pub(super) fn where_filter(
    model: &Model,
    row: TypeIndex,
    fields: &Fields,
    empty: EmptyConditions,
) -> Result<Filter, Error> {
    Where {
        model,
        object: row,
        path: Vec::new(),
        empty,
    }
    .all(fields)
}

/// Reads the conditions on one object: the row itself, an embedded object, or an element of an
/// embedded list.
struct Where<'a> {
    model: &'a Model,
    object: TypeIndex,
    path: Vec<String>,
    empty: EmptyConditions,
}

impl Where<'_> {
    fn all(&self, fields: &Fields) -> Result<Filter, Error> {
        let filters = fields.iter().map(|(rust, value)| self.one(rust, value));
        Ok(Filter::All(filters.collect::<Result<_, _>>()?))
    }

    fn one(&self, rust: &str, value: &Value) -> Result<Filter, Error> {
        self.check_parts(rust, value)?;
        match (rust, value) {
            (_, Value::Null) => Err(null_condition(rust)),
            ("AND", Value::List(items)) => Ok(Filter::All(self.each(rust, items)?)),
            ("OR", Value::List(items)) => Ok(Filter::Any(self.each(rust, items)?)),
            ("NOT", Value::Object(fields)) => Ok(self.all(fields)?.not()),
            (rust, Value::Object(fields)) => {
                if let Some(relation) = relation(self.model, self.object, rust) {
                    return self.related(rust, relation, fields);
                }

                // Rust names have no dots, so a dot always means the key of a relation.
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
                            // Columns in the condition refer to the element, so the path starts
                            // again.
                            path: Vec::new(),
                            empty: self.empty,
                        };
                        self.quantified(&stored.column, &element, fields)
                    }
                    TypeKind::Object(_) => Where {
                        model: self.model,
                        object: stored.named,
                        path: stored.column.path,
                        empty: self.empty,
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

    fn each(&self, rust: &str, items: &[Value]) -> Result<Vec<Filter>, Error> {
        let filters = items.iter().map(|item| {
            self.check_parts(rust, item)?;
            match item {
                Value::Object(fields) => self.all(fields),
                _ => Err(Error::internal("a condition is not an object")),
            }
        });
        filters.collect()
    }

    /// Rejects a condition or a list of conditions without parts, if they must have some.
    fn check_parts(&self, rust: &str, value: &Value) -> Result<(), Error> {
        let is_empty = match value {
            Value::Object(fields) => fields.is_empty(),
            Value::List(items) => items.is_empty(),
            _ => false,
        };

        if is_empty && self.empty == EmptyConditions::Refused {
            Err(empty_condition(rust))
        } else {
            Ok(())
        }
    }

    /// Rejects JSON that every document contains, where empty conditions are rejected: `{}`, also
    /// within the JSON, and `[]`.
    fn check_contained(
        &self,
        stored: &Stored<'_>,
        operator: Operator,
        value: &Value,
    ) -> Result<(), Error> {
        let compares_parts = match operator {
            Operator::JsonContains => true,
            Operator::ListContains => stored.holds_json(self.model),
            _ => false,
        };
        if !compares_parts || self.empty != EmptyConditions::Refused {
            return Ok(());
        }

        let is_empty_list = matches!(value, Value::List(items) if items.is_empty());
        if is_empty_list || has_empty_object(value) {
            let rust = stored.column.path.last().map_or("", String::as_str);
            return Err(empty_condition(rust));
        }

        Ok(())
    }

    /// Reads conditions on related rows.
    fn related(&self, rust: &str, relation: Relation, fields: &Fields) -> Result<Filter, Error> {
        let mut column = self.path.clone();
        column.push(rust.to_owned());
        let inner = Where {
            model: self.model,
            object: relation.row,
            path: Vec::new(),
            empty: self.empty,
        };

        match relation.is_many() {
            true if relation.is_derived() => aggregate_filter(
                self.model,
                relation.row,
                Column::at(column),
                fields,
                self.empty,
            ),
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

            // Every element matches an empty condition, so `every` would match all rows.
            if quantifier == "every" {
                self.check_parts(quantifier, value)?;
            }

            let inner = element.all(fields)?;
            let some = |filter: Filter| Filter::Some(column.clone(), Box::new(filter));
            Ok(match quantifier.as_str() {
                // SQL has no universal quantifier, so no element may fail, which an empty list
                // fulfils.
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
            self.check_contained(stored, def.operator, value)?;
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

        let filters = filters.collect::<Result<Vec<_>, Error>>()?;

        // The arguments of a computed field alone compare nothing.
        if filters.is_empty() && self.empty == EmptyConditions::Refused {
            let rust = stored.column.path.last().map_or("", String::as_str);
            return Err(empty_condition(rust));
        }

        Ok(Filter::All(filters))
    }
}

/// Returns the order with the client's direction.
pub(super) fn direction(order: Order, given: &str) -> Order {
    let (direction, nulls) = match given {
        // By default, nulls come where a plain index of PostgreSQL has them: last in ascending
        // order, and first in descending order.
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
