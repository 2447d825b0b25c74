//! The fields that filters and orders name: their columns, and the stored form of their values.

use async_graphql::Value;

use super::{ARGS, relation};
use crate::graphql::find::computed_column::{asked_call, computed_field};
use crate::sql::Column;
use svc_core::Error;
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{EnumValue, Family, FieldKind, Model, TypeIndex, TypeKind, family};

/// A stored field of a row or of an embedded object.
pub(super) struct Stored<'a> {
    pub(super) column: Column,
    pub(super) named: TypeIndex,
    pub(super) list: bool,
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
        let mut column = Vec::with_capacity(path.len() + 1);
        column.extend_from_slice(path);
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
    pub(super) fn computed(
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
    pub(super) fn key(
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
    pub(super) fn value(&self, value: &Value) -> SqlValue {
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
    pub(super) fn holds_json(&self, model: &Model) -> bool {
        family(&model.types[self.named].kind) == Family::Json
    }

    pub(super) fn family(&self, model: &Model) -> Family {
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
